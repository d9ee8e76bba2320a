"""What is closed when the process ends by itself."""

from __future__ import annotations

import atexit
import sys
from typing import Protocol

CLOSING = 10.0  # seconds for each


class Closes(Protocol):
    """What can be closed."""

    def close(self, seconds: float, /) -> None:
        """Close, within so many seconds."""


_open: set[Closes] = set()
_promised = False
_exiting = False


def promise(one: Closes) -> bool:
    """Close *one* when the process ends; False where it is ending already."""
    if _exiting:
        return False
    _open.add(one)
    _promise()
    return True


def release(one: Closes) -> None:
    """Take back a promise: *one* is closed."""
    _open.discard(one)


def forget_all() -> None:
    """Forget all promises, in a forked child: they were its parent's."""
    global _exiting, _promised  # noqa: PLW0603 - what a process promises is its own
    _exiting = _promised = False
    atexit.unregister(_close_all)
    _open.clear()


def _promise() -> None:
    """Once for each process; one of `multiprocessing` ends without `atexit`."""
    global _promised  # noqa: PLW0603 - as above
    if _promised:
        return
    _promised = True
    atexit.register(_close_all)
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, _close_all, exitpriority=10)


def _close_all() -> None:
    global _exiting  # noqa: PLW0603 - as above
    _exiting = True
    for one in list(_open):
        one.close(CLOSING)
