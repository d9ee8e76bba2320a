"""
One row of each subject: rows that hang together are worth less than as many that do not.

A customer who writes ten times, or a text that stands in a file ten times, makes one mistake ten
times over. An exact bound counts rows that were drawn apart from each other, so all rows but one,
drawn by lot, are set aside. The promise is then about such draws: each subject counts alike.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable

from .samples import Sample


def one_each(samples: Iterable[Sample], seed: int) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """
    Part labelled *samples* into those that count and those set aside; the others all stay.

    Rows hang together by their subject; where none is known by the text of their state, and
    where that is not known either by their decision. The lot is the same whatever their order.
    """
    clusters: defaultdict[str, list[Sample]] = defaultdict(list)
    kept: list[Sample] = []
    for one in samples:
        if one.labelled:
            clusters[one.subject or one.digest or one.id].append(one)
        else:
            kept.append(one)
    dice = random.Random(seed)  # noqa: S311 - a sample of rows
    aside: list[Sample] = []
    for _, cluster in sorted(clusters.items()):
        ordered = sorted(cluster, key=lambda one: (one.id, one.name))
        kept.append(ordered.pop(dice.randrange(len(ordered))) if len(ordered) > 1 else ordered[0])
        aside += ordered if len(cluster) > 1 else []
    return tuple(kept), tuple(aside)
