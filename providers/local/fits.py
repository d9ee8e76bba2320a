"""Things that take seconds to make and are made once: waited for, or in the background."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")

KEPT = 64  # option sets; a head of 150 options takes 0.3 MB


class Fits(Generic[T]):
    """
    Makes each thing once, whoever asks first; one at a time in the background.

    Args:
        background: True: `get` never waits and returns None until the thing is made.

    """

    def __init__(self, *, background: bool) -> None:
        self._background = background
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._made: dict[Hashable, Future[T]] = {}
        self._worker: ThreadPoolExecutor | None = None

    def get(self, key: Hashable, make: Callable[[], T]) -> T | None:
        """Return what *make* makes for *key*, or None while that is being made."""
        if self._process != os.getpid():
            self._begin()  # neither a lock nor a thread can be trusted after a fork
        with self._lock:
            found = self._made.get(key)
            future = found or self._keep(key, Future())
        if found is None:
            self._start(future, make)
        return None if self._background and not future.done() else future.result()

    def close(self) -> None:
        """Wait for what is being made, forget what is not begun."""
        if self._worker is not None and self._process == os.getpid():
            self._worker.shutdown(wait=True, cancel_futures=True)

    def _keep(self, key: Hashable, future: Future[T]) -> Future[T]:
        while len(self._made) >= KEPT:
            del self._made[next(iter(self._made))]  # the oldest; its askers still hold it
        self._made[key] = future
        return future

    def _start(self, future: Future[T], make: Callable[[], T]) -> None:
        if not self._background:
            _run(future, make)
            return
        with self._lock:
            self._worker = self._worker or ThreadPoolExecutor(1, "pointsman-local")
        self._worker.submit(_run, future, make)


def _run(future: Future[T], make: Callable[[], T]) -> None:
    try:
        future.set_result(make())
    except BaseException as error:  # noqa: BLE001 - all who wait must learn of it
        future.set_exception(error)
