"""The command as a process: what it prints, line by line, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 60.0  # seconds that a test waits for what must come; a bound, never a measure
FOREIGN = ("DECISION_", "LOCAL_", "JEV_", "CURRENT_", "AI_GATEWAY_", "SERVER_", "PROMETHEUS_")

ASKED = {
    "model": "jev",
    "input": "canary-state: my router is dead",
    "questions": [
        {
            "type": "choice",
            "name": "team",
            "instructions": "canary-instruction: which team takes it?",
            "choices": [
                {"value": "billing", "description": "Amounts"},
                {"value": "tech", "description": "Faults"},
                {"value": "none", "description": "Neither"},
            ],
        }
    ],
}


def clean(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the environment of a command: *variables*, and none of the developer's own."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**own, "COLUMNS": "100", **variables}


class Command:
    """
    A command that runs in *folder*.

    Attributes:
        out: Its lines on standard output so far.
        err: Those on standard error.

    Args:
        folder: Where it runs.
        words: Of the command.
        under: What it is run by.
        variables: All that it has, besides those that are none of ours.

    """

    def __init__(
        self, folder: Path, *words: str, under: Sequence[str] = (), **variables: str
    ) -> None:
        self._arrived = threading.Condition()
        self.out: list[str] = []
        self.err: list[str] = []
        self._process = subprocess.Popen(
            [*under, sys.executable, "-m", "pointsman", *words],
            cwd=folder,
            env=clean(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        streams = (self._process.stdout, self.out), (self._process.stderr, self.err)
        self._readers = [threading.Thread(target=self._read, args=one) for one in streams]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any, lines: list[str]) -> None:
        for line in stream:
            with self._arrived:
                lines.append(line.rstrip("\n"))
                self._arrived.notify_all()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of its log; each line is one."""
        return [json.loads(line) for line in list(self.err) if line.startswith("{")]

    def until(self, seen: Callable[[], Any]) -> Any:
        """Wait until *seen* gives something that is true, whenever a line was printed."""

        def looked() -> Any:
            return seen() or self._process.poll() is not None

        with self._arrived:
            self._arrived.wait_for(looked, PATIENCE)
        found = seen()
        assert found, (self.out, self.err)
        return found

    def told(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait for *count* events of a name, and give them."""

        def seen() -> list[dict[str, Any]]:
            found = [one for one in self.events if one["event"] == event]
            return found if len(found) >= count else []

        found: list[dict[str, Any]] = self.until(seen)
        return found

    def port(self) -> int:
        """Wait until it serves, and give the port."""
        line = self.until(lambda: next((one for one in self.out if "serving on" in one), ""))
        self.until(lambda: any(one.startswith("workers") for one in self.out))
        return int(line.rpartition(":")[2])

    def tell(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def ended(self) -> int:
        """Wait until it has ended, and give its exit code."""
        code = self._process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def end(self) -> int:
        """Let it end as a service manager does."""
        self.tell(signal.SIGTERM)
        return self.ended()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self.ended()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()


def asked(
    port: int, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, Any, Mapping[str, str]]:
    """Send one request on a connection of its own: status, body as JSON or text, headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        content = None if body is None else json.dumps(body)
        kind = {} if body is None else {"content-type": "application/json"}
        connection.request(method, path, content, {**kind, **headers})
        response = connection.getresponse()
        text = response.read().decode()
        given = dict(response.headers.items())
        return response.status, json.loads(text) if text.startswith("{") else text, given
    finally:
        connection.close()


def numbers(port: int, **headers: str) -> dict[str, float]:
    """Give the counters of `/metrics`: the series as written → its value."""
    status, page, _ = asked(port, "GET", "/metrics", **headers)
    assert status == 200
    pairs = (line.rpartition(" ") for line in page.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}
