"""
One worker: uvicorn with our bounds around the application, from its first request to its last.

Told to end, it stops to accept, lets the requests under way be answered, has the journal write
what it has, and ends with 0. Told again, it ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import multiprocessing
import signal
import threading
import traceback
from collections.abc import Callable, Generator
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, TypeAlias

import uvicorn

from ..errors import SetupError
from .access import Tell
from .app import application
from .endpoint import tell_elsewhere
from .house import House
from .protocol import bounded

if TYPE_CHECKING:
    import socket
    from types import FrameType

BACKLOG = 2048  # connections that wait to be accepted; Linux takes no more than somaxconn says
REFRESH = 1  # seconds between looks at how the providers do
CRASHED = 1
MISCONFIGURED = 2
BY_SIGNAL = 128  # and the signal's number, as shells have it
NOW = getattr(signal, "SIGQUIT", signal.SIGTERM)
AGAIN: int | None = getattr(signal, "SIGHUP", None)

Make: TypeAlias = Callable[[], tuple[House, Callable[[], None]]]
"""Makes what a worker is made of, and what reads its variables again."""


class Worker(uvicorn.Server):
    """
    uvicorn's server with signals, events and ends of our own.

    Args:
        house: What it serves.
        reload: Reads the variables again.
        ready: Is called once it accepts.
        alone: It is no worker of a parent, so that the terminal's Ctrl-C is meant for it.

    """

    def __init__(
        self,
        house: House,
        reload: Callable[[], None],
        ready: Callable[[], None],
        *,
        alone: bool,
    ) -> None:
        super().__init__(_config(house))
        self._house, self._reload, self._ready, self._alone = house, reload, ready, alone
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reloading: set[asyncio.Task[None]] = set()
        self.code = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what is under way be answered, and say so where it takes too long."""
        seconds = self._house.limits.drain_seconds
        overdue = asyncio.get_running_loop().call_later(seconds, self._say_overdue)
        try:
            await super().shutdown(sockets)
        finally:
            overdue.cancel()

    def _say_overdue(self) -> None:
        cut = {"requests": len(self.server_state.tasks)}
        self._house.gateway.tell("warning", "server.drain_overdue", cut)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take the signals while it serves; unlike uvicorn's own, they end it with 0."""
        self._loop = asyncio.get_running_loop()
        handlers: dict[int, Any] = {signal.SIGTERM: self.handle_exit, NOW: self._end_now}
        handlers[signal.SIGINT] = self.handle_exit if self._alone else signal.SIG_IGN
        if AGAIN is not None:
            handlers[AGAIN] = self._begin_reload
        before = {number: signal.signal(number, one) for number, one in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """
        End: the first time after what is under way, the second time at once.

        A worker's parent tells it to end at once by another signal: service managers send
        SIGTERM to every process of a service, and the parent hands its own on as well.
        """
        if self.should_exit and self._alone:
            self._end_now(sig, frame)
        self._house.draining = self.should_exit = True

    def _end_now(self, sig: int, frame: FrameType | None) -> None:
        self._house.draining = self.should_exit = self.force_exit = True
        self.code = BY_SIGNAL + sig
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        for task in list(self.server_state.tasks):
            task.cancel()

    def _begin_reload(self, sig: int, frame: FrameType | None) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._start_reload)

    def _start_reload(self) -> None:
        task = asyncio.get_running_loop().create_task(self._reloaded())
        self._reloading.add(task)
        task.add_done_callback(self._reloading.discard)

    async def _reloaded(self) -> None:
        tell = self._house.gateway.tell
        try:
            await asyncio.to_thread(self._reload)
        except SetupError as error:
            tell("error", "server.reload_failed", {"faults": [str(one) for one in error.faults]})
        else:
            tell("info", "server.reloaded", {})

    async def ended(self) -> None:
        """Wait for what was begun here; the application has closed what it was given."""
        if self._reloading:
            await asyncio.wait(self._reloading)


def _config(house: House) -> uvicorn.Config:
    """Make uvicorn's settings: no log, header or proxy of its own."""
    limits = house.limits

    async def refresh() -> None:
        if house.metrics is not None:
            house.metrics.refresh()

    return uvicorn.Config(
        application(house),
        http=bounded(limits, functools.partial(tell_elsewhere, house, "")),
        ws="none",
        lifespan="on",
        interface="asgi3",
        workers=1,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=limits.keep_alive_seconds,
        timeout_graceful_shutdown=limits.drain_seconds,
        callback_notify=refresh,
        timeout_notify=REFRESH,
    )


def serve(
    make: Make, listening: socket.socket, ready: Callable[[], None], *, alone: bool = True
) -> int:
    """
    Serve until told to end.

    Args:
        make: Makes what is served.
        listening: The socket.
        ready: Is called once it accepts.
        alone: See `Worker`.

    Returns:
        The exit code of the process.

    Raises:
        SetupError: What is served cannot be made.

    """
    house, reload = make()
    worker = Worker(house, reload, ready, alone=alone)
    _hush(house)
    if not alone:
        _end_with_parent(worker)
    with asyncio.Runner(loop_factory=worker.config.get_loop_factory()) as runner:
        return runner.run(_served(worker, house, listening))


async def _served(worker: Worker, house: House, listening: socket.socket) -> int:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, seen: _told(house.gateway.tell, seen.get("exception")))
    try:
        await worker.serve([listening])
    except SystemExit:  # the application could not start: told by its own event
        return CRASHED
    finally:
        await worker.ended()
    return worker.code


def work(make: Make, listening: socket.socket, parent: Connection) -> None:
    """Serve as one of several processes; *parent* is told once it accepts, or why it does not."""
    try:
        code = serve(make, listening, lambda: parent.send([]), alone=False)
    except SetupError as error:
        parent.send([str(one) for one in error.faults])
        code = MISCONFIGURED
    raise SystemExit(code)


def _end_with_parent(worker: Worker) -> None:
    """A worker whose parent was killed would keep the port for ever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        worker.handle_exit(signal.SIGTERM, None)

    threading.Thread(target=watch, name="pointsman-parent", daemon=True).start()


class _Events(logging.Handler):
    """Turns what uvicorn logs into events: its texts and tracebacks may hold what clients sent."""

    def __init__(self, house: House) -> None:
        super().__init__(logging.ERROR)
        self._house = house

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None or not self._house.draining:
            _told(self._house.gateway.tell, error)


def _hush(house: House) -> None:
    logger = logging.getLogger("uvicorn.error")
    logger.setLevel(logging.ERROR)
    logger.handlers, logger.propagate = [_Events(house)], False


def _told(tell: Tell, error: BaseException | None) -> None:
    if isinstance(error, asyncio.CancelledError):  # it was cut off, which is told as that
        return
    frames = None if error is None else traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else ""
    said = {"error": "" if error is None else type(error).__name__, "where": where}
    tell("error", "server.trouble", said)
