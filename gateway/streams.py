"""
Async sockets as a protocol of the loop itself, without a library between httpcore and it.

They take no timeouts: whoever asks bounds all of it by one scope, and cancelling it closes the
socket. Loaded at first use, since it needs httpcore.
"""

from __future__ import annotations

import asyncio
import ipaddress
import select
import socket
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

import httpcore

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

HIGH_WATER = 64 * 1024  # bytes that may wait to be read; then the server waits
HEAD_START = 0.25  # seconds for one address before the next is tried too (RFC 8305 §5)
UNREACHED = (OSError, UnicodeError)  # the latter for a name that cannot be one


class _Pipe(asyncio.Protocol):
    """What has arrived on a connection; at most one reader waits for more."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.held = b""
        self.ended = False
        self._fault: Exception | None = None
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.held += data
        if len(self.held) > HIGH_WATER and not self._paused and not self.transport.is_closing():
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended, self._fault = True, exc
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def taken(self, most: int) -> bytes:
        """
        Wait for bytes and take at most *most* of them; none: the server hung up.

        Raises:
            ReadError: The connection broke.

        """
        if not self.held and not self.ended:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if not self.held and self._fault is not None:
            raise httpcore.ReadError(type(self._fault).__name__)
        taken, self.held = self.held[:most], self.held[most:]
        if self._paused and len(self.held) <= HIGH_WATER and not self.transport.is_closing():
            self._paused = False
            self.transport.resume_reading()
        return taken

    def readable(self) -> bool:
        """Whether something is there, were it the end; also what the loop has not read yet."""
        if self.held or self.ended or self.transport.is_closing():
            return True
        return _readable(self.transport.get_extra_info("socket").fileno())


def _readable(descriptor: int) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return descriptor < 0 or bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class LoopStream(httpcore.AsyncNetworkStream):
    """
    One connection.

    What is written goes out when the answer is read: the headers and the body of a request in
    one packet. It is held in memory anyway, so no write waits; an early answer can be read.
    """

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe = pipe
        self._unsent: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - as declared there
        """Send what was written, and wait for bytes."""
        if self._unsent:
            data = b"".join(self._unsent)
            self._unsent.clear()
            if not self._pipe.transport.is_closing():
                self._pipe.transport.write(data)
        return await self._pipe.taken(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as declared there
        """Hold *buffer* until the answer is read."""
        self._unsent.append(buffer)

    async def aclose(self) -> None:
        """Close the socket at the loop's next turn; nothing is waited for, nor can be cancelled."""
        self._pipe.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as declared there
    ) -> httpcore.AsyncNetworkStream:
        """
        Go on encrypted.

        Raises:
            ConnectError: The server is not trusted, or hung up.

        """
        pipe, loop = self._pipe, asyncio.get_running_loop()
        plain = pipe.transport
        try:
            pipe.transport = await loop.start_tls(
                plain, pipe, ssl_context, server_hostname=server_hostname
            )
        except UNREACHED as error:
            plain.abort()
            raise httpcore.ConnectError(type(error).__name__) from None
        except BaseException:
            plain.abort()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as declared there
        """Tell httpcore what it looks for: whether an idle connection ended, and its TLS."""
        if info == "is_readable":
            return self._pipe.readable()
        return self._pipe.transport.get_extra_info(info)


class LoopBackend(httpcore.AsyncNetworkBackend):
    """How httpcore comes to its connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as declared there
        local_address: str | None = None,  # we give none
        socket_options: Iterable[Any] | None = None,  # nor these
    ) -> httpcore.AsyncNetworkStream:
        """
        Connect to whichever address of *host* answers first.

        Raises:
            ConnectError: None does, or the name has none.

        """
        try:
            return LoopStream(await _first(await _addresses(host, port), port))
        except UNREACHED as error:
            raise httpcore.ConnectError(type(error).__name__) from None

    async def sleep(self, seconds: float) -> None:
        """Wait, as declared there; nothing of ours does."""
        await asyncio.sleep(seconds)


async def _addresses(host: str, port: int) -> list[str]:
    """Resolve *host*: the families take turns, the preferred one first."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    preferred = [one[4][0] for one in found if one[0] == found[0][0]]
    others = [one[4][0] for one in found if one[0] != found[0][0]]
    turns = [one for pair in zip_longest(preferred, others) for one in pair if one is not None]
    return list(dict.fromkeys(str(one) for one in turns))


async def _connected(address: str, port: int) -> _Pipe:
    _, pipe = await asyncio.get_running_loop().create_connection(_Pipe, address, port)
    return pipe


Try: TypeAlias = "asyncio.Task[_Pipe]"


async def _first(addresses: list[str], port: int) -> _Pipe:
    """
    Connect to the address that answers first (happy eyeballs), and give up the others.

    Ours, since uvloop's `create_connection` tries one address after the other.

    Raises:
        OSError: None answers.

    """
    if len(addresses) == 1:
        return await _connected(addresses[0], port)
    tries: list[Try] = []
    won: Try | None = None
    try:
        while won is None:
            if len(tries) < len(addresses):
                tries.append(asyncio.create_task(_connected(addresses[len(tries)], port)))
            won = await _answered(tries, HEAD_START if len(tries) < len(addresses) else None)
        return won.result()
    finally:
        await _given_up([one for one in tries if one is not won])


async def _answered(tries: list[Try], seconds: float | None) -> Try | None:
    """
    Wait until one more of *tries* is done; the one that connected, if any.

    Raises:
        OSError: All failed, and no more will be made: *seconds* is None.

    """
    if running := [one for one in tries if not one.done()]:
        await asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    done = [one for one in tries if one.done()]
    won = next((one for one in done if one.exception() is None), None)
    if won is None and seconds is None and len(done) == len(tries):
        done[-1].result()  # raises
    return won


async def _given_up(tries: list[Try]) -> None:
    for one in tries:
        one.cancel()
    for late in await asyncio.gather(*tries, return_exceptions=True):
        if isinstance(late, _Pipe):  # it connected meanwhile
            late.transport.abort()
