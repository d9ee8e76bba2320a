"""The best rising steps through true and false, by value: one of the recalibrations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from .rows import paired


class Level(NamedTuple):
    """A step of an isotonic map: raw values from `low` to `high`, their share that is true."""

    low: float
    high: float
    value: float
    rows: int


def _pooled(low: Level, high: Level) -> Level:
    rows = low.rows + high.rows
    value = (low.value * low.rows + high.value * high.rows) / rows
    return Level(low.low, high.high, value, rows)


def isotonic(values: Sequence[float], truths: Sequence[bool]) -> list[Level]:
    """
    Steps of the best rising map in squares, lowest first (pool adjacent violators; Ayer 1955).

    Raises:
        ValueError: No rows, columns of different lengths, or a value that is not a number.

    """
    paired(values, truths)
    if any(math.isnan(value) for value in values):
        raise ValueError("a value is not a number")
    levels: list[Level] = []
    ordered = sorted(zip(values, truths, strict=True))
    for value, group in groupby(ordered, key=lambda row: row[0]):
        verdicts = [truth for _, truth in group]
        levels.append(Level(value, value, sum(verdicts) / len(verdicts), len(verdicts)))
        while len(levels) > 1 and levels[-2].value >= levels[-1].value:
            levels[-2:] = [_pooled(levels[-2], levels[-1])]
    return levels
