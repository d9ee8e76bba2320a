"""The race of the libraries: every contestant in its own process, round by round in turn."""

from __future__ import annotations

import json
import selectors
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .cores import on_core
from .entries import LIBRARIES, Library
from .environments import AbsentError, program
from .results import Cost, Ran

WORKER = Path(__file__).with_name("worker.py")
START_SECONDS = 90.0  # a large library's import, on a busy machine
ROUND_SECONDS = 60.0


class Contestant:
    """One worker that is ready."""

    def __init__(self, key: str, process: subprocess.Popen[str]) -> None:
        self.key, self._process = key, process
        self.told = self._heard(START_SECONDS)
        if "absent" in self.told:
            raise AbsentError(f"did not start: {self.told['absent']}")
        self._rounds: dict[str, list[dict[str, float]]] = {way: [] for way in self.told["ways"]}

    def run(self, times: int) -> None:
        """Take one round in every way."""
        for way, rounds in self._rounds.items():
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({"way": way, "times": times}) + "\n")
            self._process.stdin.flush()
            rounds.append(self._heard(ROUND_SECONDS))

    @property
    def ran(self) -> Ran:
        """What it came to."""
        return Ran(self.told["version"], {way: _cost(of) for way, of in self._rounds.items()})

    def _heard(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            if not waiting.select(seconds):
                raise AbsentError(f"said nothing for {seconds:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise AbsentError("ended by itself")
        heard: dict[str, Any] = json.loads(line)
        return heard


def _cost(rounds: list[dict[str, float]]) -> Cost:
    cpu, wall = (tuple(one[what] for one in rounds) for what in ("cpu", "wall"))
    return Cost(cpu, wall, int(sum(one["wrong"] for one in rounds)))


@contextmanager
def _worker(
    key: str, library: Library, base: str, peers: Path | None, core: int | None
) -> Generator[Contestant, None, None]:
    python = program(peers, library.environment, "bin/python")
    command = [str(python), "-P", str(WORKER), key, base]
    with tempfile.TemporaryFile() as aside, on_core(core):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=aside,
            text=True,
        )
    try:
        yield Contestant(key, process)
    finally:
        process.kill()
        process.communicate()


def libraries(
    base: str,
    peers: Path | None,
    core: int | None,
    rounds: int,
    contestants: Mapping[str, Library] = LIBRARIES,
) -> tuple[dict[str, Ran], dict[str, str]]:
    """
    Let all libraries decide, *rounds* times in turn, against the upstream at *base*.

    Returns those that took part, and why others did not, by title.
    """
    absent: dict[str, str] = {}
    with ExitStack() as stack:
        ready: list[Contestant] = []
        for key, library in contestants.items():
            try:
                ready.append(stack.enter_context(_worker(key, library, base, peers, core)))
            except AbsentError as fault:
                absent[library.title] = str(fault)
        for _ in range(rounds):
            ready = [one for one in ready if _took(one, absent)]
        return {one.key: one.ran for one in ready}, absent


def _took(one: Contestant, absent: dict[str, str]) -> bool:
    library = LIBRARIES[one.key]
    try:
        one.run(library.times)
    except (AbsentError, BrokenPipeError) as fault:
        absent[library.title] = str(fault) or "ended by itself"
        return False
    return True
