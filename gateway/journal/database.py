"""
The connection to the journal's database: one engine a process, made at first use.

SQLite is opened in WAL mode, where readers never wait and writers wait for each other; every
transaction that writes begins with the lock, so that it cannot fail half-way for want of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, Engine

from ..errors import SetupError
from ..forks import Lock
from .addresses import WHERE, Address
from .engines import READS, Purpose, of_server, of_sqlite
from .files import Identity, as_it_is, identity_of, made, state_of, writable
from .forking import Resting
from .lines import Haste, Line, Lines
from .troubles import FORKED, StoreDown, told

if TYPE_CHECKING:
    from .revisions import Tables

PATIENCE = 5.0  # seconds for another process's lock, and for a server to take the connection
SLOW = 30  # seconds for one batch; a server that needs longer is treated as down
OURS = 0x706F696E7473  # "points": PostgreSQL's advisory lock between writing and removing

_inherited: set[Identity] = set()  # files that were in use when this process was forked


class Database(Resting):
    """
    A database that is brought to the newest revision before its first use.

    A SQLite file is closed for a fork, which waits a second for what other threads do with it.
    One that is in use all the same is of no use to the child: whatever it does raises StoreDown.

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
        super().__init__()
        self._address = address
        self._tables = tables
        self._where = tables.where if tables else WHERE
        self._only_reads = only_reads
        self._lock = Lock()
        self._open: _Open | None = None
        self._process = 0
        self.file = address.file
        if self.file is not None:
            self.watched()

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
            raise SetupError.of(self._where, problem, fix) from None

    def has_tables(self) -> bool:
        """
        Whether its tables are there, of whichever version; nothing is made by asking.

        Raises:
            StoreDown: The database cannot be reached.
            SetupError: It is no database, or another program's.

        """
        if self.missing:
            return False
        with told(self._where), self.using():
            return self._has_tables()

    def _has_tables(self) -> bool:
        from .revisions import JOURNAL, only_ours, revision

        tables = self._tables or JOURNAL
        engine = self._server() if self.file is None else self._as_it_is(self.file).engine
        try:
            with _begun(engine, "find") as connection:
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
        with told(self._where), self.using():
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
        with told(self._where), self.using():
            there = self._ready()
            with there.lines.lend(haste, apart=apart) as line:
                yield line
            if haste == "write" and not self._is_current(there):
                raise StoreDown("its file was taken away")

    def tidy(self, *, patient: bool = True) -> bool:
        """
        Write what was removed out of SQLite's log too; say whether nobody's reading kept it there.

        Args:
            patient: Wait a while for those who read.

        """
        if self.file is None:
            return True
        # for no purpose, which is in no transaction
        with told(self._where), self.using(), self._ready().engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={1000 * PATIENCE * patient:.0f}")
            busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
            connection.exec_driver_sql(f"PRAGMA busy_timeout={1000 * PATIENCE:.0f}")
        return not busy

    def close(self) -> None:
        """Close all connections; a later use opens new ones."""
        with self.using():
            self.rest()

    def rest(self) -> None:
        """Close all connections."""
        with self._lock:
            there, self._open = self._open, None
        if there is not None:
            ours = self._process == os.getpid()
            there.lines.close() if ours else there.lines.abandon()
            there.engine.dispose(close=ours)

    def inherited(self) -> None:
        """Leave the parent's connections alone, in its child, and the file that they are to."""
        there = self._open
        if self.file is not None and (there is not None or self.uses):
            identity = there.identity if there is not None else identity_of(self.file)
            _inherited.add((identity or ())[:2])
            self.rest()

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
                if self._open is not None and self._process != os.getpid():
                    self.inherited()  # also where the system forked without Python's knowledge
                self.rest()
                self._open = self._opened()
                self._process = os.getpid()
            return self._open

    def _opened(self) -> _Open:
        if self.file is None:
            there = _opened(self._server(), None)
        elif self._only_reads and not self.missing and not writable(self.file):
            there = self._as_it_is(self.file)
        else:
            identity = _ours(made(self.file, self._where))
            there = _opened(of_sqlite(self._address, patience=PATIENCE), identity)
        try:
            _up_to_date(there.engine, self._tables)
        except BaseException:
            there.engine.dispose()
            raise
        return there

    def _server(self) -> Engine:
        return of_server(self._address, patience=PATIENCE, slow=SLOW)

    def _as_it_is(self, file: Path) -> _Open:
        state = _ours(state_of(file))
        engine = of_sqlite(as_it_is(self._address, file), patience=PATIENCE)
        return _opened(engine, state, state_of)

    def _is_current(self, there: _Open) -> bool:
        """Whether it is this process's, and of the file that is there now."""
        ours = self._process == os.getpid()
        return ours and (self.file is None or there.look(self.file) == there.identity)


class _Open(NamedTuple):
    engine: Engine
    identity: Identity | None
    lines: Lines
    look: Callable[[Path], Identity | None]


def _opened(
    engine: Engine,
    identity: Identity | None,
    look: Callable[[Path], Identity | None] = identity_of,
) -> _Open:
    return _Open(engine, identity, Lines(engine, _lock("write"), PATIENCE), look)


def _ours(identity: Identity | None) -> Identity | None:
    """
    Give a file that this process may open.

    Raises:
        StoreDown: SQLite has it open in what was inherited of the parent.

    """
    if identity is not None and identity[:2] in _inherited:
        raise StoreDown(*FORKED)
    return identity


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
