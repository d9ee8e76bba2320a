"""
Several members' five quantiles → five.

Averaging quantiles gives a sharper result than pooling distributions, with the same mean
(Lichtendahl, Grushka-Cockayne & Winkler 2013): members that are too wide want averaging, members
that are too narrow — language models, as measured — want the pool. It is the default.

All results are sorted. A member whose quantiles cross is refused, not repaired.
"""

from __future__ import annotations

import itertools
import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence

from ....gateway.evaluation.statistics.numerics import Interval
from .weights import by_name, mixed, shares

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
SURE = 1e-12  # a level this near above a pooled one counts as reached

Quantiles = tuple[float, ...]
Knots = tuple[list[float], list[float]]  # values, and how much lies at or below each


def ordered(quantiles: Sequence[float]) -> Quantiles:
    """
    Give a member's quantiles at the five levels.

    Raises:
        ValueError: Not five, one that is no finite number, or they cross (decrease).

    """
    if len(quantiles) != len(LEVELS) or not all(map(math.isfinite, quantiles)):
        raise ValueError(f"quantiles {list(quantiles)}: five finite numbers")
    if any(low > high for low, high in itertools.pairwise(quantiles)):
        raise ValueError(f"quantiles {list(quantiles)} cross: they may not decrease")
    return tuple(quantiles)


def vincent(
    members: Sequence[Sequence[float]], weights: Sequence[float] | None = None
) -> Quantiles:
    """
    Mean of each quantile (Vincent 1912).

    Raises:
        ValueError: No members, quantiles that `ordered` refuses, or weights that are none.

    """
    parts = _parts(members, weights)
    return tuple(sorted(mixed(column, parts) for column in zip(*members, strict=True)))


def median_of_quantiles(members: Sequence[Sequence[float]]) -> Quantiles:
    """
    Median of each quantile.

    Raises:
        ValueError: No members, or quantiles that `ordered` refuses.

    """
    _parts(members, None)
    return tuple(sorted(statistics.median(column) for column in zip(*members, strict=True)))


def geometric(
    members: Sequence[Sequence[float]], weights: Sequence[float] | None = None
) -> Quantiles:
    """
    Mean of each quantile's logarithm, for positive quantities.

    Raises:
        ValueError: As `vincent`, or a quantile that is not positive.

    """
    parts = _parts(members, weights)
    if min(map(min, members)) <= 0:
        raise ValueError("geometric averaging is of positive quantiles")
    columns = zip(*members, strict=True)
    return tuple(sorted(math.exp(mixed(list(map(math.log, one)), parts)) for one in columns))


def linear_pool(
    members: Sequence[Sequence[float]], weights: Sequence[float] | None = None
) -> Quantiles:
    """
    Quantiles of the mean of distribution functions (Stone 1961).

    A member's function is linear between its quantiles; its tails go on with the slope of the
    outermost piece until 0 and 1. Where the pooled function is flat at a level, the lower end of
    the flat part is taken.

    Raises:
        ValueError: As `vincent`.

    """
    parts = _parts(members, weights)
    knots = [_knots(ordered(member)) for member in members]
    breaks = sorted({value for values, _ in knots for value in values})
    curve = [
        point
        for value in breaks
        for point in (
            (value, mixed([_below(one, value) for one in knots], parts)),
            (value, mixed([_at(one, value) for one in knots], parts)),
        )
    ]
    return tuple(sorted(_reached(curve, level) for level in LEVELS))


METHODS: Mapping[str, Callable[[Sequence[Sequence[float]], Sequence[float] | None], Quantiles]] = {
    "pool": linear_pool,
    "vincent": vincent,
    "median": lambda members, _: median_of_quantiles(members),
    "geometric": geometric,
}


def intervals(
    members: Mapping[str, Sequence[float]],
    weights: Mapping[str, float] | None = None,
    method: str = "pool",
) -> Quantiles | None:
    """
    Aggregate the members' quantiles; the weights are those of the points.

    Args:
        members: Member → its quantiles at `LEVELS`.
        weights: Member → its weight; `median` knows none.
        method: `pool`, `vincent`, `median` or `geometric`.

    Returns:
        None without members, or with weights that are all 0.

    Raises:
        ValueError: Crossing quantiles, a member without a weight, or a weight that is none.

    """
    given = None if weights is None else by_name(members, weights)
    if not members or (given is not None and not any(given)):
        return None
    return METHODS[method](list(members.values()), given)


def interval_90(quantiles: Sequence[float] | None) -> Interval | None:
    """Both outer quantiles, 5 % and 95 %: the middle 90 %; None where there are none."""
    return None if quantiles is None else Interval(quantiles[0], quantiles[-1])


def pinball(quantiles: Sequence[float], truth: float) -> float:
    """
    Twice the pinball loss, averaged over the levels: 0 best, in the unit of the quantity.

    Koenker & Bassett 1978; twice, so that at the median it is the absolute error.

    Raises:
        ValueError: Quantiles that `ordered` refuses.

    """
    pairs = zip(LEVELS, ordered(quantiles), strict=True)
    return statistics.fmean(
        2.0 * max(level * (truth - value), (level - 1.0) * (truth - value))
        for level, value in pairs
    )


def _parts(members: Sequence[Sequence[float]], weights: Sequence[float] | None) -> list[float]:
    if not members:
        raise ValueError("no members")
    for member in members:
        ordered(member)
    return shares(weights, len(members))


def _knots(q: Quantiles) -> Knots:
    lowest = q[0] - LEVELS[0] * (q[1] - q[0]) / (LEVELS[1] - LEVELS[0])
    highest = q[-1] + (1.0 - LEVELS[-1]) * (q[-1] - q[-2]) / (LEVELS[-1] - LEVELS[-2])
    return [lowest, *q, highest], [0.0, *LEVELS, 1.0]


def _at(knots: Knots, value: float) -> float:
    """How much lies at or below a value."""
    return _between(knots, value, bisect_right(knots[0], value))


def _below(knots: Knots, value: float) -> float:
    """How much lies below a value: less where the function jumps."""
    return _between(knots, value, bisect_left(knots[0], value))


def _between(knots: Knots, value: float, place: int) -> float:
    values, levels = knots
    if place == 0:
        return 0.0
    if place == len(values):
        return 1.0
    low, high = values[place - 1], values[place]
    rise = levels[place] - levels[place - 1]
    return levels[place - 1] + rise * (value - low) / (high - low)


def _reached(curve: Sequence[tuple[float, float]], level: float) -> float:
    """Where a rising curve of (value, level) first reaches a level."""
    at = next(i for i, (_, height) in enumerate(curve) if height >= level - SURE)
    value, height = curve[at]
    if at == 0:
        return value
    before, below = curve[at - 1]
    return before + (value - before) * min(1.0, (level - below) / (height - below))
