"""Two deciders against each other as a table of heat: where they agree, and what they mistake."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from .canvas import (
    LINE,
    MARGIN,
    SHOWN,
    SMALL,
    Markup,
    Sheet,
    box,
    element,
    escaped,
    named,
    shortened,
    told,
    width_of,
    words,
)

LEAST = 400.0  # width, so that titles can be read
SAID = 10  # cells in the description
MOST = 20  # rows and columns that can be read; the least frequent of more are folded into one
TALLEST = 34.0
WIDEST = 100.0
NAMES = 150.0  # width of the names of rows, at most
UPRIGHT = 110.0  # height of the names of columns where they must stand upright
HOTTEST = 0.55  # opacity up to which text on it keeps a contrast of 4.5, in light and dark


class _Side(NamedTuple):
    names: Sequence[str]
    members: Sequence[Sequence[int]]
    folded: bool

    def rest(self, index: int) -> bool:
        """Whether the name at *index* stands for the folded ones."""
        return self.folded and index == len(self.names) - 1


def confusion(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    row_title: str,
    column_title: str,
) -> Markup:
    """
    Draw `counts[i][j]`, the decisions with `rows[i]` on one side and `columns[j]` on the other.

    Cells of equal names, where both agree, are framed. Of more than 20 names the 19 most
    frequent are kept and the rest folded into "other (n)".

    Raises:
        ValueError: *counts* is not one number for each row and column.

    """
    if len(counts) != len(rows) or any(len(line) != len(columns) for line in counts):
        raise ValueError(f"{len(rows)} rows of {len(columns)} columns need as many counts")
    down, across = _sides(rows, columns, counts)
    cells = [
        [sum(counts[i][j] for i in some for j in others) for others in across.members]
        for some in down.members
    ]
    return _drawn(down, across, cells, (row_title, column_title))


def _sides(
    rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[int]]
) -> tuple[_Side, _Side]:
    """Fold both sides; the same names on both are folded alike."""
    down = [sum(line) for line in counts]
    across = [sum(line[j] for line in counts) for j in range(len(columns))]
    if list(rows) == list(columns):
        down = across = [a + b for a, b in zip(down, across, strict=True)]
    return _side(rows, down), _side(columns, across)


def _side(names: Sequence[str], totals: Sequence[int]) -> _Side:
    if len(names) <= MOST:
        return _Side(names, [[index] for index in range(len(names))], folded=False)
    order = sorted(range(len(names)), key=lambda index: (-totals[index], index))
    kept, others = sorted(order[: MOST - 1]), order[MOST - 1 :]
    named = [*(names[index] for index in kept), f"other ({len(others)})"]
    return _Side(named, [*([index] for index in kept), others], folded=True)


class _Grid(NamedTuple):
    left: float
    top: float
    width: float  # of a cell
    height: float

    def at(self, row: int, column: int) -> tuple[float, float]:
        return self.left + column * self.width, self.top + row * self.height


def _drawn(
    down: _Side, across: _Side, cells: Sequence[Sequence[int]], titles: tuple[str, str]
) -> Markup:
    left = MARGIN + 8 + min(NAMES, max(map(width_of, [*down.names, titles[0] + " ↓"])))
    width = min(WIDEST, (SHOWN - left - MARGIN) / max(1, len(across.names)))
    needed = max(LEAST, left + width * len(across.names) + MARGIN)
    sheet = Sheet(f"{titles[0]} and {titles[1]}", needed, needed)
    grid = _headed(sheet, across.names, left, width)
    sheet.add(words(MARGIN, grid.top - 9, shortened(titles[0], left - 36) + " ↓", "soft"))
    sheet.add(words(left, sheet.bottom + 14, f"{shortened(titles[1], 240)} →", "soft"))
    for row, name in enumerate(down.names):
        y = grid.at(row, 0)[1] + grid.height / 2 + 4.5
        sheet.add(told(name, words(left - 8, y, named(name, left - MARGIN - 8), "", "end")))
    for row, column in product(range(len(down.names)), range(len(across.names))):
        sheet.add(_cell(grid, (down, row), (across, column), cells))
    sheet.down_to(grid.at(len(down.names), 0)[1])
    if not down.names or not across.names:
        sheet.line("nothing to draw yet")
    else:
        sheet.line("Framed: both the same. The stronger the colour, the more decisions.")
    return sheet.svg(_description(down, across, cells, titles))


def _headed(sheet: Sheet, names: Sequence[str], left: float, width: float) -> _Grid:
    """Set the *names* of columns: lying where all fit, else upright."""
    height = min(TALLEST, max(width, 24.0))
    start = sheet.bottom + LINE + 6
    if all(width_of(name, SMALL) <= width - 4 for name in names):
        grid = _Grid(left, start + LINE + 4, width, height)
        places = [grid.at(0, column) for column in range(len(names))]
        for name, (x, y) in zip(names, places, strict=True):
            sheet.add(words(x + width / 2, y - 9, name, "small", "middle"))
        return grid
    tall = min(UPRIGHT, max(width_of(name, SMALL) for name in names))
    grid = _Grid(left, start + tall + 8, width, height)
    for column, name in enumerate(names):
        x, y = grid.at(0, column)
        sheet.add(told(name, _upright(x + width / 2 + 4, y - 7, named(name, tall, SMALL))))
    return grid


def _upright(x: float, y: float, text: str) -> str:
    turned = f"translate({x:.1f} {y:.1f}) rotate(-90)"
    return element("text", escaped(text), transform=turned, class_="small")


def _cell(
    grid: _Grid, down: tuple[_Side, int], across: tuple[_Side, int], cells: Sequence[Sequence[int]]
) -> str:
    (side, row), (other, column) = down, across
    count, most = cells[row][column], max(map(max, cells))
    x, y = grid.at(row, column)
    middle = x + grid.width / 2, y + grid.height / 2 + 4.5
    same = side.names[row] == other.names[column] and not (side.rest(row) or other.rest(column))
    if not count and not same:
        return words(*middle, "·", "small soft", "middle")
    inner = x + 1, y + 1, grid.width - 2, grid.height - 2
    heat = HOTTEST * math.sqrt(count / most) if most > 0 else 0.0
    shape = _heated(inner, heat, "c0" if same else "c1") + box(*inner, "frame" if same else "grid")
    text = words(*middle, _compact(count, grid.width), "small", "middle")
    return told(f"{side.names[row]}, {other.names[column]}: {count:,}", shape, text)


def _heated(place: tuple[float, float, float, float], heat: float, hue: str) -> str:
    x, y, width, height = place
    kind = f"{hue} heat"
    return element("rect", x=x, y=y, width=width, height=height, class_=kind, fill_opacity=heat)


def _compact(count: int, width: float) -> str:
    forms = (f"{count:,}", str(count), f"{count / 1e3:.0f}k", f"{count / 1e6:.1f}M")
    return next((form for form in forms if width_of(form, SMALL) <= width), forms[-1])


def _description(
    down: _Side, across: _Side, cells: Sequence[Sequence[int]], titles: tuple[str, str]
) -> str:
    """Say the most frequent cells; all of them would be no description."""
    counted = [
        (count, down.names[row], across.names[column])
        for row, line in enumerate(cells)
        for column, count in enumerate(line)
        if count
    ]
    most = sorted(counted, key=lambda cell: -cell[0])[:SAID]
    said = [f"{a}, {b}: {count:,}" for count, a, b in most]
    return f"{titles[0]} in rows, {titles[1]} in columns. " + ("; ".join(said) or "No decisions.")
