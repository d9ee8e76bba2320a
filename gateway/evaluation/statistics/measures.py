"""
How good answers and their probabilities are, on rows with known labels.

A label that a provider did not give (a refusal, an invalid answer) is `None`: it is never right.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from .rows import confident, paired, share

BINS = 10
FLOOR = 1e-9  # of a probability in the log loss: one certain mistake costs 20.7, not infinity


class Confusion(NamedTuple):
    """Counts of (gold, given): `counts[i][j]` rows are `labels[i]` and were called `labels[j]`."""

    labels: tuple[Hashable, ...]
    counts: tuple[tuple[int, ...], ...]


class Bin(NamedTuple):
    """Rows of neighbouring confidence: how many, their mean confidence, the share that is right."""

    rows: int
    confidence: float
    accuracy: float


class BrierSplit(NamedTuple):
    """Parts of a Brier score; reliability − resolution + uncertainty is the binned score."""

    reliability: float
    resolution: float
    uncertainty: float


def accuracy(gold: Sequence[Hashable], given: Sequence[Hashable]) -> float:
    """
    Share of rows whose label was given.

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    return sum(a == b for a, b in zip(gold, given, strict=True)) / paired(gold, given)


def confusion(gold: Sequence[Hashable], given: Sequence[Hashable]) -> Confusion:
    """
    Count which label was called what; labels in alphabetical order, `None` among them.

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    paired(gold, given)
    labels = tuple(sorted({*gold, *given}, key=str))
    seen = Counter(zip(gold, given, strict=True))
    return Confusion(labels, tuple(tuple(seen[a, b] for b in labels) for a in labels))


def macro_f1(gold: Sequence[Hashable], given: Sequence[Hashable]) -> float:
    """
    Mean F1 over all labels seen, each of equal weight; `None` is a miss, not a label.

    F1 = 2·hits / (rows of the label + rows called so).

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    paired(gold, given)
    rows, called = Counter(gold), Counter(given)
    hits = Counter(a for a, b in zip(gold, given, strict=True) if a == b)
    labels = {*rows, *called} - {None}
    return fmean(2 * hits[label] / (rows[label] + called[label]) for label in labels)


def _bin(part: Sequence[tuple[float, bool]]) -> Bin:
    return Bin(len(part), fmean(c for c, _ in part), sum(y for _, y in part) / len(part))


def _place(confidence: float, bins: int) -> int:
    """Which of the equal widths (low, high] a confidence falls into; 0 goes to the first."""
    return max(0, math.ceil(confidence * bins) - 1)


def bins_equal_width(
    confidences: Sequence[float], right: Sequence[bool], bins: int = BINS
) -> list[Bin]:
    """
    Sort rows into widths (low, high] of equal size; empty ones are left out.

    Raises:
        ValueError: A row is not what `rows.confident` asks for.

    """
    confident(confidences, right)
    parts: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for row in zip(confidences, right, strict=True):
        parts[_place(row[0], bins)].append(row)
    return [_bin(part) for part in parts if part]


def bins_equal_mass(
    confidences: Sequence[float], right: Sequence[bool], bins: int = BINS
) -> list[Bin]:
    """
    Sort rows by confidence into parts of equal count, as nearly as it goes.

    Ties may be cut apart; within one confidence the wrong rows come first.

    Raises:
        ValueError: A row is not what `rows.confident` asks for.

    """
    n = confident(confidences, right)
    ordered = sorted(zip(confidences, right, strict=True))
    parts = [ordered[i * n // bins : (i + 1) * n // bins] for i in range(bins)]
    return [_bin(part) for part in parts if part]


def ece(bins: Sequence[Bin]) -> float:
    """
    Expected calibration error: mean gap of confidence and accuracy, weighted by rows.

    Raises:
        ValueError: No bins.

    """
    paired(bins)
    rows = sum(one.rows for one in bins)
    return sum(one.rows * abs(one.confidence - one.accuracy) for one in bins) / rows


def mce(bins: Sequence[Bin]) -> float:
    """
    Maximum calibration error: the largest gap of any bin.

    Raises:
        ValueError: No bins.

    """
    paired(bins)
    return max(abs(one.confidence - one.accuracy) for one in bins)


def noise_floor(
    confidences: Sequence[float], bins: int = BINS, draws: int = 200, seed: int = 0
) -> float:
    """
    Mean ECE (equal widths) that a perfectly calibrated model shows on these confidences.

    Labels are drawn anew `draws` times, each right with its own confidence as probability. An
    ECE near this floor says nothing against the model.

    Raises:
        ValueError: No rows, or a confidence that is no number in [0, 1].

    """
    rows, dice = paired(confidences), random.Random(seed)  # noqa: S311 - a simulation
    parts: dict[int, list[float]] = {}
    for confidence in confidences:
        parts.setdefault(_place(share("confidence", confidence), bins), []).append(confidence)
    sums = [(part, sum(part)) for part in parts.values()]

    def gap() -> float:
        return sum(abs(total - sum(dice.random() < c for c in part)) for part, total in sums)

    return fmean(gap() for _ in range(draws)) / rows


def brier(probabilities: Sequence[float], truths: Sequence[bool]) -> float:
    """
    Mean squared distance of a probability from 0 or 1: 0 best, 0.25 for always 0.5, 1 worst.

    Raises:
        ValueError: No rows, or one that is not what `rows.confident` asks for.

    """
    paired(probabilities, truths)
    confident(probabilities, truths)
    return fmean((p - y) ** 2 for p, y in zip(probabilities, truths, strict=True))


def brier_multi(rows: Sequence[Mapping[str, float]], gold: Sequence[str]) -> float:
    """
    Mean of Σ (p − [option is gold])² over all options: the form from 0, best, to 2, worst.

    Options that a row leaves out count as 0 (Brier 1950).

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    paired(rows, gold)
    return fmean(
        sum(p * p for option, p in row.items() if option != label)
        + (1.0 - row.get(label, 0.0)) ** 2
        for row, label in zip(rows, gold, strict=True)
    )


def brier_split(
    probabilities: Sequence[float], truths: Sequence[bool], bins: int = BINS
) -> BrierSplit:
    """
    Split the Brier score into reliability, resolution and uncertainty (Murphy 1973).

    Over bins of equal width: the sum of parts is the score of the bins' mean probabilities, and
    the plain score wherever rows of one bin share their probability.

    Raises:
        ValueError: No rows, or one that is not what `rows.confident` asks for.

    """
    n = paired(probabilities, truths)
    parts = bins_equal_width(probabilities, truths, bins)
    base = sum(truths) / n
    return BrierSplit(
        sum(one.rows * (one.confidence - one.accuracy) ** 2 for one in parts) / n,
        sum(one.rows * (one.accuracy - base) ** 2 for one in parts) / n,
        base * (1.0 - base),
    )


def log_loss(rows: Sequence[Mapping[str, float]], gold: Sequence[str]) -> float:
    """
    Mean −ln of the probability given to the right option, which is cut off below 1e-9.

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    paired(rows, gold)
    chances = (row.get(label, 0.0) for row, label in zip(rows, gold, strict=True))
    return -fmean(math.log(max(FLOOR, chance)) for chance in chances)


def rps(probabilities: Sequence[float], level: int) -> float:
    """
    Ranked probability score of one ordered answer, in [0, 1]: 0 best (Epstein 1969).

    Mean squared distance of the cumulated distribution from the gold `level`, counted from 0,
    over all levels but the last.

    Raises:
        ValueError: Fewer than two levels, or a level that is none of them.

    """
    steps = len(probabilities) - 1
    if not (steps > 0 and 0 <= level <= steps):
        raise ValueError(f"level {level} of {steps + 1}")
    cumulated = total = 0.0
    for index, probability in enumerate(probabilities[:-1]):
        cumulated += probability
        total += (cumulated - (level <= index)) ** 2
    return total / steps


def level_distance(gold: Sequence[float], given: Sequence[float]) -> float:
    """
    Mean distance of scores from their gold levels, in levels.

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    paired(gold, given)
    return fmean(abs(a - b) for a, b in zip(gold, given, strict=True))


def within_one(gold: Sequence[float], given: Sequence[float]) -> float:
    """
    Share of scores that lie at most one level from gold.

    Raises:
        ValueError: No rows, or columns of different lengths.

    """
    return sum(abs(a - b) <= 1 for a, b in zip(gold, given, strict=True)) / paired(gold, given)
