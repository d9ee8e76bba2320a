"""
SQLite's files are at rest when a process forks.

SQLite remembers in the process which locks it holds on a file. A forked child inherits that
memory, but the system takes the locks from it: it would write without any, and lose what it or
others wrote. So nothing is open at the moment of a fork, and each opens its own behind it.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager

WAIT = 1.0  # seconds at most that a fork waits for what other threads are doing


class Resting(ABC):
    """
    What is to be at rest at a fork, in whose course nobody begins to use it.

    Attributes:
        uses: Each that is under way now, and the thread that began it.

    """

    def __init__(self) -> None:
        self.uses: dict[object, int] = {}

    def watched(self) -> None:
        """Heed forks from now on."""
        with _gate.turn:
            _watched.add(self)

    @contextmanager
    def using(self) -> Generator[None]:
        """Use it; a thread that has begun goes on while a fork waits for it."""
        use, me = object(), threading.get_ident()
        with _gate.turn:
            while _gate.shut and me not in self.uses.values():
                _gate.turn.wait()
            self.uses[use] = me
        try:
            yield
        finally:
            with _gate.turn:
                self.uses.pop(use, None)
                if _gate.shut:
                    _gate.turn.notify_all()

    @abstractmethod
    def rest(self) -> None:
        """Close everything: nobody uses it, and a fork is next."""

    @abstractmethod
    def inherited(self) -> None:
        """Leave to the parent, in its child, what could not be closed."""


class _Gate:
    """Shut from before a fork, by the thread that forks, until behind it."""

    def __init__(self) -> None:
        self.turn = threading.Condition()  # re-entrant: also for a signal's handler that forks
        self.shut = False


_gate = _Gate()
_watched: weakref.WeakSet[Resting] = weakref.WeakSet()


def _before() -> None:
    _gate.turn.acquire()  # kept until behind the fork: the child finds nothing half-done
    _gate.shut = True
    there, me = list(_watched), threading.get_ident()
    _gate.turn.wait_for(lambda: not any(_others(one, me) for one in there), WAIT)
    for one in there:
        if not one.uses:
            one.rest()


def _others(one: Resting, me: int) -> bool:
    return any(thread != me for thread in one.uses.values())


def _in_parent() -> None:
    _gate.shut = False
    _gate.turn.notify_all()
    _gate.turn.release()


def _in_child() -> None:
    _gate.turn = threading.Condition()
    _gate.shut = False
    for one in list(_watched):
        one.inherited()
        one.uses.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
