"""A comparison on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from .. import screen
from ..journal.trail import printable
from .parts import parts, title
from .words import Drawn, Facts, Grid, Item, Told

if TYPE_CHECKING:
    from ...evaluation.comparison.report import Report

STYLES = {"note": screen.FAINT, "verdict": "bold", "good": screen.GOOD, "warning": screen.OTHER}
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
    numbers = tuple(name for name in item.head[1:] if name not in item.words)
    listed = screen.table(*map(printable, item.head), right=numbers, loose=tuple(item.words))
    for row in item.rows:
        listed.add_row(*map(printable, row))
    if screen.fits(listed) or not item.spare:
        screen.line()
        screen.show(listed)
