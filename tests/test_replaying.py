"""`pointsman replay`: each state is asked about once, whatever interrupts; nobody acts on it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import secrets
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from faulty import Does, Server, Visit, encoded, failed, head, replies, waits
from journaled import schema_of
from journaled import server as postgres
from pointsman import Chosen, Gateway, Held, Predicate, Usage
from pointsman.gateway.answers import RawAnswer
from pointsman.gateway.cli.app import app
from pointsman.gateway.cli.replaying.alone import alone
from pointsman.gateway.cli.replaying.limits import Pace, Purse
from pointsman.gateway.cli.replaying.writing import Writing
from pointsman.gateway.errors import Reason, SetupError
from pointsman.gateway.evaluation.calibration.collecting import Wanted, collect
from pointsman.gateway.evaluation.comparison.reading import Reader
from pointsman.gateway.journal.rows import FeedbackRow, Row, Trail
from pointsman.gateway.journal.store import Store, StoreDown
from pointsman.gateway.questions import Question
from pointsman.gateway.records import Attempt
from pointsman.gateway.wire.openai import decode_request, encode_reply

unix = pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent there")

PYTHON = (sys.executable, "-m", "pointsman.gateway.cli")
JOURNAL = "sqlite:///journal.db"
COST = 0.01  # US dollars of an answer
OFFERED = [
    {"intent": "billing", "description": "Amounts, dates, refunds"},
    {"intent": "tech", "description": "Faults and outages"},
]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in os.environ:
        if name.startswith(("DECISION_", "LOCAL_", "JEV_", "CURRENT_", "AI_GATEWAY_")):
            monkeypatch.delenv(name)


@pytest.fixture
def environ(server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A journal, and a hosted provider that is a server of ours; it answers well."""
    server.does(decides())
    variables = {
        "DECISION_JOURNAL": JOURNAL,
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
        "JEV_MAX_ATTEMPTS": "1",
        "CURRENT_PROVIDER": "jev",  # is never asked here, and quicker to make than `local`
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def decides() -> Does:
    """Answer any question: the first option, and true; each costs a cent."""

    async def does(visit: Visit) -> bool:
        request = decode_request(visit.seen.body)
        answers = {name: _answer(question) for name, question in request.questions.items()}
        body = encode_reply(request, answers, model=request.model, usage=Usage(10, 0, COST))
        await visit.send(head(200, len(body)) + body)
        return True

    return does


def interrupts(does: Does) -> Does:
    """Press Ctrl-C while a row is under way."""

    async def interrupting(visit: Visit) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return await does(visit)

    return interrupting


async def turns_away_and_lets_go(visit: Visit) -> bool:
    """Refuse the key; and once that was read, let those answer who wait for it."""
    body = encoded(failed("authentication_error"))
    await visit.send(head(401, len(body), {"connection": "close"}) + body)
    await visit.gone()
    visit.server.gate.set()
    return False


def _answer(question: Question) -> RawAnswer:
    if isinstance(question, Predicate):
        return Held(0.9)
    assert hasattr(question, "options")
    options = list(question.options)
    spread = {name: 0.9 if name == options[0] else 0.1 / (len(options) - 1) for name in options}
    return Chosen(options[0], spread, 0.9)


def asked(server: Server) -> Counter[str]:
    """Count how often each state was asked about."""
    return Counter(json.loads(one.body)["input"] for one in server.seen)


def invoke(*args: str, env: Mapping[str, str] | None = None) -> Any:
    return CliRunner().invoke(app, ["replay", "--provider", "jev", *args], env=env)


def summary(*args: str) -> dict[str, Any]:
    done = invoke(*args, "--json")
    assert done.exit_code == 0, done.output
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def write(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def routed(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"point": "ROUTER", "state": {"message": f"row {at}", "allowed_intents": OFFERED}, **more}
        for at in range(count)
    ]


def trails() -> list[Trail]:
    store = Store.open(JOURNAL)
    try:
        return list(store.trails())
    finally:
        store.close()


# --- from a file -------------------------------------------------------------------------


@pytest.mark.usefixtures("environ")
def test_a_files_row_becomes_a_decision_of_nobody_its_label_and_an_answer(tmp_path: Path) -> None:
    """So that thresholds can be calibrated on it: the label is what was right."""
    file = write(tmp_path / "rows.jsonl", routed(1, label="tech"))
    told = summary("--from", str(file))
    (trail,) = trails()
    record, (answer,), (label,) = trail.decision.record, trail.shadows, trail.feedback
    assert (record.provider, record.outcome, record.attempts) == ("", None, ())
    assert trail.decision.kept.state is None  # its text stays in the file
    assert answer.shadow.source == "replay"
    assert (answer.shadow.provider, answer.shadow.outcome) == ("jev", "billing")
    assert (answer.shadow.beside, answer.shadow.beside_provider) == (None, "")
    assert answer.keys == trail.decision.keys != {}
    assert (label.of, label.label) == (record.id, "tech")
    assert (told["asked"], told["believed"], told["cost_usd"]) == (1, 1, COST)


@pytest.mark.usefixtures("environ")
def test_the_same_command_again_asks_nothing_twice(tmp_path: Path, server: Server) -> None:
    file = write(tmp_path / "rows.jsonl", routed(5))
    assert summary("--from", str(file))["asked"] == 5
    again = summary("--from", str(file))
    assert (again["asked"], again["before"], again["left"]) == (0, 5, 0)
    assert len(server.seen) == 5


@pytest.mark.usefixtures("environ")
def test_a_file_may_grow_and_a_corrected_row_is_asked_anew(tmp_path: Path, server: Server) -> None:
    rows = routed(3)
    summary("--from", str(write(tmp_path / "rows.jsonl", rows)))
    rows[1]["state"]["message"] = "corrected"
    more = [*rows, *routed(5)[3:]]
    assert summary("--from", str(write(tmp_path / "rows.jsonl", more)))["asked"] == 3
    assert max(asked(server).values()) == 1


@pytest.mark.usefixtures("environ")
def test_a_label_that_comes_later_reaches_the_journal(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    summary("--from", str(write(file, routed(1))))
    assert summary("--from", str(write(file, routed(1, label="tech"))))["asked"] == 0
    (trail,) = trails()
    assert [one.label for one in trail.feedback] == ["tech"]


@pytest.mark.usefixtures("environ")
def test_an_id_of_the_file_knows_its_row_wherever_it_stands(tmp_path: Path) -> None:
    rows = [{**row, "id": f"r{at}"} for at, row in enumerate(routed(3))]
    summary("--from", str(write(tmp_path / "rows.jsonl", rows)))
    assert summary("--from", str(write(tmp_path / "other.jsonl", rows[::-1])))["asked"] == 0


@pytest.mark.usefixtures("environ")
def test_a_point_may_be_named_for_the_whole_file(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", [{"state": "you fool", "label": True}])
    told = summary("--from", str(file), "--point", "guardrail-tox")
    assert told["points"] == ["GUARDRAIL_TOX"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "it is no JSON"),
        ('{"state": NaN, "point": "ROUTER"}', "it is no JSON"),
        ('{"point": "GUARDRAIL_TOX"}', "not of the form"),
        ('{"point": "GUARDRAIL_TOX", "state": null}', "its state is null"),
        ('{"state": "x"}', 'it names no "point"'),
        ('{"point": "NOWHERE", "state": "x"}', "there is no decision point 'NOWHERE'"),
        ('{"point": "ROUTER", "state": "x"}', "ROUTER"),
        ('{"point": "GUARDRAIL_TOX", "state": "x", "label": "toxic"}', "is no answer to 'toxic'"),
        ('{"point": "GUARDRAIL_TOX", "state": "x", "label": {"y": true}}', "its label names 'y'"),
        ('{"point": "JUDGE_CSI", "state": "x", "label": "NEUTRAL"}', "its label is an object of"),
        ('{"point": "GUARDRAIL_TOX", "state": "ok", "id": 1, "label": false}', "another label"),
    ],
)
@pytest.mark.usefixtures("environ")
def test_a_line_that_cannot_be_asked_is_named_before_anything_is(
    tmp_path: Path, server: Server, line: str, problem: str
) -> None:
    good = '{"point": "GUARDRAIL_TOX", "state": "ok", "id": 1, "label": true}'
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{good}\n\n{line}\n")
    done = invoke("--from", str(file))
    assert done.exit_code == 2
    assert f"{file.name}:3" in done.stderr
    assert problem in done.stderr
    assert not server.seen


@pytest.mark.usefixtures("environ")
def test_a_scores_label_may_be_a_level_or_a_number(tmp_path: Path) -> None:
    state = {"question": "what?", "answer": "that"}
    rows = [{"point": "JUDGE_RQLT", "state": state, "label": one} for one in ("good", 8, 7.5)]
    file = write(tmp_path / "rows.jsonl", rows)
    done = CliRunner().invoke(app, ["replay", "--provider", "local", "--from", str(file)])
    assert done.exit_code == 0, done.output
    assert sorted(one.feedback[0].label for one in trails()) == [7.5, 8.0, 8]  # type: ignore[type-var]


# --- from the journal --------------------------------------------------------------------


def decided(environ: Mapping[str, str], texts: Sequence[str], **more: str) -> None:
    """Let a program decide with a journal."""
    gateway = Gateway.from_env(
        {"DECISION_LOG": "off", "DECISION_JOURNAL_REDACT": "off", **environ, **more}
    )

    @gateway.point("GUARDRAIL_TOX")
    def toxic(text: str) -> bool:
        return "idiot" in text

    for text in texts:
        toxic(text)
    gateway.close()


def test_a_decision_is_asked_about_again_and_the_answer_stands_beside_it(
    environ: dict[str, str], server: Server
) -> None:
    """Not as a decision of its own, and nobody else is asked."""
    decided(environ, ["you idiot", "hello"], DECISION_JOURNAL_CONTENT="full")
    environ_now = {"DECISION_GUARDRAIL_TOX_SHADOW": "local", "DECISION_JOURNAL_REDACT": "off"}
    done = invoke("--json", env=environ_now)
    told = json.loads(done.stdout)
    assert (told["asked"], told["compared"], told["same"]) == (2, 2, 1)
    found = trails()
    assert len(found) == 2
    for trail, outcome in zip(found, [True, False], strict=True):
        (beside,) = trail.shadows
        assert beside.shadow.of == trail.decision.id
        assert (beside.shadow.beside, beside.shadow.beside_provider) == (outcome, "current")
        assert beside.shadow.outcome is True
        assert beside.keys == trail.decision.keys
    assert summary()["asked"] == 0
    assert len(server.seen) == 2


def test_what_cannot_be_asked_about_is_counted_with_the_reason(environ: dict[str, str]) -> None:
    decided(environ, ["a", "b"], DECISION_JOURNAL_CONTENT="hash")
    told = summary()
    assert told["asked"] == 0
    ((why, count),) = told["skipped"].items()
    assert count == 2
    assert "DECISION_JOURNAL_CONTENT=full" in why


def test_a_structured_state_is_asked_about_as_it_was_in_its_own_language(
    environ: dict[str, str], server: Server
) -> None:
    """Its options stand in it; one whose options came beside the state cannot be asked again."""
    settings = {"DECISION_LOG": "off", "DECISION_JOURNAL_REDACT": "off", "DECISION_LANGUAGE": "pt"}
    backends = [{"id": "a", "description": "A"}, {"id": "b", "description": "B"}]
    with Gateway.from_env({**environ, **settings, "DECISION_JOURNAL_CONTENT": "full"}) as gateway:
        state = {"message": "oi", "allowed_intents": OFFERED}
        gateway.ask_sync("ROUTER", state, current=lambda: "tech")
        supervised = {"message": "oi", "backends": backends}
        gateway.ask_sync("GLOBAL_SUPERVISOR", supervised, current=lambda: "a")
    told = summary()
    assert told["asked"] == 1
    assert list(told["skipped"].values()) == [1]
    assert told["skipped"].keys() == {"their states do not hold all that is asked"}
    (routed_then, (answer,)) = next((one.decision, one.shadows) for one in trails() if one.shadows)
    assert (answer.language, answer.keys) == ("pt", routed_then.keys)
    sent = json.loads(server.seen[0].body)
    assert sent["questions"][0]["instructions"].startswith("Qual")


def test_who_answered_live_is_not_asked_again(environ: dict[str, str], server: Server) -> None:
    live = {"DECISION_JOURNAL_CONTENT": "full", "DECISION_GUARDRAIL_TOX_PROVIDER": "jev"}
    decided(environ, ["a"], **live)
    assert summary()["asked"] == 0
    assert len(server.seen) == 1


def test_limit_and_point_narrow_it_down(environ: dict[str, str]) -> None:
    decided(environ, ["a", "b", "c"], DECISION_JOURNAL_CONTENT="full")
    assert summary("--point", "ROUTER")["asked"] == 0
    told = summary("--limit", "1", "--point", "GUARDRAIL_TOX")
    assert (told["asked"], told["left"]) == (1, 2)
    assert summary()["asked"] == 2


@pytest.mark.usefixtures("environ")
def test_a_journal_that_is_not_there_is_not_made() -> None:
    done = invoke()
    assert done.exit_code == 2
    assert "there is no journal yet" in done.stderr
    assert not Path("journal.db").exists()


# --- bounds ------------------------------------------------------------------------------


@pytest.mark.usefixtures("environ")
def test_a_dry_run_counts_and_asks_nothing(tmp_path: Path, server: Server) -> None:
    file = write(tmp_path / "rows.jsonl", routed(10))
    before = summary("--from", str(file), "--dry-run")
    assert (before["left"], before["cost_of_one"]) == (10, None)
    summary("--from", str(file), "--limit", "2")
    server.seen.clear()
    after = summary("--from", str(file), "--dry-run")
    assert (after["before"], after["left"], after["cost_of_one"]) == (2, 8, COST)
    assert not server.seen
    assert "about $0.080000" in invoke("--from", str(file), "--dry-run").stdout


@pytest.mark.usefixtures("environ")
def test_it_stops_before_it_costs_more_and_goes_on_later(tmp_path: Path, server: Server) -> None:
    file = write(tmp_path / "rows.jsonl", routed(12))
    done = invoke("--from", str(file), "--max-cost", "0.051", "--concurrency", "4", "--json")
    assert done.exit_code == 3
    told = json.loads(done.stdout)
    assert (told["asked"], told["left"], told["stopped"]) == (5, 7, "cost")
    assert "Stopped" in invoke("--from", str(file), "--max-cost", "0.01").stderr
    assert summary("--from", str(file))["asked"] == 6
    assert asked(server).most_common(1)[0][1] == 1


@pytest.mark.usefixtures("environ")
def test_all_rows_within_the_limit_are_no_stop(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", routed(3))
    assert summary("--from", str(file), "--max-cost", "0.0301")["stopped"] == ""


def test_an_empty_purse_of_the_day_stops_it_too(tmp_path: Path, environ: dict[str, str]) -> None:
    file = write(tmp_path / "rows.jsonl", routed(4))
    purse = {**environ, "JEV_BUDGET_USD_PER_DAY": "0.02"}
    done = invoke("--from", str(file), "--concurrency", "1", "--json", env=purse)
    assert done.exit_code == 3
    told = json.loads(done.stdout)
    assert (told["asked"], told["left"], told["stopped"]) == (2, 2, "cost")
    assert summary("--from", str(file))["asked"] == 2


@pytest.mark.usefixtures("environ")
def test_a_key_that_is_turned_away_ends_the_run_and_leaves_the_row(
    tmp_path: Path, server: Server
) -> None:
    file = write(tmp_path / "rows.jsonl", routed(3))
    server.does(decides(), replies(encoded(failed("authentication_error")), 401))
    done = invoke("--from", str(file), "--concurrency", "1")
    assert done.exit_code == 2
    assert "--provider" in done.stderr
    assert "(auth)" in done.stderr
    server.does(decides())
    assert summary("--from", str(file))["asked"] == 2


@pytest.mark.usefixtures("environ")
def test_a_failed_ask_is_an_answer_too(tmp_path: Path, server: Server) -> None:
    """Its reason is what the candidate would have come to; it may have been paid for."""
    file = write(tmp_path / "rows.jsonl", routed(2))
    server.does(replies(encoded(failed("server_error")), 503), decides())
    told = summary("--from", str(file), "--concurrency", "1")
    assert (told["asked"], told["reasons"]) == (2, {"provider_error": 1})
    reasons = {one.shadows[0].shadow.attempt.reason for one in trails()}
    assert reasons == {Reason.PROVIDER_ERROR, Reason.OK}


@pytest.mark.usefixtures("environ")
def test_a_provider_that_does_not_answer_is_not_asked_about_everything(
    tmp_path: Path, server: Server
) -> None:
    """Its breaker opens; a row that was not asked about is left for another time."""
    file = write(tmp_path / "rows.jsonl", routed(20))
    server.does(replies(encoded(failed("server_error")), 503))
    done = invoke("--from", str(file), "--concurrency", "1", "--patience", "0", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["asked"], told["left"], told["stopped"]) == (5, 15, "down")
    server.does(decides())
    assert summary("--from", str(file))["asked"] == 15


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--provider", "current"), "is not run from here"),
        (("--provider", "nobody"), "no provider 'nobody' is installed"),
        (("--from", "missing.jsonl"), "it cannot be read"),
        (("--point", "NOWHERE"), "there is no such decision point"),
    ],
)
@pytest.mark.usefixtures("environ")
def test_the_operators_faults_are_told(args: tuple[str, ...], problem: str) -> None:
    done = invoke(*args)
    assert done.exit_code == 2
    assert problem in done.stderr


def test_without_a_journal_there_is_nowhere_to_write(environ: dict[str, str]) -> None:
    done = invoke(env={**environ, "DECISION_JOURNAL": "off"})
    assert done.exit_code == 2
    assert "no journal is kept" in done.stderr


# --- killed ------------------------------------------------------------------------------


@contextlib.contextmanager
def begun(file: Path, environ: Mapping[str, str], *args: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command as a process of its own; it does not outlive the test."""
    command = [*PYTHON, "replay", "--provider", "jev", "--from", str(file), *args]
    with subprocess.Popen(
        command,
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as run:
        try:
            yield run
        finally:
            run.kill()


def test_a_killed_run_goes_on_and_asks_again_only_what_was_under_way(
    tmp_path: Path, server: Server, environ: dict[str, str]
) -> None:
    """Killed without a word, as often as you like: no more than `--concurrency` rows each time."""
    many, at_once, kills = 40, 3, (4, 16)
    file = write(tmp_path / "rows.jsonl", routed(many))
    for kill in kills:
        with begun(file, environ, "--concurrency", str(at_once), "--rate", "60"):
            server.wait(kill)
    told = summary("--from", str(file))
    counts = asked(server)
    assert told["before"] + told["asked"] == many == len(counts)
    assert counts.total() <= many + at_once * len(kills)
    assert [len(one.shadows) for one in trails()] == [1] * many


def interrupted(run: subprocess.Popen[bytes], by: signal.Signals) -> str:
    """Send a signal, and give what is said to it."""
    run.send_signal(by)
    assert run.stderr is not None
    return run.stderr.readline().decode()


def ended(run: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, said = run.communicate(timeout=20)
    return run.returncode, said.decode()


@unix
@pytest.mark.parametrize(("by", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_under_way_when_a_run_is_interrupted_was_paid_for_and_is_kept(
    tmp_path: Path, server: Server, environ: dict[str, str], by: signal.Signals, code: int
) -> None:
    """Those rows included that wait for their turn: they are left, and asked about once."""
    many, at_once, answered = 30, 3, 4
    file = write(tmp_path / "rows.jsonl", routed(many))
    server.does(*[decides()] * answered, waits(decides()))
    with begun(file, environ, "--concurrency", str(at_once)) as run:
        server.wait(answered + at_once)
        assert "Waiting for 3 answers under way" in interrupted(run, by)
        server.let_go()
        status, said = ended(run)
    assert status == code
    assert f"asks about the other {many - answered - at_once}" in said
    assert len(trails()) == answered + at_once == len(server.seen)
    server.does(decides())
    assert summary("--from", str(file))["asked"] == many - answered - at_once
    assert max(asked(server).values()) == 1


@unix
def test_a_second_ctrl_c_waits_for_no_answer(
    tmp_path: Path, server: Server, environ: dict[str, str]
) -> None:
    file = write(tmp_path / "rows.jsonl", routed(30))
    server.does(*[decides()] * 4, waits(decides()))
    with begun(file, environ, "--concurrency", "1") as run:
        server.wait(5)
        assert "Waiting for one answer under way" in interrupted(run, signal.SIGINT)
        run.send_signal(signal.SIGINT)
        status, said = ended(run)  # though the server has not answered
    server.let_go()
    assert status == 130
    assert "asks about the other 26" in said
    assert len(trails()) == 4


@unix
@pytest.mark.usefixtures("environ")
def test_rows_that_wait_for_their_turn_hold_no_end_up(tmp_path: Path, server: Server) -> None:
    file = write(tmp_path / "rows.jsonl", routed(3))
    server.does(interrupts(decides()))
    done = invoke("--from", str(file), "--rate", "0.001")  # the second goes 1,000 seconds later
    assert done.exit_code == 130
    assert len(trails()) == 1


# --- several at once ---------------------------------------------------------------------


def test_a_second_run_of_the_same_provider_is_told_of_the_first(
    tmp_path: Path, server: Server, environ: dict[str, str]
) -> None:
    """Else every row would be paid for twice. What the first has not asked is asked afterwards."""
    file = write(tmp_path / "rows.jsonl", routed(6))
    server.does(decides(), waits(decides()))
    with begun(file, environ, "--concurrency", "1") as run:
        server.wait(2)
        second = invoke("--from", str(file))
        assert second.exit_code == 2
        assert "another replay of jev into this journal is running" in second.stderr
        assert summary("--from", str(file), "--dry-run")["left"] == 5  # asks nothing, and may
        other = CliRunner().invoke(app, ["replay", "--provider", "local", "--from", str(file)])
        assert other.exit_code == 0, other.output
        run.kill()  # a lock does not outlive whoever held it
    server.let_go()
    server.does(decides())
    assert summary("--from", str(file))["asked"] == 5


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there")
def test_one_journal_by_two_names_is_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    first, second = (f"sqlite:///{tmp_path / name}" for name in ("there/a.db", "b.db"))
    with alone(first, "jev"):
        pass
    (tmp_path / "b.db").symlink_to(tmp_path / "there" / "a.db")
    with alone(first, "jev"), pytest.raises(SetupError, match="is running"), alone(second, "jev"):
        pytest.fail("two at once")


def test_a_server_keeps_two_runs_apart_too() -> None:
    """By schema, as the tables are; and a connection that is lost ends a lock and nothing else."""
    import psycopg

    url = postgres()
    with schema_of(url) as here, schema_of(url) as there:
        with contextlib.ExitStack() as first:
            for one in ((here, "jev"), (here, "local"), (there, "jev")):
                first.enter_context(alone(*one))
            with pytest.raises(SetupError, match="is running"), alone(here, "jev"):
                pytest.fail("two at once")
        named = f"replay-{secrets.token_hex(6)}"
        with alone(f"{here}&application_name={named}", "jev"):
            with psycopg.connect(url, autocommit=True) as connection:
                cut = connection.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                    " WHERE application_name = %s",
                    [named],
                )
                assert cut.fetchall() == [(True,)]
            with alone(here, "jev"):
                pass


# --- once more ---------------------------------------------------------------------------


@pytest.mark.usefixtures("environ")
def test_what_failed_for_a_passing_cause_is_asked_again_where_that_is_wanted(
    tmp_path: Path, server: Server
) -> None:
    """A file's rows; a reply that cannot be used is none of them: it would come again."""
    file = write(tmp_path / "rows.jsonl", routed(3))
    server.does(replies(encoded(failed("server_error")), 503), replies(b"{}"), decides())
    told = summary("--from", str(file), "--concurrency", "1")
    assert told["reasons"] == {"provider_error": 1, "malformed": 1}
    assert summary("--from", str(file))["asked"] == 0
    assert summary("--from", str(file), "--retry-failed", "--dry-run")["left"] == 1
    assert summary("--from", str(file), "--retry-failed")["believed"] == 1
    assert summary("--from", str(file), "--retry-failed")["asked"] == 0
    latest = Counter(one.shadows[-1].shadow.attempt.reason for one in trails())
    assert latest == {Reason.OK: 2, Reason.MALFORMED: 1}


def test_a_shadow_that_failed_may_be_asked_again_and_the_latest_answer_counts(
    environ: dict[str, str], server: Server
) -> None:
    """In a report, and where thresholds are calibrated."""
    server.does(replies(encoded(failed("server_error")), 503), decides())
    shadowed = {"DECISION_JOURNAL_CONTENT": "full", "DECISION_GUARDRAIL_TOX_SHADOW": "jev"}
    decided(environ, ["you idiot"], **shadowed)
    assert summary()["asked"] == 0
    assert summary("--retry-failed")["believed"] == 1
    assert summary("--retry-failed")["asked"] == 0
    (trail,) = trails()
    assert [one.shadow.source for one in trail.shadows] == ["live", "replay"]
    (seen,) = Reader().read([trail])
    assert seen.said["jev"].reason is Reason.OK
    (sample,) = collect([trail], Wanted("jev")).samples
    assert (sample.reason, sample.value) == (Reason.OK, True)


def test_who_failed_live_is_not_asked_again(environ: dict[str, str], server: Server) -> None:
    """What became of a decision is part of what is compared, and stays."""
    server.does(replies(encoded(failed("server_error")), 503), decides())
    live = {"DECISION_JOURNAL_CONTENT": "full", "DECISION_GUARDRAIL_TOX_PROVIDER": "jev"}
    decided(environ, ["a"], **live)
    assert summary("--retry-failed")["asked"] == 0


@pytest.mark.usefixtures("environ")
def test_an_answer_under_way_is_kept_where_another_is_turned_away(
    tmp_path: Path, server: Server
) -> None:
    """Whoever meets the fault ends the run, and not what others have paid for."""
    file = write(tmp_path / "rows.jsonl", routed(4))
    server.does(waits(decides()), turns_away_and_lets_go, decides())
    assert invoke("--from", str(file), "--concurrency", "2").exit_code == 2
    assert len(trails()) == 1
    server.does(decides())
    assert summary("--from", str(file))["asked"] == 3


# --- the parts ---------------------------------------------------------------------------


@given(
    rate=st.floats(0.5, 500.0),
    works=st.lists(st.floats(0.0, 3.0), min_size=2, max_size=40),
)
def test_the_pace_never_lets_two_rows_through_at_once(rate: float, works: list[float]) -> None:
    """Nothing is saved up in quiet times, and a late sleeper delays those after it."""
    now = 100.0
    gone: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    async def rows() -> None:
        nonlocal now
        pace = Pace(rate, lambda: now, sleep)
        for work in works:
            await pace.turn()
            gone.append(now)
            now += work

    asyncio.run(rows())
    between = [after - before for before, after in itertools.pairwise(gone)]
    assert min(between) >= 1 / rate - 1e-9


def paid(cost: float | None, reason: Reason = Reason.OK) -> Attempt:
    usage = None if cost is None else Usage(1, 0, cost)
    answers: dict[str, Any] = {"q": None} if reason is Reason.OK else {}
    return Attempt(provider="x", reason=reason, usage=usage, answers=answers)


@given(
    limit=st.floats(0.0, 1.0),
    cost=st.floats(0.001, 0.3),
    at_once=st.integers(1, 8),
)
def test_the_purse_is_never_overdrawn_where_answers_cost_alike(
    limit: float, cost: float, at_once: int
) -> None:
    async def spend() -> Purse:
        purse = Purse(limit)

        async def work() -> None:
            while await purse.leave():
                await asyncio.sleep(0)
                await purse.ended(paid(cost))

        await asyncio.gather(*(work() for _ in range(at_once)))
        return purse

    purse = asyncio.run(spend())
    first = cost if limit > 0 else 0.0  # nobody knows what the first one costs
    assert purse.spent <= max(limit, first) + 1e-9
    assert purse.spent + cost > limit or limit == 0


def test_a_cost_that_nobody_tells_holds_nobody_up() -> None:
    async def spend() -> Purse:
        purse = Purse(0.5)
        for _ in range(10):
            assert await purse.leave()
            await purse.ended(paid(None))
        return purse

    assert asyncio.run(spend()).unknown == 10


class Flaky:
    """A database that is down so many times."""

    def __init__(self, down: int) -> None:
        self.down = down
        self.batches: list[int] = []

    def write(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        if self.down:
            self.down -= 1
            raise StoreDown("another process holds its lock")
        self.batches.append(len(rows))
        return ()


def feedback() -> Iterator[FeedbackRow]:
    while True:
        yield FeedbackRow(id="a", of="b", at=0.0)


def written(store: Any, many: int, patience: float) -> list[BaseException | None]:
    async def run() -> list[BaseException | None]:
        writing = Writing(store, patience, sleep=lambda _: None)
        rows = feedback()
        return await asyncio.gather(
            *(writing.write([next(rows)]) for _ in range(many)), return_exceptions=True
        )

    return asyncio.run(run())


def test_a_journal_that_is_down_for_a_while_loses_nothing() -> None:
    store = Flaky(down=3)
    assert written(store, 8, patience=60) == [None] * 8
    assert sum(store.batches) == 8


def test_a_journal_that_stays_down_is_told_to_everybody() -> None:
    faults = written(Flaky(down=100), 3, patience=0)
    assert all(isinstance(one, SetupError) for one in faults)
    assert "another process holds its lock" in str(faults[0])


def test_what_nobody_waits_for_any_more_is_written_or_told_of() -> None:
    """Its asker was interrupted; a hurried run has no patience with a journal that is down."""

    async def left(store: Any) -> None:
        writing = Writing(store, patience=60, sleep=lambda _: None)
        writing.hurry()
        asker = asyncio.create_task(writing.write([next(feedback())]))
        await asyncio.sleep(0)
        asker.cancel()
        await writing.drained()

    there = Flaky(down=0)
    asyncio.run(left(there))
    assert there.batches == [1]
    with pytest.raises(SetupError, match="1 rows could not be written"):
        asyncio.run(left(Flaky(down=100)))
