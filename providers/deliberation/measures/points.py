"""Several members' numbers → one: means, medians and what stands between them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from .weights import NEAR, by_name, finite, mixed, shares


def mean(values: Iterable[float]) -> float:
    """
    Arithmetic mean; one outlier moves it as far as it likes.

    Raises:
        ValueError: No values, or one that is no finite number.

    """
    return statistics.fmean(finite(values))


def median(values: Iterable[float]) -> float:
    """
    Middle value, of an even count the mean of both middle ones: the default.

    Raises:
        ValueError: No values, or one that is no finite number.

    """
    return statistics.median(finite(values))


def geometric_mean(values: Iterable[float]) -> float:
    """
    Exponential of the mean logarithm, for positive quantities.

    Raises:
        ValueError: No values, or one that is not above 0 and finite.

    """
    numbers = finite(values)
    if min(numbers) <= 0:
        raise ValueError(f"{numbers}: a geometric mean is of positive values")
    return math.exp(statistics.fmean(map(math.log, numbers)))


def trimmed(values: Iterable[float], share: float) -> float:
    """
    Mean without the ⌊share · n⌋ lowest and as many highest values (Tukey 1962).

    Raises:
        ValueError: No values, one that is no finite number, or share outside [0, 0.5).

    """
    ordered, cut = _cut(values, share)
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def winsorised(values: Iterable[float], share: float) -> float:
    """
    Mean with the ⌊share · n⌋ lowest and highest values moved to their nearest neighbour.

    Raises:
        ValueError: As `trimmed`.

    """
    ordered, cut = _cut(values, share)
    kept = ordered[cut : len(ordered) - cut]
    return statistics.fmean([kept[0]] * cut + kept + [kept[-1]] * cut)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """
    Σ w·x / Σ w.

    Raises:
        ValueError: No values, not one weight for each, a negative one, or all of them 0.

    """
    return mixed(finite(values), shares(weights, len(values)))


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """
    Lower weighted median: the least value with at least half of the weight up to it.

    Raises:
        ValueError: As `weighted_mean`.

    """
    parts = shares(weights, len(finite(values)))
    below = 0.0
    for value, part in sorted(zip(values, parts, strict=True)):
        below += part
        if part and below >= 0.5 - NEAR:
            return value
    return max(values)


def points(
    estimates: Mapping[str, float], weights: Mapping[str, float] | None = None
) -> dict[str, float]:
    """
    Aggregate each member's point by every rule that applies.

    Args:
        estimates: Member → its number.
        weights: Member → its weight; weightless members count in the unweighted rules.

    Returns:
        `mean` and `median`; `geometric_mean` where all are positive; `weighted_mean` and
        `weighted_median` where weights are given and not all 0. Empty without estimates.

    Raises:
        ValueError: A value or weight that is no finite number, or a member without a weight.

    """
    if not estimates:
        return {}
    values = list(estimates.values())
    found = {"mean": mean(values), "median": median(values)}
    if min(values) > 0:
        found["geometric_mean"] = geometric_mean(values)
    if weights is not None and any(given := by_name(estimates, weights)):
        found["weighted_mean"] = weighted_mean(values, given)
        found["weighted_median"] = weighted_median(values, given)
    return found


def _cut(values: Iterable[float], share: float) -> tuple[list[float], int]:
    if not 0.0 <= share < 0.5:  # noqa: PLR2004 - half from either side leaves nothing
        raise ValueError(f"share {share} lies from 0 to below 0.5")
    ordered = sorted(finite(values))
    return ordered, int(share * len(ordered) + NEAR)
