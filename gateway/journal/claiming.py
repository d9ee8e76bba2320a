"""The rows of what stands: of two that claim the same call, the first one's stays."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from .database import Database
from .schema import standing


def find(database: Database, id: str) -> str | None:  # noqa: A002 - the column's name
    """Read the body of a row; None: there is none."""
    with database.transaction("find") as connection:
        return connection.scalar(select(standing.c.body).where(standing.c.id == id))


def claim(database: Database, row: dict[str, Any], over: str | None = None) -> str:
    """
    Write *row* unless there is one of its id; give the body of the one that is there.

    Args:
        database: Where.
        row: What.
        over: The body of one that it may take the place of.

    """
    same = standing.c.id == row["id"]
    with database.transaction("stand") as connection:
        make = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        connection.execute(make(standing).values(**row).on_conflict_do_nothing())
        if over is not None:
            connection.execute(update(standing).where(same, standing.c.body == over).values(**row))
        return str(connection.scalar(select(standing.c.body).where(same)))


def remove(database: Database, which: ColumnElement[bool]) -> int:
    """Remove rows for good; give how many there were."""
    with database.transaction("remove") as connection:
        return connection.execute(delete(standing).where(which)).rowcount
