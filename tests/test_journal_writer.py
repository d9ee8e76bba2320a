"""From `put` to the database: what is written, by whom, and that it is written once."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import gc
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from journaled import decision, verdict
from pointsman import Ask
from pointsman.gateway.journal.aside import NAME, put_aside
from pointsman.gateway.journal.content import Content, Key
from pointsman.gateway.journal.journal import Journal, JournalSettings
from pointsman.gateway.journal.loader import Loader
from pointsman.gateway.journal.segments import Segment, line_of, row_of
from pointsman.gateway.journal.spool import Spool
from pointsman.gateway.journal.store import Store
from pointsman.gateway.journal.writer import Writer
from recording import QUESTION, Heard, decided, ids, ids_of, journal_at, until

pytest.importorskip("sqlalchemy")

HERE = Path(__file__).parent
WRITER = "pointsman-journal-writer"
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
    path.symlink_to(path.parent / "gone" / path.name)  # what is known only by opening it
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
    for entry in range(first + 8 * n, first + 8 * n + 8):
        journal.put(decided(entry))
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(*map(task, range(64)))

asyncio.run(main())
journal.close()
assert journal.lost == 0
"""


def test_two_processes_of_64_tasks_write_one_file_and_every_row_once(path: Path) -> None:
    runs = [python(TASKS, path, first) for first in (0, 64 * 8)]

    assert [run.wait() for run in runs] == [0, 0]
    assert written(path) == [f"{n:032x}" for n in range(2 * 64 * 8)]
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
    path.unlink()
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
    path.unlink()
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


def test_whoever_closes_keeps_what_others_have_left_since_it_began(path: Path) -> None:
    """As a worker does whose sibling was killed, and for which nobody came after."""
    left, mine = [decided() for _ in range(5)], decided()
    with journal_at(path, key=KEY) as journal:
        journal.put(mine)
        assert journal.flush()
        aside = path.with_name("aside")
        path.rename(aside)
        leave(path, left)
        aside.rename(path)
        journal.close()

    assert written(path) == ids_of([*left, mine])
    assert spooled(path) == []


def test_a_segment_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Writer and loader share one descriptor, which has one place: no read may find another's."""
    segment = Segment.new(tmp_path)
    segment.append([b"first\n"])

    def write() -> None:
        for _ in range(20_000):
            segment.append([b"x\n"])

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert segment.read()[0] == b"first"
    writer.join()
    segment.abandon()


def test_databases_that_share_a_folder_do_not_share_rows(path: Path) -> None:
    mine, others, spool = decided(), decided(), path.parent / "spool"
    blocked = unreachable(path.parent / "blocked.db")
    with journal_at(blocked, key=KEY, spool=spool) as journal:
        journal.put(mine)
    with journal_at(path, key=KEY, spool=spool) as other:
        other.put(others)
        assert other.flush()
        assert ids(other) == ids_of([others])
    blocked.unlink()
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
    path.unlink()
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
    assert kept.name == NAME
    assert kept.read_bytes() == lines[2] + b"\n"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_what_no_database_can_hold_is_put_aside_alone(path: Path) -> None:
    """Nobody else's state is kept beside it, and all that was refused is in one file."""
    heard, entries = Heard(), [decided(n) for n in range(5)]
    refused = [decided(16**70), decided(16**71)]
    with journal_at(path, heard, key=KEY) as journal:
        for entry in (*entries[:2], refused[0], *entries[2:]):
            journal.put(entry)
        assert journal.flush()
        journal.put(refused[1])
        assert journal.flush()
        assert ids(journal) == ids_of(entries)

    assert heard.named("journal.unread") == [{"rows": 1}] * 2
    (kept,) = spooled(path)
    rows = [row_of(line) for line in kept.read_bytes().splitlines()]
    assert [row.id for row in rows if row is not None] == [one.record.id for one in refused]


def test_lines_that_cannot_be_put_aside_wait(path: Path) -> None:
    heard, entry = Heard(), decided(16**70)
    in_the_way = path.with_name(f"{path.name}.spool") / NAME
    in_the_way.mkdir(parents=True)
    with journal_at(path, heard, key=KEY) as journal:
        journal.put(entry)
        assert not journal.flush()
        in_the_way.rmdir()
        assert until(journal.flush)
        assert heard.named("journal.unread") == [{"rows": 1}]

    (kept,) = spooled(path)
    assert entry.record.id.encode() in kept.read_bytes()


def test_a_line_that_a_kill_tore_off_aside_spoils_no_other(tmp_path: Path) -> None:
    kept = tmp_path / NAME
    put_aside(kept, [b"one"])
    kept.write_bytes(kept.read_bytes() + b"tor")
    put_aside(kept, [b"two", b"three"])

    assert kept.read_bytes() == b"one\ntor\ntwo\nthree\n"


# --- many segments -----------------------------------------------------------------------


MANY = """
import resource, sys
from pathlib import Path
from recording import decided, ids, journal_at
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
with journal_at(Path(sys.argv[1]), key=sys.argv[2]) as journal:
    journal.put(decided(1000))
    assert journal.flush(60.0)
    open(sys.argv[1]).close()
    print(len(ids(journal)))
"""


def test_what_many_dead_processes_left_takes_few_of_the_hosts_files(path: Path) -> None:
    """As when each of many short runs found the database down; the host has files of its own."""
    pytest.importorskip("resource")
    folder = path.with_name(f"{path.name}.spool")
    for n in range(100):
        left = Spool(folder)
        left.append([line_of(decision(n))])
        left.release()
    run = python(MANY, path, KEY, stdout=subprocess.PIPE)

    assert run.communicate()[0] == "101\n"
    assert run.returncode == 0
    assert spooled(path) == []


def test_a_long_outage_takes_few_of_the_hosts_files(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.gateway.journal.spool.ROTATE", 10)
    entries = [decided() for _ in range(12)]
    unreachable(path)
    with journal_at(path, key=KEY) as journal:
        for entry in entries:
            journal.put(entry)
            journal.flush()
        assert 1 < len(spooled(path)) <= 4
        path.unlink()
        assert until(journal.flush)
        assert ids(journal) == ids_of(entries)
        assert spooled(path) == []


def test_a_host_without_a_file_to_spare_is_told_and_loses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left cannot even be looked at: so it is not said to be in the database."""
    entries = [decided(n) for n in range(3)]
    leave(path, entries)
    opened = os.open

    def exhausted(name: Any, *flags: int) -> int:
        if str(name).endswith(".rows"):
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(name, *flags)

    with journal_at(path, key=KEY) as journal, monkeypatch.context() as patched:
        patched.setattr(os, "open", exhausted)
        assert not journal.flush()
        patched.undo()
        assert until(journal.flush)
        assert ids(journal) == ids_of(entries)


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


class Panic(BaseException):
    """What a library in another language may raise."""


@pytest.mark.parametrize("raised", [Panic, KeyboardInterrupt, SystemExit])
def test_whatever_an_entry_raises_it_ends_nothing(path: Path, raised: type[BaseException]) -> None:
    class Subject(str):
        __slots__ = ()

        def isascii(self) -> bool:
            raise raised

    heard, good = Heard(), [decided(n) for n in range(4)]
    with journal_at(path, heard) as journal:
        journal.put(good[0])
        assert journal.flush()
        for entry in (good[1], decided(subject=Subject("ada")), *good[2:]):
            journal.put(entry)
        assert journal.flush()
        assert ids(journal) == ids_of(good)
        assert journal.lost == 1

    assert heard.named("journal.row_failed") == [{"error": raised.__name__}]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="CPython's own way")
def test_a_writer_that_is_interrupted_goes_on(path: Path) -> None:
    """By whoever raises an exception in all threads: a debugger, a limit of time."""
    heard, entries = Heard(), [decided(n) for n in range(3)]
    with journal_at(path, heard) as journal:
        journal.put(entries[0])
        assert journal.flush()
        (writer,) = [one for one in threading.enumerate() if one.name == WRITER]
        assert writer.ident is not None
        raising = ctypes.pythonapi.PyThreadState_SetAsyncExc
        assert raising(ctypes.c_ulong(writer.ident), ctypes.py_object(Panic)) == 1
        journal.put(decided())  # wakes it, and may be lost
        heard.wait_for("journal.writer_failed")
        for entry in entries[1:]:
            journal.put(entry)
        assert journal.flush()
        assert set(ids_of(entries)) <= set(ids(journal))
        journal.close()
        assert threads() == []


@pytest.mark.parametrize("raised", [ValueError, Panic])
def test_a_listener_that_fails_stops_nothing(path: Path, raised: type[BaseException]) -> None:
    def fails(*_: Any) -> None:
        raise raised

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
    with journal_at(path, heard, spool=spool) as journal:
        spool.write_text("a file where the folder should be")
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

    (told,) = heard.named("journal.spool_down")
    assert told["problem"].startswith("DECISION_JOURNAL_SPOOL: its file cannot be written (Not a d")
    assert str(path.parent) not in told["problem"]


def test_a_full_queue_counts_what_is_lost_and_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost silently: what was put is what is written and what is counted."""
    monkeypatch.setattr("pointsman.gateway.journal.writer.BOUND", 1000)
    heard, entry, puts = Heard(), decided(), 1300
    spool = path.parent / "spool"
    with journal_at(path, heard, spool=spool) as journal:
        spool.write_text("a file where the folder should be")
        journal.put(entry)
        heard.wait_for("journal.spool_down")
        for _ in range(puts - 1):
            journal.put(entry)
        refused = journal.lost
        assert 200 < refused < 300  # the queue is full; the writer holds what it took before
        assert heard.named("journal.lost") == [{"lost": 1}]
        journal.close(seconds=0.1)
        assert journal.lost == puts
        assert until(lambda: not threads())

    assert heard.named("journal.closed") == [{"lost": puts, "left": 0, "unwritten": 0}]
    assert written(path) == []


def test_long_states_fill_the_queue_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the disk does not write; what is refused is counted, and room is made again."""
    monkeypatch.setattr("pointsman.gateway.journal.writer.HEAVY", 1_000_000)
    heard, entries = Heard(), [decided(ask=Ask("x" * 100_000, {"team": QUESTION})) for _ in "12345"]
    spool = path.parent / "spool"
    with journal_at(path, heard, spool=spool) as journal:
        spool.write_text("a file where the folder should be")
        journal.put(decided())
        heard.wait_for("journal.spool_down")
        for _ in range(30):
            journal.put(entries[0])
        assert journal.lost == 20
        spool.unlink()
        assert until(journal.flush)
        for entry in entries:
            journal.put(entry)
        assert journal.flush()
        assert journal.lost == 20
        assert set(ids_of(entries)) <= set(ids(journal))


def test_half_an_emoji_in_a_label_is_written_as_none(path: Path) -> None:
    """A caller cut a text in the middle of a pair; the database stops nothing for a NUL."""
    label = {"team\ud83d": "bil\0ling\ud83d", "urgent": True}
    broken = msgspec.structs.replace(verdict(5, of=1), of="\0")
    heard = Heard()
    with journal_at(path, heard) as journal:
        journal.put(decided(1, outcome="\ud83d"))
        journal.put(verdict(2, of=1, label=label))
        journal.put(broken)
        journal.put(verdict(3, of=1, label="tech"))
        assert journal.flush()
        (trail,) = journal.store().trails()
        assert journal.lost == 0

    assert trail.decision.record.outcome == "\ufffd"
    assert [one.label for one in trail.feedback] == [
        {"team\ufffd": "bil\0ling\ufffd", "urgent": True},
        "tech",
    ]
    assert heard.named("journal.row_failed") == []


# --- killed ------------------------------------------------------------------------------


class Telling(Spool):
    """Says what it has, once it has it."""

    def __init__(self, folder: Path, pipe: int) -> None:
        super().__init__(folder)
        self._pipe = pipe

    def append(self, lines: Sequence[bytes]) -> None:
        """Append, and say so."""
        super().append(lines)
        told = memoryview(b"".join(lines))
        while told:
            told = told[os.write(self._pipe, told) :]


def puts_until_killed(path: Path, first: int, pipe: int) -> None:
    def say(*_: object, **__: object) -> None: ...

    spool = Telling(path.with_name(f"{path.name}.spool"), pipe)
    loader = Loader(spool, f"sqlite:///{path}", say)
    writer = Writer(Content("hash", Key(KEY, None), None, say), spool, loader, say)
    for n in range(first, first + 100_000):
        writer.put(decided(n))
    writer.flush(None)


def killed(path: Path, first: int, after: float) -> list[str]:
    """Kill a process *after* some seconds of work; give what it had in the spool by then."""
    reading, pipe = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with contextlib.suppress(BaseException):
            puts_until_killed(path, first, pipe)
        os._exit(1)
    os.close(pipe)
    killing = threading.Timer(after, os.kill, (child, signal.SIGKILL))
    killing.start()
    with open(reading, "rb") as told:  # noqa: PTH123 - a descriptor
        lines = told.read().split(b"\n")[:-1]
    killing.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    found = [row_of(line) for line in lines]
    return [row.id for row in found if row is not None]


def checked(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@forks
@ignore_threads
def test_a_kill_takes_nothing_that_was_in_the_spool(path: Path) -> None:
    """The next process loads it; the rows that the killed one had not spooled are the only ones."""
    told = killed(path, 0, after=1.5)
    with journal_at(path, key=KEY) as journal:
        assert journal.flush()
        found = ids(journal)

    assert told
    assert set(told) <= set(found)
    assert found == [f"{n:032x}" for n in range(len(found))]
    checked(path)


@forks
@ignore_threads
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_fifty_kills_at_random_points_lose_nothing_and_tear_nothing(path: Path) -> None:
    """Each process finds what the one before left; every row that can be seen can be read."""
    told: set[str] = set()
    moments = random.Random(50)
    with journal_at(path, key=KEY) as journal:  # imports the database's library: not in each child
        journal.put(decided(-1))
        assert journal.flush()
    for n in range(50):
        longest = 0.2 if n % 10 else 0.6  # also after the first rows have reached the database
        told |= set(killed(path, n * 1_000_000, after=moments.uniform(0.0, longest)))
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
