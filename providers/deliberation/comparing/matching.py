"""How many samples of one member cost what a debate cost on the same case."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..measures.matching import CHAIN, cost_ratio, matched_k
from .arms import Arm, Match
from .rows import Part, Row

UNITS: tuple[Match, ...] = ("calls", "tokens", "money")
MOST = 256  # samples of one case: where a sample is next to free, no number of them would do


class Matched(msgspec.Struct, frozen=True):
    """
    How many samples there are to be.

    Attributes:
        k: Their number, at least 1.
        by: What it was found by: calls, where nobody told the tokens or the money.

    """

    k: int
    by: Match


def samples(arm: Arm, debate: Row | int, by: Match, chain: int = CHAIN) -> Matched:
    """
    Give the samples of a matched arm on one case.

    Args:
        arm: With a chain of its own (`cost_matched`), or without (`self_consistency`).
        debate: What it is matched with, as it was run; or its calls alone, as planned.
        by: In which unit.
        chain: Calls of the chain: one less where the member cannot criticise.

    """
    chained = arm.way == "cost_matched"
    calls = chain if chained else 0
    if isinstance(debate, Row) and by != "calls":
        told = _by_unit(debate.parts, by, calls)
        if told is not None:
            return Matched(min(MOST, told), by)
    made = debate.cost.calls if isinstance(debate, Row) else debate
    return Matched(min(MOST, matched_k(made, 1, calls)), "calls")


def _by_unit(parts: Mapping[str, Part], by: Match, calls: int) -> int | None:
    """Find k in the unit, if it is wholly known; the chain's calls cost what they do there."""
    debate = sum(parts.values(), Part()).in_unit(by)
    sample = _mean(parts.get("estimate"), by)
    if debate is None or not sample:
        return None
    kinds = ("revision", "critique")[:calls]
    chain = [_mean(parts.get(kind), by) for kind in kinds]
    return matched_k(debate, sample, sum(sample if one is None else one for one in chain))


def _mean(part: Part | None, by: Match) -> float | None:
    if part is None or not part.calls:
        return None
    cost = part.in_unit(by)
    return None if cost is None else cost / part.calls


def ratios(cost: Part, debate: Row | None) -> dict[str, float]:
    """Give an arm's cost over the debate's, in every unit that is known."""
    if debate is None:
        return {}
    found = {unit: cost_ratio(cost.in_unit(unit), debate.cost.in_unit(unit)) for unit in UNITS}
    return {unit: ratio for unit, ratio in found.items() if ratio is not None}
