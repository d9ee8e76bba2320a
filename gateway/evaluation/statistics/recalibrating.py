"""
From raw to calibrated probabilities: four maps, and whether one of them is worth having.

They rise (but for a Platt line of negative slope), so a gate on one question's own confidence
accepts the same rows before and after; thresholds stay on raw values. They matter for costs, for
showing "how sure", for combining questions, and for the 0.5 point of a predicate.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal, NamedTuple, TypeAlias, get_args

from .isotonic import isotonic
from .logistic import maximum_likelihood, sigmoid
from .measures import FLOOR
from .rows import confident, paired

Kind: TypeAlias = Literal["temperature", "platt", "beta", "isotonic"]

EDGE = 1e-6  # probabilities are cut to [EDGE, 1 − EDGE] before a logarithm
COLDEST, HOTTEST = 0.05, 20.0  # temperatures looked at
FEWEST = 4  # rows: two to fit, two for a standard error


class Temperature(NamedTuple):
    """The best temperature, and the log loss at 1 and at it."""

    value: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Recalibration:
    """
    A fitted map of one probability.

    Attributes:
        kind: Which family.
        parameters: `temperature`: (T,). `platt`: (slope, intercept). `beta`: (a, b, c).
            `isotonic`: (first, value, first, value, …), each value from its first raw
            probability on; below the first one the first value.

    """

    kind: Kind
    parameters: tuple[float, ...]

    def __call__(self, probability: float) -> float:
        """Give the calibrated probability of a raw one, both in [0, 1]."""
        return _MAPS[self.kind](self.parameters, probability)


@dataclass(frozen=True, slots=True)
class Worth:
    """
    Whether a recalibration pays.

    Attributes:
        kept: The log loss falls by more than one standard error.
        gain: Mean fall of the log loss on the half that it was not fitted on.
        error: Standard error of that mean.
        recalibration: Fitted on all rows; None if it is not kept.
        reason: Why it could not be fitted; empty if it could.

    """

    kept: bool
    gain: float
    error: float
    recalibration: Recalibration | None
    reason: str = ""


def _inside(probability: float) -> float:
    return min(1.0 - EDGE, max(EDGE, probability))


def _logit(probability: float) -> float:
    inside = _inside(probability)
    return math.log(inside / (1.0 - inside))


def _logits(row: Mapping[str, float]) -> dict[str, float]:
    return {option: math.log(max(EDGE, p)) for option, p in row.items()}


def _softened(logits: Mapping[str, float], cold: float) -> tuple[float, float]:
    """Ln Σ exp(cold · logit), and the mean logit under that distribution."""
    top = max(logits.values())
    weights = {option: math.exp(cold * (logit - top)) for option, logit in logits.items()}
    total = sum(weights.values())
    mean = sum(weights[option] * logit for option, logit in logits.items()) / total
    return cold * top + math.log(total), mean


def temperature(rows: Sequence[Mapping[str, float]], gold: Sequence[str]) -> Temperature:
    """
    Fit one temperature to distributions over options (Guo et al. 2017, arXiv 1706.04599).

    Logits are the logarithms of the probabilities, cut off below 1e-6. The log loss is convex
    in 1/T, so its slope is bisected; T stays in [0.05, 20].

    Raises:
        ValueError: No rows, columns of different lengths, or a label that is no option.

    """
    paired(rows, gold)
    for row, (options, label) in enumerate(zip(rows, gold, strict=True)):
        if label not in options:
            raise ValueError(f"row {row}: the gold label is none of its options")
    logits = [_logits(row) for row in rows]
    right = fmean(row[label] for row, label in zip(logits, gold, strict=True))

    def slope(cold: float) -> float:
        return fmean(_softened(row, cold)[1] for row in logits) - right

    def loss(cold: float) -> float:
        return fmean(_softened(row, cold)[0] for row in logits) - cold * right

    cold = _root(slope, 1.0 / HOTTEST, 1.0 / COLDEST)
    return Temperature(1.0 / cold, loss(1.0), loss(cold))


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses 0, or the end that is nearest to it."""
    while low < (middle := (low + high) / 2) < high:
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def platt(probabilities: Sequence[float], truths: Sequence[bool]) -> tuple[float, float]:
    """
    Slope and intercept of P' = sigmoid(slope · logit P + intercept), by maximum likelihood.

    Platt 1999 without his prior; probabilities are cut to [1e-6, 1 − 1e-6].

    Raises:
        ValueError: The rows determine no finite line: one truth only, all probabilities equal,
            or a probability that separates the truths without error; or a bad row.

    """
    confident(probabilities, truths)
    features = [(_logit(p), 1.0) for p in probabilities]
    slope, intercept = maximum_likelihood(features, truths, (1.0, 0.0))
    return slope, intercept


def beta(probabilities: Sequence[float], truths: Sequence[bool]) -> tuple[float, float, float]:
    """
    Fit (a, b, c) of logit P' = a · ln P − b · ln(1 − P) + c by Newton's method.

    Beta calibration (Kull, Silva Filho & Flach 2017). Where a or b would be negative it is set to
    0 and the others are fitted again, as its authors do, so that the map never falls.

    Raises:
        ValueError: As `platt`.

    """
    confident(probabilities, truths)
    inside = [_inside(p) for p in probabilities]
    ups, downs = [math.log(p) for p in inside], [-math.log1p(-p) for p in inside]
    columns = list(zip(ups, downs, [1.0] * len(ups), strict=True))
    a, b, c = maximum_likelihood(columns, truths, (1.0, 1.0, 0.0))
    if min(a, b) >= 0.0:
        return a, b, c
    kept = downs if a < b else ups
    slope, c = maximum_likelihood([(x, 1.0) for x in kept], truths, (1.0, 0.0))
    if slope < 0.0:
        return 0.0, 0.0, _logit(fmean(truths))
    return (0.0, slope, c) if a < b else (slope, 0.0, c)


def fit(kind: Kind, probabilities: Sequence[float], truths: Sequence[bool]) -> Recalibration:
    """
    Fit one family to probabilities of "true" (or confidences) and what was true (or right).

    Raises:
        ValueError: An unknown kind, a bad row, or rows that determine no finite fit.

    """
    paired(probabilities, truths)
    confident(probabilities, truths)
    if kind not in _FITS:
        raise ValueError(f"{kind!r}: choose one of {', '.join(get_args(Kind))}")
    return Recalibration(kind, tuple(_FITS[kind](probabilities, truths)))


def _losses(chances: Sequence[float], truths: Sequence[bool]) -> list[float]:
    sure = [
        chance if truth else 1.0 - chance for chance, truth in zip(chances, truths, strict=True)
    ]
    return [-math.log(max(FLOOR, chance)) for chance in sure]


def worth_it(
    kind: Kind, probabilities: Sequence[float], truths: Sequence[bool], seed: int = 0
) -> Worth:
    """
    Fit on one half of the rows, judge on the other; what is kept is fitted on all.

    Kept only if the log loss (cut off as in `measures.log_loss`) falls by more than the standard
    error of its mean fall. The halves are drawn with `seed`.

    Raises:
        ValueError: An unknown kind, or a bad row.

    """
    confident(probabilities, truths)
    if kind not in _FITS:
        raise ValueError(f"{kind!r}: choose one of {', '.join(get_args(Kind))}")
    if len(truths) < FEWEST:
        return Worth(kept=False, gain=0.0, error=0.0, recalibration=None, reason="too few rows")
    order = list(range(len(truths)))
    random.Random(seed).shuffle(order)  # noqa: S311 - a split
    half = len(order) // 2
    fitted, judged = order[:half], order[half:]
    try:
        trial = fit(kind, [probabilities[i] for i in fitted], [truths[i] for i in fitted])
        whole = fit(kind, probabilities, truths)
    except ValueError as fault:
        return Worth(kept=False, gain=0.0, error=0.0, recalibration=None, reason=str(fault))
    raw, known = [probabilities[i] for i in judged], [truths[i] for i in judged]
    before, after = _losses(raw, known), _losses([trial(p) for p in raw], known)
    falls = [b - a for b, a in zip(before, after, strict=True)]
    gain, error = fmean(falls), stdev(falls) / math.sqrt(len(falls))
    return Worth(gain > error, gain, error, whole if gain > error else None)


def _fit_temperature(probabilities: Sequence[float], truths: Sequence[bool]) -> tuple[float]:
    rows = [{"yes": p, "no": 1.0 - p} for p in probabilities]
    return (temperature(rows, ["yes" if truth else "no" for truth in truths]).value,)


def _fit_isotonic(probabilities: Sequence[float], truths: Sequence[bool]) -> tuple[float, ...]:
    levels = isotonic(probabilities, truths)
    return tuple(number for level in levels for number in (level.low, level.value))


def _map_beta(parameters: Sequence[float], probability: float) -> float:
    a, b, c = parameters
    inside = _inside(probability)
    return sigmoid(a * math.log(inside) - b * math.log1p(-inside) + c)


def _map_isotonic(parameters: Sequence[float], probability: float) -> float:
    place = bisect_right(parameters[::2], probability) - 1
    return parameters[2 * max(0, place) + 1]


_FITS: dict[str, Callable[[Sequence[float], Sequence[bool]], tuple[float, ...]]] = {
    "temperature": _fit_temperature,
    "platt": platt,
    "beta": beta,
    "isotonic": _fit_isotonic,
}
_MAPS: dict[str, Callable[[Sequence[float], float], float]] = {
    "temperature": lambda parameters, p: sigmoid(_logit(p) / parameters[0]),
    "platt": lambda parameters, p: sigmoid(parameters[0] * _logit(p) + parameters[1]),
    "beta": _map_beta,
    "isotonic": _map_isotonic,
}
