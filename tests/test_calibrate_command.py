"""`pointsman calibrate`: against real journals, over files of labels, and what it writes."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from pointsman import Choice, Gateway, Held, Limits, Offer, Reply, SetupError, Usage, hookimpl
from pointsman.decision_points import pointsman_points
from pointsman.gateway.answers import Answer
from pointsman.gateway.certificates import Key, read
from pointsman.gateway.cli.app import app
from pointsman.gateway.cli.calibration.words import title
from pointsman.gateway.errors import Reason
from pointsman.gateway.evaluation.calibration import stability
from pointsman.gateway.journal.rows import DecisionRow, FeedbackRow, Kept, Row, ShadowRow
from pointsman.gateway.journal.store import Store
from pointsman.gateway.keys import QuestionKey, keys_of
from pointsman.gateway.records import Attempt, Record, Shadow

JOURNAL = "sqlite:///journal.db"
DAY = 86_400.0
OPTIONS = {"billing": "Invoices, payments, refunds", "internet": "The connection does not work"}
WORDS = {
    "billing": [
        "please refund the charge on my bill",
        "my invoice is too high",
        "a payment failed",
    ],
    "internet": ["the wifi is slow at home", "my connection drops", "no internet since monday"],
}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, none of the developer's variables, and few draws."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stability, "WORK", 4_000)
    monkeypatch.setenv("COLUMNS", "80")
    for name in os.environ:
        if name.startswith(("DECISION_", "LOCAL_", "JEV_", "CURRENT_", "AI_GATEWAY_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DECISION_JOURNAL", JOURNAL)


def invoke(*args: str, **env: str) -> Any:
    return CliRunner().invoke(app, ["calibrate", *args], env=env)


def stored(rows: Sequence[Row]) -> None:
    store = Store.open(JOURNAL)
    assert store.write(rows) == ()
    store.close()


POINTS = {point.name: point for point in pointsman_points()}
TOXIC = keys_of(POINTS["GUARDRAIL_TOX"], POINTS["GUARDRAIL_TOX"].questions["en"], "en")
TEAM = {"team": QuestionKey("team", "0123456789ab", "ba9876543210")}


def decided(
    n: int,
    answers: dict[str, Answer],
    outcome: Any,
    *,
    label: Any = None,
    at: float = 1_700_000_000.0,
    **given: Any,
) -> list[Row]:
    """What `current` decided, what `jev` said beside it, and perhaps what was right."""
    toxic = "toxic" in answers
    told: dict[str, Any] = {
        "point": "GUARDRAIL_TOX" if toxic else "ROUTER",
        "keys": TOXIC if toxic else TEAM,
        "provider": "jev",
        "model": "jev-1",
        "reason": Reason.OK,
        "language": "en",
        "kept": Kept(subject=f"{n:032x}"),
    } | given
    of, point = f"{n:032x}", told["point"]
    record = Record(
        id=of, at=at + n, point=point, variant="current", provider="current", outcome=outcome,
        attempts=(Attempt(provider="current"),),
    )  # fmt: skip
    attempt = Attempt(
        provider=told["provider"], model=told["model"], reason=told["reason"],
        answers={} if told["reason"] is Reason.TIMEOUT else answers,
        seconds=0.2, usage=Usage(100, 1, 0.0001),
    )  # fmt: skip
    shadow = Shadow(
        id=f"a{n:031x}", of=of, at=at + n + 1, point=point, provider=told["provider"],
        attempt=attempt, beside=outcome, beside_provider="current",
    )  # fmt: skip
    rows: list[Row] = [
        DecisionRow(record=record, language=told["language"], keys=told["keys"], kept=told["kept"]),
        ShadowRow(shadow=shadow, language=told["language"], keys=told["keys"]),
    ]
    if label is not None:
        rows.append(FeedbackRow(id=f"b{n:031x}", of=of, at=at + n + 2, label=label))
    return rows


def choice(value: str, probability: float) -> dict[str, Answer]:
    other = "tech" if value == "billing" else "billing"
    spread = {value: probability, other: round(1 - probability, 12)}
    return {
        "team": Answer(
            value=value, confidence=probability, probability=probability, distribution=spread
        )
    }


def routed(
    count: int, seed: int = 1, *, start: int = 0, labelled: bool = True, **given: Any
) -> list[Row]:
    """Decisions whose answers are right as often as they are sure."""
    dice = random.Random(seed)
    rows: list[Row] = []
    for n in range(start, start + count):
        sure = round(0.5 + 0.5 * dice.betavariate(4, 1), 4)
        gold = dice.choice(["billing", "tech"])
        value = gold if dice.random() < sure else "tech" if gold == "billing" else "billing"
        label = gold if labelled else None
        rows += decided(n, choice(value, sure), gold, label=label, **given)
    return rows


def guarded(count: int, seed: int = 1, **given: Any) -> list[Row]:
    dice = random.Random(seed)
    rows: list[Row] = []
    for n in range(count):
        p = round(dice.betavariate(0.3, 0.5), 6)
        truth, sure = dice.random() < p, max(p, round(1 - p, 12))
        spread = {"true": p, "false": round(1 - p, 12)}
        answer = Answer(value=p > 0.5, confidence=sure, probability=sure, distribution=spread)
        rows += decided(n, {"toxic": answer}, truth, **given)
    return rows


def test_certificates_from_the_journals_feedback(tmp_path: Path) -> None:
    """Says what it found and what to set; nothing is in force by itself."""
    stored(routed(250))

    told = invoke("ROUTER", "--provider", "jev", "--risk", "0.1")

    assert told.exit_code == 0, told.output
    assert "accuracy" in told.output
    assert "DECISION_THRESHOLDS=thresholds.json" in told.output
    assert "Nothing is in force yet" in told.output
    assert "provisional" not in told.output
    (one,) = read(tmp_path / "thresholds.json").certificates
    assert (one.key.provider, one.key.model, one.key.template) == ("jev", "jev-1", "0123456789ab")
    assert one.used is not None
    assert one.used.minimum is not None
    assert one.date == time.strftime("%Y-%m-%d", time.gmtime())


def test_the_gate_finds_what_was_written(tmp_path: Path) -> None:
    """A certificate's key is the one that acceptance builds for a decision of that point."""
    stored(guarded(600, provider="sure"))
    assert invoke("GUARDRAIL_TOX", "--provider", "sure", "--against", "current").exit_code == 0
    (certificate,) = read(tmp_path / "thresholds.json").certificates
    level = certificate.used
    assert level is not None
    assert level.no_below is not None
    assert level.yes_from is not None

    believed = {
        p: _provider_of(p, tmp_path / "thresholds.json")
        for p in (
            level.no_below - 0.01,
            level.no_below + 0.01,
            level.yes_from - 0.01,
            level.yes_from,
        )
    }

    assert list(believed.values()) == ["sure", "current", "current", "sure"]


def _provider_of(probability: float, thresholds: Path) -> str:
    """Who decides where the probability of true is so much."""
    variables = {
        "DECISION_LOG": "off",
        "DECISION_GUARDRAIL_TOX_PROVIDER": "sure",
        "DECISION_THRESHOLDS": str(thresholds),
    }
    gateway = Gateway.from_env(variables, plugins=[_Plugin(probability)])
    decision = gateway.ask_sync(
        "GUARDRAIL_TOX", {"text": "x", "history": []}, current=lambda: False
    )
    gateway.close()
    return decision.provider


class _Sure:
    limits = Limits()
    name = "sure"

    def __init__(self, probability: float) -> None:
        self._probability = probability

    def answer(self, ask: Any, call: Any) -> Reply:
        return Reply({name: Held(self._probability) for name in ask.questions}, model="jev-1")


class _Plugin:
    def __init__(self, probability: float) -> None:
        self._probability = probability

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        return [Offer("sure", lambda: lambda _: _Sure(self._probability))]


def test_agreement_is_never_called_anything_else(tmp_path: Path) -> None:
    """No word of accuracy on the screen, in JSON, on the page or in a drawing."""
    stored(guarded(300))
    options = ["GUARDRAIL_TOX", "--provider", "jev", "--against", "current"]
    options += ["--error-cost", "1", "--fallback-cost", "0.1"]
    options += ["--html", "page.html", "--svg", "svg"]

    told, data = invoke(*options), invoke(*options, "--json")

    assert told.exit_code == data.exit_code == 0, told.output
    drawings = list((tmp_path / "svg").glob("*.svg"))
    assert len(drawings) == 3
    files = [tmp_path / "page.html", tmp_path / "thresholds.json", *drawings]
    for text in (told.output, data.output, *(file.read_text("utf-8") for file in files)):
        assert "accura" not in text.lower()
    assert "agreement with current" in told.output
    (one,) = read(tmp_path / "thresholds.json").certificates
    assert one.labels == "agreement"


def test_refuses_below_fifty_labels(tmp_path: Path) -> None:
    stored([*routed(30), *routed(300, start=1000, labelled=False)])

    told = invoke("ROUTER", "--provider", "jev")

    assert told.exit_code == 1
    assert "30 labelled answers; below 50 nothing can be said: 20 more" in told.output
    assert not (tmp_path / "thresholds.json").exists()


def test_provisional_below_two_hundred() -> None:
    stored(routed(120))

    told = invoke("ROUTER", "--provider", "jev")

    assert "provisional" in told.output
    assert "80 more until it is not" in " ".join(told.output.split())


def test_what_is_not_certifiable_is_written_with_its_reason(tmp_path: Path) -> None:
    stored(routed(60))

    told = invoke("ROUTER", "--provider", "jev", "--risk", "0.01")

    assert told.exit_code == 0
    assert "nothing may be decided at 1 %" in told.output
    assert "thresholds stay what they are" in " ".join(told.output.split())
    (one,) = read(tmp_path / "thresholds.json").certificates
    assert one.used is not None
    assert one.used.minimum is None
    assert one.used.why


def test_two_models_get_two_certificates_and_it_is_said(tmp_path: Path) -> None:
    late = routed(40, seed=3, start=900, model="jev-2")
    stored([*routed(100), *routed(100, seed=2, start=500, model="jev-2"), *late])

    told = invoke("ROUTER", "--provider", "jev")

    assert "2 results" in told.output
    found = read(tmp_path / "thresholds.json").certificates
    assert [(one.key.model, one.rows) for one in found] == [("jev-1", 100), ("jev-2", 140)]


def test_merges_into_a_file_and_spoils_none_that_is_not_ours(tmp_path: Path) -> None:
    stored([*routed(100), *_moved(guarded(100))])
    invoke("ROUTER", "--provider", "jev")
    invoke("GUARDRAIL_TOX", "--provider", "jev", "--against", "current")
    file = tmp_path / "thresholds.json"

    assert [one.key.point for one in read(file).certificates] == ["GUARDRAIL_TOX", "ROUTER"]
    assert [one.name for one in tmp_path.iterdir() if "thresholds" in one.name] == [file.name]

    file.write_text("{}}")
    told = invoke("ROUTER", "--provider", "jev")
    assert told.exit_code == 2
    assert "Nothing was written" in told.output
    assert file.read_text() == "{}}"


def _moved(rows: Sequence[Row]) -> list[Row]:
    """The same rows under other ids."""
    text = msgspec.json.encode(rows).decode()
    for first in "0ab":
        text = text.replace(f'"{first}0000000', f'"{first}c000000')
    return msgspec.json.decode(text, type=list[Row])


def test_json_has_everything_and_only_json() -> None:
    stored([*routed(150), *decided(999, {}, "billing", label="tech", reason=Reason.TIMEOUT)])

    told = invoke(
        "ROUTER", "--provider", "jev", "--json", "--error-cost", "2", "--fallback-cost", "1"
    )

    data = json.loads(told.stdout)
    (one,) = data["calibrations"]
    items = {"counts", "quality", "scores", "gap", "remap", "selective", "levels", "sides"}
    assert items | {"economy", "slices", "stability", "certificate"} <= set(one)
    assert one["counts"]["unanswered"] == {"timeout": 1}
    assert data["rows"]["decisions"] == 151
    assert data["written"] == ["thresholds.json"]


def labels(tmp_path: Path, lines: Sequence[dict[str, Any]]) -> list[str]:
    """A file of labels, as an option."""
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return ["--labels", "labels.jsonl"]


def test_labels_by_the_decisions_id_go_before_feedback(tmp_path: Path) -> None:
    rows = routed(80)
    stored(rows)
    ids = [one.id for one in rows if isinstance(one, DecisionRow)]
    given = labels(tmp_path, [{"id": one, "label": "billing"} for one in [*ids[:60], "f" * 32]])

    told = invoke("ROUTER", "--provider", "jev", *given, "--json")

    (one,) = json.loads(told.stdout)["calibrations"]
    assert one["counts"]["gold"] == {"billing": 60}
    assert json.loads(told.stdout)["unknown"] == ["f" * 32]


def test_labels_go_by_how_an_id_begins(tmp_path: Path) -> None:
    """As tables print it; what several begin with is named, as is what nobody has."""
    rows: list[Row] = []
    for n in range(60):
        of = f"{n:03d}{0:029x}"
        record, shadow = decided(n, choice("billing", 0.9), "billing")
        assert isinstance(record, DecisionRow)
        assert isinstance(shadow, ShadowRow)
        replaced = msgspec.structs.replace
        rows.append(replaced(record, record=replaced(record.record, id=of)))
        rows.append(replaced(shadow, shadow=replaced(shadow.shadow, of=of)))
    stored(rows)
    ids = [*(f"{n:03d}00000" for n in range(60)), "01", "fff", "ABC"]

    told = invoke(
        "ROUTER", "--provider", "jev", "--risk", "0.2",
        *labels(tmp_path, [{"id": one, "label": "billing"} for one in ids]),
    )  # fmt: skip

    assert told.exit_code == 0, told.output
    assert "60 of them with an answer and a label" in told.output
    said = "3 ids are of no decision in the journal, or of several: 01, fff, ABC"
    assert said in flat(told.output)


@pytest.mark.parametrize("command", [["ROUTER", "--provider", "jev"], ["check"]])
def test_labels_of_which_none_can_be_used_are_a_fault(command: list[str], tmp_path: Path) -> None:
    certified(tmp_path)
    given = labels(tmp_path, [{"id": f"{n:032x}", "label": "billing"} for n in range(900, 960)])

    told = invoke(*command, *given, DECISION_THRESHOLDS="thresholds.json")

    assert told.exit_code == 2
    assert "none of its labels can be used: 60 ids are of no decision" in flat(told.output)


def test_lines_about_several_questions_of_a_decision_come_together(tmp_path: Path) -> None:
    keys = {**TEAM, "tone": QuestionKey("tone", "1123456789ab", "ca9876543210")}
    answers = {name: choice("billing", 0.9)["team"] for name in keys}
    stored([row for n in range(60) for row in decided(n, answers, None, keys=keys)])
    lines = [
        {"id": f"{n:032x}", "question": name, "label": "billing"}
        for n in range(60)
        for name in keys
    ]

    told = invoke("ROUTER", "--provider", "jev", *labels(tmp_path, lines), "--json")

    assert [one["counts"]["judged"] for one in json.loads(told.stdout)["calibrations"]] == [60, 60]


@pytest.mark.parametrize("command", [["ROUTER", "--provider", "jev"], ["check"]])
def test_labels_in_other_words_are_refused_and_not_counted_as_errors(
    command: list[str], tmp_path: Path
) -> None:
    certified(tmp_path)
    before = (tmp_path / "thresholds.json").read_bytes()
    lines = [{"id": f"{n:032x}", "label": "Tech" if n % 4 else "Billing"} for n in range(100)]

    told = invoke(*command, *labels(tmp_path, lines), DECISION_THRESHOLDS="thresholds.json")

    assert told.exit_code == 2
    said = "100 labels of team name nothing that can be answered: Tech, Billing (answers are"
    assert f"{said} billing, tech). Write labels as answers are written" in flat(told.output)
    assert (tmp_path / "thresholds.json").read_bytes() == before


@pytest.mark.parametrize("command", [["ROUTER", "--provider", "jev"], ["check"]])
def test_a_few_labels_in_other_words_are_left_out_aloud(command: list[str], tmp_path: Path) -> None:
    certified(tmp_path)
    lines = [{"id": f"{n:032x}", "label": "Billing" if n < 2 else "billing"} for n in range(99)]
    given = [*labels(tmp_path, lines), "--thresholds" if command == ["check"] else "--out"]

    told = invoke(*command, *given, "thresholds.json")

    assert told.exit_code == 0, told.output
    assert "2 labels of team name nothing that can be answered: Billing" in flat(told.output)
    assert "They are left out" in flat(told.output)


def test_states_are_asked_now_and_leave_no_record(tmp_path: Path) -> None:
    """Through `local`, repeated and with shuffled options; the journal stays as it was."""
    lines = [
        {"state": text, "label": label, "tenant": f"t{n % 2}", "shop": n % 3}
        for label, texts in WORDS.items()
        for n, text in enumerate(f"{text}, {n}" for n in range(10) for text in texts)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "options.json").write_text(json.dumps(OPTIONS))

    told = invoke(
        "ROUTER", "--provider", "local", "--labels", "rows.jsonl", "--options", "options.json",
        "--question", "Who should answer?", "--repeat", "1", "--shuffle", "--slice", "shop",
        "--json",
    )  # fmt: skip

    assert told.exit_code == 0, told.output
    (one,) = json.loads(told.stdout)["calibrations"]
    assert one["counts"]["judged"] == 60
    assert one["quality"]["right"]["count"] > 45
    assert one["stability"]["repeated"]["count"] == 0
    assert one["stability"]["shuffled"]["of"] == 60
    assert {part["name"] for part in one["slices"]["slices"]} == {"length", "tenant", "shop"}
    assert one["key"]["model"]
    assert not (tmp_path / "journal.db").exists()


FAULTS: dict[str, tuple[tuple[str, ...], str]] = {
    "no provider": (("ROUTER",), "Say whose answers count"),
    "no journal": (("ROUTER", "--provider", "jev"), "nothing was written to the journal yet"),
    "risk": (("ROUTER", "--risk", "1.5"), "--risk: 1.5 is not between 0 and 1"),
    "delta": (("ROUTER", "--delta", "0"), "--delta: 0 is not between 0 and 1"),
    "scale": (("ROUTER", "--scale", "x"), "'x' is no scale of confidence"),
    "against": (("ROUTER", "--against", "jev"), "Only current can: --against current"),
    "both": (("ROUTER", "--against", "current", "--labels", "x"), "there are --labels too"),
    "cost": (("ROUTER", "--fallback-cost", "1"), "Give --error-cost too"),
    "no cost": (("ROUTER", "--error-cost", "0"), "0 is no cost"),
    "repeat": (("ROUTER", "--provider", "jev", "--repeat", "2"), "for states that are asked now"),
    "file": (("ROUTER", "--labels", "gone.jsonl"), "it cannot be read"),
    "current": (("ROUTER", "--provider", "current"), "current has no confidence"),
    "out": (("ROUTER", "--out", "gone/t.json"), "--out gone/t.json: there is no such folder"),
    "html": (("ROUTER", "--html", "gone/t.html"), "there is no such folder"),
}


@pytest.mark.parametrize(("args", "said"), FAULTS.values(), ids=FAULTS)
def test_what_the_operator_gets_wrong_is_told(args: tuple[str, ...], said: str) -> None:
    told = invoke(*args)

    assert told.exit_code == 2
    assert said in told.output


LINES = {
    "no JSON": ("{", "it is no JSON"),
    "no object": ("[1]", "it is no JSON object"),
    "no label": ('{"id": "x"}', "it has no label"),
    "no id": ('{"label": "x"}', "it has neither a state nor the id"),
    "a list": ('{"id": "x", "label": [1]}', "its label is no text"),
    "mixed": ('{"id": "x", "label": "a"}\n{"state": "y", "label": "a"}', "some rows have a state"),
    "empty": ("", "it has no rows"),
}


@pytest.mark.parametrize(("line", "said"), LINES.values(), ids=LINES)
def test_what_is_wrong_with_a_file_of_labels_is_told(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text(line)

    told = invoke("ROUTER", "--provider", "jev", "--labels", "labels.jsonl")

    assert told.exit_code == 2
    assert said in told.output


def test_rows_without_the_provider_say_how_it_comes_to_answer() -> None:
    stored(routed(3))

    told = invoke("ROUTER", "--provider", "chat")

    assert told.exit_code == 2
    assert "DECISION_ROUTER_SHADOW=chat" in told.output
    assert "it holds no decision of JUDGE" in invoke("JUDGE", "--provider", "jev").output


def test_an_answer_without_a_distribution_names_the_other_scale() -> None:
    bare = {"team": Answer(value="billing", confidence=0.9, source="reported", reported=0.9)}
    stored([row for n in range(60) for row in decided(n, bare, "billing", label="billing")])

    assert "--scale reported" in invoke("ROUTER", "--provider", "jev").output
    assert invoke("ROUTER", "--provider", "jev", "--scale", "reported").exit_code == 0


def test_a_variable_that_goes_before_certificates_is_named() -> None:
    stored(routed(120))

    told = invoke(
        "ROUTER", "--provider", "jev", "--risk", "0.2", DECISION_ROUTER_MIN_CONFIDENCE="0.9"
    )

    assert "DECISION_ROUTER_MIN_CONFIDENCE is set, and goes before any certificate" in told.output


# --- calibrate check ----------------------------------------------------------------------


def certified(tmp_path: Path) -> Path:
    """Certificates of the journal's first rows, dated the day before its newest."""
    stored(
        [
            row
            for n in range(100)
            for row in decided(n, choice("billing", 0.9), "billing", label="billing")
        ]
    )
    assert invoke("ROUTER", "--provider", "jev").exit_code == 0
    file = tmp_path / "thresholds.json"
    text = file.read_text("utf-8")
    date = read(file).certificates[0].date
    file.write_text(
        text.replace(date, time.strftime("%Y-%m-%d", time.gmtime(1_700_000_000))), "utf-8"
    )
    return file


NEW: dict[str, tuple[Callable[[int], bool], int, int, str]] = {
    "holds": (lambda n: n % 50 == 0, 200, 0, "holds"),
    "broken": (lambda n: n % 5 == 0, 200, 1, "broken"),
    "too few": (lambda _: False, 20, 0, "too few"),
    "none": (lambda _: False, 0, 0, "no rows"),
}


@pytest.mark.parametrize(("wrong", "count", "code", "said"), NEW.values(), ids=NEW)
def test_check_exits_with_one_when_a_promise_is_broken(
    wrong: Callable[[int], bool], count: int, code: int, said: str, tmp_path: Path
) -> None:
    """By feedback that is newer than the certificate; what it was made of does not count."""
    file = certified(tmp_path)
    new = [
        row
        for n in range(1000, 1000 + count)
        for row in decided(
            n, choice("billing", 0.9), "billing", label="tech" if wrong(n) else "billing",
            at=1_700_000_000.0 + 3 * DAY,
        )
    ]  # fmt: skip
    stored(new)

    told = invoke("check", "--thresholds", str(file))

    assert told.exit_code == code, told.output
    assert said in told.output
    assert "ROUTER team" in told.output
    assert ("name a file with --labels" in flat(told.output)) is (said == "no rows")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_check_fails_where_only_another_model_was_labelled(tmp_path: Path) -> None:
    """The model changed: nothing is known of the new one, and silence would look like health."""
    file = certified(tmp_path)
    at = 1_700_000_000.0 + 3 * DAY
    stored(
        [
            row
            for n in range(1000, 1060)
            for row in decided(
                n, choice("billing", 0.9), "tech", label="tech", at=at, model="jev-2"
            )
        ]
    )

    told = invoke("check", "--thresholds", str(file))

    assert told.exit_code == 1
    assert "none matches" in told.output
    assert "60 new labels are about no certificate of this file; different: model" in flat(
        told.output
    )


@pytest.mark.parametrize(("days", "code"), [(-9, 0), (3, 2)])
def test_check_minds_only_new_labels_in_other_words(days: int, code: int, tmp_path: Path) -> None:
    """What was labelled before the certificate is none of its affairs."""
    file = certified(tmp_path)
    at = 1_700_000_000.0
    told_ = [(range(1000, 1060), at + days * DAY, "Billing"), (range(2000, 2090), at + 3 * DAY, "")]
    stored(
        [
            row
            for numbers, when, label in told_
            for n in numbers
            for row in decided(
                n, choice("billing", 0.9), "billing", label=label or "billing", at=when
            )
        ]
    )

    told = invoke("check", "--thresholds", str(file))

    assert told.exit_code == code, told.output
    assert ("name nothing that can be answered" in flat(told.output)) is (code > 0)


def test_check_calls_agreement_what_it_is(tmp_path: Path) -> None:
    stored(routed(100, labelled=False))
    options = ["ROUTER", "--provider", "jev", "--against", "current", "--risk", "0.2"]
    assert invoke(*options).exit_code == 0
    lines = [{"id": f"{n:032x}", "label": "billing"} for n in range(60)]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, lines)))

    told = invoke("check", "--thresholds", "thresholds.json", "--labels", "labels.jsonl")

    assert "made by agreement with current, which is no truth" in flat(told.output)
    assert "holds" not in told.output


def test_agreement_replaces_gold_only_where_that_is_said(tmp_path: Path) -> None:
    stored(routed(60))
    options = ["ROUTER", "--provider", "jev", "--risk", "0.2"]
    assert invoke(*options).exit_code == 0
    before = (tmp_path / "thresholds.json").read_bytes()

    refused = invoke(*options, "--against", "current")
    after = (tmp_path / "thresholds.json").read_bytes()
    forced = invoke(*options, "--against", "current", "--replace")

    assert (refused.exit_code, forced.exit_code) == (2, 0)
    assert "Name another file with --out, or give --replace" in flat(refused.output)
    assert after == before
    (one,) = read(tmp_path / "thresholds.json").certificates
    assert (one.labels, one.replaced[:8]) == ("agreement", "gold of ")


def test_what_keeps_a_promise_true_is_said() -> None:
    """Doubt, rows set aside, and a choice in which nothing says "none of these"."""
    rows: list[Row] = [row for row in routed(300) if not isinstance(row, FeedbackRow)]
    for n in range(300):
        right = n % 10 > 0
        rows.append(FeedbackRow(id=f"b{n:031x}", of=f"{n:032x}", at=1.8e9, right=right))
    same = Kept(subject="f" * 32)
    for n in (700, 701):
        rows += decided(n, choice("billing", 0.9), "billing", label="billing", kept=same)
    stored(rows)

    told = flat(invoke("ROUTER", "--provider", "jev", "--risk", "0.2").output)

    assert "rows count as wrong though nobody knows" in told
    assert "Feedback with label= would tell" in told
    assert "1 labelled rows were set aside" in told


def test_several_questions_are_told_apart_from_the_decision() -> None:
    """Each has its own promise; what comes of them together is measured, and said."""
    keys = {**TEAM, "tone": QuestionKey("tone", "1123456789ab", "ca9876543210")}
    rows: list[Row] = []
    for n in range(120):
        answers = {name: choice("billing", 0.9)["team"] for name in keys}
        label = {"team": "billing" if n % 20 else "tech", "tone": "billing" if n % 15 else "tech"}
        rows += decided(n, answers, label, label=label, keys=keys)
    stored(rows)

    told = flat(invoke("ROUTER", "--provider", "jev", "--risk", "0.2").output)

    assert "The promise is about each question by itself, not about the decision" in told
    assert "Of all decisions at most 40 % are decided with an answer that is wrong in it" in told
    assert "120 of 120 labelled decisions would be decided; 12 of them (10.0 %" in told


def test_labels_of_the_easy_rows_are_asked_to_be_completed(tmp_path: Path) -> None:
    """Only where both say the same is there a label: the hard rows are missing."""
    rows: list[Row] = []
    for n in range(300):
        other = n % 3 == 0
        decided_, label = ("tech", None) if other else ("billing", "billing")
        rows += decided(n, choice("billing", 0.9), decided_, label=label)
    stored(rows)

    told = invoke("ROUTER", "--provider", "jev", "--risk", "0.1")
    (one,) = read(tmp_path / "thresholds.json").certificates
    anyway = invoke("ROUTER", "--provider", "jev", "--risk", "0.1", "--accept-selection")

    assert "not yet: label the rows where they differ" in flat(told.output)
    assert one.used is not None
    assert (one.used.minimum, one.used.needed) == (None, 100)
    assert "Labels were given selectively, which was accepted" in flat(anyway.output)


def test_titles_keep_to_the_width_of_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    key = Key(
        point="TRANSACTION_PARAMETER_RELEVANCE", question="relevance", template="", options="",
        language="en", form="shared:0123456789ab", scale="probability", provider="jev",
        model="a-model-with-a-long-name-2026-11-30",
    )  # fmt: skip

    title(key)

    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "probability scale" in flat(printed)


def test_a_choice_without_none_of_these_is_named(tmp_path: Path) -> None:
    gateway, team = _team(DECISION_TEAM_SHADOW="local")
    for n in range(60):
        decision = gateway.decide_sync(team, f"{WORDS['billing'][n % 3]}, {n}")
        gateway.feedback(decision.record.id, label="billing")
    gateway.close()
    (tmp_path / "program.py").write_text(PROGRAM)

    told = CliRunner().invoke(
        app, ["--app", "program:gateway", "calibrate", "TEAM", "--provider", "local"]
    )

    assert told.exit_code == 0, told.output
    assert "has no option for “none of these”" in flat(told.output)


PROGRAM = f"""
from pointsman import Choice, Gateway

gateway = Gateway.from_env({{"DECISION_LOG": "off", "DECISION_JOURNAL": "{JOURNAL}"}})


@gateway.point("TEAM", Choice("Who should answer?", {OPTIONS!r}))
def team(message: str) -> str:
    return "billing"
"""


def test_check_reads_labels_from_a_file_and_prints_json(tmp_path: Path) -> None:
    file = certified(tmp_path)
    lines = [{"id": f"{n:032x}", "label": "tech" if n % 2 else "billing"} for n in range(100)]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, lines)))

    told = invoke("check", "--labels", "labels.jsonl", "--json", DECISION_THRESHOLDS=str(file))

    assert told.exit_code == 1
    (one,) = json.loads(told.stdout)["checks"]
    assert (one["verdict"], one["of"], one["errors"]) == ("broken", 100, 50)


def test_check_asks_about_states(tmp_path: Path) -> None:
    """What `local` was calibrated on, turned round, breaks its promise."""
    texts = [(f"{text}, {n}", label) for n in range(50) for label in WORDS for text in WORDS[label]]
    options = [{"intent": key, "description": text} for key, text in OPTIONS.items()]
    rows = [
        {"state": {"message": text, "allowed_intents": options}, "label": label}
        for text, label in texts
    ]
    swapped = [
        {**row, "label": "billing" if row["label"] == "internet" else "internet"} for row in rows
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows[:180])))
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, rows[180:])))
    (tmp_path / "swapped.jsonl").write_text("\n".join(map(json.dumps, swapped)))
    first = invoke("ROUTER", "--provider", "local", "--labels", "rows.jsonl", "--risk", "0.2")
    assert first.exit_code == 0, first.output

    good = invoke("check", "--thresholds", "thresholds.json", "--labels", "new.jsonl")
    same = invoke("check", "--thresholds", "thresholds.json", "--labels", "rows.jsonl")
    bad = invoke("check", "--thresholds", "thresholds.json", "--labels", "swapped.jsonl")

    assert (good.exit_code, bad.exit_code) == (0, 1), good.output + bad.output
    assert same.exit_code == 2
    assert "the very rows that the certificate was made from" in same.output


UNFIT: dict[str, tuple[str, Any, str]] = {
    "minimum below": ("minimum", -1, "Expected `float` >= 0.0"),
    "minimum above": ("minimum", 7, "Expected `float` <= 1.0"),
    "alpha": ("alpha", 0, "Expected `float` > 0.0"),
    "bound": ("bound", 1.5, "Expected `float` <= 1.0"),
    "coverage": ("coverage", -0.1, "Expected `float` >= 0.0"),
    "no_below": ("no_below", 0.6, "Expected `float` <= 0.5"),
    "yes_from": ("yes_from", 0.4, "Expected `float` >= 0.5"),
    "other risk": ("risk", 0.03, "risk 0.03 of ROUTER team by jev (jev-1) is none of its levels"),
    "no risk": ("risk", 2, "Expected `float` < 1.0"),
    "infinite": ("minimum", 1e999, "Number out of range"),
}


@pytest.mark.parametrize(("name", "value", "said"), UNFIT.values(), ids=UNFIT)
def test_thresholds_that_believe_everything_or_nothing_are_refused(
    name: str, value: Any, said: str, tmp_path: Path
) -> None:
    """By the variable at every start, by the option where that names the file."""
    file = certified(tmp_path)
    content = json.loads(file.read_text("utf-8"))
    (one,) = content["certificates"]
    for part in [one] if name == "risk" else one["levels"]:
        part[name] = value
    file.write_text(json.dumps(content).replace("Infinity", "1e999"), "utf-8")

    by_option = invoke("check", "--thresholds", "thresholds.json")
    by_variable = invoke("check", DECISION_THRESHOLDS="thresholds.json")

    assert (by_option.exit_code, by_variable.exit_code) == (2, 2)
    for told, where in ((by_option, "--thresholds"), (by_variable, "DECISION_THRESHOLDS")):
        assert f"{where}: thresholds.json: " in flat(told.output)
        assert said in flat(told.output)
    with pytest.raises(SetupError, match=r"DECISION_THRESHOLDS: thresholds\.json"):
        read(Path("thresholds.json"))


@pytest.mark.parametrize("command", [["ROUTER", "--provider", "jev"], ["check"]])
def test_a_journal_that_is_down_is_no_broken_promise(command: list[str], tmp_path: Path) -> None:
    certified(tmp_path)
    variables = {
        "DECISION_THRESHOLDS": "thresholds.json",
        "DECISION_JOURNAL": "postgresql://nobody@127.0.0.1:1/none",
        "DECISION_JOURNAL_KEY": "k" * 64,
    }
    pytest.importorskip("psycopg")

    told = invoke(*command, **variables)

    assert told.exit_code == 2
    assert "DECISION_JOURNAL: it cannot be reached" in flat(told.output)


APP = f"""
from pointsman import Choice, Gateway

gateway = Gateway.from_env()


@gateway.point("APP_TEAM", Choice("Who should answer?", {OPTIONS!r}))
def team(message: str) -> str:
    return "billing"
"""


def test_check_asks_with_a_program_as_calibrate_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is imported once, and takes the provider's variable all the same."""
    (tmp_path / "checked_app.py").write_text(APP)
    monkeypatch.setenv("DECISION_LOG", "off")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    texts = [(f"{text}, {n}", label) for n in range(20) for label in WORDS for text in WORDS[label]]
    rows = [{"state": text, "label": label} for text, label in texts]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, rows[60:])))
    given = ["--app", "checked_app:gateway", "calibrate"]
    before = dict(os.environ)

    first = CliRunner().invoke(
        app, [*given, "APP_TEAM", "--provider", "local", *labels(tmp_path, rows[:60])]
    )
    del sys.modules["checked_app"]  # each command is a process of its own
    monkeypatch.delenv("DECISION_APP_TEAM_PROVIDER", raising=False)
    told = CliRunner().invoke(
        app, [*given, "check", "--thresholds", "thresholds.json", "--labels", "new.jsonl"]
    )

    assert first.exit_code == 0, first.output
    assert told.exit_code == 0, told.output
    assert "60 new labels" in told.output
    assert dict(os.environ) == before


def test_check_of_a_file_without_thresholds_says_so(tmp_path: Path) -> None:
    stored(routed(3))
    (tmp_path / "thresholds.json").write_text("{}")
    given = labels(tmp_path, [{"id": "0" * 32, "label": "billing"}])

    told = invoke("check", "--thresholds", "thresholds.json", *given)

    assert (told.exit_code, "holds no thresholds" in told.output) == (0, True)


def test_check_without_a_file_says_what_to_name() -> None:
    told = invoke("check")

    assert told.exit_code == 2
    assert "Give --thresholds, or set it" in told.output


def test_help_of_both() -> None:
    assert "--against" in invoke("ROUTER", "--help").output
    assert "--thresholds" in invoke("check", "--help").output
    assert "check" in invoke("--help").output


def _team(**variables: str) -> tuple[Gateway, Callable[[str], str]]:
    """A program's own point; what it runs today looks for words."""
    gateway = Gateway.from_env(
        {"DECISION_LOG": "off", "DECISION_JOURNAL": JOURNAL, "DECISION_STRICT": "true", **variables}
    )

    @gateway.point("TEAM", Choice("Who should answer?", OPTIONS))
    def team(message: str) -> str:
        return "billing" if any(word in message for word in ("bill", "pay")) else "internet"

    return gateway, team


def test_from_a_shadow_to_a_certificate_to_a_decision(tmp_path: Path) -> None:
    """Real answers, a real journal, and a gate that says whence its minimum comes."""
    gateway, team = _team(DECISION_TEAM_SHADOW="local")
    for n in range(20):
        for label, texts in WORDS.items():
            for text in texts:
                decision = gateway.decide_sync(team, f"{text}, {n}")
                gateway.feedback(decision.record.id, label=label)
    gateway.close()

    told = invoke("TEAM", "--provider", "local", "--risk", "0.1")

    assert told.exit_code == 0, told.output
    assert "120 decisions, asked of local" in told.output
    (certificate,) = read(tmp_path / "thresholds.json").certificates
    assert certificate.used is not None
    assert certificate.used.minimum is not None
    gateway, team = _team(
        DECISION_TEAM_PROVIDER="local", DECISION_THRESHOLDS=str(tmp_path / "thresholds.json")
    )
    record = gateway.decide_sync(team, "please refund the charge on my bill").record
    gateway.close()
    assert record.provider == "local"
    assert record.attempts[0].minimum == certificate.used.minimum
