"""What `pointsman serve` runs once nothing is wrong: one worker in this process, or several."""

from __future__ import annotations

import functools
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from ..environment import Environment
from ..errors import SetupError
from ..settings import Settings
from .session import Session

if TYPE_CHECKING:
    import socket

    from ..gateway import Gateway
    from ..server.house import House
    from ..server.settings import ServerSettings

Made: TypeAlias = "tuple[House, Callable[[], None]]"

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where prometheus-client keeps the numbers of each worker


class Order(msgspec.Struct, frozen=True):
    """
    What a worker has to serve.

    Attributes:
        env_file: The file of variables, if one is read.
        app: `module:gateway` of a user's own program, if one was named.
        over: Variables that this command's options, and its defaults, stand for.
        locked: A key was made by the time of the start: none is served without, whatever has
            become of the journal since.
        folder: Where several workers keep their numbers; None: there is one.
        kept: The variables of the file as they were at the start, for a worker that begins while
            the file is wrong; None: there is none.

    """

    env_file: Path | None
    app: str | None
    over: Mapping[str, str]
    locked: bool = False
    folder: Path | None = None
    kept: Mapping[str, str] | None = None


def run(
    order: Order, served: ServerSettings, listening: socket.socket, ready: Callable[[], None]
) -> int:
    """Serve until told to end, in this process or in several; return the exit code."""
    from ..server import serving
    from ..server.workers import Workers
    from ..telemetry import Telemetry

    undisturbed()
    _more_files()
    if served.workers == 1:
        return serving.serve(functools.partial(made, order), listening, ready)
    log = Settings.gathered({**os.environ, **order.over}, order.env_file).globals.log
    with _numbers() as folder:
        all_of_it = msgspec.structs.replace(order, folder=folder, kept=_of_file(order.env_file))
        workers = Workers(
            functools.partial(made, all_of_it),
            listening,
            count=served.workers,
            drain=served.drain_seconds,
            tell=Telemetry(log, ()).said,
            folder=folder,
        )
        return workers.run(ready)


@contextmanager
def _numbers() -> Generator[Path]:
    """Lend a folder for the workers' numbers, which prometheus-client finds by a variable."""
    before = os.environ.get(FOLDER)
    with tempfile.TemporaryDirectory(prefix="pointsman-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield Path(folder)
        finally:
            os.environ.pop(FOLDER)
            if before is not None:
                os.environ[FOLDER] = before


def undisturbed() -> None:
    """Let no closed terminal, and nobody who asks to read the variables again, end the start."""
    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _of_file(env_file: Path | None) -> Mapping[str, str]:
    read = Environment.read(None, env_file).values
    return {name: value for name, value in read.items() if name not in os.environ}


def made(order: Order) -> Made:
    """
    Make what a worker serves, and what reads its variables again.

    Where the file of variables has become wrong since the command started, a worker serves with
    what it said then, and says so: those that are alive do it too.

    Raises:
        SetupError: Something is wrong that was right when the command started.

    """
    try:
        return _made(order, Session(order.env_file, order.app), order.over)
    except SetupError as error:
        if order.kept is None:
            raise
        session = Session(None, order.app)
        house, _ = _made(order, session, {**order.kept, **order.over})
        faults = {"faults": [str(one) for one in error.faults]}
        house.gateway.tell("error", "server.reload_failed", faults)
    session.env_file = order.env_file
    return house, functools.partial(_again, order, session, house.gateway)


def _made(order: Order, session: Session, over: Mapping[str, str]) -> Made:
    from ..server.access import Access
    from ..server.house import House
    from ..server.keys import Keys
    from ..server.metrics import Metrics
    from ..server.settings import ServerSettings

    variables = Settings.gathered({**os.environ, **over}, session.env_file)
    limits = ServerSettings.of(variables).limits
    metrics = Metrics(order.folder)
    gateway = session.served(over, [metrics])
    metrics.watch(gateway.health, gateway.backlog)
    house = House(
        gateway=gateway,
        keys=Keys.of(gateway.settings, gateway.tell, locked=order.locked),
        limits=limits,
        metrics=metrics,
        access=Access(gateway.tell),
    )
    return house, functools.partial(session.reload, gateway, over)


def _again(order: Order, session: Session, gateway: Gateway) -> None:
    """Read the file for a gateway that was made without it."""
    if order.app is not None:
        session.reload(gateway, order.over)
    else:
        read = Environment.read(None, order.env_file).values
        gateway.reload({**read, **order.over})


def _more_files() -> None:
    """Allow as many connections as the system lets us: shells often allow 1,024 files."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
