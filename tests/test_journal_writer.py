"""From `put` to the database: what is written, by whom, and that it is written once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import random
import sqlite3
import subprocess
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from journaled import verdict
from pointsman import Ask
from pointsman.gateway.journal.journal import Journal, JournalSettings
from pointsman.gateway.journal.segments import line_of, row_of
from pointsman.gateway.journal.spool import Spool
from pointsman.gateway.journal.store import Store
from recording import QUESTION, Heard, decided, ids, ids_of, journal_at, until

pytest.importorskip("sqlalchemy")

HERE = Path(__file__).parent
KEY = "a key that several processes share"
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
# the tests of forks run with threads about on purpose
ignore_threads = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def threads() -> list[str]:
    return [one.name for one in threading.enumerate() if "journal" in one.name]


def spooled(path: Path) -> list[Path]:
    return sorted(path.with_name(f"{path.name}.spool").glob("*"))


def written(path: Path) -> list[str]:
    """What a process that comes later finds in the database."""
    store = Store.open(f"sqlite:///{path}")
    found = sorted(row.id for row in store.rows())
    store.close()
    return found


def python(code: str, *arguments: object, **given: Any) -> subprocess.Popen[str]:
    """Another process."""
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        text=True,
        **given,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def unreachable(path: Path) -> Path:
    """Make sure that there can be no database at *path* until what stands there is gone."""
    path.mkdir()
    return path


# --- beginning and ending ----------------------------------------------------------------


def test_nothing_is_opened_before_the_first_entry(path: Path) -> None:
    with journal_at(path) as journal:
        assert threads() == []
        assert list(path.parent.iterdir()) == []
        journal.close()
        assert list(path.parent.iterdir()) == []


def test_what_is_flushed_is_in_the_database_and_no_longer_in_the_spool(path: Path) -> None:
    entries = [decided() for _ in range(700)]
    with journal_at(path) as journal:
        for entry in entries:
            journal.put(entry)
        assert journal.flush()
        assert ids(journal) == ids_of(entries)
        assert until(lambda: spooled(path) == [])


def test_close_drains_and_ends_the_threads_and_a_later_put_begins_again(path: Path) -> None:
    heard, entries = Heard(), [decided(n) for n in range(3)]
    with journal_at(path, heard) as journal:
        for entry in entries:
            journal.put(entry)
            journal.close()
            assert threads() == []
        journal.close()

    assert written(path) == ids_of(entries)
    assert spooled(path) == []
    assert heard.events == []


def test_entries_put_while_others_close_are_all_written(path: Path) -> None:
    """Eight threads put, two close all the time: whoever is late begins the journal again."""
    entries = [[decided() for _ in range(60)] for _ in range(8)]
    with journal_at(path) as journal, ThreadPoolExecutor(10) as pool:
        done = threading.Event()

        def puts(mine: list[Any]) -> None:
            for entry in mine:
                journal.put(entry)
                done.wait(random.random() / 200)

        def closes() -> None:
            while not done.is_set():
                journal.close()

        closing = [pool.submit(closes) for _ in range(2)]
        for one in [pool.submit(puts, mine) for mine in entries]:
            one.result()
        done.set()
        for one in closing:
            one.result()
        assert journal.flush()
        assert journal.lost == 0

    assert written(path) == ids_of([entry for mine in entries for entry in mine])
    assert threads() == []


def test_a_journal_that_nobody_holds_writes_what_it_was_given_and_ends(path: Path) -> None:
    entry = decided()
    journal = Journal(JournalSettings(f"sqlite:///{path}"), tell=Heard())
    journal.put(entry)
    del journal
    gc.collect()

    assert until(lambda: not threads())
    assert written(path) == ids_of([entry])


EXITS = """
import atexit, sys
from pointsman.gateway.journal.journal import Journal, JournalSettings
from recording import Heard, decided
if sys.argv[2] == "late":
    atexit.register(lambda: journal.put(decided(99)))  # runs after the journal has ended
journal = Journal(JournalSettings(f"sqlite:///{sys.argv[1]}"), tell=Heard())
for n in range(50):
    journal.put(decided(n))
"""


@pytest.mark.parametrize(("how", "last"), [("normal", 49), ("late", 99)])
def test_a_normal_exit_drains(path: Path, how: str, last: int) -> None:
    """What is put when all is over is at least in the spool, for the next process."""
    assert python(EXITS, path, how).wait() == 0
    with journal_at(path) as journal:
        if how == "late":
            assert journal.flush()
        found = ids(journal)

    assert len(found) == 50 + (how == "late")
    assert found[-1] == f"{last:032x}"


# --- one journal, many writers -----------------------------------------------------------


TASKS = """
import asyncio, sys
from pointsman.gateway.journal.journal import Journal, JournalSettings
from recording import Heard, decided
journal = Journal(JournalSettings(f"sqlite:///{sys.argv[1]}"), tell=Heard())
first = int(sys.argv[2])

async def task(n):
    for entry in range(first + 20 * n, first + 20 * n + 20):
        journal.put(decided(entry))
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(*map(task, range(64)))

asyncio.run(main())
journal.close()
assert journal.lost == 0
"""


def test_two_processes_of_64_tasks_write_one_file_and_every_row_once(path: Path) -> None:
    runs = [python(TASKS, path, first) for first in (0, 64 * 20)]

    assert [run.wait() for run in runs] == [0, 0]
    assert written(path) == [f"{n:032x}" for n in range(2 * 64 * 20)]
    assert spooled(path) == []


def test_tasks_and_threads_share_a_journal(path: Path) -> None:
    entries = [decided() for _ in range(640)]

    async def main(journal: Journal) -> None:
        async def task(n: int) -> None:
            for entry in entries[10 * n : 10 * n + 10]:
                journal.put(entry)
                await asyncio.sleep(0)

        await asyncio.gather(*map(task, range(32)))
        await asyncio.gather(*[asyncio.to_thread(puts, journal, n) for n in range(32, 64)])

    def puts(journal: Journal, n: int) -> None:
        for entry in entries[10 * n : 10 * n + 10]:
            journal.put(entry)

    with journal_at(path) as journal:
        asyncio.run(main(journal))
        assert journal.flush()
        assert ids(journal) == ids_of(entries)


@forks
@ignore_threads
def test_a_forked_child_writes_its_own_entries_and_never_its_parents(path: Path) -> None:
    parents, childs = [decided() for _ in range(200)], [decided() for _ in range(200)]
    with journal_at(path) as journal:
        journal.put(parents[0])
        assert journal.flush()
        for entry in parents[1:]:
            journal.put(entry)
        child = os.fork()
        if child == 0:  # what was put just before is in the queue, or half-way in the spool
            for entry in childs:
                journal.put(entry)
            done = journal.flush() and journal.lost == 0
            journal.close()
            os._exit(0 if done and not threads() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert journal.flush()
        assert ids(journal) == ids_of(parents + childs)


@forks
@ignore_threads
def test_the_child_of_a_fork_does_not_free_its_parents_segments(path: Path) -> None:
    """The lock is the parent's as long as the parent lives, also when its child has closed."""
    entry = decided()
    room: dict[str, Any] = {"spool": path.parent / "spool", "key": KEY}
    with journal_at(path / "journal.db", **room) as journal:
        path.write_text("a file where the database's folder should be")
        journal.put(entry)
        assert not journal.flush()
        child = os.fork()
        if child == 0:
            journal.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        (folder,) = room["spool"].iterdir()
        other = Spool(folder)
        other.adopt()
        assert other.rows == 0
        path.unlink()
        assert journal.flush()
        assert ids(journal) == ids_of([entry])


def _works(path: Path, n: int) -> None:
    journal = Journal(JournalSettings(f"sqlite:///{path}", key=KEY), tell=Heard())
    journal.put(decided(n))


@pytest.mark.parametrize("how", ["fork", "spawn"])
@ignore_threads
def test_a_worker_of_multiprocessing_drains_at_its_end(path: Path, how: str) -> None:
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {how}")
    context: Any = multiprocessing.get_context(how)
    worker = context.Process(target=_works, args=(path, 7))
    worker.start()
    worker.join()

    assert worker.exitcode == 0
    assert written(path) == [f"{7:032x}"]


# --- the spool ---------------------------------------------------------------------------


def leave(path: Path, entries: list[Any]) -> Path:
    """Leave *entries* in the spool, as a process does whose database is down."""
    unreachable(path)
    with journal_at(path, key=KEY) as journal:
        for entry in entries:
            journal.put(entry)
    path.rmdir()
    (segment,) = spooled(path)
    return segment


def test_what_the_database_does_not_take_waits_for_the_next_process(path: Path) -> None:
    heard, entries = Heard(), [decided() for _ in range(10)]
    unreachable(path)
    with journal_at(path, heard, key=KEY) as journal:
        for entry in entries:
            journal.put(entry)
        journal.close()
        assert heard.named("journal.closed") == [{"lost": 0, "left": 10, "unwritten": 0}]
    path.rmdir()
    with journal_at(path, key=KEY) as later:
        assert later.flush()
        assert ids(later) == ids_of(entries)
        assert spooled(path) == []


def test_what_a_living_process_holds_is_left_alone(tmp_path: Path) -> None:
    one, other = Spool(tmp_path), Spool(tmp_path)
    one.append([line_of(verdict(n, of=1)) for n in range(3)])
    other.adopt()
    assert (one.rows, other.rows) == (3, 0)

    one.release()
    other.adopt()
    assert (one.rows, other.rows) == (0, 3)
    other.release()


def test_databases_that_share_a_folder_do_not_share_rows(path: Path) -> None:
    mine, others, spool = decided(), decided(), path.parent / "spool"
    blocked = unreachable(path.parent / "blocked.db")
    with journal_at(blocked, key=KEY, spool=spool) as journal:
        journal.put(mine)
    with journal_at(path, key=KEY, spool=spool) as other:
        other.put(others)
        assert other.flush()
        assert ids(other) == ids_of([others])
    blocked.rmdir()
    with journal_at(blocked, key=KEY, spool=spool) as journal:
        assert journal.flush()
        assert ids(journal) == ids_of([mine])


def test_the_spool_is_for_its_owner_alone(path: Path) -> None:
    segment = leave(path, [decided()])

    assert segment.parent.stat().st_mode & 0o777 == 0o700
    assert segment.stat().st_mode & 0o777 == 0o600


def test_large_states_fill_several_segments(path: Path) -> None:
    """One row may be larger than what is read at once; a segment is closed at 8 MB."""
    texts = ["x" * 700_000, *[str(n) * 120_000 for n in range(90)]]
    entries = [decided(ask=Ask(text, {"team": QUESTION})) for text in texts]
    unreachable(path)
    with journal_at(path, key=KEY, content="full") as journal:
        for entry in entries:
            journal.put(entry)
    assert len(spooled(path)) > 1
    path.rmdir()
    with journal_at(path, key=KEY, content="full") as later:
        assert later.flush()
        states = [trail.decision.kept.state for trail in later.store().trails()]

    assert len(states) == len(texts)
    assert set(states) == set(texts)


@pytest.mark.parametrize("cut", [1, 2, 30, 200])
def test_a_torn_last_line_is_skipped(path: Path, cut: int) -> None:
    entries = [decided(n) for n in range(5)]
    segment = leave(path, entries)
    segment.write_bytes(segment.read_bytes()[:-cut])
    heard = Heard()
    with journal_at(path, heard, key=KEY) as journal:
        assert journal.flush()
        assert ids(journal) == ids_of(entries[:-1])

    assert spooled(path) == []
    assert heard.events == []


def _guarded(body: bytes) -> bytes:
    return b"%08x %b" % (zlib.crc32(body), body)


DAMAGE = {
    "a changed byte": lambda line: line.replace(b"billing", b"bilking"),
    "zeroes": lambda line: bytes(len(line)),
    "half a line": lambda line: line[: len(line) // 2],
    "an empty line": lambda _: b"",
    "a row of a later version": lambda _: _guarded(b'{"type":"verdict","id":"1"}'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_line_that_cannot_be_read_stops_no_other_and_is_kept(path: Path, damage: Any) -> None:
    entries = [decided(n) for n in range(5)]
    segment = leave(path, entries)
    lines = segment.read_bytes().split(b"\n")
    lines[2] = damage(lines[2])
    segment.write_bytes(b"\n".join(lines))
    heard = Heard()
    with journal_at(path, heard, key=KEY) as journal:
        assert journal.flush()
        assert ids(journal) == ids_of(entries[:2] + entries[3:])

    assert heard.named("journal.unread") == [{"rows": 1}]
    (kept,) = spooled(path)
    assert kept.suffix == ".unread"
    assert kept.read_bytes() == b"\n".join(lines)


def test_what_no_database_can_hold_stops_no_other_and_is_kept(path: Path) -> None:
    heard, entries = Heard(), [decided(n) for n in range(5)]
    entries[2] = decided(16**40)
    with journal_at(path, heard, key=KEY) as journal:
        for entry in entries:
            journal.put(entry)
        journal.flush()
        found = ids(journal)

    assert set(found) <= set(ids_of(entries))
    assert set(ids_of(entries[:2] + entries[3:])) <= set(found)


# --- what cannot be written --------------------------------------------------------------


def test_an_entry_that_cannot_be_written_is_counted_and_told(path: Path) -> None:
    heard, good = Heard(), [decided(n) for n in range(2)]
    with journal_at(path, heard) as journal:
        for entry in (good[0], decided(outcome=object()), decided(outcome=object()), good[1]):
            journal.put(entry)
        assert journal.flush()
        assert ids(journal) == ids_of(good)
        assert journal.lost == 2
        journal.close()

    assert heard.named("journal.row_failed") == [{"error": "TypeError"}]
    assert heard.named("journal.lost") == [{"lost": 1}]
    assert heard.named("journal.closed") == [{"lost": 2, "left": 0, "unwritten": 0}]


def test_a_listener_that_fails_stops_nothing(path: Path) -> None:
    def fails(*_: Any) -> None:
        raise ValueError

    journal = Journal(JournalSettings(f"sqlite:///{path}"), tell=fails)
    journal.put(decided(outcome=object()))
    journal.put(decided(1))
    assert journal.flush()
    journal.close()

    assert journal.lost == 1
    assert written(path) == [f"{1:032x}"]


def test_a_disk_that_does_not_write_keeps_entries_in_the_queue(path: Path) -> None:
    heard, entries = Heard(), [decided(n) for n in range(200)]
    spool = path.parent / "spool"
    spool.write_text("a file where the folder should be")
    with journal_at(path, heard, spool=spool) as journal:
        for entry in entries[:100]:
            journal.put(entry)
        assert not journal.flush()
        for entry in entries[100:]:
            journal.put(entry)
        assert not journal.flush()
        spool.unlink()
        heard.wait_for("journal.spool_back")
        assert journal.flush()
        assert ids(journal) == ids_of(entries)
        assert journal.lost == 0

    assert heard.named("journal.spool_down") == [{"problem": "NotADirectoryError"}]


def test_a_full_queue_counts_what_is_lost_and_says_so(path: Path) -> None:
    """Nothing is lost silently: what was put is what is written and what is counted."""
    heard, entry, puts = Heard(), decided(), 100_300
    spool = path.parent / "spool"
    spool.write_text("a file where the folder should be")
    with journal_at(path, heard, spool=spool) as journal:
        journal.put(entry)
        heard.wait_for("journal.spool_down")
        for _ in range(puts - 1):
            journal.put(entry)
        refused = journal.lost
        assert 200 < refused < 300  # the queue is full; the writer holds what it took before
        assert heard.named("journal.lost") == [{"lost": 1}]
        journal.close(seconds=0.1)
        assert journal.lost == puts
        assert threads() == []

    assert heard.named("journal.closed") == [{"lost": puts, "left": 0, "unwritten": 0}]
    assert written(path) == []


# --- killed ------------------------------------------------------------------------------

KILLED = """
import contextlib, sys
from pathlib import Path
from pointsman.gateway.journal.content import Content, Key
from pointsman.gateway.journal.loader import Loader
from pointsman.gateway.journal.segments import line_of
from pointsman.gateway.journal.spool import Spool
from pointsman.gateway.journal.writer import Writer
from recording import decided

class Told(Spool):
    def append(self, lines):
        super().append(lines)
        sys.stdout.buffer.write(b"".join(lines))
        sys.stdout.buffer.flush()

def say(*_, **__): ...

path, first, key = sys.argv[1], int(sys.argv[2]), sys.argv[3]
spool = Told(Path(path + ".spool"))
writer = Writer(Content("hash", Key(key, None), None, say), spool,
                Loader(spool, f"sqlite:///{path}", say), say)
print("begun", flush=True)
for n in range(first, first + 100_000):
    writer.put(decided(n))
writer.flush(None)
"""


def killed(path: Path, first: int, after: float) -> list[str]:
    """Kill a process *after* some seconds of work; give what it had in the spool by then."""
    run = python(KILLED, path, first, KEY, stdout=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.readline() == "begun\n"
    killing = threading.Timer(after, run.kill)
    killing.start()
    lines = run.stdout.read().split("\n")[:-1]
    run.stdout.close()
    assert run.wait() == -9
    found = [row_of(line.encode()) for line in lines]
    return [row.id for row in found if row is not None]


def checked(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_kill_takes_nothing_that_was_in_the_spool(path: Path) -> None:
    """The next process loads it; the rows that the killed one had not spooled are the only ones."""
    told = killed(path, 0, after=0.3)
    with journal_at(path, key=KEY) as journal:
        assert journal.flush()
        found = ids(journal)

    assert told
    assert set(told) <= set(found)
    assert found == [f"{n:032x}" for n in range(len(found))]
    checked(path)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_fifty_kills_at_random_points_lose_nothing_and_tear_nothing(path: Path) -> None:
    """Each process finds what the one before left; every row that can be seen can be read."""
    told: set[str] = set()
    moments = random.Random(50)
    for n in range(50):
        told |= set(killed(path, n * 1_000_000, after=moments.uniform(0.0, 0.25)))
        if path.exists():
            checked(path)
    heard = Heard()
    with journal_at(path, heard, key=KEY) as journal:
        assert journal.flush()
        found = ids(journal)
        assert len(found) == len(set(found)) == journal.store().points()["ROUTER"]

    assert len(told) > 1000
    assert told <= set(found)
    assert heard.events == []
    assert spooled(path) == []
    checked(path)
