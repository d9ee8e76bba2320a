"""The demo: three passes whose numbers are those of the run, readable at any width."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman import Reason
from pointsman.decision_points.demo.command import command_name
from pointsman.decision_points.demo.conversation import INTENTS, conversation, meant
from pointsman.decision_points.demo.desk import Desk, Replay
from pointsman.decision_points.demo.passes import POINTS, down, reasons, switched, tally
from pointsman.decision_points.demo.show import NEXT

COMMAND = "from pointsman.gateway.cli import main; main()"


@pytest.fixture(scope="module")
def first() -> Replay:
    """The pass in which today's functions decide."""
    return Desk({}).replay(conversation())


@pytest.fixture(scope="module")
def then() -> Replay:
    """The pass with one variable changed."""
    return Desk(switched({}, "local")).replay(conversation())


def shell(command: str, columns: int | None = 80) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DECISION_", "LOCAL_"))}
    folder = os.path.dirname(sys.executable)  # noqa: PTH120 - of the path as it stands
    width = "" if columns is None else str(columns)
    env = {**kept, "COLUMNS": width, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(  # noqa: S602 - commands as the demo prints them, for a shell
        command, shell=True, env=env, capture_output=True, text=True, check=False, timeout=100
    )


def test_the_conversation_is_what_it_says() -> None:
    turns = conversation()
    assert len(turns) == 40
    assert {turn.language for turn in turns} == {"en", "pt"}
    notes = {*INTENTS, "fallback", "continue", "human", "end", "attack"}
    assert {turn.meant for turn in turns} <= notes
    assert {turn.active for turn in turns} <= {*INTENTS, ""}
    assert meant(turns[0], "JUDGE_RQLT") is None


def test_every_pass_is_asked_the_same_questions(first: Replay, then: Replay) -> None:
    assert list(first.by_place()) == list(then.by_place())
    assert {place[1] for place in first.by_place()} == set(POINTS)


def test_the_first_pass_is_the_desk_s_own_functions(first: Replay) -> None:
    assert {made.decision.provider for made in first.made} == {"current"}
    assert reasons(first) == {}


def test_the_switch_moves_decisions_and_keeps_the_gate(first: Replay, then: Replay) -> None:
    """What is too unsure falls back; what was believed is above the threshold."""
    assert {made.decision.record.variant for made in then.made} == {"local"}
    for made in then.made:
        attempt = made.decision.attempts[0]
        assert (attempt.reason is Reason.OK) == (made.decision.provider == "local")
        assert (attempt.confidence >= 0.7) == (attempt.reason is Reason.OK)
        assert len(made.decision.attempts) == (1 if attempt.reason is Reason.OK else 2)
    router = tally(first, then, "ROUTER")
    assert router.took > 0
    assert router.after >= router.before
    for judged in ("GUARDRAIL_PINJ", "JUDGE_RQLT"):
        assert tally(first, then, judged).took == 0


def test_a_provider_that_is_down_changes_no_outcome(first: Replay) -> None:
    fallen = Desk(down()).replay(conversation())
    assert reasons(fallen) == {"transport": 5, "breaker_open": len(fallen.made) - 5}
    assert [one.decision.value for one in fallen.made] == [one.decision.value for one in first.made]
    assert all(len(made.decision.attempts) == 2 for made in fallen.made)


@pytest.mark.parametrize("columns", [80, 120])
def test_it_reads_well_at_any_width(columns: int, first: Replay) -> None:
    done = shell(f'{sys.executable} -c "{COMMAND}" demo', columns)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    tables = done.stdout.partition("Try next")[0]
    assert max(map(len, tables.splitlines())) <= columns
    assert "\x1b" not in done.stdout
    assert done.stdout.count(f"{len(first.made)} decisions in") == 3
    assert re.search(r"transport +5\n", done.stdout)
    for point in POINTS:
        assert tables.count(point) >= 2


def test_a_pipe_gets_whole_lines_and_commands_that_can_be_copied() -> None:
    """Without a width nothing is wrapped; commands are in ASCII, as a shell takes them."""
    done = shell(f'{sys.executable} -c "{COMMAND}" demo --provider current', None)
    assert done.returncode == 0, done.stderr
    tables, _, steps = done.stdout.partition("Try next")
    assert not re.search(r" \n", tables)
    assert all(command in steps for command, _ in NEXT)
    assert all(command.isascii() for command, _ in NEXT)
    assert "That is why" not in tables  # no point did better or worse
    for took, asked, right in re.findall(r"decided (\d+) of (\d+) choices, (\d+) of", tables):
        assert int(right) <= int(took) <= int(asked)


def test_a_command_is_named_as_the_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / "my venv" / "bin"
    for folder in (scripts, tmp_path / "other"):
        folder.mkdir(parents=True)
        (folder / "pointsman").write_text("#!/bin/sh\n")
        (folder / "pointsman").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(scripts))
    monkeypatch.setenv("PATH", str(scripts))
    assert command_name() == "pointsman"
    for path in ("", str(tmp_path / "other")):  # none, and another one
        monkeypatch.setenv("PATH", path)
        assert command_name() == "'my venv/bin/pointsman'"
    monkeypatch.chdir(scripts)
    assert command_name() == "./pointsman"


@pytest.mark.parametrize("command", [command for command, _ in NEXT[:3]])
def test_what_it_says_to_try_next_works(command: str) -> None:
    done = shell(command)
    assert done.returncode == 0, done.stderr
    assert "ROUTER" in done.stdout


def test_an_unknown_provider_is_told_in_a_sentence() -> None:
    done = shell(f'{sys.executable} -c "{COMMAND}" demo --provider nobody')
    assert done.returncode == 2
    assert "--provider: no provider 'nobody' is installed" in done.stderr
    assert done.stdout == ""


# --- examples -------------------------------------------------------------------------------

PICK = Path(__file__).parent.parent / "examples" / "pick_examples.py"


def picked(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PICK), *args], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.source
def test_examples_are_picked_from_a_csv_or_nothing_is_written(tmp_path: Path) -> None:
    rows, target = tmp_path / "rows.csv", tmp_path / "picked" / "ROUTER.jsonl"
    assert "usage:" in picked().stderr
    rows.write_text("text,intent\nolá,a\n", "utf-8")
    assert "there is no column 'label'" in picked(str(rows), "1", str(target)).stderr
    assert not target.exists()
    rows.write_text("text,label\nolá,a\nhello,a\nbye,b\n", "utf-8")
    assert picked(str(rows), "1", str(target)).returncode == 0
    assert [json.loads(line)["text"] for line in target.read_text("utf-8").splitlines()] == [
        "olá",
        "bye",
    ]
