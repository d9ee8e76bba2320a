"""
Heads: what labelled examples add to an encoder.

Softmax regression on the vectors, L2, fitted by L-BFGS in numpy. Each outcome's description
counts as `DESCRIPTION_WEIGHT` examples of it, so that an outcome without examples falls back to
its description instead of being crowded out. One scale then makes the probabilities honest; it
is chosen on predictions for examples that were held out in turn, so that no calibration data is
needed. All of it is deterministic: fixed folds, fixed order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .encoders import Vectors

Matrix: TypeAlias = npt.NDArray[np.float64]
Outcomes: TypeAlias = npt.NDArray[np.intp]
"""The position of each example's right outcome."""

DESCRIPTION_WEIGHT = 10.0  # with 1, a head of few examples falls below none at all
PENALTY = 0.1  # on squared weights, halved; C = 10
FOLDS = 4
STEPS, REMEMBERED, HALVINGS = 150, 8, 25  # of L-BFGS
PAYS = 1e-4  # share of the promised gain that makes a step good enough
FLAT = 1e-12  # curvature that tells nothing
ENOUGH = 1e-6  # relative gain at which fitting stops
SCALES = np.exp(np.linspace(-3, 7, 60))  # of which the best is refined


@dataclass(frozen=True, slots=True)
class Head:
    """
    A fitted head.

    Attributes:
        weights: `[dimensions + 1, outcomes]`; the last row is added to every vector's logits.
        scale: What the logits are multiplied by.

    """

    weights: Matrix
    scale: float

    def probabilities(self, vectors: Vectors) -> Matrix:
        """Return a distribution over the outcomes for each of *vectors*, `[vectors, outcomes]`."""
        return softmax(self.scale * logits(self.weights, vectors))


def fit(vectors: Vectors, outcomes: Outcomes, descriptions: Vectors) -> Head:
    """
    Fit a head.

    Args:
        vectors: One row for each example.
        outcomes: Which outcome each example shows, in the order of *descriptions*.
        descriptions: One row for each outcome; zeros where it has none.

    """
    known = np.flatnonzero(descriptions.any(axis=1))

    def weights(kept: npt.NDArray[np.bool_]) -> Matrix:
        rows = np.concatenate([vectors[kept], descriptions[known]])
        right = np.concatenate([outcomes[kept], known])
        counts = np.repeat([1.0, DESCRIPTION_WEIGHT], [int(kept.sum()), len(known)])
        return regression(rows, right, counts, len(descriptions))

    fold = np.random.default_rng(0).permutation(len(vectors)) % FOLDS
    held_out = np.empty((len(vectors), len(descriptions)))
    for one in range(FOLDS):
        if (fold == one).any():
            held_out[fold == one] = logits(weights(fold != one), vectors[fold == one])
    return Head(weights(fold >= 0), best_scale(held_out, outcomes))


def softmax(scores: npt.NDArray[np.floating]) -> Matrix:
    """Turn each row of *scores* into probabilities."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Matrix = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def logits(weights: Matrix, vectors: Vectors) -> Matrix:
    """Return `[vectors, outcomes]` before the softmax."""
    scores: Matrix = vectors @ weights[:-1] + weights[-1]
    return scores


def best_scale(scores: npt.NDArray[np.floating], outcomes: Outcomes) -> float:
    """Find the scale at which `softmax(scale * scores)` makes *outcomes* the least surprising."""

    def surprise(scale: float) -> float:
        shares = softmax(scale * scores)[np.arange(len(outcomes)), outcomes]
        return float(-np.log(np.maximum(shares, 1e-12)).mean())

    best, step = float(min(SCALES, key=surprise)), float(SCALES[1] / SCALES[0])
    for _ in range(20):
        step **= 0.5
        best = min((best, best / step, best * step), key=surprise)
    return best


def regression(rows: Vectors, right: Outcomes, counts: Matrix, outcomes: int) -> Matrix:
    """
    Fit softmax regression; an example may count several times.

    Args:
        rows: One vector for each example.
        right: The outcome of each.
        counts: How many times each counts.
        outcomes: How many there are.

    Returns:
        Weights, `[dimensions + 1, outcomes]`; the last row, the offset, is not penalised.

    """
    inputs = np.concatenate([rows, np.ones((len(rows), 1))], axis=1).astype(np.float64)
    pick = np.arange(len(rows)), right

    def cost(weights: Matrix) -> tuple[float, Matrix]:
        shares = softmax(inputs @ weights)
        surprise = -(counts * np.log(np.maximum(shares[pick], 1e-300))).sum()
        shares[pick] -= 1
        slope = inputs.T @ (shares * counts[:, None])
        slope[:-1] += PENALTY * weights[:-1]
        return float(surprise + PENALTY / 2 * (weights[:-1] ** 2).sum()), slope

    return minimum(cost, np.zeros((inputs.shape[1], outcomes)))


def minimum(cost: Callable[[Matrix], tuple[float, Matrix]], start: Matrix) -> Matrix:
    """Walk down from *start* by L-BFGS; *cost* returns a value and its slope."""
    here, (value, slope) = start, cost(start)
    memory: list[tuple[Matrix, Matrix]] = []
    for _ in range(STEPS):
        direction = _direction(slope, memory)
        there, new_value, new_slope = _descend(cost, here, value, slope, direction)
        moved, turned = there - here, new_slope - slope
        if (moved * turned).sum() > FLAT:
            memory = [*memory, (moved, turned)][-REMEMBERED:]
        gain = abs(value - new_value)
        here, value, slope = there, new_value, new_slope
        if gain < ENOUGH * max(1.0, abs(value)):
            break
    return here


def _direction(slope: Matrix, memory: list[tuple[Matrix, Matrix]]) -> Matrix:
    """Bend *slope* by what the last steps told of the curvature (the two-loop recursion)."""
    if not memory:
        return slope / max(float(np.sqrt((slope**2).sum())), 1e-12)
    direction = slope.copy()
    shares: list[float] = []
    for moved, turned in reversed(memory):
        shares.append(float((moved * direction).sum() / (moved * turned).sum()))
        direction -= shares[-1] * turned
    moved, turned = memory[-1]
    direction *= (moved * turned).sum() / (turned**2).sum()
    for (moved, turned), share in zip(memory, reversed(shares), strict=True):
        direction += moved * (share - (turned * direction).sum() / (moved * turned).sum())
    return direction


def _descend(
    cost: Callable[[Matrix], tuple[float, Matrix]],
    here: Matrix,
    value: float,
    slope: Matrix,
    direction: Matrix,
) -> tuple[Matrix, float, Matrix]:
    """Halve the step until it pays (Armijo's rule)."""
    promised = float((slope * direction).sum())
    length = 1.0
    there, (new_value, new_slope) = here - direction, cost(here - direction)
    for _ in range(HALVINGS):
        if new_value <= value - PAYS * length * promised:
            break
        length /= 2
        there = here - length * direction
        new_value, new_slope = cost(there)
    return there, new_value, new_slope
