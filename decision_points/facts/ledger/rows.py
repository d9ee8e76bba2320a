"""How entries, outcomes, disputes and events stand in rows, and the statements that move them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from ....gateway.journal.lines import Line
from ..disputes import Dispute, Event
from ..entries import AnyEntry, Asserted, Stored
from ..keys import FactKey, parts
from ..outcomes import Outcome

FOLDED = ("asserted", "retracted", "resolved", "dismissed", "withdrawn", "erased")
"""Kinds of entries that a fold sees; others of a fact only concern its disputes, or decisions."""

WIDE = ("adopted", "aliased", "quarantined")
"""Kinds of entries that are about a whole namespace."""

ENTRY = "position, id, recorded_at, body"

encode = msgspec.json.Encoder(order="deterministic").encode
decode_entry = msgspec.json.Decoder(AnyEntry).decode
decode_outcome = msgspec.json.Decoder(Outcome).decode
decode_dispute = msgspec.json.Decoder(Dispute).decode
decode_event = msgspec.json.Decoder(Event).decode


class Head(NamedTuple):
    """
    How far a namespace is: as in the table `facts_heads`.

    Attributes:
        position: Of the last entry in its log; 0: there is none.
        projected: Up to where everything is worked out.
        recorded_at: When the last entry was taken in, in microseconds since the epoch.
        wide: Position and id of the last entry that is about the whole namespace; empty: none.
        resume: The key up to which the entry after `projected` is worked out.

    """

    position: int = 0
    projected: int = 0
    recorded_at: int = 0
    wide: str = ""
    resume: str = ""

    @property
    def behind(self) -> bool:
        """Whether something is still to be worked out."""
        return self.projected < self.position


class Current(NamedTuple):
    """
    What is worked out of a fact.

    Attributes:
        position: Of the entry that touched it last.
        at: The time at which it was folded, in microseconds since the epoch.
        status: As in its outcome.
        hash: Of its outcome.
        due: When it may next be another, in microseconds; None: never by itself.
        stale: Why it should not be trusted; empty: no reason.
        body: Its outcome, as JSON.

    """

    position: int
    at: int
    status: str
    hash: str
    due: int | None
    stale: str
    body: str

    @property
    def outcome(self) -> Outcome:
        """What it came to."""
        return decode_outcome(self.body)


class InputRow(NamedTuple):
    """
    What a derived assertion was derived from.

    Attributes:
        key: The fact that the assertion is about, as it is written.
        assertion: Its id.
        input: The fact that it was derived from, as it is written.
        outcome: Hash of the outcome that was used.

    """

    key: str
    assertion: str
    input: str
    outcome: str


def by_key(line: Line) -> str:
    """Keep SQLite from walking along the log instead of from entry to entry of a fact."""
    return "" if line.is_server else "INDEXED BY facts_log_by_key"


def marks(count: int) -> str:
    """Give *count* question marks, for a list of values."""
    return ", ".join("?" * count)


def stored(row: Sequence[Any]) -> Stored:
    """Read an entry from a row of `ENTRY`; its body must not have been erased."""
    return Stored(position=row[0], id=row[1], recorded_at=row[2], entry=decode_entry(row[3]))


@lru_cache(100_000)
def key_in(namespace: str, written: str) -> FactKey:
    """Read a key as rows have it."""
    entity, attribute, qualifiers = parts(written)
    return FactKey(namespace, entity, attribute, tuple(sorted(qualifiers.items())))


@lru_cache(10_000)
def written(key: FactKey) -> str:
    """Write a key as rows have it."""
    return str(key)


def kind_of(entry: AnyEntry) -> str:
    """Name the kind of an entry, as rows have it."""
    return str(entry.__struct_config__.tag)


def source_of(entry: AnyEntry) -> str:
    """Name the source of an assertion; of all else there is none."""
    return entry.assertion.source if isinstance(entry, Asserted) else ""


def head(line: Line, namespace: str, *, lock: bool = False) -> Head:
    """
    Read how far *namespace* is.

    Args:
        line: In a transaction.
        namespace: Which.
        lock: Keep others from writing to it until the transaction ends; its row is made where
            there is none. SQLite's transaction has that lock already.

    """
    query = "SELECT position, projected, recorded_at, wide, resume FROM facts_heads"
    query += " WHERE namespace = ?"
    if lock and line.is_server:
        query += " FOR UPDATE"
    row = line.execute(query, (namespace,)).fetchone()
    if row is not None:
        return Head(*row)
    if not lock:
        return Head()
    line.execute(
        "INSERT INTO facts_heads VALUES (?, 0, 0, 0, '', '') ON CONFLICT DO NOTHING", (namespace,)
    )
    return head(line, namespace, lock=True)


def keep_head(line: Line, namespace: str, now: Head) -> None:
    """Write how far *namespace* is."""
    line.execute(
        "UPDATE facts_heads SET position = ?, projected = ?, recorded_at = ?, wide = ?,"
        " resume = ? WHERE namespace = ?",
        (*now, namespace),
    )


def insert(line: Line, row: Sequence[object]) -> bool:
    """Write a row of the log, unless its id is there; say whether it was written."""
    done = line.execute(
        "INSERT INTO facts_log VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row
    )
    return bool(done.rowcount)


def currents(line: Line, rows: Iterable[Sequence[object]]) -> None:
    """Write what facts come to."""
    line.many(
        "INSERT INTO facts_current VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (namespace, key) DO UPDATE SET position = excluded.position,"
        " at = excluded.at, status = excluded.status, hash = excluded.hash, due = excluded.due,"
        " stale = excluded.stale, body = excluded.body",
        rows,
    )


def happened(line: Line, rows: Iterable[Sequence[object]]) -> None:
    """Write events."""
    line.many("INSERT INTO facts_events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def disputed(line: Line, namespace: str, disputes: Iterable[Dispute]) -> None:
    """Write disputes as they stand."""
    line.many(
        "INSERT INTO facts_disputes VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (namespace, id) DO UPDATE SET key = excluded.key, state = excluded.state,"
        " revision = excluded.revision, opened_at = excluded.opened_at, body = excluded.body",
        [
            (namespace, one.id, str(one.key), one.state, one.revision, one.opened_at, text(one))
            for one in disputes
        ],
    )


def rested(line: Line, rows: Iterable[Sequence[object]]) -> None:
    """Write what assertions were derived from."""
    line.many("INSERT INTO facts_inputs VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)


def text(content: object) -> str:
    """Write *content* as a row has it."""
    return encode(content).decode()


def last_before(line: Line, namespace: str, known_at: int, last: int) -> tuple[int, int]:
    """Find the last entry that was recorded at a time or before: times grow with positions."""
    low, high, found = 0, last, 0
    while low < high:
        middle = (low + high + 1) // 2
        row = line.execute(
            "SELECT recorded_at FROM facts_log WHERE namespace = ? AND position = ?",
            (namespace, middle),
        ).fetchone()
        if row[0] <= known_at:
            low, found = middle, row[0]
        else:
            high = middle - 1
    return low, found
