"""
What a gateway opens, and to whom it belongs.

One async client for each running loop, one sync client beside them, one loop thread for
async-shaped providers under sync callers, one bounded pool for blocking work. Nothing is
opened before it is needed; everything is keyed by process and dropped after a fork, since
sockets and threads do not survive one.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from . import http
from .budgets import Purses
from .context import running_loop
from .forks import Lock
from .standing.standing import Standing
from .threads import Daemons, LoopThread

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

BLOCKING_THREADS = 4  # for work above 1 ms of CPU; more would only take turns


class Runtime:
    """
    The open things of one gateway in one process, and what is done with them.

    Attributes:
        purses: What its providers may still cost today.
        standing: What was decided once, and stands.

    """

    send_sync = staticmethod(http.send_sync)
    send_async = staticmethod(http.send_async)

    def __init__(self, *, daemons: bool = False) -> None:
        """Open nothing; with *daemons*, blocking work never keeps a process from ending."""
        self._lock = Lock()
        self._daemons = daemons
        self.purses = Purses()
        self.standing = Standing()
        self._forget()

    def _forget(self) -> None:
        self._loops: dict[asyncio.AbstractEventLoop, OnLoop] = {}
        self._sync: httpx.Client | None = None
        self._thread: LoopThread | None = None
        self._pool: Executor | None = None
        self._pid = os.getpid()

    def _here(self) -> None:
        with self._lock:
            if self._pid != os.getpid():  # a fork: the parent's sockets are not ours to close
                self._forget()

    def on_loop(self) -> OnLoop:
        """
        The clients of the running loop.

        Raises:
            SetupError: No asyncio loop runs here.

        """
        self._here()
        loop = running_loop()
        with self._lock:
            if loop not in self._loops:
                self._loops = {one: its for one, its in self._loops.items() if not one.is_closed()}
                self._loops[loop] = OnLoop()
            return self._loops[loop]

    def sync_client(self) -> httpx.Client:
        """The client for callers that have no loop."""
        self._here()
        with self._lock:
            if self._sync is None:
                self._sync = http.sync_client()
                self._at_exit = weakref.finalize(self, _close_here, self._sync, os.getpid())
            return self._sync

    def pool(self) -> Executor:
        """The threads for blocking work; those of daemons are bounded by who asks."""
        self._here()
        with self._lock:
            if self._pool is None:
                bounded = not self._daemons
                self._pool = (
                    ThreadPoolExecutor(BLOCKING_THREADS, "pointsman-blocking")
                    if bounded
                    else Daemons()
                )
            return self._pool

    def wait(self, make: Callable[[], Coroutine[Any, Any, T]], seconds: float | None) -> T:
        """
        Run a coroutine on the loop thread and wait for it here.

        Raises:
            NoAnswer: `timeout`; the coroutine is cancelled.

        """
        self._here()
        with self._lock:
            if self._thread is None:
                self._thread = LoopThread()
            thread = self._thread
        return thread.wait(make, seconds)

    async def aclose(self) -> None:
        """Close the running loop's clients, then the rest."""
        self._here()
        mine = self._loops.pop(asyncio.get_running_loop(), None)
        if mine is not None:
            await mine.aclose()
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def close(self) -> None:
        """
        Close what belongs to no loop.

        Clients of other loops close when those loops shut their async generators down, as
        `asyncio.run` does at its end.
        """
        self._here()
        with self._lock:
            sync, thread, pool = self._sync, self._thread, self._pool
            self._sync = self._thread = self._pool = None
        if sync is not None:
            self._at_exit()
        if thread is not None:
            thread.close()
        if pool is not None:
            pool.shutdown()


def _close_here(client: httpx.Client, pid: int) -> None:
    if pid == os.getpid():
        client.close()


class OnLoop:
    """
    What one event loop owns: its client, a queue for each lane in front, the shared calls.

    The client is closed by the loop itself when `asyncio.run` ends: an async generator that
    holds it is finalised by `loop.shutdown_asyncgens`.
    """

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None
        self._holder: AsyncGenerator[None, None] | None = None
        self._places: dict[str, asyncio.Semaphore] = {}
        self._tasks: set[asyncio.Task[object]] = set()

    def own(self, task: asyncio.Task[object]) -> None:
        """Keep *task* until it is done, and end it when the gateway is closed."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def client(self) -> httpx.AsyncClient:
        """Give the client, made at first use."""
        if self._client is None:
            self._client = http.async_client()
            self._holder = _held(self._client)
            await anext(self._holder)  # begins it, so that the loop knows it; does not wait
        return self._client

    def places(self, lane: str) -> asyncio.Semaphore:
        """Give the queue in front of the client for one lane, so that none starves another."""
        if lane not in self._places:
            self._places[lane] = asyncio.Semaphore(http.MAX_CONNECTIONS)
        return self._places[lane]

    async def aclose(self) -> None:
        """End the shared calls, and close the client."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._holder is not None:
            await self._holder.aclose()
        self._client = self._holder = None


async def _held(client: httpx.AsyncClient) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.aclose()
