"""Intervals of differences on the same items, by drawing items again and again."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

from ....gateway.evaluation.statistics.numerics import Interval, percentile

DRAWS = 2_000  # the ends of a 95 % interval then rest on 50 draws each
ENDS = (0.025, 0.975)

Pair = tuple[str, str]


def differences(
    columns: Mapping[str, Sequence[bool]], *, seed: int = 7, draws: int = DRAWS
) -> dict[Pair, Interval]:
    """
    Give the 95 % percentile interval of a's share less b's, for each pair (a, b) of columns.

    Items are drawn with replacement, all columns of a draw on the same ones (Efron 1979). Each
    draw's dice are seeded by its own number, so that an interval depends neither on which other
    columns there are nor on their order.

    Args:
        columns: Arm → whether it is right, item by item.
        seed: Of all draws.
        draws: How many.

    Raises:
        ValueError: Columns of different lengths, or without items.

    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or not (n := lengths.pop()):
        raise ValueError("columns are of one length, and have items")
    pairs = list(itertools.combinations(columns, 2))
    drawn: dict[Pair, list[float]] = {pair: [] for pair in pairs}
    for number in range(draws):
        items = random.Random(f"{seed}/{number}").choices(range(n), k=n)  # noqa: S311 - a simulation
        hits = {name: sum(map(column.__getitem__, items)) for name, column in columns.items()}
        for a, b in pairs:
            drawn[a, b].append((hits[a] - hits[b]) / n)
    return {pair: _ends(values) for pair, values in drawn.items()}


def _ends(values: Sequence[float]) -> Interval:
    return Interval(*(percentile(values, q) for q in ENDS))
