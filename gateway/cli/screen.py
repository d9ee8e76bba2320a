"""What is printed, and where: results to stdout, everything else to stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..errors import Fault

# Only the terminal's own colours, and none of those that vanish on a light or a dark one.
GOOD, OTHER, BAD, FAINT = "green", "magenta", "bold red", "dim"


def out() -> Console:
    """Print results; texts are printed as they are, since they may come from anywhere."""
    return Console(markup=False, highlight=False, emoji=False)


def err() -> Console:
    """Print what is not a result, so that results can be piped."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def table(*headings: str, right: tuple[str, ...] = ()) -> Table:
    """Begin a table that reads well at 80 columns, and in a file; *right* are numbers."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for heading in headings:
        made.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    return made


def pairs(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """Lay out names and what they are, without lines."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style=FAINT, no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(name, value)
    return made


def faults(
    found: Iterable[Fault], sign: str = "✗", style: str = BAD, console: Console | None = None
) -> None:
    """List faults with what to do about each."""
    listed = Table.grid(padding=(0, 1))
    listed.add_column(no_wrap=True)
    listed.add_column(overflow="fold")
    for fault in found:
        told = Text.assemble((fault.where, "bold"), f": {fault.problem}. ", (fault.fix, FAINT))
        listed.add_row(Text(sign, style), told)
    (console or err()).print(listed)


def note(*said: str | tuple[str, str]) -> None:
    """Say something that is no result."""
    err().print(Text.assemble(*said))


def data(value: Any) -> None:  # noqa: ANN401 - anything that is JSON
    """Print *value* as JSON, for programs."""
    plain = msgspec.to_builtins(value)
    out().print(msgspec.json.format(msgspec.json.encode(plain), indent=2).decode(), soft_wrap=True)


def percent(part: float, whole: float) -> str:
    """Write a share with one decimal; a dash where there is nothing to share."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    if seconds < 1:
        return f"{1000 * seconds:.1f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"  # noqa: PLR2004


def cost(usd: float) -> str:
    """Write an amount, however small."""
    return "$0" if usd == 0 else f"${usd:.2f}" if usd >= 1 else f"${usd:.6f}"
