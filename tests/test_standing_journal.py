"""What stands in the journal: for other processes, after a kill, and while it is down."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.exc import OperationalError

from approving import ASK, CALL, COLOURS, NO, VARIABLE, YES, approve, blocks, consult
from journaled import START, decision, schema_of, server
from pointsman import (
    Ask,
    Choice,
    Decision,
    DecisionPoint,
    Gateway,
    Guard,
    HumanNeeded,
    Hybrid,
    JournalDown,
    Predicate,
    Reason,
    Repeat,
    Score,
    SetupError,
    scripted,
)
from pointsman.gateway.journal import claiming, revisions, schema
from pointsman.gateway.journal.database import Database
from pointsman.gateway.journal.store import Store
from pointsman.gateway.standing.waiters import THREADS
from trialling import offering

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'journal.db'}"
        return
    with schema_of(server()) as made:
        yield made


@pytest.fixture
def environ(url: str, tmp_path: Path) -> dict[str, str]:
    return {
        "DECISION_JOURNAL": url,
        "DECISION_JOURNAL_KEY": KEY,
        "DECISION_JOURNAL_SPOOL": str(tmp_path / "spool"),
    }


@pytest.fixture
def refused(environ: dict[str, str]) -> dict[str, str]:
    """A journal in which the call was refused, by a process that has ended."""
    with offering({**environ, VARIABLE: "refuses"}, refuses=scripted(NO)) as gateway:
        assert approve(gateway).value is False
    return environ


def rows(url: str) -> list[dict[str, Any]]:
    """What a person with a SQL client sees."""
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        found = connection.execute(sqlalchemy.text("SELECT * FROM standing ORDER BY at"))
        made = [{**one} for one in found.mappings()]
    engine.dispose()
    return made


# --- other processes ---------------------------------------------------------------------------

ELSEWHERE = """
import asyncio, sys
from pointsman import Ask, Gateway, Predicate, scripted

ASK = Ask("delete_account(id=7)", {"may": Predicate("May this call run without a person?")})
gateway = Gateway.from_env()
given = {"current": lambda: True, "subject": "session-1", "once": ("call-1", {"id": 7})}
with gateway.override({"APPROVAL": scripted(sys.argv[1] == "yes")}):
    if sys.argv[2] == "sync":
        decision = gateway.ask_sync("APPROVAL", ASK, **given)
    else:
        decision = asyncio.run(gateway.ask("APPROVAL", ASK, **given))
print(decision.value, decision.record.id)
sys.stdout.flush()
if len(sys.argv) > 3:
    import os
    os._exit(9)  # killed before it could write anything down
gateway.close()
"""


def elsewhere(environ: Mapping[str, str], *arguments: str, code: int = 0) -> list[str]:
    """Ask in another process."""
    run = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *arguments],
        env={**os.environ, **environ, "DECISION_LOG": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == code, run.stderr
    return run.stdout.split()


@COLOURS
def test_a_refusal_stands_in_another_process(environ: dict[str, str], colour: str) -> None:
    """Frameworks §6.1: the graph is resumed elsewhere, where another provider is asked."""
    first = elsewhere(environ, "no", colour)

    assert first[0] == "False"
    assert elsewhere(environ, "yes", colour) == first


@COLOURS
def test_it_is_in_the_database_before_the_host_is_told(
    environ: dict[str, str], colour: str
) -> None:
    """A process that is killed the moment after has refused nevertheless."""
    first = elsewhere(environ, "no", colour, "killed", code=9)

    assert elsewhere(environ, "yes", colour) == first == ["False", first[1]]


@COLOURS
def test_what_current_decided_stands_elsewhere(environ: dict[str, str], colour: str) -> None:
    with offering(environ) as gateway:
        first = approve(gateway, colour, current=lambda: False)

    with offering({**environ, VARIABLE: "allows"}, allows=scripted(YES)) as gateway:
        again = approve(gateway, colour)

    assert (again.value, again.provider, again.record.id) == (False, "current", first.record.id)


@COLOURS
def test_that_current_carries_on_stands_elsewhere(environ: dict[str, str], colour: str) -> None:
    with offering({**environ, VARIABLE: "in_vain"}, in_vain=scripted(Reason.REFUSED)) as gateway:
        assert consult(gateway, colour) is None
    with offering({**environ, VARIABLE: "allows"}, allows=scripted(YES)) as gateway:
        assert consult(gateway, colour) is None


@COLOURS
def test_what_came_of_carrying_on_stands_elsewhere(environ: dict[str, str], colour: str) -> None:
    """Also for a process that remembers nothing but that current was to carry on."""
    with offering(environ) as here, offering(environ) as there:
        assert consult(here, colour) is None
        assert consult(there, colour) is None
        made = approve(there, colour, current=lambda: False)

        found = consult(here, colour)
        assert approve(here, colour).value is False

    assert found is not None
    assert found.record.id == made.record.id


def test_of_two_that_end_what_was_open_the_first_one_counts(environ: dict[str, str]) -> None:
    with offering(environ) as here, offering(environ) as there:
        assert consult(here) is None
        first = []

        def allows() -> bool:
            first.append(approve(there, current=lambda: False))
            return True

        assert approve(here, current=allows).value is False
        assert approve(there).record.id == first[0].record.id


@COLOURS
def test_that_a_person_must_decide_stands_elsewhere(environ: dict[str, str], colour: str) -> None:
    human: dict[str, Any] = {"current": None, "on_undecided": "human"}
    ids: list[str] = []
    for said in (Reason.TIMEOUT, True):
        with (
            offering({**environ, VARIABLE: "says"}, says=scripted(said)) as gateway,
            pytest.raises(HumanNeeded) as raised,
        ):
            approve(gateway, colour, **human)
        ids.append(raised.value.id)

    assert ids[0] == ids[1]


def test_several_questions_stand_with_their_types(environ: dict[str, str]) -> None:
    ask = Ask(
        "s",
        {"team": Choice("?", ["1", "2"]), "may": Predicate("?"), "risk": Score("?", ["a", "b"])},
    )
    said: dict[str, Any] = {"team": "1", "may": True, "risk": 1.0}
    given: dict[str, Any] = {"current": lambda: said, "subject": "s", "once": CALL}
    values: list[dict[str, Any]] = []
    for value in (said, {"team": "2", "may": False, "risk": 0.0}):
        with offering({**environ, "DECISION_MANY_PROVIDER": "says"}, says=scripted(value)) as one:
            values.append(one.ask_sync("MANY", ask, **given).value)

    assert values == [said, said]
    assert [type(one) for one in values[1].values()] == [str, bool, float]


def test_nothing_is_told_twice_to_the_journal(refused: dict[str, str], url: str) -> None:
    with offering({**refused, VARIABLE: "allows"}, allows=scripted(YES)) as gateway:
        again = approve(gateway)

    store = Store.open(url)
    (trail,) = store.trails()
    store.close()
    assert trail.decision.id == again.record.id
    assert len(trail.decision.record.attempts) == 1


@COLOURS
def test_a_subject_that_was_to_carry_on_is_not_counted_again(
    environ: dict[str, str], url: str, colour: str
) -> None:
    """A split counts both its arms, also where nobody tells what current did; but only once."""
    split = {VARIABLE: "in_vain:100"}
    with offering(split, in_vain=scripted(Reason.REFUSED)) as gateway:
        assert consult(gateway, colour) is None
        gateway.reload({"DECISION_LOG": "off", **split, **environ})
        assert consult(gateway, colour) is None
        approve(gateway, once=None, subject="session-2")

    store = Store.open(url)
    (trail,) = store.trails()
    assert len(list(store.exposures("APPROVAL", "1"))) == 1
    store.close()
    assert trail.decision.record.provider == "current"
    assert trail.decision.record.attempts


# --- many at once ------------------------------------------------------------------------------


def test_gateways_that_ask_at_once_get_one_outcome(environ: dict[str, str]) -> None:
    """As processes do: each has a memory of its own, and a connection of its own."""
    together = threading.Barrier(8, timeout=20.0)

    class Says:
        name, model, limits = "says", "says-1", scripted().limits

        def __init__(self, said: object) -> None:
            self._said = scripted(said)

        def answer(self, ask: Ask, call: Any) -> Any:
            together.wait()
            return self._said.answer(ask, call)

    made = [offering({**environ, VARIABLE: "says"}, says=Says(n % 2 == 0)) for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        decided = list(pool.map(approve, made))
    again = [approve(gateway, "async") for gateway in made]
    for gateway in made:
        gateway.close()

    assert len({(one.value, one.record.id) for one in (*decided, *again)}) == 1


def test_tasks_that_ask_at_once_get_one_outcome(environ: dict[str, str]) -> None:
    async def main(gateway: Gateway) -> list[Decision[Any]]:
        given: dict[str, Any] = {"current": lambda: True, "subject": "s", "once": CALL}
        return await asyncio.gather(*(gateway.ask("APPROVAL", ASK, **given) for _ in range(50)))

    says = scripted(*(n % 2 == 0 for n in range(50)))
    with offering({**environ, VARIABLE: "says"}, says=says) as gateway:
        made = asyncio.run(main(gateway))

    assert len(says.asked) > 1
    assert len({(one.value, one.record.id) for one in made}) == 1


def test_the_database_is_never_waited_for_on_the_loop(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop's own thread goes on while another reads and writes."""
    where: list[str] = []
    for name in ("find", "claim"):
        monkeypatch.setattr(claiming, name, _noting(getattr(claiming, name), where))
    with offering({**environ, VARIABLE: "refuses"}, refuses=scripted(NO)) as gateway:
        approve(gateway, "async")

    assert len(where) == 2
    assert threading.current_thread().name not in where


def test_who_is_cancelled_while_it_is_written_has_decided(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cancellation passes through at once; what is under way ends by itself, and stands."""
    begun, leave, ended = threading.Event(), threading.Event(), threading.Event()
    does = claiming.claim

    def slowly(*given: Any) -> Any:
        begun.set()
        assert leave.wait(20.0)
        try:
            return does(*given)
        finally:
            ended.set()

    async def main(gateway: Gateway) -> None:
        given: dict[str, Any] = {"current": lambda: True, "subject": "session-1", "once": CALL}
        task = asyncio.create_task(gateway.ask("APPROVAL", ASK, **given))
        assert await asyncio.to_thread(begun.wait, 20.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        leave.set()
        assert await asyncio.to_thread(ended.wait, 20.0)

    monkeypatch.setattr(claiming, "claim", slowly)
    with offering({**environ, VARIABLE: "flips"}, flips=scripted(NO, YES)) as gateway:
        asyncio.run(main(gateway))
        assert approve(gateway).value is False


def _noting(does: Callable[..., Any], where: list[str]) -> Callable[..., Any]:
    def noted(*given: Any) -> Any:
        where.append(threading.current_thread().name)
        return does(*given)

    return noted


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_and_its_parent_share_what_stands(environ: dict[str, str]) -> None:
    """What the child decides after the fork, the parent reads."""
    with offering({**environ, VARIABLE: "flips"}, flips=scripted(YES, NO)) as gateway:
        approve(gateway, once=("call-0", {}))  # connections are open
        if (child := os.fork()) == 0:
            os._exit(0 if approve(gateway).value is False else 1)
        _, status = os.waitpid(child, 0)
        with gateway.override({"APPROVAL": scripted(YES)}):
            assert approve(gateway).value is False

    assert os.waitstatus_to_exitcode(status) == 0


# --- a database that is down -------------------------------------------------------------------


class Down:
    """A database that does not answer while it is switched on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = {"find": False, "claim": False}
        for name in self.now:
            monkeypatch.setattr(claiming, name, self._failing(name, getattr(claiming, name)))

    def _failing(self, name: str, does: Callable[..., Any]) -> Callable[..., Any]:
        def failing(database: Database, *given: Any) -> Any:
            if not self.now[name]:
                return does(database, *given)
            with database.transaction("read"):
                raise OperationalError("SELECT zq7", {}, Exception("database is locked: zq7"))

        return failing


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> Down:
    return Down(monkeypatch)


@COLOURS
def test_where_it_cannot_be_read_nothing_is_decided(
    refused: dict[str, str], colour: str, down: Down
) -> None:
    """Fail closed: a database that is down does not let a refused call run."""
    ran: list[bool] = []
    allows = scripted(YES)
    down.now["find"] = True
    with offering({**refused, VARIABLE: "allows"}, allows=allows) as gateway:
        with pytest.raises(JournalDown, match=r"^APPROVAL: .* nothing is decided") as raised:
            approve(gateway, colour, current=lambda: ran.append(True))
        down.now["find"] = False
        assert approve(gateway, colour).value is False

    assert (ran, allows.asked) == ([], [])
    assert "zq7" not in str(raised.value)
    assert raised.value.__cause__ is None


@COLOURS
def test_where_it_cannot_be_written_the_host_is_told_nothing(
    environ: dict[str, str], colour: str, down: Down
) -> None:
    """What was allowed must not be known to this process only."""
    down.now["claim"] = True
    with offering({**environ, VARIABLE: "flips"}, flips=scripted(YES, NO)) as gateway:
        with pytest.raises(JournalDown):
            approve(gateway, colour)
        down.now["claim"] = False
        assert approve(gateway, colour).value is False  # nothing stood


@COLOURS
def test_a_guardrail_does_not_pass_what_it_cannot_confirm(
    environ: dict[str, str], colour: str, down: Down
) -> None:
    """`allow` says what happens where nobody decides, not where it is unknown who did."""
    down.now["find"] = True
    with offering(environ) as gateway:
        guard = Guard(gateway, "RAIL", Predicate("Is this unsafe?"), on_undecided="allow")
        with pytest.raises(JournalDown):
            blocks(guard, colour)


@COLOURS
def test_what_is_remembered_needs_no_database(
    environ: dict[str, str], colour: str, down: Down
) -> None:
    with offering({**environ, VARIABLE: "refuses"}, refuses=scripted(NO)) as gateway:
        approve(gateway, colour)
        down.now = {"find": True, "claim": True}
        assert approve(gateway, colour).value is False


@COLOURS
@pytest.mark.parametrize("body", ["", "garbage", "{}", '{"how": "newly", "record": {}}'])
def test_a_row_that_cannot_be_read_is_a_journal_that_is_down(
    refused: dict[str, str], url: str, colour: str, body: str
) -> None:
    """Altered, or of a later version: it may be a refusal, so it is neither passed nor removed."""
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(sqlalchemy.update(schema.standing).values(body=body))
    engine.dispose()
    ran: list[bool] = []
    with offering(refused) as gateway, pytest.raises(JournalDown, match="later version"):
        approve(gateway, colour, current=lambda: ran.append(True))

    assert ran == []
    assert [row["body"] for row in rows(url)] == [body]


BRIEF = {"DECISION_APPROVAL_DEADLINE_SECONDS": "0.5"}


@COLOURS
def test_a_table_that_somebody_holds_is_not_waited_for(colour: str, tmp_path: Path) -> None:
    """A migration, a backup: readers of PostgreSQL would wait for as long as it takes."""
    with schema_of(server()) as made:
        environ = {
            "DECISION_JOURNAL": made,
            "DECISION_JOURNAL_KEY": KEY,
            "DECISION_JOURNAL_SPOOL": str(tmp_path / "spool"),
            **BRIEF,
        }
        engine = sqlalchemy.create_engine(made.replace("postgresql:", "postgresql+psycopg:"))
        with offering(environ) as gateway:
            assert approve(gateway, colour, current=lambda: False).value is False
            with engine.connect() as holder:
                holder.exec_driver_sql("LOCK TABLE standing IN ACCESS EXCLUSIVE MODE")
                with pytest.raises(JournalDown):
                    approve(gateway, colour, once=("call-2", {}))
                assert approve(gateway, colour).value is False
            assert approve(gateway, colour, once=("call-2", {})).value is True
        engine.dispose()


def test_a_database_that_never_answers_is_waited_for_on_few_threads(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its callers give up; what they wanted to know is asked by nobody any more."""
    answers, asked, finds = threading.Event(), itertools.count(), claiming.find

    def silent(*given: Any) -> Any:
        next(asked)
        answers.wait(20.0)
        return finds(*given)

    async def main(gateway: Gateway) -> list[Any]:
        given: dict[str, Any] = {"current": lambda: True, "subject": "s"}
        calls = (("call", {"n": n}) for n in range(50))
        asks = [gateway.ask("APPROVAL", ASK, once=call, **given) for call in calls]
        made: list[Any] = await asyncio.gather(*asks, return_exceptions=True)
        return made

    with offering({**environ, **BRIEF}) as gateway:
        monkeypatch.setattr(claiming, "find", silent)
        made = asyncio.run(main(gateway))
        threads = [one for one in threading.enumerate() if one.name == "pointsman-standing"]
        with pytest.raises(JournalDown, match="did not answer"):
            approve(gateway)
        assert len(threads) == THREADS
        answers.set()
        for one in threads:
            one.join()

    assert {type(one) for one in made} == {JournalDown}
    assert next(asked) == THREADS


@COLOURS
def test_a_key_that_cannot_be_read_is_a_journal_that_is_down(tmp_path: Path, colour: str) -> None:
    """Without it nothing that stands is found."""
    url = f"sqlite:///{tmp_path / 'journal.db'}"
    ran: list[bool] = []
    with offering({"DECISION_JOURNAL": url}) as gateway:
        (tmp_path / "journal.db.key").mkdir()
        with pytest.raises(JournalDown, match="key"):
            approve(gateway, colour, current=lambda: ran.append(True))
        (tmp_path / "journal.db.key").rmdir()

    assert ran == []


def test_a_real_database_that_is_not_there_is_down(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    environ = {
        "DECISION_JOURNAL": "postgresql://nobody@127.0.0.1:9/none",
        "DECISION_JOURNAL_KEY": KEY,
        "DECISION_JOURNAL_SPOOL": str(tmp_path),
    }
    ran: list[bool] = []
    with offering(environ) as gateway, pytest.raises(JournalDown) as raised:
        approve(gateway, current=lambda: ran.append(True))

    assert ran == []
    assert "127.0.0.1" not in str(raised.value)


# --- what is kept ------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["none", "hash", "full"])
def test_neither_arguments_nor_subjects_are_kept(
    environ: dict[str, str], url: str, content: str
) -> None:
    """Only keyed hashes, whatever is kept of the state."""
    secret = {"subject": "zq7-customer", "once": ("zq8-call", {"iban": "zq9-number"})}
    environ["DECISION_JOURNAL_CONTENT"] = content
    environ["DECISION_JOURNAL_REDACT"] = "off"
    for said in (False, True):
        with offering({**environ, VARIABLE: "says"}, says=scripted(said)) as gateway:
            assert approve(gateway, **secret).value is False

    (row,) = rows(url)
    assert "zq" not in str(row.values())
    assert (row["subject"] is None) is (content == "none")
    assert row["point"] == "APPROVAL"
    assert json.loads(row["body"])["record"]["id"] == row["decision"]


def test_another_key_gives_other_hashes(environ: dict[str, str], url: str) -> None:
    """So that a guess cannot be tested without it."""
    for key in (KEY, KEY[::-1]):
        with offering({**environ, "DECISION_JOURNAL_KEY": key}) as gateway:
            approve(gateway)

    first, second = rows(url)
    assert first["id"] != second["id"]
    assert first["subject"] != second["subject"]


def test_many_hosts_that_keep_no_content_need_a_key_all_the_same(
    environ: dict[str, str], url: str
) -> None:
    """The first decision that is to stand says so; nothing runs."""
    del environ["DECISION_JOURNAL_KEY"]
    environ["DECISION_JOURNAL_CONTENT"] = "none"
    with offering(environ) as gateway:
        if url.startswith("sqlite"):
            assert approve(gateway).value is True
            return
        ran: list[bool] = []
        with pytest.raises(SetupError, match="DECISION_JOURNAL_KEY"):
            approve(gateway, current=lambda: ran.append(True))
        assert ran == []


def strange() -> object:
    return {"strange": 1}


def test_a_value_that_cannot_be_read_is_said_once_to_stand_here_only(
    environ: dict[str, str], url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with offering({**environ, "DECISION_LOG": "json"}) as gateway:
        first = approve(gateway, current=strange)
        assert approve(gateway).value == first.value
        approve(gateway, current=strange, once=("call-2", {}))

    assert rows(url) == []
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (said,) = [one for one in told if one["event"] == "decision.not_standing"]
    assert (said["point"], said["level"]) == ("APPROVAL", "warning")


def nothing(value: object) -> float:
    return float("nan") if value else 0.0


def half(value: object) -> str:
    return f"\ud83d{value}"


@pytest.mark.parametrize("read", [complex, nothing, half])
def test_an_outcome_that_no_journal_holds_stands_here_only(
    environ: dict[str, str], url: str, read: Callable[[Any], Any]
) -> None:
    """It would come back as something else."""
    with offering(environ) as gateway:
        first = approve(gateway, read=read)
        again = approve(gateway, read=read, current=lambda: False)

    assert again.value is first.value is True
    assert rows(url) == []


def found(parts: list[str], outcome: Any, confidence: float) -> dict[str, Any]:
    return {"parts": parts, **outcome, "sure": confidence > 0.5}


HYBRID = DecisionPoint(
    name="PARTS",
    questions={"": {"part": Choice("What is part {n}?", ["request", "remark"])}},
    reads=("text", "parts"),
    words="text",
    repeats={"part": Repeat("parts", "part_{n}")},
    hybrid=Hybrid(list, lambda state, parts: {**state, "parts": parts}, found, outcome=dict),
)


def test_what_is_made_of_the_hosts_own_value_stands_here_only(
    environ: dict[str, str], url: str
) -> None:
    """An outcome alone does not tell which parts the host had found."""
    ran: list[str] = []

    def extract() -> list[str]:
        ran.append("extract")
        return ["see my bill"]

    how: dict[str, Any] = {"current": extract, "subject": "s", "once": CALL}
    says = scripted({"part_1": "request"}, {"part_1": "remark"})
    with offering({**environ, "DECISION_PARTS_PROVIDER": "says"}, says=says) as gateway:
        first = gateway.ask_sync(HYBRID, {"text": "see my bill"}, **how)
        again = gateway.ask_sync(HYBRID, {"text": "see my bill"}, **how)

    assert first.value == {"parts": ["see my bill"], "part_1": "request", "sure": True}
    assert again.value == first.value
    assert ran == ["extract"]
    assert rows(url) == []


# --- removed -----------------------------------------------------------------------------------


def two_subjects(environ: dict[str, str]) -> None:
    with offering({**environ, VARIABLE: "refuses"}, refuses=scripted(NO)) as gateway:
        for subject in ("session-1", "session-2"):
            approve(gateway, subject=subject)


def test_a_forgotten_subject_has_no_decisions_that_stand(environ: dict[str, str], url: str) -> None:
    two_subjects(environ)
    with offering(environ) as gateway:
        journal = gateway._wiring.keeper.journal
        assert journal is not None
        known_as = journal.subject_hash("session-1")
        assert known_as is not None
        assert journal.store().forget(known_as) == (1, 1, 0)

    (left,) = rows(url)
    assert left["subject"] != known_as


def test_the_command_forgets_and_prunes_them(environ: dict[str, str], url: str) -> None:
    """And says how many, lest nothing seems to have been there."""
    two_subjects(environ)

    def journal(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "pointsman", "journal", *arguments, "--yes"],
            env={**os.environ, **environ},
            capture_output=True,
            check=True,
            text=True,
        ).stderr

    assert "1 decisions that stood were removed too" in journal("forget", "session-1")
    assert len(rows(url)) == 1
    journal("prune", "--older-than", "1h")
    assert len(rows(url)) == 1
    assert "1 decisions that stood were removed too" in journal("prune", "--older-than", "0h")
    assert rows(url) == []


def test_pruning_takes_what_is_older_only(environ: dict[str, str], url: str) -> None:
    two_subjects(environ)
    first, second = rows(url)
    store = Store.open(url)
    store.prune(second["at"])
    store.close()

    assert first["at"] < second["at"]
    assert [one["id"] for one in rows(url)] == [second["id"]]


# --- the table ---------------------------------------------------------------------------------


def test_a_journal_of_the_revision_before_keeps_its_rows(environ: dict[str, str], url: str) -> None:
    """It is brought up by the first decision that is to stand."""
    made = url.replace("postgresql:", "postgresql+psycopg:")
    engine = sqlalchemy.create_engine(made)
    with engine.begin() as connection:
        revisions.upgrade(connection, "0002")
        assert not sqlalchemy.inspect(connection).has_table("standing")
        connection.execute(
            schema.feedback.insert(),
            [{"id": "f", "decision": "d", "at": START, "body": "{}"}],
        )
        connection.execute(
            schema.access_keys.insert(),
            [{"id": "k", "name": "n", "digest": "d", "scopes": "", "created": START}],
        )
    for said in (False, True):
        with offering({**environ, VARIABLE: "says"}, says=scripted(said)) as gateway:
            assert approve(gateway).value is False

    assert len(rows(url)) == 1
    with engine.connect() as connection:
        assert revisions.revision(connection) == schema.HEAD
        for table in (schema.feedback, schema.access_keys):
            assert len(connection.execute(table.select()).all()) == 1
    engine.dispose()


def test_what_stands_outlasts_a_power_cut(tmp_path: Path) -> None:
    """Other rows may be lost with the last moments; what the host has acted upon may not."""
    from pointsman.gateway.journal.addresses import address

    database = Database(address(f"sqlite:///{tmp_path / 'journal.db'}"))
    with database.transaction("stand") as connection:
        full = connection.exec_driver_sql("PRAGMA synchronous").scalar()
    database.close()

    assert full == 2  # https://www.sqlite.org/pragma.html#pragma_synchronous


def test_an_export_holds_decisions_and_not_what_stands(refused: dict[str, str], url: str) -> None:
    """Hashes of another journal's key would stand for nothing here."""
    assert refused
    store = Store.open(url)
    assert [type(row) for row in store.rows()] == [type(decision(1))]
    store.close()
