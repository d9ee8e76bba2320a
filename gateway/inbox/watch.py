"""Looking for what persons have said, in one query for all who wait in this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from ..forks import Lock

if TYPE_CHECKING:
    from .entries import Resolution

EVERY = 0.5  # seconds between two looks: a person takes longer, and it is one query
Look: TypeAlias = Callable[[Sequence[str]], "Mapping[str, Resolution]"]
"""Ids → what was said to those of them that somebody answered; it may wait for a database."""


class Watch:
    """
    Waits for persons, on one thread that ends with the last who waits.

    A database that is down is looked into again: who waits has a time of its own.

    Args:
        every: Seconds between two looks.

    """

    _runs = False

    def __init__(self, every: float = EVERY) -> None:
        self._every = every
        self._lock = Lock()
        self._renew()

    def wait(self, id: str, look: Look) -> Future[Resolution]:  # noqa: A002 - the decision's
        """
        Wait for what is said to the entry *id*; cancelling the future ends that.

        Where no thread can be begun that would look, the time is up at once.
        """
        future: Future[Resolution] = Future()
        with self._lock:
            if self._process != os.getpid():
                self._renew()
            if not self._runs:
                self._runs = self._begun(look)
            if not self._runs:
                future.set_exception(TimeoutError())
                return future
            self._waiting.setdefault(id, []).append(future)
        future.add_done_callback(lambda ended: self._left(id, ended))
        return future

    def _begun(self, look: Look) -> bool:
        """Begin to look; it waits for the lock before it does."""
        run = (look, self._woken)
        thread = threading.Thread(target=self._run, args=run, name="pointsman-inbox", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the process has no more threads, or is ending
            return False
        return True

    def tell(self, id: str, said: Resolution) -> None:  # noqa: A002 - the decision's
        """Give at once what was said in this very process."""
        with self._lock:
            waiting = list(self._waiting.get(id, ()))
        for future in waiting:
            with suppress(InvalidStateError):  # it was told already, or waits no more
                future.set_result(said)

    def _renew(self) -> None:
        self._process = os.getpid()
        self._waiting: dict[str, list[Future[Resolution]]] = {}
        self._woken = threading.Event()
        self._runs = False

    def _left(self, id: str, future: Future[Resolution]) -> None:  # noqa: A002 - the decision's
        with self._lock:
            left = [one for one in self._waiting.get(id, ()) if one is not future]
            if left:
                self._waiting[id] = left
                return
            self._waiting.pop(id, None)
            if not self._waiting:
                self._woken.set()

    def _run(self, look: Look, woken: threading.Event) -> None:
        while True:
            with self._lock:
                ids = list(self._waiting)
                if not ids:
                    self._runs = False
                    return
            for id_, said in _seen(look, ids).items():
                self.tell(id_, said)
            woken.wait(self._every)
            woken.clear()


def _seen(look: Look, ids: Sequence[str]) -> Mapping[str, Resolution]:
    try:
        return look(ids)
    except Exception:  # noqa: BLE001 - a database may fail in any way, and comes back
        return {}
