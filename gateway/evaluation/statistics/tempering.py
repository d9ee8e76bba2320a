"""One temperature for whole distributions over options, and whether it is worth having."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from .measures import FLOOR
from .recalibrating import EDGE, FEWEST, Recalibration, Worth, temperature
from .rows import paired


def tempered(row: Mapping[str, float], by: float) -> dict[str, float]:
    """
    Raise each probability to the power 1/*by*, and divide by their sum.

    Probabilities are cut off below 1e-6, as in `recalibrating.temperature`. Of two options this
    is the sigmoid of the divided logit.
    """
    logits = {option: math.log(max(EDGE, p)) / by for option, p in row.items()}
    top = max(logits.values())
    weights = {option: math.exp(logit - top) for option, logit in logits.items()}
    total = sum(weights.values())
    return {option: weight / total for option, weight in weights.items()}


def worth_tempering(
    rows: Sequence[Mapping[str, float]], gold: Sequence[str], seed: int = 0
) -> Worth:
    """
    Fit a temperature on one half of the rows, judge it on the other; as `recalibrating.worth_it`.

    Raises:
        ValueError: As `recalibrating.temperature`.

    """
    paired(rows, gold)
    if len(gold) < FEWEST:
        return Worth(kept=False, gain=0.0, error=0.0, recalibration=None, reason="too few rows")
    order = list(range(len(gold)))
    random.Random(seed).shuffle(order)  # noqa: S311 - a split
    half = len(order) // 2
    trial = temperature([rows[i] for i in order[:half]], [gold[i] for i in order[:half]]).value
    falls = [_fall(rows[i], gold[i], trial) for i in order[half:]]
    gain, error = fmean(falls), stdev(falls) / math.sqrt(len(falls))
    if gain <= error:
        return Worth(kept=False, gain=gain, error=error, recalibration=None)
    whole = Recalibration("temperature", (temperature(rows, gold).value,))
    return Worth(kept=True, gain=gain, error=error, recalibration=whole)


def _fall(row: Mapping[str, float], label: str, by: float) -> float:
    """How far the log loss of one row falls."""
    before, after = row[label], tempered(row, by)[label]
    return math.log(max(FLOOR, after)) - math.log(max(FLOOR, before))
