"""Weights of members: what they may be, and how they become shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

NEAR = 1e-9  # two weights or two levels this near are equal: sums of floats are no finer


def finite(values: Iterable[float]) -> list[float]:
    """
    Give the numbers as a list.

    Raises:
        ValueError: There is none, or one is infinite or not a number.

    """
    numbers = list(values)
    if not numbers:
        raise ValueError("no values")
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"{numbers}: each value is a finite number")
    return numbers


def checked(weights: Sequence[float], rows: int) -> list[float]:
    """
    Give the weights as a list.

    Raises:
        ValueError: Not one for each row, a negative one, or one that is no finite number.

    """
    if len(weights) != rows:
        raise ValueError(f"{len(weights)} weights for {rows} rows")
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ValueError(f"weights {list(weights)}: each is a finite number, not below 0")
    return list(weights)


def shares(weights: Sequence[float] | None, rows: int) -> list[float]:
    """
    Give weights with sum 1; equal ones where there are none.

    Raises:
        ValueError: As `checked`, or all of them are 0.

    """
    if weights is None:
        return [1.0 / rows] * rows
    total = math.fsum(checked(weights, rows))
    if not total:
        raise ValueError("all weights are 0")
    return [weight / total for weight in weights]


def mixed(values: Sequence[float], parts: Sequence[float]) -> float:
    """Σ share · value, summed exactly, so that the order of members is no matter."""
    return math.fsum(part * value for part, value in zip(parts, values, strict=True))


def by_name(points: Mapping[str, object], weights: Mapping[str, float]) -> list[float]:
    """
    Give each member's weight, in the order of the points.

    Raises:
        ValueError: A member has none.

    """
    if missing := sorted(points.keys() - weights.keys()):
        raise ValueError(f"no weight for {', '.join(missing)}")
    return [weights[name] for name in points]
