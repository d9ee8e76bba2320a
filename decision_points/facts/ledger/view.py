"""One consistent look at a namespace: its log, and what is worked out from that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..disputes import Dispute, Event
from ..errors import Refused
from ..keys import FactKey
from ..values.texts import unfit
from . import rows
from .log import LAST, Log
from .rows import Current, InputRow

PAGE = 1000  # rows read at once


class View(Log):
    """
    A namespace as it was when an entry was the last of its log.

    What is worked out and kept in tables (`current`, `disputes`, `events`, `inputs`) is as new as
    the tables, also in a view of the past.
    """

    def current(self, key: FactKey) -> Current | None:
        """Give what is worked out of a fact; None: nobody said anything about it."""
        found = self.line.execute(
            "SELECT position, at, status, hash, due, stale, body FROM facts_current"
            " WHERE namespace = ? AND key = ?",
            (self.namespace, rows.written(self.settings.aliases.key(key))),
        ).fetchone()
        return None if found is None else Current(*found)

    def disputes(
        self,
        key: FactKey | None = None,
        *,
        id: str = "",  # noqa: A002 - the column's name
        states: Iterable[str] = (),
        waiting: bool = False,
    ) -> Iterator[Dispute]:
        """
        Give disputes as they are worked out, the oldest first.

        Args:
            key: Of this fact; None: of any.
            id: Only this one; empty: any.
            states: In one of these states; empty: in any.
            waiting: Only those that were put to a person who has not been heard.

        """
        wanted, given = ["namespace = ?"], [self.namespace]
        if key is not None:
            wanted.append("key = ?")
            given.append(rows.written(self.settings.aliases.key(key)))
        if id:
            wanted.append("id = ?")
            given.append(id)
        if named := tuple(states):
            wanted.append(f"state IN ({rows.marks(len(named))})")
            given.extend(named)
        if waiting:  # JSON in which what is empty is left out, and quotes of texts are escaped
            wanted.append("body LIKE ?")
            given.append('%"waiting":"%')
        return (rows.decode_dispute(row[0]) for row in self._disputes(wanted, given))

    def events(self, after: int = 0, limit: int = PAGE) -> list[Event]:
        """Give what happened from the position *after* on, it included."""
        return [event for _, _, event in self.happened(after, 0, limit=limit)]

    def happened(self, position: int, n: int, *, limit: int = PAGE) -> list[tuple[int, int, Event]]:
        """
        Give what happened from a place on, in order; of what is worked out in whole only.

        Args:
            position: Of the log.
            n: The number of the event there.
            limit: At most so many.

        Returns:
            The place of each event, and the event.

        """
        found = self.line.execute(
            "SELECT position, n, body FROM facts_events WHERE namespace = ?"
            " AND (position, n) >= (?, ?)"
            " AND position <= (SELECT projected FROM facts_heads WHERE namespace = ?)"
            " ORDER BY position, n LIMIT ?",
            (self.namespace, position, n, self.namespace, limit),
        ).fetchall()
        return [(row[0], row[1], rows.decode_event(row[2])) for row in found]

    def place_of(self, cursor: int | str) -> tuple[int, int]:
        """
        Say where events go on: position, and number within it.

        Args:
            cursor: A position of the log, it included; or the id of an event, behind it.

        Raises:
            Refused: `bad_cursor`: it is no event's id.

        """
        if isinstance(cursor, int):
            return min(cursor, LAST), 0
        position, _, rest = cursor.partition(":")
        key, _, kind = rest.rpartition(":")
        whole = position.isascii() and position.isdigit() and len(position) < len(str(LAST))
        if not (whole and kind) or unfit(cursor):
            raise Refused("bad_cursor", "it is no event's id", "Give a position, or an event's id")
        found = self.line.execute(
            "SELECT n FROM facts_events WHERE namespace = ? AND position = ? AND key = ?"
            " AND kind = ?",
            (self.namespace, int(position), key, kind),
        ).fetchone()
        return int(position), 0 if found is None else found[0] + 1

    def due(self, at: int) -> list[tuple[FactKey, int]]:
        """Give the facts that may be another since a time up to *at*, and that time."""
        found = self.line.execute(
            "SELECT key, due FROM facts_current WHERE namespace = ? AND due <= ? ORDER BY due, key",
            (self.namespace, at),
        ).fetchall()
        return [(rows.key_in(self.namespace, row[0]), row[1]) for row in found]

    def inputs(self, key: FactKey) -> list[InputRow]:
        """Give what the derived assertions about a fact were derived from."""
        return self._inputs("key", key)

    def dependents(self, key: FactKey) -> tuple[FactKey, ...]:
        """Give the facts of which an assertion was derived from *key*."""
        found = {one.key for one in self._inputs("input", key)}
        return tuple(rows.key_in(self.namespace, one) for one in sorted(found))

    def counts(self) -> dict[str, int]:
        """Say how many facts there are of each status."""
        found = self.line.execute(
            "SELECT status, COUNT(*) FROM facts_current WHERE namespace = ? GROUP BY status"
            " ORDER BY status",
            (self.namespace,),
        ).fetchall()
        return {row[0]: row[1] for row in found}

    def _inputs(self, column: str, key: FactKey) -> list[InputRow]:
        found = self.line.execute(
            "SELECT key, assertion, input, outcome FROM facts_inputs WHERE namespace = ?"  # noqa: S608 - fixed texts
            f" AND {column} = ? ORDER BY key, assertion, input",
            (self.namespace, rows.written(self.settings.aliases.key(key))),
        ).fetchall()
        return [InputRow(*row) for row in found]

    def _disputes(self, wanted: list[str], given: list[str]) -> Iterator[Any]:
        beyond: tuple[object, ...] = ()
        while True:
            more = " AND (opened_at > ? OR (opened_at = ? AND id > ?))" if beyond else ""
            page = self.line.execute(
                f"SELECT body, opened_at, id FROM facts_disputes WHERE {' AND '.join(wanted)}"  # noqa: S608 - fixed texts
                f"{more} ORDER BY opened_at, id LIMIT {PAGE}",
                (*given, *beyond),
            ).fetchall()
            yield from page
            if len(page) < PAGE:
                return
            beyond = (page[-1][1], page[-1][1], page[-1][2])
