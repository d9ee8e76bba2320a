"""
Connections kept for the next request: the one given back last is lent first.

httpx's own pool compares all its connections with each other at each step, and its async form
takes three locks for each request. Here a connection is lent to one request at a time, so
nothing is compared and no request waits for a lock. Loaded at first use, since it needs httpcore.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar

import httpcore

from .sockets import BoundedBackend
from .streams import LoopBackend

if TYPE_CHECKING:
    import ssl

C = TypeVar("C", httpcore.HTTPConnection, httpcore.AsyncHTTPConnection)
Origin: TypeAlias = tuple[bytes, bytes, int]

KEPT_SECONDS = 5.0  # how long an idle connection is kept; httpx's own default


class Shelf(Generic[C]):
    """
    Which connections are open, and which of them are idle; it closes none itself.

    Args:
        most: How many may be open while some of them are idle.

    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._open: set[C] = set()
        self._idle: dict[Origin, deque[tuple[float, C]]] = {}
        self._closed = False

    def taken(self, origin: Origin, make: Callable[[], C]) -> tuple[C, list[C]]:
        """
        Take the idle connection that was used last, or a new one; and what is to be closed.

        Raises:
            ConnectError: The client has been closed.

        """
        stale: list[C] = []
        with self._lock:
            if self._closed:
                raise httpcore.ConnectError
            idle = self._idle.get(origin)
            while idle:
                _, kept = idle.pop()
                if not kept.has_expired():  # its time, and whether the server hung up
                    return kept, stale
                stale.append(self._gone(kept))
            if len(self._open) >= self._most:
                stale.extend(self._oldest(math.inf))
            self._open.add(made := make())
        return made, stale

    def back(self, origin: Origin, connection: C) -> list[C]:
        """Keep *connection* if it can be used again; what is to be closed."""
        now = time.monotonic()
        with self._lock:
            if self._closed or not connection.is_idle() or len(self._open) > self._most:
                return [self._gone(connection)]
            self._idle.setdefault(origin, deque()).append((now, connection))
            return self._oldest(now - KEPT_SECONDS)

    def dropped(self, connection: C) -> None:
        """Forget *connection*, which failed."""
        with self._lock:
            self._gone(connection)

    def ended(self) -> list[C]:
        """Lend nothing any more; all that is to be closed, also what is lent now."""
        with self._lock:
            self._closed = True
            still = list(self._open)
            self._open.clear()
            self._idle.clear()
        return still

    def _oldest(self, before: float) -> list[C]:
        """Take from each origin the connection that is idle longest, if since *before*."""
        deques = [idle for idle in self._idle.values() if idle and idle[0][0] < before]
        return [self._gone(idle.popleft()[1]) for idle in deques]

    def _gone(self, connection: C) -> C:
        self._open.discard(connection)
        return connection


def _origin(request: httpcore.Request) -> Origin:
    """
    Give what a connection belongs to.

    Raises:
        UnsupportedProtocol: The address is not one of HTTP.

    """
    origin = request.url.origin if request.url.scheme in (b"http", b"https") else None
    if origin is None:
        raise httpcore.UnsupportedProtocol
    return origin.scheme, origin.host, origin.port


class Pool:
    """
    Connections for threads, in place of `httpcore.ConnectionPool`.

    Args:
        tls: Whom to trust.
        most: How many may be open; a request waits for its place as long as its timeout says.

    """

    def __init__(self, tls: ssl.SSLContext, most: int) -> None:
        self._tls, self._backend = tls, BoundedBackend()
        self._shelf: Shelf[httpcore.HTTPConnection] = Shelf(most)
        self._places = threading.BoundedSemaphore(most)

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """
        Send *request* over a connection of its own.

        Raises:
            PoolTimeout: There was no place in time.

        """
        origin = _origin(request)
        given: Any = request  # its extensions are untyped
        if not self._places.acquire(timeout=given.extensions["timeout"]["pool"]):
            raise httpcore.PoolTimeout
        try:
            return self._sent(origin, request)
        except BaseException:
            self._places.release()
            raise

    def _sent(self, origin: Origin, request: httpcore.Request) -> httpcore.Response:
        connection, stale = self._shelf.taken(origin, lambda: self._made(request))
        try:
            for one in stale:
                one.close()
            response = connection.handle_request(request)
        except BaseException:
            self._shelf.dropped(connection)
            connection.close()
            raise

        def back() -> None:
            for one in self._shelf.back(origin, connection):
                one.close()
            self._places.release()

        response.stream = _Body(response.stream, back)
        return response

    def _made(self, request: httpcore.Request) -> httpcore.HTTPConnection:
        return httpcore.HTTPConnection(
            request.url.origin, self._tls, KEPT_SECONDS, network_backend=self._backend
        )

    def close(self) -> None:
        """Close every connection."""
        for connection in self._shelf.ended():
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncPool:
    """
    Connections for one event loop, in place of `httpcore.AsyncConnectionPool`.

    Who asks waits in front of it, and bounds all it does by a scope of its own.

    Args:
        tls: Whom to trust.
        most: How many are kept open for later.

    """

    def __init__(self, tls: ssl.SSLContext, most: int) -> None:
        self._tls, self._backend = tls, LoopBackend()
        self._shelf: Shelf[httpcore.AsyncHTTPConnection] = Shelf(most)

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send *request* over a connection of its own."""
        origin = _origin(request)
        connection, stale = self._shelf.taken(origin, lambda: self._made(request))
        try:
            for one in stale:
                await one.aclose()
            response = await connection.handle_async_request(request)
        except BaseException:
            self._shelf.dropped(connection)
            await connection.aclose()
            raise
        _unlocked(connection)

        async def back() -> None:
            for one in self._shelf.back(origin, connection):
                await one.aclose()

        response.stream = _AsyncBody(response.stream, back)
        return response

    def _made(self, request: httpcore.Request) -> httpcore.AsyncHTTPConnection:
        return httpcore.AsyncHTTPConnection(
            request.url.origin, self._tls, KEPT_SECONDS, network_backend=self._backend
        )

    async def aclose(self) -> None:
        """Close every connection."""
        for connection in self._shelf.ended():
            await connection.aclose()
        await asyncio.sleep(0)  # the loop closes the sockets at its next turn

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Body:
    """A response's body; closing it gives the connection back."""

    def __init__(self, stream: Any, back: Callable[[], None]) -> None:  # noqa: ANN401
        self._stream, self._back = stream, back

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._back()


class _AsyncBody:
    """As `_Body`."""

    def __init__(self, stream: Any, back: Callable[[], Awaitable[None]]) -> None:  # noqa: ANN401
        self._stream, self._back = stream, back

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            await self._back()


class _Unlocked:
    """A lock where there is one to pass: each of httpcore's costs a turn of the loop."""

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


_UNLOCKED = _Unlocked()


def _unlocked(connection: Any) -> None:  # noqa: ANN401 - httpcore has no public way in
    """Spare a lent connection its locks; were the names to change, it would only cost more."""
    lock, inner = (
        getattr(connection, "_request_lock", None),
        getattr(connection, "_connection", None),
    )
    if lock is None or lock is _UNLOCKED or not hasattr(inner, "_state_lock"):
        return
    connection._request_lock = _UNLOCKED  # noqa: SLF001
    inner._state_lock = _UNLOCKED  # type: ignore[union-attr]  # noqa: SLF001
