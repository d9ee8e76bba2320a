"""Bars that lie: reasons, quantiles, anything with a name and a size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .axes import number
from .canvas import (
    HUES,
    MARGIN,
    Markup,
    Sheet,
    box,
    named,
    stroke,
    told,
    width_of,
    words,
)

MOST = 20
NAMES = 180.0  # width of the names, at most
STEP = 26.0  # from one bar to the next
THICK = 16.0


class Bar(NamedTuple):
    """
    A name and its size, from 0 upwards; both ends of its interval where it has one.

    `shown` is the size as it is written, the plain number if empty. Bars of another `series`
    have another hue, and every second one is hollow.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    shown: str = ""
    series: int = 0


def bars(given: Sequence[Bar], title: str, unit: str = "") -> Markup:
    """
    Draw the first 20 bars of those *given*, and say how many more there are.

    A size that is not finite has no bar and is written "–"; *unit* says what the sizes are.
    """
    sheet = Sheet(title)
    if unit:
        sheet.line(unit)
    drawn = given[:MOST]
    left = MARGIN + 8 + min(NAMES, max((width_of(bar.name) for bar in drawn), default=0.0))
    texts = [_text(bar) for bar in drawn]
    right = max(map(width_of, texts), default=0.0) + MARGIN + 10
    span = max(sheet.width - left - right, THICK)
    longest = max((_reach(bar) for bar in drawn), default=0.0) or 1.0
    for bar, text in zip(drawn, texts, strict=True):
        sheet.add(told(f"{bar.name}: {text}", *_bar(sheet, bar, text, (left, span / longest))))
        sheet.down_to(sheet.bottom + STEP)
    if not given:
        sheet.line("nothing to draw yet")
    elif len(given) > MOST:
        sheet.line(f"and {len(given) - MOST:,} more")
    said = [f"{bar.name}: {text}" for bar, text in zip(drawn, texts, strict=True)]
    return sheet.svg("; ".join(said) or "No bars.")


def _reach(bar: Bar) -> float:
    ends = (bar.value, bar.high or 0.0)
    return max((end for end in ends if math.isfinite(end)), default=0.0)


def _text(bar: Bar) -> str:
    if not math.isfinite(bar.value):
        return "–"
    return bar.shown or (
        number(bar.value, 1) if bar.value == int(bar.value) else f"{bar.value:.3g}"
    )


def _bar(sheet: Sheet, bar: Bar, text: str, scale: tuple[float, float]) -> list[str]:
    left, unit = scale
    middle = sheet.bottom + STEP / 2 + 2
    name = words(left - 8, middle + 4.5, named(bar.name, left - MARGIN - 8), "", "end")
    length = unit * max(bar.value, 0.0) if math.isfinite(bar.value) else 0.0
    kind = f"c{bar.series % HUES} {'hollow' if bar.series % 2 else 'area'}"
    drawn = box(left, middle - THICK / 2, length, THICK, kind)
    whisker, reach = _whisker(bar, left, middle, unit)
    size = words(max(left + length, reach) + 8, middle + 4.5, text, "soft")
    return [name, drawn, *whisker, size]


def _whisker(bar: Bar, left: float, middle: float, unit: float) -> tuple[list[str], float]:
    if bar.low is None or bar.high is None or not math.isfinite(bar.low + bar.high):
        return [], left
    low, high = left + unit * max(bar.low, 0.0), left + unit * max(bar.high, 0.0)
    caps = [stroke("frame", (at, middle - 4), (at, middle + 4)) for at in (low, high)]
    return [stroke("frame", (low, middle), (high, middle)), *caps], high
