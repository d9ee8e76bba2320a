"""How sure a distribution is: the formulas that the hosted deciders publish."""

from __future__ import annotations

from collections.abc import Sequence


def choice_confidence(top: float, options: int) -> float:
    """Rescale the top probability so that chance is 0 and certainty 1 (docs.typesafe.ai)."""
    chance = 1.0 / options
    return max(0.0, (top - chance) / (1.0 - chance))


def score_confidence(probabilities: Sequence[float]) -> float:
    """
    Say how narrow a distribution over levels is, in [0, 1] (docs.typesafe.ai).

    1 − Σ p·|i − m| / D, where m is the most likely level (the lowest on ties) and D the mean
    distance of all levels from the middle; not below 0.
    """
    levels = len(probabilities)
    mode = max(range(levels), key=lambda index: probabilities[index])
    middle = sum(abs(index - (levels - 1) / 2) for index in range(levels)) / levels
    spread = sum(p * abs(index - mode) for index, p in enumerate(probabilities))
    return max(0.0, 1.0 - spread / middle)
