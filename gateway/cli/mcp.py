"""`pointsman mcp`: decide for agents, over the Model Context Protocol."""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from ..discovery import discover
from ..environment import Environment
from ..errors import SetupError, raise_all
from ..journaling import JOURNAL
from . import beside, screen
from .points import checked
from .session import Session

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # where the library checks who a page speaks for


def mcp(
    ctx: typer.Context,
    *,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve over HTTP on this machine, not over stdio."),
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(metavar="MODULE:GATEWAY", help="Serve the gateway of your own program."),
    ] = None,
) -> None:
    """Serve the tools `decide`, `points` and `explain` to an agent, over stdio."""
    session: Session = ctx.obj
    session.app = app or session.app
    _installed()
    with contextlib.ExitStack() as opened:
        listening = None if http is None else opened.enter_context(_listening(http))
        gateway = session.served(_kept_here(session), ())
        odd, wrong = checked(session, gateway)
        raise_all(wrong)
        screen.faults(odd, "!", screen.OTHER)
        from ..integrations.mcp.running import run

        tools = discover(gateway.settings.globals.allowed).tools
        run(gateway, tools, listening, ready=lambda: _ready(listening))


def _installed() -> None:
    """
    Make sure that the extra is there.

    Raises:
        SetupError: It is not.

    """
    if importlib.util.find_spec("mcp") is None:
        problem = "mcp, which this server needs, is not installed"
        raise SetupError.of("mcp", problem, 'Run: pip install "pointsman[cli,mcp,local]"')


def _kept_here(session: Session) -> dict[str, str]:
    """Keep what is decided beside the project, where no variable says where."""
    named = JOURNAL in Environment.read(None, session.env_file).values
    return {} if named or not beside.takes() else {JOURNAL: beside.HERE}


def _listening(given: str) -> socket.socket:
    """
    Take the address; only programs on this machine reach it, for no key is asked for.

    Raises:
        SetupError: It is none, is not this machine's alone, or cannot be had.

    """
    try:
        parts = urlsplit(f"//{given}")
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if host is None or port is None or parts.path:
        fix = "Give host and port, as in 127.0.0.1:8765"
        raise SetupError.of("--http", f"{given!r} is no address", fix)
    if host not in LOOPBACK:
        problem = f"other machines would reach {host}, and this server asks for no key"
        fix = f"Serve on {LOOPBACK[0]}, or use `pointsman serve`, which has keys"
        raise SetupError.of("--http", problem, fix)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        problem = f"{given} cannot be had ({error.strerror or 'no such address'})"
        raise SetupError.of("--http", problem, "Name another port, or end what uses it") from None


def _ready(listening: socket.socket | None) -> None:
    """Say where it serves; over stdio, only to a person who started it by hand."""
    if listening is not None:
        host, port = listening.getsockname()[:2]
        where = f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"
        screen.note(("✓ ", screen.GOOD), ("serving MCP on ", ""), (where, "bold"))
    elif sys.stdin is not None and sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison] - closed by a shell
        told = "speaks MCP over standard input and output: an MCP client starts this command"
        screen.note((told, screen.FAINT))
