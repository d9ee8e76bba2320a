"""One resolution: what is proposed, whether it may be, and the receipt that is left of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from ..assertions import Value
from ..entries import Party, Receipt
from ..errors import Refused, Superseded
from ..keys import FactKey
from ..outcomes import candidate_id
from ..values import normaliser, raw_of
from .bringing import Brought, declared, given_before, member_in_dispute, unmoved
from .checking import bounded, micros, named, sort_of, texts
from .moving import Moving
from .plea import Plea
from .standing import Present, may_resolve, present

if TYPE_CHECKING:
    from ..ledger.ledger import Ledger
    from ..ledger.view import View
    from ..store import Written


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """
    What somebody wants to resolve a dispute to; shown to who may refuse it (RF-68).

    Attributes:
        key: The fact.
        value: What it is to be.
        choice: The candidate's id.
        by: Who proposes it.
        party: A person or an agent.
        reason: Why.

    """

    key: FactKey
    value: Value
    choice: str
    by: str
    party: Party
    reason: str


Validate: TypeAlias = Callable[[Proposal], str | None]
"""Says what speaks against it; None or an empty text: nothing does."""


class Resolving(Moving):
    """
    The disputes of a namespace, as they are resolved.

    Args:
        ledger: The log and what is worked out of it.
        assert_: Writes an assertion, as the store does.
        clock: Gives the time in microseconds since the epoch.

    """

    def __init__(
        self, ledger: Ledger, *, assert_: Callable[..., Written], clock: Callable[[], int]
    ) -> None:
        super().__init__(ledger, clock)
        self._assert = assert_

    def resolve(  # noqa: PLR0913 - what a receipt says
        self,
        id: str,  # noqa: A002 - the dispute's
        choice: str = "",
        *,
        by: str,
        party: Party = "person",
        reason: str = "",
        seen: Sequence[str] | None = None,
        evidence: Sequence[str] = (),
        valid_for: float | None = None,
        value: object = None,
        source: str = "",
        confidence: float | None = None,
        validate: Validate | None = None,
    ) -> Receipt:
        """
        Resolve a dispute: by a candidate, or by a value with a source of its own (RF-52).

        What a person said in the inbox of the store's own database meanwhile comes first.

        Args:
            id: The dispute's.
            choice: The id of a candidate; empty where a value is brought.
            by: Who resolves it.
            party: A person or an agent.
            reason: Why.
            seen: Ids of the candidates that they saw; absent: those that the dispute's id names.
            evidence: What was read for it: ids, or references.
            valid_for: For how many seconds it holds, up to a year; absent: until the candidates
                change.
            value: A value that may be no candidate yet; it is asserted first.
            source: Whose word that value is.
            confidence: How sure they are of the value they bring, in [0, 1]; absent: not said, but
                1 of a person where the attribute takes nothing without one.
            validate: Is shown what is proposed and says what speaks against it; then nothing is
                written (RF-68).

        Returns:
            The receipt; the same again, with its first reason, where it was given before.

        Raises:
            Superseded: The candidates are others, or somebody was first; it says what is now.
            Refused: There is no such dispute or candidate, it is somebody else's, it is one's own
                word, the value is none, something speaks against it, or what is given is no name,
                party, text or span of time.

        """
        named(by)
        sort_of(party)
        if bool(choice) == (value is not None) or (value is not None and not all(texts([source]))):
            fix = "Choose a candidate by its id, or bring `value` with its `source`"
            raise Refused("no_candidate", "it has to be one candidate or one value", fix)
        plea = Plea(
            choice=choice,
            by=by,
            party=party,
            seen=None if seen is None else texts(seen),
            reason=reason,
            evidence=texts(evidence),
            until=None if valid_for is None else self._clock() + micros(valid_for),
        )
        self._heed()
        if value is not None:
            return self._brought(id, plea, Brought(value, source, confidence), validate)
        return self._chosen(id, plea, validate)

    def _chosen(self, id: str, plea: Plea, validate: Validate | None) -> Receipt:  # noqa: A002
        try:
            with self._view() as view:
                now = _judged(view, id, plea, self._clock())
            values = {one.id: one.value for one in now.outcome.candidates}
            _valid(validate, now, plea, values[plea.choice])
            return self._written(id, plea)
        except Superseded as late:
            if late.receipt is not None and plea.gave(late.receipt):
                return late.receipt
            raise

    def _brought(
        self,
        id: str,  # noqa: A002 - the dispute's
        plea: Plea,
        given: Brought,
        validate: Validate | None,
    ) -> Receipt:
        """Assert a value that somebody brings, and resolve what the dispute is then."""
        key = self.get(id).key
        with self._view() as view:
            attribute = declared(view, key)
            read = normaliser(attribute, view.versions()[0]).read(raw_of(given.value))
            strict = attribute.strict or view.versions()[0].strict
            plea = msgspec.structs.replace(plea, choice=candidate_id(key, read), brings=True)
            try:
                before = _judged(view, id, plea, self._clock())
                member_in_dispute(before, plea)
            except Superseded:
                if (receipt := given_before(view, id, plea, given.source)) is not None:
                    return receipt
                raise
        _valid(validate, before, plea, read)
        sure = 1.0 if strict and plea.party == "person" else None
        written = self._assert(
            key.entity,
            key.attribute,
            given.value,
            source=given.source,
            writer=plea.by,
            evidence="human" if plea.party == "person" else "explicit",
            confidence=sure if given.confidence is None else given.confidence,
            observed_at=self._clock(),
            qualifiers=dict(key.qualifiers),
        )
        with self._view() as view:
            after = view.outcome(key)
        unmoved(before, after, plea.choice)
        plea = msgspec.structs.replace(
            plea, seen=None, brought=written.id, evidence=(*plea.evidence, written.id)
        )
        return self._written(after.dispute or id, plea)

    def _written(self, id: str, plea: Plea) -> Receipt:  # noqa: A002 - the dispute's
        """Write the receipt, judged once more inside the write."""
        at = self._clock()
        with self._view() as view:
            now = present(view, id, at, plea.brought)
            over = may_resolve(now, plea)
        receipt = plea.receipt(now.dispute, now.upon, at, over)

        def check(view: View) -> None:
            still = present(view, id, self._clock(), plea.brought)
            if may_resolve(still, plea) != over:
                raise Superseded("somebody was faster", still.ids, still.receipt)

        self._ledger.append(receipt, check=check)
        return receipt


def _judged(view: View, id: str, plea: Plea, at: int) -> Present:  # noqa: A002 - the dispute's
    """
    Judge a plea before anything is written.

    Raises:
        Superseded: As of `resolve`.
        Refused: As of `resolve`.

    """
    now = present(view, id, at)
    may_resolve(now, plea)
    bounded(view, plea.reason, *plea.evidence)
    return now


def _valid(validate: Validate | None, now: Present, plea: Plea, value: Value) -> None:
    """
    Let the business speak against it (RF-68).

    Raises:
        Refused: It does.

    """
    if validate is None:
        return
    proposal = Proposal(
        key=now.dispute.key,
        value=value,
        choice=plea.choice,
        by=plea.by,
        party=plea.party,
        reason=plea.reason,
    )
    if against := validate(proposal):
        raise Refused("not_valid", against, "The dispute is as it was")
