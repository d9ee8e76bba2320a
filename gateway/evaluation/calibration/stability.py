"""Item 11 of a calibration: where its thresholds would lie had other rows been labelled."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, TypeAlias

from ..statistics.certifying import Certified, certify
from ..statistics.cutting import Cut, two_sided
from ..statistics.numerics import percentile
from .columns import Rows, sides_of
from .descriptions import Share
from .findings import Settings, Spread, Stability

WORK = 60_000  # rows looked at in all draws, so that many rows take no minutes
FEWEST = 20  # draws, however many rows there are
EDGES = (0.05, 0.5, 0.95)


class Drawn(NamedTuple):
    """One threshold of one draw; `risk` is measured on the rows left out, where there were any."""

    at: float | None
    risk: float | None


Fit: TypeAlias = Callable[[Sequence[int], Sequence[int]], Mapping[str, Drawn]]
"""Rows drawn and rows left out → name → threshold, and how it does on the latter."""


def stability(
    rows: Rows,
    settings: Settings,
    repeated: Share | None = None,
    shuffled: Share | None = None,
) -> Stability:
    """
    Draw the rows anew, with replacement, and certify again.

    What was asked *repeated* and *shuffled* is passed on.
    """
    every = range(len(rows.judged))
    draws = min(settings.draws, max(FEWEST, WORK // len(rows.judged)))
    dice = random.Random(settings.seed)  # noqa: S311 - a simulation
    fit = _two(rows, settings) if rows.predicate and settings.two_sided else _one(rows, settings)
    found: defaultdict[str, list[Drawn]] = defaultdict(list)
    for _ in range(draws):
        bag = [dice.randrange(len(every)) for _ in every]
        for name, drawn in fit(bag, sorted({*every} - {*bag})).items():
            found[name].append(drawn)
    spreads = tuple(_spread(name, drawn) for name, drawn in found.items())
    return Stability(draws=draws, spreads=spreads, repeated=repeated, shuffled=shuffled)


def _one(rows: Rows, settings: Settings) -> Fit:
    confidences, right = rows.confidences, rows.right

    def fit(bag: Sequence[int], rest: Sequence[int]) -> Mapping[str, Drawn]:
        found = certify(
            [confidences[i] for i in bag], [right[i] for i in bag], settings.risk, settings.delta
        )
        at = found.threshold if isinstance(found, Certified) else None
        wrong = [] if at is None else [not right[i] for i in rest if confidences[i] >= at]
        return {"minimum": Drawn(at, fmean(wrong) if wrong else None)}

    return fit


def _two(rows: Rows, settings: Settings) -> Fit:
    p, truths = sides_of(rows)

    def fit(bag: Sequence[int], rest: Sequence[int]) -> Mapping[str, Drawn]:
        both = two_sided(
            [p[i] for i in bag], [truths[i] for i in bag], settings.risk, settings.delta
        )
        no = both.no_below.at if isinstance(both.no_below, Cut) else None
        yes = both.yes_from.at if isinstance(both.yes_from, Cut) else None
        missed = [p[i] < (no or 0.0) for i in rest if truths[i]]
        alarms = [p[i] >= (2.0 if yes is None else yes) for i in rest if not truths[i]]
        return {
            "no_below": Drawn(no, fmean(missed) if missed and no is not None else None),
            "yes_from": Drawn(yes, fmean(alarms) if alarms and yes is not None else None),
        }

    return fit


def _spread(name: str, drawn: Sequence[Drawn]) -> Spread:
    at = [one.at for one in drawn if one.at is not None]
    risks = [one.risk for one in drawn if one.risk is not None]
    low, middle, high = [percentile(at, edge) for edge in EDGES] if at else [None] * 3
    return Spread(
        name=name,
        low=low,
        middle=middle,
        high=high,
        none=1.0 - len(at) / len(drawn),
        risk=fmean(risks) if risks else None,
    )
