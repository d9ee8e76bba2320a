"""Ctrl-C and a polite kill: what is under way was paid for, so it is waited for once."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

HEARD = (signal.SIGINT, signal.SIGTERM)


class Ends(Protocol):
    """What can be ended from outside."""

    def soon(self, by: int, /) -> None:
        """Begin nothing more, because of this signal."""

    def now(self) -> None:
        """Wait for nothing more."""


@contextmanager
def heard(ends: Ends) -> Generator[None]:
    """
    End *ends* soon at the first signal, now at the second; a third does what it does elsewhere.

    Signals that the process was told to ignore stay ignored. On a thread that gets none, nothing
    is changed. To be entered while the event loop runs that *ends* belongs to.
    """
    loop = asyncio.get_running_loop()
    mine = threading.current_thread() is threading.main_thread()
    before = {one: signal.getsignal(one) for one in HEARD if mine}
    before = {one: does for one, does in before.items() if does not in (signal.SIG_IGN, None)}
    came: list[int] = []

    def tell(does: Callable[[], None]) -> None:
        loop.call_soon_threadsafe(does)  # wakes the loop, which no signal does by itself

    def on_signal(number: int, _: FrameType | None) -> None:
        came.append(number)
        if len(came) == 1:
            tell(lambda: ends.soon(number))
        else:
            _restore()
            tell(ends.now)

    def _restore() -> None:
        for one, does in before.items():
            signal.signal(one, does)

    for one in before:
        signal.signal(one, on_signal)
    try:
        yield
    finally:
        _restore()
