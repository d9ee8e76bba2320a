"""
From the decision into the spool: a queue that costs the decision next to nothing.

Putting an entry is one call into C that neither waits nor takes a Python lock, so that it may
also happen in a signal handler. A thread turns what has gathered into lines and appends them.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from ..forks import Lock
from . import exits
from .content import Content, Say
from .entries import Entry, weight
from .exits import CLOSING
from .loader import Loader, Mark
from .places import KEY, SPOOL, told
from .segments import line_of
from .spool import Spool

BOUND = 100_000  # entries in the queue: what gathers while the disk does not write
HEAVY = 64 << 20  # characters of the states in it; 100,000 long ones would take the host's memory
LINGER = 0.02  # seconds in which entries gather: what a kill can take, and 50 wake-ups a second
CHUNK = 64  # entries of one write, about 1 ms of work: each write lets the host's threads go on
PAUSE = 0.25  # seconds until a disk that does not write is tried again


class Stop:
    """Put into the queue by who closes."""


Item: TypeAlias = "Entry | Mark | Stop"


class Writer:
    """
    Takes entries off the hands of deciders, in one process.

    Every entry that was put is in the spool in the end, or counted as lost.

    Args:
        content: Makes rows of entries.
        spool: Where they go.
        loader: Is told.
        say: Tells events.

    Attributes:
        lost: How many entries were put and can never be read.
        down: Whether the disk did not write when it was last tried.

    """

    def __init__(self, content: Content, spool: Spool, loader: Loader, say: Say) -> None:
        self._content = content
        self._spool = spool
        self._loader = loader
        self._say = say
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._weight = 0  # threads may miscount it by a little; it is set right when all is taken
        self._made: list[bytes] = []  # lines that are not in the spool yet
        self._lock = Lock()
        self._thread: threading.Thread | None = None
        self._until: float | None = None
        self._waiting: set[Mark] = set()
        self.lost = 0
        self._said = 0.0
        self.down = False
        self._told: set[str] = set()

    @property
    def waiting(self) -> int:
        """How many entries are not in the spool yet."""
        return self._queue.qsize() + len(self._made)

    # --- from other threads ---------------------------------------------------------------

    def put(self, entry: Entry) -> None:
        """Take *entry*; never waits, never raises."""
        if self._queue.qsize() >= BOUND or self._weight >= HEAVY:
            self._lose(1)
            return
        self._weight += weight(entry)
        self._queue.put(entry)
        if self._thread is None:  # looked at after putting: who ends looks the other way round
            self._start()

    def flush(self, seconds: float | None) -> bool:
        """Wait until what was put is in the database; False if it is not, for now."""
        mark = Mark()
        with self._lock:
            self._waiting.add(mark)
        self._queue.put(mark)
        if self._thread is None:
            self._start()
        try:
            return mark.wait(seconds)
        finally:
            with self._lock:
                self._waiting.discard(mark)

    def let_go(self) -> None:
        """End as soon as all is written, without anybody waiting for it."""
        if self._thread is not None:
            self._queue.put(Stop())

    def close(self, seconds: float) -> None:
        """Write what was put, load it as far as the database takes it, and end."""
        until = time.monotonic() + seconds
        if self._thread is None and not self._queue.empty():
            self._start()
        with self._lock:
            thread = self._thread
            if thread is not None:
                self._until = until
                self._queue.put(Stop())
        written = thread is None or _joined(thread, until + 2 * PAUSE)  # it gives up at *until*
        left = self._loader.join(until)
        unwritten = 0 if written else self._queue.qsize()
        if thread is not None and (left or unwritten or self.lost):
            level = "error" if self.lost or unwritten else "warning"
            self._say(level, "journal.closed", lost=self.lost, left=left, unwritten=unwritten)

    def abandon(self) -> None:
        """Let go of the files, in a forked child: what they hold is the parent's."""
        self._spool.abandon()

    # --- on its own -----------------------------------------------------------------------

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None:
                return
            self._until = None
            self._thread = threading.Thread(
                target=self._run, name="pointsman-journal-writer", daemon=True
            )
            if not _begun(self, self._thread):  # threads are no longer, or not now, to be had
                self._thread, self._until = None, time.monotonic()
                self._turn(self._next())

    def _run(self) -> None:
        self._loader.start()
        stopped = False
        while not (stopped and self._ended()):
            try:
                stopped = self._turned() or stopped
            except BaseException as bug:  # noqa: BLE001 - nothing ends it but who closes
                self._fallen(bug)
                stopped = stopped or self._until is not None

    def _turned(self) -> bool:
        """Wait for an item, and spool all that there is then; whether somebody closes."""
        item = self._taken(self._queue.get())
        if not isinstance(item, Stop):
            time.sleep(LINGER)
        return self._turn(item)

    def _fallen(self, bug: BaseException) -> None:
        self._say("error", "journal.writer_failed", error=type(bug).__name__)
        self._drop(None)  # what it held
        time.sleep(PAUSE)

    def _ended(self) -> bool:
        """End, unless something came meanwhile."""
        with self._lock:
            thread, self._thread = self._thread, None
            if not self._queue.empty():
                self._thread = thread
                return False
            exits.release(self)
            self._loader.stop(self._until or time.monotonic() + CLOSING)
            return True

    def _next(self) -> Item | None:
        try:
            return self._taken(self._queue.get_nowait())
        except queue.Empty:
            self._weight = 0
            return None

    def _taken(self, item: Item) -> Item:
        self._weight = max(0, self._weight - weight(item))
        return item

    def _turn(self, item: Item | None) -> bool:
        """Spool *item* and what else is in the queue; whether somebody closes."""
        stopped = False
        while item is not None:
            stopped = stopped or isinstance(item, Stop)
            if not isinstance(item, Stop | Mark):
                if not self._insist(self._content.ready, KEY):
                    return self._drop(item)
                self._make(item)
            elif not self._spooled():
                return self._drop(item)
            if isinstance(item, Mark):
                self._loader.reach(item)
            if len(self._made) >= CHUNK and not self._spooled():
                return self._drop(self._next())
            item = self._next()
        return stopped if self._spooled() else self._drop(self._next())

    def _drop(self, item: Item | None) -> bool:
        """Lose *item* and what else is in the queue: who closes waits no longer."""
        count = len(self._made)
        self._made.clear()
        while item is not None:
            if isinstance(item, Mark):
                item.end(kept=False)
            count += not isinstance(item, Stop | Mark)
            item = self._next()
        if count:
            self._lose(count)
        return True

    def _make(self, entry: Entry) -> None:
        try:
            self._made.append(line_of(self._content.row(entry)))
        except BaseException as bug:  # noqa: BLE001 - one entry must not end the journal
            self._lose(1)
            name = type(bug).__name__
            if name not in self._told:
                self._told.add(name)
                self._say("error", "journal.row_failed", error=name)

    def _spooled(self) -> bool:
        """Append the lines that are made; False if they are lost."""
        if not self._made:
            return True
        kept = self._insist(lambda: self._spool.append(self._made), SPOOL)
        if kept:
            self._loader.wake()
        else:
            self._lose(len(self._made))
        self._made.clear()
        return kept

    def _insist(self, do: Callable[[], None], variable: str) -> bool:
        """Do it until it is done; False if it failed again when somebody closes."""
        while True:
            last = self.down and self._until is not None
            try:
                do()
            except BaseException as fault:  # noqa: BLE001 - whatever it is, the entries are still here
                self._failed(fault, variable)
                if last:
                    return False
                time.sleep(PAUSE)
                continue
            if self.down:
                self.down = False
                self._say("info", "journal.spool_back")
            return True

    def _failed(self, fault: BaseException, variable: str) -> None:
        with self._lock:
            for mark in self._waiting:
                mark.end(kept=False)
        if not self.down:
            self.down = True
            self._say("error", "journal.spool_down", problem=told(fault, variable))

    def _lose(self, count: int) -> None:
        """Count what is lost, and say so once a second at most."""
        with self._lock:
            self.lost += count
            now = time.monotonic()
            due = now - self._said >= 1.0
            if due:
                self._said = now
        if due:
            self._say("error", "journal.lost", lost=self.lost)


def _joined(thread: threading.Thread, until: float) -> bool:
    if thread is threading.current_thread():
        return False
    thread.join(max(0.0, until - time.monotonic()))
    return not thread.is_alive()


def _begun(writer: Writer, thread: threading.Thread) -> bool:
    """Start *thread*, and promise to close *writer* at exit; False where no thread starts."""
    if not exits.promise(writer):
        return False
    try:
        thread.start()
    except RuntimeError:
        exits.release(writer)
        return False
    return True
