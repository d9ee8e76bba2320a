"""
Rows out of tables, a few at a time.

Each part is read in a transaction of its own: a long export holds no lock, keeps no old
versions alive, and holds no more than one part in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, func, select, tuple_

from ..errors import SetupError
from .addresses import WHERE
from .database import Database
from .rows import DecisionRow, FeedbackRow, Row, ShadowRow, Trail
from .schema import decisions, exposures, feedback, shadows, states

PART = 500  # rows read at once; SQLite took at most 999 parameters for long

BY_TIME = decisions.c.at, decisions.c.id

T = TypeVar("T", DecisionRow, ShadowRow, FeedbackRow)

_DECISION = msgspec.json.Decoder(DecisionRow)
_SHADOW = msgspec.json.Decoder(ShadowRow)
_FEEDBACK = msgspec.json.Decoder(FeedbackRow)


class Wanted(msgspec.Struct, frozen=True):
    """
    Which decisions, in which order.

    Attributes:
        point: Of this point.
        since: From this time on.
        until: Before this time.
        ids: Only these.
        newest_first: The latest first.

    """

    point: str | None = None
    since: float | None = None
    until: float | None = None
    ids: tuple[str, ...] | None = None
    newest_first: bool = False

    def conditions(self, last: DecisionRow | None = None) -> Iterator[ColumnElement[bool]]:
        """
        Write it as SQL, without `ids`; only what comes after *last*.

        The end that *last* stands for is left out: beside a second condition that says less,
        SQLite would begin each part at the beginning.
        """
        began = last is not None
        if self.point is not None:
            yield decisions.c.point == self.point
        if self.since is not None and (self.newest_first or not began):
            yield decisions.c.at >= self.since
        if self.until is not None and not (self.newest_first and began):
            yield decisions.c.at < self.until
        if last is not None:
            here, there = tuple_(*BY_TIME), tuple_(last.record.at, last.id)
            yield here < there if self.newest_first else here > there


def trails(database: Database, wanted: Wanted, limit: int | None = None) -> Iterator[Trail]:
    """Give decisions, each with what belongs to it."""
    if wanted.ids is None:
        return _by_time(database, wanted, limit)
    return islice(_by_id(database, wanted), limit)


def _by_time(database: Database, wanted: Wanted, limit: int | None = None) -> Iterator[Trail]:
    last: DecisionRow | None = None
    while limit is None or limit > 0:
        size = PART if limit is None else min(PART, limit)
        part = _read_part(database, wanted, wanted.conditions(last), size)
        yield from part
        if len(part) < size:
            return
        last = part[-1].decision
        limit = None if limit is None else limit - len(part)


def _by_id(database: Database, wanted: Wanted) -> Iterator[Trail]:
    """Give the decisions of these ids; ids sort by time, whatever order they are given in."""
    ids = sorted(set(wanted.ids or ()), reverse=wanted.newest_first)
    for start in range(0, len(ids), PART):
        conditions = [*wanted.conditions(), decisions.c.id.in_(ids[start : start + PART])]
        yield from _read_part(database, wanted, conditions, PART)


def _read_part(
    database: Database, wanted: Wanted, conditions: Iterable[ColumnElement[bool]], size: int
) -> list[Trail]:
    query = (
        select(decisions.c.id, decisions.c.body, states.c.text, states.c.escaped)
        .outerjoin(states, states.c.id == decisions.c.state)
        .where(*conditions)
        .order_by(*(one.desc() if wanted.newest_first else one for one in BY_TIME))
        .limit(size)
    )
    with database.transaction("read") as connection:
        return _joined(connection, [_with_state(*one) for one in connection.execute(query)])


def _with_state(id_: str, body: str, text: str | None, *escaped: bool | None) -> DecisionRow:
    row = _read(_DECISION, id_, body)
    if text is None:
        return row
    state = msgspec.json.decode(text, type=str) if any(escaped) else text
    kept = msgspec.structs.replace(row.kept, state=state)
    return msgspec.structs.replace(row, kept=kept)


def _joined(connection: Connection, found: Sequence[DecisionRow]) -> list[Trail]:
    ids = [row.id for row in found]
    beside = _belonging(connection, shadows, _SHADOW, ids)
    later = _belonging(connection, feedback, _FEEDBACK, ids)
    return [
        Trail(
            decision=row,
            shadows=tuple(beside.get(row.id, ())),
            feedback=tuple(later.get(row.id, ())),
        )
        for row in found
    ]


def _belonging(
    connection: Connection, table: Table, decoder: msgspec.json.Decoder[T], ids: Sequence[str]
) -> dict[str, list[T]]:
    query = (
        select(table.c.id, table.c.decision, table.c.body)
        .where(table.c.decision.in_(ids))
        .order_by(table.c.at, table.c.id)
    )
    found: dict[str, list[T]] = {}
    for id_, decision, body in connection.execute(query):
        found.setdefault(decision, []).append(_read(decoder, id_, body))
    return found


def _read(decoder: msgspec.json.Decoder[T], id_: str, body: str) -> T:
    try:
        return decoder.decode(body)
    except msgspec.DecodeError as error:
        problem = f"row {id_} cannot be read: {error}"
        raise SetupError.of(WHERE, problem, "Was it written by a later version?") from None


def rows(database: Database) -> Iterator[Row]:
    """Give everything: decisions, then shadows, then feedback, each by time."""
    for trail in _by_time(database, Wanted()):
        yield trail.decision
    yield from _bodies(database, shadows, _SHADOW)
    yield from _bodies(database, feedback, _FEEDBACK)


def _bodies(database: Database, table: Table, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    columns = table.c.at, table.c.id, table.c.body
    query = select(*columns).order_by(*columns[:2]).limit(PART)
    beyond: list[ColumnElement[bool]] = []
    while True:
        with database.transaction("read") as connection:
            part = connection.execute(query.where(*beyond)).all()
        for _, id_, body in part:
            yield _read(decoder, id_, body)
        if len(part) < PART:
            return
        beyond = [tuple_(*columns[:2]) > tuple_(part[-1].at, part[-1].id)]


def exposed(database: Database, point: str, experiment: str) -> Iterator[tuple[str, str, float]]:
    """Give variant, subject and time of each first exposure, by subject."""
    there = exposures.c
    columns = there.variant, there.subject, there.at
    here = [there.point == point, there.experiment == experiment]
    last = ""
    while True:
        query = select(*columns).where(*here, there.subject > last).order_by(there.subject)
        with database.transaction("read") as connection:
            part = connection.execute(query.limit(PART)).all()
        yield from (tuple(one) for one in part)
        if len(part) < PART:
            return
        last = part[-1].subject


def shadowed(database: Database, point: str, provider: str) -> set[str]:
    """Name the decisions that have an answer of *provider* beside them."""
    here = shadows.c.point == point, shadows.c.provider == provider
    with database.transaction("read") as connection:
        return set(connection.scalars(select(shadows.c.decision).where(*here)))


def points(database: Database) -> dict[str, int]:
    """Count the decisions of each point."""
    name = decisions.c.point
    query = select(name, func.count().label("decisions")).group_by(name).order_by(name)
    with database.transaction("read") as connection:
        return {one.point: one.decisions for one in connection.execute(query)}


def beginning(database: Database, prefix: str, limit: int) -> list[str]:
    """Name the decisions whose id begins so; ids are hexadecimal, and `g` comes after all."""
    id_ = decisions.c.id
    query = select(id_).where(id_ >= prefix, id_ < f"{prefix}g").order_by(id_).limit(limit)
    with database.transaction("read") as connection:
        return list(connection.scalars(query))


def about(database: Database, subject: str) -> list[str]:
    """Name the decisions about *subject*, a keyed hash."""
    query = select(decisions.c.id).where(decisions.c.subject == subject)
    with database.transaction("read") as connection:
        return list(connection.scalars(query))
