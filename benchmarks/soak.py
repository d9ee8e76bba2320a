"""
A thousand clients at once against a running server, and whether anything gets lost.

python benchmarks/soak.py [--clients N] [--seconds S] [--waves N] [--workers N] [--faults SHARE]

`pointsman serve` with several workers, bearer keys with a rate and a budget, and its journal on;
its provider is a server of ours, a process of its own, that answers after up to 20 ms and does
something wrong with a share of the requests. Each client keeps one connection and asks again as
soon as it is answered: every other time a decision point with a fallback, every other time the
provider directly; one request in fifty is given up half-way. The clients come in waves, and the
workers' memory is read after each. At last the server is told to end, and every decision that a
client was told of must be in the journal, once. The journal is a SQLite file, or in the database
that POINTSMAN_SOAK_JOURNAL names. Exits 1 where one is lost, the server fails by itself (a status
that no fault of the provider comes to, a connection that breaks, an end that is no clean one), or
memory grows by more than a tenth from the second wave to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pointsman.gateway.journal.store import Store

ROOT = Path(__file__).parent.parent
UPSTREAM = ROOT / "tests" / "faulty.py"
GIVEN_UP = 0.02  # of the requests
PATIENCE = 60.0  # seconds for what must come: a start, an end, an answer
# an answer; a key that has too much cut off before any cost is known; what a provider's faults are
FOREIGN = (200, 402, 424, 429, 502, 503, 504)
GROWTH = 1.10  # of the workers' memory, from the second wave to the last
PROGRAM = """
from pointsman import Choice, Gateway

gateway = Gateway.from_env()


@gateway.point("TEAM", {"team": Choice("Which team takes it?", ["billing", "tech", "none"])})
def team(message: str) -> str:
    return "none"
"""
QUESTION = {
    "type": "choice",
    "name": "team",
    "instructions": "Which team takes it?",
    "choices": [{"value": one} for one in ("billing", "tech", "none")],
}


class Tally:
    """
    What the clients of all waves met.

    Attributes:
        statuses: Of the answers.
        ids: Of the decisions that clients were told of.
        seconds: From a request to its answer.
        requests: That were sent.
        given_up: That were not waited for.
        broken: Connections that ended in the middle.

    """

    def __init__(self) -> None:
        self.statuses: collections.Counter[int] = collections.Counter()
        self.ids: list[str] = []
        self.seconds: list[float] = []
        self.requests = self.given_up = self.broken = 0

    def at(self, share: float) -> float:
        """Milliseconds that this share of the answers stays below."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def request_of(model: str, key: str) -> bytes:
    body = json.dumps({"model": model, "input": "my router is dead", "questions": [QUESTION]})
    head = (
        "POST /v1/decisions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {key}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return (head + body).encode()


class Client:
    """One connection, opened anew when it ends."""

    def __init__(self, port: int, requests: list[bytes], tally: Tally, chance: int) -> None:
        self._port, self._requests, self._tally = port, requests, tally
        self._chance = random.Random(chance)

    async def run(self, until: float) -> None:
        """Ask until the time is over; what is under way then is waited for."""
        while time.monotonic() < until:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    while time.monotonic() < until and await self._ask(reader, writer):
                        pass
                finally:
                    writer.close()
            except (OSError, asyncio.IncompleteReadError):
                self._tally.broken += 1

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        tally = self._tally
        tally.requests += 1
        begun = time.perf_counter()
        writer.write(self._requests[tally.requests % len(self._requests)])
        if self._chance.random() < GIVEN_UP:
            tally.given_up += 1
            await asyncio.sleep(self._chance.uniform(0.0, 0.02))
            return False
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"content-length: (\d+)", head)
        await reader.readexactly(int(length[1]) if length else 0)
        tally.seconds.append(time.perf_counter() - begun)
        tally.statuses[int(head[9:12])] += 1
        told = re.search(r"x-request-id: (\w+)", head)
        if told:
            tally.ids.append(told[1])
        return "connection: close" not in head


async def wave(clients: list[Client], seconds: float) -> None:
    until = time.monotonic() + seconds
    async with asyncio.timeout(seconds + PATIENCE), asyncio.TaskGroup() as group:
        for one in clients:
            group.create_task(one.run(until))


# --- the processes ------------------------------------------------------------------------


@contextlib.contextmanager
def running(command: list[str], **given: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **given)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def port_of(process: subprocess.Popen[str], pattern: str) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(pattern, line):
            return int(found[1])
    sys.exit("a process ended before it listened")


def memory(server: int) -> dict[int, float]:
    """Give the resident megabytes of each worker; of those that read their own variables."""
    told: dict[int, float] = {}
    listed = Path(f"/proc/{server}/task/{server}/children")
    for child in listed.read_text().split() if listed.exists() else ():
        status = Path(f"/proc/{child}/status").read_text()
        resident = re.search(r"VmRSS:\s+(\d+)", status)
        command = Path(f"/proc/{child}/cmdline").read_text()
        if resident and "resource_tracker" not in command:
            told[int(child)] = int(resident[1]) / 1024
    return told


def busy(workers: Iterable[int]) -> float:
    """Give the seconds of processor time that the workers have taken so far."""
    ticks = 0
    for worker in workers:
        fields = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def variables(folder: Path, upstream: int) -> dict[str, str]:
    at = os.environ.get("POINTSMAN_SOAK_JOURNAL") or f"sqlite:///{folder / 'journal.db'}"
    ours = {name: value for name, value in os.environ.items() if not name.startswith("DECISION_")}
    return {
        **ours,
        "AI_GATEWAY_API_KEY": "none-is-needed",
        "JEV_BASE_URL": f"http://127.0.0.1:{upstream}/v1",
        "DECISION_TEAM_PROVIDER": "jev",
        "DECISION_LOG": "json",
        "DECISION_JOURNAL": at,
        "DECISION_JOURNAL_KEY": "a key for the benchmark alone",
        "DECISION_JOURNAL_SPOOL": str(folder / "spool"),
    }


def key_of(environ: Mapping[str, str]) -> str:
    name = f"soak-{time.time_ns()}"
    limits = ("--rate", "100000000/s", "--budget", "1000000")
    command = [sys.executable, "-m", "pointsman.gateway.cli", "keys", "create", name, *limits]
    made = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return made.stdout.strip()


# --- what came of it ----------------------------------------------------------------------


def missing(url: str, ids: list[str]) -> tuple[int, int]:
    """Say how many of the decisions are not in the journal, and how many it holds."""
    store = Store.open(url)
    there = {trail.decision.id for trail in store.trails()}
    store.close()
    return len(set(ids) - there), len(there)


def errors_in(log: Path) -> collections.Counter[str]:
    """Count what the server said of itself."""
    told: collections.Counter[str] = collections.Counter()
    for line in log.read_text("utf-8").splitlines():
        event = json.loads(line) if line.startswith("{") else {"event": line, "level": "error"}
        if event["level"] == "error":
            why = event.get("why") or event.get("problem") or event.get("error") or ""
            told[f"{event['event']} {why}".strip()] += 1
    return told


def soak(given: argparse.Namespace, folder: Path) -> bool:
    """Let the clients come; whether nothing was lost."""
    (folder / "soaked.py").write_text(PROGRAM)
    log = folder / "log"
    with running([sys.executable, str(UPSTREAM), str(given.faults)]) as upstream:
        environ = variables(folder, port_of(upstream, r"^(\d+)$"))
        key = key_of(environ)
        serve = ["serve", "--port", "0", "--workers", str(given.workers), "--app", "soaked:gateway"]
        command = [sys.executable, "-m", "pointsman.gateway.cli", *serve]
        with (
            log.open("w") as said,
            running(command, env=environ, cwd=folder, stderr=said) as server,
        ):
            try:
                port = port_of(server, r"serving on http://127.0.0.1:(\d+)")
            except SystemExit:
                sys.exit(log.read_text("utf-8"))
            tally, grown = waves(given, server.pid, port, key)
            server.send_signal(signal.SIGTERM)
            code = server.wait(PATIENCE)
    lost, held = missing(environ["DECISION_JOURNAL"], tally.ids)
    return told(tally, code, (lost, held), errors_in(log)) and grown


def waves(given: argparse.Namespace, server: int, port: int, key: str) -> tuple[Tally, bool]:
    """Send the clients, wave after wave; whether memory stays flat."""
    tally = Tally()
    requests = [request_of("point:TEAM", key), request_of("jev", key)]
    clients = [Client(port, requests, tally, number) for number in range(given.clients)]
    before = memory(server)
    print(f"{'wave':8}{'requests':>10}{'per second':>12}{'CPU ms each':>13}   resident MB")
    print(f"{'before':8}{0:10}{'':25}   {shown(before)}")
    after: list[dict[int, float]] = []
    for number in range(1, given.waves + 1):
        sent, begun, spent = tally.requests, time.monotonic(), busy(before)
        asyncio.run(wave(clients, given.seconds))
        sent, took = tally.requests - sent, time.monotonic() - begun
        after.append(memory(server))
        each = 1000 * (busy(before) - spent) / max(1, sent)
        print(f"{number:<8}{sent:10}{sent / took:12.0f}{each:13.2f}   {shown(after[-1])}")
    if not before or given.waves < 3:  # the first one warms up
        print("memory: not judged, which takes three waves on Linux")
        return tally, True
    grown = {pid: after[-1].get(pid, 0.0) / size for pid, size in after[1].items()}
    flat = after[-1].keys() == before.keys() and max(grown.values()) <= GROWTH
    print(f"memory: {max(grown.values()):.3f} × from the second wave to the last, at most {GROWTH}")
    return tally, flat


def shown(sizes: Mapping[int, float]) -> str:
    return "  ".join(f"{size:.1f}" for size in sizes.values()) or "not measured"


def told(
    tally: Tally, code: int, journal: tuple[int, int], errors: collections.Counter[str]
) -> bool:
    """Print what came of it; whether it is as it should be."""
    lost, held = journal
    twice = len(tally.ids) - len(set(tally.ids))
    statuses = ", ".join(f"{status}: {count:,}" for status, count in sorted(tally.statuses.items()))
    print(f"requests   {tally.requests:,}, of which {tally.given_up:,} were given up half-way")
    print(f"answers    {statuses}; {tally.broken} connections broke")
    print(f"latency    p50 {tally.at(0.5):.0f} ms, p99 {tally.at(0.99):.0f} ms")
    print(f"decisions  {len(tally.ids):,} told to clients, {twice} of them twice")
    print(f"journal    {held:,} records, {lost} lost")
    print(f"log        errors: {dict(errors) or 'none'}; exit code {code}")
    ours = [status for status in tally.statuses if status not in FOREIGN]
    return bool(tally.ids) and not (lost or twice or code or tally.broken or ours)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--waves", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--faults", type=float, default=0.05)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        well = soak(given, Path(folder))
    print("nothing was lost" if well else "MISSED")
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
