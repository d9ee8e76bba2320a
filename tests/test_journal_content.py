"""What the journal keeps of who and what was asked about: a hash, unless told otherwise."""

from __future__ import annotations

import importlib.util
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from journaled import shadow, verdict
from pointsman import Ask, SetupError
from pointsman.gateway.journal.entries import Shadowed
from pointsman.gateway.journal.journal import Journal, JournalSettings
from pointsman.gateway.journal.rows import DecisionRow, Kept, ShadowRow
from pointsman.gateway.keys import keys_of
from recording import ASK, POINT, QUESTION, Heard, decided, journal_at

pytest.importorskip("sqlalchemy")

KEY = "a key of more than sixteen characters"
SUBJECT = "customer-4711-planted"
STATE = "the planted state: my card is 4111 1111 1111 1111"


def row_of(path: Path, heard: Heard | None = None, *, entry: Any = None, **given: Any) -> Any:
    """What one entry becomes in the database."""
    entry = entry or decided(subject=SUBJECT, ask=Ask(STATE, {"team": QUESTION}))
    with journal_at(path / "journal.db", heard, **given) as journal:
        journal.put(entry)
        assert journal.flush()
        (row,) = journal.store().rows()
    return row


def kept(path: Path, heard: Heard | None = None, **given: Any) -> Kept:
    """What is kept of one decision."""
    row = row_of(path, heard, **given)
    assert isinstance(row, DecisionRow)
    return row.kept


def written(folder: Path) -> bytes:
    """Everything in all files of *folder*, their names too."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return b"\n".join([file.name.encode() + file.read_bytes() for file in files])


# --- hash, none, full --------------------------------------------------------------------


def test_a_hash_is_kept_unless_told_otherwise(tmp_path: Path) -> None:
    made = kept(tmp_path)

    assert made.subject
    assert made.digest
    assert made.state is None
    assert not made.structured


def test_equal_texts_have_equal_hashes_and_different_ones_different(tmp_path: Path) -> None:
    """A subject who is the state is not told apart by it: each kind has a domain of its own."""
    other = Ask("another state", {"team": QUESTION})
    same = Ask(SUBJECT, {"team": QUESTION})
    with journal_at(tmp_path / "journal.db", key=KEY) as journal:
        for entry in (
            decided(1, subject=SUBJECT),
            decided(2, subject=SUBJECT),
            decided(3, subject="bo", ask=other),
            decided(4, subject=SUBJECT, ask=same),
        ):
            journal.put(entry)
        assert journal.flush()
        first, second, third, fourth = (trail.decision.kept for trail in journal.store().trails())

        assert first == second
        assert first.subject != third.subject
        assert first.digest != third.digest
        assert fourth.digest != fourth.subject
        assert journal.subject_hash(SUBJECT) == first.subject


def test_another_key_gives_other_hashes(tmp_path: Path) -> None:
    one = kept(tmp_path / "a", key=KEY)
    again = kept(tmp_path / "b", key=KEY)
    other = kept(tmp_path / "c", key=KEY + "!")

    assert one == again
    assert one.subject != other.subject
    assert one.digest != other.digest


def test_none_keeps_neither_subject_nor_state(tmp_path: Path) -> None:
    assert kept(tmp_path, content="none") == Kept()
    with journal_at(tmp_path / "journal.db", content="none") as journal:
        assert journal.subject_hash(SUBJECT) is None
    assert not (tmp_path / "journal.db.key").exists()


def test_full_keeps_the_text_and_only_a_hash_of_the_subject(tmp_path: Path) -> None:
    made = kept(tmp_path, content="full")

    assert made.state == STATE
    assert made.subject
    assert SUBJECT.encode() not in written(tmp_path)


def test_full_goes_through_the_mask_text_by_text(tmp_path: Path) -> None:
    """A state that is no text is masked within; its hash is that of what was asked."""
    ask = Ask({"message": "call me", "n": 4}, {"team": QUESTION})
    entry = decided(ask=ask)
    made = kept(
        tmp_path / "a", entry=entry, content="full", key=KEY, mask=lambda text: text.upper()
    )
    hashed = kept(tmp_path / "b", entry=entry, key=KEY)

    assert made.state == '{"message":"CALL ME","n":4}'
    assert made.structured
    assert made.digest == hashed.digest


class Panic(BaseException):
    """What a mask in another language may raise."""


def panics(text: str) -> str:
    raise Panic(text)


@pytest.mark.parametrize(
    "fault", [lambda _: 1 / 0, lambda _: None, panics], ids=["raises", "no text", "panics"]
)
def test_a_mask_that_fails_keeps_no_state_and_is_told_once(tmp_path: Path, fault: Any) -> None:
    heard = Heard()
    with journal_at(tmp_path / "journal.db", heard, content="full", mask=fault) as journal:
        for n in range(3):
            journal.put(decided(n))
        assert journal.flush()
        states = [trail.decision.kept.state for trail in journal.store().trails()]

    assert states == [None] * 3
    (told,) = heard.named("journal.mask_failed")
    assert told["error"] in {"ZeroDivisionError", "TypeError", "Panic"}


@pytest.mark.parametrize("content", ["none", "hash"])
def test_planted_secrets_are_nowhere(tmp_path: Path, content: str) -> None:
    """Not in the spool, while the database is down; not in the database; not in what is said."""
    heard = Heard()
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the database's folder should be")
    given: dict[str, Any] = {"content": content, "key": KEY, "spool": tmp_path / "spool"}
    entry = decided(subject=SUBJECT, ask=Ask(STATE, {"team": QUESTION}))
    with journal_at(blocked / "journal.db", heard, **given) as journal:
        journal.put(entry)
        assert not journal.flush()
        spooled = written(tmp_path / "spool")
        blocked.unlink()
        assert journal.flush()
        assert [row.id for row in journal.store().rows()] == [entry.record.id]

    everything = spooled + written(tmp_path) + repr((heard.events, journal)).encode()
    assert entry.record.id.encode() in spooled
    for secret in (SUBJECT, STATE, "4111", KEY):
        assert secret.encode() not in everything
    assert KEY not in repr(journal.settings)


# --- rows --------------------------------------------------------------------------------


def test_a_row_says_what_was_asked(tmp_path: Path) -> None:
    row = row_of(tmp_path)

    assert row.language == "en"
    assert row.keys == keys_of(POINT, ASK.questions, "en")


def test_a_decision_that_could_not_be_asked_keeps_its_subject(tmp_path: Path) -> None:
    row = row_of(tmp_path, entry=decided(ask=None))

    assert row.keys == {}
    assert row.kept.subject
    assert row.kept.digest is None


def test_a_decision_without_subject_has_none(tmp_path: Path) -> None:
    assert kept(tmp_path, entry=decided(subject=None)).subject is None


def test_answers_in_the_background_and_feedback_are_written_too(tmp_path: Path) -> None:
    beside, later = shadow(2, of=1).shadow, verdict(3, of=1, label={"team": "tech"})
    with journal_at(tmp_path / "journal.db") as journal:
        for entry in (decided(1), Shadowed(beside, POINT, ASK, "en"), later):
            journal.put(entry)
        assert journal.flush()
        (trail,) = journal.store().trails()

    keys = keys_of(POINT, ASK.questions, "en")
    assert trail.shadows == (ShadowRow(shadow=beside, language="en", keys=keys),)
    assert trail.feedback == (later,)


# --- the key -----------------------------------------------------------------------------


def test_a_key_is_made_beside_the_file_for_its_owner_alone(tmp_path: Path) -> None:
    first = kept(tmp_path)
    key = tmp_path / "journal.db.key"

    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.glob("*.key*")] == [key.name]
    with journal_at(tmp_path / "journal.db") as journal:
        assert journal.subject_hash(SUBJECT) == first.subject


RACE = """
import sys, time
from pathlib import Path
from pointsman.gateway.journal.content import Key
key = Key(None, Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(key.hashed("subject", "ada"), flush=True)
"""


def test_processes_that_start_at_once_get_the_same_key(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACE, str(tmp_path / "room" / "journal.db.key")]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    runs: list[Any] = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for run in runs:
        assert run.stdout.readline() == "ready\n"
    hashes = {run.communicate("go\n")[0] for run in runs}

    assert len(hashes) == 1
    assert len(hashes.pop().strip()) == 32


@pytest.mark.parametrize("text", ["", "0123", "x" * 64 + "\n", "0" * 64])
def test_a_damaged_key_is_the_operators_to_put_right(tmp_path: Path, text: str) -> None:
    """Whoever made a new one would lose every subject; so nothing is written over."""
    (tmp_path / "journal.db.key").write_text(text)

    with pytest.raises(SetupError, match=r"DECISION_JOURNAL_KEY: .*no whole key") as error:
        Journal(JournalSettings(f"sqlite:///{tmp_path}/journal.db"), tell=Heard())

    assert str(tmp_path) not in str(error.value)
    assert (tmp_path / "journal.db.key").read_text() == text


def test_a_key_damaged_later_loses_nothing(tmp_path: Path) -> None:
    heard = Heard()
    with journal_at(tmp_path / "journal.db", heard) as journal:
        (tmp_path / "journal.db.key").write_text("")
        journal.put(decided(1))
        assert not journal.flush()
        assert "no whole key" in heard.named("journal.spool_down")[0]["problem"]
        (tmp_path / "journal.db.key").unlink()
        heard.wait_for("journal.spool_back")
        assert journal.flush()
        assert journal.store().points() == {"ROUTER": 1}


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="fewer than 16 characters"):
        Journal(JournalSettings(f"sqlite:///{tmp_path}/journal.db", key="short"), tell=Heard())


@pytest.mark.parametrize("content", ["hash", "full"])
def test_a_server_needs_a_key_that_all_hosts_share(content: Any) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(SetupError, match=r"DECISION_JOURNAL_KEY: .*openssl rand -hex 32"):
        Journal(JournalSettings("postgresql://u@h/d", content=content), tell=Heard())
    none = JournalSettings("postgresql://u@h/d", content="none")
    assert Journal(none, tell=Heard()).subject_hash(SUBJECT) is None


def test_a_key_that_is_made_beside_a_journal_is_told(tmp_path: Path) -> None:
    """Its file was lost with a backup, say: who was kept before is found no more."""
    first, second = Heard(), Heard()
    kept(tmp_path, first)
    assert first.events == []
    (tmp_path / "journal.db.key").unlink()
    with journal_at(tmp_path / "journal.db", second) as journal:
        assert journal.keyless
        assert journal.flush()  # asks, and hashes nothing
        assert journal.keyless
        for n in range(3):
            journal.put(decided(n))
        assert journal.flush()
        assert not journal.keyless

    ((level, event, said),) = second.events
    assert (level, event) == ("warning", "journal.key_made")
    assert "made beside a journal" in said["problem"]
    assert "back up" in said["fix"]


# --- beginning ---------------------------------------------------------------------------

CHEAP = """
import sys
from pointsman.gateway.journal.journal import Journal, JournalSettings
Journal(JournalSettings(sys.argv[1], key="a key for many hosts"), tell=print)
print(sorted({"sqlalchemy", "alembic", "psycopg"} & set(sys.modules)))
"""


@pytest.mark.parametrize("url", ["sqlite:///journal.db", "postgresql://u@h/d"])
def test_a_journal_is_made_without_the_databases_library(url: str, tmp_path: Path) -> None:
    """It takes a third of a second to load, which the host need not wait for at its start."""
    command = [sys.executable, "-c", CHEAP, url]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert run.stdout == "[]\n"


@pytest.mark.parametrize(
    ("library", "url", "extra"),
    [
        ("sqlalchemy", "sqlite:///journal.db", "journal"),
        ("psycopg", "postgresql://u@h/d", "postgres"),
    ],
)
def test_a_library_that_is_missing_is_told_at_the_start(
    library: str, url: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == library else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)

    with pytest.raises(SetupError, match=f"{library} is not installed") as error:
        Journal(JournalSettings(url, key=KEY), tell=Heard())

    assert f"pointsman[{extra}]" in str(error.value)
