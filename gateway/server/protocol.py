"""
HTTP/1.1 as uvicorn speaks it, with bounds on what it leaves unbounded: heads and idle clients.

uvicorn waits for ever for a client that connects and says nothing, or drips a byte of its head
now and then, and keeps whatever a head holds. Bodies are bounded by the application.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

if TYPE_CHECKING:
    from .settings import ServerLimits


class TooMuch(ValueError):
    """The head of a request is larger than is taken; raised inside the parser's call-backs."""


class Bounded(HttpToolsProtocol):
    """
    One connection.

    A subclass that `bounded` makes holds the limits of its server, since uvicorn makes the
    connections itself.
    """

    limits: ServerLimits

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self._late: asyncio.TimerHandle | None = None
        self._in_head = False
        self._in_body = False
        self._passed = False  # a border between heads and bodies, in what was parsed last
        self._since = 0  # bytes since that border, of whole pieces from the network
        self._size = 0  # of the headers so far
        self._refusal = HTTPStatus.BAD_REQUEST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, unless there are too many; its first head is awaited."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            transport.abort()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, and bound what is not complete yet."""
        self._passed = False
        super().data_received(data)
        self._since = 0 if self._passed else self._since + len(data)
        if self.transport.is_closing():
            self._stop_waiting()
        elif self._since > self._bound:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif not self._busy and self._late is None and self.timeout_keep_alive_task is None:
            self._wait()

    @property
    def _bound(self) -> int:
        """Bytes of a head, or of a body with the marks of its pieces, that nobody may exceed."""
        limits = self.limits
        return limits.max_header_bytes + 2 * limits.max_body_bytes * self._in_body

    @property
    def _busy(self) -> bool:
        """Whether a request is being read or answered; the application bounds its time."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # uvicorn says it is never None
        return cycle is not None and not cycle.response_complete

    def on_message_begin(self) -> None:
        """Begin to count a head."""
        super().on_message_begin()
        self._in_head, self._size = True, 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._count(len(name) + len(value))
        super().on_header(name, value)
        if len(self.headers) > self.limits.max_headers:
            self._too_much()

    def on_headers_complete(self) -> None:
        """Begin the request: from here on the application watches the clock."""
        self._in_head, self._in_body, self._passed = False, True, True
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End the body; what follows is another head."""
        self._in_body, self._passed = False, True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on; a head that has come in part is awaited no longer than any other."""
        super().on_response_complete()
        if self._in_head and self._late is None:
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Refuse a head that cannot be read."""
        self._refuse(self._refusal)

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self.limits.max_header_bytes:
            self._too_much()

    def _too_much(self) -> None:
        self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        raise TooMuch

    def _refuse(self, status: HTTPStatus) -> None:
        """Say *status* and close, unless that would be taken for the answer to something else."""
        self._stop_waiting()
        if self._busy or self._in_body:
            self.transport.abort()
        else:
            head = STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(head)
            self.transport.close()

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.limits.header_seconds, self._overdue)

    def _overdue(self) -> None:
        self._late = None
        if not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def bounded(limits: ServerLimits) -> type[Bounded]:
    """Make the protocol of a server with these *limits*."""
    return type("BoundedHttp", (Bounded,), {"limits": limits})
