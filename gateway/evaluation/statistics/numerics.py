"""
Distribution functions and exact bounds, to about 1e-12, without a numerical library.

Continued fractions by Lentz's method as in *Numerical Recipes* (3rd ed., §6.2 and §6.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from .rows import paired, share

TINY = 1e-300  # stands in for a denominator of zero
PRECISE = 1e-15  # a factor this near to 1 changes no digit
ROUNDS = 20_000  # a fraction needs about the square root of its largest parameter

_NORMAL = NormalDist()


class Interval(NamedTuple):
    """Both ends of an interval, in the unit of what was measured."""

    low: float
    high: float


def _apart(value: float) -> float:
    return value if abs(value) > TINY else TINY


def _beta_terms(a: float, b: float, x: float, m: int) -> tuple[float, float]:
    even = a + 2 * m
    return (
        m * (b - m) * x / ((even - 1) * even),
        -(a + m) * (a + b + m) * x / (even * (even + 1)),
    )


def _beta_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1.0 / _apart(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, ROUNDS):
        for term in _beta_terms(a, b, x, m):
            d = 1.0 / _apart(1.0 + term * d)
            c = _apart(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < PRECISE:
            return value
    raise ArithmeticError(f"the incomplete beta function of {a}, {b} at {x} did not converge")


def beta_inc(a: float, b: float, x: float) -> float:
    """
    Regularised incomplete beta function I_x(a, b), for a, b > 0; x is cut to [0, 1].

    Raises:
        ValueError: a or b is not positive, or x is not a number.

    """
    if not (a > 0 and b > 0) or math.isnan(x):
        raise ValueError(f"beta_inc({a}, {b}, {x}): a and b are positive, x is a number")
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - front * _beta_fraction(b, a, 1.0 - x) / b
    return front * _beta_fraction(a, b, x) / a


def binomial_cdf(successes: int, n: int, p: float) -> float:
    """
    P(X ≤ successes) for X binomial with n trials of probability p: I_{1−p}(n − k, k + 1).

    Raises:
        ValueError: p lies outside [0, 1], or n is negative.

    """
    share("p", p)
    if n < 0:
        raise ValueError(f"{n} trials")
    if successes < 0:
        return 0.0
    return 1.0 if successes >= n else beta_inc(n - successes, successes + 1, 1.0 - p)


def exact_upper(errors: int, n: int, delta: float) -> float:
    """
    Upper bound of an error rate that holds with probability 1 − delta (Clopper–Pearson 1934).

    The largest rate at which so few errors still have probability `delta`; one-sided. Without a
    row it is 1.

    Raises:
        ValueError: More errors than rows, a negative count, or delta not between 0 and 1.

    """
    share("delta", delta, open_ended=True)
    if not 0 <= errors <= n:
        raise ValueError(f"{errors} errors in {n} rows")
    if errors == n:
        return 1.0
    low, high = errors / n, 1.0
    while low < (middle := (low + high) / 2) < high:
        if binomial_cdf(errors, n, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def exact_lower(errors: int, n: int, delta: float) -> float:
    """
    Lower bound of an error rate that holds with probability 1 − delta; without a row 0.

    Raises:
        ValueError: As `exact_upper`.

    """
    return 1.0 - exact_upper(n - errors, n, delta)


def normal_cdf(z: float) -> float:
    """P(Z ≤ z) for a standard normal Z."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """
    Give the z with P(Z ≤ z) = p for a standard normal Z.

    Raises:
        ValueError: p is not between 0 and 1.

    """
    return _NORMAL.inv_cdf(share("p", p, open_ended=True))


def _gamma_series(a: float, x: float) -> float:
    term = total = 1.0 / a
    at = a
    while term > total * PRECISE / 10:
        at += 1.0
        term *= x / at
        total += term
    return total


def _gamma_fraction(a: float, x: float) -> float:
    b = x + 1.0 - a
    c, d = 1.0 / TINY, 1.0 / b
    value = d
    for i in range(1, ROUNDS):
        b += 2.0
        d = 1.0 / _apart(i * (a - i) * d + b)
        c = _apart(b + i * (a - i) / c)
        value *= c * d
        if abs(c * d - 1.0) < PRECISE:
            return value
    raise ArithmeticError(f"the incomplete gamma function of {a} at {x} did not converge")


def gamma_upper(a: float, x: float) -> float:
    """
    Upper regularised incomplete gamma function Q(a, x), for a > 0; 1 for x ≤ 0.

    Raises:
        ValueError: a is not positive, or x is not a number.

    """
    if not a > 0 or math.isnan(x):
        raise ValueError(f"gamma_upper({a}, {x}): a is positive, x is a number")
    if x <= 0.0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    return 1.0 - front * _gamma_series(a, x) if x < a + 1.0 else front * _gamma_fraction(a, x)


def chi2_sf(x: float, degrees: int) -> float:
    """P(X > x) for X chi-square distributed with so many degrees of freedom."""
    return gamma_upper(degrees / 2.0, x / 2.0)


def wilson(successes: int, n: int, alpha: float = 0.05) -> Interval:
    """
    Two-sided interval of a share (Wilson 1927), covering it in about 1 − alpha of all samples.

    Without a row it is [0, 1].

    Raises:
        ValueError: More successes than rows, a negative count, or alpha not between 0 and 1.

    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} rows")
    z = normal_quantile(1.0 - share("alpha", alpha, open_ended=True) / 2.0)
    if n == 0:
        return Interval(0.0, 1.0)
    p, square = successes / n, z * z
    middle = (p + square / (2 * n)) / (1.0 + square / n)
    half = z * math.sqrt(p * (1.0 - p) / n + square / (4 * n * n)) / (1.0 + square / n)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def percentile(values: Sequence[float], q: float) -> float:
    """
    Quantile at q in [0, 1], linear between neighbours (type 7 of Hyndman & Fan 1996).

    Raises:
        ValueError: No values, one that is not a number, or q outside [0, 1].

    """
    rows, place = paired(values), share("q", q)
    if any(math.isnan(value) for value in values):
        raise ValueError("a value is not a number")
    ordered = sorted(values)
    below = int(place * (rows - 1))
    above = min(below + 1, rows - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place * (rows - 1) - below)
