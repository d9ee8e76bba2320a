"""
What is decided and how often wrongly, for every threshold: risk against coverage.

Rows of equal confidence are accepted together: no threshold can tell them apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from .rows import confident, paired, share


class RiskPoint(NamedTuple):
    """
    What one threshold does.

    Attributes:
        threshold: Least confidence that is accepted; inclusive.
        coverage: Share of all rows accepted.
        accepted: Rows accepted.
        errors: Those of them that are wrong.
        risk: Share of the accepted rows that is wrong.

    """

    threshold: float
    coverage: float
    accepted: int
    errors: int
    risk: float


def risk_coverage(confidences: Sequence[float], right: Sequence[bool]) -> list[RiskPoint]:
    """
    One point for each distinct confidence, the highest first; none without rows.

    Raises:
        ValueError: A row is not what `rows.confident` asks for.

    """
    n = confident(confidences, right)
    ordered = sorted(zip(confidences, right, strict=True), reverse=True)
    points: list[RiskPoint] = []
    accepted = errors = 0
    for threshold, group in groupby(ordered, key=lambda row: row[0]):
        verdicts = [verdict for _, verdict in group]
        accepted += len(verdicts)
        errors += len(verdicts) - sum(verdicts)
        points.append(RiskPoint(threshold, accepted / n, accepted, errors, errors / accepted))
    return points


def points_at(
    confidences: Sequence[float], right: Sequence[bool], thresholds: Sequence[float]
) -> list[RiskPoint]:
    """
    What these thresholds do, strictest first; one that accepts no row is left out.

    Raises:
        ValueError: A row is not what `rows.confident` asks for.

    """
    n = confident(confidences, right)
    rows = sorted(zip(confidences, right, strict=True))
    ordered = [confidence for confidence, _ in rows]
    wrong = [0, *accumulate(not verdict for _, verdict in reversed(rows))]
    found: list[RiskPoint] = []
    for threshold in sorted(thresholds, reverse=True):
        if accepted := n - bisect_left(ordered, threshold):
            errors = wrong[accepted]
            found.append(RiskPoint(threshold, accepted / n, accepted, errors, errors / accepted))
    return found


def _steps(points: Sequence[RiskPoint]) -> Iterator[tuple[RiskPoint, RiskPoint]]:
    """Each point with the one before it; before the first nothing is accepted."""
    return zip([RiskPoint(1.0, 0.0, 0, 0, 0.0), *points], points, strict=False)


def aurc(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """
    Area under the risk–coverage curve: mean risk over all coverages k/n.

    Geifman & El-Yaniv 2017 (arXiv 1705.08500); tied rows share the risk of their whole group.

    Raises:
        ValueError: No rows, or one that is not what `rows.confident` asks for.

    """
    n = paired(confidences, right)
    steps = _steps(risk_coverage(confidences, right))
    return sum(now.risk * (now.accepted - before.accepted) for before, now in steps) / n


def aurc_optimal(n: int, errors: int) -> float:
    """
    Area that remains when all errors come last: the least possible for n rows.

    Raises:
        ValueError: No rows, or more errors than rows.

    """
    if not 0 <= errors <= n or not n:
        raise ValueError(f"{errors} errors in {n} rows")
    right = n - errors
    return sum((k - right) / k for k in range(right + 1, n + 1)) / n


def excess(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """
    Area above the least possible one: how badly confidence sorts, whatever the accuracy.

    Raises:
        ValueError: As `aurc`.

    """
    return aurc(confidences, right) - aurc_optimal(len(right), len(right) - sum(right))


def augrc(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """
    Area under the generalized risk–coverage curve (Traub et al. 2024, arXiv 2407.01032).

    The mean over all coverages of P(accepted and wrong), in [0, 1/2], by the trapezoid rule, so
    that ties count as if broken at random. Unlike AURC it does not blow up where little is
    accepted. Equals (1 − AUROC)·a·(1 − a) + (1 − a)²/2 at accuracy a.

    Raises:
        ValueError: As `aurc`.

    """
    n = paired(confidences, right)
    steps = _steps(risk_coverage(confidences, right))
    return sum(
        (now.errors + before.errors) / 2 * (now.accepted - before.accepted) for before, now in steps
    ) / (n * n)


def coverage_at(confidences: Sequence[float], right: Sequence[bool], error: float) -> float:
    """
    Largest share of rows that could be accepted with a measured risk of at most `error`.

    Found by looking at the labels: a description of these rows, never a promise for others (see
    `certifying.certify`). 0 if no threshold does.

    Raises:
        ValueError: `error` outside [0, 1], or a row that is not what `rows.confident` asks for.

    """
    share("error", error)
    points = risk_coverage(confidences, right)
    return max((point.coverage for point in points if point.risk <= error), default=0.0)
