"""
Two cut-points for a predicate whose two mistakes harm differently, each with its own promise.

"No" below the one, "yes" from the other, and in between the fallback. False negatives are counted
among the positives, false positives among the negatives.

Each cut lies at an order statistic of the rows that it could harm. With k of n beyond it the true
share beyond is above α with probability P(X ≤ k | n, α) at most, whatever the distribution
(tolerance limits, Wilks 1941). So there is no grid, and no correction for choosing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .certifying import NotCertified, enough, labels_needed
from .numerics import binomial_cdf, exact_upper
from .rows import confident, share

HALF = 0.5  # of the probabilities: neither answer goes beyond its side


@dataclass(frozen=True, slots=True)
class Cut:
    """
    A certified cut-point on the raw probability of "yes".

    Attributes:
        at: "No" is answered strictly below it, or "yes" from it on.
        errors: Labelled rows of the other truth that fall on this side.
        n: Labelled rows of the other truth.
        bound: Exact upper bound of their share, at half of δ; at most α.
        coverage: Share of all labelled rows that this side answers.

    """

    at: float
    errors: int
    n: int
    bound: float
    coverage: float


Side: TypeAlias = Cut | NotCertified


@dataclass(frozen=True, slots=True)
class TwoSided:
    """Both cut-points; a side that is not certified answers nothing."""

    no_below: Side
    yes_from: Side


def _allowed(n: int, alpha: float, delta: float) -> int:
    """How many of n rows may lie beyond the cut: the most errors that still pass, or −1."""
    return bisect_right(range(n), delta, key=lambda errors: binomial_cdf(errors, n, alpha)) - 1


def _refusal(n: int, beyond: int | None, alpha: float, delta: float) -> NotCertified:
    """Say why; `beyond` of the harmed rows go with the first row; None if there is no row."""
    least = labels_needed(alpha, delta)
    if n < least:
        return NotCertified(f"{n} rows of the other truth; {least} is the least", least - n)
    if beyond is None:
        return NotCertified("no row lies on this side of 0.5", None)
    rows = enough(beyond / n, alpha, delta)
    needed = None if rows is None else max(1, rows - n)
    return NotCertified("the certified cut would answer no row", needed)


def _no_below(scores: Sequence[float], positives: Sequence[float], *promise: float) -> Side:
    n, allowed = len(positives), _allowed(len(positives), *promise)
    at = min(HALF, sorted(positives)[allowed]) if allowed >= 0 else 0.0
    answered = sum(score < at for score in scores)
    if not answered:
        lowest = min(scores, default=HALF)
        beyond = sum(score <= lowest for score in positives) if lowest < HALF else None
        return _refusal(n, beyond, *promise)
    errors = sum(score < at for score in positives)
    return Cut(at, errors, n, exact_upper(errors, n, promise[1]), answered / len(scores))


def _yes_from(scores: Sequence[float], negatives: Sequence[float], *promise: float) -> Side:
    n, allowed = len(negatives), _allowed(len(negatives), *promise)
    edge = sorted(negatives)[n - 1 - allowed] if allowed >= 0 else 1.0
    above = [score for score in scores if score > edge and score >= HALF]
    if not above:
        highest = max(scores, default=0.0)
        beyond = sum(score >= highest for score in negatives) if highest >= HALF else None
        return _refusal(n, beyond, *promise)
    at = HALF if edge < HALF else min(above)
    errors = sum(score >= at for score in negatives)
    return Cut(at, errors, n, exact_upper(errors, n, promise[1]), len(above) / len(scores))


def two_sided(
    probabilities: Sequence[float], truths: Sequence[bool], alpha: float, delta: float = 0.05
) -> TwoSided:
    """
    Certify "no" below one probability and "yes" from another, each at half of δ.

    `no_below` is at most 0.5 and promises that at most α of the positives is answered "no";
    `yes_from` is at least 0.5 and promises that at most α of the negatives is answered "yes".

    Args:
        probabilities: Raw ones of "yes", in [0, 1].
        truths: Whether "yes" is the truth.
        alpha: Budget of each side, between 0 and 1.
        delta: Risk that one of the two promises is untrue.

    Raises:
        ValueError: A row is not what `rows.confident` asks for; alpha or delta not between 0, 1.

    """
    confident(probabilities, truths)
    promise = (share("alpha", alpha, open_ended=True), share("delta", delta, open_ended=True) / 2)
    positives = [p for p, truth in zip(probabilities, truths, strict=True) if truth]
    negatives = [p for p, truth in zip(probabilities, truths, strict=True) if not truth]
    return TwoSided(
        _no_below(probabilities, positives, *promise), _yes_from(probabilities, negatives, *promise)
    )
