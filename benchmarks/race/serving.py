"""The race of the servers: each on the measured core, asked in turn over many connections."""

from __future__ import annotations

import asyncio
import http.client
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from .cores import Cores, on_core
from .environments import AbsentError, program, version_in
from .load import Request, load
from .loops import fastest
from .processes import cpu_seconds, end, free_port
from .results import Length, Round, Served
from .servers import DIRECT, SERVERS, Place, Server, environment

START_SECONDS = 90.0
CONNECTIONS = 50
NOTHING_BETWEEN = "nothing between"


class Started(NamedTuple):
    """A server that answers: where, what it is asked, and the process whose CPU counts."""

    key: str
    port: int
    request: Request
    process: int | None
    version: str


@contextmanager
def _running(
    key: str, server: Server, upstream: str, peers: Path | None, core: int | None
) -> Generator[Started, None, None]:
    start = program(peers, server.environment, server.program)
    version = version_in(peers, server.environment, server.package)
    with tempfile.TemporaryDirectory(prefix="race-", ignore_cleanup_errors=True) as folder:
        place = Place(Path(folder), upstream, free_port())
        for name, text in server.files(place).items():
            (place.folder / name).write_text(text, "utf-8")
        with (place.folder / "output").open("wb") as output, on_core(core):
            process = subprocess.Popen(
                [str(start), *server.arguments(place)],
                cwd=place.folder,
                env=environment(place, server),
                stdout=output,
                stderr=output,
            )
        try:
            request = server.request(place)
            _wait(process, place.port, request)
            yield Started(key, place.port, request, process.pid, version)
        finally:
            end(process)


def _wait(process: subprocess.Popen[bytes], port: int, request: Request) -> None:
    """Ask until the right answer comes."""
    until, last = time.monotonic() + START_SECONDS, "nothing"
    while time.monotonic() < until:
        if process.poll() is not None:
            raise AbsentError(f"ended by itself with status {process.returncode}")
        last = _answer(port, request)
        if not last:
            return
        time.sleep(0.2)
    raise AbsentError(f"no right answer within {START_SECONDS:.0f} s; last: {last}")


def _answer(port: int, request: Request) -> str:
    """Ask once; empty where it was right, else what came."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    headers = {"content-type": "application/json", **dict(request.headers)}
    try:
        connection.request("POST", request.path, request.body, headers)
        response = connection.getresponse()
        right = request.right.search(response.read()) and response.status == http.client.OK
    except (OSError, http.client.HTTPException):
        return "no connection"
    finally:
        connection.close()
    return "" if right else f"status {response.status}"


def servers(
    base: str,
    peers: Path | None,
    on: Cores,
    length: Length,
    contestants: Mapping[str, Server] = SERVERS,
) -> tuple[dict[str, Served], dict[str, str]]:
    """
    Ask all servers in turn, as often and as long as *length* says, in front of *base*.

    Returns those that took part, with the upstream alone first, and why others did not.
    """
    absent: dict[str, str] = {}
    upstream = int(base.rpartition(":")[2])
    ready = [Started(NOTHING_BETWEEN, upstream, DIRECT, None, "")]
    with ExitStack() as stack, on_core(on.load):
        for key, server in contestants.items():
            try:
                started = _running(key, server, base, peers, on.measured)
                ready.append(stack.enter_context(started))
            except AbsentError as fault:
                absent[server.title] = str(fault)
        took: dict[str, list[Round]] = {one.key: [] for one in ready}
        with asyncio.Runner(loop_factory=fastest()) as runner:
            for one in ready:
                runner.run(load(one.port, one.request, CONNECTIONS, length.warm))
            for _ in range(length.server_rounds):
                for one in ready:
                    took[one.key].append(runner.run(_round(one, length.seconds)))
    versions = {one.key: one.version for one in ready}
    return {key: Served(versions[key], tuple(of)) for key, of in took.items()}, absent


async def _round(one: Started, seconds: float) -> Round:
    before, begun = _cpu(one), time.perf_counter()
    asked = asyncio.create_task(load(one.port, one.request, CONNECTIONS, seconds))
    await asyncio.sleep(seconds)
    lasted, spent = time.perf_counter() - begun, _cpu(one) - before
    tally = await asked
    return Round(len(tally.latencies), tally.errors, lasted, spent, tuple(tally.latencies))


def _cpu(one: Started) -> float:
    return 0.0 if one.process is None else cpu_seconds(one.process)
