"""
The table of the bearer keys, in the journal's database.

A row is made once and changed twice at most, when its key is revoked and when it is used; it
is never removed, so that a log's key id can always be told.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Row, Select, func, insert, or_, select, update

from ..errors import SetupError
from ..journal.addresses import address
from ..journal.database import Database
from ..journal.schema import access_keys

SCOPES = ("decide", "feedback", "admin")
Stamp: TypeAlias = tuple[int, int]
"""Keys that were ever made, and how many of them were revoked: both only grow."""

PERIODS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}


class Rate(msgspec.Struct, frozen=True):
    """
    How often a key may ask.

    Attributes:
        count: Requests; so many may also come at once.
        seconds: In which the count is full again.

    """

    count: int
    seconds: float

    def __str__(self) -> str:
        named = {seconds: name for name, seconds in PERIODS.items()}
        return f"{self.count}/{named.get(self.seconds) or f'{self.seconds:g} s'}"


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """
    A bearer key, without its secret.

    Attributes:
        id: Its public part.
        name: Who it was made for.
        digest: Of the whole key, in hexadecimal.
        scopes: What it may do.
        rate: How often; None: as often as it likes.
        budget: US dollars that it may cost in a day, UTC; None: any.
        created: Seconds since the epoch, as are all times here.
        expires: When it ends by itself; None: never.
        revoked: When somebody ended it; None: nobody did.
        used: The hour in which it was last used; None: never yet.

    """

    id: str
    name: str
    digest: str
    scopes: tuple[str, ...]
    rate: Rate | None = None
    budget: float | None = None
    created: float = 0.0
    expires: float | None = None
    revoked: float | None = None
    used: float | None = None

    def __repr__(self) -> str:
        return f"Key({self.id!r})"  # nobody needs its digest

    def named(self, name: str) -> bool:
        """Whether people would take *name* for its own: capitals make no difference."""
        return self.name.casefold() == name.casefold()

    def in_force(self, now: float) -> bool:
        """Whether it opens anything."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class Keyring:
    """
    The keys of one database; safe for several threads and processes.

    The tables are made at first use, or brought to the newest revision. Every method raises
    `StoreDown` where the database cannot be reached, and `SetupError` where it is none.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def __repr__(self) -> str:
        return f"Keyring({self._database!r})"

    @classmethod
    def open(cls, url: str, *, only_reads: bool = False) -> Keyring:
        """
        Say where the keys are; the connection is made at first use.

        Args:
            url: Of the journal.
            only_reads: A file that this user may not write is read as it is.

        Raises:
            SetupError: The URL is malformed, of an unknown kind, or its library is missing.

        """
        return cls(Database(address(url), only_reads=only_reads))

    @property
    def missing(self) -> bool:
        """Whether it is a SQLite file that is not there yet; nothing is made by asking."""
        return self._database.missing

    def stamp(self) -> Stamp:
        """Give what differs whenever a key was made or revoked."""
        counted = select(func.count(), func.count(access_keys.c.revoked)).select_from(access_keys)
        with self._database.transaction("read") as connection:
            made, revoked = connection.execute(counted).one()
        return made, revoked

    def all(self) -> list[Key]:
        """Give every key that was ever made, the oldest first."""
        with self._database.transaction("read") as connection:
            return [_key(row) for row in connection.execute(_oldest_first())]

    def add(self, key: Key) -> None:
        """
        Keep a new key.

        Raises:
            SetupError: A key of this name, in capitals or not, is in force.

        """
        with self._database.transaction("remove") as connection:  # alone: names are looked up
            there = [_key(row) for row in connection.execute(_oldest_first())]
            if any(one.named(key.name) and one.in_force(key.created) for one in there):
                problem = f"a key named {key.name!r} is in force"
                raise SetupError.of("NAME", problem, "Choose another name, or revoke that one")
            connection.execute(insert(access_keys).values(**_columns(key)))

    def revoke(self, id_: str) -> None:
        """End a key now; one that was revoked before stays so."""
        table = access_keys
        ended = update(table).where(table.c.id == id_, table.c.revoked.is_(None))
        with self._database.transaction("write") as connection:
            connection.execute(ended.values(revoked=time.time()))

    def used(self, ids: Collection[str], hour: float) -> None:
        """Note that keys were used in an hour, by the time of its beginning."""
        table = access_keys
        before = or_(table.c.used.is_(None), table.c.used < hour)
        noted = update(table).where(table.c.id.in_(ids), before)
        with self._database.transaction("write") as connection:
            connection.execute(noted.values(used=hour))

    def close(self) -> None:
        """Close all connections; a later use opens new ones."""
        self._database.close()


def _oldest_first() -> Select[Any]:
    return select(access_keys).order_by(access_keys.c.created, access_keys.c.id)


def _columns(key: Key) -> dict[str, object]:
    kept: dict[str, object] = msgspec.structs.asdict(key)
    rate = key.rate
    limits = {
        "rate": None if rate is None else rate.count,
        "rate_seconds": None if rate is None else rate.seconds,
        "budget_usd": kept.pop("budget"),
    }
    return {**kept, "scopes": " ".join(key.scopes), **limits}


def _key(row: Row[Any]) -> Key:
    rate = None if row.rate is None else Rate(row.rate, row.rate_seconds)
    return Key(
        id=row.id,
        name=row.name,
        digest=row.digest,
        scopes=tuple(row.scopes.split()),
        rate=rate,
        budget=row.budget_usd,
        created=row.created,
        expires=row.expires,
        revoked=row.revoked,
        used=row.used,
    )
