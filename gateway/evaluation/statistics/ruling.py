"""
Other rules for a threshold: for other promises, for costs, and one that promises nothing.

None of them replaces `certifying.certify` for the share of errors among the decided.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from .certifying import Certified, NotCertified, Outcome
from .numerics import exact_upper
from .rows import confident, share
from .selective import RiskPoint, risk_coverage


def sgr(confidences: Sequence[float], right: Sequence[bool], alpha: float, delta: float) -> Outcome:
    """
    Selection with guaranteed risk (Geifman & El-Yaniv 2017, arXiv 1705.08500, algorithm 2).

    A binary search over the sorted rows, each of its ⌈log₂ n⌉ exact bounds at an equal share of
    δ. Keeps the promise of `certify` and pays more for it. Rows of equal confidence are accepted
    together, so that the bound holds for the threshold as it will be used.

    Raises:
        ValueError: A row is not what `rows.confident` asks for; alpha or delta not between 0, 1.

    """
    n = confident(confidences, right)
    share("alpha", alpha, open_ended=True)
    rounds = max(1, math.ceil(math.log2(n))) if n else 0
    points = {point.threshold: point for point in risk_coverage(confidences, right)}
    ordered, best = sorted(confidences), None
    low, high = 0, n - 1
    for _ in range(rounds):
        middle = (low + high + 1) // 2
        point = points[ordered[middle]]
        bound = exact_upper(point.errors, point.accepted, delta / rounds)
        if bound <= alpha:
            high, best = middle, (point, bound)
        else:
            low = middle
    if best is None:
        return NotCertified("no threshold of the search is below the budget", None)
    point, bound = best
    counts = (point.threshold, point.accepted, point.errors)
    return Certified(*counts, bound, point.coverage, alpha, delta, "sgr")


def conformal_risk(
    confidences: Sequence[float],
    right: Sequence[bool],
    alpha: float,
    grid: Sequence[float] | None = None,
) -> float | None:
    """
    Lowest threshold with P(decided and wrong) ≤ α, on average, over *all* traffic; or None.

    Conformal risk control (Angelopoulos et al. 2022, arXiv 2208.02814) for a loss of at most 1:
    (errors + 1) / (n + 1) ≤ α. Not the share of errors among the decided, which may be higher.

    Args:
        confidences: Raw ones, in [0, 1].
        right: Whether each answer was right.
        alpha: Budget, between 0 and 1.
        grid: Thresholds to choose from; by default all confidences.

    Raises:
        ValueError: A row is not what `rows.confident` asks for; alpha not between 0 and 1.

    """
    n = confident(confidences, right)
    share("alpha", alpha, open_ended=True)
    ordered = sorted(confidences)
    wrong = sorted(c for c, verdict in zip(confidences, right, strict=True) if not verdict)
    lowest = None
    for threshold in sorted(set(ordered if grid is None else grid), reverse=True):
        if len(wrong) - bisect_left(wrong, threshold) + 1 > alpha * (n + 1):
            break
        lowest = threshold
    return lowest


def conformal_quantile(scores: Sequence[float], alpha: float) -> float:
    """
    Quantile of scores that the next one exceeds with probability at most α (split conformal).

    The ⌈(n + 1)(1 − α)⌉-th smallest; infinite where there are too few (Vovk et al. 2005).

    Raises:
        ValueError: alpha is not between 0 and 1, or a score is not a number.

    """
    share("alpha", alpha, open_ended=True)
    if any(math.isnan(score) for score in scores):
        raise ValueError("a score is not a number")
    exact = (len(scores) + 1) * (1.0 - alpha)
    rank = math.ceil(exact - 1e-9)  # 10 · (1 − 0.7) is not 3 in binary
    return math.inf if rank > len(scores) else sorted(scores)[rank - 1]


def measured_rule(
    confidences: Sequence[float], right: Sequence[bool], alpha: float
) -> RiskPoint | None:
    """
    Lowest threshold whose *measured* risk is at most α, or None: the naive rule.

    It picks the luckiest of many thresholds and breaks its word about every second time
    (`benchmarks/promises.py`). Here to be shown beside, never to be used.

    Raises:
        ValueError: A row is not what `rows.confident` asks for; alpha outside [0, 1].

    """
    share("alpha", alpha)
    points = [point for point in risk_coverage(confidences, right) if point.risk <= alpha]
    return points[-1] if points else None


def cost_threshold(error_cost: float, fallback_cost: float, fallback_error: float = 0.0) -> float:
    """
    Act from this probability of being right on; in [0, 1], 0 where asking on never pays.

    1 − (fallback_cost + fallback_error · error_cost) / error_cost: a wrong answer costs
    `error_cost`; asking `current` instead costs `fallback_cost` and is wrong with probability
    `fallback_error`. Needs calibrated probabilities, unlike `certify`.

    Raises:
        ValueError: error_cost is not positive, fallback_cost is negative, or fallback_error lies
            outside [0, 1].

    """
    if not (error_cost > 0 and fallback_cost >= 0):
        raise ValueError(f"costs: an error {error_cost}, a fallback {fallback_cost}")
    return max(0.0, 1.0 - share("fallback_error", fallback_error) - fallback_cost / error_cost)
