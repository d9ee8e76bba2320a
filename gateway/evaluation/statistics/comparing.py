"""
Which of two providers is better, and whether the rows may be trusted to say so.

Paired statistics come from decisions that both providers made (shadow); the always-valid ones
from split traffic that is looked at as often as one likes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Mapping, Sequence
from statistics import covariance, fmean, variance
from typing import NamedTuple

from .numerics import Interval, binomial_cdf, chi2_sf, normal_quantile
from .rows import paired, share

DRAWS = 2_000  # bootstrap samples; the ends of a 95 % interval then rest on 50 each
POWER, SIZE = 0.8, 0.05  # of the test that is planned for


class SampleRatio(NamedTuple):
    """How far counts are from their shares: the chi-square statistic and its p-value."""

    chi2: float
    p: float


class McNemar(NamedTuple):
    """Two-sided p-values of "both are right equally often": exact, and the less cautious mid-p."""

    exact: float
    mid_p: float


class Agreement(NamedTuple):
    """Cohen's kappa, and the share of rows on which both agree."""

    kappa: float
    observed: float


class Cuped(NamedTuple):
    """What a covariate explains: its slope, the mean, the variance of a row before and after."""

    theta: float
    mean: float
    variance: float
    adjusted: float


def sample_ratio(counts: Sequence[int], shares: Sequence[float]) -> SampleRatio:
    """
    Chi-square test that subjects fell into arms by the shares; p < 0.001 blocks a report.

    Args:
        counts: Distinct subjects of each arm.
        shares: Planned ones, above 0, with sum 1.

    Raises:
        ValueError: Fewer than two arms, no subject, or shares that are none.

    """
    arms, total = paired(counts, shares), sum(counts)
    if arms < 2 or total <= 0 or min(counts) < 0:  # noqa: PLR2004 - what a ratio is of
        raise ValueError(f"counts {list(counts)}: at least two arms and one subject")
    if not min(shares) > 0 or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
        raise ValueError(f"shares {list(shares)}: each above 0, in all 1")
    expected = [total * part for part in shares]
    chi2 = sum((count - e) ** 2 / e for count, e in zip(counts, expected, strict=True))
    return SampleRatio(chi2, chi2_sf(chi2, arms - 1))


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """
    Compare two providers by the rows that exactly one of them has right (McNemar 1947).

    The exact binomial test, doubled; mid-p after Fagerland, Lydersen & Laake 2013.

    Raises:
        ValueError: A negative count.

    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"counts {only_a} and {only_b}")
    n, fewer = only_a + only_b, min(only_a, only_b)
    if not n:
        return McNemar(1.0, 1.0)
    below, to = binomial_cdf(fewer - 1, n, 0.5), binomial_cdf(fewer, n, 0.5)
    return McNemar(min(1.0, 2.0 * to), min(1.0, below + to))


def kappa(matrix: Sequence[Sequence[int]]) -> Agreement:
    """
    Agreement beyond chance (Cohen 1960) of counts (label of one, label of the other).

    Not accuracy: neither side is gold. NaN where both give one and the same label throughout,
    because chance agrees as much.

    Raises:
        ValueError: The matrix is not square, or counts nothing.

    """
    size, n = len(matrix), sum(map(sum, matrix))
    if not n or any(len(row) != size for row in matrix):
        raise ValueError("a square matrix of counts is needed, not all of them 0")
    observed = sum(matrix[i][i] for i in range(size)) / n
    columns = [sum(column) for column in zip(*matrix, strict=True)]
    chance = sum(sum(row) * c for row, c in zip(matrix, columns, strict=True)) / n**2
    value = math.nan if chance == 1.0 else (observed - chance) / (1.0 - chance)
    return Agreement(value, observed)


def msprt_p(
    difference: float, variance: float, n: int, tau2: float, previous: float = 1.0
) -> float:
    """
    Always-valid p-value of "no difference": it may be read after every row.

    Mixture sequential probability ratio test (Johari et al. 2015, arXiv 1512.04922).

    Args:
        difference: Of the two arms' means so far.
        variance: Of one row of A plus that of one row of B. While it is 0 nothing is said.
        n: Pairs of rows so far.
        tau2: Variance of the differences worth finding: about the square of the smallest one
            that matters.
        previous: The last p-value; it never rises.

    Raises:
        ValueError: A negative variance, tau2 or n not positive, or a number that is none.

    """
    if not (variance >= 0 and tau2 > 0 and n > 0) or math.isnan(difference):
        raise ValueError(f"difference {difference}, variance {variance}, n {n}, tau2 {tau2}")
    share("previous", previous)
    v = variance / n
    if not (scale := 2.0 * v * (v + tau2)):
        return previous
    log_ratio = difference * difference * tau2 / scale - 0.5 * math.log1p(tau2 / v)
    return min(previous, math.exp(-max(0.0, log_ratio)))


def confidence_radius(n: int, variance: float, rho2: float, alpha: float) -> float:
    """
    Half width of a confidence sequence for a mean: valid at all n together (asymptotically).

    Robbins' normal mixture, as in Waudby-Smith et al. 2021 (arXiv 2103.06476); `rho2` sets the
    n at which it is tightest (smaller: later).

    Raises:
        ValueError: n or rho2 not positive, a negative variance, or alpha not between 0 and 1.

    """
    if not (n > 0 and rho2 > 0 and variance >= 0):
        raise ValueError(f"n {n}, variance {variance}, rho2 {rho2}")
    share("alpha", alpha, open_ended=True)
    spread = n * rho2 + 1.0
    return math.sqrt(spread / (n * n * rho2) * variance * math.log(spread / alpha**2))


def cuped(outcomes: Sequence[float], covariates: Sequence[float]) -> Cuped:
    """
    Take out of an outcome what was known before the experiment (Deng et al. 2013).

    Variances are those of one row, with n − 1. A constant covariate explains nothing.

    Raises:
        ValueError: Fewer than two rows, or columns of different lengths.

    """
    if paired(outcomes, covariates) < 2:  # noqa: PLR2004 - a variance needs them
        raise ValueError("one row has no variance")
    mean, before = fmean(outcomes), fmean(covariates)
    spread = variance(covariates)
    theta = covariance(covariates, outcomes) / spread if spread else 0.0
    adjusted = [y - theta * (x - before) for y, x in zip(outcomes, covariates, strict=True)]
    return Cuped(theta, mean, variance(outcomes), variance(adjusted))


def _clustered(
    differences: Sequence[float], clusters: Sequence[Hashable]
) -> list[tuple[float, int]]:
    """Sum and count of each cluster, in order of appearance."""
    paired(differences, clusters)
    found: dict[Hashable, tuple[float, int]] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        total, rows = found.get(cluster, (0.0, 0))
        found[cluster] = (total + difference, rows + 1)
    return list(found.values())


def paired_bootstrap(
    differences: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 7,
    alpha: float = 0.05,
) -> Interval:
    """
    Percentile interval of a mean difference, by drawing rows with replacement (Efron 1979).

    Args:
        differences: A's result less B's, for each row.
        clusters: The subject of each row. Given, whole subjects are drawn, because rows of one
            conversation are not independent.
        draws: Samples.
        seed: Of the draws.
        alpha: Share of intervals that may miss.

    Raises:
        ValueError: No rows, columns of different lengths, or alpha not between 0 and 1.

    """
    paired(differences)
    share("alpha", alpha, open_ended=True)
    units = _clustered(differences, range(len(differences)) if clusters is None else clusters)
    dice = random.Random(seed)  # noqa: S311 - a simulation

    def mean() -> float:
        drawn = dice.choices(units, k=len(units))
        return math.fsum(total for total, _ in drawn) / sum(rows for _, rows in drawn)

    means = sorted(mean() for _ in range(draws))
    high = max(0, int(draws * (1.0 - alpha / 2)) - 1)
    return Interval(means[int(draws * alpha / 2)], means[high])


def holm(p_values: Mapping[str, float], alpha: float = 0.05) -> set[str]:
    """
    Names whose hypothesis is rejected, all together untrue with probability alpha (Holm 1979).

    Raises:
        ValueError: A p-value outside [0, 1], or alpha not between 0 and 1.

    """
    share("alpha", alpha, open_ended=True)
    rejected: set[str] = set()
    for name, p in sorted(p_values.items(), key=lambda item: share(*item)):
        if p > alpha / (len(p_values) - len(rejected)):
            break
        rejected.add(name)
    return rejected


def more_pairs_needed(discordance: float, difference: float, seen: int = 0) -> int | None:
    """
    Decisions of both providers still wanted to tell them apart: power 80 %, two-sided 5 %.

    n = (z₀.₉₇₅·√ψ + z₀.₈·√(ψ − d²))² / d² (Connor 1987, Biometrics 43:207), less those seen.

    Args:
        discordance: ψ, the share of decisions that exactly one of them has right.
        difference: d, of their shares that are right; its sign does not matter.
        seen: Decisions of both so far.

    Returns:
        None without a difference: no number would do.

    Raises:
        ValueError: discordance outside [0, 1], or a difference larger than it.

    """
    d = abs(difference)
    if not d <= share("discordance", discordance) + 1e-12:
        raise ValueError(f"a difference of {difference} with {discordance} discordant rows")
    if not d:
        return None
    size, power = normal_quantile(1.0 - SIZE / 2), normal_quantile(POWER)
    spread = math.sqrt(max(0.0, discordance - d * d))
    pairs = (size * math.sqrt(discordance) + power * spread) ** 2 / (d * d)
    return max(0, math.ceil(pairs) - seen)
