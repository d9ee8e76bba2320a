"""
A real HTTP server on 127.0.0.1 that misbehaves when told: the only fake of these tests.

As a script it serves as a process of its own: `python faulty.py [share of faults]` prints its
port, answers every decision after a jitter, and gives its counts under `GET /counts`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Self, TypeAlias

from pointsman import Ask, Choice

TLS_HANDSHAKE = b"\x16"  # first byte of a client that wants what we do not speak
PATIENCE = 20.0  # seconds that a test waits for what must come; a bound, never a measure
HIGH_WATER = 16 * 1024 * 1024  # bytes that the server may write without waiting

TEAM = Choice("Which team takes it?", {"billing": "Amounts", "tech": "Faults", "none": "Neither"})
ASK = Ask("my router is dead", {"team": TEAM})

PROBABILITIES = {"billing": 0.03, "tech": 0.95, "none": 0.02}


class Seen(NamedTuple):
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Visit:
    """One request while it is served."""

    def __init__(
        self, server: Server, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server, self.seen = server, seen
        self._reader, self._writer = reader, writer

    async def send(self, data: bytes) -> None:
        """Send *data* to the client."""
        self._writer.write(data)
        await self._writer.drain()

    async def gone(self) -> None:
        """Wait until the client hangs up."""
        while await self._reader.read(65536):
            pass
        self.server.left.set()


Does: TypeAlias = Callable[[Visit], Awaitable[bool]]
"""What the server does with a request; True keeps the connection."""


class Server:
    """
    Serves on its own thread; what it does is told by `does`, one entry a request.

    Attributes:
        seen: Every request, in order.
        connections: How many were opened.
        most: How many were open at once.
        left: Set when a client hung up before it was answered.

    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listening.getsockname()[1]
        self.left = threading.Event()
        self._arrived = threading.Condition()
        self._does: tuple[Does, ...] = (replies(),)
        self._thread = threading.Thread(target=self._run, name="faulty-server", daemon=True)
        self.does()

    @property
    def url(self) -> str:
        """The base URL of a decision API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def does(self, *does: Does) -> None:
        """Tell what to do with the next requests, the last one again when used up; forget."""
        self._does = does or (replies(),)
        self.gate = asyncio.Event()
        self.seen: list[Seen] = []
        self.connections = self.most = self._open = 0
        self.left.clear()

    def let_go(self) -> None:
        """Let those answer who wait for it."""
        self._loop.call_soon_threadsafe(self.gate.set)

    async def reached(self, count: int = 1) -> None:
        """Wait until *count* requests have been read."""
        await asyncio.to_thread(self.wait, count)

    def wait(self, count: int = 1) -> None:
        """As `reached`, on this thread."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.seen) >= count, PATIENCE)

    async def abandoned(self) -> None:
        """Wait until a client has hung up before it was answered."""
        assert await asyncio.to_thread(self.left.wait, PATIENCE)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def serve(self) -> None:
        """Serve on this thread, until interrupted."""
        with contextlib.suppress(KeyboardInterrupt):
            self._run()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop()
            listening = asyncio.start_server(self._visited, sock=self._listening, limit=HIGH_WATER)
            server = self._loop.run_until_complete(listening)
            try:
                self._loop.run_forever()
            finally:
                server.close()  # the runner cancels the visits

    async def _visited(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open += 1
        self.most = max(self.most, self._open)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._one(reader, writer):
                    pass
        finally:
            self._open -= 1
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if (first := await reader.read(1)) in (b"", TLS_HANDSHAKE):
            return False
        rest = await reader.readuntil(b"\r\n\r\n")
        head, *lines = (first + rest).decode("latin-1").split("\r\n")
        method, path, *_ = head.split(" ")
        pairs = (line.partition(": ") for line in lines if line)
        headers = {name.lower(): value for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        does = self._does[min(len(self.seen), len(self._does) - 1)]
        seen = Seen(method, path, headers, body)
        with self._arrived:
            self.seen.append(seen)
            self._arrived.notify_all()
        return await does(Visit(self, seen, reader, writer))


# --- what it may do ----------------------------------------------------------------------


def replies(
    body: object = None, status: int = 200, headers: Mapping[str, str] | None = None
) -> Does:
    """Reply with *body*: bytes as they are, anything else as JSON; absent: a good answer."""
    content = encoded(answered() if body is None else body)

    async def does(visit: Visit) -> bool:
        await visit.send(head(status, len(content), headers) + content)
        return True

    return does


def hangs() -> Does:
    """Never reply."""

    async def does(visit: Visit) -> bool:
        await visit.gone()
        return False

    return does


def waits(does: Does) -> Does:
    """Do it once the test lets go."""

    async def waiting(visit: Visit) -> bool:
        await visit.server.gate.wait()
        return await does(visit)

    return waiting


def drips(where: str) -> Does:
    """Send a byte now and then, for ever, in the `head` or in the `body`."""
    start = head(200, 10**6) if where == "body" else b"HTTP/1.1 200 OK\r\nx-slow: "

    async def does(visit: Visit) -> bool:
        await visit.send(start)
        while True:
            await visit.send(b" ")
            await asyncio.sleep(0.02)

    return does


def cuts() -> Does:
    """Hang up in the middle of the body."""

    async def does(visit: Visit) -> bool:
        await visit.send(head(200, 10**6) + b'{"answers":')
        return False

    return does


def drops() -> Does:
    """Hang up without a word."""

    async def does(visit: Visit) -> bool:  # noqa: ARG001 - as the others
        return False

    return does


def floods(size: int) -> Does:
    """Send *size* bytes of blanks, in chunks and without saying how many."""

    async def does(visit: Visit) -> bool:
        await visit.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(size // 65536 + 1):
            await visit.send(b"10000\r\n" + b" " * 65536 + b"\r\n")
        await visit.send(b"0\r\n\r\n")
        return True

    return does


def head(status: int, length: int, headers: Mapping[str, str] | None = None) -> bytes:
    """Write the head of a response."""
    said = {"content-type": "application/json", "content-length": str(length), **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
    return f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode()


def encoded(body: object) -> bytes:
    """Write a body."""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


# --- what a decision API says ------------------------------------------------------------


def chosen(option: str = "tech", /, **said: object) -> dict[str, object]:
    """Answer `TEAM`; a field said to be None is left out."""
    spread = said.pop("spread", PROBABILITIES)
    listed = [{"value": k, "probability": p} for k, p in dict(spread).items()]  # type: ignore[call-overload]
    answer = {
        "type": "choice",
        "name": "team",
        "choice": option,
        "confidence": 0.93,
        "probabilities": listed,
        **said,
    }
    return {name: value for name, value in answer.items() if value is not None}


def answered(*answers: object, **said: object) -> dict[str, object]:
    """Write a whole response, with tokens and cost."""
    return {
        "answers": list(answers) if answers or said.pop("empty", False) else [chosen()],
        "model": "typesafe-ai/jev-1.13.0",
        "usage": {"input_tokens": 212, "output_tokens": 0, "total_tokens": 212},
        "provider_metadata": {"gateway": {"generationId": "gen_x", "cost": "0.0000089"}},
        **said,
    }


def failed(kind: str, code: str | None = None, message: str = "as told") -> dict[str, object]:
    """Write an error's body."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


# --- as a process of its own -------------------------------------------------------------


def jitters(share: float) -> Does:
    """Answer after a jitter, and do something wrong with a *share* of the requests."""
    good, jitter = replies(), random.Random(7)
    wrong = (
        replies(failed("server_error"), 503),
        drops(),
        replies(b"{"),
        replies(b"", 400),
        cuts(),
    )

    async def does(visit: Visit) -> bool:
        if visit.seen.path == "/counts":
            counts = {"most": visit.server.most, "seen": len(visit.server.seen)}
            return await replies(counts)(visit)
        await asyncio.sleep(jitter.uniform(0.0, 0.02))
        return await (jitter.choice(wrong) if jitter.random() < share else good)(visit)

    return does


if __name__ == "__main__":
    here = Server()
    here.does(jitters(float(sys.argv[1])))
    print(here.port, flush=True)  # noqa: T201 - its parent reads it
    here.serve()
