"""
The HTTP client: requests and responses as plain values, one sync and one async sender.

The only module that imports httpx, at first use. A provider's `exchange` yields requests and
is sent responses; the senders bound all attempts together by one deadline, retry what may be
retried, and map foreign errors to reasons. Bodies never reach an error message.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Generator, Mapping
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from . import sockets
from .errors import NoAnswer, Reason
from .exchanging import HttpRequest, HttpResponse
from .retries import Sent, again_async, again_sync, heals, policy

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


Exchange = Generator[HttpRequest, HttpResponse, T]


def reason_of(status: int) -> Reason:
    """Map a status that is no success to a reason of the closed list."""
    if status >= 500:  # noqa: PLR2004 - server errors
        return Reason.PROVIDER_ERROR
    return _REASONS.get(status, Reason.REJECTED)


def send_sync(exchange: Exchange[T], client: httpx.Client, until: float, attempts: int) -> T:
    """
    Drive *exchange* on this thread.

    Args:
        exchange: A provider's exchange.
        client: From `sync_client`.
        until: On `time.monotonic`; all attempts and waits end before it.
        attempts: How often one request may be sent.

    Raises:
        NoAnswer: `timeout`, `transport`, or what the exchange raises.

    """
    token = sockets.until.set(until)
    try:
        with _mapped():
            request = next(exchange)
            while True:
                once = partial(_once_sync, client, request, until)
                sent = once()
                if heals(sent, request):
                    sent = again_sync(once, sent, policy(request, attempts, until))
                request = exchange.send(_response(sent))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        sockets.until.reset(token)
        exchange.close()


async def send_async(
    exchange: Exchange[T], client: httpx.AsyncClient, until: float, attempts: int
) -> T:
    """Drive *exchange* in this task; cancelling it closes the socket. As `send_sync`."""
    try:
        with _mapped():
            async with asyncio.timeout(until - time.monotonic()):
                request = next(exchange)
                while True:
                    once = partial(_once_async, client, request, until)
                    sent = await once()
                    if heals(sent, request):
                        sent = await again_async(once, sent, policy(request, attempts, until))
                    request = exchange.send(_response(sent))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        exchange.close()


def _once_sync(client: httpx.Client, request: HttpRequest, until: float) -> Sent:
    import httpx

    try:
        response = client.send(_built(request, until), stream=True)
    except (httpx.ConnectError, httpx.ConnectTimeout) as unsent:
        return unsent
    try:
        headers = _unpacked(_headers_of(response))
        if _is_small(headers):
            return HttpResponse(response.status_code, headers, response.read())
        body = bytearray()
        for chunk in response.iter_bytes():
            _take(body, chunk)
        return HttpResponse(response.status_code, headers, bytes(body))
    finally:
        response.close()


async def _once_async(client: httpx.AsyncClient, request: HttpRequest, until: float) -> Sent:
    import httpx

    try:
        response = await client.send(_built(request, until), stream=True)
    except (httpx.ConnectError, httpx.ConnectTimeout) as unsent:
        return unsent
    try:
        headers = _unpacked(_headers_of(response))
        if _is_small(headers):
            return HttpResponse(response.status_code, headers, await response.aread())
        body = bytearray()
        async for chunk in response.aiter_bytes():
            _take(body, chunk)
        return HttpResponse(response.status_code, headers, bytes(body))
    finally:
        await response.aclose()


def _built(request: HttpRequest, until: float) -> httpx.Request:
    """Build the request here: merging a client's defaults costs more than all else we add."""
    import httpx

    left = until - time.monotonic()
    if left <= 0:
        raise NoAnswer(Reason.TIMEOUT)
    return httpx.Request(
        request.method,
        _parsed(request.url),
        headers={**_defaults(), **request.headers},
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


def _headers_of(response: httpx.Response) -> dict[str, str]:
    raw = response.headers.raw  # httpx's own mapping costs more for each look than this for all
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


def _unpacked(headers: dict[str, str]) -> dict[str, str]:
    """
    Refuse a packed body, which we never ask for: a few bytes may unpack to gigabytes.

    Raises:
        NoAnswer: `malformed`.

    """
    if headers.get("content-encoding", "identity") != "identity":
        raise NoAnswer(Reason.MALFORMED)
    return headers


def _is_small(headers: Mapping[str, str]) -> bool:
    """Whether the body says that it can be read at once."""
    length = headers.get("content-length", "")
    return length.isdigit() and len(length) < len(str(MAX_BODY)) + 1 and int(length) <= MAX_BODY


def _take(body: bytearray, chunk: bytes) -> None:
    body += chunk
    if len(body) > MAX_BODY:
        raise NoAnswer(Reason.MALFORMED)


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
    if issubclass(kind, httpx.DecodingError):
        return Reason.MALFORMED
    if issubclass(kind, httpx.HTTPError | httpx.InvalidURL | OSError):
        return Reason.TRANSPORT
    return None


def sync_client() -> httpx.Client:
    """Make a client for threads; it opens nothing yet."""
    import httpx

    limits = _limits(MAX_CONNECTIONS)
    client = httpx.Client(verify=_tls(), limits=limits, follow_redirects=False)
    private: Any = client  # httpx has no public way in
    for transport in (private._transport, *private._mounts.values()):  # noqa: SLF001
        if transport is not None:  # a proxy of the environment has its own; None: past it
            transport._pool._network_backend = sockets.bounded_backend()  # noqa: SLF001
    return client


def async_client() -> httpx.AsyncClient:
    """Make a client for one event loop; it opens nothing yet."""
    import httpx

    return httpx.AsyncClient(verify=_tls(), limits=_limits(None), follow_redirects=False)


def _limits(connections: int | None) -> httpx.Limits:
    import httpx

    return httpx.Limits(max_connections=connections, max_keepalive_connections=MAX_CONNECTIONS)


@functools.cache
def _tls() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()  # loads the certificates: tens of milliseconds, so once
