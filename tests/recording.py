"""Entries for the journal, what it says, and a way to PostgreSQL that can be cut."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pointsman import Ask, Choice, DecisionPoint, Record
from pointsman.gateway.journal.entries import Decided
from pointsman.gateway.journal.journal import Journal, JournalSettings
from pointsman.gateway.records import Attempt

QUESTION = Choice("Which team?", {"billing": "Amounts, refunds", "tech": "Faults"})
POINT = DecisionPoint(name="ROUTER", questions={"en": {"team": QUESTION}})
ASK = Ask("my invoice doubled", {"team": QUESTION})
ATTEMPTS = (Attempt(provider="jev", model="jev-1"), Attempt(provider="current"))

_numbers = itertools.count()


def decided(n: int | None = None, **given: Any) -> Decided:
    """The *n*-th decision; absent: the next that was never made before."""
    number = next(_numbers) + (1 << 40) if n is None else n
    told: dict[str, Any] = {"point": POINT, "ask": ASK, "language": "en", "subject": "ada"}
    outcome = given.pop("outcome", "billing")
    record = Record(
        id=f"{number:032x}",
        at=1_700_000_000.0 + number % 1000,
        point="ROUTER",
        variant="jev",
        provider="current",
        outcome=outcome,
        attempts=ATTEMPTS,
    )
    return Decided(record, **{**told, **given})


class Heard:
    """What a journal said."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, dict[str, Any]]] = []

    def __call__(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """Hear."""
        self.events.append((level, event, dict(fields)))

    def named(self, event: str) -> list[dict[str, Any]]:
        """What was said under this name."""
        return [fields for _, name, fields in self.events if name == event]

    def wait_for(self, event: str) -> dict[str, Any]:
        """Give the first of this name, once it was said."""
        assert until(lambda: bool(self.named(event))), self.events
        return self.named(event)[0]


def until(true: Any, seconds: float = 20.0) -> bool:
    """Wait for what must become true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


@contextlib.contextmanager
def journal_at(place: Path | str, heard: Heard | None = None, **given: Any) -> Iterator[Journal]:
    """A journal in a SQLite file, or at a URL; closed afterwards."""
    mask = given.pop("mask", None)
    url = place if isinstance(place, str) else f"sqlite:///{place}"
    journal = Journal(JournalSettings(url, **given), mask=mask, tell=heard or Heard())
    try:
        yield journal
    finally:
        journal.close()


def ids(journal: Journal) -> list[str]:
    """The decisions that the database has, in order; every one can be read."""
    return sorted(row.id for row in journal.store().rows())


def ids_of(entries: list[Decided]) -> list[str]:
    """What they are known by."""
    return sorted(entry.record.id for entry in entries)


class Passage:
    """A way to a server that can be slowed down and cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._lock = threading.Lock()
        self._pairs: list[socket.socket] = []
        self._listening: socket.socket | None = None
        self.delay = 0.0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]

    def open(self) -> None:
        """Let connections through."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        listening.listen()
        self._listening = listening
        threading.Thread(target=self._accept, args=(listening,), daemon=True).start()

    def cut(self) -> None:
        """Refuse new connections, and end those that are open."""
        if self._listening is not None:
            with contextlib.suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for one in pairs:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._to))
            with self._lock:
                self._pairs += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                time.sleep(self.delay)
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        one.close()
