"""What `pointsman serve` runs once nothing is wrong: one worker in this process, or several."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..settings import Settings
from .session import Session

if TYPE_CHECKING:
    import socket

    from ..server.house import House
    from ..server.settings import ServerSettings

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where prometheus-client keeps the numbers of each worker


class Order(msgspec.Struct, frozen=True):
    """
    What a worker has to serve.

    Attributes:
        env_file: The file of variables, if one is read.
        app: `module:gateway` of a user's own program, if one was named.
        over: Variables that this command's options, and its defaults, stand for.
        folder: Where several workers keep their numbers; None: there is one.

    """

    env_file: Path | None
    app: str | None
    over: Mapping[str, str]
    folder: Path | None = None


def run(
    order: Order, served: ServerSettings, listening: socket.socket, ready: Callable[[], None]
) -> int:
    """Serve until told to end, in this process or in several; return the exit code."""
    from ..server import serving
    from ..server.workers import Workers
    from ..telemetry import Telemetry

    _more_files()
    if served.workers == 1:
        return serving.serve(functools.partial(made, order), listening, ready)
    log = Settings.gathered({**os.environ, **order.over}, order.env_file).globals.log
    with _numbers() as folder:
        workers = Workers(
            functools.partial(made, msgspec.structs.replace(order, folder=folder)),
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


def made(order: Order) -> tuple[House, Callable[[], None]]:
    """
    Make what a worker serves, and what reads its variables again.

    Raises:
        SetupError: Something is wrong that was right when the command started.

    """
    from ..server.access import Access
    from ..server.house import House
    from ..server.keys import Keys
    from ..server.metrics import Metrics
    from ..server.settings import ServerSettings

    session = Session(order.env_file, order.app)
    metrics = Metrics(order.folder)
    gateway = session.served(order.over, [metrics])
    metrics.watch(gateway.health)
    variables = Settings.gathered({**os.environ, **order.over}, order.env_file)
    house = House(
        gateway=gateway,
        keys=Keys.of(gateway.settings, gateway.tell),
        limits=ServerSettings.of(variables).limits,
        metrics=metrics,
        access=Access(gateway.tell),
    )
    return house, functools.partial(session.reload, gateway, order.over)


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
