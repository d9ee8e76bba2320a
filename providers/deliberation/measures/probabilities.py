"""Several members' probabilities of one statement → one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .weights import finite, mixed, shares

LEAST, MOST = 0.01, 0.99  # a member's certainty may not outvote all others


def clipped(p: float) -> float:
    """
    Cut a probability to [0.01, 0.99].

    Raises:
        ValueError: It is no number in [0, 1].

    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{p!r} is no probability")
    return min(MOST, max(LEAST, p))


def geometric_mean_of_odds(ps: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """
    Probability whose log-odds are the mean of the members' (Satopää et al. 2014).

    Raises:
        ValueError: No member, one that is no probability, or weights that are none.

    """
    return extremised(ps, 1.0, weights)


def extremised(ps: Sequence[float], factor: float, weights: Sequence[float] | None = None) -> float:
    """
    Multiply the mean log-odds by a factor.

    Above 1 only where members know different things: instances of one model share what they
    know, so nothing here does it unless asked.

    Raises:
        ValueError: As `geometric_mean_of_odds`, or a factor that is not positive and finite.

    """
    if not (math.isfinite(factor) and factor > 0):
        raise ValueError(f"factor {factor}: a positive number")
    cut = [clipped(p) for p in finite(ps)]
    odds = [math.log(p / (1.0 - p)) for p in cut]
    return 1.0 / (1.0 + math.exp(-factor * mixed(odds, shares(weights, len(odds)))))


def neyman_roughgarden(n: int) -> float:
    """
    Factor for n members of independent information, from 1 (n = 1) up to √3.

    n(√(3n² − 3n + 1) − 2) / (n² − n − 1), Neyman & Roughgarden 2021 (arXiv 2111.03153).

    Raises:
        ValueError: n is not positive.

    """
    if n < 1:
        raise ValueError(f"{n} members")
    return n * (math.sqrt(3 * n * n - 3 * n + 1) - 2) / (n * n - n - 1)


def selected(p: float, *, tie: bool = False) -> tuple[bool, float]:
    """
    Truth value of a probability, and the probability of that value: the confidence, in [0.5, 1].

    Args:
        p: Of "true".
        tie: The truth value of exactly 0.5.

    """
    value = tie if p == 0.5 else p > 0.5  # noqa: PLR2004 - the tie
    return value, p if value else 1.0 - p
