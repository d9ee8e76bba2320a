"""`pointsman compare-arms`: the same items for every arm, and nothing said that is not shown."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from commanding import clean
from faulty import Server, Visit, failed, hangs, replies
from pointsman.gateway.cli import screen
from pointsman.gateway.cli.app import app
from pointsman.gateway.errors import SetupError
from pointsman.gateway.questions import Ask, Predicate
from pointsman.providers.deliberation.comparing import page
from pointsman.providers.deliberation.comparing.cases import Case
from pointsman.providers.deliberation.comparing.experiment import experiment_of
from pointsman.providers.deliberation.comparing.resampling import differences
from pointsman.providers.deliberation.comparing.results import Header, Results
from pointsman.providers.deliberation.comparing.rows import Part, Row
from pointsman.providers.deliberation.comparing.summary import Summary, summed
from pointsman.providers.deliberation.comparing.verdicts import compared

pytest.importorskip("typer")

unix = pytest.mark.skipif(sys.platform == "win32", reason="no signal can be sent there")
law = settings(max_examples=40, deadline=None)

ALL = "independent,self_consistency,self_refine,cost_matched,debate,debate_skeptic,placebo"
NUMBER = itertools.count()

PANEL = """
import asyncio, json, os, signal
from pathlib import Path
from pointsman import Gateway
from pointsman.providers.deliberation import members

LOG = Path("log.jsonl")
DIES = int(os.environ.get("DIES", 0))  # at this call, as by kill -9
BY = os.environ.get("BY", "SIGKILL")

def told(draft, who):
    with LOG.open("a") as log:
        log.write(json.dumps({"who": who, "task": draft.task, "state": draft.state}) + "\\n")
    if DIES and len(LOG.read_text().splitlines()) == DIES:
        os.kill(os.getpid(), getattr(signal, BY))

def case(draft):
    return draft.state.get("state", draft.state)

def peers(draft):
    rows = draft.state.get("committee", {}).get("members", [])
    return [row["answers"]["answer"] for row in rows if not row.get("yours")]

def member(who, first, then):
    async def said(draft):
        told(draft, who)
        if draft.task != "answer":
            return {"critiques": []}
        seen = peers(draft)
        return then(case(draft), seen) if "committee" in draft.state else first(case(draft))
    return said

def truth(case):
    return case["truth"], 0.9

def lie(case):
    return not case["truth"], 0.9

def learn(case, seen):
    return (case["truth"] if case["truth"] in seen else not case["truth"]), 0.8

def yield_(case, seen):
    return (not case["truth"] if (not case["truth"]) in seen else case["truth"]), 0.8

def keep(first):
    return lambda case, seen: first(case)

async def hung(draft):
    await asyncio.sleep(3600)

async def slow(draft):
    await asyncio.sleep(0.7)
    return case(draft)["truth"], 0.9

async def arguing(draft):
    told(draft, "arguing")
    if draft.task == "answer":
        return case(draft)["n"] % 3 != 0, 0.9
    labels = [row["member"] for row in draft.state["committee"]["members"] if not row.get("yours")]
    point = f"about case {case(draft)['n']}"
    one = {"agree": False, "points": [point], "evidence_ids_cited": [], "suggested_value": None}
    return {"critiques": [{"target_role": label, **one} for label in labels]}

PANEL = {
    "right": member("right", truth, keep(truth)),
    "wrong": member("wrong", lie, keep(lie)),
    "swayed": member("swayed", lie, learn),        # wrong, until anybody says what is right
    "caving": member("caving", truth, yield_),     # right, until anybody says what is wrong
    "hung": hung,
    "silent": member("silent", lambda case: None, lambda case, seen: None),
    "slow": slow,
    "arguing": arguing,
}
gateway = Gateway.from_env(plugins=[members(**PANEL)])
"""


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LOCAL_MIN_CONFIDENCE", "0")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in os.environ:
        if name.startswith(("DECISION_", "CHAT_", "JEV_", "CURRENT_")):
            monkeypatch.delenv(name)


@pytest.fixture
def panel(tmp_path: Path) -> str:
    """A program with scripted members, under a name that nothing has imported yet."""
    name = f"panel_{next(NUMBER)}"
    (tmp_path / f"{name}.py").write_text(PANEL)
    return f"{name}:gateway"


def cases(count: int = 6, name: str = "cases.jsonl", **fields: Any) -> str:
    lines = [
        {"id": f"c{n}", "state": {"n": n, "truth": n % 2 == 0}, "gold": n % 2 == 0, **fields}
        for n in range(count)
    ]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("q.json").write_text(json.dumps({"kind": "predicate", "instructions": "Is it so?"}))
    return name


def invoke(*words: str, program: str | None = None, code: int = 0) -> str:
    before = [] if program is None else ["--app", program]
    result = CliRunner().invoke(app, [*before, "compare-arms", *words])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def ran(program: str, *words: str, count: int = 6, code: int = 0) -> dict[str, Any]:
    said = invoke(
        cases(count), "--question", "q.json", "--json", *words, program=program, code=code
    )
    told: dict[str, Any] = json.loads(said[said.index("{\n") :])
    return told


def arm(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in told["arms"] if one["arm"] == name)
    return found


def asked() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]


def written(path: str = "cases.jsonl.arms.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()[1:]]


# --- what comes out ----------------------------------------------------------------------


def test_br_22_every_arm_is_run_on_the_same_items(panel: str) -> None:
    """BR-22, DP-14, DP-30, FV-27: coverage, accuracy, cost and latency of each arm."""
    told = ran(panel, "--members", "right,right,wrong", "--arms", f"{ALL},right", "--rounds", "1")

    assert [one["arm"] for one in told["arms"]] == [*ALL.split(","), "right"]
    assert (told["cases"], told["complete"], told["added"]) == (6, 6, 48)
    assert all(one["answered"] == one["right"] == 6 for one in told["arms"])
    calls = {one["arm"]: one["calls"] / 6 for one in told["arms"]}
    assert calls == {
        "independent": 3,
        "debate": 9,
        "placebo": 9,
        "debate_skeptic": 10,
        "self_consistency": 9,
        "self_refine": 3,
        "cost_matched": 9,
        "right": 1,
    }
    assert sum(one["calls"] for one in told["arms"]) == len(asked())
    assert all(one["p95"] >= one["p50"] > 0 for one in told["arms"])
    assert all(not one["shown"] for one in told["pairs"])


def test_br_22_accuracy_has_its_interval_and_its_score(panel: str) -> None:
    """BR-22: unanswered counts as wrong; Brier is of what was answered."""
    told = ran(panel, "--arms", "right,wrong,silent")

    right, wrong, silent = (arm(told, name) for name in ("right", "wrong", "silent"))
    assert (right["right"], wrong["right"], silent["right"]) == (6, 0, 0)
    assert (right["answered"], wrong["answered"], silent["answered"]) == (6, 6, 0)
    assert right["low"] == pytest.approx(0.6096657)  # Wilson, 6 of 6
    assert right["high"] == 1.0
    assert right["brier"] == pytest.approx(0.01)
    assert wrong["brier"] == pytest.approx(0.81)
    assert silent["brier"] is None


def test_br_22_corrections_and_the_collapse_that_brought_them(panel: str) -> None:
    """BR-22: wrong at first, right at last; against its own first answers and `independent`."""
    told = ran(panel, "--members", "swayed,swayed,right", "--arms", "independent,debate")

    debate = arm(told, "debate")
    assert (arm(told, "independent")["right"], debate["right"]) == (0, 6)
    assert debate["own"] == debate["independent"] == {"corrections": 6, "subversions": 0}
    assert debate["collapse"] == {
        "disagreed": 6,
        "collapsed": 6,
        "wrongly": 0,
        "members": 18,
        "moved": 12,
    }


def test_br_22_subversions_and_the_collapse_onto_what_is_wrong(panel: str) -> None:
    """BR-22: right at first, wrong at last: those who were right gave in."""
    told = ran(panel, "--members", "caving,caving,wrong", "--arms", "independent,debate")

    debate = arm(told, "debate")
    assert (arm(told, "independent")["right"], debate["right"]) == (6, 0)
    assert debate["own"] == debate["independent"] == {"corrections": 0, "subversions": 6}
    assert debate["collapse"]["collapsed"] == debate["collapse"]["wrongly"] == 6
    assert arm(told, "independent")["own"] is arm(told, "independent")["collapse"] is None


def test_br_22_disagreement_that_stays_is_no_collapse(panel: str) -> None:
    told = ran(panel, "--members", "right,right,wrong", "--arms", "debate")

    debate = arm(told, "debate")
    assert debate["independent"] is None
    assert debate["own"] == {"corrections": 0, "subversions": 0}
    assert debate["collapse"]["disagreed"] == 6
    assert debate["collapse"]["collapsed"] == debate["collapse"]["moved"] == 0


def test_br_22_the_placebo_gap(panel: str) -> None:
    """BR-22, AP-17: what is left of a debate once its roles are empty; and how many moved."""
    told = ran(panel, "--members", "right,right,swayed", "--arms", "debate,placebo")

    gap = told["placebo"]
    assert (gap["difference"], gap["low"], gap["high"]) == (0, 0, 0)
    assert gap["moved"] == gap["moved_by_placebo"] == pytest.approx(1 / 3)
    said = invoke(
        "cases.jsonl", "--question", "q.json", "--members", "right,right,swayed",
        "--arms", "debate,placebo", "--resume", program=panel,
    )  # fmt: skip
    assert "placebo gap: +0.0 points [+0.0, +0.0]: no gap is shown" in said


def test_ap_17_a_placebo_of_content_shows_another_cases_answers(panel: str) -> None:
    """AP-17: peers say what they said about the next case, whose truth is the opposite."""
    told = ran(
        panel, "--members", "right,right,swayed", "--arms", "debate,placebo",
        "--placebo", "content", "--concurrency", "3", "--rounds", "1", "--transcripts", "kept",
    )  # fmt: skip

    assert arm(told, "debate")["collapse"]["collapsed"] == 6
    # the next case's peers said: what is wrong here twice, and what is right here once
    shown = [
        sorted(row["answers"]["answer"] == one["state"]["state"]["truth"] for row in rows)
        for one in asked()[-18 - 18 :]
        if "committee" in one["state"] and one["task"] == "answer"
        if (rows := [r for r in one["state"]["committee"]["members"] if not r.get("yours")])
    ]
    assert len(shown) == 18
    assert {tuple(rows) for rows in shown} <= {(False, False), (False, True)}
    assert (False, False) in {tuple(rows) for rows in shown}


def test_br_22_costs_are_matched_by_calls_and_the_ratios_recorded(panel: str) -> None:
    """BR-22, AP-10, FV-27: k = n(1 + 2R) + s − 2 for the debate as it was run."""
    told = ran(panel, "--members", "right,wrong", "--arms", "debate,cost_matched,self_consistency")

    rows = {(row["case"], row["arm"]): row for row in written()}
    for case in (f"c{n}" for n in range(6)):
        debate = sum(part["calls"] for part in rows[case, "debate"]["parts"].values())
        assert rows[case, "cost_matched"]["k"] == debate - 2
        assert rows[case, "self_consistency"]["k"] == debate
        assert rows[case, "cost_matched"]["matched"] == "calls"
        assert rows[case, "cost_matched"]["ratios"] == {"calls": 1.0}
    assert arm(told, "cost_matched")["ratios"] == {"calls": 1.0}


def test_br_22_a_debate_that_was_not_run_is_matched_as_planned(panel: str) -> None:
    """FV-27: (n, R, s) = (3, 2, 0) → k = 13."""
    ran(panel, "--members", "right,wrong,right", "--arms", "cost_matched", count=1)

    assert written()[0]["k"] == 13


def test_where_nobody_tells_tokens_calls_are_matched(panel: str) -> None:
    """AP-10: and the row says so."""
    words = ("--members", "right,wrong", "--arms", "debate,cost_matched", "--match", "tokens")
    told = ran(panel, *words)

    assert arm(told, "cost_matched")["matched"] == ["calls"]


# --- an upstream with tokens and prices ----------------------------------------------------


def writes(per_word: int = 1) -> Callable[[Visit], Any]:
    """A chat server that answers `true`, whose prompts cost what they are long."""

    async def does(visit: Visit) -> bool:
        sent = json.loads(visit.seen.body)
        text = "".join(one["content"] for one in sent["messages"])
        schema = sent["response_format"]["json_schema"]["schema"]
        fields = schema["properties"]
        kinds: dict[str, Any] = {"array": [], "boolean": True}
        said = {name: kinds.get(field["type"]) for name, field in fields.items()}
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": sent["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": json.dumps(said)},
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": per_word * len(text.split()),
                "completion_tokens": 10,
                "total_tokens": per_word * len(text.split()) + 10,
            },
        }
        return await replies(body)(visit)

    return does


@pytest.fixture
def chat(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    for name, value in {
        "CHAT_MODEL": "small",
        "CHAT_BASE_URL": server.url,
        "CHAT_CONFIDENCE": "none",
        "CHAT_MIN_CONFIDENCE": "0",
        "CHAT_PRICE_INPUT": "3",
        "CHAT_PRICE_OUTPUT": "15",
        "CHAT_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    server.does(writes())
    return server


@pytest.mark.parametrize("unit", ["tokens", "money"])
def test_fv_28_tokens_and_money_are_matched_as_measured(chat: Server, unit: str) -> None:
    """FV-28, AP-10: as dear as the debate but for what rounding leaves; all ratios are told."""
    words = (cases(2), "--question", "q.json", "--members", "chat,chat", "--rounds", "1")
    said = invoke(*words, "--arms", "debate,cost_matched,independent", "--match", unit, "--json")

    told = json.loads(said)
    matched, debate = arm(told, "cost_matched"), arm(told, "debate")
    assert matched["matched"] == [unit]
    assert set(matched["ratios"]) == {"calls", "tokens", "money"}
    assert matched["ratios"][unit] <= 1.0 + 1e-9
    assert debate["answered"] == debate["cases"]
    assert debate["unpriced"] == debate["untold"] == 0
    assert debate["usd"] > 0
    sample = {"tokens": "tokens", "money": "usd"}[unit]
    one = arm(told, "independent")[sample] / arm(told, "independent")["calls"]
    # one sample is lost by rounding down; the chain is priced as the debate's turns, about another
    assert matched[sample] + 2 * debate["cases"] * one > debate[sample]
    assert len(chat.seen) == sum(one["calls"] for one in told["arms"])


def test_a_provider_that_turns_the_key_away_is_no_result(chat: Server) -> None:
    """A case is left for another time; nothing of it is written."""
    chat.does(replies(failed("invalid_key"), 401))

    said = invoke(cases(3), "--question", "q.json", "--arms", "chat", "--concurrency", "1", code=1)

    assert "chat: auth: 1 arm on an item is left open" in said
    assert "Ended early" in said
    assert written() == []
    chat.does(writes())
    again = invoke("cases.jsonl", "--question", "q.json", "--arms", "chat", "--resume", "--json")
    assert json.loads(again)["complete"] == 3


@pytest.mark.usefixtures("chat")
def test_money_is_bounded() -> None:
    """BR-07, BR-22: what is left is done by the same command."""
    words = (cases(8), "--question", "q.json", "--arms", "chat", "--json", "--concurrency", "1")
    first = json.loads(invoke(*words))
    price = arm(first, "chat")["usd"] / 8
    Path("cases.jsonl.arms.jsonl").unlink()

    told = json.loads(invoke(*words, "--max-cost", str(3.5 * price), code=3))

    assert (told["stopped"], told["complete"]) == ("cost", 3)
    assert json.loads(invoke(*words, "--resume"))["complete"] == 8


def test_a_member_that_hangs_costs_its_turn_and_no_more(panel: str) -> None:
    """BR-02, BR-22: its time is up, and the others' answers count."""
    told = ran(
        panel, "--members", "right,right,hung", "--arms", "independent,hung",
        "--turn-seconds", "0.2", count=2,
    )  # fmt: skip

    assert arm(told, "independent")["right"] == 2
    assert arm(told, "hung")["answered"] == 0
    assert {row["why"] for row in written() if row["arm"] == "hung"} == {"timeout"}


def test_calls_are_bounded(panel: str) -> None:
    """BR-07: calls are set aside before an arm begins, so that the bound is never passed."""
    told = ran(
        panel, "--members", "right,wrong", "--arms", "debate,independent", "--max-calls", "25",
        code=3,
    )  # fmt: skip

    assert told["stopped"] == "calls"
    assert 0 < len(asked()) <= 25


# --- samples, failures, and what belongs together ------------------------------------------


def chatty(answers: Callable[[Mapping[str, Any]], bool]) -> Callable[[Visit], Any]:
    """A chat server that answers as *answers* says of a request's body."""

    async def does(visit: Visit) -> bool:
        sent = json.loads(visit.seen.body)
        fields = sent["response_format"]["json_schema"]["schema"]["properties"]
        said: dict[str, Any] = {
            name: answers(sent) if field["type"] == "boolean" else []
            for name, field in fields.items()
        }
        message = {"role": "assistant", "content": json.dumps(said)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        made = {"id": "c", "object": "chat.completion", "model": sent["model"]}
        return await replies({**made, "choices": [choice], "usage": usage})(visit)

    return does


def heats(server: Server) -> Counter[float]:
    bodies = [json.loads(one.body) for one in server.seen]
    return Counter(one.get("temperature") for one in bodies if one["messages"])


def test_ap_10_samples_of_one_member_are_drawn_and_may_differ(chat: Server) -> None:
    """AP-10: the first as it would be alone, the others drawn: they are no copies of one answer."""
    dice = random.Random(3)
    chat.does(chatty(lambda sent: sent["temperature"] == 0 or dice.random() < 0.5))
    words = (cases(2), "--question", "q.json", "--members", "chat,chat", "--rounds", "1")

    said = invoke(*words, "--arms", "self_consistency", "--concurrency", "1")

    (row, *_) = written()
    assert heats(chat) == {0: 2, 0.7: 2 * (row["k"] - 1)}
    assert len({value["answer"] for value in row["opening"].values()}) == 2
    assert "never differed" not in said


def test_ap_10_a_control_whose_samples_are_all_alike_is_told(chat: Server) -> None:
    """AP-10: one answer repeated is no control; a second thought is not a sample."""
    words = (cases(2), "--question", "q.json", "--members", "chat,chat", "--rounds", "1")

    said = invoke(*words, "--arms", "cost_matched,self_refine,independent")

    assert "cost_matched: the samples never differed: this control is one answer repeated" in said
    assert "self_refine: the samples" not in said
    (k,) = {row["k"] for row in written() if row["arm"] == "cost_matched"}
    assert heats(chat)[0.7] == 2 * (k - 1)


FAILURES: Mapping[str, tuple[Any, str]] = {
    "server error": (replies({}, 500), "provider_error"),
    "too many": (replies({}, 429), "rate_limited"),
    "its own time is up": (hangs(), "timeout"),
    "hung up": (None, "transport"),
}


@pytest.mark.parametrize("arms", ["chat", "independent"])
@pytest.mark.parametrize(("does", "reason"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_no_result_and_is_asked_again(
    chat: Server, monkeypatch: pytest.MonkeyPatch, does: Any, reason: str, arms: str
) -> None:
    """Before any breaker opens: not kept, told, exit 1; --resume asks again, and nothing else."""

    async def gone(visit: Visit) -> bool:
        await visit.send(b"")
        return False

    monkeypatch.setenv("CHAT_TIMEOUT_SECONDS", "0.5")
    chat.does(writes(), does or gone, writes())
    words = (cases(3), "--question", "q.json", "--members", "chat", "--arms", arms)
    first = invoke(*words, "--concurrency", "1", "--json", code=1)

    told = json.loads(first)
    assert (told["complete"], told["open"], told["stopped"]) == (2, 1, "")
    assert told["left"] == {f"chat: {reason}": 1}
    assert [row["case"] for row in written()] == ["c0", "c2"]
    again = json.loads(invoke(*words, "--resume", "--json"))
    assert (again["complete"], again["added"], again["open"]) == (3, 1, 0)


def test_an_invalid_answer_is_a_result(chat: Server) -> None:
    chat.does(replies({"model": "small", "choices": []}))

    told = json.loads(invoke(cases(2), "--question", "q.json", "--arms", "chat", "--json"))

    assert (told["complete"], told["open"], told["arms"][0]["answered"]) == (2, 0, 0)


def test_what_a_failure_cost_counts_and_its_matched_arms_wait(chat: Server) -> None:
    """BR-07: calls of a debate that failed are made; and nothing is matched with its plan."""
    chat.does(writes(), writes(), writes(), writes(), replies({}, 500), writes())
    words = (cases(2), "--question", "q.json", "--members", "chat,chat", "--rounds", "1")
    arms = ("--arms", "debate,cost_matched", "--concurrency", "1")

    told = json.loads(invoke(*words, *arms, "--max-calls", "8", "--json", code=3))

    assert (told["stopped"], told["open"]) == ("calls", 2)
    assert told["left"]["the debate that it is matched with is not known"] == 1
    assert len(chat.seen) == 6
    assert written() == []


def test_a_provider_is_an_arm_for_as_long_as_a_turn_lasts(panel: str) -> None:
    """BR-02: --turn-seconds holds for it as for a member; a time that is up is a result."""
    told = ran(panel, "--arms", "slow", "--turn-seconds", "0.3", count=1)

    assert arm(told, "slow")["answered"] == 0
    assert written()[0]["why"] == "timeout"


def test_arms_of_one_are_matched_with_a_debate_that_comes_later(panel: str) -> None:
    """AP-10: rows that were matched with the plan, or another debate, are run again."""
    words = ("--members", "right,right", "--arms")
    ran(panel, *words, "independent,cost_matched,placebo", count=2)
    planned = {row["case"]: row for row in written() if row["arm"] == "cost_matched"}
    told = ran(panel, *words, "independent,cost_matched,placebo,debate", "--resume", count=2)

    rows = {(row["case"], row["arm"]): row for row in written()}  # the later line counts
    assert told["added"] == 4
    for case, before in planned.items():
        matched, debate = rows[case, "cost_matched"], rows[case, "debate"]
        calls = sum(part["calls"] for part in debate["parts"].values())
        assert before["against"].startswith("placebo/")
        assert matched["against"].startswith("debate/")
        assert matched["k"] == max(1, calls - 2)
    assert ran(panel, *words, "independent,cost_matched,placebo,debate", "--resume", count=2)[
        "added"
    ] == 0  # fmt: skip


def test_the_debate_itself_is_the_reference_and_is_named(panel: str) -> None:
    words = ("--members", "right,wrong", "--arms", "placebo,debate_skeptic,debate,cost_matched")
    told = ran(panel, *words, count=1)
    said = invoke("cases.jsonl", "--question", "q.json", *words, "--resume", program=panel)

    assert told["reference"] == "debate"
    assert "ratio: calls over those of `debate`" in said


def test_the_ratio_is_in_the_unit_that_was_matched(chat: Server) -> None:
    words = (cases(1), "--question", "q.json", "--members", "chat,chat", "--rounds", "1")
    said = invoke(*words, "--arms", "debate,cost_matched", "--match", "tokens")

    assert "ratio: tokens over those of `debate`" in said
    assert len(chat.seen) > 1


def test_ap_17_a_placebo_of_content_shows_another_items_critiques(panel: str) -> None:
    """AP-17: of the same question alone; none about the item itself reaches a revision."""
    lines = [
        {"id": f"c{n}", "state": {"n": n, "truth": True}, "gold": True, "question": "ab"[n % 2]}
        for n in range(4)
    ]
    Path("two.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    asks = {name: {"kind": "predicate", "instructions": f"{name}?"} for name in "ab"}
    Path("list.json").write_text(json.dumps(asks))
    words = ("two.jsonl", "--questions", "list.json", "--members", "arguing,right,wrong")

    invoke(
        *words, "--arms", "debate,placebo", "--placebo", "content", "--rounds", "1",
        "--transcripts", "kept", program=panel,
    )  # fmt: skip

    heard = [
        (one["state"]["state"]["n"], int(re.findall(r"about case (\d)", critique["points"][0])[0]))
        for one in asked()
        if one["task"] == "answer"
        for critique in one["state"].get("critiques", ())
        if critique["points"]
    ]
    assert {about for n, about in heard if about == n}  # in the debate
    assert {about - n for n, about in heard} <= {
        0,
        2,
        -2,
    }  # in the placebo the next of its question
    placebos = [(n, about) for n, about in heard if about != n]
    assert len(placebos) == len(heard) - len(placebos)


def test_ap_17_an_item_that_is_alone_in_its_question_has_no_placebo_of_content(panel: str) -> None:
    words = ("--members", "right,wrong", "--arms", "debate,placebo", "--placebo", "content")
    said = invoke(
        cases(1), "--question", "q.json", *words, "--transcripts", "kept", program=panel, code=2
    )

    assert "no other item has the question of 'c0'" in said
    assert not Path("log.jsonl").exists()


def test_ap_17_a_placebo_of_roles_without_roles_is_told(panel: str) -> None:
    words = ("--question", "q.json", "--arms", "debate,placebo")
    alike = invoke(cases(1), *words, "--members", "right,wrong", program=panel)
    roles = ("--members", "right,skeptic=wrong", "--out", "other.jsonl")
    told = invoke("cases.jsonl", *words, *roles, program=panel)

    assert "no member has a role of its own" in alike
    assert "no member has a role of its own" not in told


def test_br_22_the_placebo_gap_is_shown_by_the_rule_of_all_pairs() -> None:
    """BR-22: an interval without 0 is not enough: the test has to hold, corrected for all pairs."""
    verdicts = {"debate": [True] * 5 + [True] * 35, "placebo": [False] * 5 + [True] * 35}
    summary, printed = told_of(verdicts, members="a,b")

    assert summary.placebo is not None
    assert summary.placebo.low > 0
    assert summary.placebo.shown == ""
    assert "no gap is shown" in printed
    assert printed.splitlines().count(summary.placebo.said) == 1


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("CHAT_MODEL", "large", "chat was small from 0 on there, and is large from 0 on"),
        ("CHAT_MIN_CONFIDENCE", "0.7", "chat was small from 0 on there, and is small from 0.7 on"),
    ],
)
def test_another_model_or_minimum_is_another_experiment(
    chat: Server, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, named: str
) -> None:
    words = (cases(1), "--question", "q.json", "--members", "chat,chat")
    invoke(*words, "--arms", "independent")
    monkeypatch.setenv(variable, value)
    before = len(chat.seen)

    said = invoke(*words, "--arms", "independent,chat", "--resume", code=2)

    assert named in said
    assert len(chat.seen) == before


def test_a_provider_that_is_served_by_two_models_is_told(chat: Server) -> None:
    def dated(version: str) -> Any:
        choice = {"message": {"content": '{"q1":true}'}, "finish_reason": "stop"}
        return replies({"model": f"small-2026-01-0{version}", "choices": [choice]})

    chat.does(dated("1"), dated("2"))
    said = invoke(cases(2), "--question", "q.json", "--arms", "chat", "--concurrency", "1")

    told = "chat was served by more than one model: small-2026-01-01 (1), small-2026-01-02 (1)"
    assert told in said


@pytest.mark.usefixtures("chat")
def test_money_is_set_aside_by_arm() -> None:
    """BR-07: a debate is not begun because the cheap arms before it have a low mean."""
    words = (cases(6), "--question", "q.json", "--members", "chat,chat", "--rounds", "1")
    both = ("--arms", "chat,debate", "--json")
    whole = json.loads(invoke(*words, *both, "--out", "whole.jsonl"))
    one = {each["arm"]: each["usd"] / 6 for each in whole["arms"]}
    limit = one["chat"] * 2.5 + one["debate"] * 2.5

    told = json.loads(invoke(*words, *both, "--max-cost", str(limit), code=3))

    spent = sum(part["usd"] for row in written() for part in row["parts"].values())
    assert told["stopped"] == "cost"
    assert 0 < spent <= limit


def test_a_limit_of_money_says_whom_it_does_not_hold_for(panel: str) -> None:
    cases(2)
    words = ("cases.jsonl", "--question", "q.json", "--arms", "right", "--max-cost", "1")
    said = invoke(*words, program=panel)

    assert said.count("right tells no price: --max-cost does not count what it costs.") == 1


def test_calls_that_are_set_aside_and_not_made_are_there_for_others(panel: str) -> None:
    """BR-08: who agrees at once leaves most of its calls; others wait for that, and go on."""
    words = ("--members", "right,right", "--arms", "debate", "--max-calls", "40")
    told = ran(panel, *words, "--concurrency", "4")

    assert (told["complete"], told["stopped"]) == (6, "")
    assert len(asked()) == 36  # ten are set aside for each debate, and six are made


@unix
def test_whoever_reads_the_first_line_alone_has_read_enough(panel: str) -> None:
    words = ["--app", panel, "compare-arms", cases(2), "--question", "q.json", "--arms", "right"]
    command = [sys.executable, "-m", "pointsman", *words]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            command, env=clean({}), stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


# --- resuming ------------------------------------------------------------------------------


def process(program: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pointsman", "--app", program, "compare-arms", *words],
        env=clean(variables),
        capture_output=True,
        text=True,
        check=False,
    )


@unix
@pytest.mark.parametrize("dies", [1, 7, 20, 41])
def test_killed_at_any_moment_nothing_finished_is_asked_again(panel: str, dies: int) -> None:
    """BR-18, BR-22: kill -9, then --resume: whole lines stay, and the figures are the same."""
    words = [cases(4), "--question", "q.json", "--members", "right,swayed,right"]
    words += ["--arms", "independent,debate,placebo", "--concurrency", "1", "--json"]
    whole = json.loads(process(panel, *words, "--out", "whole.jsonl").stdout)
    once = len(asked())
    Path("log.jsonl").unlink()

    killed = process(panel, *words, DIES=str(dies))
    before = written() if Path("cases.jsonl.arms.jsonl").exists() else []
    spent = len(asked())
    done = sum(part["calls"] for row in before for part in row["parts"].values())
    again = process(panel, *words, "--resume")

    assert killed.returncode == -signal.SIGKILL
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert told["pairs"] == whole["pairs"]
    assert [one["right"] for one in told["arms"]] == [one["right"] for one in whole["arms"]]
    assert len(asked()) == spent + once - done
    assert written()[: len(before)] == before
    assert json.loads(process(panel, *words, "--resume").stdout)["added"] == 0


@unix
def test_ctrl_c_keeps_what_is_under_way(panel: str) -> None:
    """The first signal begins nothing more, and waits for the arm that is asked."""
    words = [cases(4), "--question", "q.json", "--members", "right,swayed"]
    words += ["--arms", "debate,independent", "--concurrency", "1"]

    ended = process(panel, *words, DIES="3", BY="SIGINT")

    assert ended.returncode == 128 + signal.SIGINT
    assert "the same command with --resume goes on" in ended.stderr
    kept = written()
    assert [row["arm"] for row in kept] == ["debate"]
    assert len(asked()) == sum(part["calls"] for part in kept[0]["parts"].values())
    assert process(panel, *words, "--resume").returncode == 0


@unix
@pytest.mark.parametrize("dies", [4, 8, 11])
def test_br_18_with_transcripts_no_turn_is_asked_twice(panel: str, dies: int) -> None:
    """BR-18: a debate that was broken off goes on after its last finished turn."""
    words = [cases(2), "--question", "q.json", "--members", "right,swayed", "--rounds", "1"]
    words += ["--arms", "debate", "--concurrency", "1", "--transcripts", "kept", "--json"]

    killed = process(panel, *words, DIES=str(dies))
    again = process(panel, *words, "--resume")

    assert killed.returncode == -signal.SIGKILL
    assert json.loads(again.stdout)["complete"] == 2, again.stderr
    # of the turns under way when it was killed two at most are asked again: one a member
    assert 12 <= len(asked()) <= 14
    kept = sorted(Path("kept").iterdir())
    assert len(kept) == 2
    shown = CliRunner().invoke(app, ["debate", "verify", str(kept[0])])
    assert shown.exit_code == 0, shown.output


def test_a_torn_line_is_dropped_and_a_whole_one_kept(panel: str) -> None:
    words = ("--members", "right,wrong", "--arms", "independent")
    ran(panel, *words)
    path = Path("cases.jsonl.arms.jsonl")
    content = path.read_bytes()

    path.write_bytes(content[:-9])
    assert ran(panel, *words, "--resume")["added"] == 1
    path.write_bytes(path.read_bytes()[:-1])  # only its line end is missing
    assert ran(panel, *words, "--resume")["added"] == 0
    assert Counter(row["case"] for row in written()) == {f"c{n}": 1 for n in range(6)}


def test_a_case_that_changed_is_another_case(panel: str) -> None:
    """Its digest counts its question, its state and its gold."""
    words = ("--members", "right,wrong", "--arms", "independent")
    ran(panel, *words)

    lines = Path("cases.jsonl").read_text().splitlines()
    changed = {**json.loads(lines[0]), "gold": False}
    Path("cases.jsonl").write_text("\n".join([json.dumps(changed), *lines[1:]]))
    said = invoke(
        "cases.jsonl", "--question", "q.json", *words, "--resume", "--json", program=panel
    )

    assert json.loads(said)["added"] == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "there are results already"),
        (("--resume", "--rounds", "1"), "--rounds"),
        (("--resume", "--rule", "plurality"), "--rule"),
        (("--resume", "--members", "right,wrong,right"), "--members"),
    ],
)
def test_results_of_another_experiment_are_not_gone_on_with(
    panel: str, words: Sequence[str], named: str
) -> None:
    first = ("--members", "right,wrong", "--arms", "debate")
    ran(panel, *first)
    count = len(asked())

    said = invoke("cases.jsonl", "--question", "q.json", *first, *words, program=panel, code=2)

    assert named in said
    assert len(asked()) == count


def test_arms_may_be_added_to_an_experiment(panel: str) -> None:
    """Which arms there are is no part of what makes a file: one more costs one more."""
    ran(panel, "--members", "right,wrong", "--arms", "independent")
    told = ran(panel, "--members", "right,wrong", "--arms", "independent,debate", "--resume")

    assert told["added"] == 6


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    header = Header(members="", settings={})
    first = Results(tmp_path / "out.jsonl", header, resume=False)

    with pytest.raises(SetupError, match="another run is writing it"):
        Results(tmp_path / "out.jsonl", header, resume=True)
    first.close()
    Results(tmp_path / "out.jsonl", header, resume=True).close()


# --- what is asked -------------------------------------------------------------------------


def test_questions_come_from_a_point_a_file_or_the_case(panel: str) -> None:
    Path("list.json").write_text(
        json.dumps({"so": json.loads('{"kind":"predicate","instructions":"So?"}')})
    )
    own = {"kind": "choice", "instructions": "Which?", "options": ["yes", "no"]}

    listed = invoke(
        cases(2, question="so"),
        "--questions",
        "list.json",
        "--arms",
        "right",
        "--json",
        program=panel,
    )
    assert json.loads(listed)["arms"][0]["right"] == 2

    state = {"message": "I want a human, now"}
    line = {"id": 1, "state": state, "gold": "yes", "question": own}
    Path("own.jsonl").write_text(json.dumps(line))
    assert json.loads(invoke("own.jsonl", "--arms", "local", "--json"))["complete"] == 1

    line = {"id": 1, "state": {"text": "You are an idiot."}, "gold": True}
    Path("point.jsonl").write_text(json.dumps(line))
    words = ("point.jsonl", "--point", "GUARDRAIL_TOX", "--arms", "local", "--json")
    assert json.loads(invoke(*words))["arms"][0]["answered"] == 1


def test_a_split_and_a_limit_choose_cases(panel: str) -> None:
    cases(3, split="cal")
    part = Path("cases.jsonl").read_text()
    cases(4, split="test")
    Path("cases.jsonl").write_text(part.replace('"c', '"k') + Path("cases.jsonl").read_text())

    words = ("cases.jsonl", "--question", "q.json", "--arms", "right", "--json")
    told = json.loads(invoke(*words, "--split", "test", "--limit", "3", program=panel))

    assert told["complete"] == 3
    assert [row["case"] for row in written()] == ["c0", "c1", "c2"]


def test_a_score_is_right_on_its_level() -> None:
    """Half a level away from gold is wrong; a range says itself what is right."""
    asks = {"kind": "score", "instructions": "How good?", "options": ["bad", "so", "good"]}
    Path("s.json").write_text(json.dumps(asks))
    lines = [
        {"id": "level", "state": "x", "gold": "so"},
        {"id": "number", "state": "x", "gold": 2},
        {"id": "range", "state": "x", "gold": {"min": 0.4, "max": 1.2}},
    ]
    Path("s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    from pointsman.providers.deliberation.comparing.cases import OfFile, read_cases
    from pointsman.providers.deliberation.comparing.questions import asked_in

    level, number, within = read_cases(Path("s.jsonl"), OfFile(asked_in(Path("s.json"), "-q")))

    assert [level.right({"answer": x}) for x in (0.6, 1.0, 1.49, 1.5, 0.5)] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert [number.right({"answer": x}) for x in (1.6, 1.4)] == [True, False]
    assert [within.right({"answer": x}) for x in (0.4, 1.2, 0.39)] == [True, True, False]
    assert not level.right(None)
    assert not level.right({"answer": None})


FAULTS = {
    "no JSON": ("{", "it is no JSON"),
    "no gold": ('{"state": "x"}', "gold"),
    "null": ('{"state": null, "gold": true}', "null"),
    "no answer": ('{"state": "x", "gold": "perhaps"}', "'perhaps' is no answer"),
    "twice": ('{"id": "a", "state": "x", "gold": true}\n' * 2, "that of an earlier line"),
    "empty": ("\n", "it has no items"),
    "other name": ('{"state": "x", "gold": {"what": true}}', "asked is answer"),
}


@pytest.mark.parametrize(("content", "named"), FAULTS.values(), ids=FAULTS)
def test_a_line_that_is_no_case_is_told_before_anything_is_asked(
    panel: str, content: str, named: str
) -> None:
    cases()
    Path("bad.jsonl").write_text(content)

    said = invoke("bad.jsonl", "--question", "q.json", "--arms", "right", program=panel, code=2)

    assert named in said
    assert not Path("log.jsonl").exists()


OPTIONS = {
    "no such arm": (("--arms", "debate, ,right"), "neither an arm"),
    "twice": (("--arms", "right,right"), "named twice"),
    "no panel": (("--arms", "debate"), "need a panel"),
    "one alone": (("--arms", "debate", "--members", "right"), "takes two members"),
    "unknown member": (("--arms", "independent", "--members", "right,nobody"), "Installed: "),
    "unknown provider": (("--arms", "nobody"), "no provider 'nobody' is installed"),
    "no content": (
        ("--arms", "placebo", "--members", "right,wrong", "--placebo", "content"),
        "no arm gives them",
    ),
    "content that nothing keeps": (
        ("--arms", "debate,placebo", "--members", "right,wrong", "--placebo", "content"),
        "which only transcripts keep",
    ),
    "no end of a turn": (("--arms", "right", "--turn-seconds", "inf"), "--turn-seconds: inf is no"),
    "no amount": (("--arms", "right", "--max-cost", "inf"), "--max-cost: inf is no amount"),
    "two sources": (("--arms", "right", "--point", "ROUTER"), "both say what is asked"),
}


@pytest.mark.parametrize(("words", "named"), OPTIONS.values(), ids=OPTIONS)
def test_an_option_that_is_wrong_is_named(panel: str, words: Sequence[str], named: str) -> None:
    said = invoke(cases(), "--question", "q.json", *words, program=panel, code=2)

    assert named in said
    assert not Path("log.jsonl").exists()


def test_no_question_at_all_is_told(panel: str) -> None:
    said = invoke(cases(), "--arms", "right", program=panel, code=2)

    assert "it names no question: give --point, --question or --questions" in said


def test_the_embedded_decider_alone_is_enough() -> None:
    """No key, no network: `local` on a small file, every arm."""
    pytest.importorskip("numpy")
    lines = [
        {"id": n, "state": text, "gold": gold}
        for n, (text, gold) in enumerate(
            [("my invoice is too high", "billing"), ("the router is dead", "tech")] * 3
        )
    ]
    Path("teams.jsonl").write_text("\n".join(map(json.dumps, lines)))
    asks = {
        "kind": "choice",
        "instructions": "Which team takes it?",
        "options": {"billing": "Invoices and amounts", "tech": "Faults and broken devices"},
    }
    Path("teams.json").write_text(json.dumps(asks))

    words = ("teams.jsonl", "--question", "teams.json", "--members", "local,local")
    said = invoke(*words, "--arms", f"{ALL},local")

    assert "6 of 6 items" in said
    assert said.count("local is asked more than once, and says the same each time") == 1
    for name in ALL.split(","):
        assert name in said
    assert "better" not in said


def test_an_arm_that_answered_nothing_says_who_was_too_unsure(
    panel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A control whose samples were all unsure is none either."""
    monkeypatch.setenv("RIGHT_MIN_CONFIDENCE", "0.95")
    words = ("--question", "q.json", "--members", "right,wrong", "--rounds", "0")
    said = invoke(cases(2), *words, "--arms", "right,wrong,self_consistency", program=panel)

    k = written()[-1]["k"]
    assert k > 1
    for name, many in {"right": 2, "self_consistency": 2 * k}.items():
        told = f"right was too unsure {many} times; RIGHT_MIN_CONFIDENCE says what counts"
        assert f"{name} answered nothing: {told}" in said
    assert "wrong answered nothing" not in said
    assert "self_consistency: the samples never differed: none of them counts" in said


def test_only_who_says_the_same_each_time_is_told_to_be_a_copy(panel: str) -> None:
    """A function may answer otherwise when it is asked again; `local` cannot."""
    words = ("--question", "q.json", "--arms", "independent")
    may = invoke(cases(1), *words, "--members", "right,right", program=panel)
    roles = ("--members", "local,skeptic=local", "--out", "roles.jsonl")
    other = invoke(cases(1), *words, *roles, program=panel)

    assert "more than once" not in may
    assert "more than once" not in other


def test_a_transcript_says_what_a_replay_of_it_needs(panel: str) -> None:
    """The file of `--about` holds what was deliberated on: an item's id and its state."""
    words = ("--question", "q.json", "--members", "right,wrong", "--transcripts", "kept")
    invoke(cases(1), *words, "--arms", "independent", program=panel)
    (path,) = Path("kept").iterdir()
    about = Path("about.json")

    def replay(what: object, code: int) -> str:
        about.write_text(json.dumps(what))
        result = CliRunner().invoke(app, ["debate", "replay", str(path), "--about", str(about)])
        assert result.exit_code == code, (result.output, result.exception)
        return result.output

    case = json.loads(Path("cases.jsonl").read_text())
    for wrong in ({"n": 1}, ["c0"], 7, {"subject": "c0", "items": [{"id": ""}]}):
        assert '{"subject": "its id", "state": …}' in replay(wrong, 2)
    assert "not what was deliberated on" in replay({"subject": "c9"}, 2)
    assert "it comes to the same" in replay({"subject": case["id"], "state": case["state"]}, 0)


# --- nothing is said that is not shown -------------------------------------------------------


def test_br_22_what_is_shown_is_said(panel: str) -> None:
    """BR-22: an interval without 0, and a test that holds: then the word, and only then."""
    words = ("--question", "q.json", "--arms", "right,wrong")

    few = invoke(cases(3), *words, "--out", "few.jsonl", program=panel)
    many = invoke(cases(12), *words, "--out", "many.jsonl", program=panel)

    assert "better" not in few  # the interval of three items is [100, 100], which shows nothing
    assert "no difference shown" in few
    assert "right is better than wrong: 100.0 points on 12 items." in many


Columns = dict[str, list[bool]]


@st.composite
def columns(draw: st.DrawFn) -> Columns:
    """Up to four arms on up to 40 items, some alike and some far apart."""
    dice = random.Random(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 40))
    shares = draw(st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.6, 1.0]), min_size=2, max_size=4))
    return {f"arm{i}": [dice.random() < one for _ in range(n)] for i, one in enumerate(shares)}


def told_of(verdicts: Columns, members: str = "") -> tuple[Summary, str]:
    """All that is printed about results with these verdicts, for people and for programs."""
    n = len(next(iter(verdicts.values())))
    ask = Ask("x", {"answer": Predicate("So?")})
    items = [Case(f"c{i}", ask, {"answer": True}, "d") for i in range(n)]
    experiment = experiment_of(",".join(verdicts), members, {})
    with tempfile.TemporaryDirectory() as folder:
        results = Results(Path(folder) / "r", Header(members="", settings={}), resume=False)
        for name, rights in verdicts.items():
            for item, right in zip(items, rights, strict=True):
                row = Row(
                    case=item.id, digest="d", arm=name, given={"answer": right}, sure=0.7,
                    parts={"answer": Part(calls=1)},
                )  # fmt: skip
                results.append(row)
        results.close()
        summary = summed(experiment, items, results)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        page.show(summary)
        screen.data(summary)
    return summary, out.getvalue()


@given(columns())
@law
def test_br_22_no_word_of_better_while_an_interval_holds_zero(verdicts: Columns) -> None:
    """BR-22: neither for people nor for programs; and it is said of those that are ahead."""
    summary, printed = told_of(verdicts)

    for one in summary.pairs:
        holds_zero = one.low <= 0 <= one.high
        assert not (one.shown and holds_zero)
        assert ("better" in one.said) is bool(one.shown)
        if one.shown:
            assert one.shown == (one.a if one.difference > 0 else one.b)
            assert one.p <= 0.05
        else:
            assert "no difference shown" in one.said
    if all(one.low <= 0 <= one.high for one in summary.pairs):
        assert "better" not in printed
    assert set(re.findall(r"(\w+) is better", printed)) == {
        one.shown for one in summary.pairs if one.shown
    }


def test_br_22_of_arms_that_are_alike_hardly_any_is_called_better() -> None:
    """Of 200 experiments of three equal arms on 60 items; without the test it would be more."""
    dice = random.Random(11)
    said = naive = 0
    for _ in range(200):
        arms = {name: [dice.random() < 0.6 for _ in range(60)] for name in "abc"}
        pairs = compared(arms, draws=400)
        said += any(one.shown for one in pairs)
        naive += any(one.low > 0 or one.high < 0 for one in pairs)

    assert said <= 10  # 5 %
    assert naive > said


@given(columns(), st.integers(0, 99))
@law
def test_br_22_an_interval_is_seeded_by_the_number_of_its_draw(
    verdicts: Columns, seed: int
) -> None:
    """BR-22: neither other arms nor their order change it; turned round it is its mirror."""
    names = list(verdicts)
    a, b = names[0], names[-1]
    pair = {a: verdicts[a], b: verdicts[b]}

    found = differences(verdicts, seed=seed, draws=100)

    assert differences(pair, seed=seed, draws=100)[a, b] == found[a, b]
    low, high = differences({b: verdicts[b], a: verdicts[a]}, seed=seed, draws=100)[b, a]
    assert (-high, -low) == pytest.approx(tuple(found[a, b]), abs=1e-12)
    rights = [sum(verdicts[name]) for name in (a, b)]
    if verdicts[a] == verdicts[b]:
        assert tuple(found[a, b]) == (0, 0)
    assert -1 <= found[a, b].low <= found[a, b].high <= 1
    assert len(rights) == 2


def test_the_number_of_items_that_a_difference_needs() -> None:
    """BR-22, FV power: 30 of 100 discordant, 10 points → 234 items."""
    a = [True] * 20 + [False] * 10 + [True] * 70
    b = [False] * 20 + [True] * 10 + [True] * 70

    (one,) = compared({"a": a, "b": b})

    assert (one.only_a, one.only_b, one.needed) == (20, 10, 234)
    assert one.said == (
        "a and b: no difference shown; about 234 items would be needed for one of 10.0 points "
        "(as measured)."
    )


def test_the_number_of_items_is_for_one_pair_and_says_so() -> None:
    a, b = [True] * 20 + [False] * 80, [False] * 10 + [True] * 15 + [False] * 75

    told = compared({"a": a, "b": b, "c": a})

    assert told[0].said.endswith("(as measured, were it the only pair).")


PAGE = (Path(__file__).parent.parent / "docs" / "compare-arms.md").read_text("utf-8")


def plain(text: str) -> list[str]:
    """Lines without what differs from machine to machine: times, and the width they take."""
    timeless = re.sub(r"\d+\.\d (?:ms|s)\b", "TIME", text)
    return [re.sub(r"[ ─]+", " ", line).strip() for line in timeless.splitlines()]


def test_the_page_shows_what_its_example_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who copies the page's files and command sees what the page shows."""
    monkeypatch.setenv("COLUMNS", "80")
    panel, make = re.findall(r"^```py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (console,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    command, continued, *shown = console.splitlines()
    name = f"panel_{next(NUMBER)}"
    (tmp_path / f"{name}.py").write_text(panel)
    exec(compile(make, "make.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own page
    typed = command.removesuffix("\\") + continued
    words = typed.replace("panel:", f"{name}:").split()

    assert words[:3] == ["$", "pointsman", "--app"]
    printed = CliRunner().invoke(app, words[2:]).output
    assert plain(printed) == plain("\n".join(shown))


def test_columns_without_items_compare_nothing() -> None:
    empty: list[Columns] = [{}, {"a": [], "b": []}, {"a": [True], "b": []}]
    for wrong in empty:
        with pytest.raises(ValueError, match="columns"):
            differences(wrong)
