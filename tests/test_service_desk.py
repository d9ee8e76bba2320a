"""
The service desk of the examples: the whole turn flow, over all points of the catalogue.

Its provider calls in the routing part are those of the table "Calls in sequence per turn".
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pointsman.decision_points import pointsman_points

EXAMPLES = Path(__file__).parent.parent / "examples"
CATALOGUE = {point.name for point in pointsman_points() if not point.internal}

pytestmark = pytest.mark.source

# scene → provider calls of the routing part: inside a turn, and one by one as it is today
TABLE = {
    "a free turn": (1, 2),
    "a paused workflow, compound reply": (1, 4),
    "collecting, off-topic reply": (1, 3),
    "awaiting, plain sim": (1, 1),
    "awaiting, unclear reply": (1, 3),
}

# scene → what the host does, and who takes it
ROUTES = {
    "a free turn": ("invoice_explanation", "billing_agent"),
    "first contact, nothing to go by": ("fallback", "reception_agent"),
    "a paused workflow, compound reply": ("invoice_explanation", "billing_agent"),
    "a paused workflow, courteous yes": ("resume with YES", "support_agent"),
    "collecting, an answer": ("consumed: reason=broken", "support_agent"),
    "collecting, off-topic reply": ("intent_shift", "orders_agent"),
    "awaiting, plain sim": ("confirmed, executed once", "dispute_agent"),
    "awaiting, unclear reply": ("the transaction keeps the turn", "dispute_agent"),
    "awaiting, yes and something more": ("confirmed, executed once", "dispute_agent"),
    "barge-in that adds nothing": None,
    "blocked input": None,
    "retrieval with a poisoned passage": ("order_return", "support_agent"),
    "output rewrite": ("invoice_explanation", "billing_agent"),
    "an amount that nothing supports": ("invoice_explanation", "billing_agent"),
    "two goals in one message": ("invoice_explanation", "billing_agent"),
}


@pytest.fixture(scope="module")
def desk() -> Iterator[Any]:
    """The example as a module."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield importlib.import_module("service_desk")
    finally:
        sys.path.remove(str(EXAMPLES))
        for name in [
            one for one in sys.modules if one.partition(".")[0] in {"desk", "service_desk"}
        ]:
            del sys.modules[name]


class Played:
    """All scenes, played with one provider."""

    def __init__(self, desk: Any, provider: str, *, shares: bool = True) -> None:
        self.words = desk.Words()
        self.told: dict[str, Any] = {}
        self.sent: dict[str, int] = {}
        self._desk, self._provider, self._shares = desk, provider, shares

    async def play(self) -> Played:
        async with self._desk.desk({"DECISION_PROVIDER": self._provider}, self.words) as gateway:
            for scene in self._desk.SCENES:
                before = len(self.words.asked)
                told = await self._desk.play(gateway, scene, shares=self._shares)
                self.told[scene.title] = told
                self.sent[scene.title] = len(self.words.asked) - before
        return self

    def values(self, title: str) -> list[tuple[str, str, Any]]:
        return [
            (line.step, line.decision.record.point, line.decision.record.outcome)
            for line in self.told[title].asker.lines
        ]


def played(desk: Any, provider: str, *, shares: bool = True) -> Played:
    return desk.asyncio.run(Played(desk, provider, shares=shares).play())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def together(desk: Any) -> Played:
    return played(desk, "words")


@pytest.fixture(scope="module")
def apart(desk: Any) -> Played:
    return played(desk, "words", shares=False)


@pytest.fixture(scope="module")
def today(desk: Any) -> Played:
    return played(desk, "current")


@pytest.mark.parametrize("title", TABLE)
def test_the_routing_part_takes_the_calls_of_the_table(
    title: str, together: Played, apart: Played
) -> None:
    """A14: both modes of INTENT_SHIFT are read from one answer."""
    assert (together.told[title].calls("5"), apart.told[title].calls("5")) == TABLE[title]


@pytest.mark.parametrize("title", ROUTES)
def test_calls_are_counted_as_the_provider_counts_them(
    title: str, together: Played, apart: Played
) -> None:
    assert together.told[title].calls() == together.sent[title]
    assert apart.told[title].calls() == apart.sent[title]
    assert together.sent[title] <= apart.sent[title]


def test_each_share_group_of_a_turn_is_one_call(together: Played) -> None:
    free, poisoned = (
        together.told["a free turn"],
        together.told["retrieval with a poisoned passage"],
    )

    assert {step: free.calls(step) for step in "3578"} == {"3": 1, "5": 1, "7": 1, "8": 1}
    assert poisoned.calls("6") == 1  # three passages in one list
    assert together.told["output rewrite"].calls("7") == 2  # another text is another call


def test_input_rails_and_routing_never_share(together: Played) -> None:
    """They see another text, and fail otherwise."""
    for asked in together.words.asked:
        points = {name.partition(".")[0] for name in asked if "." in name}
        assert not ({"ROUTER", "ROUTE_CONTINUITY"} & points and "GUARDRAIL_PINJ" in points)


def test_every_point_of_the_catalogue_is_asked(together: Played, apart: Played) -> None:
    for told in (together.told.values(), apart.told.values()):
        asked = {line.decision.record.point for one in told for line in one.asker.lines}
        assert asked == CATALOGUE | {"GUARDRAIL_PINJ_OUTPUT"}


@pytest.mark.parametrize("title", ROUTES)
def test_a_turn_changes_no_decision(title: str, together: Played, apart: Played) -> None:
    assert together.values(title) == apart.values(title)


@pytest.mark.parametrize("title", ROUTES)
def test_each_turn_ends_as_scripted_whoever_decides(
    title: str, together: Played, today: Played
) -> None:
    """The provider knows the same rules, so that only who is asked differs (A10, A13, A20)."""
    for told in (together.told[title], today.told[title]):
        assert (told.routed and told.routed[:2]) == ROUTES[title]
    assert together.told[title].answer == today.told[title].answer
    assert together.told[title].changes == today.told[title].changes


def test_with_current_the_word_rules_decide_and_nobody_else_is_asked(
    desk: Any, today: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line for told in today.told.values() for line in told.asker.lines]
    assert {line.decision.provider for line in lines} == {"current"}
    assert today.words.asked == []

    rules = importlib.import_module("desk.rules").RULES
    monkeypatch.setitem(rules, "ROUTER", lambda _: ("order_return", 0.9))
    other = played(desk, "current")

    assert other.told["a free turn"].routed[:2] == ("order_return", "support_agent")
    assert other.values("blocked input") == today.values("blocked input")


def test_what_the_rails_do_is_done(together: Played) -> None:
    """A21, A24: block, drop, reword, look again; each by what its point makes the host do."""
    told = together.told

    assert told["blocked input"].changes == ("blocked on input",)
    assert told["blocked input"].routed is None
    assert told["barge-in that adds nothing"].changes == ("replayed",)
    assert told["retrieval with a poisoned passage"].dropped == 1
    assert told["output rewrite"].answer == "Cloud Radio costs 15.50 a month."
    assert told["awaiting, plain sim"].answer.endswith("P-204881.")  # cleared by the recheck
    assert told["awaiting, plain sim"].changes == ()


def test_judges_speak_of_the_final_answer(together: Played) -> None:
    """A26, A27: no score from a predicate, and the sentiment is always there."""
    judgements = together.told["an amount that nothing supports"].judgements

    assert {name for name, one in judgements.items() if not one.allowed} == {"JUDGE_ALUC"}
    assert judgements["JUDGE_ALUC"].score is None
    assert judgements["JUDGE_CSI"].sentiment == "NEUTRAL"
    assert judgements["JUDGE_RQLT"].score == pytest.approx(0.8)


def test_several_goals_become_pending_topics(together: Played) -> None:
    """A17–A19: the goals that were cut out, in their order, each with an intent."""
    told = together.told

    assert told["two goals in one message"].routed.pending == ("addon_cancel",)
    assert told["awaiting, yes and something more"].routed.pending == ("order_tracking",)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DECISION_", "JEV_"))}
    kept.pop("AI_GATEWAY_API_KEY", None)
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "service_desk.py"), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**kept, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"},
        check=False,
        timeout=100,
    )


def test_the_command_shows_every_turn_and_what_it_took(together: Played) -> None:
    ran = command()

    assert (ran.returncode, ran.stderr) == (0, "")
    for number, title in enumerate(together.told, 1):
        assert f"\n{number:2}  {title}\n" in ran.stdout
    assert re.search(
        r"GLOBAL_SUPERVISOR +NONE +current .*\n +words was not believed: abstained\n", ran.stdout
    )
    assert re.search(r"\na paused workflow, compound reply +4 +1 +21 +4\n", ran.stdout)
    assert max(map(len, ran.stdout.splitlines())) <= 80


def test_another_provider_is_one_option_away() -> None:
    local = command("--provider", "local")
    keyless = command("--provider", "jev")

    assert local.returncode == 0
    assert "DECISION_PROVIDER=local" in local.stdout
    assert keyless.returncode == 2
    assert keyless.stderr.startswith("AI_GATEWAY_API_KEY: it is not set")
