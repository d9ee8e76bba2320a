"""
The HTTP client: requests and responses as plain values, one sync and one async sender.

The only module that imports httpx, at first use. A provider's `exchange` yields requests and
is sent responses; the senders bound all attempts together by one deadline, retry what may be
retried, and map foreign errors to reasons. Bodies never reach an error message.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import time
from collections.abc import Generator, Mapping
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import NoAnswer, Reason
from .exchanging import HttpRequest, HttpResponse
from .retries import Sent, again_async, again_sync, heals, policy
from .tracing.carrying import carried

if TYPE_CHECKING:
    import ssl

    import httpx

T = TypeVar("T")

MAX_CONNECTIONS = 100  # for each provider and loop; further asks wait in front of the pool
MAX_BODY = 8 * 1024 * 1024  # bytes; 400 answers with 255 options each stay below 6 MiB
_REASONS: Mapping[int, Reason] = {
    401: Reason.AUTH,
    402: Reason.PAYMENT,
    403: Reason.AUTH,
    408: Reason.TIMEOUT,
    413: Reason.TOO_LARGE,
    424: Reason.PROVIDER_ERROR,
    429: Reason.RATE_LIMITED,
}

ends_at: contextvars.ContextVar[float] = contextvars.ContextVar("pointsman_ends_at")
"""When the sync ask that runs in this context must end, on `time.monotonic`."""

Exchange = Generator[HttpRequest, HttpResponse, T]


def reason_of(status: int) -> Reason:
    """Map a status that is no success to a reason of the closed list."""
    if status >= 500:  # noqa: PLR2004 - server errors
        return Reason.PROVIDER_ERROR
    return _REASONS.get(status, Reason.REJECTED)


def send_sync(exchange: Exchange[T], client: httpx.Client, end: float, attempts: int) -> T:
    """
    Drive *exchange* on this thread.

    Args:
        exchange: A provider's exchange.
        client: From `sync_client`.
        end: On `time.monotonic`; all attempts and waits end before it.
        attempts: How often one request may be sent.

    Raises:
        NoAnswer: `timeout`, `transport`, or what the exchange raises.

    """
    token = ends_at.set(end)
    try:
        with _mapped():
            request = next(exchange)
            while True:
                once = partial(_once_sync, client, request, end)
                sent = once()
                if heals(sent, request):
                    sent = again_sync(once, sent, policy(request, attempts, end))
                request = exchange.send(_response(sent))
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        ends_at.reset(token)
        exchange.close()


async def send_async(
    exchange: Exchange[T], client: httpx.AsyncClient, end: float, attempts: int
) -> T:
    """Drive *exchange* in this task; cancelling it closes the socket. As `send_sync`."""
    try:
        with _mapped():
            async with asyncio.timeout(end - time.monotonic()):
                request = next(exchange)
                while True:
                    once = partial(_once_async, client, request, end)
                    sent = await once()
                    if heals(sent, request):
                        sent = await again_async(once, sent, policy(request, attempts, end))
                    request = exchange.send(_response(sent))
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        exchange.close()


def _once_sync(client: httpx.Client, request: HttpRequest, end: float) -> Sent:
    import httpx

    try:
        response = _begun(client, _built(request, end))
    except (httpx.ConnectError, httpx.ConnectTimeout) as unsent:
        return unsent
    stream: Any = response.stream
    try:
        body = _Body(response)
        for part in stream:
            body.take(part)
        return body.response()
    finally:
        stream.close()


async def _once_async(client: httpx.AsyncClient, request: HttpRequest, end: float) -> Sent:
    import httpx

    try:
        response = await _begun_async(client, _built(request, end))
    except (httpx.ConnectError, httpx.ConnectTimeout) as unsent:
        return unsent
    stream: Any = response.stream
    try:
        body = _Body(response)
        async for part in stream:
            body.take(part)
        return body.response()
    finally:
        await stream.aclose()


def _begun(client: httpx.Client, request: httpx.Request) -> httpx.Response:
    """
    Send by the client's own transport.

    Past the client's layers for cookies, redirects and hooks, of which we use none; whatever
    is put in place of the transport, a proxy of the environment or a test's mock, is met here.
    """
    if request.url.userinfo:  # it makes a header of this
        return client.send(request, stream=True)
    private: Any = client
    return private._transport_for_url(request.url).handle_request(request)  # type: ignore[no-any-return] # noqa: SLF001


async def _begun_async(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    """As `_begun`."""
    if request.url.userinfo:
        return await client.send(request, stream=True)
    private: Any = client
    transport = private._transport_for_url(request.url)  # noqa: SLF001
    return await transport.handle_async_request(request)  # type: ignore[no-any-return]


def _built(request: HttpRequest, end: float) -> httpx.Request:
    """Build the request here: merging a client's defaults costs more than all else we add."""
    import httpx

    left = end - time.monotonic()
    if left <= 0:
        raise NoAnswer(Reason.TIMEOUT)
    tracer = carried.get()
    beside: Mapping[str, str] = {} if tracer is None else tracer.headers(request.url)
    return httpx.Request(
        request.method,
        _parsed(request.url),
        headers={**_defaults(), **beside, **request.headers},
        content=request.content,
        extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), left)},
    )


@functools.lru_cache(maxsize=64)
def _parsed(url: str) -> httpx.URL:
    import httpx

    return httpx.URL(url)


@functools.cache
def _defaults() -> dict[str, str]:
    agent = f"pointsman/{version('pointsman')}"  # some CDNs refuse the agents of libraries
    return {"accept": "*/*", "accept-encoding": "identity", "user-agent": agent}


class _Body:
    """
    A body that is read.

    Raises:
        NoAnswer: `malformed`: it is packed, which we never ask for, since a few bytes may unpack
            to gigabytes; or it is longer than `MAX_BODY`.

    """

    def __init__(self, response: httpx.Response) -> None:
        raw = response.headers.raw  # httpx's own mapping costs more for one look than this for all
        self._headers = {name.decode("latin-1").lower(): v.decode("latin-1") for name, v in raw}
        self._status = response.status_code
        self._parts: list[bytes] = []
        self._size = 0
        if self._headers.get("content-encoding", "identity") != "identity":
            raise NoAnswer(Reason.MALFORMED)

    def take(self, part: bytes) -> None:
        """Keep *part*."""
        self._size += len(part)
        if self._size > MAX_BODY:
            raise NoAnswer(Reason.MALFORMED)
        self._parts.append(part)

    def response(self) -> HttpResponse:
        """Give the whole."""
        return HttpResponse(self._status, self._headers, b"".join(self._parts))


def _response(sent: Sent) -> HttpResponse:
    if isinstance(sent, HttpResponse):
        return sent
    raise sent


class _mapped:  # noqa: N801 - reads as a word where it is used
    """Map foreign errors to reasons, once, at the edge; their texts stay behind."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None or not issubclass(kind, Exception) or issubclass(kind, StopIteration):
            return
        if (reason := _foreign(kind)) is not None:
            raise NoAnswer(reason) from None


def _foreign(kind: type[Exception]) -> Reason | None:
    import httpx

    if issubclass(kind, httpx.PoolTimeout):  # nothing was sent: no failure of the provider
        return Reason.SKIPPED
    if issubclass(kind, httpx.TimeoutException | TimeoutError):
        return Reason.TIMEOUT
    if issubclass(kind, httpx.HTTPError | httpx.InvalidURL | OSError):
        return Reason.TRANSPORT
    return None


def sync_client() -> httpx.Client:
    """Make a client for threads; it opens nothing yet."""
    import httpx

    from .connections import Pool
    from .sockets import BoundedBackend

    client = httpx.Client(verify=_tls(), limits=_limits(MAX_CONNECTIONS), follow_redirects=False)
    private: Any = client  # httpx has no public way in
    private._transport._pool = Pool(_tls(), MAX_CONNECTIONS)  # noqa: SLF001
    for proxy in private._mounts.values():  # noqa: SLF001
        if proxy is not None:  # of the environment, with a pool of its own; None: past it
            proxy._pool._network_backend = BoundedBackend()  # noqa: SLF001
    return client


def async_client() -> httpx.AsyncClient:
    """Make a client for one event loop; it opens nothing yet."""
    import httpx

    from .connections import AsyncPool

    client = httpx.AsyncClient(verify=_tls(), limits=_limits(None), follow_redirects=False)
    private: Any = client
    private._transport._pool = AsyncPool(_tls(), MAX_CONNECTIONS)  # noqa: SLF001
    return client


def _limits(connections: int | None) -> httpx.Limits:
    import httpx

    return httpx.Limits(max_connections=connections, max_keepalive_connections=MAX_CONNECTIONS)


@functools.cache
def _tls() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()  # loads the certificates: tens of milliseconds, so once
