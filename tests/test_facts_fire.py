"""Many processes write facts at once, and are killed at any point: nothing is lost or half done."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from journaled import schema_of, server
from pointsman.decision_points.facts import FactStore

pytest.importorskip("sqlalchemy")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")

POLICY: dict[str, Any] = {"schema": 1, "attributes": {"city": {"type": "text"}}}
REGISTRY: dict[str, Any] = {
    "schema": 1,
    "order": ["erp", "crm"],
    "sources": {
        "s0": {"level": "erp"},
        "s1": {"level": "erp"},
        "s2": {"level": "crm"},
        "s3": {"level": "crm"},
    },
}
BEGIN = """
import os, random, signal, sys, time
from pointsman.decision_points.facts import FactStore
url = sys.argv[1]
"""

# each process writes its own facts, and some that all others write too, in another order
MANY = (
    BEGIN
    + """
writers, each = int(sys.argv[2]), int(sys.argv[3])
children = []
for number in range(writers):
    child = os.fork()
    if not child:
        rolls = random.Random(number)
        with FactStore(url) as store:
            for n in rolls.sample(range(each), each):
                own = number if n % 4 else 0
                store.assert_(
                    f"e{own}-{n % 50}", "city", f"town {n % 3}", source=f"s{n % 4}",
                    writer=f"w{n}", confidence=0.9,
                )
        os._exit(0)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
sys.exit(any(codes))
"""
)

# a process that is killed after it has told of some writes, wherever it is then
KILLED = (
    BEGIN
    + """
def work(tell, number):
    store = FactStore(url)
    n = 0
    while True:
        n += 1
        entries = [
            store.entry(f"e{number}-{n % 5}", "city", f"town {m % 3}", source=f"s{m % 4}",
                        writer=f"{number}-{n}-{m}", confidence=0.9)
            for m in range(4)
        ]
        way = n % 4
        if way == 0:
            store.load(entries)
        elif way == 1:
            for entry in entries:
                store.ledger.append(entry, later=True)
            os.write(tell, b"".join(one.id.encode() for one in entries))
            store.ledger.catch_up()
            continue
        elif way == 2:
            for entry in entries:
                store.ledger.append(entry)
        else:
            if n % 16 == 3:
                made = store.quarantine(source="s3", by="x", reason=f"{number}-{n}")
                store.lift(made.id, by="x")
            continue
        os.write(tell, b"".join(one.id.encode() for one in entries))

rolls = random.Random(7)
for number in range(int(sys.argv[2])):
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(told)
        work(tell, number)
    os.close(tell)
    kept = b""
    for _ in range(rolls.randrange(1, 6)):
        kept += os.read(told, 4096)
    until = time.perf_counter() + rolls.random() * 0.004
    while time.perf_counter() < until:
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(told, 4096):
        kept += more
    os.close(told)
    for start in range(0, len(kept) - 31, 32):
        print(kept[start:start + 32].decode())
"""
)


def run(program: str, *given: object) -> str:
    command = [sys.executable, "-c", program, *map(str, given)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def begun(url: str) -> None:
    with FactStore(url, policy=POLICY, registry=REGISTRY) as store:
        store.get("x", "city")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'facts.db'}"
        return
    with schema_of(server()) as made:
        yield made


@pytest.mark.slow
def test_rf_74_eight_processes_write_a_thousand_each(tmp_path: Path) -> None:
    """RF-74: every distinct assertion is there once, and what is worked out is what was said."""
    path = tmp_path / "facts.db"
    begun(f"sqlite:///{path}")

    run(MANY, f"sqlite:///{path}", 8, 1000)

    distinct = 8 * 750 + 250
    with sqlite3.connect(path) as connection:
        query = "SELECT COUNT(*), COUNT(DISTINCT id) FROM facts_log WHERE kind = 'asserted'"
        assert connection.execute(query).fetchone() == (distinct, distinct)
        gaps = connection.execute("SELECT MAX(position) - COUNT(*) FROM facts_log").fetchone()
        assert gaps == (0,)
    with FactStore(path) as store:
        found = store.verify()
    assert found.same, found.differences[:3]
    assert found.entries == distinct + 1


def test_rf_74_processes_write_together_on_either_database(url: str) -> None:
    """RF-74, RF-76: the same on PostgreSQL."""
    begun(url)

    run(MANY, url, 4, 60)

    with FactStore(url) as store:
        found = store.verify()
        assert found.same, found.differences[:3]
        assert found.entries == 4 * 45 + 15 + 1


@pytest.mark.slow
def test_rf_74_killed_at_any_point_nothing_is_lost(tmp_path: Path) -> None:
    """RF-74: fifty times, also between the log and what is worked out, and within either."""
    url = f"sqlite:///{tmp_path / 'facts.db'}"
    begun(url)

    told = set(run(KILLED, url, 50).split())

    with FactStore(url) as store:
        found = store.verify()
        assert found.same, found.differences[:3]
        with store.view() as view:
            there = {one.id for one in view.entries(kinds=("asserted",))}
    assert len(told) > 50
    assert told <= there


def test_rf_74_killed_on_postgresql() -> None:
    """RF-74, RF-76: a server undoes what a dead client had not finished."""
    with schema_of(server()) as url:
        begun(url)
        told = set(run(KILLED, url, 8).split())
        with FactStore(url) as store:
            assert store.verify().same
            with store.view() as view:
                there = {one.id for one in view.entries(kinds=("asserted",))}
    assert told
    assert told <= there


def test_a_forked_child_goes_on_with_connections_of_its_own(tmp_path: Path) -> None:
    """The parent's are of no use to it, and stay the parent's."""
    program = (
        BEGIN
        + """
store = FactStore(url)
store.assert_("e", "city", "Milan", source="s0")
child = os.fork()
if not child:
    store.assert_("child", "city", "Milan", source="s0")
    os._exit(0)
code = os.waitpid(child, 0)[1]
store.assert_("parent", "city", "Milan", source="s0")
print(code, len(list(store.facts())), store.verify().same)
"""
    )
    url = f"sqlite:///{tmp_path / 'facts.db'}"
    begun(url)

    assert run(program, url).split() == ["0", "3", "True"]


# --- forks: what is told as written is there, whoever closes first ---------------------------

# the parent closes what it had open while its child goes on, which is killed in the end
CLOSES = (
    BEGIN
    + """
store = FactStore(url)
store.assert_("e", "city", "Milan", source="s0")
(closed, close), (told, tell) = os.pipe(), os.pipe()
child = os.fork()
if not child:
    store.assert_("child", "city", "Milan", source="s0")
    os.write(tell, b"x")
    os.read(closed, 1)
    for n in range(5):
        store.assert_(f"child{n}", "city", "Milan", source="s0")
    os.write(tell, b"x")
    signal.pause()
os.close(tell)  # so that a child that fails is not waited for
os.read(told, 1)
store.close()
os.write(close, b"x")
os.read(told, 1)
fresh = "import sys; from pointsman.decision_points.facts import FactStore; store = FactStore("
fresh += "sys.argv[1]); print(len(list(store.facts())), store.verify().same)"
import subprocess
seen = subprocess.run([sys.executable, "-c", fresh, url], capture_output=True, text=True).stdout
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
print(seen, len(list(FactStore(url).facts())))
"""
)

# a thread writes without a pause while the process forks
WRITES = (
    BEGIN
    + """
import threading
store = FactStore(url)
store.assert_("own", "city", "Milan", source="s0")  # loads what is loaded at first use
enough, written = threading.Event(), []
def write():
    while not enough.is_set():
        written.append(store.assert_(f"own{len(written)}", "city", "Milan", source="s0").id)
writer = threading.Thread(target=write, daemon=True)
writer.start()
children = []
for number in range(6):
    child = os.fork()
    if not child:
        try:
            for n in range(10):
                store.assert_(f"e{number}-{n}", "city", "Milan", source="s0")
        except BaseException:
            os._exit(1)
        os._exit(0)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
enough.set()
writer.join()
print(any(codes), len(list(FactStore(url).facts())) - len(written) - 1, store.verify().same)
"""
)

# a view is open at the fork: in a thread of its own, or in the one that forks
READS = (
    BEGIN
    + """
import threading
store = FactStore(url)
store.assert_("e", "city", "Milan", source="s0")
begun, enough = threading.Event(), threading.Event()
def read():
    with store.view() as view:
        begun.set()
        enough.wait()
        print(len(list(view.keys())), flush=True)
reader = threading.Thread(target=read, daemon=True)
there = store.facts()
if sys.argv[2] == "another":
    reader.start()
    begun.wait()
else:
    next(there)
child = os.fork()
if not child:
    tries = (
        lambda: store.get("e", "city"),
        lambda: store.assert_("child", "city", "Milan", source="s0"),
        lambda: FactStore(url).get("e", "city"),
        lambda: list(there),
    )
    for one in tries:
        try:
            one()
        except Exception as error:
            print(type(error).__name__, "spawn" in error.fix, flush=True)
    os._exit(0)
code = os.waitpid(child, 0)[1]
store.assert_("parent", "city", "Milan", source="s0")
if sys.argv[2] == "another":
    enough.set()
    reader.join()
else:
    print(1 + len(list(there)))
print(code, len(list(store.facts())), store.verify().same)
"""
)


def test_rf_74_a_parent_that_closes_takes_nothing_from_its_child(tmp_path: Path) -> None:
    """RF-74: a process that starts behind it sees all, and so does one after a kill."""
    url = f"sqlite:///{tmp_path / 'facts.db'}"
    begun(url)

    assert run(CLOSES, url).split() == ["7", "True", "7"]


def test_rf_74_a_fork_waits_for_what_another_thread_writes(tmp_path: Path) -> None:
    """RF-74: every child can write, and nothing that was told as written is lost."""
    url = f"sqlite:///{tmp_path / 'facts.db'}"
    begun(url)

    assert run(WRITES, url).split() == ["False", "60", "True"]


@pytest.mark.parametrize("whose", ["another", "its own"])
def test_rf_74_a_child_of_a_fork_amid_a_view_is_told(tmp_path: Path, whose: str) -> None:
    """RF-74: it could not write safely, nor close; its parent reads on and writes."""
    url = f"sqlite:///{tmp_path / 'facts.db'}"
    begun(url)

    *child, found = run(READS, url, whose).splitlines()

    assert child == [*["StoreDown True"] * 4, "1"]
    assert found == "0 2 True"


# --- a file that may only be read ------------------------------------------------------------

GUEST = (
    BEGIN
    + """
import pathlib, tempfile
from pointsman import SetupError
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "facts.db"
    owner = FactStore(path, policy={"schema": 1, "attributes": {"city": {"type": "text"}}})
    owner.assert_("e", "city", "Milan", source="erp")
    owner.close()
    path.chmod(0o644)
    path.parent.chmod(0o555)
    (told, tell), (changed, change) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        if not os.geteuid():
            os.setgid(65534)
            os.setuid(65534)
        else:
            path.chmod(0o444)
        guest = FactStore(path)
        print(guest.get("e", "city").value, len(list(guest.history("e", "city"))), flush=True)
        print(guest.explain("e", "city").status, len(list(guest.facts())), flush=True)
        for what in (guest, FactStore(path.with_name("other.db"))):
            try:
                what.assert_("e", "city", "Rome", source="erp")
            except Exception as error:
                print(error, flush=True)
        if os.geteuid() == 65534:
            os.write(tell, b"x")
            os.read(changed, 1)
            print(len(list(guest.facts())), flush=True)
        os._exit(0)
    if not os.geteuid():
        os.read(told, 1)
        owner.assert_("later", "city", "Milan", source="erp")
        owner.close()
        os.write(change, b"x")
    code = os.waitpid(child, 0)[1]
    path.parent.chmod(0o755)
sys.exit(code)
"""
)


def test_rf_76_a_file_that_may_only_be_read_is_read() -> None:
    """RF-76: who may not write is told so, by what it was given, and sees what others write."""
    told = run(GUEST, "").splitlines()

    assert told[:2] == ["Milan 1", "resolved 1"]
    assert "cannot be written" in told[2]
    assert "the facts' database" in told[3]
    assert "DECISION_JOURNAL" not in "".join(told)
    assert told[4:] == (["2"] if not os.geteuid() else [])
