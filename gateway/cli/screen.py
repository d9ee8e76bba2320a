"""What is printed, and where: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import re
import sys
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..errors import Fault

# Only the terminal's own colours, and none of those that vanish on a light or a dark one.
GOOD, OTHER, BAD, FAINT = "green", "magenta", "bold red", "dim"
ENDLESS = 100_000  # columns of what is no terminal: programs and files want whole lines
BETWEEN = 3  # columns between two of a table
GAP = 2  # blanks between a name and what it is
# DEL, the C1 controls, and marks that turn the direction of what follows
STEERS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class _Trimmed:
    """A stream that is no terminal: tables are written without the blanks at their right."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write *text*, its lines without blanks at their ends."""
        return self._stream.write(re.sub(r" +(?=\n|$)", "", text))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the stream's own
        return getattr(self._stream, name)


def out() -> Console:
    """Print results; texts are printed as they are, since they may come from anywhere."""
    return _console(sys.stdout)


def err() -> Console:
    """Print what is not a result, so that results can be piped."""
    return _console(sys.stderr)


def _console(stream: IO[str] | None) -> Console:
    plain = stream is not None and not stream.isatty()
    file = cast("IO[str]", _Trimmed(stream)) if stream is not None and plain else stream
    made = Console(
        file=file, stderr=stream is sys.stderr, markup=False, highlight=False, emoji=False
    )
    said = os.environ.get("COLUMNS", "")
    if not (said.isdecimal() and int(said)):  # a width that somebody set is heeded
        os.environ.pop("COLUMNS", None)  # Rich would take 0 for one
    if plain and "COLUMNS" not in os.environ:
        made.width = ENDLESS
    return made


def table(*headings: str, right: tuple[str, ...] = (), loose: tuple[str, ...] = ()) -> Table:
    """
    Begin a table that reads well at 80 columns, and in a file.

    Args:
        headings: Of its columns.
        right: Those that hold numbers.
        loose: Those whose words may go on in the next line; a name never does.

    """
    made = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold", no_wrap=heading not in loose)
        made.columns[-1].justify = "right" if heading in right else "left"
    return made


def fits(listed: Table) -> bool:
    """Whether *listed* can be printed without breaking a name."""
    console = out()
    between = BETWEEN * (len(listed.columns) - 1)
    return sum(_needed(console, column) for column in listed.columns) + between <= console.width


def _needed(console: Console, column: Column) -> int:
    options = console.options.update(width=ENDLESS)
    cells = [Measurement.get(console, options, one) for one in (column.header, *column.cells)]
    return max(one.maximum if column.no_wrap else one.minimum for one in cells)


def show(listed: Table) -> None:
    """Print a table; where it is too wide, its names are broken rather than lost."""
    if not fits(listed):
        for column in listed.columns:
            column.no_wrap = False
    out().print(listed)


def pairs(rows: Iterable[tuple[str, str | Text]]) -> None:
    """Print names and what they are, without lines; a name or a command stays in one piece."""
    listed, console = list(rows), out()
    indent = max((cell_len(name) for name, _ in listed), default=0) + GAP
    for name, value in listed:
        text = value if isinstance(value, Text) else Text(value)
        longest = max(map(cell_len, text.plain.split()), default=1)
        parts = text.wrap(console, max(longest, console.width - indent))
        for number, part in enumerate(parts):
            title = "" if number else name
            part.rstrip()
            said = Text.assemble((title, FAINT), " " * (indent - cell_len(title)), part)
            console.print(said, soft_wrap=True)


def line(*said: str | tuple[str, str] | Text) -> None:
    """Print one result of words that may be copied: nothing is wrapped but by the terminal."""
    out().print(Text.assemble(*said), soft_wrap=True)


def plain(text: str) -> None:
    """Print *text* as it is, in one width everywhere: it is a file's content."""
    out().print(Text(text), soft_wrap=True, end="")


def faults(
    found: Iterable[Fault], sign: str = "✗", style: str = BAD, console: Console | None = None
) -> None:
    """List faults with what to do about each."""
    to = console or err()
    for fault in found:
        where = (f"{sign} ", style), (fault.where, "bold")
        told = Text.assemble(*where, f": {fault.problem}. ", (fault.fix, FAINT))
        to.print(told, soft_wrap=True)


def note(*said: str | tuple[str, str]) -> None:
    """Say something that is no result."""
    err().print(Text.assemble(*said), soft_wrap=True)


def data(value: Any) -> None:  # noqa: ANN401 - anything that is JSON
    """Print *value* as JSON, for programs."""
    encoded = msgspec.json.encode(msgspec.to_builtins(value))
    out().print(escaped(msgspec.json.format(encoded, indent=2).decode()), soft_wrap=True)


def escaped(text: str) -> str:
    """Write *text*, which is JSON, without what would steer a terminal: the same to a program."""
    return STEERS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


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
