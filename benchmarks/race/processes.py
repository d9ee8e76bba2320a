"""Processes of the race: a free port, the CPU time of a server with its children, its end."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
END_SECONDS = 10.0  # for a server that is asked to end


def free_port() -> int:
    """Find a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def cpu_seconds(root: int) -> float:
    """
    CPU time of a process and all its descendants until now, in seconds.

    Those that have ended count where their parent has waited for them. Precise to the kernel's
    tick, a hundredth of a second. 0 where this system has no /proc.
    """
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for process, parent, spent in _all():
        parents[process], ticks[process] = parent, spent
    family, grown = {root}, True
    while grown:
        more = {one for one, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    total = sum(ticks.get(one, 0) for one in family)
    return total / os.sysconf("SC_CLK_TCK") if total else 0.0


def _all() -> Iterator[tuple[int, int, int]]:
    for file in PROC.glob("[0-9]*/stat"):
        try:
            told = file.read_text("utf-8", errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        after = told.rpartition(")")[2].split()  # a name may hold anything, blanks too
        yield int(file.parent.name), int(after[1]), sum(map(int, after[11:15]))


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and make it."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
