"""One replay of a provider at a time into one journal: two would pay for every answer twice."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ...errors import SetupError
from ...journal.addresses import address
from ...journal.database import Database
from ...journal.troubles import StoreDown
from ...journaling import JOURNAL

if TYPE_CHECKING:
    from sqlalchemy import Connection

PRIMARY = 0xFF  # the part of SQLite's error codes that does not go into detail
FIX = "Wait for it, or end it (Ctrl-C); then the same command asks about what is left"


@contextmanager
def alone(url: str, provider: str) -> Generator[None]:
    """
    Keep other replays of *provider* into the journal at *url* away.

    The lock is the operating system's, or the database server's: it ends with the process that
    holds it, however that ends. With a server it also ends with the connection.

    Raises:
        SetupError: Another one is running, or the journal cannot be used.
        StoreDown: The database cannot be reached.

    """
    database = Database(address(url))
    with contextlib.closing(database):
        if database.file is None:
            with _on_server(database, provider):
                yield
        else:
            with database.transaction("read"):  # makes its folder, or says what is wrong with it
                pass
            with _beside(database.file, provider):
                yield


@contextmanager
def _beside(journal: Path, provider: str) -> Generator[None]:
    """Hold an empty database beside the journal: SQLite locks files wherever it runs."""
    real = journal.resolve()
    file = real.with_name(f"{real.name}.replay-{quote(provider, safe='')}")
    with contextlib.ExitStack() as held:
        try:
            lock = sqlite3.connect(file, timeout=0, isolation_level=None)
            held.enter_context(contextlib.closing(lock))
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & PRIMARY == sqlite3.SQLITE_BUSY:
                raise _running(provider) from None
            problem = "no lock can be made beside its file"
            raise SetupError.of(JOURNAL, problem, "Let its folder be written") from None
        yield  # nobody deletes the file: who had it open already would hold a lock on nothing


@contextmanager
def _on_server(database: Database, provider: str) -> Generator[None]:
    """
    Hold an advisory lock in a transaction that does nothing else.

    It has read no row and writes none, so it keeps no old versions alive; and a pool between
    here and the server leaves a transaction its connection.
    """
    with contextlib.ExitStack() as held:
        connection = held.enter_context(database.transaction("read"))
        if not _taken(connection, provider):
            raise _running(provider)
        ending = held.pop_all()
    try:
        yield
    finally:
        with contextlib.suppress(StoreDown):  # the connection was lost meanwhile, and the lock
            ending.close()


def _taken(connection: Connection, provider: str) -> bool:
    connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
    schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
    named = hashlib.sha256(f"pointsman replay {schema} {provider}".encode()).digest()
    number = int.from_bytes(named[:8], "big", signed=True)
    taken = connection.exec_driver_sql(f"SELECT pg_try_advisory_xact_lock({number})")
    return bool(taken.scalar_one())


def _running(provider: str) -> SetupError:
    problem = f"another replay of {provider} into this journal is running"
    return SetupError.of("--provider", problem, FIX)
