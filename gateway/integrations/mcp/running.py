"""How the server runs: until its client hangs up, or until it is told to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .serving import server

if TYPE_CHECKING:
    import socket

    from mcp.server.mcpserver import MCPServer

    from ...gateway import Gateway

BODY = 1_048_576  # bytes of one request over HTTP
LOOPBACK = "127.0.0.1"  # the library takes requests then whose `Host` is this machine's alone


def run(
    gateway: Gateway,
    tools: Mapping[str, Callable[..., Any]],
    listening: socket.socket | None,
    *,
    ready: Callable[[], None],
) -> None:
    """
    Serve over stdio, or over HTTP where somebody is *listening*; then close the gateway.

    Raises:
        SetupError: A plug-in's tool cannot be offered.

    """
    asyncio.run(_served(gateway, server(gateway, tools), listening, ready))


async def _served(
    gateway: Gateway,
    made: MCPServer[Any],
    listening: socket.socket | None,
    ready: Callable[[], None],
) -> None:
    try:
        ready()
        if listening is None:
            await _over_stdio(gateway, made)
        else:
            await _over_http(made, listening)
    finally:
        await gateway.aclose()


async def _over_stdio(gateway: Gateway, made: MCPServer[Any]) -> None:
    """
    Serve until the client hangs up.

    A signal ends the process from within: a thread of the library's waits for the next line then,
    and nothing wakes it. What was decided is kept first.
    """
    loop, told = asyncio.get_running_loop(), asyncio.Queue[int]()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # on Windows: it ends as before
            loop.add_signal_handler(number, told.put_nowait, number)

    async def ended() -> None:
        number = await told.get()
        await gateway.aclose()
        sys.stderr.flush()
        os._exit(128 + number)

    ending = asyncio.create_task(ended())
    try:
        await made.run_stdio_async()
    finally:
        ending.cancel()


async def _over_http(made: MCPServer[Any], listening: socket.socket) -> None:
    import uvicorn

    served = made.streamable_http_app(host=LOOPBACK, max_request_body_size=BODY)
    config = uvicorn.Config(served, log_level="error", lifespan="on")
    await uvicorn.Server(config).serve(sockets=[listening])
