"""
Thresholds that keep a promise: "of what is decided, at most α is wrong", at risk δ of being untrue.

`certify` is the rule to use. The promise is about rows that come like the labelled ones
(exchangeable); it says nothing about other traffic. `cutting` does the same for predicates whose
two mistakes harm differently, and `ruling` holds older and cheaper rules, for other questions
and to show beside.

Learn-then-Test (Angelopoulos et al. 2021, arXiv 2110.01052): each threshold is a hypothesis "its
risk is above α" with the exact binomial p-value P(X ≤ errors | accepted, α). Thresholds are
tested in an order fixed beforehand, strict to loose, each at full δ, until one is not rejected.
"Beforehand" means without the labels: which thresholds are tried, and where the tests begin, may
depend on the confidences, because given these every label is still to be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .numerics import binomial_cdf, exact_upper, normal_quantile
from .rows import confident, share
from .selective import RiskPoint, points_at

STARTS = (0.3, 0.5, 0.7)  # shares of rows accepted where a sequence begins, beside the fewest
STEPS = 50  # thresholds over all rows; 20 and 200 were measured to cover about as much
MANY = 10_000_000  # labels that nobody gathers


@dataclass(frozen=True, slots=True)
class Certified:
    """
    A threshold with its promise.

    Attributes:
        threshold: Least raw confidence that is decided; inclusive.
        accepted: Labelled rows it accepts.
        errors: Those of them that are wrong.
        bound: Exact upper bound of the risk at this threshold, at the share of δ that its
            sequence had; at most `alpha`.
        coverage: Share of the labelled rows it accepts.
        alpha: Promised largest share of wrong answers among the decided ones.
        delta: Probability that the promise is untrue.
        method: Name of the rule.

    """

    threshold: float
    accepted: int
    errors: int
    bound: float
    coverage: float
    alpha: float
    delta: float
    method: str


@dataclass(frozen=True, slots=True)
class NotCertified:
    """
    Why no threshold is promised.

    Attributes:
        reason: In one sentence.
        needed: About how many more labels would do, if error rate and coverage stay as they were
            measured; too hopeful where the error rate is near α. None: no number would.

    """

    reason: str
    needed: int | None


Outcome: TypeAlias = Certified | NotCertified


class Step(NamedTuple):
    """One test of a fixed sequence: `p` is the p-value of "the risk at `threshold` is above α"."""

    threshold: float
    accepted: int
    errors: int
    p: float


def labels_needed(alpha: float, delta: float) -> int:
    """
    Fewest accepted rows that certify α at risk δ: without one error, ⌈ln δ / ln(1 − α)⌉.

    Raises:
        ValueError: alpha or delta is not between 0 and 1.

    """
    share("alpha", alpha, open_ended=True)
    return math.ceil(math.log(share("delta", delta, open_ended=True)) / math.log1p(-alpha))


def _accepting(ordered: Sequence[float], counts: Sequence[int]) -> list[float]:
    """Thresholds that accept that many of the rows, and those tied with them; strictest first."""
    return sorted({ordered[-count] for count in counts if 0 < count <= len(ordered)}, reverse=True)


def _grid(confidences: Sequence[float], first: int) -> list[float]:
    """Thresholds that accept `first` rows, then a fiftieth of the rows more each time, then all."""
    n = len(confidences)
    counts = [*range(first, n, max(1, n // STEPS)), max(first, n)]
    return _accepting(sorted(confidences), counts)


def _sequence(points: Sequence[RiskPoint], alpha: float, delta: float) -> list[Step]:
    """Test one by one; the last is the first that fails, if any does."""
    steps: list[Step] = []
    for point in points:
        p = binomial_cdf(point.errors, point.accepted, alpha)
        steps.append(Step(point.threshold, point.accepted, point.errors, p))
        if p > delta:
            break
    return steps


def fixed_sequence(
    confidences: Sequence[float],
    right: Sequence[bool],
    alpha: float,
    delta: float,
    start: int | None = None,
    grid: Sequence[float] | None = None,
) -> list[Step]:
    """
    Run the tests of one Learn-then-Test sequence; all but the last are passed, the last maybe.

    Args:
        confidences: Raw ones, in [0, 1].
        right: Whether each answer was right.
        alpha: Budget for errors among the accepted.
        delta: Risk that the promise is untrue.
        start: Accepted rows of the first test; by default the fewest that could pass. What
            accepts fewer is skipped.
        grid: Thresholds, chosen without the labels; by default quantiles of the confidences.

    Raises:
        ValueError: A row is not what `rows.confident` asks for; alpha or delta not between 0, 1.

    """
    first = labels_needed(alpha, delta) if start is None else max(1, start)
    confident(confidences, right)
    points = points_at(confidences, right, _grid(confidences, first) if grid is None else grid)
    return _sequence([point for point in points if point.accepted >= first], alpha, delta)


def ltt(
    confidences: Sequence[float],
    right: Sequence[bool],
    alpha: float,
    delta: float,
    start: int | None = None,
    grid: Sequence[float] | None = None,
) -> Outcome:
    """
    Certify by a single sequence: arguments and errors of `fixed_sequence`.

    `certify` begins at four places instead, and seldom loses by it.
    """
    steps = fixed_sequence(confidences, right, alpha, delta, start, grid)
    passed = [step for step in steps if step.p <= delta]
    if not passed:
        return _refusal(confidences, right, alpha, delta)
    last = passed[-1]
    bound = exact_upper(last.errors, last.accepted, delta)
    coverage = last.accepted / len(confidences)
    return Certified(*last[:3], bound, coverage, alpha, delta, "ltt")


def certify(
    confidences: Sequence[float],
    right: Sequence[bool],
    alpha: float,
    delta: float = 0.05,
    least: float = 0.0,
) -> Outcome:
    """
    Find the lowest threshold that keeps "at most α of the decided is wrong", untrue at risk δ.

    Learn-then-Test with four starts: the fewest accepted rows that could pass, and the
    thresholds that accept 30, 50 and 70 % of the rows. Each is a fixed sequence downwards at
    δ/4, and the lowest threshold of the four wins: by the union bound all four keep their
    promise together at risk δ. A single start is lost with its first test; four seldom are.

    The threshold is on the raw confidence: a monotone recalibrator accepts the same rows.

    Args:
        confidences: Raw ones, in [0, 1]; rows of equal confidence are accepted together.
        right: Whether each answer was right. Where `current` stands in for gold, the promise is
            about agreement with it and must be called that.
        alpha: Budget for errors among the decided, between 0 and 1.
        delta: Risk that the promise is untrue, between 0 and 1.
        least: Lower thresholds are passed over, whatever is known of them. It may depend on the
            labels: all thresholds that pass keep their promises together.

    Raises:
        ValueError: A row is not what `rows.confident` asks for; alpha or delta not between 0, 1.

    """
    part = delta / (len(STARTS) + 1)
    first, n = labels_needed(alpha, part), confident(confidences, right)
    share("delta", delta, open_ended=True)
    points = points_at(confidences, right, _grid(confidences, first))
    passed = [
        step
        for start in (first, *(math.ceil(n * covered) for covered in STARTS))
        for step in _sequence([each for each in points if each.accepted >= start], alpha, part)
        if step.p <= part
    ]
    if not passed:
        return _refusal(confidences, right, alpha, part)
    if not (strict := [step for step in passed if step.threshold >= least]):
        return _refusal_from(confidences, right, (least, alpha, part))
    best = min(strict)
    bound = exact_upper(best.errors, best.accepted, part)
    return Certified(*best[:3], bound, best.accepted / n, alpha, delta, "ltt-4")


def enough(risk: float, alpha: float, delta: float) -> int | None:
    """
    Accepted rows at which a measured risk passes the test of α at risk δ; None above ten million.

    Raises:
        ValueError: alpha or delta is not between 0 and 1.

    """

    def passes(rows: int) -> bool:
        return binomial_cdf(math.ceil(risk * rows), rows, alpha) <= delta

    low, high = 0, labels_needed(alpha, delta)
    while not passes(high):
        low, high = high, 2 * high
        if high > MANY or risk >= alpha:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def _labels(point: RiskPoint, alpha: float, delta: float) -> float:
    """About the labels in all until this threshold passes, by the normal approximation."""
    if point.risk >= alpha:
        return math.inf
    z = normal_quantile(1.0 - delta)
    return z * z * alpha * (1.0 - alpha) / (alpha - point.risk) ** 2 / point.coverage


def _refusal(
    confidences: Sequence[float], right: Sequence[bool], alpha: float, delta: float
) -> NotCertified:
    """Say why, and how many more labels; estimated where the four sequences begin."""
    n, first = len(confidences), labels_needed(alpha, delta)
    if not n:
        return NotCertified("there are no labelled rows", first)
    points = _starts(confidences, right, (alpha, delta))
    best = min(points, key=lambda point: _labels(point, alpha, delta))
    rows = enough(best.risk, alpha, delta)
    if rows is None:
        return NotCertified("too many errors even among the most confident rows", None)
    needed = max(1, math.ceil(rows / best.coverage) - n)
    if n < first:
        return NotCertified(f"{n} labelled rows; {first} is the least that could do", needed)
    return NotCertified("too few rows to tell the measured error from the budget", needed)


def _refusal_from(
    confidences: Sequence[float], right: Sequence[bool], wanted: tuple[float, float, float]
) -> NotCertified:
    """Say why no threshold from the *wanted* one on keeps α at risk δ, where lower ones do."""
    least, alpha, delta = wanted
    point = next(iter(points_at(confidences, right, [least])), None)
    if point is None:
        return NotCertified(f"no row comes up to {least:.4f}", None)
    reason = f"{point.errors:,} of {point.accepted:,} rows from {least:.4f} on are wrong"
    points = [each for each in _starts(confidences, right, wanted[1:]) if each.threshold >= least]
    best = min(points or [point], key=lambda each: _labels(each, alpha, delta))
    rows = enough(best.risk, alpha, delta)
    if rows is None:
        return NotCertified(reason, None)
    return NotCertified(reason, max(1, math.ceil(rows / best.coverage) - len(right)))


def _starts(
    confidences: Sequence[float], right: Sequence[bool], promise: tuple[float, float]
) -> list[RiskPoint]:
    """Give the points at which the four sequences begin."""
    n = len(confidences)
    counts = [min(labels_needed(*promise), n), *(math.ceil(n * covered) for covered in STARTS)]
    return points_at(confidences, right, _accepting(sorted(confidences), counts))
