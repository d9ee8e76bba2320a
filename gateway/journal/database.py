"""
The connection to the journal's database: one engine a process, made at first use.

SQLite is opened in WAL mode, where readers never wait and writers wait for each other; every
transaction that writes begins with the lock, so that it cannot fail half-way for want of it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from sqlalchemy import URL, Connection, Engine, create_engine, event

from ..errors import SetupError
from ..forks import Lock
from .addresses import WHERE, Address
from .files import Identity, as_it_is, identity_of, made, writable
from .lines import Haste, Line, Lines
from .troubles import StoreDown, told

if TYPE_CHECKING:
    from .revisions import Tables

PATIENCE = 5.0  # seconds for another process's lock, and for a server to take the connection
SLOW = 30  # seconds for one batch; a server that needs longer is treated as down
OURS = 0x706F696E7473  # "points": PostgreSQL's advisory lock between writing and removing
Purpose: TypeAlias = Literal["read", "find", "write", "stand", "remove"]
READS: Final = ("read", "find")  # one that is found at once, or the database is down


class Database:
    """
    A database that is brought to the newest revision before its first use.

    Args:
        address: Where it is.
        only_reads: A SQLite file that this user may not write is read as it is.
        tables: Which are wanted in it; None: the journal's.

    Attributes:
        file: Where a SQLite journal is; None for a server.

    """

    def __init__(
        self, address: Address, *, only_reads: bool = False, tables: Tables | None = None
    ) -> None:
        self._address = address
        self._tables = tables
        self._only_reads = only_reads
        self._lock = Lock()
        self._open: _Open | None = None
        self._process = 0
        self.file = address.file

    def __repr__(self) -> str:
        return f"Database({self._address!r})"

    @property
    def missing(self) -> bool:
        """
        Whether it is a SQLite file that is not there yet; nothing is made by asking.

        Raises:
            SetupError: This user may not look.

        """
        try:
            return self.file is not None and not self.file.exists()
        except OSError as error:
            problem = f"its folder cannot be read ({error.strerror})"
            fix = "Let this user read and write it, or name another file"
            raise SetupError.of(WHERE, problem, fix) from None

    def has_tables(self) -> bool:
        """
        Whether its tables are there, of whichever version; nothing is made by asking.

        Raises:
            StoreDown: The database cannot be reached.
            SetupError: It is no database, or another program's.

        """
        if self.missing:
            return False
        from .revisions import JOURNAL, only_ours, revision

        tables = self._tables or JOURNAL
        reads = self._address if self.file is None else as_it_is(self._address, self.file)
        engine = _engine(reads) if self.file is None else _sqlite(reads)
        try:
            with told(), _begun(engine, "find") as connection:
                at = revision(connection, tables)
                only_ours(connection, at, tables)
        finally:
            engine.dispose()
        return at is not None

    @contextmanager
    def transaction(self, purpose: Purpose) -> Generator[Connection]:
        """
        Lend a connection; what was done is kept if nothing is raised, and undone otherwise.

        Raises:
            StoreDown: The database cannot be reached, or not in time; or the file was taken
                away meanwhile, and what was written with it.
            SetupError: It cannot be used as a journal.

        """
        with told():
            there = self._ready()
            with _begun(there.engine, purpose) as connection:
                yield connection
            if purpose not in READS and not self._is_current(there):
                raise StoreDown("its file was taken away")

    @contextmanager
    def line(self, haste: Haste, *, apart: bool = False) -> Generator[Line]:
        """
        Lend a connection as `transaction` does, but one that is kept for the next time.

        Args:
            haste: Whether it may write.
            apart: One that nobody used before, and nobody will again.

        Raises:
            StoreDown: As there.
            SetupError: As there.

        """
        with told():
            there = self._ready()
            with there.lines.lend(haste, apart=apart) as line:
                yield line
            if haste == "write" and not self._is_current(there):
                raise StoreDown("its file was taken away")

    def tidy(self) -> None:
        """Write what was removed out of SQLite's log too, as far as nobody else is reading."""
        if self.file is not None:
            # for no purpose, which is in no transaction
            with told(), self._ready().engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all connections; a later use opens new ones."""
        with self._lock:
            there, self._open = self._open, None
        if there is not None:
            ours = self._process == os.getpid()
            there.lines.close() if ours else there.lines.abandon()
            there.engine.dispose(close=ours)

    def _ready(self) -> _Open:
        """
        Give this process's engine, for the file that is there now.

        The parent's connections are of no use after a fork; those to a file that was deleted,
        or moved away for another, write into nowhere.
        """
        there = self._open
        if there is not None and self._is_current(there):
            return there
        with self._lock:
            if self._open is None or not self._is_current(self._open):
                self.close()
                self._open = self._opened()
                self._process = os.getpid()
            return self._open

    def _opened(self) -> _Open:
        if self.file is None:
            there = _opened(_engine(self._address), None)
        elif self._only_reads and not writable(self.file):
            there = _opened(_sqlite(as_it_is(self._address, self.file)), identity_of(self.file))
        else:
            identity = made(self.file)
            there = _opened(_sqlite(self._address), identity)
        try:
            _up_to_date(there.engine, self._tables)
        except BaseException:
            there.engine.dispose()
            raise
        return there

    def _is_current(self, there: _Open) -> bool:
        """Whether it is this process's, and of the file that is there now."""
        ours = self._process == os.getpid()
        return ours and (self.file is None or identity_of(self.file) == there.identity)


class _Open(NamedTuple):
    engine: Engine
    identity: Identity | None
    lines: Lines


def _opened(engine: Engine, identity: Identity | None) -> _Open:
    return _Open(engine, identity, Lines(engine, _lock("write")))


def _up_to_date(engine: Engine, tables: Tables | None) -> None:
    """Bring the tables to the newest revision; Alembic is not even loaded where they are."""
    from .revisions import JOURNAL, is_newest, upgrade

    with _begun(engine, "find") as connection:
        if is_newest(connection, tables or JOURNAL):
            return
    with _begun(engine, "remove") as connection:  # alone: two processes may start at once
        upgrade(connection, tables=tables or JOURNAL)


@contextmanager
def _begun(engine: Engine, purpose: Purpose) -> Generator[Connection]:
    with engine.execution_options(pointsman=purpose).begin() as connection:
        if engine.dialect.name == "postgresql" and purpose != "read":
            connection.exec_driver_sql(_lock(purpose))
        yield connection


def _lock(purpose: Purpose) -> str:
    """Let many write at once, and keep removing apart: it must see every use of a text."""
    if purpose == "remove":
        return f"SELECT pg_advisory_xact_lock({OURS})"
    slow = SLOW if purpose == "write" else PATIENCE
    bound = (
        f"SET LOCAL lock_timeout = {1000 * PATIENCE:.0f}; "
        f"SET LOCAL statement_timeout = {1000 * slow:.0f}"
    )
    if purpose == "find":
        return bound
    return f"{bound}; SELECT pg_advisory_xact_lock_shared({OURS})"


def _engine(address: Address) -> Engine:
    wanted: dict[str, Any] = {
        "connect_timeout": int(PATIENCE),
        "tcp_user_timeout": 1000 * SLOW,  # milliseconds
        "application_name": "pointsman",
    }
    given = {name: value for name, value in wanted.items() if name not in address.query}
    # the driver tells lost connections besides raising them; a host that wants that sets a handler
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    return create_engine(
        _url(address), connect_args=given, hide_parameters=True, pool_pre_ping=True
    )


def _sqlite(address: Address) -> Engine:
    given = {"timeout": PATIENCE}
    engine = create_engine(_url(address), connect_args=given, hide_parameters=True)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _url(address: Address) -> URL:
    return URL.create(
        address.driver,
        address.username,
        address.password,
        address.host,
        address.port,
        address.database,
        {name: one[0] if len(one) == 1 else one for name, one in address.query.items()},
    )


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's own
    connection.isolation_level = None  # we begin transactions ourselves
    cursor = connection.cursor()
    with suppress(connection.OperationalError):  # another process is switching it just now
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA secure_delete=ON")  # what is removed is overwritten
    cursor.close()


def _begin(connection: Connection) -> None:
    purpose = connection.get_execution_options().get("pointsman")
    if purpose == "stand":  # a power cut must not take what the host has acted upon
        connection.exec_driver_sql("PRAGMA synchronous=FULL")
    if purpose is not None:
        connection.exec_driver_sql("BEGIN" if purpose in READS else "BEGIN IMMEDIATE")
