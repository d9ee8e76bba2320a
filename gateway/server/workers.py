"""
Several workers on one socket: a parent that starts them, replaces those that die, and ends them.

The workers are processes of their own from the start (spawned, not forked): threads and sockets
of the program that is served do not survive a fork.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Generator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .access import Tell
from .serving import AGAIN, BY_SIGNAL, CRASHED, NOW, Make, work

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

LONGEST = 30.0  # seconds between two attempts to replace a worker that will not start
STEADY = 10.0  # seconds; a worker that lived so long is replaced at once
CLOSING = 60.0  # seconds for shadows and journal after the last answer, before a worker is killed
KILLED = 3.0  # seconds for a worker that was told to end at once


class _One:
    """One worker's place, and the process that has it now."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: SpawnProcess | None = None
        self.pipe: Connection | None = None
        self.ready = False
        self.pause = 0.0
        self.due = 0.0
        self.began = 0.0

    @property
    def alive(self) -> bool:
        return self.process is not None


class Workers:
    """
    The workers of one server, and their parent.

    Args:
        make: Makes what each serves; it is pickled.
        listening: The socket that they share.
        count: How many.
        drain: Seconds that each may take for the requests under way.
        tell: Writes an event.
        folder: Of their numbers, for Prometheus.

    """

    def __init__(
        self,
        make: Make,
        listening: socket.socket,
        *,
        count: int,
        drain: float,
        tell: Tell,
        folder: Path | None = None,
    ) -> None:
        self._make, self._listening, self._drain = make, listening, drain
        self._tell, self._folder = tell, folder
        self._all = [_One(number) for number in range(1, count + 1)]
        self._signals: list[int] = []
        self._announced = False
        self._code = 0
        self._until: float | None = None  # it is ending, and has to be done by then

    def run(self, ready: Callable[[], None]) -> int:
        """
        Keep the workers running until told to end.

        Args:
            ready: Is called once all of them accept for the first time.

        Returns:
            The exit code of the process.

        """
        with self._woken() as woken:
            while not (self._until is not None and not any(one.alive for one in self._all)):
                self._start_missing()
                self._wait(woken)
                self._heed()
                for one in self._all:
                    self._look_at(one)
                if not self._announced and all(one.ready for one in self._all):
                    self._announced = True
                    ready()
        return self._code

    # --- waiting --------------------------------------------------------------------------

    @contextlib.contextmanager
    def _woken(self) -> Generator[socket.socket]:
        """Let signals interrupt the waiting."""
        here, there = socket.socketpair()
        here.settimeout(0.0)
        there.settimeout(0.0)
        numbers = [signal.SIGTERM, signal.SIGINT, NOW, *([AGAIN] if AGAIN is not None else [])]
        before = {one: signal.signal(one, self._noted) for one in numbers}
        fd = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        try:
            yield here
        finally:
            signal.set_wakeup_fd(fd)
            for number, handler in before.items():
                signal.signal(number, handler)
            here.close()
            there.close()

    def _noted(self, number: int, _: object) -> None:
        self._signals.append(number)

    def _wait(self, woken: socket.socket) -> None:
        waited: list[Any] = [woken]
        times: list[float] = [] if self._until is None else [self._until]
        for one in self._all:
            if one.process is not None:
                waited.append(one.process.sentinel)
            elif self._until is None:
                times.append(one.due)
            if one.pipe is not None:
                waited.append(one.pipe)
        left = max(0.0, min(times) - time.monotonic()) if times else None
        wait(waited, left)
        with contextlib.suppress(BlockingIOError):
            woken.recv(4096)

    def _heed(self) -> None:
        while self._signals:
            number = self._signals.pop(0)
            if number == AGAIN:
                self._send(number)
            elif self._until is None and number != NOW:
                self._end(self._drain + CLOSING)
            else:
                self._code = BY_SIGNAL + number
                self._end(KILLED, NOW)
        if self._until is not None and time.monotonic() >= self._until:
            self._code = self._code or CRASHED
            self._send(signal.SIGKILL)

    # --- each worker ----------------------------------------------------------------------

    def _start_missing(self) -> None:
        for one in self._all:
            if not one.alive and self._until is None and time.monotonic() >= one.due:
                self._start(one)

    def _start(self, one: _One) -> None:
        context = multiprocessing.get_context("spawn")
        one.pipe, theirs = context.Pipe(duplex=False)
        one.process = context.Process(
            target=work,
            args=(self._make, self._listening, theirs),
            name=f"pointsman-worker-{one.number}",
        )
        with _without_interrupts():
            one.process.start()
        theirs.close()
        one.began, one.ready = time.monotonic(), False
        said = {"worker": one.number, "pid": one.process.pid}
        self._tell("info", "server.worker_started", said)

    def _look_at(self, one: _One) -> None:
        if one.pipe is not None and one.pipe.poll():
            with contextlib.suppress(EOFError):
                self._heard(one, one.pipe.recv())
            one.pipe.close()
            one.pipe = None
        if one.process is not None and one.process.exitcode is not None:
            self._ended(one, one.process)

    def _heard(self, one: _One, faults: list[str]) -> None:
        one.ready = not faults
        if faults:
            said = {"worker": one.number, "faults": faults}
            self._tell("error", "server.worker_misconfigured", said)

    def _ended(self, one: _One, process: SpawnProcess) -> None:
        code = process.exitcode or 0
        process.join()
        self._forget_gauges(process.pid)
        one.process = None
        if self._until is not None:
            told = not one.ready and code == -signal.SIGTERM  # before it had learnt to heed it
            self._code = self._code or (CRASHED if code and not told else 0)
            return
        said = {"worker": one.number, "pid": process.pid, "code": code}
        self._tell("error", "server.worker_died", said)
        if not self._announced:  # none of its kind has started: the next would not either
            self._code = code if code > 0 else CRASHED
            self._end(self._drain + CLOSING)
            return
        lived = time.monotonic() - one.began
        if not one.ready or lived < STEADY:
            one.pause = min(LONGEST, 2 * one.pause or 0.5)
        else:
            one.pause = 0.0
        one.due = time.monotonic() + one.pause

    def _forget_gauges(self, pid: int | None) -> None:
        """A dead worker's counters count on; what it knew of its providers does not hold now."""
        if self._folder is not None:
            for file in self._folder.glob(f"gauge_live*_{pid}.db"):
                file.unlink(missing_ok=True)

    def _end(self, seconds: float, number: int = signal.SIGTERM) -> None:
        self._listening.close()  # what waits to be accepted would wait for nobody
        self._until = time.monotonic() + seconds
        self._send(number)

    def _send(self, number: int) -> None:
        for one in self._all:
            if number == AGAIN and not one.ready:
                continue  # it would end by it, and reads the variables now anyway
            if one.process is not None and one.process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.process.pid, number)


@contextlib.contextmanager
def _without_interrupts() -> Generator[None]:
    """
    Keep the terminal's Ctrl-C from the process that is started inside.

    It goes to every process of the terminal; a worker is told to end by its parent.
    """
    resource_tracker.ensure_running()  # else it is started inside, and lets interrupts through
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
