"""A namespace as JSON lines, and back: a union of two logs is what one would hold (RF-77)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec

from ..entries import AnyEntry, Erased
from ..errors import Refused
from ..stating import canonical
from . import rows
from .ledger import Ledger
from .view import View

SCHEMA = 1
PAGE = 1000
IN_MEMORY = 64_000_000  # bytes of an export; a longer one is kept in a file while it is read


class Exported(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    A line: an entry of the log.

    Attributes:
        position: Where it was.
        id: Of the entry.
        recorded_at: When that store took it in, in microseconds since the epoch.
        entry: What it is; None: its content was erased.
        key: Of one that was erased, its fact as it is written.

    """

    position: int
    id: str
    recorded_at: int
    entry: AnyEntry | None = None
    key: str = ""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """
    The first line.

    Attributes:
        schema: Of the lines.
        namespace: Whose facts they are.
        entries: How many lines follow.

    """

    schema: int = SCHEMA
    namespace: str
    entries: int


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """
    What became of an export.

    Attributes:
        new: How many entries were written.
        there: How many were there already.

    """

    new: int
    there: int


_line = msgspec.json.Decoder(Exported).decode
_header = msgspec.json.Decoder(Header).decode


def export(view: View) -> Iterator[str]:
    """Give the whole log, a line each, behind a header."""
    yield rows.text(Header(namespace=view.namespace, entries=view.position))
    reached = 0
    while True:
        found = view.line.execute(
            f"SELECT {rows.ENTRY}, key FROM facts_log WHERE namespace = ? AND position > ?"  # noqa: S608 - fixed texts
            f" AND position <= ? ORDER BY position LIMIT {PAGE}",
            (view.namespace, reached, view.position),
        ).fetchall()
        for row in found:
            yield rows.text(_exported(row))
        if len(found) < PAGE:
            return
        reached = found[-1][0]


def import_(ledger: Ledger, lines: Iterable[str], *, restore: bool = False) -> Imported:
    """
    Take in what `export` wrote.

    Args:
        ledger: Into this namespace.
        lines: The export; empty ones are left out.
        restore: Into an empty namespace, with the times of the store that wrote it.

    Raises:
        Refused: It is no export, is another namespace's, is not whole, or an id is not that of
            its content; to restore, there is something already. Nothing is written.

    """
    if restore:
        with ledger.view() as view:
            if view.position:
                problem = f"the namespace has {view.position} entries"
                raise Refused("not_empty", problem, "Import without restoring, or name another")
    with SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="\n") as kept:
        _whole(lines, kept, ledger.namespace)
        kept.seek(0)
        new, there = ledger.take(_taken(kept, restore=restore, namespace=ledger.namespace))
    return Imported(new=new, there=there)


def _whole(lines: Iterable[str], kept: IO[str], namespace: str) -> None:
    """Look through all lines before anything is written, and keep them."""
    given = (line.strip() for line in lines if line.strip())
    count = _checked(next(given, ""), namespace)
    blank, erased, number = dict[str, int](), set[str](), 0

    def copied() -> Iterator[str]:
        for line in given:
            yield line
            kept.write(f"{line}\n")

    taken = _taken(copied(), restore=False, namespace=namespace)
    for number, (id_, what, _) in enumerate(taken, 1):
        if isinstance(what, str):
            blank[id_] = number + 1
        elif isinstance(what, Erased):
            erased.add(what.target)
    if number != count:
        problem = f"it has {number} entries, and its header tells of {count}"
        raise Refused("not_whole", problem, "Export it again, or copy it whole")
    for id_ in blank.keys() - erased:
        problem = f"line {blank[id_]} is empty, and nothing says that it was erased"
        raise Refused("bad_line", problem, "Export it again")


def _exported(row: Any) -> Exported:  # noqa: ANN401 - a row
    position, id_, recorded_at, body, key = row
    if not body:
        return Exported(position=position, id=id_, recorded_at=recorded_at, key=key)
    entry = rows.decode_entry(body)
    return Exported(position=position, id=id_, recorded_at=recorded_at, entry=entry)


def _checked(line: str, namespace: str) -> int:
    """Check the header; give how many entries follow."""
    try:
        header = _header(line)
    except msgspec.MsgspecError:
        raise Refused("bad_line", "line 1 is no header of an export", "Name another file") from None
    if header.schema != SCHEMA:
        problem = f"it has schema {header.schema}, not {SCHEMA}"
        raise Refused("bad_line", problem, "pip install --upgrade pointsman")
    if header.namespace != namespace:
        problem = f"it is of the namespace {header.namespace[:60]!r}, not {namespace!r}"
        raise Refused("other_namespace", problem, "Import it into a store of that namespace")
    return header.entries


def _taken(
    lines: Iterable[str], *, restore: bool, namespace: str
) -> Iterator[tuple[str, AnyEntry | str, int | None]]:
    for number, line in enumerate(lines, 2):
        try:
            read = _line(line)
        except (msgspec.MsgspecError, UnicodeEncodeError):
            raise Refused("bad_line", f"line {number} is no entry", "Export it again") from None
        at = read.recorded_at if restore else None
        if read.entry is None:
            yield read.id, read.key, at
            continue
        _own(read.entry, read.id, number, namespace)
        yield read.id, read.entry, at


def _own(entry: AnyEntry, id_: str, number: int, namespace: str) -> None:
    """Refuse an entry that is not what its id says, or is about another namespace."""
    if entry.id != id_:
        raise Refused("bad_line", f"line {number} was altered: its id is of other content")
    about = entry.about
    if about is not None and about.namespace != namespace:
        raise Refused("other_namespace", f"line {number} is of another namespace")
    if about is not None and not canonical(about):
        raise Refused("bad_line", f"line {number} names a fact in no canonical form")
