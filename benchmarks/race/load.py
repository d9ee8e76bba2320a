"""
The load on a server: so many connections, each with one request under way, every answer checked.

It reads only what HTTP/1.1 needs, so that it is not what is measured.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import NamedTuple, cast

from .reading import end_of

_CLOSES = re.compile(rb"\r\nconnection:\s*close", re.IGNORECASE)
DRAIN_SECONDS = 5.0  # for what is under way when the time is over


class Request(NamedTuple):
    """
    What is sent again and again.

    Attributes:
        path: Of the URL.
        body: JSON.
        right: Finds the right answer in a response.
        headers: Beside those that every request has.

    """

    path: str
    body: bytes
    right: re.Pattern[bytes]
    headers: tuple[tuple[str, str], ...] = ()

    def encoded(self, port: int) -> bytes:
        """Write the bytes for a server on *port*."""
        given = (
            ("host", f"127.0.0.1:{port}"),
            ("content-type", "application/json"),
            ("content-length", str(len(self.body))),
            *self.headers,
        )
        head = "".join(f"{name}: {value}\r\n" for name, value in given)
        return f"POST {self.path} HTTP/1.1\r\n{head}\r\n".encode() + self.body


class Tally:
    """
    What came of it.

    Attributes:
        latencies: Seconds of each right answer, in order of arrival.
        errors: Other statuses, wrong answers, broken connections, and what never came.
        status: The last status that was not 200; 0 where there was none.

    """

    def __init__(self) -> None:
        self.latencies: list[float] = []
        self.errors = 0
        self.status = 0
        self.over = False


class Asking(asyncio.Protocol):
    """One connection: asks, checks the answer, asks again, until the time is over."""

    def __init__(self, sent: bytes, right: re.Pattern[bytes], tally: Tally) -> None:
        self._sent, self._right, self._tally = sent, right, tally
        self._held = b""
        self._begun = 0.0
        self._waiting = False
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the first time."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Check what is whole, and ask again."""
        self._held = self._held + data if self._held else data
        end = end_of(self._held)
        if end is None:
            return
        answer, self._held = self._held[:end], self._held[end:]
        self._waiting = False
        self._count(answer)
        if self._tally.over or _CLOSES.search(answer):
            self._transport.close()
        else:
            self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count what never came."""
        if self._waiting:
            self._tally.errors += 1
        if not self.done.done():
            self.done.set_result(None)

    def stop(self) -> None:
        """Give up."""
        self._transport.abort()

    def _ask(self) -> None:
        self._waiting = True
        self._begun = time.perf_counter()
        self._transport.write(self._sent)

    def _count(self, answer: bytes) -> None:
        if self._tally.over:
            return
        if answer[9:12] == b"200" and self._right.search(answer):
            self._tally.latencies.append(time.perf_counter() - self._begun)
            return
        self._tally.errors += 1
        self._tally.status = int(answer[9:12])


async def load(port: int, request: Request, connections: int, seconds: float) -> Tally:
    """Ask a server on *port* for so many *seconds*; what is then under way is not counted."""
    tally = Tally()
    sent = request.encoded(port)
    lines = [
        asyncio.create_task(_line(port, lambda: Asking(sent, request.right, tally), tally))
        for _ in range(connections)
    ]
    await asyncio.sleep(seconds)
    tally.over = True
    _, late = await asyncio.wait(lines, timeout=DRAIN_SECONDS)
    tally.errors += len(late)
    for line in late:
        line.cancel()
    await asyncio.gather(*lines, return_exceptions=True)
    return tally


async def _line(port: int, asking: Callable[[], Asking], tally: Tally) -> None:
    """Keep one connection busy: a server that closes it is connected to again."""
    loop = asyncio.get_running_loop()
    while not tally.over:
        try:
            _, one = await loop.create_connection(asking, "127.0.0.1", port)
        except OSError:
            tally.errors += 1
            await asyncio.sleep(0.05)  # a server that is gone must not be hammered
            continue
        try:
            await one.done
        finally:
            one.stop()
