"""
The rows of what waits for a person: of two who resolve one, the first one's word stays.

Like what stands these are not spooled: one is in the database before the host is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ..errors import SetupError
from ..inbox.entries import WORDS, Entry, Item, Meanwhile, Resolution, Said
from .addresses import WHERE
from .database import Database
from .inserting import feedback_columns
from .rows import DecisionRow, FeedbackRow
from .schema import decisions, feedback, inbox
from .troubles import StoreDown

PART = 500  # rows read at once
SAID = inbox.c.resolution, inbox.c.resolved_by, inbox.c.note, inbox.c.resolved_at

_entry = msgspec.json.Decoder(Entry).decode
_decision = msgspec.json.Decoder(DecisionRow).decode
_value = msgspec.json.Decoder(Said).decode


class Box:
    """What waits for a person, in one database; safe for several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def file(self, entry: Entry) -> Resolution | None:
        """
        Write *entry*, unless one of its id is there; give what was said to that one.

        Raises:
            StoreDown: The database cannot be reached, or is locked or full; or a row in it
                cannot be read.

        """
        row = {
            "id": entry.id,
            "at": entry.at,
            "point": entry.point[:WORDS].replace("\0", ""),
            "subject": entry.subject,
            "body": msgspec.json.encode(entry).decode(),
        }
        with self._database.transaction("stand") as connection:
            make = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            connection.execute(make(inbox).values(**row).on_conflict_do_nothing())
            return self._said(connection, entry.id)

    def resolution(self, id: str) -> Resolution | None:  # noqa: A002 - the column's name
        """
        Read what was said; None: nothing was, or there is no such entry.

        Raises:
            StoreDown: The database cannot be reached, or the row cannot be read.

        """
        with self._database.transaction("find") as connection:
            return self._said(connection, id)

    def resolutions(self, ids: Sequence[str]) -> tuple[dict[str, Resolution], list[str]]:
        """
        Read what was said to any of *ids*, in one query for each 500 of them.

        Returns:
            What was said, by id; and the ids of rows that cannot be read.

        Raises:
            StoreDown: The database cannot be reached.

        """
        found: dict[str, Resolution] = {}
        altered: list[str] = []
        for start in range(0, len(ids), PART):
            some = inbox.c.id.in_(ids[start : start + PART])
            query = select(inbox.c.id, *SAID).where(some, inbox.c.resolved_at.is_not(None))
            with self._database.transaction("find") as connection:
                rows = connection.execute(query).all()
            for one in rows:
                try:
                    found[one.id] = _resolution(one)
                except StoreDown:  # one row that was altered hides no other
                    altered.append(one.id)
        return found, altered

    def resolve(self, id: str, said: Resolution, row: FeedbackRow) -> Resolution | None:  # noqa: A002
        """
        Write what a person *said*, unless somebody was first; give what counts.

        What is said is a label for the decision too: *row* is written with it, or neither is.

        Returns:
            What counts; None: there is no such entry.

        Raises:
            StoreDown: The database cannot be reached, or is locked or full.

        """
        told = {
            "resolution": msgspec.json.encode(said.value).decode(),
            "resolved_by": said.by,
            "note": said.note,
            "resolved_at": said.at,
        }
        unsaid = inbox.c.id == id, inbox.c.resolved_at.is_(None)
        with self._database.transaction("stand") as connection:
            first = connection.execute(update(inbox).where(*unsaid).values(**told)).rowcount
            if first:
                connection.execute(feedback.insert().values(**feedback_columns(row)))
            counts = self._said(connection, id)
        return counts and msgspec.structs.replace(counts, first=bool(first))

    def items(
        self, *, point: str | None = None, open_only: bool = False, ids: Sequence[str] | None = None
    ) -> Iterator[Item]:
        """
        Give entries by time, the oldest first, a few at a time.

        Args:
            point: Of this point only; absent: of all.
            open_only: Only those to which nothing was said.
            ids: Only these.

        Raises:
            StoreDown: The database cannot be reached.
            SetupError: A row cannot be read.

        """
        wanted: list[ColumnElement[bool]] = []
        if point is not None:
            wanted.append(inbox.c.point == point)
        if open_only:
            wanted.append(inbox.c.resolved_at.is_(None))
        if ids is not None:
            wanted.append(inbox.c.id.in_(ids))
        return self._items(wanted)

    def beginning(self, prefix: str, limit: int) -> list[str]:
        """
        Name the entries whose id begins with *prefix*, at most *limit* of them.

        Raises:
            StoreDown: The database cannot be reached.

        """
        id_ = inbox.c.id
        query = select(id_).where(id_ >= prefix, id_ < f"{prefix}g").order_by(id_).limit(limit)
        with self._database.transaction("read") as connection:
            return list(connection.scalars(query))

    def _items(self, wanted: Sequence[ColumnElement[bool]]) -> Iterator[Item]:
        columns = inbox.c.id, inbox.c.at, inbox.c.body, *SAID, decisions.c.body.label("decision")
        query = (
            select(*columns)
            .outerjoin(decisions, decisions.c.id == inbox.c.id)
            .order_by(inbox.c.at, inbox.c.id)
            .limit(PART)
        )
        beyond: list[ColumnElement[bool]] = []
        while True:
            with self._database.transaction("read") as connection:
                part = connection.execute(query.where(*wanted, *beyond)).all()
            for one in part:
                yield _item(one)
            if len(part) < PART:
                return
            at, id_ = part[-1].at, part[-1].id
            beyond = [(inbox.c.at > at) | ((inbox.c.at == at) & (inbox.c.id > id_))]

    def _said(self, connection: Connection, id: str) -> Resolution | None:  # noqa: A002
        found = connection.execute(select(*SAID).where(inbox.c.id == id)).one_or_none()
        return None if found is None or found.resolved_at is None else _resolution(found)


def remove(database: Database, which: ColumnElement[bool]) -> int:
    """Remove entries for good; give how many there were."""
    with database.transaction("remove") as connection:
        return connection.execute(delete(inbox).where(which)).rowcount


def _resolution(row: Any) -> Resolution:  # noqa: ANN401 - of any columns
    try:
        return Resolution(
            value=_value(row.resolution),
            by=row.resolved_by or "",
            note=row.note or "",
            at=row.resolved_at,
        )
    except (msgspec.MsgspecError, TypeError):
        problem = "what a person said in it was altered"
        raise StoreDown(problem, "Correct that row of its table `inbox`, or remove it") from None


def _item(row: Any) -> Item:  # noqa: ANN401 - of any columns
    try:
        entry = _entry(row.body)
        meanwhile = None if row.decision is None else _meanwhile(_decision(row.decision))
    except (msgspec.DecodeError, ValueError) as error:
        problem = f"entry {row.id} of the inbox cannot be read: {error}"
        raise SetupError.of(WHERE, problem, "Was it written by a later version?") from None
    said = None if row.resolved_at is None else _resolution(row)
    return Item(entry=entry, resolution=said, meanwhile=meanwhile)


def _meanwhile(row: DecisionRow) -> Meanwhile:
    record = row.record
    return Meanwhile(provider=record.provider, outcome=record.outcome, undecided=record.undecided)
