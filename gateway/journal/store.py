"""
The database behind the journal: SQLite on one host, PostgreSQL for many.

What is written is immutable and known by its id. Where the database is, and what is in it, is
in no message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from .addresses import address
from .rows import Row, Trail
from .troubles import StoreDown

if TYPE_CHECKING:
    from .boxing import Box
    from .database import Database
    from .removing import Removed

__all__ = ["FirstExposure", "Store", "StoreDown"]


class FirstExposure(msgspec.Struct, frozen=True):
    """
    The first time that a split decided for a subject.

    Attributes:
        variant: The arm: the provider that was assigned.
        subject: Keyed hash of the subject.
        at: Seconds since the epoch.

    """

    variant: str
    subject: str
    at: float


class Store:
    """
    Records, to be written in batches and read in streams.

    Safe for several threads, and for several processes. The tables are made at first use, or
    brought to the newest revision.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def __repr__(self) -> str:
        return f"Store({self._database!r})"

    @classmethod
    def open(cls, url: str) -> Store:
        """
        Say where the records are; the connection is made at first use.

        Args:
            url: `sqlite:///path`, relative to the current folder, `sqlite:////absolute/path`,
                or `postgresql://user:password@host/name`.

        Raises:
            SetupError: The URL is malformed, of an unknown kind, or its library is not
                installed. At first use: a file that is no database or that a later version
                made, a folder that cannot be made.

        """
        checked = address(url)
        from .database import Database

        return cls(Database(checked))

    @property
    def missing(self) -> bool:
        """Whether it is a SQLite file that is not there yet; nothing is made by asking."""
        return self._database.missing

    def write(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """
        Write *rows* in one transaction; those that are there already are left as they are.

        Returns:
            Those that no database can hold (an id of more than 64 characters, a value that is
            no JSON); all others are written.

        Raises:
            StoreDown: The database cannot be reached, or is locked or full; nothing was
                written. Or its file was taken away: what was written went with it.

        """
        from . import inserting

        return inserting.write(self._database, rows)

    def trails(
        self,
        *,
        point: str | None = None,
        since: float | None = None,
        until: float | None = None,
        ids: Sequence[str] | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[Trail]:
        """
        Give decisions by time, each with its shadows and feedback, a few at a time.

        Args:
            point: Of this point only; absent: of all.
            since: From this time on, in seconds since the epoch.
            until: Before this time.
            ids: Only these.
            newest_first: The latest decision first.
            limit: At most so many.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import querying

        only = None if ids is None else tuple(ids)
        wanted = querying.Wanted(point, since, until, only, newest_first)
        return querying.trails(self._database, wanted, limit)

    def rows(self) -> Iterator[Row]:
        """
        Give everything by time: decisions, then shadows, then feedback.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import querying

        return querying.rows(self._database)

    def exposures(self, point: str, experiment: str) -> Iterator[FirstExposure]:
        """
        Give the first exposure of each subject to a split, in no order.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import querying

        return (FirstExposure(*one) for one in querying.exposed(self._database, point, experiment))

    def shadowed(self, point: str, provider: str) -> set[str]:
        """
        Name the decisions of *point* that *provider* has answered in the background already.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import querying

        return querying.shadowed(self._database, point, provider)

    def points(self) -> Mapping[str, int]:
        """
        Count the decisions of each point, in the order of their names.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import querying

        return querying.points(self._database)

    def beginning(self, prefix: str, limit: int = 2) -> list[str]:
        """
        Name the decisions whose id begins with *prefix*, at most *limit* of them.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import querying

        return querying.beginning(self._database, prefix, limit)

    def about(self, subject: str) -> list[str]:
        """
        Name the decisions about a subject, a keyed hash, in no order.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import querying

        return querying.about(self._database, subject)

    def standing(self, id: str) -> str | None:  # noqa: A002 - the column's name
        """
        Give the JSON of how a decision ended that was made once; None: there is none.

        Args:
            id: Keyed hash of the call that it was made for.

        Raises:
            StoreDown: The database cannot be reached.

        """
        from . import claiming

        return claiming.find(self._database, id)

    def stand(self, row: dict[str, Any], over: str | None = None) -> str:
        """
        Write how such a decision ended, unless that is known already; give what is there then.

        Args:
            row: All columns.
            over: What it takes the place of, if that is still there.

        Raises:
            StoreDown: The database cannot be reached, or is locked or full.

        """
        from . import claiming

        return claiming.claim(self._database, row, over)

    def inbox(self) -> Box:
        """Give what waits for a person, and what was said to it."""
        from . import boxing

        return boxing.Box(self._database)

    def forget(self, subject: str) -> Removed:
        """
        Remove the decisions about a subject, with all that belongs to them.

        Args:
            subject: Keyed hash of the subject.

        Returns:
            How many decisions were removed, that stood, and that were for a person.

        Raises:
            StoreDown: The database cannot be reached; what was removed so far stays removed.

        """
        from . import removing

        return removing.forget(self._database, subject)

    def prune(self, before: float) -> Removed:
        """
        Remove the decisions made before a time, with all that belongs to them.

        Args:
            before: Seconds since the epoch.

        Returns:
            How many decisions were removed, that stood, and that were for a person.

        Raises:
            StoreDown: The database cannot be reached; what was removed so far stays removed.

        """
        from . import removing

        return removing.prune(self._database, before)

    def close(self) -> None:
        """Close all connections; a later use opens new ones."""
        self._database.close()
