"""`pointsman replay-vectors`: right, wrong, unsure, failed; and a file that cannot be asked."""

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

from pointsman.decision_points import pointsman_points
from pointsman.gateway.cli.app import app

VECTORS = Path(__file__).parent / "vectors" / "decision-points.jsonl"
PYTHON = (sys.executable, "-m", "pointsman.gateway.cli")

# Points whose state says what the provider `told` answers, so that a test writes both.
TOLD = """
from pointsman import (
    Ask, Call, Choice, Chosen, DecisionPoint, Gateway, Held, Limits, NoAnswer, Offer, OptionsFrom,
    Predicate, Reason, Refused, Reply, Score, Scored, When, hookimpl,
)

class Told:
    name, limits = "told", Limits()

    def answer(self, ask, call):
        return Reply({name: self.one(question, ask.state["says"][name])
                      for name, question in ask.questions.items()}, model="told-1")

    def one(self, question, said):
        if said == "down":
            raise NoAnswer(Reason.TRANSPORT)
        if said == "refuse":
            return Refused()
        value, confidence = said
        if isinstance(question, Predicate):
            return Held(confidence if value else 1 - confidence)
        if isinstance(question, Score):
            return Scored(question.index(value), None, confidence)
        return Chosen(value, None, confidence)

class Plugin:
    @staticmethod
    @hookimpl
    def pointsman_providers():
        return [Offer("told", lambda: lambda setup: Told())]

    @staticmethod
    @hookimpl
    def pointsman_points():
        one = lambda name, question, **more: DecisionPoint(
            name=name, questions={"en": question}, reads=("says", "why"), **more)
        return [
            one("KIND", {"kind": Choice("?", {"a": "", "b": "", "none": ""}, "none")}),
            one("ABSTAINS", {"kind": Choice("?", {"a": "", "none": ""}, "none", abstains=True)}),
            one("HOLDS", {"holds": Predicate("?")}),
            one("MARK", {"mark": Score("?", low=0, high=10)}),
            one("BOTH", {
                "kind": Choice("?", ["stay", "go"]),
                "to": Choice("?", ["x", "y"], when=When("kind", ("go",))),
            }),
            one("OPEN", {"open": Choice("?", {"none": ""}, "none", open=True)},
                options={"open": OptionsFrom("listed", "id", "text")}),
        ]

gateway = Gateway.from_env(plugins=[Plugin])
"""


def vector(point: str, says: object, expected: object, **more: object) -> dict[str, Any]:
    return {
        "point": point,
        "language": "en",
        "state": {"says": says},
        "expected": {"answers": expected, **more},
    }


def told(*vectors: Mapping[str, Any], columns: str = "80") -> subprocess.CompletedProcess[str]:
    """Run vectors against a program whose provider says what their states say."""
    Path("told.py").write_text(TOLD)
    Path("v.jsonl").write_text("".join(json.dumps(one) + "\n" for one in vectors))
    args = ["--app", "told:gateway", "replay-vectors", "v.jsonl", "--provider", "told"]
    return subprocess.run(
        [*PYTHON, *args, *(["--json"] if columns == "" else [])],
        env={**os.environ, "COLUMNS": columns},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def counted(*vectors: Mapping[str, Any]) -> dict[str, Any]:
    done = told(*vectors, columns="")
    assert done.returncode == 0, done.stderr
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(("DECISION_", "LOCAL_", "JEV_", "CURRENT_", "AI_GATEWAY_")):
            monkeypatch.delenv(name)


SURE, DOUBT = 0.9, 0.6
CASES: dict[str, tuple[dict[str, Any], str, bool]] = {
    "an option": (vector("KIND", {"kind": ["a", SURE]}, {"kind": "a"}), "right", True),
    "another option": (vector("KIND", {"kind": ["b", SURE]}, {"kind": "a"}), "wrong", False),
    "in doubt": (vector("KIND", {"kind": ["a", DOUBT]}, {"kind": "a"}), "unsure", False),
    "in doubt, and may be": (
        vector("KIND", {"kind": ["b", DOUBT]}, {"kind": "a"}, abstain_ok=True),
        "unsure",
        True,
    ),
    "none of these": (vector("KIND", {"kind": ["none", SURE]}, {"kind": "a"}), "wrong", False),
    "none of these, and may be": (
        vector("KIND", {"kind": ["none", SURE]}, {"kind": "a"}, abstain_ok=True),
        "unsure",
        True,
    ),
    "none of these, as expected": (
        vector("KIND", {"kind": ["none", SURE]}, {"kind": "none"}),
        "right",
        True,
    ),
    "abstained, as expected": (
        vector("ABSTAINS", {"kind": ["none", SURE]}, {"kind": "none"}),
        "unsure",
        True,
    ),
    "abstained, and may not": (
        vector("ABSTAINS", {"kind": ["none", SURE]}, {"kind": "a"}),
        "unsure",
        False,
    ),
    "refused": (vector("KIND", {"kind": "refuse"}, {"kind": "a"}), "unsure", False),
    "refused, and may be": (
        vector("KIND", {"kind": "refuse"}, {"kind": "a"}, abstain_ok=True),
        "unsure",
        True,
    ),
    "no answer, which nothing excuses": (
        vector("KIND", {"kind": "down"}, {"kind": "a"}, abstain_ok=True),
        "failed",
        False,
    ),
    "a truth": (vector("HOLDS", {"holds": [False, SURE]}, {"holds": False}), "right", True),
    "the other truth": (vector("HOLDS", {"holds": [True, SURE]}, {"holds": False}), "wrong", False),
    "the edge of a range": (
        vector("MARK", {"mark": [7.0, SURE]}, {"mark": {"min": 7, "max": 10, "scale": "0-10"}}),
        "right",
        True,
    ),
    "below the range": (
        vector("MARK", {"mark": [6.9, SURE]}, {"mark": {"min": 7, "max": 10}}),
        "wrong",
        False,
    ),
    "an answer that does not count": (
        vector("BOTH", {"kind": ["stay", SURE], "to": ["y", SURE]}, {"kind": "stay", "to": "x"}),
        "right",
        True,
    ),
    "one of two": (
        vector("BOTH", {"kind": ["go", SURE], "to": ["y", SURE]}, {"kind": "go", "to": "x"}),
        "wrong",
        False,
    ),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """All cases in one run; each has a language of its own, so that it is counted alone."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("cases"))
    try:
        done = counted(*({**one, "language": name} for name, (one, _, _) in CASES.items()))
    finally:
        os.chdir(before)
    return {one["language"]: one for one in done["tallies"]}


@pytest.mark.parametrize("name", CASES)
def test_what_an_answer_is_worth(verdicts: dict[str, dict[str, Any]], name: str) -> None:
    _, verdict, good = CASES[name]
    tally = verdicts[name]
    assert tally["vectors"] == 1
    assert tally["right"] == good
    others = {kind: tally[kind] for kind in ("wrong", "unsure", "failed")}
    assert others == {kind: int(kind == verdict) for kind in others}


def test_sums_per_point_and_language_and_over_all() -> None:
    done = counted(
        vector("KIND", {"kind": ["a", 0.9]}, {"kind": "a"}),
        vector("KIND", {"kind": ["a", 0.5]}, {"kind": "a"}),
        vector("KIND", {"kind": ["b", 0.8]}, {"kind": "a"}) | {"language": "pt"},
        vector("HOLDS", {"holds": "down"}, {"holds": True}),
    )
    kinds = [(one["point"], one["language"], one["vectors"]) for one in done["tallies"]]
    assert kinds == [("KIND", "en", 2), ("KIND", "pt", 1), ("HOLDS", "en", 1)]
    first, total = done["tallies"][0], done["total"]
    assert (first["right"], first["likely"], first["accuracy"]) == (1, 2, 0.5)
    assert first["confidence"] == pytest.approx(0.7)
    assert total["confidence"] == pytest.approx((0.9 + 0.5 + 0.8) / 3)  # of the valid answers
    assert (total["vectors"], total["right"], total["failed"]) == (4, 1, 1)
    assert done["reasons"] == {"low_confidence": 1, "transport": 1}
    assert done["providers"] == ["told"]
    assert done["models"] == {"told-1": 3}


def test_options_that_the_state_does_not_list_come_from_the_vector() -> None:
    """Those that the point has of its own stay where they are, and are not offered twice."""
    choices = [{"value": "left", "description": "…"}, {"value": "none", "description": ""}]
    one = vector("OPEN", {"open": ["left", SURE]}, {"open": "left"})
    one["question"] = [{"name": "open", "type": "choice", "choices": choices}]
    listed = vector("OPEN", {"open": ["right", SURE]}, {"open": "right"})
    listed["state"]["listed"] = [{"id": "right", "text": "…"}]
    assert counted(one, listed)["total"]["right"] == 2


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_the_table_has_a_row_for_each_point_and_language(columns: str) -> None:
    one = vector("KIND", {"kind": ["a", 0.9]}, {"kind": "a"})
    done = told(one, one | {"language": "pt"}, columns=columns)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["KIND", "en", "1/1", "0", "0", "1/1", "0.900"] in rows
    assert ["pt", "1/1", "0", "0", "1/1", "0.900"] in rows
    assert ["all", "2/2", "0", "0", "2/2", "0.900"] in rows
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert "believed or not" in done.stderr  # what the columns mean is no result


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "v.jsonl:2: it is no JSON"),
        ("[]", "v.jsonl:2: Expected `object`, got `array`"),
        ('{"point": "KIND"}', "v.jsonl:2: Object missing required field"),
        (json.dumps(vector("NOPE", {}, {})), "v.jsonl:2: there is no decision point 'NOPE'"),
        (json.dumps(vector("...", {}, {})), "v.jsonl:2: '...' leaves no name"),
        (json.dumps(vector("KIND", {}, {"odd": "a"})), "v.jsonl:2: KIND does not ask 'odd'"),
        (json.dumps(vector("KIND", {}, {"kind": []})), "v.jsonl:2: Expected"),
        (json.dumps(vector("OPEN", {}, {"open": "a"})), "v.jsonl:2: OPEN: the state's 'listed'"),
    ],
)
def test_a_line_that_cannot_be_asked_is_told_before_anything_is(line: str, said: str) -> None:
    Path("v.jsonl").write_text(json.dumps(vector("KIND", {}, {"kind": "a"})) + "\n" + line + "\n")
    Path("told.py").write_text(TOLD)
    args = ["--app", "told:gateway", "replay-vectors", "v.jsonl", "--provider", "told"]
    done = subprocess.run([*PYTHON, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Nothing was asked" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), (b"\n\n", "it has no vectors"), (b"\xff", "not UTF-8 (byte 0)")],
)
def test_a_file_that_is_none_is_told(content: bytes | None, said: str) -> None:
    if content is not None:
        Path("v.jsonl").write_bytes(content)
    result = CliRunner().invoke(app, ["replay-vectors", "v.jsonl", "--provider", "local"])
    assert result.exit_code == 2
    assert said in result.stderr


def test_an_unknown_provider_is_told_by_its_option() -> None:
    Path("v.jsonl").write_text(VECTORS.read_text("utf-8"), "utf-8")
    result = CliRunner().invoke(app, ["replay-vectors", "v.jsonl", "--provider", "nope"])
    assert result.exit_code == 2
    assert "--provider: no provider 'nope'" in result.stderr


def test_a_program_s_own_functions_are_not_run_from_here() -> None:
    Path("told.py").write_text(TOLD)
    Path("v.jsonl").write_text(json.dumps(vector("KIND", {}, {"kind": "a"})))
    args = ["--app", "told:gateway", "replay-vectors", "v.jsonl"]
    done = subprocess.run([*PYTHON, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Name a provider with --provider" in done.stderr


def test_the_catalogue_s_own_vectors_can_all_be_asked() -> None:
    """Questions are built by the declarations here, in both languages, where hosts ask."""
    result = CliRunner().invoke(app, ["replay-vectors", str(VECTORS), "--json"])
    assert result.exit_code == 0, result.output
    done = json.loads(result.stdout)
    asked = {one["point"] for one in done["tallies"]}
    assert asked == {point.name for point in pointsman_points() if not point.internal}
    assert {one["language"] for one in done["tallies"]} == {"en", "pt"}
    assert done["total"]["vectors"] == len(VECTORS.read_text("utf-8").splitlines())
    assert done["total"]["failed"] == 0, done["reasons"]
    assert done["providers"] == ["local"]
