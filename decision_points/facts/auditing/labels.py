"""What persons decided, as labels; and what everybody else said where they did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from ..assertions import Recorded, Value, When
from ..entries import Receipt
from ..folding import Living, fold, said, visible
from ..keys import FactKey
from ..outcomes import candidate_id
from ..policy import Attribute, Policy
from ..registry import Registry
from ..values import finer, within

By: TypeAlias = Literal["resolution", "confirmation"]


class Label(NamedTuple):
    """
    What is known to be true of a fact.

    Attributes:
        truth: The value.
        at: When it was so, in microseconds since the epoch.
        by: Whether a dispute was resolved so, or a person said so.
        new: A resolution that chose none of the candidates, but a value of its own.

    """

    truth: Value
    at: int
    by: By
    new: bool = False


class Case(NamedTuple):
    """
    One fact, and the rules.

    Attributes:
        key: The fact.
        living: What counts of what was said about it.
        attribute: As declared; of one value.
        policy: The policy.
        registry: Of the sources.

    """

    key: FactKey
    living: Living
    attribute: Attribute
    policy: Policy
    registry: Registry

    @classmethod
    def of(cls, key: FactKey, living: Living, policy: Policy, registry: Registry) -> Case | None:
        """Take up *key*; None where no value of it can be right: undeclared, or a set."""
        attribute = policy.attribute(key.attribute)
        if attribute is None or attribute.cardinality != "one":
            return None
        return cls(key, living, attribute, policy, registry)

    def values(self) -> Mapping[str, Value]:
        """Give what each assertion says under the policy, by id; what is unreadable is left out."""
        read = ((one.id, said(one, self.policy)) for one in self.living.assertions)
        return {id_: value for id_, value in read if value is not None}

    def same(self, value: Value, truth: Value) -> bool:
        """Whether *value* is the truth, as precisely as it goes."""
        finer_one = finer(value, truth, self.attribute, self.policy)
        return finer_one is not None or within(value, truth, self.attribute)


def labels(case: Case, values: Mapping[str, Value], *, agents: bool = False) -> tuple[Label, ...]:
    """
    List what is known of a fact, the latest first; resolutions come before confirmations.

    Receipts that were withdrawn or overridden do not count, and of persons who contradict each
    other in what they confirm nobody does.

    Args:
        case: The fact.
        values: Its assertions' values.
        agents: Whether what agents resolved counts too; they are no measure of themselves.

    """
    by_candidate = {candidate_id(case.key, value): value for value in values.values()}
    over = {id_ for one in case.living.receipts for id_ in one.overrides}
    told = [
        _resolved(one, by_candidate[one.choice])
        for one in case.living.receipts
        if one.choice in by_candidate and one.id not in over and (agents or one.party == "person")
    ]
    told.sort(key=lambda one: (one.at, one.truth), reverse=True)
    return (*told, *_confirmed(case, values))


def _resolved(receipt: Receipt, truth: Value) -> Label:
    return Label(truth, receipt.at, "resolution", receipt.choice not in receipt.seen)


def _confirmed(case: Case, values: Mapping[str, Value]) -> Iterator[Label]:
    human = [one for one in case.living.assertions if _is_human(one) and one.id in values]
    if len({values[one.id] for one in human}) == 1:
        last = max(human, key=lambda one: (_time(one), one.id))
        yield Label(values[last.id], _time(last), "confirmation")


def _is_human(one: Recorded) -> bool:
    return one.assertion.evidence == "human"


def _time(one: Recorded) -> int:
    return one.recorded_at if one.assertion.observed_at is None else one.assertion.observed_at.start


def judged(
    case: Case, values: Mapping[str, Value], label: Label
) -> Iterator[tuple[Recorded, bool]]:
    """
    Give what the label says of each assertion: whether it is right.

    Nothing is said of persons, of what did not hold then, of what its own source corrected, and
    of what was merely older: that was not wrong when it was said. Of a fact that changes over
    time nothing is said of what came later either.
    """
    then = msgspec.structs.replace(case.living, receipts=())
    trace = fold(case.key, then, case.policy, case.registry, label.at).trace
    past = {one.lost for one in trace.beaten if one.on in ("correction", "succession", "recency")}
    for one in case.living.assertions:
        if _is_human(one) or one.id in past or one.id not in values:
            continue
        if visible(one.assertion, label.at) and not _is_later(case, one, label.at):
            yield one, case.same(values[one.id], label.truth)


def _is_later(case: Case, one: Recorded, at: int) -> bool:
    if case.attribute.change == "never":
        return False
    time: When | None = one.assertion.valid_from or one.assertion.observed_at
    return time is not None and time.start > at
