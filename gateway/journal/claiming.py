"""The rows of what stands: of two that claim the same call, the first one's stays."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from .database import Database
from .schema import standing


def find(database: Database, id: str) -> str | None:  # noqa: A002 - the column's name
    """Read the body of a row; None: there is none."""
    with database.transaction("read") as connection:
        return connection.scalar(select(standing.c.body).where(standing.c.id == id))


def claim(database: Database, row: dict[str, Any]) -> str:
    """Write *row* unless there is one of its id; give the body of the one that is there."""
    with database.transaction("stand") as connection:
        make = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        connection.execute(make(standing).values(**row).on_conflict_do_nothing())
        there = select(standing.c.body).where(standing.c.id == row["id"])
        return str(connection.scalar(there))


def remove(database: Database, which: ColumnElement[bool]) -> None:
    """Remove rows for good."""
    with database.transaction("remove") as connection:
        connection.execute(delete(standing).where(which))
