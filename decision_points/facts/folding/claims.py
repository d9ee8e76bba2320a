"""What takes part in a fold: the assertions that hold at a point in time, in canonical form."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, get_args

import msgspec

from ..assertions import Assertion, Kind, Recorded, Value, When
from ..errors import Refused
from ..keys import FactKey
from ..outcomes import Status
from ..policy import Attribute, Policy
from ..values import normaliser
from .ranks import NEVER, Moment, Rank, Rules, Speaker, Times

NOTHING: dict[Kind, Value] = {
    kind: Value("kind", kind) for kind in get_args(Kind) if kind != "value"
}
"""What competes where somebody says that there is no value to say."""


class Claim(msgspec.Struct):
    """
    An assertion in a fold.

    Attributes:
        id: Of the assertion.
        said: The assertion.
        value: What it competes as.
        speaker: Its source.
        voices: Whose word it is: its lineage, or those of what it was derived from (RF-36).
        rank: What it is compared by.

    """

    id: str
    said: Assertion
    value: Value
    speaker: Speaker
    voices: tuple[str, ...]
    rank: Rank


class Present(NamedTuple):
    """
    What holds at a point in time.

    Attributes:
        claims: One for each assertion that can be read.
        notes: Flags.
        otherwise: The status if there are none.

    """

    claims: list[Claim]
    notes: list[str]
    otherwise: Status


def distinct(key: FactKey, given: Iterable[Recorded]) -> dict[str, Recorded]:
    """
    Give by id what is said of a fact.

    What is said of another attribute, or under other qualifiers, is of another fact, whoever
    gives it (RF-06); an entity may have several names (RF-02).
    """
    return {
        one.id: one
        for one in given
        if one.assertion.key.attribute == key.attribute
        and one.assertion.key.qualifiers == key.qualifiers
        and one.assertion.key.namespace == key.namespace
    }


def present(
    said: Collection[Recorded], rules: Rules, at: int, member: Value | None = None
) -> Present:
    """
    Make out what takes part at a time.

    Args:
        said: About one fact, each once.
        rules: Of the attribute.
        at: The point in time, in microseconds.
        member: Of a set, the one that is asked about: what is said of the whole set is said of
            it; None: the fact has one value.

    """
    claims: list[Claim] = []
    notes: list[str] = []
    seen, later = False, False
    for one in said:
        if not visible(one.assertion, at):
            later = later or _later(one.assertion, at)
            continue
        seen = True
        value = competing(one.assertion, rules, member)
        if value is None:
            notes.append(f"unreadable:{one.id}")
        else:
            claims.append(_claim(one, value, rules, at, notes))
    otherwise: Status = "absent" if seen or not said else "not_yet" if later else "ended"
    return Present(claims, notes, otherwise)


def visible(said: Assertion, at: int) -> bool:
    """Whether what was said holds *at* a time in microseconds."""
    since, until = said.valid_from, said.valid_to
    return (since is None or since.start <= at) and (until is None or at < until.start)


def _later(said: Assertion, at: int) -> bool:
    return said.valid_from is not None and said.valid_from.start > at


def said(one: Recorded, policy: Policy) -> Value | None:
    """Give the value that it competes as under a policy; None: it is unreadable there."""
    if one.assertion.kind != "value":
        return NOTHING[one.assertion.kind]
    attribute = policy.attribute(one.assertion.key.attribute)
    return one.assertion.value if attribute is None else read(one.assertion, attribute, policy)


def competing(said: Assertion, rules: Rules, member: Value | None = None) -> Value | None:
    """Give what was said as a value; of a set, whether its *member* is one. None: unreadable."""
    if said.kind == "value":
        return read(said, rules.attribute, rules.policy)
    return NOTHING[said.kind] if member is None else Value(said.kind, member.text)


def read(said: Assertion, attribute: Attribute, policy: Policy) -> Value | None:
    """Give the value that was written, read again if it was read in another way (RF-15)."""
    if not said.normaliser:
        return said.value
    reader = normaliser(attribute, policy)
    if said.normaliser == reader.id:
        return said.value
    try:
        return reader.read(said.raw)
    except Refused:
        return None


def readable(said: Assertion, rules: Rules) -> bool:
    """Whether it takes part: what denies a member of a set has to name one."""
    named = said.kind == "value" or (bool(said.raw) and rules.attribute.cardinality == "many")
    return not named or read(said, rules.attribute, rules.policy) is not None


def _claim(one: Recorded, value: Value, rules: Rules, at: int, notes: list[str]) -> Claim:
    said = one.assertion
    speaker = rules.speaker(said.source)
    if not speaker.known:
        notes.append(f"unknown_source:{one.id}")
    future = future_dated(said, at, speaker.skew)
    if future:
        notes.append(f"future_dated:{one.id}")
    level, voices = _weight(said, speaker, rules)
    standing = rules.standing(level, said.evidence, said.confidence)
    times = NEVER
    if rules.timed:
        observed = None if future or None in standing else said.observed_at
        times = _times(said.valid_from, observed, speaker.skew, rules)
    return Claim(one.id, said, value, speaker, voices, Rank(standing, times))


def future_dated(said: Assertion, at: int, skew: int) -> bool:
    """Whether its source cannot have said so yet (RF-43)."""
    return said.observed_at is not None and said.observed_at.start > at + skew


def _weight(said: Assertion, speaker: Speaker, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """Give its level and its voices: what is derived is no more than its inputs are (RF-36)."""
    if not said.derived_from:
        return speaker.level, (speaker.lineage,)
    levels = [speaker.level]
    voices: set[str] = set()
    for one in said.derived_from:
        roots = [rules.speaker(source) for source in one.sources]
        levels += [root.level for root in roots] or [""]
        voices |= {root.lineage for root in roots}
    weakest = rules.registry.weakest(rules.attribute.name, levels)
    return weakest, tuple(sorted(voices))


def _times(since: When | None, observed: When | None, skew: int, rules: Rules) -> Times:
    holds = None if since is None else moment(since, 0, holds=True)
    if holds is not None and not rules.split:
        return Times(None, holds)
    seen = None if observed is None or not rules.recent else moment(observed, skew, holds=False)
    return Times(holds, seen)


def moment(when: When, skew: int, *, holds: bool) -> Moment:
    """Give a time as it is compared: two that touch, as days do, do not overlap (RF-44)."""
    return Moment(when.start, max(when.start, when.end - 1), skew, holds)
