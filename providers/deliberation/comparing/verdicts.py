"""
Whether two arms differ: said only where it is shown, and how many items would show it.

Two conditions, both of them: the paired interval of the difference leaves out 0, and the exact
test of McNemar holds after Holm's correction over all pairs that are told. The first alone is
too easily met by a handful of items, and by one pair of many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ....gateway.evaluation.statistics.comparing import holm, mcnemar
from ..measures.matching import mcnemar_items
from .resampling import DRAWS, differences

EFFECT = 0.05  # a difference worth finding, where none was measured


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """
    Two arms on the same items.

    Attributes:
        a: One.
        b: The other.
        difference: a's share of right outcomes less b's.
        low: Lower end of its 95 % interval, by drawing items.
        high: Upper end.
        only_a: Items that only a has right.
        only_b: Items that only b has right.
        p: Exact McNemar, two-sided.
        shown: The arm that is ahead, where that is shown; else empty.
        effect: The difference that `needed` is for.
        needed: About how many items would show it (5 %, power 80 %), were it the only pair that
            is told; None: no number is known.
        said: All of that in a sentence.

    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    only_a: int
    only_b: int
    p: float
    shown: str
    effect: float
    needed: int | None
    said: str


def compared(
    columns: Mapping[str, Sequence[bool]], *, seed: int = 7, draws: int = DRAWS
) -> tuple[Compared, ...]:
    """
    Compare every pair of arms.

    Args:
        columns: Arm → whether it is right, item by item; the same items for all.
        seed: Of the intervals.
        draws: Of the intervals.

    Raises:
        ValueError: Columns of different lengths, or without items.

    """
    found = differences(columns, seed=seed, draws=draws)
    only = {(a, b): _discordant(columns[a], columns[b]) for a, b in found}
    tests = {pair: mcnemar(*counts).exact for pair, counts in only.items()}
    holds = holm({" / ".join(pair): p for pair, p in tests.items()}) if tests else set[str]()
    n = len(next(iter(columns.values())))
    pairs = [
        _pair(pair, n, only[pair], ends, tests[pair], holds=" / ".join(pair) in holds)
        for pair, ends in found.items()
    ]
    alone = len(pairs) == 1
    return tuple(msgspec.structs.replace(one, said=_sentence(one, n, alone=alone)) for one in pairs)


def _discordant(a: Sequence[bool], b: Sequence[bool]) -> tuple[int, int]:
    pairs = list(zip(a, b, strict=True))
    return sum(x and not y for x, y in pairs), sum(y and not x for x, y in pairs)


def _pair(
    pair: tuple[str, str],
    n: int,
    only: tuple[int, int],
    ends: tuple[float, float],
    p: float,
    *,
    holds: bool,
) -> Compared:
    difference = (only[0] - only[1]) / n
    apart = ends[0] > 0 or ends[1] < 0
    shown = pair[difference < 0] if apart and holds else ""
    discordance = sum(only) / n
    effect = abs(difference) or min(EFFECT, discordance)
    needed = mcnemar_items(discordance, effect) if effect else None
    return Compared(
        a=pair[0],
        b=pair[1],
        difference=difference,
        low=ends[0],
        high=ends[1],
        only_a=only[0],
        only_b=only[1],
        p=p,
        shown=shown,
        effect=effect,
        needed=needed,
        said="",
    )


def _sentence(one: Compared, n: int, *, alone: bool) -> str:
    apart = one.low > 0 or one.high < 0
    if one.shown:
        other = one.b if one.shown == one.a else one.a
        return f"{one.shown} is better than {other}: {_points(abs(one.difference))} on {n:,} items."
    if not one.only_a + one.only_b:
        return f"{one.a} and {one.b}: no difference shown; they never differed on {n:,} items."
    corrected = " once all pairs told here are corrected for" if apart else ""
    size = "as measured" if one.difference else "worth finding"
    needed = "no number of" if one.needed is None else f"about {one.needed:,}"
    only = "" if alone else ", were it the only pair"
    told = f"{needed} items would be needed for one of {_points(one.effect)} ({size}{only})"
    return f"{one.a} and {one.b}: no difference shown{corrected}; {told}."


def _points(share: float) -> str:
    points = 100 * share
    return f"{points:.1f} points"
