"""One ask under way, and those who wait for it, each in a loop or on a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from .answers import Reply, sound
from .errors import NoAnswer

Loop = asyncio.AbstractEventLoop


class Waiter:
    """Somebody who waits: a task of a *loop*, or a thread."""

    def __init__(self, loop: Loop | None) -> None:
        self._loop = loop
        self.event = threading.Event()
        self.future: asyncio.Future[None] | None = None if loop is None else loop.create_future()

    def wake(self) -> None:
        """Let it go on, wherever it is."""
        self.event.set()
        if self._loop is None:
            return
        if self._loop is loop_here():
            self._resolve()
        else:
            soon(self._loop, self._resolve)

    def _resolve(self) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_result(None)


class Flight:
    """
    One ask under way, and what came of it.

    Attributes:
        loop: Whose task it is; None where a thread asks.
        thread: Which it needs to go on.
        task: What asks, in a loop.
        waiters: Who waits.
        over: It has ended, with `reply` or `fault`.
        lost: What ended it was its asker's own: those who have more time ask again.
        told: The breaker knows of its failure.
        paid: Somebody's record has what it cost.

    """

    def __init__(self, loop: Loop | None) -> None:
        self.loop = loop
        self.thread = threading.current_thread()
        self.task: asyncio.Task[object] | None = None
        self.waiters: list[Waiter] = []
        self.over = self.lost = self.told = self.paid = False
        self.reply: Reply | None = None
        self.fault: BaseException | None = None

    @property
    def moves(self) -> bool:
        """Whether it has ended, or can still come to an end."""
        if self.over:
            return True
        return self.thread.is_alive() if self.loop is None else self.loop.is_running()

    def held_up(self, loop: Loop | None) -> bool:
        """Whether a caller on this thread, in *loop* or in none, would hold it up by waiting."""
        if self.over or self.thread is not threading.current_thread():
            return False
        return loop is None or loop is not self.loop

    def joined(self, loop: Loop | None) -> Waiter:
        """Let somebody more wait."""
        waiter = Waiter(loop)
        self.waiters.append(waiter)
        if self.over:
            waiter.wake()
        return waiter

    def ended(self, reply: object, fault: BaseException | None, *, lost: bool = False) -> None:
        """Say what came of it; what is no reply at all is a fault."""
        try:
            self.reply = None if fault is not None else sound(reply)
        except NoAnswer as malformed:
            fault = malformed
        self.fault, self.lost, self.over = fault, lost, True


def soon(loop: Loop, function: Callable[[], object]) -> None:
    """Call *function* in a loop that runs elsewhere; in a closed one nobody waits any more."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


def loop_here() -> Loop | None:
    """Give the loop that runs on this thread, if there is one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
