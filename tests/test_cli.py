"""The command: what it prints, where it stops, and that a killed run loses nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from faulty import Server, replies
from pointsman.decision_points import pointsman_points
from pointsman.gateway.cli.app import app
from pointsman.gateway.cli.run import _interrupted
from pointsman.gateway.cli.summary import coverage, is_right

VECTORS = Path(__file__).parent / "vectors" / "decision-points.jsonl"
PYTHON = (sys.executable, "-m", "pointsman.gateway.cli")
POINTS = tuple(point.name for point in pointsman_points())
OWN_LINES = {f"DECISION_{name}_PROVIDER": "current" for name in POINTS}
OPTIONS = {
    "billing": "Invoices, bills, charges, payments and refunds",
    "internet": "The internet connection or wifi is slow or does not work",
    "delivery": "Where a parcel is, when it arrives",
}
MANY = ",".join(map(str, range(255)))
REFUND = "please refund the charge on my bill"
ROWS = [
    ("my invoice is too high this month", "billing"),
    ("the wifi is slow at home", "internet"),
    ("where is my parcel", "delivery"),
    ("refund the charge on my bill", "billing"),
]

# A program of a user: two points, one of them the catalogue's, and a slow provider of its own.
SHOP = """
import asyncio, os, pathlib
from pointsman import Choice, Chosen, Gateway, Limits, Offer, Reply, hookimpl

ASKED = pathlib.Path(os.environ.get("SHOP_ASKED", "asked.txt"))

class Slow:
    name, limits = "slow", Limits()

    async def answer(self, ask, call):
        await asyncio.sleep(float(os.environ.get("SHOP_SECONDS", "0")))
        with ASKED.open("a") as asked:
            asked.write(ask.text + "\\n")
        (name, question), = ask.questions.items()
        return Reply({name: Chosen(next(iter(question.options)), None, 0.9)})

class Plugin:
    @staticmethod
    @hookimpl
    def pointsman_providers():
        return [Offer("slow", lambda: lambda setup: Slow())]

gateway = Gateway.from_env(plugins=[Plugin])

@gateway.point("TEAM", Choice("Who takes it?", ["billing", "tech"]))
def team(message: str) -> str:
    return "tech"
"""


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in os.environ:
        if name.startswith(("DECISION_", "LOCAL_", "JEV_", "CURRENT_", "AI_GATEWAY_")):
            monkeypatch.delenv(name)


def invoke(*args: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Any:
    return CliRunner().invoke(app, args, env=env, input=stdin)


def process(*args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PYTHON, *args],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A small CSV with labels, and its options beside it."""
    file = tmp_path / "rows.csv"
    file.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS))
    (tmp_path / "options.json").write_text(json.dumps(OPTIONS))
    return file


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A program of a user, and eight rows for it."""
    (tmp_path / "shop.py").write_text(SHOP)
    lines = [json.dumps({"text": f"message {number}"}) for number in range(8)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*args: str, env: Mapping[str, str] | None = None) -> Any:
    return invoke("run", *args, env={"DECISION_PROVIDER": "local", **(env or {})})


def lines_of(path: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()[1:]]


ROUTED = ("rows.csv", "--point", "ROUTER", "--options", "options.json", "--out", "out.jsonl")


# --- the frame -----------------------------------------------------------------------------


def test_help_names_every_sub_command_and_those_of_plug_ins() -> None:
    """`demo` comes through the hook, as a stranger's would."""
    result = invoke("--help")
    assert result.exit_code == 0
    for name in ("points", "ask", "run", "doctor", "demo"):
        assert name in result.stdout


def test_version() -> None:
    result = invoke("--version")
    assert result.stdout.startswith("pointsman ")
    assert result.exit_code == 0


@pytest.mark.parametrize("absent", ["typer", "rich"])
def test_without_the_extra_it_says_what_to_install(absent: str) -> None:
    """The base install has the script, too."""
    code = (
        f"import sys; sys.modules[{absent!r}] = None; "
        "from pointsman.gateway.cli import main; sys.argv = ['pointsman', 'points']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert 'pip install "pointsman[cli]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_all_faults_are_told_at_once_without_a_traceback() -> None:
    done = process("points", env={"DECISION_PROVIDER": "lokal", "DECISION_ROUTER_PROVIDER": "jev"})
    assert done.returncode == 2
    assert "DECISION_PROVIDER" in done.stderr
    assert "Did you mean local?" in done.stderr
    assert "AI_GATEWAY_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plug_in_s_command_is_mounted_and_a_broken_one_is_a_warning(tmp_path: Path) -> None:
    """Two strangers, installed as distributions: one greets, the other cannot be loaded."""
    installed(tmp_path, "good", "import typer\n" + GREETS)
    installed(
        tmp_path, "bad", GREETS.replace("    app =", "    raise OSError; app =").replace("hi", "ho")
    )
    env = {"PYTHONPATH": str(tmp_path)}

    greeted, listed = process("hi", env=env), process("--help", env=env)

    assert greeted.stdout == "hello from good\n"
    assert listed.returncode == 0
    assert listed.stderr.count("ho: cannot be loaded (OSError)") == 1
    assert process("ho", env=env).returncode == 2
    assert process("hi", env={**env, "DECISION_PLUGINS": "bad"}).returncode == 2


GREETS = '''
from pointsman import hookimpl

def make():
    app = typer.Typer()

    @app.command()
    def hi() -> None:
        """Greet."""
        typer.echo(f"hello from {__name__}")

    return app

@hookimpl
def pointsman_commands():
    return {"hi": make}
'''


def installed(site: Path, name: str, code: str) -> None:
    (site / f"{name}.py").write_text(code)
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[pointsman]\n{name} = {name}\n")


def test_python_m_pointsman_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pointsman", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("pointsman ")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("utf16.env", "A=1\n".encode("utf-16"), "it is not UTF-8 (byte 0)"),
        (".", None, "it is no regular file"),
        ("missing.env", None, "there is no such file"),
    ],
)
def test_wrong_files_of_variables_are_told(name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        Path(name).write_bytes(content)
    result = invoke("--env-file", name, "points")
    assert result.exit_code == 2
    assert f"{name}: {said}" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full disk for tests")
@pytest.mark.parametrize("args", [("points",), ("--version",)])
def test_output_that_cannot_be_written_is_told(args: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PYTHON, *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_closed_standard_input_is_told() -> None:
    """A shell closes it with `<&-`."""
    code = (
        "import sys; sys.stdin = None; sys.argv = ['pointsman', 'ask', 'GUARDRAIL_PINJ']; "
        "from pointsman.gateway.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "nothing is asked about" in done.stderr


# --- points --------------------------------------------------------------------------------


def test_points_names_the_variable_that_decided() -> None:
    env = {"DECISION_ROUTER_PROVIDER": "local", "DECISION_ROUTER_MIN_CONFIDENCE": "0.85"}
    result = invoke("points", env=env)
    assert result.exit_code == 0
    for said in ("local", "DECISION_ROUTER_PROVIDER", "0.85", "DECISION_ROUTER_MIN_CONFIDENCE"):
        assert said in result.stdout
    assert "stands in" in result.stderr


@pytest.mark.parametrize("columns", ["", "40", "80", "120"])
def test_no_name_is_broken_at_any_width(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal, and without a width that was set, nothing is wrapped or padded."""
    monkeypatch.setenv("COLUMNS", columns)
    env = {
        "DECISION_ROUTE_CONTINUITY_PROVIDER": "local",
        "DECISION_ROUTE_CONTINUITY_MIN_CONFIDENCE": "0.8",
    }
    result = invoke("points", env=env)
    for name in ("ROUTE_CONTINUITY", "GUARDRAIL_PINJ", *env):
        assert re.search(rf"(?<!\w){name}(?!\w)", result.stdout)
    assert not re.search(r" \n", result.stdout)
    assert len(result.stderr.splitlines()) == 1


def test_points_as_json() -> None:
    result = invoke("points", "ROUTER", "--json", env={"DECISION_PROVIDER": "local"})
    (point,) = json.loads(result.stdout)["points"]
    assert point["provider"] == "local"
    assert point["minimum"] == 0.7
    assert point["why"]["provider"] == "DECISION_PROVIDER"
    assert point["why"]["minimum"] == "default"


def test_the_command_reads_dotenv_and_says_so(tmp_path: Path) -> None:
    """The library does not; the environment wins over the file."""
    (tmp_path / ".env").write_text("DECISION_ROUTER_PROVIDER=local\n")
    explained = invoke("points", "router", "--explain").stdout
    assert "DECISION_ROUTER_PROVIDER (.env)" in explained
    won = invoke("points", "ROUTER", "--json", env={"DECISION_ROUTER_PROVIDER": "current"})
    assert json.loads(won.stdout)["points"][0]["provider"] == "current"
    (tmp_path / "other").write_text("")
    other = invoke("--env-file", "other", "points", "ROUTER", "--json")
    assert json.loads(other.stdout)["points"][0]["provider"] == "current"


def test_explain_shows_questions_chain_and_safe_outcome() -> None:
    said = invoke("points", "ROUTER", "--explain").stdout
    for part in ("Which of these intents", "(sentinel)", "allowed_intents", "in doubt"):
        assert part in said


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("ROUTE_CONTINUITY", "0.90"),  # the host's own threshold
        ("ROUTE_CONTINUITY", "'CONTINUE' is offered only with 'active_agent'"),
        ("ROUTER", "a call with others of routing"),
        ("GLOBAL_SUPERVISOR", "it is always asked alone"),
        ("JUDGE_ALUC", "also called JUDGE_GROUNDEDNESS"),
        ("JUDGE_GROUNDEDNESS", "DECISION_JUDGE_GROUNDEDNESS_PROVIDER → DECISION_JUDGE_ALUC_"),
        ("JUDGE_LLM_JUDGE", "every other JUDGE_<NAME>"),
        ("GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK", "inherits from GUARDRAIL_DLEX_OUT"),
        ("MULTI_INTENT", "Asked for each entry of 'goals'"),
        ("TRANSACTION_INTENT_SHIFT", "Counts only if 'kind' is 'REPLACE' or 'SHIFT' or 'ABANDON'"),
        ("GUARDRAIL_FRASEOLOGIA", "Advisory"),
        ("GUARDRAIL_DLEX_OUT", "Asked only where the state has 'expected_protocols_masked'"),
        ("WORKFLOW_EXPECTED_INPUT", "allowed"),  # where options come from a function
        ("JUDGE_RQLT", "excellent"),
    ],
)
def test_explain_says_what_is_special_about_a_point(point: str, said: str) -> None:
    assert said in " ".join(invoke("points", point, "--explain").stdout.split())


def test_explain_in_portuguese() -> None:
    portuguese = invoke("points", "ROUTER", "--explain", env={"DECISION_LANGUAGE": "pt"}).stdout
    assert "Qual destas intenções" in portuguese


def test_explain_covers_every_point() -> None:
    result = invoke("points", "--explain")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line for line in lines if line in POINTS] == list(POINTS)


def test_an_unknown_point_suggests_the_nearest() -> None:
    result = invoke("points", "ROUTR")
    assert result.exit_code == 2
    assert "Did you mean ROUTER?" in result.stderr


def test_misspelt_variables_are_told_and_an_error_under_strict() -> None:
    env = {"DECISION_RUOTER_PROVIDER": "local"}
    warned = invoke("points", env=env)
    assert warned.exit_code == 0
    assert "Did you mean" in warned.stderr
    assert "DECISION_ROUTER_PROVIDER" in warned.stderr
    strict = invoke("points", env={**env, "DECISION_STRICT": "true"})
    assert strict.exit_code == 2
    assert "ROUTER" in strict.stdout


# --- ask -----------------------------------------------------------------------------------


def test_ask_with_words_and_options() -> None:
    args = ("ask", "ROUTER", "--text", REFUND, "--options", "options.json")
    Path("options.json").write_text(json.dumps(OPTIONS))
    result = invoke(*args, "--provider", "local")
    assert result.exit_code == 0, result.output
    assert "ROUTER" in result.stdout
    assert "billing" in result.stdout
    assert result.stderr == ""
    record = json.loads(invoke(*args, "--provider", "local", "--json").stdout)
    assert record["variant"] == "local"
    assert record["attempts"][0]["answers"]["intent"]["value"] == "billing"


def test_ask_takes_its_state_from_a_file_or_from_standard_input() -> None:
    state = {
        "message": REFUND,
        "allowed_intents": [
            {"intent": name, "description": text} for name, text in OPTIONS.items()
        ],
    }
    Path("state.json").write_text(json.dumps(state))
    filed = invoke("ask", "ROUTER", "--state", "state.json", "--json")
    piped = invoke("ask", "ROUTER", "--json", stdin=json.dumps(state))
    for result in (filed, piped):
        assert json.loads(result.stdout)["attempts"][0]["answers"]["intent"]["value"] == "billing"


STATES = {
    one["point"]: one["state"]
    for one in map(json.loads, VECTORS.read_text("utf-8").splitlines())
    if one["language"] == "en"
}
BACKENDS = [
    {"id": "support", "description": "Faults, network, connection"},
    {"id": "accounts", "description": "Bills, payments, disputes"},
]


@pytest.mark.parametrize("point", STATES)
def test_ask_takes_the_state_of_every_point(point: str) -> None:
    """What a host holds at that point, as it is; nothing in it is reported as useless."""
    state = STATES[point] | ({"backends": BACKENDS} if point == "GLOBAL_SUPERVISOR" else {})
    Path("state.json").write_text(json.dumps(state))
    result = invoke("ask", point, "--state", "state.json", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["attempts"][0]["reason"] in ("ok", "low_confidence", "abstained")
    assert invoke("ask", point, "--state", "state.json").exit_code == 0


def test_ask_takes_the_supervisor_s_backends_as_options() -> None:
    """They are no part of what is sent; "none of these" is the point's own, and abstains."""
    args = ("ask", "GLOBAL_SUPERVISOR", "--text", "the wifi connection is slow and does not work")
    Path("options.json").write_text(json.dumps(OPTIONS))
    record = json.loads(invoke(*args, "--options", "options.json", "--json").stdout)
    spread = record["attempts"][0]["answers"]["backend"]["distribution"]
    assert set(spread) == {*OPTIONS, "NONE"}


def test_ask_takes_no_options_where_the_state_makes_them() -> None:
    args = ("ask", "WORKFLOW_EXPECTED_INPUT", "--text", "yes", "--options", "YES,NO")
    result = invoke(*args)
    assert result.exit_code == 2
    assert "Give them there, with --state" in result.stderr


def test_ask_about_something_that_is_repeated_needs_what_is_repeated() -> None:
    args = ("ask", "MULTI_INTENT", "--text", "my bill, and a flight", "--options", "bill,travel")
    result = invoke(*args)
    assert result.exit_code == 2
    assert "each entry of 'goals', and there is none" in result.stderr


def test_ask_by_a_name_for_which_a_generic_point_stands() -> None:
    result = invoke("ask", "GUARDRAIL_MINE", "--text", "hello")
    assert result.exit_code == 0, result.output
    assert "the generic questions of its kind are asked" in result.stderr

    misspelt = invoke("ask", "GUARDRAIL_PNIJ", "--text", "hello")
    assert misspelt.exit_code == 2
    assert "Did you mean GUARDRAIL_PINJ?" in misspelt.stderr


def test_a_width_of_none_is_no_width() -> None:
    assert "ROUTER" in invoke("points", "ROUTER", env={"COLUMNS": "0"}).stdout


def test_a_page_is_no_json() -> None:
    assert invoke("points", "--json", "--markdown").exit_code == 2


def test_ask_a_question_of_your_own_in_plain_words() -> None:
    asked = ("ask", "team", "-q", "Which team?", "--options", "billing,tech", "--json")
    record = json.loads(invoke(*asked, stdin="my invoice").stdout)
    assert record["point"] == "TEAM"
    assert set(record["attempts"][0]["answers"]["decision"]["distribution"]) == {"billing", "tech"}
    predicate = json.loads(invoke("ask", "X", "-q", "Is it rude?", "--text", "hi", "--json").stdout)
    assert predicate["attempts"][0]["reason"] == "low_confidence"
    assert predicate["undecided"] is True


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("NOPE", "--text", "x"), "no such decision point"),
        (("ROUTER", "--text", "x"), "Give --options a,b,c or a file"),
        (("ROUTER", "--text", "x"), "allowed_intents"),
        (("ROUTER", "--text", "x", "--options", ""), "--options: there are none"),
        (("ROUTER", "--text", "x", "--options", MANY), "255 options, and ROUTER adds 'fallback'"),
        (("JUDGE_RQLT", "--text", "x", "--options", "a,b"), "options are fixed"),
        (
            ("ROUTER", "--text", "x", "--options", "a,b", "--provider", "nope"),
            "--provider: no provider 'nope'",
        ),
        (("ROUTER", "--text", "x", "--state", "y.json"), "there is --state too"),
        (("ROUTER", "--state", "missing.json"), "cannot be read"),
        (("ROUTER", "--state", "torn.json"), "it is no JSON"),
        (("ROUTER", "--state", "deep.json"), "nested too deep"),
        (("ROUTER", "--state", "nan.json"), "NaN is no number"),
        (("GUARDRAIL_PINJ", "--state", "nan.json"), "NaN is no number"),
        (("ROUTER", "--state", "scalar.json"), "ROUTER reads fields"),
        (("ROUTER", "--state", "other.json"), "it has 'a', and ROUTER reads fields"),
        (("ROUTER", "--text", "x", "--options", "deep.json"), "nested too deep"),
        (("ROUTER",), "nothing is asked about"),
        (("ROUTER", "--text", "x", "--options", "missing.json"), "cannot be read"),
        (("ROUTER", "--text", "x", "--options", "torn.json"), "it is no JSON"),
        (("ROUTER", "--text", "x", "--options", "numbers.json"), "label: description"),
        (("ROUTER", "--text", "x", "--options", "twice.json"), "named twice"),
        (("ROUTER", "--text", "x", "--options", "fallback,b"), "Leave it out: it is added"),
        (("X", "-q", "One?", "--text", "x", "--options", "a"), "1 options"),
        (("GUARDRAIL_PINJ", "--text", "x", "--language", "de"), "Set one of: en, pt"),
    ],
)
def test_wrong_asks_are_told_in_a_sentence(args: tuple[str, ...], said: str) -> None:
    Path("torn.json").write_text("{")
    Path("deep.json").write_text("[" * 200_000)
    Path("nan.json").write_text("NaN")
    Path("scalar.json").write_text("7")
    Path("other.json").write_text('{"a": "x"}')
    Path("numbers.json").write_text('{"a": 1, "b": 2}')
    Path("twice.json").write_text('{"a": "x", "a": "y"}')
    result = invoke("ask", *args)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())


def test_fields_that_no_decider_is_shown_are_told() -> None:
    state = {"message": "hi", "mood": 1, "allowed_intents": [{"intent": "a"}, {"intent": "b"}]}
    result = invoke("ask", "ROUTER", stdin=json.dumps(state))
    assert result.exit_code == 0, result.output
    assert "not read: mood. ROUTER reads message, allowed_intents" in result.stderr


def test_ask_without_a_fallback_fails_with_the_attempts() -> None:
    env = {"DECISION_PROVIDER": "local", "DECISION_FALLBACK_TO_CURRENT": "false"}
    result = invoke("ask", "GUARDRAIL_PINJ", "--text", "hello", env=env)
    assert result.exit_code == 1
    assert "local (low_confidence)" in result.stderr


@pytest.mark.parametrize(
    ("status", "how"), [(404, "rejected the request"), (401, "did not take its key")]
)
def test_ask_says_who_failed_and_shows_no_confidence_that_nobody_gave(
    server: Server, status: int, how: str
) -> None:
    """An endpoint that answers nothing was not unsure: the operator has something to do."""
    server.does(replies(b"{}", status))
    env = {"AI_GATEWAY_API_KEY": "k", "JEV_BASE_URL": server.url, "JEV_MAX_ATTEMPTS": "1"}
    result = invoke("ask", "MINE", "-q", "Is it?", "--provider", "jev", "--text", "hi", env=env)

    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert f"jev {how} (`pointsman doctor --live` says what to do)" in said
    (row,) = [line for line in result.stdout.splitlines() if line.startswith("jev  ")]
    assert " of " not in row


# --- run -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("rows")
def test_run_writes_top_answer_and_decision_of_every_row() -> None:
    result = run(*ROUTED, "--label", "label")
    assert result.exit_code == 0, result.output
    written = sorted(lines_of("out.jsonl"), key=lambda line: line["row"])
    assert [line["row"] for line in written] == [1, 2, 3, 4]
    assert [line["label"] for line in written] == [label for _, label in ROWS]
    for line in written:
        assert line["top"] in {*OPTIONS, "fallback"}
        assert line["reason"] in {"ok", "low_confidence"}
        assert line["decision"] == (line["top"] if line["reason"] == "ok" else "fallback")
        assert line["confidence"] > 0
        assert "text" not in line
    assert "with the sentinel 'fallback' among them" in result.stdout
    assert "coverage at 95 %" in result.stdout


@pytest.mark.usefixtures("rows")
def test_the_summary_as_json_agrees_with_the_lines() -> None:
    summary = json.loads(run(*ROUTED, "--label", "label", "--json").stdout)
    written = lines_of("out.jsonl")
    assert summary["rows"] == summary["asked"] == 4
    assert summary["accepted"] == sum(line["reason"] == "ok" for line in written)
    assert summary["undecided"] == sum(line.get("undecided", False) for line in written)
    assert summary["quality"]["right"] == sum(line["top"] == line["label"] for line in written)
    assert summary["options"] == 4
    assert summary["sentinel"] == "fallback"


@pytest.mark.usefixtures("rows")
def test_a_rerun_asks_only_what_is_missing() -> None:
    """Lines may be in any order; those that are there are kept as they are."""
    run(*ROUTED)
    whole = Path("out.jsonl").read_text().splitlines(keepends=True)
    Path("out.jsonl").write_text("".join([whole[0], whole[3]]))
    summary = json.loads(run(*ROUTED, "--json").stdout)
    assert (summary["rows"], summary["asked"]) == (4, 3)
    assert Path("out.jsonl").read_text().splitlines(keepends=True)[1] == whole[3]
    again = run(*ROUTED)
    assert "nothing was left to ask" in again.stdout


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_a_torn_last_line_is_repaired(kept: int) -> None:
    """A row whose line lacks only its end was decided, and is not asked again."""
    run(*ROUTED)
    content = Path("out.jsonl").read_bytes()
    start = content.rstrip(b"\n").rindex(b"\n") + 1
    cut = start + kept if kept > 0 else len(content) + kept
    Path("out.jsonl").write_bytes(content[:cut])
    summary = json.loads(run(*ROUTED, "--json").stdout)
    assert summary["rows"] == 4
    assert summary["asked"] == (0 if kept == -1 else 1)
    assert sorted(line["row"] for line in lines_of("out.jsonl")) == [1, 2, 3, 4]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("kept", [0, 1, 40])
def test_a_header_torn_while_it_was_begun_is_written_again(kept: int) -> None:
    run(*ROUTED)
    whole = Path("out.jsonl").read_bytes()
    Path("out.jsonl").write_bytes(whole[:kept])
    assert run(*ROUTED).exit_code == 0
    assert Path("out.jsonl").read_bytes().split(b"\n")[0] == whole.split(b"\n")[0]
    assert len(lines_of("out.jsonl")) == 4


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("change", "args", "env", "said"),
    [
        ("rows.csv", (), {}, "the input file"),
        ("options.json", (), {}, "its options"),
        ("", ("--label", "label"), {}, "--text, --label"),
        ("", ("--language", "pt"), {}, "its language"),
        ("", ("--provider", "jev"), {"AI_GATEWAY_API_KEY": "k"}, "the provider"),
        ("", (), {"DECISION_ROUTER_MIN_CONFIDENCE": "0.9"}, "its threshold"),
        ("", (), {"DECISION_FALLBACK_TO_CURRENT": "false"}, "its fallback"),
        ("", (), {"LOCAL_FIT": "background"}, "LOCAL_FIT"),
    ],
)
def test_results_of_another_run_are_never_mixed(
    change: str, args: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    run(*ROUTED)
    before = Path("out.jsonl").read_bytes()
    if change == "rows.csv":
        Path(change).write_text(Path(change).read_text() + "one more,billing\n")
    if change == "options.json":
        Path(change).write_text(json.dumps({**OPTIONS, "other": ""}))
    result = run(*ROUTED, *args, env=env)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())
    assert Path("out.jsonl").read_bytes() == before


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("content", ["", "hello\n", '{"a": 1}\n{"b": 2}\n', "hello"])
def test_a_file_that_is_none_of_ours_is_left_alone(content: str) -> None:
    Path("out.jsonl").write_text(content)
    result = run(*ROUTED)
    assert result.exit_code == (2 if content else 0)
    if content:
        assert Path("out.jsonl").read_text() == content
        assert "no file of results" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "text,label\nhello,x\n", "a.csv:2: there is no 'message'"),
        ("a.csv", "message,label\nhello\n", "a.csv:2: there is no 'label'"),
        ("a.csv", 'message,label\n"one\ntwo",x\nlast\n', "a.csv:4: there is no 'label'"),
        ("a.csv", "message,label\n", "it has no rows"),
        ("a.csv", 'message,label\n"open,x\n', "it is no CSV"),
        ("a.jsonl", '{"message": "a", "label": "x"}\n{"message": \n', "a.jsonl:2: it is no JSON"),
        ("a.jsonl", '{"message": "a", "label": "x"}\n\n[1]\n', "a.jsonl:3: it is no JSON object"),
        ("a.jsonl", '{"message": null, "label": "x"}\n', "a.jsonl:1: its 'message' is null"),
        ("a.jsonl", '{"message": NaN, "label": "x"}\n', "a.jsonl:1: it is no JSON (NaN"),
        ("a.csv", "message,label\na,b,c\n", "a.csv:2: it has 3 cells, and the heading 2"),
        ("a.jsonl", "", "it has no rows"),
        ("a.jsonl", "\xff", "it is not UTF-8"),
        ("missing.csv", None, "it cannot be read"),
    ],
)
def test_wrong_rows_are_named_before_anything_is_asked(
    name: str, content: str | None, said: str
) -> None:
    if content is not None:
        Path(name).write_text(content, "latin-1")
    args = (name, "--point", "ROUTER", "--options", "a,b", "--out", "o.jsonl")
    result = run(*args, "--text", "message", "--label", "label")
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())
    assert not Path("o.jsonl").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.usefixtures("rows")
def test_results_go_to_a_regular_file() -> None:
    """A device or a pipe cannot be read again; to try would wait for ever."""
    result = run(*ROUTED[:-1], "/dev/full")
    assert result.exit_code == 2
    assert "--out /dev/full: it is no regular file" in result.stderr


def test_half_a_character_is_replaced_and_the_run_finishes() -> None:
    """JSON may hold half a surrogate pair, which no UTF-8 file can."""
    Path("a.jsonl").write_text(
        '{"text": "half \\ud83d of it", "label": "\\ud83d"}\n'
        '{"text": "whole \\ud83d\\ude00", "label": "x"}\n'
    )
    args = ("a.jsonl", "--point", "GUARDRAIL_PINJ", "--with-text", "--label", "label")
    assert run(*args, "--out", "o.jsonl").exit_code == 0
    assert [line["text"] for line in lines_of("o.jsonl")] == ["half \ufffd of it", "whole 😀"]
    assert "nothing was left to ask" in run(*args, "--out", "o.jsonl").stdout


def test_a_row_that_cannot_be_asked_is_named_with_its_line() -> None:
    good = {"text": "x", "allowed_intents": [{"intent": "a"}, {"intent": "b"}]}
    wrong = {"text": "x", "allowed_intents": [{"intent": "a"}, {"name": "b"}]}
    Path("a.jsonl").write_text(f"{json.dumps(good)}\n\n{json.dumps(wrong)}\n")
    result = run("a.jsonl", "--point", "ROUTER", "--out", "o.jsonl")
    assert result.exit_code == 2
    assert re.search(r"a\.jsonl:3: .*the state's 'allowed_intents' must be", result.stderr)
    assert not Path("o.jsonl").exists()


def test_files_of_one_name_have_results_of_their_own() -> None:
    Path("ok.csv").write_text("text\nhello\n")
    Path("ok.jsonl").write_text('{"text": "hello"}\n')
    for name in ("ok.csv", "ok.jsonl"):
        assert run(name, "--point", "GUARDRAIL_PINJ").exit_code == 0
        assert Path(f"{name}.guardrail_pinj.jsonl").is_file()


def test_all_wrong_rows_are_told_at_once_but_not_thousands() -> None:
    Path("a.jsonl").write_text("{\n" * 500)
    result = run("a.jsonl", "--point", "ROUTER", "--options", "a,b")
    assert result.stderr.count("it is no JSON") == 20
    assert "480 more rows are wrong" in result.stderr


def test_rows_may_bring_the_fields_that_their_point_reads() -> None:
    """Options that come with each row are all checked first."""
    row = {"message": "my invoice", "allowed_intents": [{"intent": "billing"}, {"intent": "tech"}]}
    Path("a.jsonl").write_text(f"{json.dumps(row)}\n" * 2)
    args = ("a.jsonl", "--point", "ROUTER", "--text", "message", "--out", "o.jsonl")
    assert run(*args).exit_code == 0
    Path("a.jsonl").write_text(f'{json.dumps(row)}\n{{"message": "x"}}\n')
    result = run(*args[:-1], "p.jsonl")
    assert result.exit_code == 2
    assert "allowed_intents" in result.stderr
    assert not Path("p.jsonl").exists()


def test_predicates_are_compared_with_truths() -> None:
    Path("a.csv").write_text("text,label\nhello,0\nhello again,1\n")
    args = ("a.csv", "--point", "GUARDRAIL_PINJ", "--label", "label", "--with-text", "--json")
    summary = json.loads(run(*args).stdout)
    assert summary["quality"]["labelled"] == 2
    assert summary["options"] is None
    written = lines_of("a.csv.guardrail_pinj.jsonl")
    assert {line["text"] for line in written} == {"hello", "hello again"}
    assert all(isinstance(line["top"], bool) for line in written)


def test_a_failing_provider_is_counted_with_its_reasons() -> None:
    Path("a.csv").write_text("text\n" + "hello\n" * 7)
    env = {
        "DECISION_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "k",
        "JEV_BASE_URL": "http://127.0.0.1:9/v1",
        "JEV_MAX_ATTEMPTS": "1",
    }
    args = ("a.csv", "--point", "ROUTER", "--options", "hello,bye", "--concurrency", "1", "--json")
    summary = json.loads(run(*args, env=env).stdout)
    assert summary["reasons"] == {"transport": 5, "breaker_open": 2}
    assert summary["accepted"] == 0
    assert summary["fallback"] + summary["undecided"] == 7
    off = {**env, "DECISION_FALLBACK_TO_CURRENT": "false"}
    summary = json.loads(run(*args, "--out", "off.jsonl", env=off).stdout)
    assert summary["unanswered"] == 7


def test_coverage_keeps_equal_confidences_together() -> None:
    """The largest part counts, not the first one that falls short."""
    marks = [(0.9, True)] * 10 + [(0.8, False)] + [(0.7, True)] * 30
    assert coverage(marks) == (41, 0.7)
    assert coverage([(0.9, True), (0.9, False)]) == (0, None)
    assert coverage([]) == (0, None)


def test_truths_and_labels() -> None:
    assert is_right("a", "a") is True
    assert is_right(None, "a") is None
    assert is_right(True, " Yes ") is True  # noqa: FBT003 - a top answer
    assert is_right(False, "1") is False  # noqa: FBT003 - the same


# --- a program of the user, interruptions ----------------------------------------------------


@pytest.mark.usefixtures("shop")
def test_app_shows_the_points_of_a_program() -> None:
    done = process("--app", "shop:gateway", "points", env={"DECISION_TEAM_PROVIDER": "slow"})
    assert done.returncode == 0, done.stderr
    assert "TEAM" in done.stdout
    assert "slow" in done.stdout
    assert "reads this variable" not in done.stderr


@pytest.mark.usefixtures("shop")
def test_app_asks_through_the_program_s_gateway() -> None:
    ask = ("--app", "shop:gateway", "ask", "TEAM", "--text", "hello")
    own = process(*ask)
    assert "Your program's own function decides here" in own.stdout
    slow = process(*ask, "--provider", "slow", "--json")
    assert json.loads(slow.stdout)["outcome"] == "billing"


@pytest.mark.usefixtures("shop")
def test_run_needs_a_provider_in_a_program() -> None:
    done = process(*SLOW_RUN)
    assert done.returncode == 2
    assert "Name a provider with --provider" in " ".join(done.stderr.split())
    assert not Path("out.jsonl").exists()


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("app_name", "code", "said"),
    [
        ("shop", None, "not of the form module:gateway"),
        ("shoop:gateway", None, "there is no module 'shoop'"),
        ("shop:gatewya", None, "is no Gateway. It has: gateway"),
        ("broken:gateway", "x = 1 / 0", "ZeroDivisionError: division by zero (broken.py:1)"),
        ("broken:gateway", "import nothing_here", "No module named 'nothing_here'"),
        ("broken:gateway", "gateway = 1", "Make one there"),
        ("broken:gateway", "import sys; sys.exit(3)", "ends the program (SystemExit: 3)"),
    ],
)
def test_wrong_apps_are_told_in_a_sentence(app_name: str, code: str | None, said: str) -> None:
    if code is not None:
        Path("broken.py").write_text(code)
    done = process("--app", app_name, "points")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


SLOW_RUN = ("--app", "shop:gateway", "run", "rows.jsonl", "--point", "TEAM", "--out", "out.jsonl")


def started(seconds: str) -> subprocess.Popen[str]:
    """Start a slow run, and wait until it has written a few rows."""
    env = {**os.environ, "DECISION_TEAM_PROVIDER": "slow", "SHOP_SECONDS": seconds}
    args = [*PYTHON, *SLOW_RUN, "--concurrency", "1"]
    child = subprocess.Popen(args, env=env, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while not Path("out.jsonl").exists() or len(Path("out.jsonl").read_text().splitlines()) < 4:
        assert child.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    return child


@pytest.mark.usefixtures("shop")
def test_after_kill_9_no_row_is_lost_and_none_asked_twice() -> None:
    """The row under way when the process died is the only one that may be asked again."""
    child = started("0.2")
    child.kill()
    child.communicate()
    before = lines_of("out.jsonl")
    assert 3 <= len(before) < 8

    again = process(*SLOW_RUN, "--json", env={"DECISION_TEAM_PROVIDER": "slow"})

    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["asked"] == 8 - len(before)
    assert lines_of("out.jsonl")[: len(before)] == before
    assert sorted(line["row"] for line in lines_of("out.jsonl")) == list(range(1, 9))
    asked = Path("asked.txt").read_text().splitlines()
    twice = {words for words in asked if asked.count(words) > 1}
    assert len(twice) <= 1
    assert all(asked.count(words) <= 2 for words in twice)


@pytest.mark.usefixtures("shop")
def test_ctrl_c_ends_with_130_and_says_how_to_go_on() -> None:
    child = started("0.2")
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    left = 8 - len(lines_of("out.jsonl"))
    assert "Interrupted" in said
    assert (f"does the other {left} rows" if left > 1 else "does the other row") in said
    assert "Traceback" not in said
    again = process(*SLOW_RUN, env={"DECISION_TEAM_PROVIDER": "slow"})
    assert again.returncode == 0
    assert len(lines_of("out.jsonl")) == 8


@pytest.mark.usefixtures("shop")
def test_two_runs_never_write_one_file() -> None:
    """The first has rows for longer than the second can take to start."""
    Path("rows.jsonl").write_text(Path("rows.jsonl").read_text() * 100)
    child = started("0.2")
    other = process(*SLOW_RUN, env={"DECISION_TEAM_PROVIDER": "slow"})
    child.kill()
    child.communicate()
    assert other.returncode == 2
    assert "another run is writing it" in other.stderr


def test_what_an_interrupted_run_says_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    for left, said in ((0, "all rows are done"), (1, "the other row."), (1200, "other 1,200 rows")):
        _interrupted(Path("out.jsonl"), left)
        assert said in capsys.readouterr().err


def test_ctrl_c_at_the_start_ends_with_130() -> None:
    """While the command is being loaded, too."""
    code = (
        "import sys, typing\n"
        "class Stops:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pointsman.gateway.cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stops())\n"
        "from pointsman.gateway.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 130
    assert done.stderr == ""


# --- doctor --------------------------------------------------------------------------------


def test_doctor_is_content() -> None:
    result = invoke("doctor", "--live")
    assert result.exit_code == 0, result.output
    assert "Nothing has to be done." in result.stdout
    assert "local" in result.stdout


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"DECISION_RUOTER_PROVIDER": "local"}, "Did you mean DECISION_ROUTER_PROVIDER?"),
        ({"DECISION_PROVIDER": "local", **OWN_LINES}, "changes nothing"),
        ({"DECISION_PROVIDER": "jev"}, "AI_GATEWAY_API_KEY: it is not set"),
        ({"DECISION_PROVIDER": "nope"}, "no provider 'nope' is installed"),
        ({"DECISION_ROUTER_MIN_CONFIDENCE": "7"}, "DECISION_ROUTER_MIN_CONFIDENCE"),
        ({"DECISION_PLUGINS": "ghost"}, "no plug-in 'ghost' is installed"),
    ],
)
def test_doctor_says_what_has_to_be_done(env: dict[str, str], said: str) -> None:
    result = invoke("doctor", env=env)
    assert result.exit_code == 1, result.output
    assert said in " ".join(result.stdout.split())
    assert "1 thing has to be done." in result.stdout


def test_doctor_asks_each_selected_provider_a_real_question() -> None:
    env = {
        "DECISION_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "k",
        "JEV_BASE_URL": "http://127.0.0.1:9/v1",
    }
    assert invoke("doctor", "--offline", env=env).exit_code == 0
    live = invoke("doctor", "--live", env=env)
    assert live.exit_code == 1
    assert "jev: a real question failed: transport" in live.stdout
    assert "base URL" in " ".join(live.stdout.split())
