"""A database that is locked, slow, full, absent or killed loses nothing, and is told of."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from journaled import schema_of, server
from pointsman.gateway.journal import database
from pointsman.gateway.journal.journal import Journal
from recording import Heard, Passage, decided, ids, ids_of, journal_at, until

sqlalchemy = pytest.importorskip("sqlalchemy")

HERE = Path(__file__).parent
KEY = "a key for many hosts, as all of them need"


def reconciles(journal: Journal, entries: list[Any]) -> None:
    """Everything that was put is in the database once, and nothing else."""
    assert until(lambda: journal.flush(10.0))
    assert ids(journal) == ids_of(entries)
    assert journal.lost == 0


def told(heard: Heard) -> list[str]:
    return [event for _, event, _ in heard.events]


# --- one file ----------------------------------------------------------------------------


def test_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For longer than SQLite waits: told once, loaded when the lock is gone."""
    monkeypatch.setattr(database, "PATIENCE", 0.3)
    path = tmp_path / "journal.db"
    heard, entries = Heard(), [decided() for _ in range(300)]
    with journal_at(path, heard, key=KEY) as journal:
        journal.put(entries[0])
        assert journal.flush()
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            for entry in entries[1:]:
                journal.put(entry)
            assert not journal.flush()
            assert not journal.flush(0.01)
            other.execute("ROLLBACK")
        reconciles(journal, entries)

    assert told(heard) == ["journal.database_down", "journal.database_back"]
    assert heard.named("journal.database_down")[0] == {
        "problem": "another process holds its lock",
        "waiting": 299,
    }


def test_slow(tmp_path: Path) -> None:
    """Others write all the time; each waits for its turn."""
    path = tmp_path / "journal.db"
    heard, entries = Heard(), [decided() for _ in range(1000)]
    done = threading.Event()

    def others() -> None:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
            while not done.wait(0.01):
                other.execute("BEGIN IMMEDIATE")
                done.wait(0.03)
                other.execute("COMMIT")

    with journal_at(path, heard, key=KEY) as journal:
        journal.put(entries[0])
        assert journal.flush()
        busy = threading.Thread(target=others)
        busy.start()
        try:
            for entry in entries[1:]:
                journal.put(entry)
            reconciles(journal, entries)
        finally:
            done.set()
            busy.join()

    assert heard.events == []


FULL = """
import resource, sys
from pathlib import Path
from recording import Heard, decided, ids, ids_of, journal_at, until
heard, entries = Heard(), [decided(n) for n in range(1000)]
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
with journal_at(Path(sys.argv[1]), heard) as journal:
    journal.put(entries[0])
    assert journal.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
    for entry in entries[1:]:
        journal.put(entry)
    assert not journal.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert until(lambda: journal.flush(10.0))
    assert ids(journal) == ids_of(entries)
    assert journal.lost == 0
print(*sorted({event for _, event, _ in heard.events}))
"""


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (1_200_000, "journal.database_back journal.database_down"),
        (2_000, "journal.spool_back journal.spool_down"),
    ],
    ids=["the database", "the spool"],
)
def test_full(tmp_path: Path, limit: int, expected: str) -> None:
    """No file may grow beyond a limit: the database's log at first, or the spool itself."""
    pytest.importorskip("resource")
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "journal.db"), str(limit)],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )

    assert run.stdout.split() == expected.split()


def test_absent(tmp_path: Path) -> None:
    """The operator's fault is told in words; the rows wait until it is put right."""
    room = tmp_path / "room"
    room.write_text("a file where the folder should be")
    heard, entries = Heard(), [decided() for _ in range(100)]
    with journal_at(room / "journal.db", heard, key=KEY, spool=tmp_path / "spool") as journal:
        for entry in entries:
            journal.put(entry)
        assert not journal.flush()
        assert not journal.flush()
        room.unlink()
        reconciles(journal, entries)

    assert told(heard) == ["journal.database_down", "journal.database_back"]
    problem = heard.named("journal.database_down")[0]["problem"]
    assert problem.startswith("DECISION_JOURNAL: ")
    assert str(tmp_path) not in problem


def test_taken_away(tmp_path: Path) -> None:
    """What comes after the folder was removed goes into a new file, not into the removed one."""
    room = tmp_path / "room"
    entries = [decided() for _ in range(100)]
    with journal_at(room / "journal.db", key=KEY, spool=tmp_path / "spool") as journal:
        journal.put(decided())
        assert journal.flush()
        shutil.rmtree(room)
        for entry in entries:
            journal.put(entry)
        reconciles(journal, entries)


# --- a server ----------------------------------------------------------------------------


@pytest.fixture
def passage() -> Iterator[Passage]:
    passage = Passage(sqlalchemy.make_url(server()).port or 5432)
    yield passage
    passage.cut()


@pytest.fixture
def direct() -> Iterator[str]:
    with schema_of(server()) as made:
        yield made


@pytest.fixture
def url(direct: str, passage: Passage) -> str:
    """The way to the server that can be cut."""
    through = sqlalchemy.make_url(direct).set(host="127.0.0.1", port=passage.port)
    return str(through.render_as_string(hide_password=False))


def test_a_server_that_is_absent_at_first(tmp_path: Path, url: str, passage: Passage) -> None:
    heard, entries = Heard(), [decided() for _ in range(100)]
    with journal_at(url, heard, key=KEY, spool=tmp_path / "spool") as journal:
        for entry in entries:
            journal.put(entry)
        assert not journal.flush()
        passage.open()
        reconciles(journal, entries)

    assert told(heard) == ["journal.database_down", "journal.database_back"]
    said = repr(heard.events)
    assert not [secret for secret in (KEY, "127.0.0.1", str(passage.port)) if secret in said]


def test_a_server_that_is_slow(tmp_path: Path, url: str, passage: Passage) -> None:
    heard, entries = Heard(), [decided() for _ in range(200)]
    passage.open()
    with journal_at(url, heard, key=KEY, spool=tmp_path / "spool") as journal:
        journal.put(entries[0])
        assert journal.flush()
        passage.delay = 0.01
        for entry in entries[1:]:
            journal.put(entry)
        reconciles(journal, entries)

    assert heard.events == []


def test_a_server_that_is_cut_off(tmp_path: Path, url: str, passage: Passage) -> None:
    heard, entries = Heard(), [decided() for _ in range(600)]
    passage.open()
    with journal_at(url, heard, key=KEY, spool=tmp_path / "spool") as journal:
        journal.put(entries[0])
        assert journal.flush()
        passage.cut()
        for entry in entries[1:]:
            journal.put(entry)
        assert not journal.flush()
        passage.open()
        reconciles(journal, entries)

    assert told(heard) == ["journal.database_down", "journal.database_back"]


def test_a_server_that_ends_our_connections(tmp_path: Path, direct: str) -> None:
    """Mid-load, again and again: what was not committed is written again, once."""
    import psycopg

    entries = [decided() for _ in range(1000)]
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'to be ended' AND pid <> pg_backend_pid()"
    )
    named = f"{direct}&application_name=to%20be%20ended"  # other tests have connections, too
    with (
        psycopg.connect(direct, autocommit=True) as other,
        journal_at(named, key=KEY, spool=tmp_path / "spool") as journal,
    ):
        journal.put(entries[0])
        assert journal.flush()
        ended = 0
        for at in range(1, len(entries), 100):
            for entry in entries[at : at + 100]:
                journal.put(entry)
            journal.flush(0.05)
            ended += len(other.execute(end).fetchall())
        assert ended
        reconciles(journal, entries)
