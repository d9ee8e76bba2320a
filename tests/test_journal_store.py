"""What the journal's database promises; every promise holds in SQLite and in PostgreSQL."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from journaled import START, decision, schema_of, server, shadow, verdict
from pointsman import SetupError
from pointsman.gateway.answers import Usage
from pointsman.gateway.journal import database, inserting, lines, querying, removing
from pointsman.gateway.journal.addresses import address
from pointsman.gateway.journal.database import Database
from pointsman.gateway.journal.rows import DecisionRow, Row, Trail
from pointsman.gateway.journal.store import FirstExposure, Store, StoreDown
from pointsman.gateway.records import Attempt, Exposure

sqlalchemy = pytest.importorskip("sqlalchemy")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'room' / 'journal.db'}"
        return
    with schema_of(server()) as made:
        yield made


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store.open(url)
    yield store
    store.close()


def ids(trails: Iterator[Trail]) -> list[int]:
    return [int(trail.decision.id, 16) for trail in trails]


def asked(url: str, query: str) -> list[Any]:
    """What a person with a SQL client sees."""
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.exec_driver_sql(query)]
    engine.dispose()
    return found


# --- writing and reading -----------------------------------------------------------------


def test_a_row_comes_back_as_it_was_written(store: Store) -> None:
    written = decision(1, subject="s", experiment="2", state="my invoice\0 doubled")
    beside, later = shadow(2, of=1), verdict(3, 1, {"team": "tech", "urgent": None})

    assert store.write([written, beside, later]) == ()

    assert list(store.trails()) == [
        Trail(decision=written, shadows=(beside,), feedback=(later,)),
    ]
    assert list(store.rows()) == [written, beside, later]


def test_writing_twice_changes_nothing(store: Store) -> None:
    rows: list[Row] = [decision(1, subject="s", experiment="2"), shadow(2, of=1), verdict(3, of=1)]
    store.write(rows)
    store.write([*rows, *rows])
    store.write([decision(1, point="OTHER")])

    assert list(store.rows()) == rows


def test_what_belongs_to_a_decision_may_come_before_it(store: Store) -> None:
    store.write([verdict(3, of=1), shadow(2, of=1)])
    assert list(store.trails()) == []

    store.write([decision(1)])

    (trail,) = store.trails()
    assert (trail.shadows, trail.feedback) == ((shadow(2, of=1),), (verdict(3, of=1),))


def test_what_belongs_to_a_decision_is_given_oldest_first(store: Store) -> None:
    rows: list[Row] = [decision(1), *(verdict(n, of=1) for n in (9, 3, 5)), shadow(7, of=1)]
    store.write([*rows, shadow(4, of=1)])

    (trail,) = store.trails()

    assert [one.at - START for one in trail.feedback] == [3, 5, 9]
    assert [one.shadow.at - START for one in trail.shadows] == [4, 7]


WANTED: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [1, 2, 3, 4, 5]),
    ({"newest_first": True}, [5, 4, 3, 2, 1]),
    ({"limit": 2}, [1, 2]),
    ({"limit": 0}, []),
    ({"limit": 2, "newest_first": True}, [5, 4]),
    ({"point": "ROUTER"}, [1, 3, 5]),
    ({"point": "NOWHERE"}, []),
    ({"since": START + 3}, [3, 4, 5]),
    ({"until": START + 3}, [1, 2]),
    ({"since": START + 2, "until": START + 4, "point": "OTHER"}, [2]),
    ({"ids": [f"{n:032x}" for n in (4, 2, 4, 99)]}, [2, 4]),
    ({"ids": [f"{n:032x}" for n in (4, 2)], "newest_first": True, "limit": 1}, [4]),
    ({"ids": []}, []),
    ({"ids": [f"{n:032x}" for n in (4, 1)], "point": "ROUTER"}, [1]),
]


def test_decisions_are_found_by_point_time_and_id(store: Store) -> None:
    store.write([decision(n, "ROUTER" if n % 2 else "OTHER") for n in (3, 1, 5, 2, 4)])

    for wanted, expected in WANTED:
        assert ids(store.trails(**wanted)) == expected, wanted
    assert store.points() == {"OTHER": 2, "ROUTER": 3}


@pytest.mark.parametrize("count", [5, 6, 7, 14])
def test_many_are_read_a_part_at_a_time(
    store: Store, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where several were decided at the same moment, and where the last part is full."""
    monkeypatch.setattr(querying, "PART", 7)
    rows: list[Row] = [
        decision(n, at=START + n // 4, experiment="1", subject=f"s{n}") for n in range(count)
    ]
    rows += [shadow(n, of=n, at=START) for n in range(count)]
    rows += [verdict(n, of=n) for n in range(count)]
    store.write(rows)

    assert ids(store.trails()) == list(range(count))
    assert ids(store.trails(newest_first=True, limit=count - 1)) == list(range(count))[:0:-1]
    assert ids(store.trails(ids=[f"{n:032x}" for n in range(count)])) == list(range(count))
    between: dict[str, Any] = {"since": START, "until": START + 99, "point": "ROUTER"}
    assert ids(store.trails(**between)) == list(range(count))
    assert ids(store.trails(**between, newest_first=True)) == list(range(count))[::-1]
    assert all(len(trail.shadows) == len(trail.feedback) == 1 for trail in store.trails())
    assert list(store.rows()) == rows
    exposed = sorted(one.subject for one in store.exposures("ROUTER", "1"))
    assert exposed == sorted(f"s{n}" for n in range(count))


def test_an_id_is_found_by_its_beginning(store: Store) -> None:
    store.write([decision(n) for n in (0x10, 0x11, 0x1F, 0x20)])
    full = f"{0x11:032x}"

    assert store.beginning(full) == [full]
    assert store.beginning(f"{0x1:031x}", 5) == [f"{n:032x}" for n in (0x10, 0x11, 0x1F)]
    assert store.beginning(f"{0x1:031x}") == [f"{n:032x}" for n in (0x10, 0x11)]
    assert store.beginning("fff") == []


def test_a_provider_is_not_asked_twice_about_the_same_decision(store: Store) -> None:
    """A replay that was interrupted goes on where it stopped."""
    store.write([decision(1), decision(2), decision(3), shadow(4, of=1), shadow(5, of=3)])
    store.write([shadow(6, of=2, provider="jev"), shadow(7, of=2, point="OTHER")])

    assert store.shadowed("ROUTER", "local") == {f"{n:032x}" for n in (1, 3)}
    assert store.shadowed("ROUTER", "nobody") == set()


def test_rows_of_a_later_version_are_read(store: Store, url: str) -> None:
    """With reasons and fields that this version does not know."""
    store.write([decision(1, reason="ok")])
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql(
            """UPDATE decisions SET body =
            replace(body, '"reason":"ok"', '"reason":"eclipsed","moon":true')"""
        )
    engine.dispose()

    (trail,) = store.trails()

    assert str(trail.decision.record.reason) == "eclipsed"


def test_a_row_that_cannot_be_read_is_named(store: Store, url: str) -> None:
    store.write([decision(1)])
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE decisions SET body = '{}'")
    engine.dispose()

    with pytest.raises(SetupError, match=f"row {1:032x} cannot be read"):
        list(store.trails())


# --- laws ----------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
outcomes = st.one_of(st.none(), st.booleans(), numbers, texts, st.dictionaries(texts, texts))
small = st.integers(0, 5)


@st.composite
def decided(draw: st.DrawFn) -> Row:
    n = draw(small)  # the same id is always the same row, as in life
    return decision(
        n,
        f"P{n % 2}",
        subject=f"s{n % 3}",
        experiment="e",
        state=None if n == 0 else f"\0 state {n % 2}",
        at=START - n,
        confidence=n / 7,
    )


beside = st.builds(shadow, small, st.just(1))
known = st.builds(verdict, small, st.just(2))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(st.one_of(decided(), beside, known), max_size=6), max_size=4))
def test_the_order_of_writing_does_not_matter(store: Store, batches: list[list[Row]]) -> None:
    """Rows come from several processes, twice, and in any order: the same set, the same journal."""
    store.prune(START + 100)
    for batch in batches:
        store.write(batch)
    there = {row.id: row for batch in batches for row in batch}

    assert {row.id: row for row in store.rows()} == there

    firsts: dict[tuple[str, str], FirstExposure] = {}
    made = [row for row in there.values() if isinstance(row, DecisionRow)]
    for row in sorted(made, key=lambda row: row.record.at):
        one = FirstExposure(row.record.variant, row.kept.subject or "", row.record.at)
        firsts.setdefault((row.record.point, one.subject), one)
    found = {(p, one.subject): one for p in ("P0", "P1") for one in store.exposures(p, "e")}
    assert found == firsts


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(outcome=outcomes, point=texts, state=texts, subject=texts, model=texts, number=numbers)
def test_any_text_and_any_number_survives(store: Store, **drawn: Any) -> None:
    store.prune(sys.float_info.max)
    attempt = Attempt(provider=drawn["point"], model=drawn["model"], seconds=drawn["number"])
    row = decision(
        1,
        drawn["point"],
        subject=drawn["subject"],
        state=drawn["state"],
        outcome=drawn["outcome"],
        attempts=(attempt,),
        exposure=Exposure(drawn["model"], None, sticky=False),
    )

    assert store.write([row]) == ()

    assert [trail.decision for trail in store.trails()] == [row]


# --- exposures and states ------------------------------------------------------------------


def test_a_subject_is_exposed_once_to_a_split(store: Store) -> None:
    """The first time counts, in whatever order the rows arrive."""
    store.write([decision(5, subject="a", experiment="1", variant="jev")])
    store.write([decision(2, subject="a", experiment="1", variant="current")])
    store.write([decision(3, subject="a", experiment="1", variant="jev")])
    store.write([decision(4, subject="b", experiment="1")])
    store.write([decision(6, subject="a", experiment="2")])

    assert sorted(store.exposures("ROUTER", "1"), key=lambda one: one.subject) == [
        FirstExposure("current", "a", START + 2),
        FirstExposure("jev", "b", START + 4),
    ]
    assert [one.at for one in store.exposures("ROUTER", "2")] == [START + 6]
    assert list(store.exposures("OTHER", "1")) == []


def test_without_a_subject_nobody_is_exposed(store: Store) -> None:
    """Each such decision is drawn anew, and says so itself."""
    store.write([decision(1, experiment="1"), decision(2, experiment="1")])

    assert list(store.exposures("ROUTER", "1")) == []
    assert all(trail.decision.record.exposure for trail in store.trails())


def test_equal_texts_are_kept_once(store: Store, url: str) -> None:
    store.write([decision(n, state="the same words") for n in range(5)])
    store.write([decision(7, state="other words"), decision(8)])

    assert asked(url, "SELECT count(*) FROM states") == [(2,)]
    assert asked(url, "SELECT count(*) FROM decisions WHERE body LIKE '%% words%%'") == [(0,)]
    assert [trail.decision.kept.state for trail in store.trails()][-3:] == [
        "the same words",
        "other words",
        None,
    ]


def test_a_person_with_a_sql_client_finds_what_was_decided(store: Store, url: str) -> None:
    store.write([decision(1, experiment="7"), shadow(2, of=1), verdict(3, of=1, right=False)])

    found = "SELECT point, variant, provider, reason, outcome, experiment FROM decisions"
    assert asked(url, found) == [("ROUTER", "jev", "jev", "ok", '"billing"', "7")]
    found = "SELECT n, provider, model, reported, probability, input_tokens, cost_usd FROM attempts"
    assert asked(url, found) == [(0, "jev", "jev-1", 0.9, 0.95, 120, 0.00001)]
    found = "SELECT provider, reason, outcome, beside, source, cost_usd FROM shadows"
    assert asked(url, found) == [("local", "low_confidence", '"tech"', '"billing"', "live", None)]
    found = "SELECT decision, was_right, label FROM feedback"
    assert asked(url, found) == [(f"{1:032x}", 0, '"billing"')]


# --- removing ------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [2, 500])
def test_a_subject_can_be_forgotten(
    store: Store, url: str, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all that belongs to its decisions; a text that others said too stays theirs."""
    monkeypatch.setattr(removing, "PART", part)
    kept: list[Row] = [decision(9, subject="b", experiment="1", state="shared"), shadow(19, of=9)]
    gone: list[Row] = [
        decision(n, subject="a", experiment="1", state=f"text {n}") for n in range(5)
    ]
    more: list[Row] = [
        decision(5, subject="a", state="shared"),
        shadow(11, of=1),
        verdict(12, of=2),
    ]
    store.write([*kept, *gone, *more])

    assert store.forget("a").decisions == 6
    assert store.forget("a").decisions == 0

    assert list(store.rows()) == kept
    assert [one.subject for one in store.exposures("ROUTER", "1")] == ["b"]
    assert asked(url, "SELECT text FROM states") == [("shared",)]
    assert asked(url, "SELECT count(*) FROM attempts") == [(1,)]


def test_what_was_forgotten_is_not_in_the_file_either(tmp_path: Path) -> None:
    """A removed row is overwritten, and not left in the log of the database."""
    store = Store.open(f"sqlite:///{tmp_path / 'journal.db'}")
    store.write([decision(n, subject="a", state=f"secret words {n}") for n in range(50)])
    files = [*tmp_path.iterdir()]
    assert any(b"secret words" in file.read_bytes() for file in files)

    assert store.forget("a").decisions == 50

    assert not any(b"secret words" in file.read_bytes() for file in tmp_path.iterdir())
    store.close()


def test_old_decisions_can_be_removed(store: Store, url: str) -> None:
    """What belongs to them goes too, and what is as old and belongs to nothing."""
    new: list[Row] = [decision(9, subject="b", experiment="1", state="new"), verdict(10, of=9)]
    old: list[Row] = [
        decision(1, subject="a", experiment="1", state="old"),
        shadow(2, of=1),
        verdict(7, 1),
    ]
    lone: list[Row] = [shadow(3, of=77), verdict(4, of=77)]
    waiting: list[Row] = [verdict(12, of=78)]
    store.write([*new, *old, *lone, *waiting])

    assert store.prune(START + 5).decisions == 1

    assert list(store.rows()) == [*new, *waiting]
    assert asked(url, "SELECT text FROM states") == [("new",)]
    assert [one.subject for one in store.exposures("ROUTER", "1")] == ["b"]


def test_an_exposure_outlives_its_first_decision(store: Store) -> None:
    """As long as the subject has decisions in the split: they came after it."""
    store.write([decision(n, subject="a", experiment="1") for n in (1, 9)])

    store.prune(START + 5)
    assert [one.at for one in store.exposures("ROUTER", "1")] == [START + 1]

    store.prune(START + 50)
    assert list(store.exposures("ROUTER", "1")) == []


# --- trouble -------------------------------------------------------------------------------


def poisoned() -> Sequence[Row]:
    """Rows that no database takes, for one reason each."""
    huge = Attempt(provider="x", usage=Usage(2**70, 0))
    return [
        decision(1, id="x" * 65),
        decision(2, id=""),
        decision(3, outcome=object()),
        decision(4, attempts=(huge,)),
        decision(5, at=None),
        decision(6, state="\ud800"),
        decision(7, id="\0"),
    ]


def test_a_poisoned_row_stops_no_other(store: Store) -> None:
    sound: list[Row] = [decision(20), shadow(21, of=20), verdict(22, of=20)]
    bad = poisoned()

    refused = store.write([bad[0], sound[0], *bad[1:4], sound[1], *bad[4:], sound[2]])

    assert list(store.rows()) == sound
    assert {id(row) for row in refused} == {id(row) for row in bad}


def test_a_locked_file_is_told_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    store = Store.open(f"sqlite:///{tmp_path / 'journal.db'}")
    store.write([decision(1)])
    other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreDown, match="another process holds its lock"):
        store.write([decision(2)])
    assert ids(store.trails()) == [1]  # readers never wait

    other.execute("COMMIT")
    other.close()
    store.write([decision(2)])
    assert ids(store.trails()) == [1, 2]
    store.close()


def test_a_locked_server_is_told_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg")
    monkeypatch.setattr(database, "PATIENCE", 0.5)
    with schema_of(server()) as url:
        store = Store.open(url)
        store.write([decision(1)])
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE decisions IN EXCLUSIVE MODE")
            with pytest.raises(StoreDown, match="another process holds its lock"):
                store.write([decision(2)])
        store.write([decision(2)])
        assert ids(store.trails()) == [1, 2]
        store.close()


def test_a_server_that_comes_back_is_used_again() -> None:
    """Its connections were cut in between, and nobody need start anew."""
    with schema_of(server()) as url:
        store = Store.open(f"{url}&application_name={(name := Path(url).name[-12:])}")
        store.write([decision(1)])
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
        assert asked(url, f"{cut} '{name}'") == [(True,)]

        store.write([decision(2)])

        assert ids(store.trails()) == [1, 2]
        store.close()


@pytest.mark.parametrize(
    "place",
    ["postgresql://me:hunter2@127.0.0.1:1/name", "postgresql://me:hunter2@localhost.invalid/name"],
)
def test_a_server_that_is_not_there_is_down(place: str) -> None:
    pytest.importorskip("psycopg")
    store = Store.open(place)

    with pytest.raises(StoreDown) as caught:
        store.write([decision(1)])

    told = f"{caught.value} {store!r} {caught.value.__cause__!r}"
    assert not any(part in told for part in ("hunter2", "127.0.0.1", "localhost", "name"))
    store.close()


WRONG = [
    ("journal.db", "no URL"),
    ("", "no URL"),
    ("mysql://root:hunter2@127.0.0.1/x", "'mysql'"),
    ("sqlite://", "names no file"),
    ("sqlite:///:memory:", "names no file"),
    ("sqlite://host/hunter2.db", "names no file"),
    ("sqlite:///hunter2.db?mode=ro", "no options"),
    ("postgresql+asyncpg://me:hunter2@127.0.0.1/x", "'postgresql\\+asyncpg'"),
    ("postgresql://me:hunter2@127.0.0.1:port/x", "no URL"),
]


@pytest.mark.parametrize(("place", "problem"), WRONG)
def test_an_address_that_is_none_is_told_at_once(place: str, problem: str) -> None:
    with pytest.raises(SetupError, match=problem) as caught:
        Store.open(place)

    assert caught.value.faults[0].where == "DECISION_JOURNAL"
    assert "hunter2" not in str(caught.value)


ADDRESSES = [
    "postgresql://host/name",
    "postgresql://me:p%40ss:word@host:5433/na%20me?options=-csearch_path%3Djournal&sslmode=require",
    "postgres://me@[::1]:5432/name",
    "postgresql+psycopg:///name?host=a:1&host=b:2",
    "postgresql://me:a/b?c@host/name",
    "postgresql://me:@host",
    "postgresql://",
    "sqlite:////var/lib/a%20journal.db",
]


@pytest.mark.parametrize("url", ADDRESSES)
def test_an_address_is_read_as_sqlalchemy_reads_it(url: str) -> None:
    """So that it means the same wherever else it is used; 2.0 left a name's `%20` as it is."""
    pytest.importorskip("psycopg")
    parts, made = sqlalchemy.make_url(url), address(url)
    name = parts.database
    if name is not None and sqlalchemy.__version__.startswith("2.0."):
        name = unquote(name)

    assert (made.username, made.password) == (parts.username or None, parts.password)
    assert (made.host, made.port, made.database) == (parts.host, parts.port, name)
    assert made.query == parts.normalized_query


def test_a_schema_that_nobody_made_is_told_as_that() -> None:
    """The server is there, and trying again would not help."""
    store = Store.open(f"{server()}?options=-csearch_path%3Dnobody_made_this")

    with pytest.raises(StoreDown, match="CREATE SCHEMA"):
        store.write([decision(1)])
    store.close()


def _no_database(path: Path) -> None:
    path.write_bytes(b"a letter to my aunt, and no database at all\n" * 100)


def _later_version(path: Path) -> None:
    store = Store.open(f"sqlite:///{path}")
    store.write([decision(1)])
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE journal_version SET version_num = '9999'")
    connection.close()


def _of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE decisions (who TEXT)")
    connection.close()


UNFIT = [
    (_no_database, "no database, or is damaged"),
    (_later_version, "a later version of pointsman made it"),
    (_of_another_program, "tables of another program: decisions"),
    (Path.mkdir, "names a folder"),
]


@pytest.mark.parametrize(("make", "problem"), UNFIT)
def test_a_file_that_is_no_journal_is_told_and_left_alone(
    tmp_path: Path, make: Any, problem: str
) -> None:
    path = tmp_path / "journal.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    store = Store.open(f"sqlite:///{path}")

    with pytest.raises(SetupError, match=problem) as caught:
        store.write([decision(1)])

    store.close()
    assert str(tmp_path) not in str(caught.value)
    if make is not _of_another_program:  # WAL is written into its header, and no more
        assert before == (path.read_bytes() if path.is_file() else None)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = Store.open(f"sqlite:///{tmp_path / 'file' / 'journal.db'}")

    with pytest.raises(SetupError, match="its folder cannot be made") as caught:
        store.write([decision(1)])

    assert str(tmp_path) not in str(caught.value)


def _deleted(path: Path) -> None:
    for file in path.parent.glob("journal.db*"):
        file.unlink()


def _moved(path: Path) -> None:
    path.rename(path.with_name("backup.db"))


@pytest.mark.parametrize("take", [_deleted, _moved])
def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path, take: Any) -> None:
    """Another process made it again meanwhile: that it is there does not say that it is ours."""
    path = tmp_path / "journal.db"
    one, other = (Store.open(f"sqlite:///{path}") for _ in range(2))
    one.write([decision(1)])
    take(path)
    other.write([decision(2)])
    assert ids(one.trails()) == [2]

    one.write([decision(3)])
    other.write([decision(4)])

    assert ids(one.trails()) == ids(other.trails()) == [2, 3, 4]
    one.close()
    assert ids(other.trails()) == [2, 3, 4]
    other.close()


def test_a_file_that_is_replaced_meanwhile_has_not_got_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    one, other = (Store.open(f"sqlite:///{path}") for _ in range(2))
    one.write([decision(1)])
    into = inserting._into  # pyright: ignore[reportPrivateUsage]

    def replaced(*given: Any) -> None:
        monkeypatch.setattr(inserting, "_into", into)
        into(*given)
        _deleted(path)
        other.write([decision(2)])

    monkeypatch.setattr(inserting, "_into", replaced)
    with pytest.raises(StoreDown, match="taken away"):
        one.write([decision(3)])

    one.write([decision(3)])
    assert ids(other.trails()) == [2, 3]
    one.close()
    other.close()


# --- opening -------------------------------------------------------------------------------


def test_nothing_is_made_before_the_first_use(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'room' / 'journal.db'}")
    assert store.missing
    assert not list(tmp_path.iterdir())

    assert store.points() == {}

    assert not store.missing
    store.close()


def test_a_relative_path_means_the_folder_where_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store.open("sqlite:///.pointsman/journal.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    store.write([decision(1)])

    store.close()
    assert (tmp_path / ".pointsman" / "journal.db").is_file()


def test_a_store_that_was_closed_opens_again(store: Store) -> None:
    store.write([decision(1)])
    store.close()
    store.close()

    assert ids(store.trails()) == [1]


WRITER = """
import sys
from journaled import decision
from pointsman.gateway.journal.store import Store
store = Store.open(sys.argv[1])
mine = int(sys.argv[2])
for n in range(8):
    store.write([decision(1000), decision(n), decision(2000 + 100 * mine + n)])
store.close()
"""


def test_processes_that_start_at_once_make_one_journal(url: str) -> None:
    """Each finds no tables, and each row is written once, whoever was first."""
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, url, str(n)], env=here, stderr=-1)
        for n in range(2)
    ]
    assert [(one.communicate(timeout=60)[1], one.returncode) for one in running] == [(b"", 0)] * 2

    store = Store.open(url)
    expected = {*range(8), 1000, *(2000 + 100 * mine + n for mine in range(2) for n in range(8))}
    assert set(ids(store.trails())) == expected
    assert len(list(store.rows())) == len(expected)
    store.close()


def test_threads_that_start_at_once_make_one_journal(url: str) -> None:
    store = Store.open(url)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: store.write([decision(n), decision(99)]), range(24)))

    assert ids(store.trails()) == [*range(24), 99]
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_opens_connections_of_its_own(store: Store) -> None:
    store.write([decision(1)])
    child = os.fork()
    if not child:
        try:
            store.write([decision(2)])
        except BaseException:  # noqa: BLE001 - the child must not run the parent's tests
            os._exit(1)
        os._exit(0)

    assert os.waitpid(child, 0)[1] == 0
    store.write([decision(3)])
    assert ids(store.trails()) == [1, 2, 3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_parent_that_closes_takes_nothing_from_its_forked_child(url: str) -> None:
    """SQLite's last connection deletes the log; which one is the last, it does not ask a child."""
    store = Store.open(url)
    store.write([decision(1)])
    (closed, close), (told, tell) = os.pipe(), os.pipe()
    if not (child := os.fork()):
        store.write([decision(2)])
        os.write(tell, b"x")
        os.read(closed, 1)
        store.write([decision(3)])
        store.write([decision(4)])
        os._exit(0)
    os.read(told, 1)
    store.close()
    os.write(close, b"x")

    assert os.waitpid(child, 0)[1] == 0
    assert ids(store.trails()) == [1, 2, 3, 4]
    store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_is_forked_amid_a_transaction_does_not_end_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is its parent's to keep or undo; a database that the child never shared is its own."""
    shared, other = (
        Database(address(f"sqlite:///{tmp_path / name}")) for name in ("one.db", "two.db")
    )
    with shared.line("write") as line:
        line.execute("CREATE TABLE t (x)")
        if not (child := os.fork()):
            with pytest.raises(StoreDown, match="forked"):
                line.execute("INSERT INTO t VALUES (1)")
            with pytest.raises(StoreDown, match="forked"), shared.line("read"):
                pass
            with other.line("write") as own:
                own.execute("CREATE TABLE t (x)")
            os.write(1, b"done")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        line.execute("INSERT INTO t VALUES (2)")
    assert capfd.readouterr().out == "done"
    with shared.line("read") as line:
        assert line.execute("SELECT x FROM t").fetchall() == [(2,)]
    shared.close()
    other.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_threads_that_fork_and_threads_that_use_it_wait_for_each_other(tmp_path: Path) -> None:
    """Also where one has to begin anew amid what the fork waits for."""
    database = Database(address(f"sqlite:///{tmp_path / 'journal.db'}"))

    def use() -> None:
        with database.line("read"), database.line("read") as line:
            line.execute("SELECT 1")

    def fork() -> None:
        if not (child := os.fork()):
            use()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    with ThreadPoolExecutor(6) as threads:
        done = [threads.submit((use, fork)[n % 6 == 0]) for n in range(120)]
    for one in done:
        one.result()
    database.close()


def test_many_connections_are_lent_at_once(url: str) -> None:
    """More than SQLAlchemy's pool would give, which is of no concern to those that are kept."""
    database = Database(address(url))
    for _ in range(2):
        with ExitStack() as lent:
            for _ in range(20):
                lent.enter_context(database.line("read"))
            with database.transaction("write"):
                pass
    database.close()


def test_who_waits_for_a_connection_takes_the_first_that_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST", 2)
    monkeypatch.setattr(database, "PATIENCE", 60.0)
    there = Database(address(f"sqlite:///{tmp_path / 'journal.db'}"))
    with ThreadPoolExecutor(1) as threads, there.line("read"):
        with there.line("read"):
            waits = threads.submit(lambda: there.line("read").__enter__())
        waits.result(30)
    there.close()


def test_more_connections_than_may_be_are_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST", 2)
    monkeypatch.setattr(database, "PATIENCE", 0.01)
    there = Database(address(f"sqlite:///{tmp_path / 'journal.db'}"))
    with there.line("read"), there.line("read"):
        with (
            pytest.raises(StoreDown, match="connections to it are in use") as told,
            there.line("read"),
        ):
            pass
        assert "views" in told.value.fix
    with there.line("read"):
        pass
    there.close()


def test_a_lock_is_waited_for_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line whose beginning is locked is not dead: another one would only wait once more."""
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    there, other = (Database(address(url)) for _ in range(2))
    with there.line("write"):
        pass
    made: list[object] = []

    def opened(new: object, _: object) -> None:
        made.append(new)

    with other.transaction("remove"):
        sqlalchemy.event.listen(sqlalchemy.pool.Pool, "connect", opened)
        with pytest.raises(StoreDown, match="another process holds its lock"), there.line("write"):
            pass
    assert made == []
    with there.line("write"):
        pass
    assert len(made) == 1
    there.close()
    other.close()


def test_a_journal_that_is_up_to_date_opens_without_alembic(tmp_path: Path) -> None:
    """It takes longer to load than everything else together."""
    path = tmp_path / "journal.db"
    store = Store.open(f"sqlite:///{path}")
    store.write([decision(1)])
    store.close()
    program = (
        "import sys\n"
        "from pointsman.gateway.journal.store import Store\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        f"store = Store.open('sqlite:///{path}')\n"
        "print(len(list(store.trails())), 'alembic' in sys.modules)\n"
        "store.close()\n"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)

    assert run.stdout.split() == ["1", "False"]


def test_the_revisions_lead_to_the_tables_that_are_used(url: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    from pointsman.gateway.journal import revisions, schema

    config = Config()
    config.set_main_option("script_location", str(revisions.SCRIPTS))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [schema.HEAD]

    engine = sqlalchemy.create_engine(_made(url))
    for script in reversed(list(scripts.walk_revisions())):
        with engine.begin() as connection:
            revisions.upgrade(connection, script.revision)
            assert revisions.revision(connection) == script.revision
    with engine.connect() as connection:
        options = {"version_table": schema.VERSIONS, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def _made(url: str) -> str:
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir()
    return url.replace("postgresql:", "postgresql+psycopg:")


def test_bodies_are_exact_json_of_the_rows(store: Store, url: str) -> None:
    """So that a program without this package can read them."""
    row = decision(1, subject="s")
    store.write([row])

    ((body,),) = asked(url, "SELECT body FROM decisions")

    assert msgspec.json.decode(body) == msgspec.json.decode(msgspec.json.encode(row))
    assert msgspec.json.decode(body)["record"]["outcome"] == "billing"


# --- documents -----------------------------------------------------------------------------


@pytest.mark.source
def test_the_queries_that_are_documented_run(store: Store, url: str) -> None:
    page = (Path(__file__).parent.parent / "docs" / "journal.md").read_text("utf-8")
    rows: list[Row] = [decision(n, subject=f"s{n % 2}", experiment="1") for n in range(4)]
    store.write([*rows, shadow(5, of=1), shadow(6, of=2, outcome="billing")])
    (told,) = re.findall(r"^```sql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    spend, agreed, arms = (asked(url, query) for query in told.split(";") if query.strip())

    assert [one[:5] for one in spend] == [("jev", "jev-1", "ok", 4, 0.125)]
    assert [(one[0], one[1], float(one[2]), one[3]) for one in agreed] == [
        ("ROUTER", "local", 0.5, 2)
    ]
    assert arms == [("ROUTER", "1", "jev", 2)]
