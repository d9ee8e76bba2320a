"""Decisions out of all tables, with all that belongs to them, a few at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, delete, select

from . import boxing, claiming
from .database import Database
from .schema import attempts, decisions, exposures, feedback, inbox, shadows, standing, states

PART = 500  # decisions removed at once; in between, others may write


class Removed(NamedTuple):
    """How many decisions were removed, how many that stood, how many that were for a person."""

    decisions: int
    standing: int
    inbox: int = 0


def forget(database: Database, subject: str) -> Removed:
    """Remove what was decided about *subject*, a keyed hash."""
    boxed = boxing.remove(database, inbox.c.subject == subject)
    removed = _remove(database, decisions.c.subject == subject)
    with database.transaction("remove") as connection:
        connection.execute(delete(exposures).where(exposures.c.subject == subject))
    stood = claiming.remove(database, standing.c.subject == subject)
    database.tidy()
    return Removed(removed, stood, boxed)


def prune(database: Database, before: float) -> Removed:
    """Remove what was decided before a time, and what came before it to decisions unknown."""
    boxed = boxing.remove(database, inbox.c.at < before)
    removed = _remove(database, decisions.c.at < before)
    for table in (shadows, feedback):
        alone = ~select(decisions.c.id).where(decisions.c.id == table.c.decision).exists()
        with database.transaction("remove") as connection:
            connection.execute(delete(table).where(table.c.at < before, alone))
    with database.transaction("remove") as connection:
        connection.execute(delete(exposures).where(exposures.c.at < before, ~_still_there()))
    stood = claiming.remove(database, standing.c.at < before)
    database.tidy()
    return Removed(removed, stood, boxed)


def _still_there() -> ColumnElement[bool]:
    """Whether a subject that was exposed has a later decision of the same split."""
    same = (
        decisions.c.subject == exposures.c.subject,
        decisions.c.point == exposures.c.point,
        decisions.c.experiment == exposures.c.experiment,
    )
    return select(decisions.c.id).where(*same).exists()


def _remove(database: Database, which: ColumnElement[bool]) -> int:
    removed = 0
    while True:
        with database.transaction("remove") as connection:
            found = connection.execute(
                select(decisions.c.id, decisions.c.state).where(which).limit(PART)
            ).all()
            _take_out(connection, [one.id for one in found], {one.state for one in found})
        removed += len(found)
        if len(found) < PART:
            return removed


def _take_out(connection: Connection, ids: Sequence[str], kept: set[str | None]) -> None:
    for table in (attempts, shadows, feedback):
        connection.execute(delete(table).where(_decision(table).in_(ids)))
    connection.execute(delete(decisions).where(decisions.c.id.in_(ids)))
    mentioned = select(decisions.c.id).where(decisions.c.state == states.c.id).exists()
    texts = [one for one in kept if one is not None]
    connection.execute(delete(states).where(states.c.id.in_(texts), ~mentioned))


def _decision(table: Table) -> ColumnElement[str]:
    return table.c.decision
