"""The reliability diagram: what answers said of themselves beside how often they were right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ..statistics.numerics import wilson
from .axes import EDGE, Axis, Plot, area, around, beside, finite, nothing, number, percent
from .canvas import Entry, Markup, Sample, Sheet, box, marker, stroke, told, trace

DRAWN = 40  # bins that can be told apart; more are put together
TENTHS = 10  # of the histogram
HEIGHT = 300.0
LOW = 64.0  # height of the histogram
FEW = 2  # ticks in it


class BinView(msgspec.Struct, frozen=True, gc=False):
    """
    Answers of neighbouring confidence.

    How many, their mean confidence, the share that was right, and both ends of its interval;
    shares in [0, 1].
    """

    count: int
    mean_confidence: float
    right_share: float
    low: float
    high: float


class _Series(NamedTuple):
    name: str
    bins: Sequence[BinView]
    hue: int
    shape: int
    kind: str
    dash: str


def reliability(
    bins: Sequence[BinView],
    recalibrated: Sequence[BinView] | None = None,
    title: str = "Reliability",
    right: str = "Share right",
) -> Markup:
    """
    Draw *bins* with their intervals against the diagonal, and how many answers each confidence has.

    Bins without answers or with a number that is not finite are left out; more than 40 are put
    together, with Wilson intervals of their own. *right* names what the upward axis shows:
    agreement is not called right.
    """
    series = [_Series("as reported", _drawn(bins), 0, 0, "full", "none")]
    if recalibrated is not None:
        series.append(_Series("recalibrated", _drawn(recalibrated), 1, 1, "hollow", "7 4"))
    sheet = Sheet(title)
    sheet.legend(
        [*(Entry(one.name, _sample(one)) for one in series), Entry("as sure as right", _guide)]
    )
    counts = [_tenths(one.bins) for one in series]
    high, low = Axis(right, 0, 1, percent), _answers(counts)
    sides = max(beside(high), beside(low)), EDGE
    plot = area(sheet, Axis("", 0, 1, percent), high, HEIGHT, sides)
    sheet.add(stroke("guide", plot.at(0, 0), plot.at(1, 1)))
    for one in series:
        _draw(sheet, plot, one)
    if not any(one.bins for one in series):
        nothing(sheet, plot)
    below = area(sheet, Axis("Confidence", 0, 1, percent), low, LOW, sides)
    _histogram(sheet, below, series, counts)
    return sheet.svg(_description(series, right))


def _drawn(bins: Sequence[BinView]) -> list[BinView]:
    kept = sorted(
        (b for b in bins if b.count > 0 and finite(msgspec.structs.astuple(b))),
        key=lambda b: b.mean_confidence,
    )
    if len(kept) <= DRAWN:
        return kept
    size = math.ceil(len(kept) / DRAWN)
    return [_together(kept[at : at + size]) for at in range(0, len(kept), size)]


def _together(bins: Sequence[BinView]) -> BinView:
    count = sum(b.count for b in bins)
    confidence = sum(b.mean_confidence * b.count for b in bins) / count
    right = sum(b.right_share * b.count for b in bins)
    return BinView(count, confidence, right / count, *wilson(round(right), count))


def _sample(one: _Series) -> Sample:
    def draw(x: float, y: float) -> str:
        line = trace([(x, y), (x + 26, y)], f"c{one.hue} thin", one.dash)
        return line + marker(one.shape, x + 13, y, f"c{one.hue} {one.kind}")

    return draw


def _guide(x: float, y: float) -> str:
    return stroke("guide", (x, y), (x + 26, y))


def _draw(sheet: Sheet, plot: Plot, one: _Series) -> None:
    hue = f"c{one.hue}"
    places = [plot.at(b.mean_confidence, b.right_share) for b in one.bins]
    sheet.add(trace(places, f"{hue} thin", one.dash))
    for b, (x, y) in zip(one.bins, places, strict=True):
        low, high = plot.y.at(b.low), plot.y.at(b.high)
        bar = stroke(f"{hue} thin", (x, low), (x, high))
        caps = [stroke(f"{hue} thin", (x - 4, end), (x + 4, end)) for end in (low, high)]
        point = marker(one.shape, x, y, f"{hue} {one.kind}")
        sheet.add(told(f"{one.name}: {_told(b)}", bar, *caps, point))


def _told(b: BinView) -> str:
    shares = f"{percent(b.right_share)} ({percent(b.low)} to {percent(b.high)})"
    return f"at confidence {b.mean_confidence:.2f} {shares} of {b.count:,}"


def _tenths(bins: Sequence[BinView]) -> Counter[int]:
    """Count answers by tenths of confidence, each (low, high], by the mean of their bin."""
    counts: Counter[int] = Counter()
    for b in bins:
        counts[max(1, min(TENTHS, math.ceil(b.mean_confidence * TENTHS))) - 1] += b.count
    return counts


def _answers(counts: Sequence[Counter[int]]) -> Axis:
    most = max(max(counter.values(), default=0) for counter in counts)
    return Axis("Answers", 0, around([0, max(most, 2)], about=FEW)[1], _whole, FEW)


def _whole(value: float, step: float) -> str:
    return number(value, step) if value == round(value) else ""


def _histogram(
    sheet: Sheet, plot: Plot, series: Sequence[_Series], counts: Sequence[Counter[int]]
) -> None:
    for one, counter in zip(series, counts, strict=True):
        kind = f"c{one.hue} {'area' if one.kind == 'full' else 'line'}"
        for tenth, count in sorted(counter.items()):
            left, right = plot.x.at(tenth / TENTHS) + 2, plot.x.at((tenth + 1) / TENTHS) - 2
            top = plot.y.at(count)
            bar = box(left, top, right - left, plot.y.start - top, kind)
            sheet.add(told(f"{one.name}: {count:,} answers", bar))


def _description(series: Sequence[_Series], right: str) -> str:
    said = [
        f"{one.name}, {right.lower()}: " + ("; ".join(map(_told, one.bins)) or "no answers")
        for one in series
    ]
    return ". ".join(said) + "."
