"""
How far members' numbers lie apart, and whether that still moves.

Quantiles are linear between neighbours (type 7 of Hyndman & Fan 1996). With 2–4 members the
interquartile range is an artefact of that interpolation (of two it is half their distance), so
the range and the MAD are worth a look beside it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ....gateway.evaluation.statistics.numerics import percentile
from .weights import NEAR, finite

TOLERANCE = 0.01  # a relative change below it has stopped moving
FEW = 2  # values that can lie apart

Scale = Literal["log", "linear", "logit"]
Points = Mapping[str, float] | Sequence[float]

_SCALES: Mapping[str, Callable[[float], float]] = {
    "log": math.log,
    "linear": float,
    "logit": lambda p: math.log(p / (1.0 - p)),
}


def dispersion(points: Points, scale: Scale = "log") -> float | None:
    """
    Interquartile range of the members' points on a scale; None below two points.

    On the log scale it has no unit: multiplying all points by one factor does not change it.

    Args:
        points: One for each member.
        scale: `log` for positive quantities, `linear` for signed ones, `logit` for shares
            between 0 and 1.

    Raises:
        ValueError: A point that the scale has no place for.

    """
    values = _scaled(points, scale)
    return percentile(values, 0.75) - percentile(values, 0.25) if len(values) >= FEW else None


def spread_range(points: Points, scale: Scale = "log") -> float | None:
    """
    Distance of the highest point from the lowest; None below two points.

    Raises:
        ValueError: As `dispersion`.

    """
    values = _scaled(points, scale)
    return max(values) - min(values) if len(values) >= FEW else None


def mad(points: Points, scale: Scale = "log") -> float | None:
    """
    Median distance from the median, not rescaled; None below two points.

    Raises:
        ValueError: As `dispersion`.

    """
    values = _scaled(points, scale)
    if len(values) < FEW:
        return None
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values)


def spread_confidence(points: Points, low: float, high: float) -> float | None:
    """
    1 − IQR / (high − low) of scores on a fixed range, in [0, 1]; None below two scores.

    Raises:
        ValueError: The range is empty, or a score lies outside it.

    """
    values = _scaled(points, "linear")
    if not low < high or any(not low <= value <= high for value in values):
        raise ValueError(f"scores {values} on the range from {low} to {high}")
    apart = dispersion(values, "linear")
    return None if apart is None else 1.0 - apart / (high - low)


def relative_change(previous: float | None, current: float | None) -> float | None:
    """|current − previous| / previous; 0 of two zeros, infinite from 0 on, None of undefined."""
    if previous is None or current is None:
        return None
    if previous == 0:
        return 0.0 if current == 0 else math.inf
    return abs(current - previous) / previous


def should_stop(
    previous: float | None, current: float | None, tolerance: float = TOLERANCE
) -> bool:
    """
    Whether the dispersion has stopped moving: its relative change is below the tolerance.

    Strictly, and with room for rounding: a change of exactly the tolerance, up to 1e-9 less,
    does not stop. Widening counts as moving, too. Undefined dispersions never stop. "Stable" is
    not "agreed": members may just insist.
    """
    change = relative_change(previous, current)
    return change is not None and change < tolerance - NEAR


def _scaled(points: Points, scale: Scale) -> list[float]:
    values = list(points.values()) if isinstance(points, Mapping) else list(points)
    if not values:
        return []
    try:
        return [_SCALES[scale](value) for value in finite(values)]
    except (ValueError, ZeroDivisionError) as fault:
        raise ValueError(f"points {values} on a {scale} scale: {fault}") from fault
