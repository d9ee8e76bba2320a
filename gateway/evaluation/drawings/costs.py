"""Cost against threshold, with the thresholds that somebody proposes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from .axes import (
    EDGE,
    Axis,
    Plot,
    Point,
    area,
    around,
    beside,
    exactly,
    finite,
    nothing,
    number,
    thinned,
)
from .canvas import HUES, Markup, Sheet, marker, stroke, trace
from .marks import Marked, draw, explain

HEIGHT = 260.0


class CostMark(NamedTuple):
    """A threshold with a name: the current one, the certified, the cheapest; a cost if known."""

    name: str
    threshold: float
    cost: float | None = None


def cost_curve(
    points: Sequence[Point],
    marks: Sequence[CostMark] = (),
    title: str = "Cost by threshold",
    unit: str = "Cost of a decision",
) -> Markup:
    """
    Draw (threshold, cost) *points* as a line and *marks* on it; *unit* names the upward axis.

    A mark without a cost of its own takes that of the line at its threshold.
    """
    curve = sorted(point for point in points if finite(point))
    priced = [one for mark in marks if (one := _priced(mark, curve))]
    known = [*curve, *(place for _, place in priced)]
    sheet = Sheet(title)
    x = Axis("Threshold", *around([at for at, _ in known], zero=False), number)
    y = Axis(unit, *around([cost for _, cost in known]), number)
    plot = area(sheet, x, y, HEIGHT, (beside(y), EDGE))
    places = thinned([plot.at(*point) for point in curve])
    sheet.add(trace(places, "c0 line"), _alone(places))
    if not known:
        nothing(sheet, plot)
    shown = [_marked(sheet, plot, index, *one) for index, one in enumerate(priced)]
    draw(sheet, plot, shown)
    explain(sheet, shown)
    return sheet.svg(_description(curve, shown))


def _priced(mark: CostMark, curve: Sequence[Point]) -> tuple[CostMark, Point] | None:
    cost = _along(curve, mark.threshold) if mark.cost is None else mark.cost
    place = mark.threshold, math.nan if cost is None else cost
    return (mark, place) if finite(place) else None


def _along(curve: Sequence[Point], threshold: float) -> float | None:
    """Give the height of the line at *threshold*; beyond its ends, that of the end."""
    if not curve:
        return None
    index = bisect_left(curve, (threshold,))
    if index in (0, len(curve)):
        return curve[min(index, len(curve) - 1)][1]
    (left, low), (right, high) = curve[index - 1], curve[index]
    return low + (high - low) * (threshold - left) / (right - left)


def _alone(places: Sequence[Point]) -> str:
    return marker(0, *places[0], kind="c0 full") if len(places) == 1 else ""


def _marked(sheet: Sheet, plot: Plot, index: int, mark: CostMark, place: Point) -> Marked:
    x, y = plot.at(*place)
    sheet.add(stroke("guide", (x, y), (x, plot.y.start)))
    text = f"{mark.name}: threshold {exactly(place[0])}, cost {place[1]:.4g}"
    return Marked((x, y), 1 + index % (HUES - 1), index, text)


def _description(curve: Sequence[Point], marks: Sequence[Marked]) -> str:
    if not curve and not marks:
        return "No costs."
    cost, threshold = min(((cost, at) for at, cost in curve), default=(math.nan, math.nan))
    least = [f"Least cost {cost:.4g} at threshold {exactly(threshold)}"] if curve else []
    return ". ".join([*least, *(mark.text for mark in marks)]) + "."
