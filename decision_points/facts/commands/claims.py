"""A file of claims, row by row: what is wrong with one costs that row and no other."""

from __future__ import annotations

import csv
import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, get_args

import msgspec

from ....gateway.errors import Fault, SetupError
from ..assertions import Evidence, Kind

NEEDED = ("entity", "attribute", "value", "source")
TIMES = ("observed_at", "valid_from", "valid_to")
WORDS = ("raw", "writer", "source_ref", "corrects")
OTHER = ("kind", "confidence", "evidence")
KNOWN = (*NEEDED, *TIMES, *WORDS, *OTHER)
QUALIFIER = "q:"  # how a column of a qualifier begins
DELIMITERS = (",", ";", "\t", "|")
NEAR = 0.7
MALFORMED = "malformed_row"

Advance: TypeAlias = Callable[[int], None]
"""Is told how many bytes were read."""


class Row(msgspec.Struct, frozen=True):
    """
    What a row says.

    Attributes:
        line: Where it begins in the file, from 1.
        given: What `FactStore.assert_` is to be given.

    """

    line: int
    given: Mapping[str, Any]


class Bad(msgspec.Struct, frozen=True):
    """
    A row that is not written.

    Attributes:
        line: Where it begins in the file, from 1.
        code: A short name of the fault.
        problem: What is wrong.
        fix: What to do; empty: nothing more is known.
        further: How many lines behind the first were taken for the same row.

    """

    line: int
    code: str
    problem: str
    fix: str = ""
    further: int = 0


def claims(path: Path, advance: Advance) -> Iterator[Row | Bad]:
    """
    Read a file of claims: CSV in UTF-8 with a header, parted by comma, semicolon, tab or bar.

    Args:
        path: The file; `-` for stdin.
        advance: Is told how much was read.

    Raises:
        SetupError: The file cannot be read, or its header is wrong.

    """
    if str(path) == "-":
        yield from _rows(Path("stdin"), sys.stdin.buffer, advance)
        return
    try:
        with path.open("rb") as file:
            yield from _rows(path, file, advance)
    except OSError as error:
        fix = "Name a CSV file with a header"
        raise SetupError.of(str(path), error.strerror or "it cannot be read", fix) from None


def _rows(path: Path, file: BinaryIO, advance: Advance) -> Iterator[Row | Bad]:
    lines = _lines(file, advance)
    head = next(lines, "").removeprefix("\ufeff")
    if "\x00" in head:
        fix = "Save it as UTF-8: in a spreadsheet, `CSV UTF-8`"
        raise SetupError.of(str(path), "it is in UTF-16, or no text", fix)
    mark = max(DELIMITERS, key=head.count)
    # strict: a quote that is never closed would else swallow the rest of the file as one value
    reader = csv.reader(_again(head, lines), delimiter=mark, strict=True)
    columns = _columns(path, next(reader, list[str]()))
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield _unread(line, reader.line_num, error)
            continue
        if any(cells):
            found = _row(line, columns, cells)
            if isinstance(found, Bad) and found.code == MALFORMED:
                found = _reaching(found, reader.line_num)
            yield found


def _unread(first: int, last: int, error: csv.Error) -> Bad:
    if last == first and "field limit" in str(error):
        problem = f"a field has more than {csv.field_size_limit():,} characters"
        return Bad(first, "too_long", problem, "Shorten it, or leave the row out")
    said = "a quotation mark is never closed" if last > first else f"it is no CSV ({error})"
    fix = "Close every quotation mark; one within a field is written twice"
    return _reaching(Bad(first, MALFORMED, said, fix), last)


def _reaching(one: Bad, last: int) -> Bad:
    """Say up to which line a row was taken to go, where it is more than one."""
    if last <= one.line:
        return one
    problem = f"{one.problem}; lines {one.line:,} to {last:,} were taken for one row"
    return Bad(one.line, one.code, problem, one.fix, last - one.line)


def _lines(file: BinaryIO, advance: Advance) -> Iterator[str]:
    for line in file:
        advance(len(line))
        yield line.decode("utf-8", "surrogateescape")


def _again(head: str, rest: Iterator[str]) -> Iterator[str]:
    yield head
    yield from rest


def _columns(path: Path, head: Sequence[str]) -> tuple[str, ...]:
    """
    Check the header.

    Raises:
        SetupError: A column is missing, unknown or there twice; with every fault at once.

    """
    columns = tuple(one.strip().lower() for one in head)
    faults = [*_missing(path, columns), *_unknown(path, columns)]
    faults += [
        Fault(str(path), f"column {one!r} is there twice", "Leave one of them out")
        for one in sorted({one for one in columns if columns.count(one) > 1})
    ]
    if faults:
        raise SetupError(*faults)
    return columns


def _missing(path: Path, columns: Sequence[str]) -> Iterator[Fault]:
    lacks = [one for one in NEEDED if one not in columns]
    if lacks:
        fix = f"The first line names the columns: {', '.join(NEEDED)}"
        yield Fault(str(path), f"it has no column {', '.join(lacks)}", fix)


def _unknown(path: Path, columns: Iterable[str]) -> Iterator[Fault]:
    for one in columns:
        if one in KNOWN or (one.startswith(QUALIFIER) and one != QUALIFIER):
            continue
        near = difflib.get_close_matches(one, KNOWN, n=1, cutoff=NEAR)
        meant = f"Did you mean {near[0]}? " if near else ""
        fix = f"{meant}A qualifier's column begins with {QUALIFIER}, as in {QUALIFIER}contract"
        yield Fault(str(path), f"nothing reads column {one!r}", fix)


def _row(line: int, columns: Sequence[str], cells: Sequence[str]) -> Row | Bad:
    if len(cells) != len(columns):
        problem = f"it has {len(cells)} fields and the header {len(columns)}"
        return Bad(line, MALFORMED, problem, "Put what holds a comma in quotation marks")
    if not all(map(_encoded, cells)):
        return Bad(line, MALFORMED, "it is not UTF-8", "Save the file as UTF-8")
    held = dict(zip(columns, cells, strict=True))
    for name, words in _CLOSED.items():
        said = held.get(name, "").strip()
        if said and said not in words:
            problem, fix = f"its {name} is none that there is", f"Write one of {', '.join(words)}"
            return Bad(line, f"bad_{name}", problem, fix)
    try:
        return Row(line, _given(held))
    except ValueError:
        return Bad(line, "bad_confidence", "its confidence is no number", "Write one like 0.8")


_CLOSED: Mapping[str, tuple[str, ...]] = {"kind": get_args(Kind), "evidence": get_args(Evidence)}


def _encoded(cell: str) -> bool:
    try:
        cell.encode()
    except UnicodeEncodeError:
        return False
    return True


def _given(held: Mapping[str, str]) -> dict[str, Any]:
    """Say what a row gives; an empty cell gives nothing, but for a value: that is refused."""
    given: dict[str, Any] = {name: held[name] for name in ("entity", "attribute", "source")}
    given |= {name: held[name].strip() for name in TIMES if held.get(name, "").strip()}
    given |= {name: held[name] for name in WORDS if held.get(name)}
    given |= {name: held[name].strip() for name in _CLOSED if held.get(name, "").strip()}
    if sure := held.get("confidence", "").strip():
        given["confidence"] = float(sure)
    if held["value"] or given.get("kind", "value") == "value":
        given["value"] = held["value"]
    named = {name: text for name, text in held.items() if name.startswith(QUALIFIER) and text}
    if named:
        given["qualifiers"] = {name.removeprefix(QUALIFIER): text for name, text in named.items()}
    return given
