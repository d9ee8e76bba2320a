"""Items 7 to 9 of a calibration: certified thresholds, two cut-points for predicates, and costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from ...certificates import AtRisk
from ...gates import Gate
from ..statistics.certifying import Certified, certify
from ..statistics.cutting import Cut, two_sided
from ..statistics.cutting import Side as CutSide
from ..statistics.numerics import exact_upper
from ..statistics.ruling import cost_threshold
from .describing import Rows, curve, sides_of
from .descriptions import Point
from .findings import Costs, Economy, Priced, Settings, Side
from .slices import decides

ALPHAS = (0.01, 0.02, 0.05, 0.10, 0.20)


def alphas(risk: float) -> tuple[float, ...]:
    """Name the error rates that are tried: the usual ones, and the one that is wanted."""
    return tuple(sorted({*ALPHAS, risk}))


def sides(rows: Rows, settings: Settings) -> tuple[Side, ...]:
    """Item 8: both cut-points at each error rate; nothing for anything but a predicate."""
    if not rows.predicate:
        return ()
    probabilities, truths = sides_of(rows)
    part = len(rows.judged) / len(rows.labelled)
    found: list[Side] = []
    for alpha in alphas(settings.risk):
        both = two_sided(probabilities, truths, alpha, settings.delta)
        found.append(_side(both.no_below, alpha, "no", part))
        found.append(_side(both.yes_from, alpha, "yes", part))
    return tuple(found)


def _side(cut: CutSide, alpha: float, side: Literal["no", "yes"], part: float) -> Side:
    if not isinstance(cut, Cut):
        return Side(alpha=alpha, side=side, why=cut.reason, needed=cut.needed)
    return Side(
        alpha=alpha,
        side=side,
        at=cut.at,
        errors=cut.errors,
        of=cut.n,
        bound=cut.bound,
        coverage=cut.coverage * part,
    )


def levels(rows: Rows, found: Sequence[Side], settings: Settings) -> tuple[AtRisk, ...]:
    """Item 7: what is certified at each error rate, with the cut-points *found* for it."""
    return tuple(_level(rows, found, alpha, settings) for alpha in alphas(settings.risk))


def _level(rows: Rows, found: Sequence[Side], alpha: float, settings: Settings) -> AtRisk:
    given = certify(rows.confidences, rows.right, alpha, settings.delta)
    if isinstance(given, Certified):
        level = AtRisk(
            alpha=alpha,
            minimum=given.threshold,
            accepted=given.accepted,
            errors=given.errors,
            bound=given.bound,
            coverage=given.accepted / len(rows.labelled),
        )
    else:
        level = AtRisk(alpha=alpha, why=given.reason, needed=given.needed)
    mine = [one for one in found if one.alpha == alpha]
    return _with_sides(level, mine, settings) if mine else level


def _with_sides(level: AtRisk, mine: Sequence[Side], settings: Settings) -> AtRisk:
    at = {one.side: one.at for one in mine}
    level = msgspec.structs.replace(level, no_below=at["no"], yes_from=at["yes"])
    if not settings.two_sided:
        return level
    if any(one.at is not None for one in mine):
        return msgspec.structs.replace(level, why="", needed=None)
    why = "; ".join(f"{one.side}: {one.why}" for one in mine)
    needs = [one.needed for one in mine if one.needed is not None]
    return msgspec.structs.replace(level, why=why, needed=min(needs, default=None))


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
    sided = rows.predicate and settings.two_sided
    moved = stricter(level, cheapest, sided=sided)
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
    if promises(levels_[0], sided=sided):
        for name, level in zip(("certified", "used"), levels_, strict=True):
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


def promises(level: AtRisk, *, sided: bool) -> bool:
    """Whether anything may be decided at *level*."""
    if sided:
        return level.no_below is not None or level.yes_from is not None
    return level.minimum is not None


def stricter(level: AtRisk, at: float, *, sided: bool) -> AtRisk:
    """Give *level* with the raw threshold *at* where that is the stricter one."""
    if not sided:
        minimum = level.minimum
        return msgspec.structs.replace(level, minimum=None if minimum is None else max(minimum, at))
    no, yes = level.no_below, level.yes_from
    return msgspec.structs.replace(
        level,
        no_below=None if no is None else min(no, round(1.0 - at, 12)),
        yes_from=None if yes is None else max(yes, at),
    )


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


def chosen(level: AtRisk, found: Economy | None, rows: Rows, settings: Settings) -> AtRisk:
    """
    Give the level that is to be used: *level*, or what costs demand where that is stricter.

    What it accepts is counted anew. A stricter threshold was not tested by itself, so its bound
    is that of one threshold looked at alone.
    """
    if found is None or not found.stricter:
        return level
    sided = rows.predicate and settings.two_sided
    moved = stricter(level, found.optimal, sided=sided)
    if sided:
        return moved
    point = found.points["used"]
    bound = exact_upper(point.errors, point.accepted, settings.delta) if point.accepted else 1.0
    return msgspec.structs.replace(
        moved,
        accepted=point.accepted,
        errors=point.errors,
        bound=bound,
        coverage=point.coverage,
    )
