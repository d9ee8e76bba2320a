"""
One contestant in its own environment: it decides as often as it is told, and times itself.

python -P benchmarks/race/worker.py NAME BASE_URL

Lines of JSON. It first says `{"ways": [...], "version": "…"}`, or `{"absent": "…"}`; then, for
each `{"way": "sync", "times": 100}` on stdin, `{"cpu": µs, "wall": µs, "wrong": 0}` for one
decision. CPU is that of the whole process, so that a contestant's own threads count.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TextIO

sys.path.append(str(Path(__file__).parents[1]))  # behind the peer's own packages

from race.decision import ANSWER
from race.entries import LIBRARIES, Ways, version_of

WARM = 20  # decisions before the first that counts


def _timed(decide: Callable[[], str], times: int) -> tuple[int, int, int]:
    wrong = 0
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(times):
        if decide() != ANSWER:
            wrong += 1
    return time.process_time_ns() - cpu, time.perf_counter_ns() - wall, wrong


async def _timed_async(decide: Callable[[], Awaitable[str]], times: int) -> tuple[int, int, int]:
    wrong = 0
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(times):
        if await decide() != ANSWER:
            wrong += 1
    return time.process_time_ns() - cpu, time.perf_counter_ns() - wall, wrong


class Worker:
    """A contestant that is ready."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self._loop = asyncio.new_event_loop()

    @property
    def names(self) -> list[str]:
        """How it can be asked."""
        given = {"sync": self._ways.sync, "async": self._ways.asynchronous}
        return [name for name, decide in given.items() if decide is not None]

    def run(self, way: str, times: int) -> dict[str, float]:
        """Decide *times* times in one *way*; microseconds for one."""
        gc.collect()
        if way == "sync":
            assert self._ways.sync is not None
            cpu, wall, wrong = _timed(self._ways.sync, times)
        else:
            assert self._ways.asynchronous is not None
            timed = _timed_async(self._ways.asynchronous, times)
            cpu, wall, wrong = self._loop.run_until_complete(timed)
        return {"cpu": cpu / 1000 / times, "wall": wall / 1000 / times, "wrong": wrong}


def _made(name: str, base: str) -> Worker:
    entry = LIBRARIES[name]
    maker: Callable[[str], Ways] = getattr(importlib.import_module(entry.module), entry.maker)
    worker = Worker(maker(base))
    for way in worker.names:
        if worker.run(way, WARM)["wrong"]:
            raise ValueError(f"a wrong answer, {way}")
    return worker


def _own_stdout() -> TextIO:
    """Keep stdout for the protocol: what a contestant prints goes to stderr."""
    kept = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    return kept


def main(name: str, base: str) -> None:
    told = _own_stdout()

    def tell(**values: Any) -> None:
        told.write(json.dumps(values) + "\n")

    try:
        worker = _made(name, base)
    except Exception as fault:
        tell(absent=type(fault).__name__)
        raise
    tell(ways=worker.names, version=version_of(LIBRARIES[name].package))
    for line in sys.stdin:
        told.write(json.dumps(worker.run(**json.loads(line))) + "\n")
    told.flush()
    os._exit(0)  # a contestant's threads may not hold up the race


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
