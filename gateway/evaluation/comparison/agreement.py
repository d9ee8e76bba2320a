"""
How far two deciders agree, and where they do not.

Agreement is not accuracy: where two differ, one is wrong; where they agree, both may be.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec

from ..statistics.comparing import kappa
from .pairing import Pair

SHOWN = 20  # cells of disagreement
EXAMPLES = 3  # ids of each
MOST = 100  # labels of a matrix; the rest is folded together
NO_ANSWER = "(no answer)"
OTHER = "(other)"
BANDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # lower ends; the last goes up to 1


class Cell(msgspec.Struct, frozen=True):
    """
    One way to differ.

    Attributes:
        a: What A said.
        b: What B said.
        count: How often.
        ids: Some of these decisions.

    """

    a: str
    b: str
    count: int
    ids: tuple[str, ...]


class Band(msgspec.Struct, frozen=True):
    """
    Pairs of like confidence.

    Attributes:
        low: From this probability on.
        high: Up to below this one; the last band holds 1 too.
        pairs: How many.
        differ: On how many both differ.

    """

    low: float
    high: float
    pairs: int
    differ: int


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """
    How far A and B agree on one question.

    Attributes:
        question: Its name.
        pairs: Answers of both.
        agreed: How many of them are equal.
        kappa: Cohen's, agreement beyond chance; None where chance agrees as much.
        labels: Of the matrix, the most frequent first.
        counts: Rows A, columns B.
        cells: The most frequent disagreements.
        bands: Disagreement by confidence; empty where nobody gives a probability.

    """

    question: str
    pairs: int
    agreed: int
    kappa: float | None
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    cells: tuple[Cell, ...]
    bands: tuple[Band, ...]


def agreement(question: str, rows: Sequence[Pair]) -> Agreement:
    """
    Count where A and B agree on *question*.

    Raises:
        ValueError: No rows.

    """
    seen = Counter((one.a or NO_ANSWER, one.b or NO_ANSWER) for one in rows)
    full = sorted({label for pair in seen for label in pair})
    beyond = kappa([[seen[a, b] for b in full] for a in full]).kappa
    labels = _labels(seen)
    return Agreement(
        question=question,
        pairs=len(rows),
        agreed=sum(one.agree for one in rows),
        kappa=None if math.isnan(beyond) else beyond,
        labels=labels,
        counts=_folded(seen, labels),
        cells=_cells(rows),
        bands=_bands(rows),
    )


def _labels(seen: Counter[tuple[str, str]]) -> tuple[str, ...]:
    often: Counter[str] = Counter()
    for (a, b), count in seen.items():
        often[a] += count
        often[b] += count
    ordered = [name for name, _ in sorted(often.items(), key=lambda one: (-one[1], one[0]))]
    return tuple(ordered if len(ordered) <= MOST else [*ordered[: MOST - 1], OTHER])


def _folded(seen: Counter[tuple[str, str]], labels: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    at = {label: index for index, label in enumerate(labels)}
    counts = [[0] * len(labels) for _ in labels]
    for (a, b), count in seen.items():
        counts[at.get(a, len(labels) - 1)][at.get(b, len(labels) - 1)] += count
    return tuple(map(tuple, counts))


def _cells(rows: Sequence[Pair]) -> tuple[Cell, ...]:
    ids: dict[tuple[str, str], list[str]] = {}
    for one in rows:
        if not one.agree:
            ids.setdefault((one.a or NO_ANSWER, one.b or NO_ANSWER), []).append(one.id)
    ordered = sorted(ids.items(), key=lambda cell: (-len(cell[1]), cell[0]))[:SHOWN]
    return tuple(
        Cell(a, b, len(found), tuple(dict.fromkeys(found))[:EXAMPLES]) for (a, b), found in ordered
    )


def _bands(rows: Sequence[Pair]) -> tuple[Band, ...]:
    ends = (*BANDS[1:], 1.0)
    pairs, differ = [0] * len(BANDS), [0] * len(BANDS)
    for one in rows:
        if one.sure is not None:
            band = max(i for i, low in enumerate(BANDS) if one.sure >= low)
            pairs[band] += 1
            differ[band] += not one.agree
    given = zip(BANDS, ends, pairs, differ, strict=True)
    return tuple(Band(*band) for band in given if band[2])
