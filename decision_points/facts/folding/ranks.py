"""
How assertions about one attribute compare: one strict partial order, made of several keys.

The first key that differs decides, and a key without a verdict ends the comparison (RF-24).
Nothing is ever filtered by one key first and by the next one then.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import Decimal
from typing import NamedTuple, TypeAlias, TypeVar

from ..assertions import Evidence
from ..policy import Attribute, Policy
from ..registry import Registry

Standing: TypeAlias = tuple[str | int | float | None, ...]
"""One member for each key before the last: a level, a tier, a band of confidence."""


class Moment(NamedTuple):
    """
    A time that is compared, in microseconds.

    Attributes:
        start: Its first one.
        last: Its last one; that of an instant is its start.
        skew: How wrong the clock that told it may be.
        holds: Whether the value holds from then on, and was not only seen then.

    """

    start: int
    last: int
    skew: int
    holds: bool


class Times(NamedTuple):
    """
    The last key: from when a value holds, where that is compared by itself, then another time.

    Two that do not hold from the same time are compared by that alone: this keeps the order
    transitive whichever time a policy names (RF-24, RF-30).
    """

    holds: Moment | None = None
    seen: Moment | None = None

    @property
    def held(self) -> Moment | None:
        """From when the value holds, wherever that is compared; None: nobody said."""
        if self.holds is not None or self.seen is None or self.seen.holds:
            return self.holds or self.seen
        return None


class Rank(NamedTuple):
    """All that decides between an assertion and others; those of one rank are equal."""

    standing: Standing
    times: Times


class Verdict(NamedTuple):
    """
    How one rank compares with another.

    Attributes:
        sign: 1 where it beats the other, -1 where it is beaten, 0 where neither is.
        on: The key that decided; without a verdict, why there is none.
        place: Of that key in the sequence.

    """

    sign: int
    on: str
    place: int


class Speaker(NamedTuple):
    """
    A source, as the registry has it for the attribute.

    Attributes:
        level: Where it stands; empty: unknown, below all.
        lineage: Its voice.
        skew: How wrong its clock may be, in microseconds.
        known: Whether it is declared.

    """

    level: str
    lineage: str
    skew: int
    known: bool


NEVER = Times()

BOUND = 10_000  # entries of a memo, which is emptied beyond; the fold is the same without
PAIRS = 32  # of a policy and a registry whose rules are kept: each keeps all of its sources

RANKED = {"above": 1, "below": -1, "same": 0}


class Rules:
    """
    What folding one attribute needs, worked out once: see `rules_of`.

    Attributes:
        attribute: As declared.
        policy: In which.
        registry: Of the sources.
        sequence: The keys before the last, `absence` among them where the policy does not say
            itself how evidence counts: absence is below all else (RF-11).
        nested: Whether one value may contain another.
        timed: Whether the world changes the attribute: only then a later time counts (RF-29).
        recent: Whether recency is among the keys, and not succession alone.
        split: Whether times from which values hold are compared by themselves, and not in one
            order with times of observation.

    """

    __slots__ = (
        "_speakers",
        "_standings",
        "_tiers",
        "_verdicts",
        "attribute",
        "nested",
        "policy",
        "recent",
        "registry",
        "sequence",
        "split",
        "timed",
    )

    def __init__(self, attribute: Attribute, policy: Policy, registry: Registry) -> None:
        """Prepare for *attribute*."""
        self.attribute, self.policy, self.registry = attribute, policy, registry
        self.sequence = _sequence(attribute)
        self.timed = attribute.change == "over_time"
        self.recent = self.timed and "recency" in attribute.keys
        self.nested = bool(attribute.hierarchy) or attribute.type in {"date", "record"}
        self.split = not self.recent or attribute.basis != "effective"
        self._tiers = {kind: -at for at, tier in enumerate(attribute.evidence) for kind in tier}
        self._speakers: dict[str, Speaker] = {}
        self._standings: dict[tuple[str, Evidence, float | None], Standing] = {}
        self._verdicts: dict[tuple[Standing, Standing], Verdict] = {}

    def speaker(self, source: str) -> Speaker:
        """Give what the registry says of a source."""
        found = self._speakers.get(source)
        if found is None:
            found = Speaker(
                self.registry.level(source, self.attribute.name),
                self.registry.lineage(source),
                self.registry.skew(source),
                self.registry.known(source),
            )
            _remember(self._speakers, source, found)
        return found

    def standing(self, level: str, evidence: Evidence, confidence: float | None) -> Standing:
        """Give all of a rank but its times."""
        asked = (level, evidence, confidence)
        found = self._standings.get(asked)
        if found is None:
            found = tuple(self._members(*asked))
            _remember(self._standings, asked, found)
        return found

    def _members(self, level: str, evidence: Evidence, confidence: float | None) -> Standing:
        members: list[str | int | float | None] = []
        for key in self.sequence:
            if key == "authority":
                members.append(level)
            elif key == "absence":
                members.append(int(evidence != "absence"))
            elif key == "evidence":
                members.append(self._tiers[evidence])
            else:
                members.append(self._band(confidence))
        return tuple(members)

    def _band(self, confidence: float | None) -> float | None:
        if confidence is None or self.attribute.margin is not None:
            return confidence
        return bisect_right(self.attribute.edges, confidence)

    def compared(self, one: Rank, other: Rank) -> Verdict:
        """Say whether *one* beats *other*, on what, or why neither does."""
        if one.standing == other.standing:
            return self._later(one, other)
        asked = (one.standing, other.standing)
        found = self._verdicts.get(asked)
        if found is None:
            found = self._stronger(*asked)
            _remember(self._verdicts, asked, found)
        return found

    def _stronger(self, one: Standing, other: Standing) -> Verdict:
        place = next(at for at, member in enumerate(one) if member != other[at])
        key, a, b = self.sequence[place], one[place], other[place]
        if None in one[:place]:  # nothing behind a missing confidence is asked (RF-27)
            return Verdict(0, "confidence_missing", place)
        if key == "authority":
            ranked = self.registry.ranked(self.attribute.name, str(a), str(b))
            sign = RANKED.get(ranked, 0)
            return Verdict(sign, "authority" if sign else "unranked", place)
        if not isinstance(a, int | float) or not isinstance(b, int | float):
            return Verdict(0, "confidence_missing", place)
        if key == "confidence" and _apart(a, b) <= exact(self.attribute.margin or 0):
            return Verdict(0, "tie", place)
        return Verdict(1 if a > b else -1, "evidence" if key == "absence" else key, place)

    def _later(self, one: Rank, other: Rank) -> Verdict:
        last = len(self.sequence)
        a, b = one.times.seen, other.times.seen
        if one.times.holds != other.times.holds:
            a, b = one.times.holds, other.times.holds
        if a is not None and b is not None:
            gap = max(a.skew, b.skew)
            on = "succession" if a.holds and b.holds else "recency"
            if a.start - b.last > gap:
                return Verdict(1, on, last)
            if b.start - a.last > gap:
                return Verdict(-1, on, last)
        return Verdict(0, "confidence_missing" if None in one.standing else "tie", last)


def _apart(one: float, other: float) -> Decimal:
    return abs(exact(one) - exact(other))


def exact(number: float) -> Decimal:
    """Give a number as it is written: in binary, 0.9 and 0.7 are further apart than 0.2."""
    return Decimal(repr(number))


_Asked = TypeVar("_Asked")
_Found = TypeVar("_Found")


def _remember(memo: dict[_Asked, _Found], asked: _Asked, found: _Found, bound: int = BOUND) -> None:
    if len(memo) >= bound:
        memo.clear()
    memo[asked] = found


def _sequence(attribute: Attribute) -> tuple[str, ...]:
    sequence: list[str] = []
    for key in attribute.keys:
        if key in {"confidence", "recency"} and not {"evidence", "absence"} & set(sequence):
            sequence.append("absence")
        if key != "recency":
            sequence.append(key)
    return tuple(sequence if {"evidence", "absence"} & set(sequence) else (*sequence, "absence"))


class _Prepared(NamedTuple):
    """What it is of is kept with it: so no id comes twice."""

    policy: Policy
    registry: Registry
    rules: dict[str, Rules]


_prepared: dict[tuple[int, int], _Prepared] = {}


def rules_of(name: str, policy: Policy, registry: Registry) -> Rules | None:
    """Prepare to fold the attribute *name*; None: the policy does not declare it (RF-03)."""
    asked = (id(policy), id(registry))
    pair = _prepared.get(asked)
    if pair is None:
        pair = _Prepared(policy, registry, {})
        _remember(_prepared, asked, pair, PAIRS)
    found = pair.rules.get(name)
    if found is None and (attribute := policy.attribute(name)) is not None:
        found = pair.rules[name] = Rules(attribute, policy, registry)
    return found
