"""`pointsman serve`: decide for programs in any language, over HTTP."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from ..environment import Environment
from ..errors import Fault, SetupError, raise_all
from ..journaling import JOURNAL, journal_settings
from ..settings import CURRENT, Settings
from . import beside, screen
from .doctor import STANDS_IN
from .listening import HOST, is_loopback, listen, resolved
from .points import checked
from .serving import Order, run, undisturbed
from .session import Session

if TYPE_CHECKING:
    import socket

    from ..gateway import Gateway
    from ..server.settings import ServerSettings

NEEDED = (
    "starlette",
    "uvicorn",
    "httptools",
    "prometheus_client",
    "zstandard",
    "sqlalchemy",
    "alembic",
)
PORT, WORKERS = "SERVER_PORT", "SERVER_WORKERS"


def serve(
    ctx: typer.Context,
    *,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; absent: SERVER_HOST, or 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port; absent: SERVER_PORT, or 8080; 0: any free one.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; absent: SERVER_WORKERS, or 1.")
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(metavar="MODULE:GATEWAY", help="Serve the gateway of your own program."),
    ] = None,
) -> None:
    """Decide over HTTP, in the dialects of OpenAI's and TypeSafe's decision APIs."""
    session: Session = ctx.obj
    session.app = app or session.app
    undisturbed()
    _installed()
    options = {HOST: host, PORT: port, WORKERS: workers}
    given = {
        name: (str(value), f"--{name.removeprefix('SERVER_').lower()}")
        for name, value in options.items()
        if value is not None
    }
    given.update(_kept_here(session))
    with session.by_option(given, keeps=False) as gateway:
        served, panel, keyed = _checked(session, gateway, given)
        _tried(gateway)
        listening = listen(served)
    over = {name: value for name, (value, _) in given.items()}
    order = Order(session.env_file, session.app, over, locked=keyed)
    raise typer.Exit(run(order, served, listening, lambda: _show(panel, served, listening)))


def _installed() -> None:
    """
    Make sure that the extra is there.

    Raises:
        SetupError: It is not.

    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        problem = f"{', '.join(missing)}, which the server needs, is not installed"
        raise SetupError.of("serve", problem, 'Run: pip install "pointsman[cli,server]"')


def _kept_here(session: Session) -> dict[str, tuple[str, str]]:
    """
    Keep what is decided beside the project, where no variable says where.

    A journal that is there holds the keys too: it is used, or it ends the command, but it is
    never passed over.
    """
    if JOURNAL in Environment.read(None, session.env_file).values:
        return {}
    if beside.takes() or beside.there():
        return {JOURNAL: (beside.HERE, JOURNAL)}
    problem = "this folder takes no journal: nothing is kept, and no key is asked for"
    fix = "Name one, as in sqlite:////var/lib/pointsman/journal.db, or write `off`"
    screen.faults([Fault(JOURNAL, problem, fix)], "!", screen.OTHER)
    return {}


def _tried(gateway: Gateway) -> None:
    """
    Make sure that what is decided can be kept, before anything is.

    Raises:
        SetupError: It cannot.

    """
    kept = journal_settings(gateway.settings)
    if kept is None:
        return
    from ..journal.trial import tried
    from ..journal.troubles import StoreDown

    try:
        tried(kept)
    except StoreDown as down:
        raise SetupError.of(JOURNAL, f"what is decided cannot be kept: {down}", down.fix) from None


def _checked(
    session: Session, gateway: Gateway, given: Mapping[str, tuple[str, str]]
) -> tuple[ServerSettings, list[tuple[str, str]], bool]:
    """
    Find what is wrong before anybody is served, and describe the rest; say if keys are asked for.

    Raises:
        SetupError: With what has to be put right.

    """
    from ..server.keys import Keys
    from ..server.settings import ServerSettings

    odd, wrong = checked(session, gateway)
    raise_all(wrong)
    settings = _variables(session, given)
    served = ServerSettings.of(settings)
    if served.workers > 1 and not hasattr(signal, "pthread_sigmask"):
        problem = "several workers share no socket on this system"
        raise SetupError.of(WORKERS, problem, "Serve with one, or on Linux or macOS")
    resolved(served)
    keys = Keys.of(gateway.settings)
    keyed = keys.any()
    keys.close()
    if not keyed and not is_loopback(served.host):
        problem = f"other machines reach {served.host}, and no key was ever made"
        fix = "Run `pointsman keys create NAME`, or serve on 127.0.0.1"
        raise SetupError.of(HOST, problem, fix)
    screen.faults([*odd, *ServerSettings.strayed(settings)], "!", screen.OTHER)
    return served, _panel(gateway, served, keyed=keyed), keyed


def _variables(session: Session, given: Mapping[str, tuple[str, str]]) -> Settings:
    """Read the server's own variables, whatever a program's gateway reads."""
    over = {name: value for name, (value, _) in given.items()}
    return Settings.gathered({**os.environ, **over}, session.env_file)


def _panel(gateway: Gateway, served: ServerSettings, *, keyed: bool) -> list[tuple[str, str]]:
    return [
        ("points", _points(gateway)),
        ("providers", ", ".join(_providers(gateway)) or "none"),
        ("keys", "asked for" if keyed else "none: only programs on this machine may ask"),
        ("journal", _journal(gateway)),
        ("workers", str(served.workers)),
    ]


def _points(gateway: Gateway) -> str:
    points = gateway.points.values()
    moved = [point for point in points if gateway.plan(point).provider != CURRENT]
    count = f"{len(points)} point{'' if len(points) == 1 else 's'}"
    return f"{count}, {len(moved)} with a provider of their own" if moved else count


def _providers(gateway: Gateway) -> list[str]:
    """Name every provider that a variable selects, once, and who stands in for `current`."""
    stand_in = gateway.provider(CURRENT).name if gateway.stands_in else "local"
    named = {stand_in: f"{stand_in} (for current: {STANDS_IN})"}
    for variable, name in gateway.settings.selected():
        named.setdefault(name, f"{name} ({variable})")
    return list(named.values())


def _journal(gateway: Gateway) -> str:
    """Say where records are kept; an address of a server may hold a password."""
    kept = gateway.settings.globals
    if not kept.journaled:
        return "off"
    where = kept.journal if kept.journal.startswith("sqlite:") else "PostgreSQL"
    return f"{where}, content {kept.journal_content}"


def _show(panel: list[tuple[str, str]], served: ServerSettings, listening: socket.socket) -> None:
    """Say where it serves, once it does."""
    port = listening.getsockname()[1]
    host = f"[{served.host}]" if ":" in served.host else served.host
    screen.line(("✓ ", screen.GOOD), ("serving on ", ""), (f"http://{host}:{port}", "bold"))
    screen.pairs(panel)
    screen.out().file.flush()
