"""`pointsman inbox`: what waits for a person, as a person sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from boxed import KEY, MAY, STATE, TEAM, escalating, items, may, ready, rows, team
from commanding import clean
from pointsman import Ask, Choice, DecisionPoint, HumanNeeded, Predicate, Score, When, scripted
from pointsman.gateway.cli.app import app
from pointsman.gateway.offering import OptionsFrom
from pointsman.gateway.questions import Question
from trialling import offering

URL = "sqlite:///.pointsman/journal.db"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in os.environ:
        if name.startswith("DECISION_"):
            monkeypatch.delenv(name)


def inbox(*args: str, env: Mapping[str, str] | None = None) -> Any:
    return CliRunner().invoke(app, ["inbox", *args], env=env)


def left(count: int = 1, **variables: str) -> list[str]:
    """Leave so many questions to a person, and give their ids."""
    ids: list[str] = []
    with offering({"DECISION_JOURNAL": ready(URL), **variables}) as gateway:
        for _ in range(count):
            with pytest.raises(HumanNeeded) as needed:
                may(gateway, subject="ana")
            ids.append(needed.value.id)
    return ids


def escalated(**variables: str) -> str:
    """Escalate one, which today decides meanwhile."""
    planned = {"DECISION_JOURNAL": ready(URL), "DECISION_TEAM_PROVIDER": "asks"}
    environ = {**planned, **variables}
    with offering(environ, asks=escalating()) as gateway:
        gateway.asks("TEAM", TEAM.questions)
        return team(gateway).record.id


# --- where there is nothing ----------------------------------------------------------------------


@pytest.mark.parametrize("args", [("list",), ("show", "1"), ("resolve", "1", "true")])
def test_without_a_journal_it_says_so_and_makes_none(args: tuple[str, ...], tmp_path: Path) -> None:
    run = inbox(*args)

    assert run.exit_code == 2
    assert "there is no journal yet" in run.stderr
    assert not list(tmp_path.iterdir())


def test_an_empty_inbox_says_so() -> None:
    with offering({"DECISION_JOURNAL": ready(URL)}) as gateway:
        team(gateway)

    run = inbox("list")
    assert (run.exit_code, run.stdout) == (0, "")
    assert run.stderr == "Nothing waits for a person.\n"
    assert inbox("list", "--json").stdout == ""


def test_one_that_was_emptied_says_where_the_rest_is() -> None:
    (id_,) = left()
    assert inbox("resolve", id_, "true").exit_code == 0

    assert "--all" in inbox("list").stderr
    assert id_[:16] in inbox("list", "--all").stdout


# --- list ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", ["80", "160"])
def test_what_waits_is_listed_the_oldest_first(width: str) -> None:
    """Who was tried, or what the provider says of it, and what was decided meanwhile."""
    (first,) = left()
    second = escalated()

    lines = inbox("list", env={"COLUMNS": width}).stdout.splitlines()

    assert all(len(line) <= int(width) for line in lines)
    text = " ".join(" ".join(lines).split())
    assert text.index(first[:16]) < text.index(second[:16])
    assert "APPROVAL" in text
    assert "conf<50," in text
    if width == "160":
        assert "nobody was asked" in text
        assert "nobody decided" in text
        assert "asks asks for a person: conf<50, value current: tech" in text


def test_a_point_and_the_open_ones_can_be_singled_out() -> None:
    first, second = left(2)
    third = escalated()
    inbox("resolve", first, "false", "--by", "bea")

    def listed(*args: str) -> list[str]:
        lines = inbox("list", "--json", *args).stdout.splitlines()
        return [json.loads(line)["entry"]["id"] for line in lines]

    assert listed() == [second, third]
    assert listed("--all") == [first, second, third]
    assert listed("--point", "approval") == [second]
    assert listed("--all", "--point", "APPROVAL") == [first, second]
    assert listed("--point", "NOTHING") == []
    assert "resolved by bea: false" in inbox("list", "--all", env={"COLUMNS": "200"}).stdout


# --- show ----------------------------------------------------------------------------------------


def test_one_is_shown_whole() -> None:
    """What is asked, why, what came of it so far, and how it is decided."""
    id_ = escalated()

    shown = inbox("show", id_[:16]).stdout

    assert all(len(line) <= 80 for line in shown.splitlines())
    for told in (
        "TEAM  waits for a person",
        id_,
        "because asks asks for a person: conf<50, value",
        "asks ended in abstained",
        "what was said: pointsman debate show run-7.jsonl",
        "run-7.jsonl",
        "current: tech",
        "Which team?",
        "billing  Amounts",
        f"pointsman inbox resolve {id_[:16]} …",
        "your own records know the decision",
    ):
        assert told in " ".join(shown.split()) or told in shown
    assert STATE not in shown


@pytest.mark.parametrize("content", ["none", "hash", "full"])
def test_the_state_is_shown_where_it_is_kept(content: str) -> None:
    (id_,) = left(DECISION_JOURNAL_CONTENT=content, DECISION_JOURNAL_REDACT="off")

    shown = inbox("show", id_).stdout

    assert (STATE in shown) is (content == "full")
    assert ("your own records" in " ".join(shown.split())) is (content != "full")
    assert ("(hash)" in shown) is (content != "none")


def test_what_would_steer_a_terminal_is_left_out() -> None:
    wicked = escalating({"reasons": ["\x1b[31mred"], "note": "\x1b]0;x\x07"})
    environ = {"DECISION_JOURNAL": ready(URL), "DECISION_TEAM_PROVIDER": "asks"}
    with offering(environ, asks=wicked) as gateway:
        id_ = team(gateway).record.id

    assert "\x1b" not in inbox("show", id_).stdout + inbox("list").stdout


def test_a_resolved_one_says_by_whom_and_why() -> None:
    (id_,) = left()
    inbox("resolve", id_, "yes", "--by", "bea", "--note", "seen the order")

    shown = inbox("show", id_).stdout

    for told in ("APPROVAL  true", "bea, 20", "seen the order"):
        assert told in shown
    assert "pointsman inbox resolve" not in shown
    item = json.loads(inbox("show", id_, "--json").stdout)
    assert item["resolution"]["by"] == "bea"
    assert item["resolution"]["value"] is True


@pytest.mark.parametrize("command", [("show",), ("resolve", "true")])
def test_an_id_is_known_by_its_beginning(command: tuple[str, ...]) -> None:
    first, second = left(2)
    name, *value = command
    both = first[: next(n for n in range(32) if first[n] != second[n])]

    several = inbox(name, both, *value)
    none = inbox(name, "ffff", *value)

    assert (several.exit_code, none.exit_code) == (2, 2)
    assert "several begin with" in several.stderr
    assert first in several.stderr
    assert second in several.stderr
    assert "no question's id begins with 'ffff'" in none.stderr
    assert inbox(name, "", *value).exit_code == 2
    assert inbox(name, first[: len(both) + 1].upper(), *value).exit_code == 0


# --- resolve -------------------------------------------------------------------------------------


def test_the_first_word_counts_and_the_second_is_told_whose() -> None:
    (id_,) = left()

    first = inbox("resolve", id_, "true", "--by", "bea")
    second = inbox("resolve", id_, "false")

    assert (first.exit_code, first.stdout) == (0, "✓ APPROVAL is true\n")
    assert (second.exit_code, second.stdout) == (1, "")
    assert "It was decided before by bea, 20" in second.stderr
    assert "APPROVAL is true" in second.stderr
    assert [json.loads(row["label"]) for row in rows(URL, "feedback")] == [True]


def test_who_decides_is_whoever_runs_it() -> None:
    (id_,) = left()

    assert inbox("resolve", id_, "true", env={"LOGNAME": "dora"}).exit_code == 0
    (item,) = items(URL)
    assert item.resolution is not None
    assert item.resolution.by == "dora"


def test_of_two_commands_at_once_one_is_first(tmp_path: Path) -> None:
    """Each is a process of its own; one of them is told that the other was first."""
    (id_,) = left()
    words = [
        [sys.executable, "-m", "pointsman", "inbox", "resolve", id_, one] for one in ("yes", "no")
    ]
    runs = [
        subprocess.Popen(one, env=clean({}), cwd=tmp_path, stdout=-1, stderr=-1, text=True)
        for one in words
    ]
    ends = [(run.communicate(), run.returncode) for run in runs]

    assert sorted(code for _, code in ends) == [0, 1], ends
    ((out, _), _), ((_, err), _) = sorted(ends, key=lambda one: one[1])
    (item,) = items(URL)
    assert item.resolution is not None
    counts = "true" if item.resolution.value else "false"
    assert out.endswith(f"APPROVAL is {counts}\n")
    assert f"APPROVAL is {counts}" in err


@pytest.mark.parametrize(
    ("value", "why"),
    [("maybe", "true or false"), ("name=true", "true or false"), ("", "true or false")],
)
def test_what_is_no_answer_is_told_with_what_would_be(value: str, why: str) -> None:
    (id_,) = left()

    run = inbox("resolve", id_, value)

    assert run.exit_code == 2
    assert why in run.stderr
    assert f"`pointsman inbox show {id_[:16]}`" in run.stderr
    assert [one.resolution for one in items(URL)] == [None]


@pytest.mark.parametrize(
    "words", [("-3",), ("heat=-3",), ("--by", "bea", "-3"), ("-3", "--by", "bea")]
)
def test_a_number_below_zero_is_a_value_and_no_option(words: tuple[str, ...]) -> None:
    (one,) = _asked({"heat": Score("How warm?", {"cold": "", "warm": ""}, low=-5, high=5)})

    done = inbox("resolve", one, *words)

    assert done.exit_code == 0, done.output
    assert [item.resolution.value for item in items(URL) if item.resolution] == [-3]


def test_an_option_that_there_is_not_is_told() -> None:
    (one,) = left()
    done = inbox("resolve", one, "true", "--nope", "x")

    assert done.exit_code == 2
    assert "--nope: there is no such option" in done.stderr
    assert not [item for item in items(URL) if item.resolution]


def test_a_name_that_is_answered_twice_is_refused() -> None:
    (one,) = _asked({"may": Predicate("May it?"), "to": Choice("Where to?", ["a", "b"])})
    done = inbox("resolve", one, "to=a", "may=true", "to=b")

    assert done.exit_code == 2
    assert "'to' is answered twice" in done.stderr


@pytest.mark.parametrize("command", [("list", "--json"), ("show", "ID", "--json")])
def test_what_would_steer_a_terminal_is_escaped_for_programs_too(command: tuple[str, ...]) -> None:
    """And is the same to a program."""
    said = "a\x1b[31m\x9b31m\u202eb\x7f"
    (one,) = _asked({"may": Predicate(f"May {said}?")})

    done = inbox(*(one if part == "ID" else part for part in command))

    assert all(char.isprintable() or char == "\n" for char in done.stdout)
    assert json.loads(done.stdout)["entry"]["questions"]["may"]["instructions"] == f"May {said}?"


def test_it_is_said_where_the_options_of_the_call_are_missing() -> None:
    """A state that cannot be sent: nobody knows what it offered."""
    desk = DecisionPoint(
        name="DESK",
        questions={"en": {"who": Choice("Who?", {"none": "Nobody"}, "none", open=True)}},
        reads=("text", "agents"),
        options={"who": OptionsFrom("agents", "name", "does")},
        on_undecided="human",
    )
    with offering({"DECISION_JOURNAL": ready(URL)}) as gateway:
        for text in (object(), "words"):
            agents = [{"name": "ana", "does": "Invoices"}]
            with pytest.raises(HumanNeeded):
                gateway.ask_sync(desk, {"text": text, "agents": agents})
    missing, whole = (inbox("show", item.entry.id).stdout for item in items(URL))

    assert "What this call offered is not known" in missing
    assert "What this call offered is not known" not in whole
    assert "ana" in whole


def _asked(questions: Mapping[str, Question]) -> list[str]:
    environ = {"DECISION_JOURNAL": ready(URL)}
    with offering(environ) as gateway, pytest.raises(HumanNeeded) as needed:
        gateway.ask_sync("ASKED", Ask(STATE, questions), on_undecided="human")
    return [needed.value.id]


def test_several_questions_are_answered_by_name() -> None:
    asked: dict[str, Question] = {
        "kind": Choice("What?", ["STAY", "MOVE"]),
        "to": Choice("Where?", ["a", "b"], when=When("kind", ("MOVE",))),
        "risk": Score("How risky?", ["low", "high"]),
        "sure": Predicate("Sure?", advisory=True),
    }
    with (
        offering({"DECISION_JOURNAL": ready(URL)}) as gateway,
        pytest.raises(HumanNeeded) as needed,
    ):
        gateway.ask_sync("SHIFT", Ask("x", asked), on_undecided="human")
    id_ = needed.value.id

    shown = inbox("show", id_).stdout
    assert "only where kind is MOVE" in shown
    assert "it may be left out" in shown
    assert "kind=… to=… risk=… sure=…" in shown
    assert "'to' needs an answer" in inbox("resolve", id_, "kind=MOVE", "risk=high").stderr
    run = inbox("resolve", id_, "kind=MOVE", "to=b", "risk=high")

    assert run.stdout == "✓ SHIFT is kind MOVE, to b, risk 1.0, sure –\n"
    (item,) = items(URL)
    assert item.resolution is not None
    assert item.resolution.value == {"kind": "MOVE", "to": "b", "risk": 1.0, "sure": None}


# --- what else shows it --------------------------------------------------------------------------


def test_the_journal_shows_and_forgets_it() -> None:
    """A resolution is what was found out later; what is forgotten or pruned is gone here too."""
    first, _ = left(2, DECISION_JOURNAL_KEY=KEY)
    inbox("resolve", first, "true")

    def journal(*args: str) -> Any:
        return CliRunner().invoke(app, ["journal", *args], env={"DECISION_JOURNAL_KEY": KEY})

    assert "label  true" in journal("show", first).stdout
    assert "2 questions to persons were removed too" in journal("forget", "ana", "--yes").stderr
    assert items(URL) == []
    left()
    pruned = journal("prune", "--older-than", "0h", "--yes").stderr
    assert "1 questions to persons were removed too" in pruned


def test_a_plan_says_how_long_a_person_is_waited_for() -> None:
    def explained(**variables: str) -> str:
        args = ["points", "ROUTER", "--explain"]
        out: str = CliRunner().invoke(app, args, env=variables).stdout
        return " ".join(out.split())

    assert "a person" not in explained()
    waits = explained(DECISION_ROUTER_INBOX_WAIT_SECONDS="90")
    assert "is waited for, 90 s DECISION_ROUTER_INBOX_WAIT_SECONDS" in waits


def test_a_program_that_leaves_questions_without_a_journal_is_told(tmp_path: Path) -> None:
    """The command loads it; its fault is the operator's, and no traceback."""
    (tmp_path / "desk.py").write_text(
        "from pointsman import Gateway, Guard, Predicate\n"
        "gateway = Gateway.from_env()\n"
        "Guard(gateway, 'RAIL', Predicate('Is it unsafe?'), on_undecided='human')\n"
    )
    words = [sys.executable, "-m", "pointsman", "--app", "desk:gateway", "points"]
    run = subprocess.run(
        words, env=clean({}), cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert run.returncode == 2
    assert "RAIL is left to a person" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_question_of_no_words_is_shown() -> None:
    """What a predicate means where it says no more than its question."""
    environ = {"DECISION_JOURNAL": ready(URL), "DECISION_APPROVAL_PROVIDER": "no"}
    with offering(environ, no=scripted()) as gateway, pytest.raises(HumanNeeded) as needed:
        may(gateway)

    shown = inbox("show", needed.value.id).stdout
    assert MAY.questions["may"].instructions in shown
    assert "no ended in refused" in shown
    assert "  true" in shown
