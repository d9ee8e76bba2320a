"""
What can be checked of an estimate without asking anybody: citations, numbers, bounds.

Flags are facts about an estimate, not verdicts on it: its member is told, and may mend it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, cast

import msgspec

from ....gateway.state import frozen
from .numerals import Numeral, numerals
from .packets import Packet
from .schemas import Estimate, crossing, quantiles_of

__all__ = ["Flagged", "Flags", "verify_evidence"]

SMALL = 10  # counting words: "two of 3 reasons" quotes nothing
ABSURD = 100.0  # times the largest number in the evidence, or below the smallest by as much
NEAR = 1e-9  # relative; what rounding does to a number that is quoted

Outcome = Literal["new", "persists", "fixed", "dropped"]


class Flagged(msgspec.Struct, frozen=True):
    """
    What became of one flag in one round.

    Attributes:
        round: The round whose estimate was checked.
        member: Whose.
        flag: As `verify_evidence` words it.
        outcome: `new`, `persists` since the last check, `fixed` since then, or `dropped`: the
            estimate that it was raised against no longer stands, so that nothing was mended.

    """

    round: int
    member: str
    flag: str
    outcome: Outcome


class Flags:
    """
    The flags that stand, and the history of all that ever stood.

    Each check replaces what stands; without a history, a flag that was mended could not be
    told from one that was never raised.
    """

    def __init__(self) -> None:
        self.standing: Mapping[str, tuple[str, ...]] = {}
        self.history: list[Flagged] = []

    def of(self, member: str) -> tuple[str, ...]:
        """Give the flags that stand against *member*'s estimate."""
        return self.standing.get(member, ())

    def replace(self, round: int, found: Mapping[str, Sequence[str]]) -> None:  # noqa: A002 - a debate's word
        """
        Put *found* in place of what stood, and remember what changed.

        Who has an estimate is in *found*, if only with no flags.
        """
        for member in sorted({*self.standing, *found}):
            before, now = self.of(member), tuple(found.get(member, ()))
            self.history += [Flagged(round, member, flag, _since(flag, before)) for flag in now]
            gone = [flag for flag in before if flag not in now]
            how: Outcome = "fixed" if member in found else "dropped"
            self.history += [Flagged(round, member, flag, how) for flag in gone]
        self.standing = {member: tuple(flags) for member, flags in found.items() if flags}

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Name the members whose last estimate still has a flag, sorted."""
        return tuple(sorted(self.standing))


def _since(flag: str, before: Sequence[str]) -> Outcome:
    return "persists" if flag in before else "new"


def verify_evidence(estimate: Estimate, packet: Packet, allowed: Iterable[str]) -> tuple[str, ...]:
    """
    Check *estimate* against the packet, as its member could see it.

    Args:
        estimate: With its citations and rationale.
        packet: The whole packet.
        allowed: Ids of the items that the member was shown.

    Returns:
        Flags, each a word, with what it is about after a colon: `unknown_id`,
        `invisible_id`, `no_citation`, `number_not_in_evidence`, `crossing_quantiles`,
        `point_outside_interval`, `implausible_scale`.

    """
    seen = frozenset(allowed)
    return (
        *_citations(estimate.evidence, {item.id for item in packet.items}, seen),
        *_quoted(estimate, packet, seen),
        *_shape(estimate),
        *_scale(estimate, packet, seen),
    )


def _citations(cited: Sequence[str], known: Iterable[str], seen: frozenset[str]) -> list[str]:
    ids = set(known)
    if not cited:
        return ["no_citation"] if seen else []
    flags = [f"unknown_id: {one[:60]}" for one in dict.fromkeys(cited) if one not in ids]
    hidden = [one for one in dict.fromkeys(cited) if one in ids and one not in seen]
    return flags + [f"invisible_id: {one}" for one in hidden]


def _quoted(estimate: Estimate, packet: Packet, seen: frozenset[str]) -> list[str]:
    """Numbers of the rationale that neither the evidence nor the estimate itself holds."""
    own = [estimate.point_estimate, *quantiles_of(estimate)]
    known = [*own, *_evidence(packet, seen)]
    said = numerals(_uncited(estimate.rationale, packet))
    unknown = [one.text[:30] for one in said if not _known(one, known)]
    return [f"number_not_in_evidence: {text}" for text in dict.fromkeys(unknown)]


def _known(said: Numeral, known: Sequence[float]) -> bool:
    if said.counts(SMALL) or any(_near(one, other) for one in said.readings for other in known):
        return True
    return bool(said.parts) and all(_known(part, known) for part in said.parts)


def _shape(estimate: Estimate) -> list[str]:
    quantiles = quantiles_of(estimate)
    flags = ["crossing_quantiles"] if crossing(quantiles) else []
    if not min(quantiles) <= estimate.point_estimate <= max(quantiles):
        flags.append("point_outside_interval")
    return flags


def _scale(estimate: Estimate, packet: Packet, seen: frozenset[str]) -> list[str]:
    point = estimate.point_estimate
    if packet.plausible is not None:
        low, high = packet.plausible
        return [] if low <= point <= high else ["implausible_scale"]
    sizes = [abs(one) for one in _evidence(packet, seen) if one]
    if not sizes or not point:
        return []
    fits = min(sizes) / ABSURD <= abs(point) <= max(sizes) * ABSURD
    return [] if fits else ["implausible_scale"]


def _evidence(packet: Packet, seen: frozenset[str]) -> list[float]:
    """Every number, by every reading, of what a member was shown."""
    texts = [item.text for item in packet.items if item.id in seen]
    given = [packet.question, *texts, *_values(frozen(packet.state)[0])]
    return [one for value in given for one in _numbers(value)]


def _numbers(value: object) -> list[float]:
    if isinstance(value, str):
        return [one for found in numerals(value) for one in found.all]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [float(cast("float", value))] if is_number else []


def _values(state: object) -> Iterator[object]:
    """Every text and number in a state, however deep."""
    if isinstance(state, Mapping):
        for one in cast("Mapping[str, object]", state).values():
            yield from _values(one)
    elif isinstance(state, list | tuple):
        for one in cast("list[object]", state):
            yield from _values(one)
    else:
        yield state


def _uncited(text: str, packet: Packet) -> str:
    """Take the items' ids out: their digits quote nothing."""
    for one in sorted((item.id for item in packet.items), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", " ", text)
    return text


def _near(one: float, other: float) -> bool:
    one, other = abs(one), abs(other)  # "down by 45" quotes −45
    return abs(one - other) <= NEAR * max(abs(one), abs(other), 1.0)
