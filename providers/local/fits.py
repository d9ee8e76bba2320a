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

    A thing that could not be made is told to those who wait for it (in the background: to the
    next who asks), and then forgotten: the cause may have been an interrupt or a moment without
    memory, so whoever asks after that has it made again.

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
            future = self._made.get(key)
            if begins := future is None:
                future = self._keep(key, Future())
                if self._background:
                    self._hand_over(key, future, make)
        if not self._background:
            if begins:
                self._run(key, future, make)
            return future.result()
        return self._ready(key, future)

    def close(self) -> None:
        """Wait for what is being made, forget what is not begun; a later `get` begins anew."""
        if self._process != os.getpid():
            return
        with self._lock:
            worker, self._worker = self._worker, None
            begun = list(self._made.items())
        if worker is not None:
            worker.shutdown(wait=True, cancel_futures=True)
            for key, future in begun:
                if not future.done():
                    self._drop(key, future)

    def _keep(self, key: Hashable, future: Future[T]) -> Future[T]:
        while len(self._made) >= KEPT:
            del self._made[next(iter(self._made))]  # the oldest; its askers still hold it
        self._made[key] = future
        return future

    def _hand_over(self, key: Hashable, future: Future[T], make: Callable[[], T]) -> None:
        """Let the worker make it; under the lock, so that nobody shuts the worker down."""
        try:
            self._worker = self._worker or ThreadPoolExecutor(1, "pointsman-local")
            self._worker.submit(self._run, key, future, make)
        except BaseException:  # no thread, or the interpreter ends
            del self._made[key]
            raise

    def _ready(self, key: Hashable, future: Future[T]) -> T | None:
        if not future.done():
            return None
        if future.exception() is not None:
            self._drop(key, future)
        return future.result()

    def _run(self, key: Hashable, future: Future[T], make: Callable[[], T]) -> None:
        try:
            made = make()
        except BaseException as error:  # noqa: BLE001 - all who wait must learn of it
            if not self._background:  # there, nobody waits: it is kept until somebody asks
                self._drop(key, future)
            future.set_exception(error)
        else:
            future.set_result(made)

    def _drop(self, key: Hashable, future: Future[T]) -> None:
        with self._lock:
            if self._made.get(key) is future:
                del self._made[key]
