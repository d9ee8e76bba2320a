"""Whether the log itself is whole: every row what its id says, in order, with none missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ....gateway.journal.lines import Line
from ..entries import AnyEntry
from ..errors import Refused
from . import rows

PAGE = 1000
MOST = 100  # differences that are listed
LOG, HEADS = "facts_log", "facts_heads"
COLUMNS = ("position", "id", "kind", "key", "source", "recorded_at", "body")


class Difference(msgspec.Struct, frozen=True):
    """
    A row that is not what the log says, or of the log one that its id does not say.

    Attributes:
        table: Where.
        row: What tells it apart, as in the table; of the log and its head also the column.
        fault: `missing`, `extra` or `other`.

    """

    table: str
    row: str
    fault: str

    def __str__(self) -> str:
        return f"{self.table}: {self.row} is {self.fault}"


class Found:
    """
    The differences that were found so far: all are counted, the first are kept.

    Attributes:
        count: How many.
        first: Those that are listed.

    """

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Difference] = []

    def note(self, table: str, row: object, fault: str = "other") -> None:
        """Count one more."""
        self.count += 1
        if len(self.first) < MOST:
            self.first.append(Difference(table, str(row), fault))


class Proof:
    """
    A walk along the log of a namespace, and what it found.

    What can be seen: content that its id is not the hash of, columns that are not what the
    content says, an order that is none, rows that are missing, content that is gone though
    nobody erased it. What a value was read as is not of the hash; comparing what is worked out
    shows that.

    Args:
        line: In a transaction.
        namespace: Whose log.

    Attributes:
        namespace: Whose log.
        log: What is wrong with the log. Nothing can repair that.
        head: What is wrong with its head, which can be told from the log.
        told: The head as the log tells it; of how far it is worked out, as the table has it.

    """

    def __init__(self, line: Line, namespace: str) -> None:
        self.log = Found()
        self.head = Found()
        self.told = rows.Head()
        self._line = line
        self.namespace = namespace

    def walk(self) -> Proof:
        """Look at every row, a page at a time, and then at the head."""
        for row in self._rows():
            self._row(*row)
        self._head()
        return self

    def _rows(self) -> Iterator[Sequence[Any]]:
        whole = ("position", "recorded_at")
        # SQLite keeps anything in a text, also bytes that are none
        cast = "{}" if self._line.is_server else "CAST({} AS BLOB)"
        wanted = ", ".join(one if one in whole else cast.format(one) for one in COLUMNS)
        more, beyond = "", tuple[Any, ...]()
        while True:
            page = self._line.execute(
                f"SELECT {wanted} FROM facts_log WHERE namespace = ?{more}"  # noqa: S608 - fixed texts
                f" ORDER BY position LIMIT {PAGE}",
                (self.namespace, *beyond),
            ).fetchall()
            yield from page
            if len(page) < PAGE:
                return
            more, beyond = " AND position > ?", (page[-1][0],)

    def _row(self, position: Any, id_: Any, *rest: Any) -> None:  # noqa: ANN401 - as it may be anything
        kind, key, source, recorded_at, body = rest
        if not isinstance(position, int):
            self.log.note(LOG, f"{position!r} position")
            return
        self._order(position, recorded_at)
        texts = [_text(one) for one in (id_, kind, key, source)]
        entry = _entry(body)
        if body:
            said = None if entry is None else _said(entry, self.namespace)
        else:
            said = self._erased(texts[0], texts[2])
        if said is None:
            self.log.note(LOG, f"{position} body")
            return
        for column, there, should in zip(COLUMNS[1:5], texts, said, strict=True):
            if there != should:
                self.log.note(LOG, f"{position} {column}")
        if entry is not None and entry.about is None:
            self.told = self.told._replace(wide=f"{position}:{said[0]}")

    def _order(self, position: int, recorded_at: Any) -> None:  # noqa: ANN401 - as it may be anything
        due = self.told.position + 1
        if position > due:
            self.log.note(LOG, _span(due, position - 1), "missing")
        elif position < due:
            self.log.note(LOG, position, "extra")
        if not isinstance(recorded_at, int) or recorded_at <= self.told.recorded_at:
            self.log.note(LOG, f"{position} recorded_at")
        else:
            self.told = self.told._replace(recorded_at=recorded_at)
        self.told = self.told._replace(position=max(position, self.told.position))

    def _erased(self, id_: str, key: str) -> tuple[str, ...] | None:
        """Tell what a row without content should be; None: nobody erased it."""
        found = self._line.execute(
            f"SELECT 1 FROM facts_log {rows.by_key(self._line)} WHERE namespace = ? AND key = ?"  # noqa: S608 - fixed texts
            " AND kind = 'erased' AND body LIKE ?",
            (self.namespace, key, f'%"target":"{id_}"%'),
        ).fetchone()
        return None if found is None or not id_.isalnum() else (id_, "asserted", key, "")

    def _head(self) -> None:
        there = rows.head(self._line, self.namespace)
        told = self.told
        if _whole(*there[:3]):
            self.told = told._replace(projected=there.projected, resume=there.resume)
            self._reach(there)
        if there == rows.Head() and told.position:
            self.head.note(HEADS, self.namespace, "missing")
            return
        for column in ("recorded_at", "wide"):
            if getattr(there, column) != getattr(told, column):
                self.head.note(HEADS, column)

    def _reach(self, there: rows.Head) -> None:
        """Compare how far the log goes, and how far it is worked out."""
        if there == rows.Head():
            return
        if there.position > self.told.position:
            self.log.note(LOG, _span(self.told.position + 1, there.position), "missing")
        elif there.position < self.told.position:
            self.head.note(HEADS, "position")
        if not 0 <= there.projected <= there.position or self._beyond(there):
            self.head.note(HEADS, "projected")

    def _beyond(self, there: rows.Head) -> bool:
        """Whether something happened in entries that are said not to be worked out yet."""
        reached = there.projected + bool(there.resume)
        found = self._line.execute(
            "SELECT 1 FROM facts_events WHERE namespace = ? AND position > ? AND position <= ?"
            " LIMIT 1",
            (self.namespace, reached, there.position),
        ).fetchone()
        return found is not None


def _whole(*numbers: object) -> bool:
    return all(isinstance(one, int) for one in numbers)


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} to {last}"


def _text(there: Any) -> str:  # noqa: ANN401 - as it may be anything
    return there.decode("utf-8", "replace") if isinstance(there, bytes) else str(there)


def _entry(body: Any) -> AnyEntry | None:  # noqa: ANN401 - as it may be anything
    if not body:
        return None
    try:
        return rows.decode_entry(body)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return None


def _said(entry: AnyEntry, namespace: str) -> tuple[str, ...] | None:
    """Tell id, kind, key and source as the content has them; None: it cannot be."""
    about = entry.about
    if about is not None and about.namespace != namespace:
        return None
    try:
        key = "" if about is None else rows.written(about)
        return entry.id, rows.kind_of(entry), key, rows.source_of(entry)
    except (Refused, ValueError, TypeError):
        return None
