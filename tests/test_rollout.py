"""The rollout of the documents: its program, its commands, and what the story rests on."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from pointsman.gateway.certificates import read
from pointsman.gateway.cli.app import app
from pointsman.gateway.errors import Reason
from pointsman.gateway.journal.rows import Trail
from pointsman.gateway.journal.store import Store

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "rollout.md"

SHADOWED, FEW, LIVE = range(150), range(40), range(150, 210)
RISK = 0.3  # what so few labels can certify of a model with so few examples

pytestmark = pytest.mark.source


def module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{file.parent.name}_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """What writes the document."""
    return module(ROOT / "tools" / "rollout.py")


# --- the story, small --------------------------------------------------------------------


class Story(NamedTuple):
    """What came of it: the journal, two calibrations, and what was certified."""

    shadowed: list[Trail]
    live: list[Trail]
    refused: subprocess.CompletedProcess[str]
    made: subprocess.CompletedProcess[str]
    minimum: float


def calibrated(folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pointsman", "--app", "rollout:gateway"]
    wanted = ["calibrate", "BANKING", "--provider", "local", "--risk", str(RISK)]
    return subprocess.run(
        [*command, *wanted],
        cwd=folder,
        env={**os.environ, **env, "COLUMNS": "100"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=100,
    )


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Shadow, label, certify and split a part of the rows, with two examples of each label."""
    data = os.environ.get("POINTSMAN_DATA")
    if not data:
        pytest.skip("POINTSMAN_DATA does not name the folder of the test sets")
    folder = tmp_path_factory.mktemp("rollout")
    shutil.copy(EXAMPLES / "rollout.py", folder)
    picker = module(EXAMPLES / "pick_examples.py")
    picker.main(f"{data}/banking77/train.csv", 2, str(folder / "examples" / "BANKING.jsonl"))
    env = {
        "POINTSMAN_DATA": str(Path(data).resolve()),
        "DECISION_LOG": "off",
        "DECISION_JOURNAL": "sqlite:///rollout.db",
        "LOCAL_EXAMPLES": "examples",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in {**env, "DECISION_BANKING_SHADOW": "local"}.items():
            patch.setenv(name, value)
        yield played(module(folder / "rollout.py"), folder, env)


def played(rollout: Any, folder: Path, env: Mapping[str, str]) -> Story:
    with rollout.gateway:
        rollout.play(SHADOWED)
    with rollout.gateway:
        rollout.tell(FEW)
    refused = calibrated(folder, env)
    with rollout.gateway:
        rollout.tell(SHADOWED)
    made = calibrated(folder, env)
    (certificate,) = read(folder / "thresholds.json").certificates
    assert certificate.used is not None
    assert certificate.used.minimum is not None
    split = {
        "DECISION_THRESHOLDS": "thresholds.json",
        "DECISION_BANKING_PROVIDER": "current:50,local:50",
    }
    rollout.gateway.reload({**os.environ, **env, "DECISION_BANKING_SHADOW": "", **split})
    with rollout.gateway:
        rollout.play(LIVE)
    store = Store.open("sqlite:///rollout.db")
    trails = list(store.trails(point="BANKING"))
    store.close()
    ends = len(SHADOWED)
    return Story(trails[:ends], trails[ends:], refused, made, certificate.used.minimum)


@pytest.mark.slow
def test_each_decision_has_one_shadow_and_stays_with_current(story: Story) -> None:
    """The shadow is written beside what was decided, and changes none of it."""
    assert len(story.shadowed) == len(SHADOWED)
    for trail in story.shadowed:
        (row,) = trail.shadows
        assert trail.decision.record.provider == "current"
        assert row.shadow.provider == "local"
        assert row.shadow.beside == trail.decision.record.outcome
    assert any(one.shadows[0].shadow.outcome != one.shadows[0].shadow.beside for one in story[0])


@pytest.mark.slow
def test_too_few_labels_certify_nothing(story: Story) -> None:
    """Below 50 labels nothing is said, below 200 provisionally."""
    assert story.refused.returncode == 1
    assert "40 labelled answers; below 50 nothing can be said" in story.refused.stderr
    assert re.search("^provisional +150 labelled answers", story.made.stdout, re.MULTILINE)
    assert story.made.returncode == 0


@pytest.mark.slow
def test_the_certified_threshold_is_the_one_that_counts(story: Story) -> None:
    asked = [one.decision.record for one in story.live if one.decision.record.variant == "local"]
    assert {record.attempts[0].minimum for record in asked} == {story.minimum}
    for record in asked:
        believed = record.attempts[0].confidence >= story.minimum
        assert (record.attempts[0].reason is Reason.OK) == believed
        assert record.provider == ("local" if believed else "current")


@pytest.mark.slow
def test_a_fallback_keeps_its_arm(story: Story) -> None:
    """Otherwise the candidate would be judged by its easy messages alone."""
    records = [one.decision.record for one in story.live]
    assert len(records) == len(LIVE)
    assert {record.variant for record in records} == {"current", "local"}
    assert all(record.exposure is not None for record in records)
    fell = [record for record in records if record.fallback]
    assert fell
    assert {(one.variant, one.provider, one.reason) for one in fell} == {
        ("local", "current", Reason.LOW_CONFIDENCE)
    }


# --- the program without the data --------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program over made-up messages, as many as the test set has."""
    folder = tmp_path / "banking77"
    folder.mkdir()
    labels = [f"label_{number}" for number in range(77)]
    (folder / "descriptions.json").write_text(json.dumps({one: one for one in labels}), "utf-8")
    rows = [f"message {number},{labels[number % 77]}" for number in range(3080)]
    (folder / "test.csv").write_text("\n".join(["text,label", *rows, ""]), "utf-8")
    for name in os.environ:
        if name.startswith(("DECISION_", "LOCAL_", "JEV_", "CURRENT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("POINTSMAN_DATA", str(tmp_path))
    monkeypatch.setenv("DECISION_LOG", "off")
    monkeypatch.chdir(tmp_path)
    return module(EXAMPLES / "rollout.py")


def test_todays_path_is_wrong_as_often_as_it_says_and_always_alike(small: Any) -> None:
    """The noise is drawn once for each message, so that two runs can be compared."""
    first = [small.route(message.text) for message in small.MESSAGES]
    assert first == [small.route(message.text) for message in small.MESSAGES]
    wrong = sum(
        label != message.label for label, message in zip(first, small.MESSAGES, strict=True)
    )
    assert abs(wrong / len(first) - small.NOISE) < 0.02
    assert set(first) == set(small.INTENTS)


def test_without_variables_current_decides_and_nothing_is_written(
    small: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with small.gateway:
        small.play(range(20))
    assert capsys.readouterr().out == "20 messages: current 20\n"
    assert sorted(one.name for one in Path().iterdir()) == ["banking77", "handled.csv"]


def test_labels_are_told_about_the_latest_decision_of_a_message(
    small: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message that was routed twice is labelled once, in the journal and in the file."""
    monkeypatch.setenv("DECISION_JOURNAL", "sqlite:///rollout.db")
    small.gateway.reload()
    with small.gateway:
        small.play(range(10))
        small.play(range(5))
        small.tell(range(5))
        small.write(range(10), Path("labels.jsonl"))
    said = capsys.readouterr().out
    assert "5 labels told; routed right: " in said
    assert "labels.jsonl: 10 labels" in said

    store = Store.open("sqlite:///rollout.db")
    trails = list(store.trails(point="BANKING"))
    store.close()
    told = [len(one.feedback) for one in trails]
    assert told == [0] * 10 + [1] * 5
    lines = [json.loads(line) for line in Path("labels.jsonl").read_text("utf-8").splitlines()]
    ids = [one.decision.record.id for one in trails]
    assert {one["id"] for one in lines} == set(ids[5:])


# --- the document ------------------------------------------------------------------------


def commands(tool: Any) -> list[str]:
    blocks = tool.BLOCK.finditer(PAGE.read_text("utf-8"))
    return [one.shell for block in blocks for one in tool.commands(block["body"])]


def test_every_command_of_the_document_can_be_given(tool: Any, small: Any) -> None:
    """Every sub-command, option and argument exists; none of them is run."""
    counted: Counter[str] = Counter()
    for shell in commands(tool):
        words = [one for one in shlex.split(shell) if not re.match(r"[A-Z_]+=", one)]
        counted[words[0]] += 1
        if words[0] == "pointsman":
            done = CliRunner().invoke(app, [*words[1:], "--help"])
            assert done.exit_code == 0, f"{shell}\n{done.output}"
        elif words[:2] == ["python", "rollout.py"]:
            small.options().parse_args(words[2:])
        elif words[0] == "python":
            assert (EXAMPLES / words[1]).is_file()
            assert len(words[2:]) == 3
    assert set(counted) == {"pointsman", "python", "export"}
    assert counted["pointsman"] > 5


def test_every_block_was_run(tool: Any) -> None:
    """A block that the tool does not see would keep what somebody once wrote."""
    page = PAGE.read_text("utf-8")
    blocks = [*tool.BLOCK.finditer(page)]
    assert len(blocks) == page.count("```console")
    assert page.count("<!-- shows:") == sum(bool(block["shows"]) for block in blocks)
    for block in blocks:
        *_, last = tool.commands(block["body"])
        assert not block["shows"] or tool.LEFT_OUT in last.printed
        for one in tool.commands(block["body"]):
            assert one.printed or one.shell.startswith("export "), one.shell


def test_what_the_document_shows_of_the_program_is_the_program() -> None:
    program = (EXAMPLES / "rollout.py").read_text("utf-8")
    shown = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert shown
    for part in shown:
        assert part in program


def test_figures_stand_in_what_was_printed_and_nowhere_else(small: Any) -> None:
    """Prose knows what was put in: how many labels, how much noise, which confidence."""
    prose = re.sub(r"^```.*?^```$", "", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^## \d|<!--.*?-->|`[^`]*`", "", prose, flags=re.MULTILINE)
    put_in = {str(len(small.INTENTS)), f"{100 * small.NOISE:g}", "95"}
    licence = {"2020", "4.0"}
    assert set(re.findall(r"(?<!\w)\d[\d.,]*\d|(?<!\w)\d", prose.replace("BANKING77", ""))) <= (
        put_in | licence
    )


@pytest.mark.parametrize(
    ("shows", "kept"),
    [
        (None, ["a 1", "", "b 2", "c 3", "d 4"]),
        ("a .. b", ["a 1", "[…]"]),
        ("b ..", ["[…]", "b 2", "c 3", "d 4"]),
        ("a +1; c +1", ["a 1", "[…]", "c 3", "[…]"]),
        ("b .. c; c ..", ["[…]", "b 2", "c 3", "d 4"]),
    ],
)
def test_what_is_left_out_is_marked(tool: Any, shows: str | None, kept: list[str]) -> None:
    assert [*tool.shown(["a 1", "", "b 2", "c 3", "d 4"], shows)] == kept


def test_a_part_that_is_printed_no_more_is_missed(tool: Any) -> None:
    with pytest.raises(SystemExit, match="nothing printed begins with 'e'"):
        [*tool.shown(["a 1"], "a .. e")]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("p50 1.20 ms [1.1–1.4]  right 79.8 %", "p50 13 ms right 79.8 %", True),
        ("p50 1.20 ms", "p50 1.20 ms\n   [1.1–1.4]", True),
        ("on 2026-11-30, rows cd93ed08bd26", "on 2026-12-01, rows a24850294b0f", True),
        ("right 79.8 %", "right 79.9 %", False),
        ("74 of 811", "75 of 811", False),
    ],
)
def test_a_check_passes_over_times_and_ids_alone(
    tool: Any, before: str, after: str, *, same: bool
) -> None:
    assert (tool.steady(f"{before}\n") == tool.steady(f"{after}\n")) is same
