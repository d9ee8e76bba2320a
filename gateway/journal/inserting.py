"""Rows into tables: written twice, they change nothing; one that no table takes stops no other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, IntegrityError

from ..answers import Answer
from ..records import Attempt
from .database import Database
from .rows import DecisionRow, FeedbackRow, Row, ShadowRow
from .schema import attempts, decisions, exposures, feedback, shadows, states

Columns: TypeAlias = dict[str, Any]
Part: TypeAlias = tuple[Table, Columns]

ID = 64  # characters; ours have 32
WORDS = 200  # characters of a name in a column; the body keeps all of it
POISON = (DataError, IntegrityError, ValueError, OverflowError)
SHAPELESS = (ValueError, OverflowError, TypeError, AttributeError, KeyError)


def write(database: Database, rows: Sequence[Row]) -> tuple[Row, ...]:
    """
    Write *rows* in one transaction.

    Returns:
        Those that no database can hold: with an id of more than 64 characters, or values that
        are no JSON. All others are written.

    Raises:
        StoreDown: The database cannot be reached, or is locked or full; nothing was written.

    """
    apart: list[tuple[Row, list[Part]]] = []
    refused: list[Row] = []
    for row in rows:
        try:
            apart.append((row, _parts(row)))
        except SHAPELESS:
            refused.append(row)
    try:
        _insert(database, chain.from_iterable(parts for _, parts in apart))
    except POISON:
        refused += _singly(database, apart)
    return tuple(refused)


def _singly(database: Database, apart: Iterable[tuple[Row, list[Part]]]) -> Iterator[Row]:
    """Write each row in a transaction of its own, and give those that cannot be."""
    for row, parts in apart:
        try:
            _insert(database, parts)
        except POISON:
            yield row


def _parts(row: Row) -> list[Part]:
    """Take a row apart, into what each table gets of it."""
    if not 0 < len(row.id) <= ID or "\0" in row.id:
        raise ValueError("an id has at most 64 characters")
    return _TAKEN_APART[type(row)](row)


def _decision(row: DecisionRow) -> list[Part]:
    record, kept = row.record, row.kept
    parts = [(attempts, _attempt(record.id, *one)) for one in enumerate(record.attempts)]
    state = None
    if kept.state is not None:
        state = hashlib.sha256(kept.state.encode()).hexdigest()
        escaped = "\0" in kept.state  # PostgreSQL's texts cannot hold it
        text = _json(kept.state) if escaped else kept.state
        parts.append((states, {"id": state, "text": text, "escaped": escaped}))
        kept = msgspec.structs.replace(kept, state=None)
        row = msgspec.structs.replace(row, kept=kept)
    if record.exposure is not None and kept.subject is not None:
        parts.append((exposures, _exposure(row)))
    columns = {
        "id": record.id,
        "at": record.at,
        "point": _word(record.point),
        "variant": _word(record.variant),
        "provider": _word(record.provider),
        "reason": _word(record.reason),
        "language": _word(row.language),
        "outcome": _json_or_none(record.outcome),
        "confidence": record.confidence,
        "seconds": record.seconds,
        "undecided": record.undecided,
        "cost_usd": record.cost_usd,
        "experiment": record.exposure and _word(record.exposure.experiment),
        "subject": kept.subject and _word(kept.subject),
        "digest": kept.digest and _word(kept.digest),
        "state": state,
        "body": _json(row),
    }
    return [*parts, (decisions, columns)]


def _exposure(row: DecisionRow) -> Columns:
    record = row.record
    assert record.exposure is not None
    return {
        "point": _word(record.point),
        "experiment": _word(record.exposure.experiment),
        "subject": _word(row.kept.subject or ""),
        "variant": _word(record.variant),
        "bucket": record.exposure.bucket,
        "at": record.at,
        "decision": record.id,
    }


def _shadow(row: ShadowRow) -> list[Part]:
    shadow = row.shadow
    columns = {
        "id": shadow.id,
        "decision": shadow.of,
        "at": shadow.at,
        "point": _word(shadow.point),
        "provider": _word(shadow.provider),
        "model": _word(shadow.attempt.model),
        "reason": _word(shadow.attempt.reason),
        "outcome": _json_or_none(shadow.outcome),
        "beside": _json_or_none(shadow.beside),
        "source": shadow.source,
        **_measured(shadow.attempt),
        "body": _json(row),
    }
    return [(shadows, columns)]


def feedback_columns(row: FeedbackRow) -> Columns:
    """Take apart what was found out later."""
    return {
        "id": row.id,
        "decision": row.of,
        "at": row.at,
        "was_right": row.right,
        "label": _json_or_none(row.label),
        "body": _json(row),
    }


def _feedback(row: FeedbackRow) -> list[Part]:
    return [(feedback, feedback_columns(row))]


_TAKEN_APART: Mapping[type, Callable[[Any], list[Part]]] = {
    DecisionRow: _decision,
    ShadowRow: _shadow,
    FeedbackRow: _feedback,
}


def _attempt(decision: str, n: int, attempt: Attempt) -> Columns:
    return {
        "decision": decision,
        "n": n,
        "provider": _word(attempt.provider),
        "model": _word(attempt.model),
        "reason": _word(attempt.reason),
        **_measured(attempt),
        "late": attempt.late,
        "form": _word(attempt.form),
        "cached": attempt.cached,
    }


def _measured(attempt: Attempt) -> Columns:
    weakest = min(attempt.answers.values(), key=_sureness, default=_NONE)
    usage = attempt.usage
    return {
        "reported": weakest.reported,
        "probability": weakest.probability,
        "confidence": attempt.confidence,
        "minimum": attempt.minimum,
        "seconds": attempt.seconds,
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "cost_usd": usage and usage.cost_usd,
        "estimated": usage and usage.estimated,
    }


_NONE = Answer(value=None)


def _sureness(answer: Answer) -> float:
    return answer.confidence


_encode = msgspec.json.Encoder().encode


def _json(value: object) -> str:
    return _encode(value).decode()


def _json_or_none(value: object) -> str | None:
    return None if value is None else _json(value)


def _word(text: str) -> str:
    """Cut a name to what an index takes."""
    return str(text)[:WORDS].replace("\0", "")


def _insert(database: Database, parts: Iterable[Part]) -> None:
    """Insert table by table, in one order everywhere: two writers never wait for each other."""
    by_table: dict[Table, list[Columns]] = {}
    for table, columns in parts:
        by_table.setdefault(table, []).append(columns)
    if not by_table:
        return
    with database.transaction("write") as connection:
        for table in (states, exposures, decisions, attempts, shadows, feedback):
            if table in by_table:
                _into(connection, table, by_table[table])


def _into(connection: Connection, table: Table, rows: list[Columns]) -> None:
    keys = [column.name for column in table.primary_key]
    ordered = sorted(_firsts(rows, keys), key=lambda row: [row[key] for key in keys])
    make = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement: Any = make(table)
    if table is exposures:  # rows may come in any order; the first by time stays
        new = statement.excluded
        later = (new.at < table.c.at) | ((new.at == table.c.at) & (new.decision < table.c.decision))
        changed = {name: new[name] for name in ("variant", "bucket", "at", "decision")}
        statement = statement.on_conflict_do_update(index_elements=keys, set_=changed, where=later)
    else:
        statement = statement.on_conflict_do_nothing()
    connection.execute(statement, ordered)


def _firsts(rows: Iterable[Columns], keys: Sequence[str]) -> Iterable[Columns]:
    """Leave out rows of the same key; of exposures, which have a time, the first stays."""
    found: dict[tuple[Any, ...], Columns] = {}
    for row in rows:
        key = tuple(row[name] for name in keys)
        there = found.get(key)
        if there is None or _when(row) < _when(there):
            found[key] = row
    return found.values()


def _when(row: Columns) -> tuple[float, str]:
    return row.get("at", 0.0), row.get("decision", "")
