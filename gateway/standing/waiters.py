"""Threads that wait for a database, so that no caller has to wait for as long as it takes."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from ..forks import Lock
from ..threads import worked

T = TypeVar("T")

THREADS = 8  # that wait at once, whatever the number of callers


class Waiters:
    """
    Does work on a few threads that end with the process: a server may never answer.

    What nobody waits for any more by the time that a thread is free is not begun.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._renew()

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Do *work* as soon as a thread is free."""
        future: Future[T] = Future()
        with self._lock:
            if self._process != os.getpid():
                self._renew()
            self._waiting.append(lambda: worked(future, work, (), {}))
            begins = self._threads < THREADS
            self._threads += begins
        if begins:
            self._thread()
        return future

    def _renew(self) -> None:
        self._process = os.getpid()
        self._waiting: deque[Callable[[], None]] = deque()
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
            work()
