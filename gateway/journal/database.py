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
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

import msgspec
from sqlalchemy import URL, Connection, Engine, create_engine, event

from ..errors import SetupError
from ..forks import Lock
from .addresses import WHERE, Address
from .troubles import StoreDown, told

PATIENCE = 5.0  # seconds for another process's lock, and for a server to take the connection
SLOW = 30  # seconds for one batch; a server that needs longer is treated as down
OURS = 0x706F696E7473  # "points": PostgreSQL's advisory lock between writing and removing
Purpose: TypeAlias = Literal["read", "find", "write", "stand", "remove"]
READS: Final = ("read", "find")  # one that is found at once, or the database is down
Identity: TypeAlias = tuple[int, int]
"""A file's device and number on it."""


class Database:
    """
    A database that is brought to the newest revision before its first use.

    Args:
        address: Where it is.
        only_reads: A SQLite file that this user may not write is read as it is.

    Attributes:
        file: Where a SQLite journal is; None for a server.

    """

    def __init__(self, address: Address, *, only_reads: bool = False) -> None:
        self._address = address
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
        Whether the journal's tables are there, of whichever version; nothing is made by asking.

        Raises:
            StoreDown: The database cannot be reached.
            SetupError: It is no database, or another program's.

        """
        if self.missing:
            return False
        from .revisions import only_ours, revision

        reads = self._address if self.file is None else _as_it_is(self._address, self.file)
        engine = _engine(reads) if self.file is None else _sqlite(reads)
        try:
            with told(), _begun(engine, "find") as connection:
                at = revision(connection)
                only_ours(connection, at)
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
            there.engine.dispose(close=self._process == os.getpid())

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
            there = _Open(_engine(self._address), None)
        elif self._only_reads and not _writable(self.file):
            there = _Open(_sqlite(_as_it_is(self._address, self.file)), _identity(self.file))
        else:
            identity = _made(self.file)
            there = _Open(_sqlite(self._address), identity)
        try:
            _up_to_date(there.engine)
        except BaseException:
            there.engine.dispose()
            raise
        return there

    def _is_current(self, there: _Open) -> bool:
        """Whether it is this process's, and of the file that is there now."""
        ours = self._process == os.getpid()
        return ours and (self.file is None or _identity(self.file) == there.identity)


class _Open(NamedTuple):
    engine: Engine
    identity: Identity | None


def _up_to_date(engine: Engine) -> None:
    """Bring the tables to the newest revision; Alembic is not even loaded where they are."""
    from .revisions import is_newest, upgrade

    with _begun(engine, "find") as connection:
        if is_newest(connection):
            return
    with _begun(engine, "remove") as connection:  # alone: two processes may start at once
        upgrade(connection)


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


def _made(file: Path) -> Identity | None:
    """Have a file there, empty if need be, so that it is known which one is opened."""
    _make_folder(file)
    with suppress(OSError):  # it is there, or SQLite will say what is wrong
        # only a new one is touched: closing it takes SQLite's locks off a file that others use
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    return _identity(file)


def _writable(file: Path) -> bool:
    """Whether SQLite can write: into the file, and its log beside it."""
    return all(os.access(one, os.W_OK) for one in (file, file.parent))


def _as_it_is(address: Address, file: Path) -> Address:
    """Read *file* without making anything beside it; its log, if there is one, is heeded."""
    query = {"mode": ("ro",), "uri": ("true",)}
    if not file.with_name(f"{file.name}-wal").exists():
        query["immutable"] = ("1",)  # else SQLite wants to make a log to read without one
    return msgspec.structs.replace(address, database=f"file:{quote(str(file))}", query=query)


def _identity(file: Path) -> Identity | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _make_folder(file: Path) -> None:
    fix = "Name a file in a folder that can be written"
    if file.is_dir():
        raise SetupError.of(WHERE, "it names a folder", "Name a file in it")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"its folder cannot be made ({error.strerror})"
        raise SetupError.of(WHERE, problem, fix) from None
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise SetupError.of(WHERE, "the file cannot be written", fix)


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
