"""From the spool into the database: in batches, as often as it takes, on a thread of its own."""

from __future__ import annotations

import contextlib
import math
import threading
import time

from ..errors import SetupError
from .content import Say
from .spool import Batch, Position, Spool
from .store import Store, StoreDown

LINGER = 0.1  # seconds in which rows gather: while few come, ten transactions a second at most
PLENTY = 500  # rows that need not wait for more: a whole batch
PAUSES = (0.1, 10.0)  # seconds until the database is tried again, doubled from the first on
ADOPT = 10.0  # seconds between looks for what other processes left


class Mark:
    """Somebody who waits until all that was put before is in the database."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._kept = False
        self._upto: Position | None = None

    def wait(self, seconds: float | None) -> bool:
        """Wait; False if the time ran out or the database is down."""
        return self._done.wait(seconds) and self._kept

    def begin(self, position: Position) -> None:
        """Say what is waited for: what is in the spool now; once only."""
        if self._upto is None:
            self._upto = position

    @property
    def reached(self) -> bool:
        """Whether the database has it."""
        return self._upto is not None and all(one.loaded >= size for one, size in self._upto)

    def end(self, *, kept: bool) -> None:
        """Wait no longer."""
        self._kept = kept
        self._done.set()


class Loader:
    """
    Writes what is in the spool into the database.

    Args:
        spool: Where the rows are.
        url: Where they go; opened at first use.
        say: Tells events.

    """

    def __init__(self, spool: Spool, url: str, say: Say) -> None:
        self._spool = spool
        self._url = url
        self._say = say
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._store: Store | None = None
        self._work = threading.Event()
        self._hurry = threading.Event()
        self._until: float | None = None
        self._coming: list[Mark] = []
        self._marks: list[Mark] = []
        self._looked = -math.inf
        self._more = False
        self._down: float | None = None
        self._pause = 0.0
        self._over = threading.Event()
        self._left = 0

    def store(self) -> Store:
        """
        Give the database.

        Raises:
            SetupError: Its address or its library is at fault.

        """
        with self._lock:
            if self._store is None:
                self._store = Store.open(self._url)
            return self._store

    @property
    def down(self) -> bool:
        """Whether the database did not take rows when it was last tried."""
        return self._down is not None

    @property
    def waiting(self) -> int:
        """How many rows in the spool the database does not have yet."""
        return self._spool.rows

    # --- from other threads ---------------------------------------------------------------

    def start(self) -> None:
        """Begin, or take back a `stop` that is not carried out yet."""
        with self._lock:
            self._until, self._left = None, 0
            self._over.set()
            self._over = threading.Event()
            if self._thread is None:
                self._looked = -math.inf
                self._thread = threading.Thread(
                    target=self._run, name="pointsman-journal-loader", daemon=True
                )
                try:
                    self._thread.start()
                except RuntimeError:  # no thread is to be had now; the spool keeps what comes
                    self._thread = None

    def wake(self) -> None:
        """Tell that rows are waiting."""
        self._work.set()

    def reach(self, mark: Mark) -> None:
        """Load what the spool holds, and what dead processes left, and tell *mark*."""
        with self._lock:
            if self._thread is None:
                mark.end(kept=False)
            else:
                self._coming.append(mark)
        self._hurry.set()
        self._work.set()

    def stop(self, until: float) -> None:
        """Load what is there, also of dead processes, until *until* (monotonic), and end."""
        self._looked = -math.inf
        self._until = until
        self._hurry.set()
        self._work.set()

    def join(self, until: float) -> int:
        """Wait until it has ended, or goes on after all; give the rows left in the spool."""
        with self._lock:
            thread, over = self._thread, self._over
            if thread is None:
                self._close()
                return self._left
            if self._until is None or thread is threading.current_thread():
                return 0
        if not over.wait(max(0.0, until - time.monotonic())):
            return self._spool.rows
        if self._thread is not thread:
            thread.join()
        return self._left

    # --- on its own -----------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            healthy = self._pass()
            if self._until is not None and self._ended(healthy=healthy):
                return
            self._rest()

    def _rest(self) -> None:
        if self._pause:
            self._hurry.wait(self._pause)
        else:
            if not self._spool.rows:
                self._work.wait(ADOPT)
            self._hurry.wait(LINGER)
        self._work.clear()

    def _pass(self) -> bool:
        """Load what is there; False if the database does not take it."""
        try:
            while self._step():
                pass
        except BaseException as fault:  # noqa: BLE001 - whatever it is, the rows stay in the spool
            self._failed(fault)
            return False
        self._pause = 0.0
        if self._down is not None:
            seconds, self._down = time.monotonic() - self._down, None
            self._say("info", "journal.database_back", seconds=round(seconds, 1))
        return True

    def _step(self) -> bool:
        """Load one batch; whether another should follow at once."""
        self._look()
        batch = self._spool.batch()
        if batch is not None:
            self._load(batch)
        self._answer()
        if self._until is not None and time.monotonic() > self._until:
            return False
        hurried = self._until is not None or self._more or self._marks or self._coming
        return batch is not None and (bool(hurried) or self._spool.rows >= PLENTY)

    def _look(self) -> None:
        """See who waits now, and what dead processes have left."""
        self._hurry.clear()
        with self._lock:
            coming, self._coming = self._coming, []
        if coming or time.monotonic() > self._looked + ADOPT:
            self._looked = time.monotonic()
            self._more = True
        self._marks += coming
        if self._more:
            self._more = self._spool.adopt()
        if not self._more:
            for mark in self._marks:
                mark.begin(self._spool.position())

    def _load(self, batch: Batch) -> None:
        refused = self.store().write(batch.rows) if batch.rows else ()
        aside = batch.unread(refused)
        self._spool.loaded(batch, aside)
        if aside:
            self._say("error", "journal.unread", rows=len(aside))

    def _answer(self) -> None:
        for mark in self._marks:
            if mark.reached:
                mark.end(kept=True)
        self._marks = [mark for mark in self._marks if not mark.reached]

    def _failed(self, fault: BaseException) -> None:
        first, most = PAUSES
        self._pause = min(most, 2 * self._pause or first)
        if self._down is None:
            self._down = time.monotonic()
            told = str(fault) if isinstance(fault, StoreDown | SetupError) else type(fault).__name__
            self._say("error", "journal.database_down", problem=told, waiting=self._spool.rows)
        self._give_up()

    def _give_up(self) -> None:
        for mark in self._marks:
            mark.end(kept=False)
        self._marks = []

    def _ended(self, *, healthy: bool) -> bool:
        """End, unless it was told to go on, or there is more and time for it."""
        with self._lock:
            if self._until is None:
                return False
            if healthy and (self._spool.rows or self._more) and time.monotonic() <= self._until:
                return False
            self._marks += self._coming
            self._coming = []
            self._give_up()
            self._left = self._spool.rows
            self._spool.release()
            self._close()
            self._down, self._pause, self._thread = None, 0.0, None
            self._over.set()
            return True

    def _close(self) -> None:
        if self._store is not None:
            with contextlib.suppress(Exception):  # a connection that is broken is closed already
                self._store.close()
            self._store = None
