"""
Item 5 of a calibration: a map from raw to better probabilities, kept where it pays.

A choice gets one temperature for its whole distribution. One key has one number of options, or
for an open catalogue numbers within a factor of two, so that no further buckets are needed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from ..statistics.recalibrating import Kind, Recalibration, Worth, worth_it
from ..statistics.tempering import tempered, worth_tempering
from .columns import Rows, sides_of, true_of
from .describing import bars, label_of
from .descriptions import Remap
from .samples import Sample

FITTED = 5_000  # rows that a recalibrator is fitted on, at the most: it has few parameters
NUMBERS = 50_000  # probabilities that a temperature is fitted on, about a second of work
BENT = 500  # rows from which on a map of three parameters is tried too


def remap(rows: Rows, seed: int) -> tuple[Remap, tuple[float, ...] | None]:
    """Item 5, and each judged row's chance of being right after it; None if it is not kept."""
    whole = _whole(rows)
    if whole:
        kind, worth = _tempered(rows, seed)
    else:
        kind, worth = max(
            ((kind, _tried(kind, rows, seed)) for kind in _kinds(rows)),
            key=lambda one: (one[1].kept, one[1].gain),
        )
    found = Remap(kind=kind, kept=worth.kept, gain=worth.gain, error=worth.error, why=worth.reason)
    if worth.recalibration is None:
        return found, None
    after = tuple(_chance(one, worth.recalibration, rows, whole=whole) for one in rows.judged)
    parameters = worth.recalibration.parameters
    seen = bars(after, rows.right)
    return msgspec.structs.replace(found, parameters=parameters, bars=seen), after


def _whole(rows: Rows) -> bool:
    """Whether these are answers to a choice whose distributions all hold the right one."""
    if rows.predicate or rows.score or rows.scale != "probability":
        return False
    return all(
        one.gold is not None and {label_of(one), one.value} <= {*(one.distribution or ())}
        for one in rows.judged
    )


def _tempered(rows: Rows, seed: int) -> tuple[Kind, Worth]:
    largest = max(len(one.distribution or ()) for one in rows.judged)
    chosen = [rows.judged[i] for i in _some(len(rows.judged), NUMBERS // largest, seed)]
    gold = [label_of(one) for one in chosen]
    return "temperature", worth_tempering([one.distribution or {} for one in chosen], gold, seed)


def _kinds(rows: Rows) -> tuple[Kind, ...]:
    if rows.predicate:
        return ("platt", "beta") if len(rows.judged) >= BENT else ("platt",)
    return ("temperature",) if rows.scale == "probability" else ("platt",)


def _tried(kind: Kind, rows: Rows, seed: int) -> Worth:
    """A predicate's probability of *true* moves with its 0.5 point; others keep their order."""
    raw, truths = sides_of(rows) if rows.predicate else (rows.confidences, rows.right)
    chosen = _some(len(raw), FITTED, seed)
    return worth_it(kind, [raw[i] for i in chosen], [truths[i] for i in chosen], seed)


def _some(rows: int, most: int, seed: int) -> Sequence[int]:
    if rows <= min(FITTED, most):
        return range(rows)
    return random.Random(seed).sample(range(rows), min(FITTED, most))  # noqa: S311 - a sample


def _chance(one: Sample, map_: Recalibration, rows: Rows, *, whole: bool) -> float:
    """Give the chance that an answer is right."""
    if rows.predicate:
        true = map_(true_of(one))
        return true if one.value else 1.0 - true
    if whole and one.distribution:
        return tempered(one.distribution, map_.parameters[0])[str(one.value)]
    return map_(one.confidence(rows.scale) or 0.0)
