"""
What facts come to, worked out anew from all that was said, in the plainest way that there is.

It knows one policy of each kind, three ranked and unranked levels, instants only, and no speed. It
shares no line with the package: tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

ABOVE = {("signed", "erp"), ("signed", ""), ("erp", ""), ("side", "")}  # "": an unknown source
LEVELS = {"contract": "signed", "annex": "signed", "sap": "erp", "partner": "side"}
SOURCES = (*LEVELS, "stranger")
SKEW = 2 * 60_000_000  # microseconds, of every source
EDGES = (0.6, 0.85)
REGISTRY = {
    "schema": 1,
    "skew": "2m",
    "above": [["signed", "erp"]],
    "levels": ["side"],
    "sources": {source: {"level": level} for source, level in LEVELS.items()},
}

Times: TypeAlias = "Mapping[str, tuple[int, int] | None]"


@dataclass(frozen=True)
class Rule:
    """
    How an attribute is reconciled.

    Attributes:
        keys: What is compared, in this sequence.
        over_time: Later values follow earlier ones.

    """

    keys: tuple[str, ...] = ("authority", "confidence", "recency")
    over_time: bool = False

    def table(self) -> dict[str, object]:
        """Write it as a policy declares it."""
        return {"keys": list(self.keys), "change": "over_time" if self.over_time else "never"}


@dataclass(frozen=True)
class Said:
    """What one source said; times in microseconds."""

    id: str
    source: str
    value: str
    confidence: float | None = None
    observed: int | None = None
    since: int | None = None
    silent: bool = False

    @property
    def level(self) -> str:
        return LEVELS.get(self.source, "")

    @property
    def band(self) -> int | None:
        return None if self.confidence is None else sum(self.confidence >= one for one in EDGES)


@dataclass(frozen=True)
class Ruling:
    """A receipt: what was seen, in which words, what was chosen, and whether a person did."""

    seen: frozenset[str]
    choice: str
    person: bool
    upon: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Came:
    """What a fact came to: its status, its value, and what is left."""

    status: str
    value: str | None = None
    left: frozenset[str] = frozenset()


def comes_to(
    said: Iterable[Said], rule: Rule | None, at: int, rulings: Sequence[Ruling] = ()
) -> Came:
    """Work a fact out at a time; without a rule the attribute is not declared."""
    every = list(said)
    here = [one for one in every if one.since is None or one.since <= at]
    if rule is None and every:
        return Came("unreconciled", None, frozenset(one.value for one in here))
    if not here or rule is None:
        return Came("not_yet" if every else "absent")
    standing = [one for one in here if not any(_corrects(by, one, rule, at) for by in here)]
    times = {one.id: _time(one, standing, at) for one in standing}
    best = [one for one in standing if not any(_beats(by, one, rule, times) for by in standing)]
    left = frozenset(one.value for one in best)
    if len(left) == 1:
        (value,) = left
        known = [one for one in rulings if one.person and {each.id for each in best} <= one.upon]
        held = _ruled(left, _values(standing), known)
        if held and held != value:  # a person refused it before the rules chose it (RF-71)
            return Came("resolved", held, left | {held})
        return Came("resolved", value, left)
    chosen = _ruled(left, _values(standing), rulings)
    return Came("resolved", chosen, left) if chosen else Came("disputed", None, left)


def _values(said: Iterable[Said]) -> set[str]:
    return {one.value for one in said}


def _corrects(by: Said, one: Said, rule: Rule, at: int) -> bool:
    """A later observation of the same source replaces another value (RF-13)."""
    if by.source != one.source or by.value == one.value:
        return False
    if by.observed is None or one.observed is None or max(by.observed, one.observed) > at + SKEW:
        return False  # dated ahead is no time (RF-43)
    if rule.over_time and one.since is not None:
        announced = by.since is None and one.since > by.observed
        if announced or by.since not in {None, one.since}:
            return False
    return by.observed > one.observed


def _time(one: Said, standing: Sequence[Said], at: int) -> tuple[int, int] | None:
    """When it began to be so, and how wrong that may be; a re-reading moves nothing (RF-30)."""
    if one.since is not None:
        return one.since, 0
    same = [
        each.observed
        for each in standing
        if (each.source, each.value, each.since) == (one.source, one.value, None)
    ]
    known = [each for each in same if each is not None and each <= at + SKEW]  # RF-43
    return (min(known), SKEW) if known and one.observed in known else None


def _beats(one: Said, other: Said, rule: Rule, times: Times) -> bool:
    """
    Let the first key that differs decide.

    Where neither says how sure it is, only a later start is left to decide, among equals (RF-27).
    """
    unsure = False
    for key in _sequence(rule):
        if key == "confidence" and one.band is None and other.band is None:
            unsure = True
            continue
        unsure = unsure or key == "succession"
        if key in {"recency", "succession"} and unsure and None in (one.since, other.since):
            return False
        verdict = _compared(key, one, other, times)
        if verdict is not None:
            return verdict and (not unsure or key in {"recency", "succession"})
    return False


def _sequence(rule: Rule) -> list[str]:
    """Silence is below all else before sureness or time is asked (RF-11); succession is last."""
    keys = [one for one in rule.keys if one != "recency" or rule.over_time]
    first = next((at for at, one in enumerate(keys) if one in {"confidence", "recency"}), None)
    keys.insert(len(keys) if first is None else first, "silence")
    if rule.over_time and keys[-1:] != ["recency"]:
        keys.append("succession")
    return keys


def _compared(key: str, one: Said, other: Said, times: Times) -> bool | None:
    """Whether *one* is better by a key; False also ends it without a verdict; None: the same."""
    if key == "authority":
        return None if one.level == other.level else (one.level, other.level) in ABOVE
    if key == "silence":
        return None if one.silent == other.silent else other.silent
    if key == "confidence":
        return _surer(one.band, other.band)
    return _newer(times[one.id], times[other.id])


def _surer(mine: int | None, theirs: int | None) -> bool | None:
    if mine is None or theirs is None:
        return False
    return None if mine == theirs else mine > theirs


def _newer(mine: tuple[int, int] | None, theirs: tuple[int, int] | None) -> bool:
    if mine is None or theirs is None:
        return False
    return mine[0] - theirs[0] > max(mine[1], theirs[1])


def _ruled(left: frozenset[str], said: set[str], rulings: Sequence[Ruling]) -> str | None:
    """Give what was ruled with all that is left in sight: persons first, and never one of two."""
    counts = [one for one in rulings if left - {one.choice} <= one.seen and one.choice in said]
    heard = [one for one in counts if one.person] or counts
    chosen = {one.choice for one in heard}
    return chosen.pop() if len(chosen) == 1 else None
