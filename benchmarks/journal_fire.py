"""
What a failing database costs a decision: nothing, and it loses none.

python benchmarks/journal_fire.py [--rounds N] [--decisions N]

Decisions at full speed through a gateway with a journal, while its database is locked, slow,
full, absent or killed by another process. Each takes its turn in every round, in an order drawn
anew, so that a machine that slows down slows all; the medians over all turns are compared with
those of a healthy one of its kind. A second healthy file shows how far chance alone goes. After
each turn the database is let go, and every decision must be in it. A server is tried where
POINTSMAN_TEST_POSTGRES names one; a full disk where we may mount one. Exits 1 when a bar is
missed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from fixed import Fixed

from pointsman import Choice, Gateway
from pointsman.gateway.journal.entries import Entry
from pointsman.gateway.journal.journal import Journal

QUESTION = Choice("Which team?", {"billing": "Amounts, refunds", "tech": "Faults"})
PUT_BAR = 1000.0  # µs, p99.9
RATIO_BAR = 1.10  # of a healthy database's p50 and p99
SERVER = os.environ.get("POINTSMAN_TEST_POSTGRES", "")

Breaking = Callable[[str], contextlib.AbstractContextManager[None]]
"""Breaks the database at a URL for as long as it is entered; it is there already, and empty."""


class Times:
    """
    Times of all turns of one database, in microseconds.

    Attributes:
        turns: For each turn, of each decision.
        puts: Inside the journal's `put`, of each.

    """

    def __init__(self) -> None:
        self.turns: list[list[float]] = []
        self.puts: list[float] = []

    def at(self, share: float) -> float:
        """The decision time that this share of a turn's stay below; the median over all turns."""
        return statistics.median(quantile(turn, share) for turn in self.turns)


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def route(message: str) -> str:
    return "billing" if "invoice" in message else "tech"


def timed(journal: Journal, times: list[float]) -> None:
    """Note how long each `put` takes the one who decides."""
    put = journal.put

    def noted(entry: Entry) -> None:
        begun = time.perf_counter_ns()
        put(entry)
        times.append((time.perf_counter_ns() - begun) / 1000)

    journal.put = noted  # type: ignore[method-assign]


def fire(url: str, spool: Path, breaking: Breaking, decisions: int, times: Times) -> None:
    """Decide at full speed while the database is broken; then everything must be in it."""
    puts: list[float] = []
    turn: list[float] = []
    variables = {
        "DECISION_PROVIDER": "fixed",
        "DECISION_LOG": "off",
        "DECISION_JOURNAL": url,
        "DECISION_JOURNAL_KEY": "a key for the benchmark alone",
        "DECISION_JOURNAL_SPOOL": str(spool),
    }
    gateway = Gateway.from_env(variables, plugins=[Fixed()])
    journal = gateway._wiring.keeper.journal  # noqa: SLF001 - what the gateway puts into is what is timed
    assert journal is not None
    timed(journal, puts)
    team = gateway.point("TEAM", QUESTION)(route)
    team("my invoice")  # the first one starts threads and makes the tables
    assert journal.flush(30)
    puts.clear()
    with breaking(url):
        for _ in range(decisions):
            begun = time.perf_counter_ns()
            team("my invoice")
            turn.append((time.perf_counter_ns() - begun) / 1000)
    end = time.monotonic() + 120
    while not journal.flush(30) and time.monotonic() < end:
        time.sleep(0.1)
    kept = sum(journal.store().points().values())
    lost = journal.lost
    gateway.close()
    if kept != decisions + 1 or lost:
        sys.exit(f"{decisions + 1} decisions, {kept} in the database, {lost} lost")
    times.puts += puts
    times.turns.append(turn)


# --- how a database fails ----------------------------------------------------------------


def healthy(_: str) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


@contextlib.contextmanager
def beside(code: str, *arguments: str) -> Iterator[None]:
    """Run another process that breaks something: it says when it has, and stops when told."""
    command = [sys.executable, "-c", code, *arguments]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin is not None
    assert other.stdout is not None
    other.stdout.readline()
    try:
        yield
    finally:
        other.stdin.close()
        other.stdout.close()
        other.wait()


LOCKS = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
other.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""
SLOWS = """
import select, sqlite3, sys, time
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
print("begun", flush=True)
while not select.select([sys.stdin], [], [], 0.01)[0]:
    other.execute("BEGIN IMMEDIATE")
    time.sleep(0.2)
    other.execute("ROLLBACK")
"""
SERVER_SLOWS = """
import psycopg, select, sys, time
with psycopg.connect(sys.argv[1], autocommit=True) as other:
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        with other.transaction():
            other.execute("LOCK TABLE decisions IN ACCESS EXCLUSIVE MODE")
            time.sleep(0.2)
"""
SERVER_KILLS = """
import psycopg, select, sys
end = '''SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'pointsman' AND pid <> pg_backend_pid()'''
with psycopg.connect(sys.argv[1], autocommit=True) as other:
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], 0.05)[0]:
        other.execute(end)
"""


def locked(url: str) -> contextlib.AbstractContextManager[None]:
    return beside(LOCKS, _file(url))


def slow(url: str) -> contextlib.AbstractContextManager[None]:
    return beside(SLOWS, _file(url))


def server_slow(url: str) -> contextlib.AbstractContextManager[None]:
    return beside(SERVER_SLOWS, url)


def killed(url: str) -> contextlib.AbstractContextManager[None]:
    return beside(SERVER_KILLS, url)


@contextlib.contextmanager
def absent(url: str) -> Iterator[None]:
    """Put a file in the folder's place, at one stroke, and the folder back."""
    room = Path(_file(url)).parent
    folder = room.readlink()
    stand_in = room.with_name("no-folder")
    stand_in.write_text("")
    _point(room, stand_in)
    yield
    _point(room, folder)


def _point(link: Path, target: Path) -> None:
    new = link.with_name("new")
    new.symlink_to(target)
    new.replace(link)


@contextlib.contextmanager
def full(url: str) -> Iterator[None]:
    """Fill the disk to the last byte."""
    filler = Path(_file(url)).with_name("filler")
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    yield
    filler.unlink()


def _file(url: str) -> str:
    return url.removeprefix("sqlite:///")


# --- where a database is -----------------------------------------------------------------


@contextlib.contextmanager
def in_a_file(folder: Path) -> Iterator[str]:
    (folder / "there").mkdir()
    room = folder / "room"
    room.symlink_to(folder / "there")
    yield f"sqlite:///{room / 'journal.db'}"


@contextlib.contextmanager
def on_a_small_disk(folder: Path) -> Iterator[str]:
    """In a file on a disk of 64 MB in memory."""
    room = folder / "disk"
    room.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(room)]
    subprocess.run(mount, check=True)
    try:
        yield f"sqlite:///{room / 'journal.db'}"
    finally:
        subprocess.run(["umount", str(room)], check=True)  # noqa: S607


@contextlib.contextmanager
def on_a_server(_: Path) -> Iterator[str]:
    """In a schema of our own, gone afterwards."""
    import psycopg

    name = f"pointsman_{secrets.token_hex(6)}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        try:
            mark = "&" if "?" in SERVER else "?"
            yield f"{SERVER}{mark}options=-csearch_path%3D{name}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


Place = Callable[[Path], contextlib.AbstractContextManager[str]]


def cases() -> dict[str, tuple[Place, Breaking]]:
    """Name → where the database is, and how it fails."""
    found: dict[str, tuple[Place, Breaking]] = {
        "healthy": (in_a_file, healthy),
        "locked": (in_a_file, locked),
        "slow": (in_a_file, slow),
        "absent": (in_a_file, absent),
        "healthy again": (in_a_file, healthy),
    }
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        found["full"] = (on_a_small_disk, full)
    else:
        print("full: skipped, we may mount no disk")
    if SERVER:
        found["healthy server"] = (on_a_server, healthy)
        found["slow server"] = (on_a_server, server_slow)
        found["killed server"] = (on_a_server, killed)
    else:
        print("slow and killed server: skipped, POINTSMAN_TEST_POSTGRES names none")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--decisions", type=int, default=10_000)
    given = parser.parse_args()
    tried = cases()
    measured = {name: Times() for name in tried}
    for _ in range(given.rounds):
        for name, (place, breaking) in random.sample(list(tried.items()), len(tried)):
            with tempfile.TemporaryDirectory() as folder, place(Path(folder)) as url:
                fire(url, Path(folder) / "spool", breaking, given.decisions, measured[name])
    return int(told(measured))


def told(measured: Mapping[str, Times]) -> bool:
    """Print what was measured; whether a bar is missed."""
    missed = False
    print(f"{'':16}{'put p99.9':>10}{'p50':>8}{'p99':>8}{'p50 ratio':>11}{'p99 ratio':>11}")
    for name, times in measured.items():
        put, p50, p99 = quantile(times.puts, 0.999), times.at(0.5), times.at(0.99)
        sound = measured["healthy server" if name.endswith("server") else "healthy"]
        ratios = [times.at(share) / sound.at(share) for share in (0.5, 0.99)]
        bad = put > PUT_BAR or max(ratios) > RATIO_BAR
        missed = missed or bad
        print(f"{name:16}{put:10.1f}{p50:8.1f}{p99:8.1f}{ratios[0]:11.2f}{ratios[1]:11.2f}", end="")
        print("   MISSED" if bad else "")
    print("µs; every decision is in its database once, none was lost")
    return missed


if __name__ == "__main__":
    sys.exit(main())
