"""`pointsman journal`: what it prints, what it carries elsewhere, and what it removes."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from journaled import START, decision, schema_of, server, shadow, verdict
from pointsman import SetupError
from pointsman.gateway.answers import Usage
from pointsman.gateway.cli.app import Commands
from pointsman.gateway.cli.journal.command import _coming, journal
from pointsman.gateway.cli.journal.times import age, moment
from pointsman.gateway.cli.session import Session
from pointsman.gateway.errors import Reason
from pointsman.gateway.journal.aside import NAME, put_aside
from pointsman.gateway.journal.exporting import read_file, write_file
from pointsman.gateway.journal.journal import Journal, JournalSettings
from pointsman.gateway.journal.rows import Row
from pointsman.gateway.journal.segments import line_of
from pointsman.gateway.journal.store import Store
from pointsman.gateway.records import Attempt, Exposure

pytest.importorskip("sqlalchemy")

KEY = "a key for tests, long enough"
ALL: list[Row] = [
    decision(1, subject="s1", experiment="1", state="words of a customer", confidence=0.9),
    decision(2, "FRAUD", outcome={"team": "tech", "urgent": True}),
    decision(3, provider="", undecided=True, outcome="none", reason=Reason.TIMEOUT),
    shadow(4, of=1),
    verdict(5, 1, "billing", right=True),
    verdict(6, 99),
]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in os.environ:
        if name.startswith("DECISION_"):
            monkeypatch.delenv(name)


def invoke(*args: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Any:
    app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False)
    app.add_typer(journal, name="journal")

    @app.callback()
    def options(ctx: typer.Context) -> None:
        ctx.obj = Session()

    return CliRunner().invoke(app, ["journal", *args], env=env, input=stdin)


def kept(*rows: Row, url: str = "sqlite:///.pointsman/journal.db") -> None:
    store = Store.open(url)
    assert store.write(rows or ALL) == ()
    store.close()


def all_of(url: str) -> list[Row]:
    store = Store.open(url)
    rows = [*store.rows()]
    store.close()
    return rows


# --- reading -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ("tail",),
        ("show", "1"),
        ("stats",),
        ("export", "x.jsonl"),
        ("forget", "x"),
        ("prune", "--older-than", "1d"),
    ],
    ids=lambda args: args[0],
)
def test_without_a_journal_it_says_so_and_makes_none(args: tuple[str, ...], tmp_path: Path) -> None:
    run = invoke(*args)

    assert run.exit_code == 2
    assert "there is no journal yet" in run.stderr
    assert not list(tmp_path.iterdir())


def test_where_none_is_kept_it_says_so() -> None:
    run = invoke("tail", env={"DECISION_JOURNAL": "off"})

    assert run.exit_code == 2
    assert "no journal is kept" in run.stderr


def test_other_variables_do_not_keep_anybody_from_reading() -> None:
    """A threshold that is no number is a fault, and none of the journal's."""
    kept()

    run = invoke("tail", env={"DECISION_ROUTER_MIN_CONFIDENCE": "x", "DECISION_CONFIDENCE": "y"})
    assert run.exit_code == 0

    run = invoke("tail", env={"DECISION_JOURNAL_CONTENT": "everything"})
    assert run.exit_code == 2
    assert "DECISION_JOURNAL_CONTENT" in run.stderr


def test_tail_shows_the_newest_last() -> None:
    kept()

    lines = invoke("tail").stdout.splitlines()

    assert [line.split()[3] for line in lines] == ["ROUTER", "FRAUD", "ROUTER"]
    assert lines[0].split()[:3] == ["2023-11-14", "22:13:21", f"{1:032x}"[:16]]
    assert re.split("  +", lines[0])[3:] == ["billing", "jev 0.90"]
    assert re.split("  +", lines[1])[3:] == ["team tech, urgent true", "jev"]
    assert re.split("  +", lines[2])[3:] == ["none", "nobody", "jev: timeout"]
    assert invoke("tail", "-n", "1").stdout.split() == lines[-1].split()
    assert invoke("tail", "--point", "fraud").stdout.split() == lines[1].split()


def test_tail_prints_json_lines_for_programs() -> None:
    kept()

    read = [json.loads(line) for line in invoke("tail", "--json").stdout.splitlines()]

    assert [one["decision"]["record"]["point"] for one in read] == ["ROUTER", "FRAUD", "ROUTER"]
    assert read[0]["feedback"][0]["label"] == "billing"


def test_an_empty_journal_is_no_fault() -> None:
    kept(verdict(1, 1))

    run = invoke("tail")

    assert (run.exit_code, run.stdout) == (0, "")
    assert "No decision is recorded yet" in run.stderr


def test_a_name_that_the_journal_does_not_hold_is_told_with_those_it_does() -> None:
    kept()

    near, far = invoke("tail", "--point", "roter"), invoke("tail", "--point", "PRICE")

    assert (near.exit_code, near.stdout) == (0, "")
    assert "no decision of ROTER is recorded. Did you mean ROUTER?" in near.stderr
    assert "no decision of PRICE is recorded. The journal holds FRAUD, ROUTER" in far.stderr
    assert "yet" not in near.stderr + far.stderr
    assert invoke("tail", "-n", "0").exit_code == 2


def test_a_row_of_a_replayed_file_is_nobodys_decision() -> None:
    kept(decision(1, provider="", variant="", outcome=None), decision(2, provider="", outcome=None))

    lines = invoke("tail").stdout.splitlines()
    shown = invoke("show", f"{1:032x}").stdout

    assert re.split("  +", lines[0])[3:] == ["–", "replayed row"]
    assert re.split("  +", lines[1])[3:] == ["–", "nobody"]
    assert "nobody: it is a row of a replayed file" in shown
    assert "by the plan" not in shown


def test_what_comes_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each decision once, also one that another process writes late."""
    monkeypatch.setattr("pointsman.gateway.cli.journal.command.EVERY", 0)
    now = 4_000_000_000.0  # after every clock
    store = Store.open("sqlite:///follow.db")
    store.write([decision(1, at=now)])
    coming = _coming(store, None, [*store.trails()])

    assert next(coming) == []
    store.write([decision(3, at=now + 2)])
    assert [one.decision.id for one in next(coming)] == [f"{3:032x}"]
    store.write([decision(2, at=now + 1), decision(4, at=now + 3)])
    assert [one.decision.id for one in next(coming)] == [f"{2:032x}", f"{4:032x}"]
    assert list(islice(coming, 2)) == [[], []]
    store.close()


def test_show_tells_the_whole_story_of_a_decision() -> None:
    failed = Attempt(
        provider="jev",
        model="jev-1",
        reason=Reason.LOW_CONFIDENCE,
        confidence=0.61,
        minimum=0.7,
        seconds=0.21,
        usage=Usage(1200, 34, 0.0002, estimated=True),
        request_id="req-7",
        late=True,
        form="shared:abc",
        notes={"cosine": 0.5},
        answers=ALL[0].record.answers,  # type: ignore[union-attr]
    )
    current = Attempt(provider="current", seconds=1.5)
    told: dict[str, Any] = {
        "provider": "current",
        "reason": Reason.LOW_CONFIDENCE,
        "attempts": (failed, current),
        "exposure": Exposure("autumn", 1234),
        "seconds": 1.72,
    }
    kept(
        decision(1, subject="s1", state="words\x1b[31m of a customer", **told),
        shadow(4, of=1),
        verdict(5, 1, "tech", right=False),
    )

    run = invoke("show", f"{1:032x}")

    assert run.exit_code == 0
    for part in (
        "ROUTER  billing",
        "2023-11-14 22:13:21 UTC, after 1.7 s",
        "current, since jev ended in low_confidence",
        "jev, by experiment autumn, bucket 1,234",
        "team  words 0123456789ab, options ba9876543210",
        "s1 (hash)",
        "Attempt 1  jev  jev-1",
        "low_confidence, late, shared:abc",
        "0.610, believed from 0.700",
        "1,200 + 34 tokens, $0.000200 (estimated)",
        "req-7",
        "billing, confidence 0.900 (reported): billing 0.950, tech 0.050",
        "Attempt 2  current",
        "Beside it, never acted on  local  m-1",
        "tech, where billing was decided",
        "Found out later",
        "wrong",
        "words\ufffd[31m of a customer",
    ):
        assert part in re.sub(r"(?<=\S)  +(?=\S)", "  ", run.stdout), part
    assert max(map(len, run.stdout.splitlines())) <= 80


def test_show_finds_a_decision_by_how_its_id_begins() -> None:
    kept(decision(0xAB << 120), decision(0xAC << 120))

    assert json.loads(invoke("show", "AB", "--json").stdout)["decision"]["record"]["id"][:2] == "ab"
    several, none, empty = (invoke("show", beginning) for beginning in ("a", "b", " "))
    assert several.exit_code == none.exit_code == empty.exit_code == 2
    assert "several begin with 'a'" in several.stderr
    assert f"{0xAB << 120:032x}" in several.stderr
    assert "no decision's id begins with 'b'" in none.stderr
    assert "no decision's id begins with ''" in empty.stderr


def test_stats_count_by_point() -> None:
    kept()

    assert invoke("stats").stdout.split()[-4:] == ["FRAUD", "1", "ROUTER", "2"]
    assert json.loads(invoke("stats", "--json").stdout) == {"FRAUD": 1, "ROUTER": 2}


# --- files ---------------------------------------------------------------------------------


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'journal.db'}"
        return
    with schema_of(server()) as made:
        yield made


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "all.parquet"])
def test_an_export_into_an_empty_journal_gives_the_same(
    url: str, name: str, tmp_path: Path
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    kept(url=url)
    run = invoke("export", name, env={"DECISION_JOURNAL": url})
    assert run.exit_code == 0, run.output
    assert "3 decisions, 1 shadows, 2 feedback" in run.stderr
    assert [one.name for one in tmp_path.iterdir() if "all" in one.name] == [name]

    with schema_of(server()) if url.startswith("postgres") else _another(tmp_path) as other:
        for _ in range(2):  # the second time changes nothing
            assert invoke("import", name, env={"DECISION_JOURNAL": other}).exit_code == 0
        assert all_of(other) == all_of(url) == ALL


class _another:  # noqa: N801 - used as a function
    def __init__(self, folder: Path) -> None:
        self._url = f"sqlite:///{folder / 'other' / 'journal.db'}"

    def __enter__(self) -> str:
        return self._url

    def __exit__(self, *_: object) -> None:
        pass


def test_an_export_can_be_piped() -> None:
    kept()

    run = invoke("export", "-")

    assert len(run.stdout.splitlines()) == len(ALL)
    assert all(json.loads(line)["type"] for line in run.stdout.splitlines())


def test_an_export_can_be_of_a_point_or_a_time() -> None:
    """With what belongs to its decisions."""
    kept()

    run = invoke("export", "-", "--point", "router", "--since", "2023-11-14T22:13:21")
    types = [json.loads(line)["type"] for line in run.stdout.splitlines()]
    assert types == ["decision", "shadow", "feedback", "decision"]
    assert invoke("export", "-", "--since", "1h").stdout == ""
    assert "--since" in invoke("export", "-", "--since", "soon").stderr


@pytest.mark.parametrize("name", ["p.jsonl", "p.parquet", "-"])
def test_an_export_of_a_point_that_is_not_there_makes_no_file(name: str, tmp_path: Path) -> None:
    kept()

    run = invoke("export", name, "--point", "ROTER")

    assert (run.exit_code, run.stdout) == (2, "")
    assert "--point: no decision of ROTER is recorded. Did you mean ROUTER?" in run.stderr
    assert [one.name for one in tmp_path.iterdir()] == [".pointsman"]


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "all.parquet"])
def test_an_export_into_a_folder_that_is_not_there_names_it(name: str) -> None:
    kept()

    run = invoke("export", f"nodir/{name}")

    assert run.exit_code == 2
    assert "nodir: there is no such folder" in run.stderr
    assert name not in run.stderr


def test_a_file_that_cannot_be_written_is_named_and_not_its_draft(tmp_path: Path) -> None:
    name = "x" * 250 + ".jsonl"  # a file system takes 255
    with pytest.raises(OSError, match="name too long") as error:
        write_file(ALL, tmp_path / name)

    assert error.value.filename == str(tmp_path / name)


def test_parquet_has_columns_for_queries() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_file(ALL, Path("all.parquet"))

    table = parquet.read_table("all.parquet").to_pylist()

    assert [one["kind"] for one in table] == ["decision"] * 3 + ["shadow"] + ["feedback"] * 2
    assert (table[0]["point"], table[0]["outcome"], table[0]["at"]) == (
        "ROUTER",
        '"billing"',
        START + 1,
    )
    assert (table[3]["decision"], table[3]["beside"]) == (f"{1:032x}", '"billing"')
    assert (table[4]["was_right"], table[4]["label"]) == (True, '"billing"')


def _bad(path: Path, line: bytes) -> None:
    write_file(ALL, path)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))


@pytest.mark.parametrize(
    "line",
    [b'{"type":"decision"', b"{}", b'{"type":"nothing"}', b"\xff", b'{"type":"feedback","id":1}'],
)
def test_a_bad_line_is_named_and_nothing_is_imported(line: bytes, tmp_path: Path) -> None:
    _bad(tmp_path / "bad.jsonl", line)

    run = invoke("import", "bad.jsonl")

    assert run.exit_code == 2
    assert "bad.jsonl, line 3: it is no row of a journal" in run.stderr
    assert not (tmp_path / ".pointsman").exists()


def test_a_row_that_no_database_takes_is_counted(tmp_path: Path) -> None:
    write_file([*ALL, decision(1, id="x" * 99)], tmp_path / "all.jsonl")

    run = invoke("import", "all.jsonl")

    assert run.exit_code == 0
    assert "1 rows were left out" in run.stderr
    assert all_of("sqlite:///.pointsman/journal.db") == ALL


WITHOUT = "hashed with the key of another journal"
ANOTHER = "None of their subjects was known here"


def test_an_import_says_which_key_its_subjects_need(tmp_path: Path) -> None:
    """Without it nobody is found; no key is made that would hide that."""
    write_file(ALL, tmp_path / "all.jsonl")

    run = invoke("import", "all.jsonl")

    assert run.exit_code == 0
    assert WITHOUT in run.stderr
    assert "bring it along as journal.db.key, or set DECISION_JOURNAL_KEY" in run.stderr
    assert not list((tmp_path / ".pointsman").glob("*.key"))
    assert "DECISION_JOURNAL_KEY" in invoke("forget", "x", "--yes").stderr
    assert WITHOUT not in invoke("import", "all.jsonl").stderr  # they are known by now


def test_an_import_into_a_journal_with_a_key_of_its_own_says_so(tmp_path: Path) -> None:
    env = {"DECISION_JOURNAL": "sqlite:///new.db"}
    write_file(ALL, tmp_path / "all.jsonl")
    made = Journal(JournalSettings(env["DECISION_JOURNAL"]), tell=lambda *_: None)
    kept(decision(9, subject=made.subject_hash("me")), url=env["DECISION_JOURNAL"])

    run = invoke("import", "all.jsonl", env=env)

    assert ANOTHER in run.stderr
    assert "another key than new.db.key" in run.stderr
    given = {**env, "DECISION_JOURNAL": "sqlite:///other.db", "DECISION_JOURNAL_KEY": KEY}
    assert (
        "another key than DECISION_JOURNAL_KEY" in invoke("import", "all.jsonl", env=given).stderr
    )


def test_an_import_without_subjects_or_of_its_own_rows_warns_of_none(tmp_path: Path) -> None:
    kept()
    write_file(ALL, tmp_path / "all.jsonl")
    write_file([decision(1), verdict(2, 1)], tmp_path / "nobody.jsonl")

    own = invoke("import", "all.jsonl")
    nobody = invoke("import", "nobody.jsonl", env={"DECISION_JOURNAL": "sqlite:///new.db"})
    none = {"DECISION_JOURNAL": "sqlite:///none.db", "DECISION_JOURNAL_CONTENT": "none"}
    unkept = invoke("import", "all.jsonl", env=none)

    for run in (own, nobody, unkept):
        assert run.exit_code == 0
        assert "!" not in run.stderr


def test_a_file_that_is_none_of_ours_is_told(tmp_path: Path) -> None:
    (tmp_path / "torn.jsonl.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    (tmp_path / "no.jsonl.gz").write_bytes(b"no gzip")
    (tmp_path / "no.parquet").write_bytes(b"no parquet")

    for name in ("torn.jsonl.gz", "no.jsonl.gz", "no.parquet", "there.jsonl", "all.csv"):
        run = invoke("import", name)
        assert run.exit_code == 2, name
        assert name in run.stderr or "pointsman[parquet]" in run.stderr  # where that is missing
        assert "Traceback" not in run.output
    kept()
    assert "its name does not say" in invoke("export", "all.csv").stderr


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def torn() -> Iterator[Row]:
        yield ALL[0]
        raise OSError("the disk is full")

    for name in ("all.jsonl", "all.jsonl.gz"):
        write_file(ALL, tmp_path / name)
        with pytest.raises(OSError, match="full"):
            write_file(torn(), tmp_path / name)
        assert list(read_file(tmp_path / name)) == ALL
    assert sorted(one.name for one in tmp_path.iterdir()) == ["all.jsonl", "all.jsonl.gz"]


# --- removing ------------------------------------------------------------------------------


def test_a_subject_is_forgotten_by_its_name() -> None:
    """Also where its rows are still in the spool of a process that died."""
    url = "sqlite:///journal.db"
    env = {"DECISION_JOURNAL": url, "DECISION_JOURNAL_KEY": KEY}
    made = Journal(JournalSettings(url, key=KEY), tell=lambda *_: None)
    mine, other = made.subject_hash("customer 7"), made.subject_hash("customer 8")
    assert mine is not None
    assert mine != other
    kept(decision(1, subject=mine), decision(2, subject=other), verdict(3, 1), url=url)
    made.close()

    asked = invoke("forget", "customer 7", env=env, stdin="n\n")
    assert asked.exit_code == 1
    assert len(all_of(url)) == 3

    run = invoke("forget", "customer 7", env=env, stdin="y\n")
    assert (run.exit_code, "1 decisions were removed" in run.stderr) == (0, True)
    assert all_of(url) == [decision(2, subject=other)]

    again = invoke("forget", "customer 7", "--yes", env=env)
    assert "Nothing was kept about this subject" in again.stderr
    assert all("customer" not in one.output for one in (asked, run, again))


def aside(*rows: Row | bytes) -> Path:
    """Leave lines that no database took, as the journal does."""
    folder = Path("journal.db.spool")
    folder.mkdir()
    lines = [one if isinstance(one, bytes) else line_of(one)[:-1] for one in rows]
    put_aside(folder / NAME, lines)
    return folder / NAME


def test_what_no_database_took_is_forgotten_too() -> None:
    """Also what belongs to a decision that one took, and half a line; no other's is touched."""
    url = "sqlite:///journal.db"
    env = {"DECISION_JOURNAL": url, "DECISION_JOURNAL_KEY": KEY}
    mine = Journal(JournalSettings(url, key=KEY), tell=lambda *_: None).subject_hash("customer 7")
    others, lost = line_of(decision(3, subject="another"))[:-1], b"half a line"
    words = "words that no database took"
    bad: Any = decision(2, subject=mine, state=words, id="x" * 65)
    kept(decision(1, subject=mine), url=url)
    file = aside(bad, shadow(4, of=1), verdict(5, 1), others, lost, line_of(bad)[:-20])

    run = invoke("forget", "customer 7", "--yes", env=env)

    assert run.exit_code == 0, run.output
    assert "1 decisions were removed" in run.stderr
    assert "4 rows that no database took were removed too" in run.stderr
    assert "1 lines in the spool's *.unread files cannot be read" in run.stderr
    assert file.read_bytes() == others + b"\n" + lost + b"\n"
    again = invoke("forget", "customer 7", "--yes", env=env)
    assert "Nothing was kept about this subject" in again.stderr


def test_what_no_database_took_is_pruned_too() -> None:
    env = {"DECISION_JOURNAL": "sqlite:///journal.db"}
    old: list[Row] = [decision(3), shadow(4, of=1), verdict(5, 1)]
    new = [decision(9, at=4_000_000_000.0)]
    kept(decision(1), url="sqlite:///journal.db")
    file = aside(*old, *new)
    run = invoke("prune", "--older-than", "90d", "--yes", env=env)

    assert "3 rows that no database took were removed too" in run.stderr
    assert file.read_bytes() == line_of(new[0])
    file.write_bytes(line_of(old[0]))
    invoke("prune", "--older-than", "90d", "--yes", env=env)
    assert not file.exists()

    file.mkdir()
    run = invoke("prune", "--older-than", "90d", "--yes", env=env)
    assert (run.exit_code, "DECISION_JOURNAL_SPOOL" in run.stderr) == (2, True)


def test_without_its_key_a_journal_cannot_tell_whom_it_is_about(tmp_path: Path) -> None:
    """Whoever asks is told, and no key is made that would make it look as if nothing were kept."""
    kept(url="sqlite:///journal.db")

    run = invoke("forget", "customer 7", "--yes", env={"DECISION_JOURNAL": "sqlite:///journal.db"})

    assert run.exit_code == 2
    assert "DECISION_JOURNAL_KEY" in run.stderr
    assert not list(tmp_path.glob("*.key"))


def test_where_no_subject_is_kept_none_can_be_forgotten() -> None:
    kept()

    run = invoke("forget", "customer 7", "--yes", env={"DECISION_JOURNAL_CONTENT": "none"})

    assert run.exit_code == 2
    assert "DECISION_JOURNAL_CONTENT" in run.stderr


def test_old_decisions_are_pruned() -> None:
    kept(*ALL, decision(9, at=4_000_000_000.0))

    assert invoke("prune", "--older-than", "90d", stdin="n\n").exit_code == 1
    run = invoke("prune", "--older-than", "90d", "--yes")

    assert "3 decisions were removed" in run.stderr
    assert all_of("sqlite:///.pointsman/journal.db") == [decision(9, at=4_000_000_000.0)]
    assert "--older-than" in invoke("prune", "--older-than", "3 moons", "--yes").stderr


def test_a_database_that_is_down_is_told_as_a_fault() -> None:
    pytest.importorskip("psycopg")

    run = invoke("tail", env={"DECISION_JOURNAL": "postgresql://me:hunter2@127.0.0.1:1/x"})

    assert run.exit_code == 2
    assert "it cannot be reached" in run.stderr
    assert "hunter2" not in run.output


# --- times ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"), [("12h", 43_200), ("90d", 7_776_000), (" 4w ", 2_419_200)]
)
def test_an_age_is_hours_days_or_weeks(text: str, seconds: float) -> None:
    assert age(text, "--older-than") == seconds
    assert moment(text, "--since", 10_000_000) == 10_000_000 - seconds


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-01T00:01", 60),
        ("1970-01-01T01:00:00+01:00", 0),
    ],
)
def test_a_date_is_utc_where_it_says_no_zone(text: str, at: float) -> None:
    assert moment(text, "--since", 0) == at


@pytest.mark.parametrize("text", ["", "d", "-1d", "1.5d", "1y", "90", "tomorrow", "2026-13-01"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(SetupError, match="--since"):
        moment(text, "--since", 0)
