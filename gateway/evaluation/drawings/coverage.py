"""Risk against coverage: what deciding more costs in errors, and what is certified."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    percent,
    thinned,
)
from .canvas import DASHES, HUES, Entry, Markup, Sample, Sheet, stroke, trace
from .marks import Marked, draw, explain

HEIGHT = 300.0
NO_BREAK = "\N{NO-BREAK SPACE}"
LEAST = 0.05  # the upward axis shows at least this much risk
FEW = 0.05  # below this coverage a risk is a matter of a few answers and sets no scale


class Mark(NamedTuple):
    """A certified threshold of a provider: what it decides, how wrong, at most how wrong."""

    name: str
    coverage: float
    risk: float
    bound: float
    alpha: float
    threshold: float


def risk_coverage(
    curves: Mapping[str, Sequence[Point]],
    certified: Sequence[Mark] = (),
    title: str = "Risk and coverage",
    risk: str = "Wrong among decided",
) -> Markup:
    """
    Draw for each name its (coverage, risk) points, with the *certified* ones marked.

    A bar goes from each mark up to its bound. Points above what the rest needs, which a few
    answers at low coverage make, are left out. *risk* names what the upward axis shows.
    """
    drawn = {name: [p for p in points if finite(p)] for name, points in curves.items()}
    marks = [mark for mark in certified if finite(mark[1:])]
    names = dict.fromkeys([*drawn, *(mark.name for mark in marks)])
    hues = {name: index for index, name in enumerate(names)}
    sheet = Sheet(title)
    sheet.legend([Entry(name, _sample(hues[name])) for name in drawn])
    x, y = Axis("Decided (coverage)", 0, 1, percent), Axis(risk, 0, _top(drawn, marks), percent)
    plot = area(sheet, x, y, HEIGHT, (beside(y), EDGE))
    for name, points in drawn.items():
        places = [plot.at(*point) for point in points if point[1] <= y.high]
        _draw(sheet, thinned(places), hues[name])
    if not any(drawn.values()) and not marks:
        nothing(sheet, plot)
    shown: list[Marked] = []
    for mark in marks:
        index, place = hues[mark.name], plot.at(mark.coverage, mark.risk)
        _bound(sheet, plot, mark, index)
        shown.append(Marked(place, index % HUES, index + 1, _told(mark)))
    draw(sheet, plot, shown)
    explain(sheet, shown)
    return sheet.svg(_description(drawn, shown))


def _top(curves: Mapping[str, Sequence[Point]], marks: Sequence[Mark]) -> float:
    points = [point for curve in curves.values() for point in curve]
    told = [risk for coverage, risk in points if coverage >= FEW] or [risk for _, risk in points]
    bounds = [max(mark.risk, mark.bound) for mark in marks]
    return min(1.0, around([0.0, LEAST, *told, *bounds])[1])


def _dash(index: int) -> str:
    return DASHES[index % len(DASHES)]


def _draw(sheet: Sheet, places: Sequence[Point], index: int) -> None:
    kind = f"c{index % HUES} line"
    if len(places) == 1:
        x, y = places[0]
        places = [(x - 4, y), (x + 4, y)]
    sheet.add(trace(places, kind, _dash(index)))


def _sample(index: int) -> Sample:
    return lambda x, y: trace([(x, y), (x + 26, y)], f"c{index % HUES} line", _dash(index))


def _bound(sheet: Sheet, plot: Plot, mark: Mark, index: int) -> None:
    place, end = plot.at(mark.coverage, mark.risk), plot.at(mark.coverage, mark.bound)
    kind = f"c{index % HUES} thin"
    cap = stroke(kind, (end[0] - 5, end[1]), (end[0] + 5, end[1]))
    sheet.add(stroke(kind, place, end), cap)


def _told(mark: Mark) -> str:
    decides = f"from {exactly(mark.threshold)}, decides {percent(mark.coverage)}"
    bound = math.ceil(1000 * mark.bound - 1e-9) / 1000  # a bound is never rounded below itself
    risk = f"risk {percent(mark.risk, 0.001)}{NO_BREAK}≤{NO_BREAK}{percent(bound, 0.001)}"
    return f"{mark.name}, α = {percent(mark.alpha)}: {decides}, {risk}"


def _description(curves: Mapping[str, Sequence[Point]], marks: Sequence[Marked]) -> str:
    said = [f"{name}: {_ends(points)}" for name, points in curves.items()]
    return ". ".join([*said, *(f"Certified: {mark.text}" for mark in marks)]) + "."


def _ends(points: Sequence[Point]) -> str:
    if not points:
        return "no points"
    coverage, risk = max(points)
    return f"risk {percent(risk, 0.001)} at coverage {percent(coverage)}"
