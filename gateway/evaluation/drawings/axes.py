"""Axes: round ticks, where a value lies, and lines thinned to what the eye can tell apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .canvas import MARGIN, Sheet, stroke, width_of, words

Point = tuple[float, float]
Form = Callable[[float, float], str]  # a tick and the step between ticks → its text

ABOUT = 5  # ticks of an axis
EDGE = MARGIN + 12.0  # beside an axis without texts: half of its last tick's text
FINE = 1e-5  # steps below, and values above, are written with an exponent
COARSE = 1e9
VAST = 1e100  # values beyond it, or apart by less than its inverse, make no axis


class Scale(NamedTuple):
    """Values from *low* to *high* laid out from *start* to *end*; none lies beyond them."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Give the place of *value*."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + (self.end - self.start) * max(0.0, min(1.0, share))


class Plot(NamedTuple):
    """The area where values are drawn; `y.start` is its lower edge."""

    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> Point:
        """Give the place of a value."""
        return self.x.at(x), self.y.at(y)


class Axis(NamedTuple):
    """What an axis shows, from where to where, and how its ticks are written."""

    title: str
    low: float
    high: float
    form: Form
    about: int = ABOUT  # ticks


def finite(values: Iterable[float]) -> bool:
    """Whether all *values* can be drawn: numbers, and their differences numbers, too."""
    return all(abs(value) <= VAST for value in values)


def percent(value: float, step: float = 0.01) -> str:
    """Write a share as per cent, with the decimals that *step* needs."""
    return f"{number(100 * value, 100 * step)}\N{NO-BREAK SPACE}%"


def number(value: float, step: float = 0.01) -> str:
    """Write a number with the decimals that *step* needs."""
    if step < FINE or abs(value) >= COARSE:
        return f"{value:.3g}"
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def exactly(threshold: float) -> str:
    """Write a threshold to 0.0001, without zeros that say nothing."""
    whole, _, decimals = f"{threshold:.4f}".partition(".")
    return f"{whole}.{decimals.rstrip('0') or '0'}"


def step_of(low: float, high: float, about: int = ABOUT) -> float:
    """Give the round step (1, 2 or 5 times a power of ten) that makes *about* so many ticks."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * lead for lead in (1, 2, 5, 10) if power * lead >= rough * (1 - 1e-9))


def ticks(low: float, high: float, about: int = ABOUT) -> list[float]:
    """Give the round values between *low* and *high*, both included where they are round."""
    step = step_of(low, high, about)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def around(
    values: Sequence[float], *, zero: bool = True, about: int = ABOUT
) -> tuple[float, float]:
    """
    Give round ends that hold all *values*; with *zero* the axis starts there if it is near.

    Near: leaving it out would save less than half of the axis.
    """
    low, high = min(values, default=0.0), max(values, default=1.0)
    if zero and 0 <= low <= high / 2:
        low = 0.0
    if max(abs(low), abs(high)) < 1 / VAST:
        low, high = 0.0, 1.0
    elif high - low <= abs(high) * 1e-9:
        low, high = low - abs(low) / 2, high + abs(high) / 2
    step = step_of(low, high, about)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def _labels(axis: Axis) -> list[tuple[float, str]]:
    step = step_of(axis.low, axis.high, axis.about)
    values = ticks(axis.low, axis.high, axis.about)
    return [(value, axis.form(value, step)) for value in values]


def beside(axis: Axis) -> float:
    """Give the width that the texts of an upward *axis* take."""
    return MARGIN + 8 + max(width_of(text) for _, text in _labels(axis))


def area(sheet: Sheet, x: Axis, y: Axis, height: float, sides: tuple[float, float]) -> Plot:
    """
    Draw two axes with their grid below what the *sheet* holds; give the area between them.

    *sides* are kept free for texts, left and right. The title of the upward axis stands above
    it, to be read without turning the head; the other axis has texts only if it has a title.
    """
    left, right = sides
    top = sheet.bottom + 30
    plot = Plot(
        Scale(x.low, x.high, left, sheet.width - right),
        Scale(y.low, y.high, top + height, top),
    )
    sheet.add(words(MARGIN, top - 12, y.title, "soft"))
    for value, text in _labels(y):
        at = plot.y.at(value)
        sheet.add(stroke("grid", (left, at), (plot.x.end, at)))
        sheet.add(words(left - 7, at + 4.5, text, "soft", "end"))
    sheet.down_to(plot.y.start + 2)
    _below(sheet, plot, x)
    return plot


def _below(sheet: Sheet, plot: Plot, x: Axis) -> None:
    base = plot.y.start
    sheet.add(stroke("edge", (plot.x.start, base), (plot.x.end, base)))
    for value, text in _labels(x):
        at = plot.x.at(value)
        sheet.add(stroke("edge", (at, base), (at, base + 5)))
        if x.title:
            sheet.add(words(at, base + 19, text, "soft", "middle"))
    if x.title:
        middle = (plot.x.start + plot.x.end) / 2
        sheet.add(words(middle, base + 38, x.title, "soft", "middle"))
        sheet.down_to(base + 44)


def thinned(points: Iterable[Point]) -> list[Point]:
    """
    Keep of *points*, in places, what can be seen: per unit of width first, last and both extremes.

    Ordered from left to right; a line through what is kept looks as through all.
    """
    columns: dict[int, list[Point]] = {}
    for point in sorted(points, key=lambda point: point[0]):
        columns.setdefault(int(point[0]), []).append(point)
    return [point for column in columns.values() for point in _seen(column)]


def _seen(column: list[Point]) -> list[Point]:
    places = {0, len(column) - 1}
    order = sorted(range(len(column)), key=lambda index: column[index][1])
    return [column[index] for index in sorted(places | {order[0], order[-1]})]


def nothing(sheet: Sheet, plot: Plot, text: str = "nothing to draw yet") -> None:
    """Say in the middle of an empty area that it is empty."""
    x, y = (plot.x.start + plot.x.end) / 2, (plot.y.start + plot.y.end) / 2
    sheet.add(words(x, y, text, "soft halo", "middle"))
