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
from collections.abc import Awaitable, Callable, Generator, Mapping
from email.utils import parsedate_to_datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from . import sockets
from .errors import NoAnswer, Reason
from .plugins import HttpRequest, HttpResponse

if TYPE_CHECKING:
    import ssl

    import httpx
    from tenacity import RetryCallState

T = TypeVar("T")

MAX_CONNECTIONS = 100  # for each provider and loop; further asks wait in front of the pool
MAX_BODY = 8 * 1024 * 1024  # bytes; 400 answers with 255 options each stay below 6 MiB
RETRIED = frozenset({408, 429, 500, 502, 503, 504, 524, 529})
FIRST_WAIT, LONGEST_WAIT = 0.2, 2.0  # seconds between attempts, where the server names none

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
Sent: TypeAlias = "HttpResponse | httpx.TransportError"
"""What one attempt came to; an error where no connection was made, so that nothing was sent."""


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
                if _heals(sent):
                    sent = _again_sync(once, sent, _policy(attempts, until))
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
                    if _heals(sent):
                        sent = await _again_async(once, sent, _policy(attempts, until))
                    request = exchange.send(_response(sent))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        exchange.close()


def _once_sync(client: httpx.Client, request: HttpRequest, until: float) -> Sent:
    import httpx

    try:
        with client.stream(**_arguments(request, until)) as response:
            headers = _headers_of(response)
            if _is_small(headers):
                return HttpResponse(response.status_code, headers, response.read())
            body = bytearray()
            for chunk in response.iter_bytes():
                _take(body, chunk)
            return HttpResponse(response.status_code, headers, bytes(body))
    except (httpx.ConnectError, httpx.ConnectTimeout) as unsent:
        return unsent


async def _once_async(client: httpx.AsyncClient, request: HttpRequest, until: float) -> Sent:
    import httpx

    try:
        async with client.stream(**_arguments(request, until)) as response:
            headers = _headers_of(response)
            if _is_small(headers):
                return HttpResponse(response.status_code, headers, await response.aread())
            body = bytearray()
            async for chunk in response.aiter_bytes():
                _take(body, chunk)
            return HttpResponse(response.status_code, headers, bytes(body))
    except (httpx.ConnectError, httpx.ConnectTimeout) as unsent:
        return unsent


def _headers_of(response: httpx.Response) -> dict[str, str]:
    raw = response.headers.raw  # httpx's own mapping costs more for each look than this for all
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


def _is_small(headers: Mapping[str, str]) -> bool:
    """Whether the body says its size and is not packed: then it can be read at once."""
    length = headers.get("content-length", "")
    return "content-encoding" not in headers and length.isdigit() and int(length) <= MAX_BODY


def _arguments(request: HttpRequest, until: float) -> dict[str, Any]:
    left = until - time.monotonic()
    if left <= 0:
        raise NoAnswer(Reason.TIMEOUT)
    return {
        "method": request.method,
        "url": request.url,
        "headers": request.headers,
        "content": request.content,
        "timeout": left,
    }


def _take(body: bytearray, chunk: bytes) -> None:
    body += chunk
    if len(body) > MAX_BODY:
        raise NoAnswer(Reason.MALFORMED)


def _heals(sent: Sent) -> bool:
    """Whether it may go better when it is sent again; a 429 only if the server says when."""
    if not isinstance(sent, HttpResponse):
        return True
    if sent.status == 429:  # noqa: PLR2004
        return "retry-after" in sent.headers
    return sent.status in RETRIED


def _response(sent: Sent) -> HttpResponse:
    if isinstance(sent, HttpResponse):
        return sent
    raise sent


def _again_sync(once: Callable[[], Sent], first: Sent, policy: dict[str, Any]) -> Sent:
    """Go on from the *first* attempt, which has been made; tenacity costs only who needs it."""
    from tenacity import Retrying

    made = [first]
    retrying: Any = Retrying(**policy)
    return retrying(lambda: made.pop() if made else once())  # type: ignore[no-any-return]


async def _again_async(
    once: Callable[[], Awaitable[Sent]], first: Sent, policy: dict[str, Any]
) -> Sent:
    from tenacity import AsyncRetrying

    made = [first]

    async def again() -> Sent:
        return made.pop() if made else await once()

    retrying: Any = AsyncRetrying(**policy)
    return await retrying(again)  # type: ignore[no-any-return]


def _policy(attempts: int, until: float) -> dict[str, Any]:
    """Say to tenacity what is retried, how long to wait, and when to stop."""

    def stop(state: RetryCallState) -> bool:
        late = time.monotonic() + state.upcoming_sleep >= until
        return state.attempt_number >= attempts or late

    def heals(state: RetryCallState) -> bool:
        assert state.outcome is not None
        return not state.outcome.failed and _heals(state.outcome.result())

    return {"retry": heals, "stop": stop, "wait": _wait, "retry_error_callback": _last}


def _last(state: RetryCallState) -> Sent:
    assert state.outcome is not None
    return state.outcome.result()  # type: ignore[no-any-return]


def _wait(state: RetryCallState) -> float:
    from tenacity import wait_random_exponential

    assert state.outcome is not None
    sent: Sent = state.outcome.result()
    named = retry_after(sent.headers) if isinstance(sent, HttpResponse) else None
    return wait_random_exponential(FIRST_WAIT, LONGEST_WAIT)(state) if named is None else named


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds a server asks to wait; a number or an HTTP date."""
    text = headers.get("retry-after", "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


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
    client = httpx.Client(verify=_tls(), limits=limits, headers=_headers(), follow_redirects=False)
    private: Any = client  # httpx has no public way in
    for transport in (private._transport, *private._mounts.values()):  # noqa: SLF001
        if transport is not None:  # a proxy of the environment has its own; None: past it
            transport._pool._network_backend = sockets.bounded_backend()  # noqa: SLF001
    return client


def async_client() -> httpx.AsyncClient:
    """Make a client for one event loop; it opens nothing yet."""
    import httpx

    return httpx.AsyncClient(
        verify=_tls(), limits=_limits(None), headers=_headers(), follow_redirects=False
    )


def _limits(connections: int | None) -> httpx.Limits:
    import httpx

    return httpx.Limits(max_connections=connections, max_keepalive_connections=MAX_CONNECTIONS)


def _headers() -> dict[str, str]:
    return {"user-agent": f"pointsman/{version('pointsman')}"}  # some CDNs refuse default agents


@functools.cache
def _tls() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()  # loads the certificates: tens of milliseconds, so once
