"""
The upstream of the race: a server that answers every request with bytes it has ready.

It runs in a process of its own, on the core of the load, and never is what is measured.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from .cores import on_core
from .decision import answer_to
from .loops import fastest
from .reading import HEADERS_END, end_of


class Answering(asyncio.Protocol):
    """One connection: as many answers as there are whole requests."""

    def __init__(self) -> None:
        self._held = b""
        self._write: Callable[[bytes], object] = bytes  # until there is a way back

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._write = cast("asyncio.Transport", transport).write  # uvloop's is no subclass

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self._held += data
        while (end := end_of(self._held)) is not None:
            request, self._held = self._held[:end], self._held[end:]
            self._write(_response(request))


def _response(request: bytes) -> bytes:
    body = answer_to(request.split(b" ", 2)[1].decode("latin-1"))
    if body is None:
        return b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + HEADERS_END + body


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@contextmanager
def upstream(core: int | None) -> Generator[int, None, None]:
    """Run it on *core* while the block runs; yields its port on 127.0.0.1."""
    command = [sys.executable, "-m", "race.upstream"]
    folder = Path(__file__).parents[1]
    with on_core(core):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, text=True)
    with process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=fastest()) as runner:
        runner.run(_serve())
