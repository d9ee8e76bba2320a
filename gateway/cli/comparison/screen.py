"""A comparison on the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from .. import screen
from ..journal.trail import printable
from .parts import parts, title
from .words import Drawn, Facts, Grid, Item, Told

if TYPE_CHECKING:
    from ...evaluation.comparison.report import Report

STYLES = {"note": screen.FAINT, "verdict": "bold", "good": screen.GOOD, "warning": screen.OTHER}
LEAST = 8  # columns of a name that goes on in the next line
WORD = re.compile(r"(?<=[_\-./:, ])")  # where a name has a new word
SIGNS = {"note": "", "verdict": "", "good": "✓ ", "warning": "! "}


def show(report: Report) -> None:
    """Print *report*; it reads at 80 columns."""
    screen.line((printable(title(report)), "bold"))
    for part in parts(report):
        screen.line()
        screen.line((printable(part.title), "bold underline"))
        table = False
        for item in part.items:
            if table and not isinstance(item, Grid | Drawn):
                screen.line()
            table = isinstance(item, Grid) or (table and isinstance(item, Drawn))
            _item(item)


def _item(item: Item) -> None:
    if isinstance(item, Facts):
        screen.pairs([(printable(name), printable(value)) for name, value in item.rows])
    elif isinstance(item, Grid):
        _grid(item)
    elif not isinstance(item, Drawn):
        _told(item)


def _told(item: Told) -> None:
    text = Text.assemble(SIGNS[item.kind], printable(item.text))
    text.stylize(STYLES[item.kind])
    screen.out().print(text)


def _grid(item: Grid) -> None:
    rows = [[printable(cell) for cell in row] for row in item.rows]
    listed = _listed(item, rows)
    if not screen.fits(listed) and item.names:
        rows = [_folded(item, row, _room(item, rows)) for row in rows]
        listed = _listed(item, rows)
    if screen.fits(listed) or not item.spare:
        screen.line()
        screen.show(listed)


def _listed(item: Grid, rows: Sequence[Sequence[str]]) -> Table:
    words = (*item.words, *item.names)
    numbers = tuple(name for name in item.head[1:] if name not in words)
    listed = screen.table(*map(printable, item.head), right=numbers, loose=tuple(item.words))
    for row in rows:
        listed.add_row(*row)
    return listed


def _room(item: Grid, rows: Sequence[Sequence[str]]) -> int:
    """Say how many columns each name may take beside what cannot be shortened."""
    taken = 0
    for at, head in enumerate(item.head):
        cells = [head, *(row[at] for row in rows)]
        if head in item.words:
            taken += max(cell_len(word) for cell in cells for word in cell.split() or [""])
        elif head not in item.names:
            taken += max(map(cell_len, cells))
    between = screen.BETWEEN * (len(item.head) - 1)
    heads = max(cell_len(name) for name in item.names)
    return max(LEAST, heads, (screen.out().width - taken - between) // len(item.names))


def _folded(item: Grid, row: Sequence[str], room: int) -> list[str]:
    return [
        _fold(cell, room) if head in item.names else cell
        for head, cell in zip(item.head, row, strict=True)
    ]


def _fold(name: str, room: int) -> str:
    """Let a name go on in the next line, between two of its words only."""
    lines = [""]
    for word in filter(None, WORD.split(name)):
        if cell_len(lines[-1]) + cell_len(word.rstrip()) > room and lines[-1]:
            lines.append("")
        lines[-1] += _short(word, room)
    return "\n".join(line.rstrip() for line in lines)


def _short(word: str, room: int) -> str:
    """Leave out the middle of a word that is too long: its ends tell it apart."""
    if cell_len(word.rstrip()) <= room:
        return word
    end = (room - 1) // 2
    tail = set_cell_size(word[::-1], end)[::-1].lstrip()
    return f"{set_cell_size(word, room - 1 - end).rstrip()}…{tail}"
