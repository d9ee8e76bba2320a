"""
A chat server that fills whatever schema it is sent, after a while: an upstream of benchmarks.

python benchmarks/chatting.py FAULTS LEAST

Prints its port. A model's name says how it behaves: `seat-2` answers as the third of those who
choose, `seat-2-hung` never; words differ from task to task, so that nothing repeats itself. The
first 200–600 ms are over before it says anything (LEAST to three times LEAST); how long exactly
follows from what it was sent.
GET /told gives, since it was asked last, the seconds in which it was busy with at least one
request, and how many there were.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

from race.cores import on_core
from race.loops import fastest
from race.reading import HEADERS_END, end_of

LEAST = 0.2  # seconds, as a small chat model takes for a few lines
MARK = 15  # for what is counted from 0 to 20
SURE = 90.0  # percent; less would be too unsure for a council
TOKENS = {"prompt_tokens": 600, "completion_tokens": 150}


class Told:
    """What the server says of itself."""

    def __init__(self) -> None:
        self.busy, self.requests, self.faults, self.open = 0.0, 0, 0, 0
        self._active, self._since = 0, 0.0

    def begins(self, now: float) -> None:
        """One more request is here."""
        self.requests += 1
        self._since = self._since if self._active else now
        self._active += 1

    def ends(self, now: float) -> None:
        """One of them is answered."""
        self._active -= 1
        self.busy += 0.0 if self._active else now - self._since

    def taken(self) -> bytes:
        """Give all of it, and begin again."""
        told = {name: getattr(self, name) for name in ("busy", "requests", "faults", "open")}
        self.busy, self.requests, self.faults = 0.0, 0, 0
        return json.dumps(told).encode()


class Chatting(asyncio.Protocol):
    """One connection."""

    def __init__(self, told: Told, faults: float, least: float) -> None:
        self._told, self._faults, self._least, self._held = told, faults, least, b""
        self._write: Callable[[bytes], object] = bytes  # until there is a way back
        self._waiting: set[asyncio.TimerHandle] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._told.open += 1
        self._write = cast("asyncio.Transport", transport).write

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what nobody waits for."""
        self._told.open -= 1
        for one in self._waiting:
            one.cancel()

    def data_received(self, data: bytes) -> None:
        """Take every request that is whole."""
        self._held += data
        while (end := end_of(self._held)) is not None:
            request, self._held = self._held[:end], self._held[end:]
            self._take(request)

    def _take(self, request: bytes) -> None:
        if request.startswith(b"GET"):
            self._write(_response(200, self._told.taken()))
            return
        loop, body = asyncio.get_running_loop(), request.partition(HEADERS_END)[2]
        self._told.begins(loop.time())
        drawn = zlib.crc32(body) / 2**32
        if b"-hung" not in body:
            self._waiting.add(
                loop.call_later(self._least * (1 + 2 * drawn), self._answer, body, drawn)
            )

    def _answer(self, body: bytes, drawn: float) -> None:
        fails = (drawn * 997) % 1 < self._faults
        self._told.faults += fails
        said = _response(500, b"{}") if fails else _response(200, _completion(body))
        self._told.ends(asyncio.get_running_loop().time())  # writing it was its own work, too
        self._write(said)


def _response(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + HEADERS_END + body


def _completion(body: bytes) -> bytes:
    asked = json.loads(body)
    seat = int(asked["model"].split("-")[1])
    form = asked["response_format"]["json_schema"]
    said = filled(form["schema"], f"{form['name']} of seat {seat}", seat)
    message = {"role": "assistant", "content": json.dumps(said)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"model": asked["model"], "choices": [choice], "usage": TOKENS}).encode()


def filled(schema: dict[str, Any], words: str, seat: int) -> Any:
    """Fill *schema* as the one at *seat* would: another option, other words than the others."""
    if "enum" in schema:
        return schema["enum"][seat % len(schema["enum"])]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], words, seat)
    kind = schema.get("type")
    if kind == "object":
        return {name: filled(one, words, seat) for name, one in schema["properties"].items()}
    if kind == "array":
        return [words] if schema["items"].get("type") == "string" else []
    plain: dict[Any, Any] = {"boolean": False, "integer": MARK, "number": SURE}
    return plain.get(kind, words)


async def _serve(faults: float, least: float) -> None:
    told, loop = Told(), asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Chatting(told, faults, least), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@contextlib.contextmanager
def chatting(
    core: int | None, faults: float = 0.0, least: float = LEAST
) -> Generator[int, None, None]:
    """Run it on *core*, failing a share of the requests; yields its port on 127.0.0.1."""
    command = [sys.executable, str(Path(__file__)), str(faults), str(least)]
    with on_core(core):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=fastest()) as runner:
        runner.run(_serve(float(sys.argv[1]), float(sys.argv[2])))
