"""
What may be looked at after every decision, and holds all the same.

A report is read as it grows. An interval made for one look leaves out the truth far oftener than
it says where it is read again and again until something shows; those here do not. The mean is
that of rows which belong to subjects, and the rows of one subject are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from ..statistics.comparing import confidence_radius
from ..statistics.numerics import binomial_cdf

SIZE = 0.05
MANY = 10_000_000  # labels that nobody gathers
FURTHEST = 1e9  # times as many rows as there are: nobody waits for more


class Sum(NamedTuple):
    """The rows of one subject: their sum, and how many."""

    total: float
    rows: int


class Watched(NamedTuple):
    """
    A difference of shares of right answers, B's less A's.

    Attributes:
        mean: As measured, over all rows.
        low: Lower end of its always-valid 95 % interval, by subjects.
        high: Upper end.
        variance: Of what was measured.

    """

    mean: float
    low: float
    high: float
    variance: float


def watched(values: Sequence[float], units: Sequence[Hashable], effect: float) -> Watched:
    """
    Give the mean of paired differences, each in [−1, 1], with its always-valid interval.

    The variance is that of a ratio of sums over units (Cochran 1977, §6.3), with two units of
    mean size added that differ wholly, one to each side: few differences vary by chance. The
    interval is Robbins' normal mixture, tightest about differences of *effect*.

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    sums = summed(zip(units, values, strict=True))
    if not sums:
        raise ValueError("no rows")
    n, mean = len(values), math.fsum(values) / len(values)
    variance = (scatter(sums, mean) + 2.0 * (n / len(sums)) ** 2) / n**2
    return Watched(mean, *_around(mean, variance, effect), variance)


def apart(a: Sequence[Sum], b: Sequence[Sum], effect: float) -> Watched:
    """
    Give B's mean less A's, of two arms of subjects, with its always-valid interval.

    The variance is that of two ratios of sums over units (Cochran 1977, §6.3), each with one unit
    of mean size added that is wholly right or wholly wrong. No arm is believed to vary less than
    both together do: the few subjects of a small arm may all be right by chance, and would then
    seem not to vary.

    Raises:
        ValueError: Fewer than two subjects of an arm.

    """
    if min(len(a), len(b)) < 2:  # noqa: PLR2004 - a variance needs them
        raise ValueError("an arm of fewer than two subjects has no variance")
    both = [*a, *b]
    together = scatter(both, mean_of(both)) / (len(both) - 1)
    variance = sum(_of_arm(sums, together) for sums in (a, b))
    difference = mean_of(b) - mean_of(a)
    return Watched(difference, *_around(difference, variance, effect), variance)


def _of_arm(sums: Sequence[Sum], together: float) -> float:
    units, rows = len(sums), sum(one.rows for one in sums)
    own = (scatter(sums, mean_of(sums)) + (rows / units) ** 2) / (units - 1)
    return max(own, together) * units / rows**2


def mean_of(sums: Sequence[Sum]) -> float:
    """Give the mean of all rows."""
    return math.fsum(one.total for one in sums) / sum(one.rows for one in sums)


def summed(rows: Iterable[tuple[Hashable, float]]) -> list[Sum]:
    """Sum up (unit, value) by unit."""
    found: dict[Hashable, Sum] = {}
    for unit, value in rows:
        total, count = found.get(unit, (0.0, 0))
        found[unit] = Sum(total + value, count + 1)
    return list(found.values())


def scatter(sums: Sequence[Sum], mean: float) -> float:
    """Sum the squares by which units miss what *mean* a row would make of them."""
    return math.fsum((one.total - mean * one.rows) ** 2 for one in sums)


def _around(mean: float, variance: float, effect: float) -> tuple[float, float]:
    """Give the always-valid interval of a difference of shares; it never leaves [−1, 1]."""
    radius = confidence_radius(1, variance, effect**2 / variance, SIZE)
    return max(-1.0, mean - radius), min(1.0, mean + radius)


def needed(rows: int, variance: float, difference: float, effect: float) -> int | None:
    """
    Estimate the further rows until an interval leaves out zero.

    That is: until it is narrower to each side than the difference measured, or than the least
    that matters, whichever is larger. None where nobody would wait for so many.
    """
    target, low, high = max(abs(difference), effect), 1.0, 1.0
    while _radius(variance, high, effect) >= target:
        low, high = high, 2.0 * high
        if high > FURTHEST:
            return None
    for _ in range(30):
        middle = (low + high) / 2.0
        if _radius(variance, middle, effect) >= target:
            low = middle
        else:
            high = middle
    return max(1, math.ceil(rows * (high - 1.0)))


def _radius(variance: float, times: float, effect: float) -> float:
    return confidence_radius(1, variance / times, effect**2 * times / variance, SIZE)


def surely_above(errors: int, rows: int, alpha: float) -> bool:
    """
    Whether rows show that more than *alpha* of them are wrong, however often they are looked at.

    A likelihood ratio against *alpha*, mixed evenly over all rates above it. While the rate is
    *alpha* or less it is a supermartingale, and exceeds 1/δ at any time with probability δ at
    most (Ville's inequality); δ is 5 %.
    """
    if not rows or errors <= alpha * rows:
        return False
    mixed = math.lgamma(errors + 1) + math.lgamma(rows - errors + 1) - math.lgamma(rows + 2)
    beyond = binomial_cdf(errors, rows + 1, alpha) / (1.0 - alpha)
    under = errors * math.log(alpha) + (rows - errors) * math.log1p(-alpha)
    return beyond > 0.0 and mixed + math.log(beyond) - under > -math.log(SIZE)


def rows_until_sure(rate: float, alpha: float) -> int | None:
    """
    Estimate the rows at which errors at this *rate* are surely above *alpha*.

    None where the rate is not above, or so little that nobody would wait.
    """
    low, high = 0, 1
    while not surely_above(round(rate * high), high, alpha):
        low, high = high, 2 * high
        if high > MANY:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        sure = surely_above(round(rate * middle), middle, alpha)
        low, high = (low, middle) if sure else (middle, high)
    return high
