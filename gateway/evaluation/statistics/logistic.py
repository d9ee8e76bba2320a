"""Logistic regression on a few columns, by Newton's method: what two recalibrations are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence

ROUNDS = 100
SHORTEST = 1e-12  # part of a step; below it rounding decides
SETTLED = 1e-10  # a last step so small, converging quadratically, leaves an error of its square
SINGULAR = 1e-12  # of the largest entry
PERFECT = 1e-6  # a total loss that only separated rows reach


def sigmoid(z: float) -> float:
    """1 / (1 + e^−z), without overflow."""
    if z >= 0.0:
        return 1.0 / (1.0 + math.exp(-z))
    return math.exp(z) / (1.0 + math.exp(z))


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _loss(rows: Sequence[Sequence[float]], truths: Sequence[bool], at: Sequence[float]) -> float:
    scores = [_dot(row, at) for row in rows]
    return sum(
        max(z, 0.0) + math.log1p(math.exp(-abs(z))) - z * truth
        for z, truth in zip(scores, truths, strict=True)
    )


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve by elimination with the largest pivot; both arguments are used up."""
    size, scale = len(right), max(map(max, matrix))
    for i in range(size):
        best = max(range(i, size), key=lambda row: abs(matrix[row][i]))
        if abs(matrix[best][i]) <= SINGULAR * scale:
            raise ValueError("the probabilities vary too little to be recalibrated")
        matrix[i], matrix[best] = matrix[best], matrix[i]
        right[i], right[best] = right[best], right[i]
        for row in range(i + 1, size):
            factor = matrix[row][i] / matrix[i][i]
            right[row] -= factor * right[i]
            matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[i], strict=True)]
    for i in reversed(range(size)):
        right[i] = (right[i] - _dot(matrix[i][i + 1 :], right[i + 1 :])) / matrix[i][i]
    return right


def _step(
    rows: Sequence[Sequence[float]], truths: Sequence[bool], at: Sequence[float]
) -> list[float]:
    """Hessian⁻¹ · gradient of the loss."""
    chances = [sigmoid(_dot(row, at)) for row in rows]
    gaps = [chance - truth for chance, truth in zip(chances, truths, strict=True)]
    weights = [chance * (1.0 - chance) for chance in chances]
    columns = list(zip(*rows, strict=True))
    weighted = [[w * x for w, x in zip(weights, column, strict=True)] for column in columns]
    return _solved(
        [[_dot(one, other) for other in columns] for one in weighted],
        [_dot(gaps, column) for column in columns],
    )


def _downhill(
    rows: Sequence[Sequence[float]],
    truths: Sequence[bool],
    at: Sequence[float],
    step: Sequence[float],
    loss: float,
) -> tuple[list[float], float]:
    """Go the whole step, or half of it, and so on, until the loss does not rise."""
    factor = 1.0
    while True:
        ahead = [a - factor * b for a, b in zip(at, step, strict=True)]
        lower = _loss(rows, truths, ahead)
        if lower <= loss * (1.0 + SINGULAR) or factor < SHORTEST:
            return ahead, lower
        factor /= 2.0


def maximum_likelihood(
    rows: Sequence[Sequence[float]], truths: Sequence[bool], start: Sequence[float]
) -> tuple[float, ...]:
    """
    Weights w that make P(true) = sigmoid(w · row) most likely; no penalty.

    Newton's method with halved steps where a whole one goes uphill.

    Raises:
        ValueError: Only one truth occurs, the columns do not vary, or the truths are separated
            without an error, so that no finite weights are best.

    """
    if len(set(truths)) < 2:  # noqa: PLR2004 - both truths
        raise ValueError("rows of both truths are needed")
    at, loss = list(start), _loss(rows, truths, start)
    for _ in range(ROUNDS):
        step = _step(rows, truths, at)
        at, loss = _downhill(rows, truths, at, step, loss)
        if loss < PERFECT:
            break
        if sum(map(abs, step)) <= SETTLED * (1.0 + max(map(abs, at))):
            return tuple(at)
    raise ValueError("the probabilities separate the truths: no finite fit is best")
