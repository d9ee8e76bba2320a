"""Threads that wait for a database, so that no caller has to wait for as long as it takes."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from ..forks import Lock
from ..threads import worked

T = TypeVar("T")

THREADS = 8  # that wait at once, whatever the number of callers
LONGEST = 60.0  # seconds in the queue: then a database that answers is too slow for its callers


class Work(Future[T]):
    """
    Work on its way.

    Attributes:
        asked: When it was asked for, on `time.monotonic`.
        begun: When a thread took it, or was to.

    """

    def __init__(self) -> None:
        super().__init__()
        self.asked = self.begun = time.monotonic()

    def do(self, work: Callable[[], T]) -> bool:
        """Do it on this thread; whether the database has answered."""
        self.begun = time.monotonic()
        worked(self, work, (), {})
        return not self.cancelled() and self.exception() is None


class Waiters:
    """
    Does work on a few threads that end with the process: a server may never answer.

    What nobody waits for any more by the time that a thread is free is not begun.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._answered = -math.inf  # when the database last did
        self._renew()

    def more(self, work: Work[Any], seconds: float) -> float:
        """
        Say for how much longer *work* is waited for that is not done.

        The database has so many *seconds* since it was begun, or since it answered another one:
        a queue of our own is no database that is down. At most 60 in all.
        """
        moved = max(work.begun, self._answered) + seconds
        return min(moved, work.asked + LONGEST) - time.monotonic()

    def begin(self, work: Callable[[], T]) -> Work[T]:
        """Do *work* as soon as a thread is free."""
        future: Work[T] = Work()
        with self._lock:
            if self._process != os.getpid():
                self._renew()
            self._waiting.append(partial(future.do, work))
            begins = self._threads < THREADS
            self._threads += begins
        if begins:
            self._thread()
        return future

    def _renew(self) -> None:
        self._process = os.getpid()
        self._waiting: deque[Callable[[], bool]] = deque()
        self._threads = 0

    def _thread(self) -> None:
        try:
            threading.Thread(target=self._run, name="pointsman-standing", daemon=True).start()
        except RuntimeError:  # the process is ending, and begins no more threads
            self._run()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                work = self._waiting.popleft()
            if work():
                self._answered = time.monotonic()
