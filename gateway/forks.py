"""Locks that a fork finds open, whoever held them in the parent."""

from __future__ import annotations

import os
import threading
import weakref


class Lock:
    """
    A re-entrant lock for `with`, made anew in a forked child.

    Another thread of the parent may hold a lock at the moment of the fork; that thread does
    not exist in the child, so nobody would ever release it there.
    """

    def __init__(self) -> None:
        self._renew()
        _locks.add(self)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock._renew()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
