"""What would lose rows later is a fault at the start, and what breaks later is told by its name."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pointsman import Gateway, SetupError
from pointsman.gateway.journal.journal import Journal, JournalSettings
from pointsman.gateway.journal.rows import FeedbackRow
from recording import Heard, decided, journal_at, until

pytest.importorskip("sqlalchemy")

PROGRAM = "print('a program, and no database')\n"


def begun(folder: Path, **given: str) -> SetupError | None:
    """Start a gateway in *folder*, whose paths are relative to it."""
    variables = {"DECISION_JOURNAL": f"sqlite:///{folder}/journal.db", "DECISION_LOG": "off"}
    try:
        Gateway.from_env({**variables, **given}).close()
    except SetupError as error:
        return error
    return None


@pytest.mark.parametrize("place", ["app.py", "app.py/spool", "app.py/a/b", "nowhere"])
def test_a_spool_that_can_be_no_folder_is_a_fault_at_the_start(tmp_path: Path, place: str) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")

    error = begun(tmp_path, DECISION_JOURNAL_SPOOL=str(tmp_path / place))

    assert error is not None
    (fault,) = error.faults
    assert fault.where == "DECISION_JOURNAL_SPOOL"
    assert f"{place.split('/', maxsplit=1)[0]!r} is no folder" in fault.problem
    assert str(tmp_path) not in str(error)
    assert (tmp_path / "app.py").read_text() == PROGRAM
    assert {one.name for one in tmp_path.iterdir()} == {"app.py", "nowhere"}


def test_a_file_where_the_usual_spool_would_be_is_one_too(tmp_path: Path) -> None:
    (tmp_path / "journal.db.spool").write_text("")

    error = begun(tmp_path)

    assert error is not None
    assert error.faults[0].where == "DECISION_JOURNAL"
    assert "DECISION_JOURNAL_SPOOL" in error.faults[0].fix


def test_a_key_that_could_not_be_made_is_one_too(tmp_path: Path) -> None:
    """Rows without their hashes are not written: all would be lost, whatever the spool takes."""
    (tmp_path / "app.py").write_text(PROGRAM)
    given = {
        "DECISION_JOURNAL": f"sqlite:///{tmp_path}/app.py/journal.db",
        "DECISION_JOURNAL_SPOOL": str(tmp_path),
    }

    error = begun(tmp_path, **given)

    assert error is not None
    assert [(one.where, "'app.py' is no folder" in one.problem) for one in error.faults] == [
        ("DECISION_JOURNAL", True)
    ]
    assert begun(tmp_path, **given, DECISION_JOURNAL_KEY="a key that was given") is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_folder_that_is_not_ours_to_write_is_one_too(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """For whom the system refuses nothing, it is tried as somebody else."""
    folder = tmp_path_factory.mktemp("closed")
    folder.chmod(0o555)
    settings = JournalSettings("sqlite:////tmp/journal.db", spool=folder / "spool")
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            Journal(settings, tell=Heard())
        except SetupError as error:
            os._exit("DECISION_JOURNAL_SPOOL" in str(error) and "cannot be written" in str(error))
        os._exit(2)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


@pytest.mark.parametrize("content", [PROGRAM, "x", "SQLite format 4\0" * 10])
def test_a_file_that_is_no_database_is_a_fault_at_the_start(tmp_path: Path, content: str) -> None:
    (tmp_path / "app.py").write_text(content)

    error = begun(tmp_path, DECISION_JOURNAL=f"sqlite:///{tmp_path}/app.py")

    assert error is not None
    assert str(error).startswith("DECISION_JOURNAL: the file is no database, or is damaged. Name")
    assert [one.name for one in tmp_path.iterdir()] == ["app.py"]
    assert (tmp_path / "app.py").read_text() == content


def test_a_folder_is_no_database_either(tmp_path: Path) -> None:
    error = begun(tmp_path, DECISION_JOURNAL=f"sqlite:///{tmp_path}")

    assert error is not None
    assert "DECISION_JOURNAL: it names a folder" in str(error)


def test_a_new_an_empty_and_a_full_journal_are_none(tmp_path: Path) -> None:
    assert begun(tmp_path, DECISION_JOURNAL_SPOOL=str(tmp_path / "a" / "b")) is None
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "journal.db").touch()
    assert begun(tmp_path) is None
    with journal_at(tmp_path / "journal.db") as journal:
        journal.put(decided())
    assert (tmp_path / "journal.db").stat().st_size
    assert begun(tmp_path) is None


LEAVE = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT 1 FROM t').fetchall()"


def test_a_look_at_the_file_takes_no_locks_off_it(tmp_path: Path) -> None:
    """Else the next process that leaves would delete the log of who has it open here."""
    file = tmp_path / "journal.db"
    log = file.with_name("journal.db-wal")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t (n)")
        connection.commit()
        connection.execute("SELECT 1 FROM t").fetchall()
        Journal(JournalSettings(f"sqlite:///{file}"), tell=Heard())
        subprocess.run([sys.executable, "-S", "-c", LEAVE, str(file)], check=True)
        assert log.exists()
    assert not log.exists()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("waits", [True, False], ids=["after a while", "at once"])
def test_close_does_not_wait_for_a_spool_that_cannot_be_written(
    tmp_path: Path,
    waits: bool,  # noqa: FBT001 - a case
) -> None:
    heard, spool = Heard(), tmp_path / "spool"
    journal = Journal(JournalSettings(f"sqlite:///{tmp_path}/j.db", spool=spool), tell=heard)
    spool.write_text("a file where the folder should be")
    for n in range(3):
        journal.put(decided(n))
    if waits:
        heard.wait_for("journal.spool_down")
    journal.close(seconds=10_000)

    assert journal.lost == 3
    assert heard.named("journal.closed") == [{"lost": 3, "left": 0, "unwritten": 0}]
    problem = heard.named("journal.spool_down")[0]["problem"]
    assert problem.startswith("DECISION_JOURNAL_SPOOL: ")
    assert "name another on the local disk" in problem


def test_a_spool_that_comes_back_before_the_last_try_loses_nothing(tmp_path: Path) -> None:
    heard, spool = Heard(), tmp_path / "spool"
    with journal_at(tmp_path / "j.db", heard, spool=spool) as journal:
        spool.write_text("a file where the folder should be")
        journal.put(decided(1))
        heard.wait_for("journal.spool_down")
        spool.unlink()
        journal.close()
        assert journal.lost == 0
        assert journal.store().points() == {"ROUTER": 1}


@pytest.mark.parametrize(("name", "where"), [("spool", "SPOOL"), ("key", "KEY")])
def test_what_breaks_later_is_told_by_its_variable(tmp_path: Path, name: str, where: str) -> None:
    heard, room = Heard(), tmp_path / "room"
    given: Any = {"spool": room} if name == "spool" else {"spool": tmp_path / "spool"}
    place = room / "journal.db" if name == "key" else tmp_path / "journal.db"
    with journal_at(place, heard, **given) as journal:
        room.write_text("a file where the folder should be")
        journal.put(decided())
        problem = heard.wait_for("journal.spool_down")["problem"]
        room.unlink()
        assert until(journal.flush)

    assert problem.startswith(f"DECISION_JOURNAL_{where}: its file cannot be written (")
    assert str(tmp_path) not in problem


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("postgresql://you:there@db.invalid:5432/name?connect_timeout=3&sslmode=disable", True),
        ("postgresql://me:here@db.invalid/other", False),
        ("postgresql://me:here@elsewhere.invalid/name", False),
        ("postgresql://me:here@db.invalid/name?options=-csearch_path%3Djournal", False),
    ],
)
def test_rows_wait_in_one_place_for_one_database_whoever_connects(
    other: str,
    same: bool,  # noqa: FBT001 - a row of the table
    tmp_path: Path,
) -> None:
    """A URL with another user or time-out finds what waits; another database never does."""
    pytest.importorskip("psycopg")
    for url in ("postgresql://me:here@db.invalid/name", other):
        journal = Journal(
            JournalSettings(url=url, key="a key for the tests", spool=tmp_path),
            tell=lambda *_: None,
        )
        journal.put(FeedbackRow(id="0" * 32, of="0" * 32, at=0.0, right=True))
        journal.close(seconds=0.1)

    assert len(list(tmp_path.glob("spool-*"))) == (1 if same else 2)
