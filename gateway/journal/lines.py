"""
Connections whose statements go straight to the driver, for what is done all the time.

SQLAlchemy's own beginning and ending of a transaction takes longer than SQLite's writing of a
row. Here a connection is kept, and a transaction is a word to the driver.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Engine

from .troubles import ALL_LENT, FORKED, StoreDown, is_locked

Haste: TypeAlias = Literal["read", "write"]
SQLITE: dict[Haste, str] = {"read": "BEGIN", "write": "BEGIN IMMEDIATE"}
PAGES = 4000  # of SQLite's log, before they are put into the file: 16 MB, each page once
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ"

MOST = 64  # connections that are lent at once, by one process to one database
KEPT = 16  # connections that wait for their next use

_abandoned: list[Lines | Line] = []  # a parent's, in a forked child: closing would disturb it


class Line:
    """
    A connection in a transaction, as the driver has it.

    Attributes:
        connection: The same as SQLAlchemy has it, for statements that are built.
        is_server: Whether it is PostgreSQL's.

    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.is_server = connection.dialect.name == "postgresql"
        self._here: Any = connection.connection.driver_connection
        self._process = os.getpid()

    @property
    def _driver(self) -> Any:  # noqa: ANN401 - of either driver
        """
        The driver's connection.

        Raises:
            StoreDown: The process was forked meanwhile: it is the parent's.

        """
        if self._process != os.getpid():
            raise StoreDown(*FORKED)
        return self._here

    def execute(self, statement: str, given: Sequence[object] = ()) -> Any:  # noqa: ANN401 - a cursor of either driver
        """Run *statement*, in which `?` stands for what is *given*; give its cursor."""
        if self.is_server:
            return self._driver.execute(_marked(statement), given)
        return self._driver.execute(statement, given)

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run *statement* once for each of *rows*."""
        if self.is_server:
            with self._driver.cursor() as cursor:
                cursor.executemany(_marked(statement), rows)
        else:
            self._driver.executemany(statement, rows)

    def begin(self, lock: str) -> None:
        """Begin, for a server by several statements at once, which cannot be prepared."""
        if self.is_server:
            self._driver.execute(lock, prepare=False)
        else:
            self._driver.execute(lock)

    def end(self, word: Literal["COMMIT", "ROLLBACK"]) -> None:
        """Keep what was done, or undo it."""
        self._driver.execute(word)
        if self.connection.in_transaction():  # in SQLAlchemy's eyes, which began nothing
            self.connection.rollback()

    def close(self) -> None:
        """Give the connection up, whatever state it is in; a parent's is left as it is."""
        if self._process != os.getpid():
            _abandoned.append(self)
            return
        with suppress(Exception):
            self.connection.invalidate()
        with suppress(Exception):
            self.connection.close()


class Lines:
    """
    The lines to one database that nobody uses just now.

    Args:
        engine: What makes connections.
        lock: What a server is told when a transaction that writes begins.
        patience: Seconds to wait for one where as many as may be are lent.

    """

    def __init__(self, engine: Engine, lock: str, patience: float) -> None:
        self._engine = engine
        self._server = engine.dialect.name == "postgresql"
        self._lock = lock
        self._idle: list[Line] = []
        self._lent = 0
        self._patience = patience
        self._closed = False
        self._one = threading.Condition()

    @contextmanager
    def lend(self, haste: Haste, *, apart: bool = False) -> Generator[Line]:
        """
        Lend one in a transaction: kept if nothing is raised, undone otherwise.

        Args:
            haste: Whether it may write.
            apart: One that nobody used before, and nobody will again.

        Raises:
            StoreDown: Too many are lent, and none came back in time.

        """
        line = self._begun(haste, apart=apart)
        try:
            yield line
            line.end("COMMIT")
        except BaseException:
            try:
                line.end("ROLLBACK")
            except Exception:  # noqa: BLE001 - of either driver: it is broken, and of no more use
                line.close()
                self._back(None)
            else:
                self._back(line, apart=apart)
            raise
        self._back(line, apart=apart)

    def close(self) -> None:
        """Close those that nobody uses, and each of the others when it comes back."""
        with self._one:
            self._closed = True
            idle, self._idle = self._idle, []
        for line in idle:
            line.close()

    def abandon(self) -> None:
        """Leave them as they are: after a fork they are the parent's."""
        _abandoned.append(self)

    def _taken(self, *, apart: bool) -> Line | None:
        """Take one that is idle; None: one more may be made."""
        with self._one:
            if not self._one.wait_for(lambda: self._lent < MOST, self._patience):
                raise StoreDown(*ALL_LENT)
            self._lent += 1
            return self._idle.pop() if self._idle and not apart else None

    def _begun(self, haste: Haste, *, apart: bool) -> Line:
        idle = self._taken(apart=apart)
        try:
            return self._again(idle, haste) or self._new(haste)
        except BaseException:
            self._back(None)
            raise

    def _again(self, line: Line | None, haste: Haste) -> Line | None:
        """Begin on one that was idle; None: it was gone meanwhile."""
        if line is None:
            return None
        try:
            line.begin(self._beginning(haste))
        except Exception as error:
            line.close()
            if is_locked(error):  # by others, for as long as one waits: another line will not help
                raise
            return None
        return line

    def _new(self, haste: Haste) -> Line:
        line = self._made()
        try:
            line.begin(self._beginning(haste))
        except BaseException:
            line.close()
            raise
        return line

    def _made(self) -> Line:
        connection = self._engine.connect()
        if self._server:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        line = Line(connection)
        if not self._server:
            line.execute(f"PRAGMA wal_autocheckpoint={PAGES}")
        return line

    def _beginning(self, haste: Haste) -> str:
        if not self._server:
            return SQLITE[haste]
        return SNAPSHOT if haste == "read" else f"BEGIN; {self._lock}"

    def _back(self, line: Line | None, *, apart: bool = False) -> None:
        """Have one back; None: it was given up."""
        with self._one:
            self._lent -= 1
            self._one.notify()
            if line is not None and not (self._closed or apart or len(self._idle) >= KEPT):
                self._idle.append(line)
                return
        if line is not None:
            line.close()


@lru_cache(256)
def _marked(statement: str) -> str:
    return statement.replace("?", "%s")
