"""Item 9 of a calibration: what thresholds cost, and which one is used for that."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from ...certificates import AtRisk
from ...gates import Gate
from ..statistics.ruling import cost_threshold
from .columns import Rows
from .describing import curve
from .descriptions import Point
from .findings import Costs, Economy, Priced, Settings
from .levels import cut, minimum, promises
from .slices import decides


def optimal(confidences: Sequence[float], chances: Sequence[float], least: float) -> float:
    """
    Give the lowest raw threshold above which each row's chance of being right is *least*.

    1 at the most: above that nothing would ever be acted on.
    """
    lowest = 1.0
    for confidence, chance in sorted(zip(confidences, chances, strict=True), reverse=True):
        if chance < least:
            return min(1.0, math.nextafter(confidence, 2.0)) if confidence >= lowest else lowest
        lowest = confidence
    return lowest


def economy(
    rows: Rows, chances: Sequence[float] | None, level: AtRisk, settings: Settings
) -> Economy | None:
    """
    Item 9: the threshold that costs least, beside what is certified and what is in force.

    Args:
        rows: Labelled ones.
        chances: Each judged row's chance of being right; None: its raw confidence.
        level: What is certified at the error rate that is to be used.
        settings: With the costs.

    """
    costs = settings.costs
    if costs is None:
        return None
    chance = cost_threshold(costs.error, costs.fallback, costs.fallback_error)
    cheapest = chance if chances is None else optimal(rows.confidences, chances, chance)
    moved = narrowed(level, cheapest, rows, settings)
    return Economy(
        costs=costs,
        chance=chance,
        optimal=cheapest,
        points=_points(rows, (level, moved), cheapest, settings),
        curve=tuple(_cost(one.threshold, one, rows, costs) for one in curve(rows)),
        stricter=moved != level,
    )


def _points(
    rows: Rows, levels_: tuple[AtRisk, AtRisk], cheapest: float, settings: Settings
) -> dict[str, Priced]:
    sided = rows.predicate and settings.two_sided
    alone = AtRisk(alpha=settings.risk, minimum=cheapest)
    points = {"cheapest": _priced(rows, alone, settings, sided=False)}
    if settings.force is not None:
        points |= _in_force(rows, settings.force, settings)
    for name, level in zip(("certified", "used"), levels_, strict=True):
        if promises(level, sided=sided):
            points[name] = _priced(rows, level, settings, sided=sided)
    return points


def _in_force(rows: Rows, gate: Gate, settings: Settings) -> dict[str, Priced]:
    """What today's gate does, on its own scale."""
    decided = [one for one in rows.judged if (one.confidence(gate.scale) or 0.0) >= gate.minimum]
    errors = sum(not one.right for one in decided)
    point = Point(gate.minimum, len(decided) / len(rows.labelled), len(decided), errors)
    assert settings.costs is not None
    if gate.scale == rows.scale or rows.predicate:
        return {"in force": _cost(gate.minimum, point, rows, settings.costs)}
    name = f"in force, {gate.minimum:g} {gate.scale}"
    return {name: _cost(None, point, rows, settings.costs)}


def _priced(rows: Rows, level: AtRisk, settings: Settings, *, sided: bool) -> Priced:
    believes, costs = decides(level, two_sided=sided), settings.costs
    assert costs is not None
    accepted = errors = 0
    for one, confidence in zip(rows.judged, rows.confidences, strict=True):
        if believes(one, confidence):
            accepted += 1
            errors += not one.right
    point = Point(0.0, accepted / len(rows.labelled), accepted, errors)
    return _cost(None if sided else level.minimum, point, rows, costs)


def _cost(threshold: float | None, point: Point, rows: Rows, costs: Costs) -> Priced:
    asked = len(rows.labelled) - point.accepted
    one = costs.fallback + costs.fallback_error * costs.error
    cost = (point.errors * costs.error + asked * one) / len(rows.labelled)
    return Priced(threshold, point.coverage, point.accepted, point.errors, cost)


def narrowed(level: AtRisk, at: float, rows: Rows, settings: Settings) -> AtRisk:
    """
    Give the level that is to be used where nothing below the raw threshold *at* pays.

    Where *at* is the stricter one, one minimum becomes the lowest certified threshold from it
    on; nothing is certified where there is none, since few rows may hide a worse error rate. Two
    cut-points are moved there.
    """
    if not rows.predicate or not settings.two_sided:
        if level.minimum is None or level.minimum >= at:
            return level
        found = minimum(rows, level.alpha, settings, at)
        why = f"the costs demand at least {at:.4f}, and nothing there is certified: {found.why}"
        return msgspec.structs.replace(found, why=why) if found.minimum is None else found
    no, yes = level.no_below, level.yes_from
    moved = msgspec.structs.replace(
        level,
        no_below=None if no is None else min(no, round(1.0 - at, 12)),
        yes_from=None if yes is None else max(yes, at),
    )
    if moved == level:
        return level
    bounds = [1.0 if side is None else side.bound for side in (level.no, level.yes)]
    return cut(rows, moved, (bounds[0], bounds[1]))
