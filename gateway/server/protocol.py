"""
HTTP/1.1 as uvicorn speaks it, with bounds on what it leaves unbounded: heads and idle clients.

uvicorn waits for ever for a client that connects and says nothing, drips a byte of its head now
and then, or does not read its answer; it keeps whatever a head holds, and every request that is
sent before the answer to the first. Bodies are bounded by the application.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .settings import ServerLimits

AHEAD = 16  # requests that may wait on one connection for the answers to those before them
UPGRADING = frozenset({b"upgrade", b"connection", b"http2-settings"})


class TooMuch(ValueError):
    """More is sent than is taken; raised inside the parser's call-backs."""


class Flow(FlowControl):
    """Leaves a connection alone that is closed already: uvicorn reads on where a client left."""

    def pause_reading(self) -> None:
        """Read no more, for now."""
        if not self._transport.is_closing():
            super().pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        if not self._transport.is_closing():
            super().resume_reading()


class Bounded(HttpToolsProtocol):
    """
    One connection.

    A subclass that `bounded` makes holds the limits of its server, since uvicorn makes the
    connections itself.
    """

    limits: ServerLimits
    refused: Callable[[HTTPStatus], None] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None
        self._in_head = False
        self._in_body = False
        self._upgrades = False
        self._passed = False  # a border between heads and bodies, in what was parsed last
        self._since = 0  # bytes since that border, of whole pieces from the network
        self._size = 0  # of the headers so far
        self._refusal = HTTPStatus.BAD_REQUEST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, unless there are too many; its first head is awaited."""
        super().connection_made(transport)
        self.flow = Flow(transport)
        if len(self.connections) > self.limits.max_connections:
            transport.abort()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection; uvicorn tells the last of its requests, which may wait yet."""
        self._stop_waiting()
        self._taken()
        self.pipeline.clear()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, and bound what is not complete yet."""
        self._passed = False
        self._unset_keepalive_if_required()
        self._parse(data)
        self._since = 0 if self._passed else self._since + len(data)
        if self.transport.is_closing():
            self._stop_waiting()
        elif self._since > self._bound:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif not self._busy and self._late is None and self.timeout_keep_alive_task is None:
            self._wait()

    def _parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(self._refusal)

    def _stay(self, rest: bytes) -> None:
        """
        Read a request again without its wish for another protocol (RFC 9110 § 7.8).

        The parser takes what follows such a head for that protocol, and drops the body.
        """
        if not self._upgrades:  # CONNECT
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        self._upgrades = False
        version = self.parser.get_http_version().encode()
        line = self.parser.get_method() + b" " + self.url + b" HTTP/" + version
        kept = [name + b": " + value for name, value in self.headers if name not in UPGRADING]
        if not self.parser.should_keep_alive():
            kept.append(b"connection: close")
        self.parser = httptools.HttpRequestParser(self)
        self._parse(b"\r\n".join([line, *kept, b"", rest]))

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
        """Take a header; one that follows the body is counted, and says nothing of the request."""
        self._count(len(name) + len(value))
        if self._in_head:
            super().on_header(name, value)
        if len(self.headers) > self.limits.max_headers:
            self._too_much()

    def on_headers_complete(self) -> None:
        """Begin the request: from here on the application watches the clock."""
        if self.parser.should_upgrade():
            self._upgrades = self.parser.get_method() != b"CONNECT"
            return
        if len(self.pipeline) >= AHEAD:
            raise TooMuch
        self._in_head, self._in_body, self._passed = False, True, True
        self._stop_waiting()
        waits = self._busy
        super().on_headers_complete()
        if not waits:
            self._answering = self.cycle

    def on_message_complete(self) -> None:
        """End the body; what follows is another head."""
        if self._in_body:
            self._in_body, self._passed = False, True
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on; a head that has come in part is awaited no longer than any other."""
        following = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        if self.transport.is_closing():
            self._wait_for_reader()
        elif following is not None:
            self._answering = following
        if self._in_head and self._late is None:
            self._wait()

    def pause_writing(self) -> None:
        """Let the client read what there is, in the time that it takes to answer a request."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """Go on: it has read."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._taken()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that nobody uses, also where its client leaves the answer unread."""
        super().timeout_keep_alive_handler()
        self._wait_for_reader()

    def shutdown(self) -> None:
        """Close it after the answer that is being made."""
        super().shutdown()
        if self.transport.is_closing():
            self._wait_for_reader()

    def _wait_for_reader(self) -> None:
        if self._unread is None:
            self._unread = self.loop.call_later(self.limits.max_seconds, self.transport.abort)

    def _taken(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

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
            return
        head = STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n"
        self.transport.write(head)
        self.transport.close()
        self._wait_for_reader()
        if self.refused is not None:
            self.refused(status)

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


def bounded(
    limits: ServerLimits, refused: Callable[[HTTPStatus], None] | None = None
) -> type[Bounded]:
    """
    Make the protocol of a server.

    Args:
        limits: What it takes.
        refused: Is told of each request that no application ever saw.

    """
    given = {"limits": limits, "refused": None if refused is None else staticmethod(refused)}
    return type("BoundedHttp", (Bounded,), given)
