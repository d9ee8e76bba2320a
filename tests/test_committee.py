"""The provider `committee`: who is asked, what comes of it, and what the host gets."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

import served
import virtual
from faulty import ASK, TEAM, Server, Visit, answered, chosen, drops, hangs, replies
from fences import ROOT
from pointsman import (
    Ask,
    Call,
    Choice,
    Decision,
    Draft,
    Gateway,
    Limits,
    NoAnswer,
    Offer,
    Predicate,
    Reason,
    Recorder,
    Reply,
    Score,
    SetupError,
    Usage,
    When,
    Written,
    hookimpl,
    scripted,
)
from pointsman.gateway.answers import Chosen
from pointsman.gateway.cli.app import app
from pointsman.gateway.questions import Question
from pointsman.gateway.records import Shadow
from pointsman.providers.deliberation import members
from pointsman.providers.deliberation.committee import CommitteeSettings
from pointsman.providers.deliberation.committee.rerunning import rerun_committee
from pointsman.providers.deliberation.replaying import Replay, rerun
from pointsman.providers.deliberation.transcript import Mismatch, Transcript, read
from served import asking, running
from trialling import Kept, Offers

Gateways = Callable[..., Gateway]

SAFE = Ask("wire 90,000 to a new account", {"safe": Predicate("Is it safe?")})
RISK = Ask("wire 90,000 to a new account", {"risk": Score("How risky?", low=0, high=10)})


def says(value: object) -> Any:
    """A member that always says the same."""
    return virtual.obedient(value)


def deciding(point: str = "ROUTER", seats: str = "a,b,c", **settings: Any) -> dict[str, str]:
    """Variables that let a committee decide *point*."""
    own = {f"COMMITTEE_{name.upper()}": str(value) for name, value in settings.items()}
    return {f"DECISION_{point}_PROVIDER": "committee", "COMMITTEE_MEMBERS": seats, **own}


def decided(
    gateway: Gateway, ask: Ask = ASK, current: Callable[[], Any] = lambda: "current"
) -> Decision[Any]:
    """Decide in virtual time, so that no deadline of a test takes any."""
    return virtual.run(gateway.ask("ROUTER", ask, current=current))


def asked(
    gateway: Gateway, ask: Ask = ASK, current: Callable[[], Any] = lambda: "current"
) -> Decision[Any]:
    """Decide for a caller without a loop."""
    return gateway.ask_sync("ROUTER", ask, current=current)


def notes(decision: Decision[Any]) -> Mapping[str, float]:
    """What the committee noted beside its answer."""
    first = decision.record.attempts[0]
    assert first.provider.startswith("committee")
    return first.notes or {}


# --- what comes of it --------------------------------------------------------------------


@pytest.mark.parametrize("way", ["async", "sync"])
def test_two_of_three_decide_a_choice(gateway_of: Gateways, way: str) -> None:
    """D.1.1, BR-11: the strict majority of those expected, (v + 1)/(n + 2) sure."""
    plugins = [members(a=says("tech"), b=says("billing"), c=says("tech"))]
    gateway = gateway_of(deciding(), plugins=plugins)

    decision = (asked if way == "sync" else decided)(gateway)

    assert decision.value == "tech"
    assert decision.provider == "committee"
    assert decision.confidence == pytest.approx(0.6, abs=1e-12)
    assert notes(decision)["team.vote_share"] == pytest.approx(2 / 3)
    assert {"responded": 3.0, "expected": 3.0, "calls": 3.0, "rounds": 0.0}.items() <= (
        notes(decision).items()
    )


def test_probabilities_come_to_their_median(gateway_of: Gateways) -> None:
    """D.1.1: the confidence is the probability of the selected truth."""
    plugins = [members(a=says((True, 0.9)), b=says((True, 0.7)), c=says((False, 0.6)))]
    decision = decided(gateway_of(deciding(), plugins=plugins), SAFE)

    assert decision.value is True
    assert decision.confidence == pytest.approx(0.7)
    assert notes(decision)["safe.probability"] == pytest.approx(0.7)


def test_odds_come_to_their_geometric_mean(gateway_of: Gateways) -> None:
    """D.1.1, FV-24."""
    plugins = [members(a=says((True, 0.9)), b=says((True, 0.9)), c=says((False, 0.8)))]
    decision = decided(gateway_of(deciding(predicate_rule="odds"), plugins=plugins), SAFE)

    assert decision.confidence == pytest.approx(0.7316, abs=5e-5)


def test_a_stated_truth_makes_it_a_vote(gateway_of: Gateways) -> None:
    """D.1.1: two say so, one is sure of the opposite: a vote, and no number is made up."""
    plugins = [members(a=says(value=False), b=says(value=False), c=says((True, 0.99)))]
    decision = decided(gateway_of(deciding(), plugins=plugins), SAFE)

    assert decision.value is False
    assert decision.confidence == pytest.approx(0.6)
    assert notes(decision)["safe.vote_share"] == pytest.approx(2 / 3)


def test_scores_come_to_their_median(gateway_of: Gateways) -> None:
    """D.1.1, B.5: confidence 1 − IQR/range, from how close they lie."""
    said = {"a": 7.0, "b": 7.5, "c": 8.0, "d": 6.0}
    plugins = [members(**{name: says((value, 0.9)) for name, value in said.items()})]
    decision = decided(gateway_of(deciding(seats="a,b,c,d"), plugins=plugins), RISK)

    assert decision.value == pytest.approx(7.25)
    assert decision.confidence == pytest.approx(0.9125)
    assert notes(decision)["risk.dispersion"] == pytest.approx(0.0875)


def test_scores_that_lie_apart_are_an_abstention(gateway_of: Gateways) -> None:
    """D.1.1: an IQR above the bound."""
    plugins = [members(a=says((1.0, 0.9)), b=says((9.0, 0.9)), c=says((5.0, 0.9)))]
    decision = decided(gateway_of(deciding(max_spread=0.3), plugins=plugins), RISK)

    assert decision.provider == "current"
    assert decision.record.reason is Reason.ABSTAINED
    assert notes(decision)["risk.spread"] == 1.0


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (("tech", "billing", None), "tie"),
        (("tech", "billing", "none"), "tie"),
        (("tech", None, "none"), "tie"),
        (("tech", None, None), "no_quorum"),
    ],
)
def test_a_tie_is_an_outcome_and_current_decides_once(
    gateway_of: Gateways, said: tuple[object, ...], why: str
) -> None:
    """D.1.1, BR-11: a committee that abstains is the gateway's single fallback."""
    plugins = [members(**dict(zip("abc", map(says, said), strict=True)))]
    runs: list[int] = []
    gateway = gateway_of(deciding(), plugins=plugins)

    def current() -> str:
        runs.append(1)
        return "mine"

    decision = decided(gateway, current=current)

    assert (decision.value, decision.provider, runs) == ("mine", "current", [1])
    assert decision.record.reason is Reason.ABSTAINED
    assert [one.provider for one in decision.record.attempts] == ["committee", "current"]
    assert notes(decision)[f"team.{why}"] == 1.0


@pytest.mark.parametrize(
    ("rule", "said", "value"),
    [
        ("majority", ("tech", "tech", "none", "billing"), "current"),
        ("plurality", ("tech", "tech", "none", "billing"), "tech"),
        ("plurality", ("tech", "tech", "none", "none"), "current"),
        ("borda", ("tech", "tech", "none", "billing"), "current"),
        ("judge", ("tech", "tech", "none", "none"), "none"),
    ],
)
def test_the_rule_decides_where_no_majority_does(
    gateway_of: Gateways, rule: str, said: tuple[str, ...], value: str
) -> None:
    """D.1.1: majority, else the declared rule; no rankings, no Borda."""
    functions = {**dict(zip("abcd", map(says, said), strict=True)), "j": says("none")}
    settings: dict[str, Any] = {"rule": rule, "min_confidence": 0.4}
    if rule == "judge":
        settings["judge"] = "j"
    gateway = gateway_of(deciding(seats="a,b,c,d", **settings), plugins=[members(**functions)])

    assert decided(gateway).value == value


def test_borda_takes_rankings_from_distributions(gateway_of: Gateways) -> None:
    """FV-25: 3×(A>B>C), 2×(B>C>A), and two who fail: B by ranks, where A leads by votes."""
    abc, bca = {"A": 0.5, "B": 0.3, "C": 0.2}, {"B": 0.5, "C": 0.3, "A": 0.2}
    ranked = [Chosen(max(one, key=one.__getitem__), one, 0.9) for one in (abc, abc, abc, bca, bca)]
    functions = {
        name: says(Reply({"which": one})) for name, one in zip("abcde", ranked, strict=True)
    }
    functions |= {"f": virtual.raising(), "g": virtual.silent()}
    ask = Ask("?", {"which": Choice("Which?", ["A", "B", "C"])})
    environ = deciding(seats="a,b,c,d,e,f,g", rule="borda", min_confidence=0.3)

    decision = decided(gateway_of(environ, plugins=[members(**functions)]), ask)

    assert decision.value == "B"
    assert decision.confidence == pytest.approx(3 / 9)


def test_a_judge_is_asked_only_where_members_leave_it_open(gateway_of: Gateways) -> None:
    asked: list[str] = []

    async def judge(draft: Draft) -> str:
        asked.append(draft.task)
        return "tech"

    said = {"a": "tech", "b": "none"}
    for members_say, times in (({"a": "tech", "b": "tech"}, 0), (said, 1)):
        functions = {name: says(value) for name, value in members_say.items()}
        plugins = [members(j=judge, **functions)]
        gateway = gateway_of(deciding(seats="a,b", rule="judge", judge="j"), plugins=plugins)
        decision = decided(gateway)

        assert decision.value == "tech"
        assert len(asked) == times
        assert notes(decision)["calls"] == 2 + times
    assert decision.confidence == pytest.approx(3 / 5)


def test_a_judge_has_its_own_minimum_too(gateway_of: Gateways) -> None:
    plugins = [members(a=says("tech"), b=says("none"), j=says(("tech", 0.5)))]
    environ = {**deciding(seats="a,b", rule="judge", judge="j"), "J_MIN_CONFIDENCE": "0.9"}

    decision = decided(gateway_of(environ, plugins=plugins))

    assert decision.record.reason is Reason.ABSTAINED
    assert notes(decision)["calls"] == 3


def test_a_judge_is_not_asked_about_what_goes_along(gateway_of: Gateways) -> None:
    said = [{"team": "tech", "urgent": (True, 0.9), "why": why} for why in ("words", "history")]
    functions = dict(zip("ab", map(says, said), strict=True))
    environ = deciding(seats="a,b", rule="judge", judge="j")

    gateway = gateway_of(environ, plugins=[members(j=virtual.raising(), **functions)])

    assert notes(decided(gateway, TOLD))["calls"] == 2


def test_a_call_is_kept_for_the_judge(gateway_of: Gateways) -> None:
    """BR-08: what members may spend is less by the one that may be needed to close."""
    plugins = [members(a=says("tech"), b=says("none"), c=says("billing"), j=says("none"))]
    environ = deciding(rule="judge", judge="j", max_calls=3, min_confidence=0.5)

    decision = decided(gateway_of(environ, plugins=plugins))

    assert decision.value == "none"
    assert notes(decision)["calls"] == 3
    assert notes(decision)["c.over_budget"] == 1.0


def test_the_least_confidence_is_its_own(gateway_of: Gateways) -> None:
    """D.1.1: 0.6 unless a variable says otherwise, where other providers have 0.7."""
    plugins = [members(a=says("tech"), b=says("billing"), c=says("tech"))]

    assert decided(gateway_of(deciding(), plugins=plugins)).provider == "committee"
    stricter = decided(gateway_of(deciding(min_confidence=0.61), plugins=plugins))
    assert stricter.provider == "current"
    assert stricter.record.reason is Reason.LOW_CONFIDENCE
    assert stricter.record.attempts[0].minimum == 0.61


# --- several questions -------------------------------------------------------------------

WHO: Mapping[str, Question] = {
    "team": TEAM,
    "urgent": Predicate("Is it urgent?", when=When("team", ("tech",))),
    "why": Choice("Why?", ["words", "history"], advisory=True),
}
TOLD = Ask("my router is dead", WHO)


def test_any_question_that_abstains_lets_the_whole_abstain(gateway_of: Gateways) -> None:
    """D.1.1: several questions at once."""
    both: Mapping[str, Question] = {"team": TEAM, "safe": Predicate("Safe?")}
    ask = Ask("my router is dead", both)
    plugins = [
        members(
            a=says({"team": "tech", "safe": (True, 0.9)}),
            b=says({"team": "none", "safe": (True, 0.9)}),
        )
    ]
    decision = decided(gateway_of(deciding(seats="a,b"), plugins=plugins), ask)

    assert decision.provider == "current"
    assert decision.record.reason is Reason.ABSTAINED
    assert notes(decision)["team.tie"] == 1.0
    assert notes(decision)["safe.probability"] == 0.9


def test_the_confidence_is_the_least_of_all_questions(gateway_of: Gateways) -> None:
    """D.1.1."""
    ask = Ask("my router is dead", {"team": TEAM, "safe": Predicate("Safe?")})
    member = says({"team": "tech", "safe": (True, 0.75)})
    plugins = [members(a=member, b=member, c=member)]

    decision = decided(gateway_of(deciding(), plugins=plugins), ask)

    assert decision.record.outcome == {"team": "tech", "safe": True}
    assert decision.confidence == pytest.approx(0.75)


def test_what_goes_along_costs_nothing_but_itself(gateway_of: Gateways) -> None:
    """A member whose advisory answer fails has answered; a plurality of the others' is given."""
    sure = {"team": "tech", "urgent": (True, 0.9), "why": "words"}
    odd = {**sure, "why": "stars"}
    for said, why in (([sure, sure, odd], "words"), ([odd, odd, odd], None)):
        functions = dict(zip("abc", map(says, said), strict=True))
        decision = decided(gateway_of(deciding(), plugins=[members(**functions)]), TOLD)

        assert decision.record.outcome == {"team": "tech", "urgent": True, "why": why}
        assert notes(decision)["responded"] == 3


def test_a_question_is_live_where_the_committee_says_so(gateway_of: Gateways) -> None:
    """A member that found it not live has no ballot on it."""
    tech = {"team": "tech", "urgent": (True, 0.9), "why": "words"}
    billing = {**tech, "team": "billing"}
    plugins = [members(a=says(tech), b=says(tech), c=says(billing))]
    decision = decided(gateway_of(deciding(), plugins=plugins), TOLD)
    assert decision.record.outcome == {"team": "tech", "urgent": True, "why": "words"}

    plugins = [members(a=says(billing), b=says(billing), c=says(tech))]
    decision = decided(gateway_of(deciding(), plugins=plugins), TOLD)
    assert decision.record.outcome == {"team": "billing", "urgent": None, "why": "words"}


# --- members that fail -------------------------------------------------------------------


@pytest.mark.parametrize("fault", [one for one in virtual.DISOBEDIENT if one != "not_a_number"])
def test_who_disobeys_abstains_and_stays_in_the_denominator(
    gateway_of: Gateways, fault: str
) -> None:
    """BR-11, BR-24, C.2: nothing random or invented enters the vote, as it does in ReConcile."""
    bad = virtual.DISOBEDIENT[fault]
    good = {"a": says("tech"), "b": says("tech")}
    gateway = gateway_of(deciding(), plugins=[members(**good, c=bad("billing"))])

    decision = decided(gateway)

    assert decision.value == "tech"
    assert decision.confidence == pytest.approx(3 / 5)
    assert notes(decision)["responded"] == 2
    assert notes(decision)["expected"] == 3
    assert any(name.startswith("c.") for name in notes(decision))

    gateway = gateway_of(deciding(), plugins=[members(a=says("tech"), b=bad("x"), c=bad("y"))])
    assert decided(gateway).provider == "current"


@pytest.mark.parametrize("bad", [virtual.not_a_number, virtual.out_of_range, virtual.wrong_type])
def test_a_number_that_is_none_is_no_vote(
    gateway_of: Gateways, bad: Callable[[object], Any]
) -> None:
    """BR-11, C.2: bounds are held here, whether or not whoever wrote it kept to them."""
    good = {"a": says({"risk": (7.0, 0.9)}), "b": says({"risk": (7.0, 0.9)})}
    plugins = [members(**good, c=bad({"risk": 7.0}))]

    decision = decided(gateway_of(deciding(), plugins=plugins), RISK)

    assert decision.value == pytest.approx(7.0)
    assert notes(decision)["responded"] == 2


def test_below_its_own_minimum_a_member_abstains(gateway_of: Gateways) -> None:
    """D.1.1: a member's gate is its own; the committee is not made surer by who is unsure."""
    plugins = [members(a=says(("tech", 0.9)), b=says(("tech", 0.6)), c=says(("tech", 0.9)))]
    environ = {**deciding(), "B_MIN_CONFIDENCE": "0.7"}

    decision = decided(gateway_of(environ, plugins=plugins))

    assert decision.confidence == pytest.approx(3 / 5)
    assert notes(decision)["b.low_confidence"] == 1.0


@pytest.mark.parametrize(
    ("policy", "value", "reason"),
    [
        ("accept", "tech", Reason.OK),
        ("fallback", "current", Reason.ABSTAINED),
        ("reject", "current", Reason.INCOMPLETE),
    ],
)
def test_an_incomplete_panel_is_worth_what_the_policy_says(
    gateway_of: Gateways, policy: str, value: str, reason: Reason
) -> None:
    """BR-10, AM-25: it is never silently as good as a whole one."""
    plugins = [members(a=says("tech"), b=says("tech"), c=virtual.raising())]
    decision = decided(gateway_of(deciding(on_partial=policy), plugins=plugins))

    assert decision.value == value
    assert decision.record.reason is reason
    assert notes(decision)["c.provider_error"] == 1.0

    whole = [members(a=says("tech"), b=says("tech"), c=virtual.silent())]
    decision = decided(gateway_of(deciding(on_partial=policy), plugins=whole))
    assert decision.value == "tech", "who abstains has not failed"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (virtual.hung, Reason.TIMEOUT),
        (virtual.raising, Reason.PROVIDER_ERROR),
        (virtual.silent, Reason.ABSTAINED),
        (lambda: says("nobody"), Reason.ABSTAINED),
    ],
)
def test_where_nobody_answers_it_says_what_they_failed_by(
    gateway_of: Gateways, bad: Callable[[], Any], reason: Reason
) -> None:
    """BR-10."""
    plugins = [members(a=bad(), b=bad(), c=bad())]
    decision = decided(gateway_of(deciding(), plugins=plugins))

    assert decision.provider == "current"
    assert decision.record.reason is reason
    assert notes(decision)["responded"] == 0


def test_where_one_said_anything_it_is_an_abstention(gateway_of: Gateways) -> None:
    """BR-10: unsure members and hung ones together are no failure of the committee."""
    plugins = [members(a=virtual.silent(), b=virtual.hung(), c=virtual.raising())]

    assert decided(gateway_of(deciding(), plugins=plugins)).record.reason is Reason.ABSTAINED


def test_what_is_stale_is_partial(gateway_of: Gateways) -> None:
    """AP-04, BR-10: an earlier answer that a failed revision left standing is said to be one."""
    turns: list[Draft] = []

    async def once(draft: Draft) -> Any:
        if draft.questions is None:
            return {"critiques": []}
        turns.append(draft)
        if len(turns) > 1:
            raise KeyError
        return "tech"

    heard: list[Draft] = []
    steady = counted_member(lambda _: "tech", heard)
    plugins = [members(a=steady, b=steady, c=once)]
    environ = deciding(protocol="debate", rounds=1)
    decision = decided(gateway_of(environ, plugins=plugins))
    assert decision.value == "tech"
    assert notes(decision)["c.stale"] == 1.0

    turns.clear()
    decision = decided(gateway_of({**environ, "COMMITTEE_ON_PARTIAL": "fallback"}, plugins=plugins))
    assert decision.record.reason is Reason.ABSTAINED


def test_a_quorum_may_be_asked_for(gateway_of: Gateways) -> None:
    """BR-10: probabilities of too few are nobody's answer."""
    plugins = [members(a=says((True, 0.9)), b=says((True, 0.9)), c=virtual.silent())]

    assert decided(gateway_of(deciding(), plugins=plugins), SAFE).provider == "committee"
    decision = decided(gateway_of(deciding(quorum=3), plugins=plugins), SAFE)
    assert decision.provider == "current"
    assert notes(decision)["safe.no_quorum"] == 1.0


# --- time and money ----------------------------------------------------------------------


def test_it_takes_as_long_as_its_slowest_member(gateway_of: Gateways) -> None:
    """BR-01: members are asked at once."""
    functions = {name: virtual.obedient("tech", n) for n, name in enumerate("abc", 1)}
    gateway = gateway_of(deciding(), plugins=[members(**functions)])

    decision, seconds = virtual.timed(gateway.ask("ROUTER", ASK, current=lambda: "current"))

    assert decision.value == "tech"
    assert seconds == pytest.approx(3.0)


@pytest.mark.parametrize("stops", [virtual.hung, lambda: virtual.unstoppable("tech")])
def test_who_hangs_costs_its_own_time_and_nobody_elses_answer(
    gateway_of: Gateways, stops: Callable[[], Any]
) -> None:
    """BR-02, BR-04, C.2: deadlines pre-empt; AutoGen's waits for the next message for ever."""
    plugins = [members(a=says("tech"), b=says("tech"), c=stops())]
    environ = deciding(timeout_per_member_seconds=2)

    decision, seconds = virtual.timed(
        gateway_of(environ, plugins=plugins).ask("ROUTER", ASK, current=lambda: "current")
    )

    assert decision.value == "tech"
    assert 2.0 <= seconds < 2.5
    assert notes(decision)["c.timeout"] == 1.0


@pytest.mark.parametrize("stops", [virtual.hung, lambda: virtual.unstoppable("tech", 2)])
def test_what_is_in_hand_at_the_deadline_counts(
    gateway_of: Gateways, stops: Callable[[], Any]
) -> None:
    """BR-04, C.2: llm-council lost all answers when its outer deadline came."""
    plugins = [members(a=says("tech"), b=says("tech"), c=stops())]
    environ = {**deciding(), "DECISION_ROUTER_DEADLINE_SECONDS": "2"}
    gateway = gateway_of(environ, plugins=plugins)

    decision = asyncio.run(gateway.ask("ROUTER", ASK, current=lambda: "current"))

    assert decision.value == "tech"
    assert not decision.record.attempts[0].late
    assert notes(decision)["c.timeout"] == 1.0


def test_a_total_time_ends_a_debate_and_keeps_what_was_said(gateway_of: Gateways) -> None:
    """BR-02, BR-12."""
    slow = virtual.obedient("tech", 4)
    plugins = [members(a=slow, b=slow, c=slow)]
    environ = deciding(protocol="debate", rounds=3, timeout_seconds=10)

    decision, seconds = virtual.timed(
        gateway_of(environ, plugins=plugins).ask("ROUTER", ASK, current=lambda: "current")
    )

    assert decision.value == "tech"
    assert seconds <= 10.5


def test_a_budget_stops_the_next_call_and_takes_no_answer(gateway_of: Gateways) -> None:
    """BR-07."""
    asked: list[str] = []

    def counting(name: str) -> Any:
        async def speaks(_: Draft) -> str:
            asked.append(name)
            return "tech"

        return speaks

    plugins = [members(**{name: counting(name) for name in "abc"})]
    decision = decided(gateway_of(deciding(max_calls=2), plugins=plugins))

    assert len(asked) == 2
    assert decision.value == "tech"
    assert decision.confidence == pytest.approx(3 / 5)
    assert notes(decision)["calls"] == 2
    assert notes(decision)["c.over_budget"] == 1.0


@pytest.mark.parametrize(("price", "rounds"), [(None, 0), (0.01, 1), (0.0, 0)])
def test_what_nobody_knows_the_price_of_is_not_begun_twice(
    gateway_of: Gateways, price: float | None, rounds: int
) -> None:
    """BR-07: an unknown price is not one of nothing; here `a` tells *price*, and `b` none."""
    asked: list[Draft] = []

    async def tells(draft: Draft) -> Any:
        asked.append(draft)
        usage = Usage(100, 5, price)
        if draft.questions is None:
            return Written(text='{"critiques": []}', usage=usage)
        return Reply({"team": Chosen("tech")}, usage=usage)

    plugins = [members(a=tells, b=counted_member(lambda _: "tech", asked))]
    environ = deciding(seats="a,b", protocol="debate", rounds=1, max_cost_usd=1)

    decision = decided(gateway_of(environ, plugins=plugins))

    assert decision.value == "tech", "what was said is never thrown away"
    assert notes(decision)["rounds"] == rounds
    assert len(asked) == (6 if rounds else 2)


@pytest.mark.parametrize("protocol", ["independent", "debate"])
def test_an_answer_after_its_time_is_late_also_where_the_loop_was_blocked(
    gateway_of: Gateways, protocol: str
) -> None:
    """BR-05: no timer ends who holds up the loop; the clock does."""

    async def blocks(draft: Draft) -> Any:
        loop: Any = asyncio.get_running_loop()
        loop.now += 3
        return "tech" if draft.questions is not None else {"critiques": []}

    steady = counted_member(lambda _: "tech", [])
    plugins = [members(a=steady, b=steady, c=blocks)]
    environ = deciding(timeout_per_member_seconds=2, protocol=protocol)

    decision = decided(gateway_of(environ, plugins=plugins))

    assert notes(decision)["c.timeout"] == 1.0
    assert notes(decision)["responded"] == 2


@pytest.mark.parametrize(
    ("deadline", "judge", "given"),
    [(2.0, False, 0.85), (20.0, False, 9.85), (0.4, False, 0.135), (20.0, True, 8.955)],
)
def test_members_get_nearly_all_of_what_the_caller_leaves_them(
    gateway_of: Gateways, deadline: float, given: float, *, judge: bool
) -> None:
    """BR-02, BR-04: half of a deadline is the fallback's; little of the rest is kept."""
    plugins = [members(a=virtual.hung(), b=virtual.hung(), j=virtual.hung())]
    settings: dict[str, Any] = {"rule": "judge", "judge": "j"} if judge else {}
    environ = {
        **deciding(seats="a,b", **settings),
        "DECISION_ROUTER_DEADLINE_SECONDS": str(deadline),
    }
    gateway = gateway_of(environ, plugins=plugins)

    decision, seconds = virtual.timed(gateway.ask("ROUTER", ASK, current=lambda: "current"))

    assert decision.record.reason is Reason.TIMEOUT
    assert given - 0.05 < seconds < given + 0.05


def test_parts_never_take_more_than_the_whole(gateway_of: Gateways) -> None:
    """C.2, BR-02: llm-council's stages add up to more than its whole, and its last has no end."""
    slow = {"a": virtual.obedient("tech", 9), "b": virtual.obedient("none", 9)}
    plugins = [members(j=virtual.hung(), **slow)]
    for total, most in ((25, 25), (100, 60)):
        environ = deciding(
            seats="a,b",
            protocol="debate",
            rounds=2,
            rule="judge",
            judge="j",
            timeout_per_member_seconds=10,
            timeout_seconds=total,
        )
        gateway = gateway_of(environ, plugins=plugins)

        decision, seconds = virtual.timed(gateway.ask("ROUTER", ASK, current=lambda: "current"))

        assert decision.provider == "current"
        assert notes(decision)["responded"] == 2
        assert seconds < most + 0.5


def test_what_members_used_is_added_up_even_where_it_abstains(gateway_of: Gateways) -> None:
    """D.1.1: the fallback's cost is added, never put in its place."""

    def priced(option: str, cost: float | None) -> Any:
        return says(Reply({"team": Chosen(option)}, usage=Usage(100, 5, cost)))

    plugins = [members(a=priced("tech", 0.01), b=priced("none", 0.02), c=virtual.silent())]
    decision = decided(gateway_of(deciding(), plugins=plugins))
    assert decision.record.reason is Reason.ABSTAINED
    assert decision.record.cost_usd == pytest.approx(0.03)
    usage = decision.record.attempts[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (200, 10)

    plugins = [members(a=priced("tech", 0.01), b=priced("tech", None), c=says("tech"))]
    usage = decided(gateway_of(deciding(), plugins=plugins)).record.attempts[0].usage
    assert usage is not None
    assert usage.cost_usd is None


# --- current as a member -----------------------------------------------------------------


@pytest.mark.parametrize("way", ["sync", "async", "async current", "sync of async members"])
def test_current_is_a_member_like_any_other_and_runs_once(gateway_of: Gateways, way: str) -> None:
    """D.1: members are references to providers, and the host's own path is one."""
    runs: list[int] = []

    def plain() -> str:
        runs.append(threading.get_ident())
        return "tech"

    async def waiting() -> str:
        await asyncio.sleep(0)
        return plain()

    gateway = gateway_of(
        deciding(seats="a,b,current"), plugins=[members(a=says("tech"), b=says("none"))]
    )
    if way.startswith("sync"):
        decision: Decision[Any] = gateway.ask_sync("ROUTER", ASK, current=plain)
    else:
        current: Callable[[], Any] = plain if way == "async" else waiting
        decision = decided(gateway, current=current)

    assert (decision.value, decision.provider) == ("tech", "committee")
    assert decision.confidence == pytest.approx(3 / 5)
    assert runs == [threading.get_ident()], "on the caller's own thread, once"


@pytest.mark.parametrize("way", ["sync", "async"])
def test_the_fallback_reuses_what_current_said_as_a_member(gateway_of: Gateways, way: str) -> None:
    runs: list[int] = []
    plugins = [members(a=says("tech"), b=says("none"))]
    gateway = gateway_of(deciding(seats="a,b,current"), plugins=plugins)

    def current() -> str:
        runs.append(1)
        return "billing"

    if way == "sync":
        decision: Decision[Any] = gateway.ask_sync("ROUTER", ASK, current=current)
    else:
        decision = decided(gateway, current=current)

    assert (decision.value, decision.provider, runs) == ("billing", "current", [1])


def test_a_wrapped_function_is_a_member(gateway_of: Gateways) -> None:
    plugins = [members(a=says("tech"), b=says("none"))]
    gateway = gateway_of(deciding(seats="a,b,current"), plugins=plugins)
    runs: list[str] = []

    @gateway.point("ROUTER", TEAM)
    def route(message: str) -> str:
        runs.append(message)
        return "none"

    assert route("my router is dead") == "none"
    decision = gateway.decide_sync(route, "my router is dead")
    assert decision.provider == "committee"
    assert runs == ["my router is dead"] * 2


@pytest.mark.parametrize("way", ["sync", "async"])
def test_current_that_fails_abstains_and_its_error_surfaces_in_the_fallback(
    gateway_of: Gateways, way: str
) -> None:
    def broken() -> str:
        raise LookupError("mine")

    sure = [members(a=says("tech"), b=says("tech"))]
    gateway = gateway_of(deciding(seats="a,b,current"), plugins=sure)
    decide = asked if way == "sync" else decided
    decision = decide(gateway, current=broken)
    assert decision.value == "tech"
    assert notes(decision)["current.provider_error"] == 1.0

    torn = [members(a=says("tech"), b=says("none"))]
    gateway = gateway_of(deciding(seats="a,b,current"), plugins=torn)
    with pytest.raises(LookupError, match="mine"):
        decide(gateway, current=broken)


# --- real members ------------------------------------------------------------------------


FAULTS = {
    "error": replies({"error": {"type": "server_error"}}, 500),
    "garbage": replies(b"<html>"),
    "drops": drops(),
    "hangs": hangs(),
    "undeclared": replies(answered(chosen("nobody"))),
}


def _jev(server: Server) -> dict[str, str]:
    return {
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
        "JEV_MAX_ATTEMPTS": "1",
    }


@pytest.mark.parametrize("way", ["sync", "async"])
def test_deciders_of_every_kind_sit_together(
    gateway_of: Gateways, server: Server, way: str
) -> None:
    """D.1: a hosted decider over HTTP, the embedded one, a function, the host's own path."""
    pytest.importorskip("numpy")
    server.does(replies())
    environ = {**deciding(seats="jev,local,a,current"), **_jev(server), "LOCAL_MIN_CONFIDENCE": "0"}
    gateway = gateway_of(environ, plugins=[members(a=says("tech"))])

    if way == "sync":
        decision: Decision[Any] = gateway.ask_sync("ROUTER", ASK, current=lambda: "tech")
    else:
        decision = asyncio.run(gateway.ask("ROUTER", ASK, current=lambda: "tech"))

    assert (decision.value, decision.provider) == ("tech", "committee")
    assert notes(decision)["responded"] == 4
    assert len(server.seen) == 1
    assert decision.record.cost_usd == pytest.approx(0.0000089)


def test_every_fault_of_a_server_is_one_member_less(gateway_of: Gateways, server: Server) -> None:
    """BR-11: real sockets, each failing in its own way."""

    async def does(visit: Visit) -> bool:
        for path, fault in FAULTS.items():
            if f"/{path}/" in visit.seen.path:
                return await fault(visit)
        return await replies()(visit)

    server.does(does)
    urls = {f"JEV__{one.upper()}__BASE_URL": f"{server.url}/{one}" for one in FAULTS}
    seats = ",".join(["jev", "a", "b", *(f"jev/{one}" for one in FAULTS)])
    environ = {
        **deciding(seats=seats, rule="plurality", min_confidence=0.4, quorum=3),
        **_jev(server),
        **urls,
    }
    gateway = gateway_of(
        {**environ, "JEV__HANGS__TIMEOUT_SECONDS": "0.5"},
        plugins=[members(a=says("tech"), b=says("tech"))],
    )

    decision = asyncio.run(gateway.ask("ROUTER", ASK, current=lambda: "current"))

    assert decision.value == "tech"
    assert decision.confidence == pytest.approx(4 / (3 + len(FAULTS) + 2))
    missing = {name for name in notes(decision) if name.startswith("jev/")}
    assert missing == {
        "jev/error.provider_error",
        "jev/garbage.malformed",
        "jev/drops.transport",
        "jev/hangs.timeout",
        "jev/undeclared.undeclared_option",
    }


def test_cancelling_it_closes_every_socket(gateway_of: Gateways, server: Server) -> None:
    """BR-03."""
    server.does(hangs())
    environ = {**deciding(seats="jev,jev/eu,jev/us"), **_jev(server)}
    gateway = gateway_of(environ)

    async def main() -> None:
        task = asyncio.create_task(gateway.ask("ROUTER", ASK, current=lambda: "current"))
        await server.reached(3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.abandoned()
        await gateway.aclose()

    asyncio.run(main())
    assert len(server.seen) == 3


def test_a_failing_member_opens_its_own_breaker(gateway_of: Gateways, server: Server) -> None:
    """A member is asked through its own lane, so that its faults are told of it alone."""
    server.does(replies({"error": {"type": "server_error"}}, 500))
    environ = {**deciding(seats="jev,a,b"), **_jev(server)}
    gateway = gateway_of(environ, plugins=[members(a=says("tech"), b=says("tech"))])

    async def main() -> list[Decision[Any]]:
        return [await gateway.ask("ROUTER", ASK, current=lambda: "current") for _ in range(7)]

    made = asyncio.run(main())

    assert {one.provider for one in made} == {"committee"}
    assert len(server.seen) == 5
    assert [name for one in made for name in notes(one) if name.startswith("jev.")] == (
        ["jev.provider_error"] * 5 + ["jev.breaker_open"] * 2
    )


# --- beside everything else that a gateway does ------------------------------------------


def test_a_committee_is_never_entered_twice_in_one_decision(gateway_of: Gateways) -> None:
    """BR-20: a member that asks a point which the committee decides gets what runs today."""
    inner: list[Decision[Any]] = []

    class Asker:
        name, limits = "asker", Limits()

        def __init__(self, setup: Any) -> None:
            self._gateway = setup.gateway

        async def answer(self, ask: Ask, call: Call) -> Reply:
            inner.append(await self._gateway.ask("INNER", ASK, within=call, current=lambda: "none"))
            return Reply({"team": Chosen("tech", confidence=0.9)})

    class Asks:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [Offer("asker", lambda: Asker)]

    environ = {**deciding(seats="asker,a,b"), "DECISION_INNER_PROVIDER": "committee"}
    plugins = [Asks(), members(a=says("tech"), b=says("tech"))]
    gateway = gateway_of(environ, plugins=plugins)

    decision = decided(gateway)

    assert decision.provider == "committee"
    assert [one.reason for one in inner[0].record.attempts] == [Reason.NESTED, Reason.OK]
    assert inner[0].value == "none"


class Asks:
    """A host's own code that asks the point INNER, and does not say within what."""

    def __init__(self) -> None:
        self.gateway: Gateway | None = None
        self.made: list[Decision[Any]] = []

    async def __call__(self, *_: object) -> str:
        assert self.gateway is not None
        self.made.append(await self.gateway.ask("INNER", ASK, current=lambda: "none"))
        return "tech"

    def sync(self, *_: object) -> str:
        assert self.gateway is not None
        self.made.append(self.gateway.ask_sync("INNER", ASK, current=lambda: "none"))
        return "tech"

    async def threaded(self, *_: object) -> str:
        return await asyncio.to_thread(self.sync)

    @property
    def told(self) -> list[tuple[str, list[str]]]:
        """Who decided, and how each attempt ended."""
        return [(one.provider, [str(a.reason) for a in one.record.attempts]) for one in self.made]


NESTED = ("current", ["nested", "ok"])


@pytest.mark.parametrize("inner", ["committee", "committee/legal", "debate"])
@pytest.mark.parametrize("way", ["async", "sync", "thread", "blocking"])
def test_a_function_enters_no_second_deliberation(
    gateway_of: Gateways, way: str, inner: str
) -> None:
    """BR-20: it has no call to pass on, so that it is nested by where it asks."""
    asks = Asks()

    async def blocking(_: Draft) -> str:
        return asks.sync()

    member: Any = {"thread": asks.threaded, "blocking": blocking}.get(way, asks)
    counted: list[Draft] = []
    steady = counted_member(lambda _: "tech", counted)
    environ = {
        **deciding(seats="asks,a,b"),
        "DECISION_INNER_PROVIDER": inner,
        "COMMITTEE__LEGAL__MEMBERS": "a,b",
        "DEBATE_MEMBERS": "a,b",
    }
    asks.gateway = gateway_of(environ, plugins=[members(asks=member, a=steady, b=steady)])

    if way == "async":
        decision = asyncio.run(asks.gateway.ask("ROUTER", ASK, current=lambda: "none"))
    else:
        decision = asked(asks.gateway)

    assert decision.provider == "committee"
    assert asks.told == [NESTED]
    assert len(counted) == 2


@pytest.mark.parametrize("outer", ["committee", "debate"])
def test_nor_does_a_function_that_writes(gateway_of: Gateways, outer: str) -> None:
    """BR-20: what is written is asked for in another way than answers."""
    asks = Asks()

    async def member(draft: Draft) -> Any:
        await asks()
        return "tech" if draft.questions is not None else {"critiques": []}

    environ = {
        **deciding(seats="m,n", protocol="debate", rounds=1),
        "DECISION_ROUTER_PROVIDER": outer,
        "DECISION_INNER_PROVIDER": "committee",
        "DEBATE_MEMBERS": "m,n",
    }
    asks.gateway = gateway_of(environ, plugins=[members(m=member, n=member)])

    decided(asks.gateway)

    assert asks.told == [NESTED] * (6 if outer == "committee" else len(asks.made))
    assert len(asks.made) >= 2


@pytest.mark.parametrize("way", ["sync", "async"])
def test_current_as_a_member_enters_no_second_one(gateway_of: Gateways, way: str) -> None:
    """BR-20: also on the caller's own thread."""
    asks = Asks()
    environ = {**deciding(seats="a,b,current"), "DECISION_INNER_PROVIDER": "committee"}
    plugins = [members(a=says("tech"), b=says("none"))]
    asks.gateway = gateway_of(environ, plugins=plugins)

    if way == "sync":
        decision = asked(asks.gateway, current=asks.sync)
    else:
        decision = decided(asks.gateway, current=asks)

    assert (decision.value, decision.provider) == ("tech", "committee")
    assert asks.told == [NESTED]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_what_the_host_runs_after_a_deliberation_is_nested_in_none(
    gateway_of: Gateways, way: str
) -> None:
    """BR-20: the fallback runs `current` when the committee has ended."""
    asks = Asks()
    environ = {
        **deciding(seats="a,b"),
        "DECISION_INNER_PROVIDER": "committee/legal",
        "COMMITTEE__LEGAL__MEMBERS": "a,c",
    }
    plugins = [members(a=says("tech"), b=says("none"), c=says("tech"))]
    asks.gateway = gateway_of(environ, plugins=plugins)

    if way == "sync":
        decision = asked(asks.gateway, current=asks.sync)
    else:
        decision = decided(asks.gateway, current=asks)

    assert (decision.value, decision.provider) == ("tech", "current")
    assert asks.told == [("committee/legal", ["ok"])]


def test_what_a_member_leaves_behind_is_nested_in_none(gateway_of: Gateways) -> None:
    """BR-20: a task that it began and that goes on asks for itself."""
    asks, left = Asks(), list[asyncio.Task[None]]()

    async def later() -> None:
        await asyncio.sleep(60)
        await asks()

    async def leaves(_: Draft) -> str:
        left.append(asyncio.create_task(later()))
        return "tech"

    environ = {
        **deciding(seats="a,b"),
        "DECISION_INNER_PROVIDER": "committee/legal",
        "COMMITTEE__LEGAL__MEMBERS": "b,b",
    }
    gateway = asks.gateway = gateway_of(environ, plugins=[members(a=leaves, b=says("tech"))])

    async def main() -> None:
        await gateway.ask("ROUTER", ASK, current=lambda: "none")
        await asyncio.gather(*left)

    virtual.run(main())

    assert asks.told == [("committee/legal", ["ok"])]


def test_another_gateway_deliberates_for_itself(gateway_of: Gateways) -> None:
    """BR-20: one decision is one gateway's."""
    asks = Asks()
    inside = members(a=says("tech"), b=says("tech"))
    asks.gateway = gateway_of(deciding("INNER", "a,b"), plugins=[inside])
    member: Any = asks
    gateway = gateway_of(deciding(seats="asks,a"), plugins=[members(asks=member, a=says("tech"))])

    assert decided(gateway).provider == "committee"
    assert asks.told == [("committee", ["ok"])]


def test_a_member_asks_another_provider_within_its_time(gateway_of: Gateways) -> None:
    """BR-02, BR-20: what is not deliberated is asked as ever; depth and deadline nest."""
    calls: list[Call] = []
    asks = Asks()

    class Plain:
        name, limits = "plain", Limits()

        def answer(self, ask: Ask, call: Call) -> Reply:
            calls.append(call)
            return Reply({"team": Chosen("tech", confidence=0.9)})

    environ = {
        **deciding(seats="asks,b", timeout_per_member_seconds=5),
        "DECISION_INNER_PROVIDER": "plain",
    }
    member: Any = asks
    plugins = [Offers({"plain": Plain()}), members(asks=member, b=says("tech"))]
    asks.gateway = gateway_of(environ, plugins=plugins)

    outer = asks.gateway.ask("ROUTER", ASK, current=lambda: "none", subject="customer-1")
    decision: Decision[Any] = virtual.run(outer)

    assert decision.provider == "committee"
    assert asks.told == [("plain", ["ok"])]
    (call,) = calls
    assert (call.depth, call.asking, call.subject) == (2, ("committee",), "customer-1")
    assert call.deadline is not None


def test_a_split_assigns_a_committee(gateway_of: Gateways) -> None:
    plugins = [members(a=says("tech"), b=says("tech"))]
    environ = {"DECISION_ROUTER_PROVIDER": "current:50,committee:50", "COMMITTEE_MEMBERS": "a,b"}
    gateway = gateway_of(environ, plugins=plugins)

    async def main() -> list[Decision[Any]]:
        asked = (
            gateway.ask("ROUTER", ASK, current=lambda: "none", subject=f"s{n}") for n in range(40)
        )
        return [await one for one in asked]

    made = virtual.run(main())

    assert {(one.record.variant, one.provider) for one in made} == {
        ("current", "current"),
        ("committee", "committee"),
    }


def test_a_committee_in_the_shadow_changes_nothing_and_is_recorded(gateway_of: Gateways) -> None:
    """BR-23: there `current` decides, and is no member."""

    class Shadows(Recorder):
        def shadowed(self, shadow: Shadow) -> None:
            seen.append(shadow)

    seen: list[Shadow] = []
    plugins = [members(a=says("tech"), b=says("tech"))]
    environ = {"DECISION_ROUTER_SHADOW": "committee", "COMMITTEE_MEMBERS": "a,b,current"}
    gateway = gateway_of(environ, plugins=plugins, observers=[Shadows()])

    decision: Decision[Any] = gateway.ask_sync("ROUTER", ASK, current=lambda: "billing")
    gateway.close()

    assert decision.value == "billing"
    (shadow,) = seen
    assert shadow.attempt.reason is Reason.OK
    assert shadow.attempt.answers["team"].value == "tech"
    assert (shadow.attempt.notes or {})["current.unsupported"] == 1.0


def test_a_cached_answer_asks_no_member(gateway_of: Gateways) -> None:
    asked: list[int] = []

    async def counting(_: Draft) -> str:
        asked.append(1)
        return "tech"

    plugins = [members(a=counting, b=counting)]
    environ = {**deciding(seats="a,b"), "DECISION_ROUTER_CACHE_SECONDS": "60"}
    gateway = gateway_of(environ, plugins=plugins)
    made = [gateway.ask_sync("ROUTER", ASK, current=lambda: "none") for _ in range(3)]

    assert [one.value for one in made] == ["tech"] * 3
    assert len(asked) == 2


def test_an_answer_in_which_somebody_failed_is_not_kept(gateway_of: Gateways) -> None:
    """BR-10: the next one is a whole panel's; what is kept already stays."""
    failing = [True]

    async def flaky(_: Draft) -> str:
        if failing and failing.pop():
            raise ConnectionError
        return "tech"

    plugins = [members(a=says("tech"), b=says("tech"), c=flaky)]
    environ = {**deciding(), "DECISION_ROUTER_CACHE_SECONDS": "60"}
    gateway = gateway_of(environ, plugins=plugins)

    made = [asked(gateway) for _ in range(3)]
    failing.append(True)
    made += [asked(gateway, Ask("my bill is wrong", ASK.questions)), asked(gateway)]

    assert [one.confidence for one in made] == pytest.approx([0.6, 0.8, 0.8, 0.6, 0.8])
    cached = [one.record.attempts[0].cached for one in made]
    assert cached == [False, False, True, False, True]


def test_points_of_the_catalogue_take_a_committee(gateway_of: Gateways) -> None:
    """Its questions, also those that go along, are answered as by any provider."""

    async def careful(draft: Draft) -> Mapping[str, Any]:
        assert draft.questions is not None
        return {
            name: (False, 0.9) if isinstance(one, Predicate) else next(iter(one.options))  # type: ignore[union-attr]
            for name, one in draft.questions.items()
        }

    gateway = gateway_of(
        deciding("GUARDRAIL_PINJ", "a,b,c"), plugins=[members(a=careful, b=careful, c=careful)]
    )
    decision = virtual.run(gateway.ask("GUARDRAIL_PINJ", {"text": "hello"}, current=lambda: True))

    assert decision.provider == "committee", decision.record


def test_its_records_say_who_was_missing(gateway_of: Gateways, tmp_path: Path) -> None:
    """BR-10, BR-16: the journal holds model, notes and usage; the transcript every turn."""
    kept, folder = Kept(tmp_path), tmp_path / "transcripts"
    folder.mkdir()
    environ = {**deciding(transcripts=folder), **kept.variables}
    plugins = [members(a=says("tech"), b=says("tech"), c=virtual.raising())]
    gateway = gateway_of(environ, plugins=plugins)
    decision: Decision[Any] = gateway.ask_sync("ROUTER", ASK, current=lambda: "none")
    gateway.close()

    (trail,) = kept.trails()
    (attempt,) = trail.decision.record.attempts
    assert trail.decision.record.id == decision.record.id
    assert (attempt.notes or {})["c.provider_error"] == 1.0
    assert attempt.model.startswith("committee(a,b,c)~")
    (path,) = folder.iterdir()
    entries = read(path)
    assert entries[0].kind == "header"
    assert sorted(one.body["member"] for one in entries if one.kind == "turn") == ["a", "b", "c"]
    assert "my router is dead" not in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("protocol", "seats", "settings"),
    [
        ("independent", "a,b,c", {}),
        ("independent", "a,b", {"rule": "judge", "judge": "c"}),
        ("debate", "a,b,c", {"rounds": 1}),
        ("skeptic", "a,b,skeptic=c", {"rounds": 1}),
        ("cost_matched", "a", {"samples": 3}),
    ],
)
def test_its_transcript_comes_to_the_same_again(
    gateway_of: Gateways, tmp_path: Path, protocol: str, seats: str, settings: dict[str, Any]
) -> None:
    """BR-17: without asking anybody."""
    heard: list[Draft] = []
    functions = {name: counted_member(lambda _: "tech", heard) for name in "ac"}
    functions["b"] = counted_member(lambda _: "none", heard)
    kept = {"transcripts": tmp_path, "transcript_texts": "true", **settings}
    environ = deciding(seats=seats, protocol=protocol, **kept)
    decided(gateway_of(environ, plugins=[members(**functions)]))
    (path,) = tmp_path.iterdir()
    made = len(heard)

    again = virtual.run(rerun(path))

    assert again.same, (again.differs, again.unused)
    assert len(heard) == made


def test_what_was_asked_is_kept_only_where_it_is_wanted(
    gateway_of: Gateways, tmp_path: Path
) -> None:
    """BR-16, BR-17: by its hash; whoever has the state can replay it nonetheless."""
    plugins = [members(a=says("tech"), b=says("tech"), c=says("tech"))]
    decided(gateway_of(deciding(transcripts=tmp_path), plugins=plugins))
    (path,) = tmp_path.iterdir()

    with pytest.raises(SetupError, match="COMMITTEE_TRANSCRIPT_TEXTS"):
        virtual.run(rerun(path))
    with pytest.raises(SetupError, match="not what was asked about"):
        virtual.run(rerun(path, "my bill is wrong"))
    assert virtual.run(rerun(path, ASK.state)).same


def test_a_transcript_that_was_kept_of_other_rules_fails_loudly(
    gateway_of: Gateways, tmp_path: Path
) -> None:
    """BR-17: what comes to something else is no replay."""
    plugins = [members(a=says("tech"), b=says("tech"), c=says("none"))]
    decided(gateway_of(deciding(transcripts=tmp_path), plugins=plugins))
    (path,) = tmp_path.iterdir()
    replay = Replay(path)
    header: dict[str, Any] = dict(replay.transcript.header)
    told = dict(replay.recorded[0].body)
    told["settings"] = {**header["settings"], "quorum": 3, "rule": "majority", "samples": 9}
    told["members"] = header["members"][:2]
    other = msgspec.structs.replace(replay.recorded[0], body=told)
    replay.transcript = Transcript.replayed((other, *replay.recorded[1:]))

    with pytest.raises(Mismatch):
        virtual.run(rerun_committee(replay, ASK.state))


def test_a_transcript_that_cannot_be_kept_costs_no_answer(
    gateway_of: Gateways, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is kept in memory; the operator is told, once, and no answer that was paid is lost."""
    folder = tmp_path / "transcripts"
    folder.mkdir()
    plugins = [members(a=says("tech"), b=says("tech"), c=says("tech"))]
    environ = {**deciding(transcripts=folder), "DECISION_LOG": "json"}
    gateway = gateway_of(environ, plugins=plugins)
    folder.rmdir()

    decisions = [decided(gateway) for _ in range(2)]

    assert [(one.provider, one.value) for one in decisions] == [("committee", "tech")] * 2
    assert capsys.readouterr().err.count('"deliberation.transcript_lost"') == 1


def test_nothing_that_was_said_is_logged(
    gateway_of: Gateways, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = "zq7-planted"
    raising = virtual.raising(KeyError(planted))
    plugins = [members(a=says("tech"), b=raising, c=says(planted))]
    ask = Ask(planted, {"team": Choice(f"{planted}?", ["tech", "none"])})
    gateway = gateway_of({**deciding(), "DECISION_LOG": "json"}, plugins=plugins)

    decision: Decision[Any] = gateway.ask_sync("ROUTER", ask, current=lambda: "none")

    told = capsys.readouterr()
    assert decision.record.id in told.err
    assert planted not in told.err + told.out + repr(decision.record)


def test_without_a_fallback_the_host_learns_why(gateway_of: Gateways) -> None:
    plugins = [members(a=says("tech"), b=says("none"))]
    environ = {**deciding(seats="a,b"), "DECISION_FALLBACK_TO_CURRENT": "false"}

    with pytest.raises(NoAnswer) as told:
        decided(gateway_of(environ, plugins=plugins))

    assert told.value.reason is Reason.ABSTAINED


def test_a_client_is_told_who_was_missing() -> None:
    """BR-10: over HTTP; one provider alone has no turnout."""

    class Broken:
        name, limits = "broken", Limits()

        def answer(self, ask: Ask, call: Call) -> Reply:
            raise NoAnswer(Reason.TRANSPORT)

    sure = Reply({"team": Chosen("tech", confidence=0.9)})
    panel = {"told": scripted(sure), "other": scripted(sure), "broken": Broken()}
    with running({"COMMITTEE_MEMBERS": "told,other,broken"}, **panel) as server:
        asking_for = {model: asking(model, served.TEAM) for model in ("committee", "told")}
        said = {
            model: server.openai(body).json()["provider_metadata"]["pointsman"]
            for model, body in asking_for.items()
        }

    missing = {"broken": "transport"}
    assert said["committee"]["turnout"] == {"responded": 2, "expected": 3, "missing": missing}
    assert "turnout" not in said["told"]


def test_the_command_tells_who_was_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """BR-10: also where nobody had an answer that counts."""
    pytest.importorskip("numpy")
    monkeypatch.setenv("COMMITTEE_MEMBERS", "local,other=local")
    monkeypatch.setenv("LOCAL_MIN_CONFIDENCE", "1")
    question = ("-q", "Which team?", "--options", "billing,tech", "--text", "my router is dead")

    told = CliRunner().invoke(app, ["ask", "team", *question, "--provider", "committee"])

    assert "responded 0 of 2: local low_confidence, other low_confidence" in told.stdout


# --- protocols ---------------------------------------------------------------------------


def counted_member(says: Callable[[Draft], Any], asked: list[Draft]) -> Any:
    """A member that keeps what it was asked."""

    async def speaks(draft: Draft) -> Any:
        asked.append(draft)
        if draft.questions is None:
            return {"critiques": []}
        return says(draft)

    return speaks


@pytest.mark.parametrize(
    ("protocol", "seats", "settings", "calls"),
    [
        ("independent", "a,b,c", {}, 3),
        ("debate", "a,b,c", {"rounds": 1}, 9),
        ("debate", "a,b,c", {"rounds": 0}, 3),
        ("placebo", "a,b,c", {"rounds": 1}, 9),
        ("skeptic", "a,b,skeptic=c", {"rounds": 1}, 7),
        ("cost_matched", "a", {"samples": 7}, 9),
    ],
)
def test_every_protocol_decides_and_keeps_to_its_calls(
    gateway_of: Gateways, protocol: str, seats: str, settings: dict[str, Any], calls: int
) -> None:
    """DP-12, DP-14, DP-30, FV-27, BR-25: n; n(1 + 2R) + s; k + 2."""
    asked: list[Draft] = []
    functions = {name: counted_member(lambda _: "tech", asked) for name in "abc"}
    environ = deciding(seats=seats, protocol=protocol, **settings)

    decision = decided(gateway_of(environ, plugins=[members(**functions)]))

    assert decision.value == "tech"
    assert len(asked) == calls
    assert notes(decision)["calls"] == calls
    voters = settings.get("samples", 2) + 1
    assert decision.confidence == pytest.approx((voters + 1) / (voters + 2))


def test_a_debate_counts_where_members_stand_at_its_end(gateway_of: Gateways) -> None:
    """C.2: MAD's judge reads only the first round; here the last one counts."""

    def swayed(draft: Draft) -> str:
        return "tech" if "answers" in json.dumps(draft.state) else "none"

    asked: list[Draft] = []
    functions = {"a": counted_member(lambda _: "tech", asked)}
    functions |= {name: counted_member(swayed, asked) for name in "bc"}
    plugins = [members(**functions)]

    apart = decided(gateway_of(deciding(), plugins=plugins))
    debated = decided(gateway_of(deciding(protocol="debate", rounds=1), plugins=plugins))

    assert apart.value == "none"
    assert debated.value == "tech"
    assert notes(debated)["stop.max_rounds"] == 1.0
    assert not any(name.startswith("stop.") for name in notes(apart))
    assert debated.confidence == pytest.approx(4 / 5)


def test_a_skeptic_that_fails_is_missing_and_the_debate_stands(gateway_of: Gateways) -> None:
    """DP-37, BR-10."""
    heard: list[Draft] = []
    steady = counted_member(lambda _: "tech", heard)
    environ = deciding(seats="a,b,skeptic=c", protocol="skeptic", rounds=1)
    plugins = [members(a=steady, b=steady, c=virtual.raising())]

    decision = decided(gateway_of(environ, plugins=plugins))

    assert decision.value == "tech"
    assert decision.confidence == pytest.approx(3 / 5)
    assert notes(decision)["skeptic.provider_error"] == 1.0


@pytest.mark.parametrize(("votes", "sure"), [("true", 4 / 5), ("false", 3 / 4)])
def test_a_skeptic_votes_unless_told_not_to(gateway_of: Gateways, votes: str, sure: float) -> None:
    """DP-36, AP-06."""
    asked: list[Draft] = []
    functions = {name: counted_member(lambda _: "tech", asked) for name in "abc"}
    environ = deciding(seats="a,b,skeptic=c", protocol="skeptic", rounds=1, skeptic_votes=votes)

    decision = decided(gateway_of(environ, plugins=[members(**functions)]))

    assert decision.confidence == pytest.approx(sure)


# --- who it is ---------------------------------------------------------------------------


def test_its_model_names_panel_and_rules(gateway_of: Gateways) -> None:
    """BR-15: what was measured of one panel holds for no other."""
    plugins = [members(a=says("tech"), b=says("tech"), c=says("tech"))]
    environs = [
        deciding(),
        deciding(),
        deciding(seats="a,b"),
        deciding(seats="a,b,other=c"),
        deciding(rule="plurality"),
        deciding(quorum=3),
    ]
    models = [
        decided(gateway_of(environ, plugins=plugins)).record.attempts[0].model
        for environ in environs
    ]

    assert models[0] == models[1]
    assert len(set(models)) == len(models) - 1
    assert models[0].startswith("committee(a,b,c)~")


def test_another_model_of_a_member_is_another_committee(gateway_of: Gateways) -> None:
    """BR-15: also where the server moved to it by itself; and a member less is another panel."""

    def served(model: str) -> Any:
        return says(Reply({"team": Chosen("tech")}, model))

    panels = [
        {"a": served("x-1"), "b": served("y-1"), "c": served("z-1")},
        {"a": served("x-1"), "b": served("y-1"), "c": served("z-2")},
        {"a": served("x-1"), "b": served("y-1"), "c": virtual.raising()},
    ]
    models = {
        decided(gateway_of(deciding(), plugins=[members(**one)])).record.attempts[0].model
        for one in panels
    }

    assert len(models) == 3


def test_who_fails_makes_it_another_panel_and_who_abstains_does_not(gateway_of: Gateways) -> None:
    """BR-15, BR-10: a threshold that holds for a whole panel holds for no part of it."""

    def model(third: Any) -> str:
        plugins = [members(a=says("tech"), b=says("tech"), c=third)]
        return decided(gateway_of(deciding(), plugins=plugins)).record.attempts[0].model

    whole = model(says("tech"))
    assert model(virtual.silent()) == whole
    assert model(says("billing")) == whole
    assert model(virtual.raising()) != whole


def test_the_model_of_a_member_is_known_where_it_abstains(gateway_of: Gateways) -> None:
    """BR-15: whether it is sure enough does not make it another one."""

    def model(sure: float) -> str:
        unsure = says(Reply({"team": Chosen("tech", confidence=sure)}, "x-1"))
        plugins = [members(a=says("tech"), b=says("tech"), c=unsure)]
        environ = {**deciding(), "C_MIN_CONFIDENCE": "0.8"}
        return decided(gateway_of(environ, plugins=plugins)).record.attempts[0].model

    assert model(0.9) == model(0.5)


@pytest.mark.parametrize(
    "variable",
    [{"C_MIN_CONFIDENCE": "0.2"}, {"COMMITTEE_ON_PARTIAL": "fallback"}, {"COMMITTEE_ROUNDS": "1"}],
)
def test_what_changes_its_answers_changes_its_name(
    gateway_of: Gateways, variable: dict[str, str]
) -> None:
    """BR-15: whoever is believed from another confidence on is another voter."""
    plugins = [members(**{name: counted_member(lambda _: "tech", []) for name in "abc"})]
    environ = deciding(protocol="debate", rounds=0)

    models = [
        decided(gateway_of(given, plugins=plugins)).record.attempts[0].model
        for given in (environ, {**environ, **variable})
    ]

    assert models[0] != models[1]


def test_several_committees_have_their_own_variables(gateway_of: Gateways) -> None:
    plugins = [members(a=says("tech"), b=says("none"))]
    environ = {
        "DECISION_ROUTER_PROVIDER": "committee/legal",
        "COMMITTEE_MEMBERS": "a",
        "COMMITTEE__LEGAL__MEMBERS": "b,b",
        "COMMITTEE_MIN_CONFIDENCE": "0.5",
    }

    decision = decided(gateway_of(environ, plugins=plugins))

    assert (decision.value, decision.provider) == ("none", "committee/legal")
    assert decision.confidence == pytest.approx(3 / 4)
    assert decision.record.attempts[0].minimum == 0.5


def test_it_takes_what_all_of_its_members_take(gateway_of: Gateways) -> None:
    """What one of them cannot take is not asked of the others."""

    narrow: Any = scripted("tech")
    narrow.name = "narrow"
    narrow.limits = Limits(options=2, characters=100)
    asked: list[Draft] = []
    plugins = [Offers({"narrow": narrow}), members(a=counted_member(lambda _: "tech", asked))]
    gateway = gateway_of(deciding(seats="a,narrow"), plugins=plugins)

    decision = decided(gateway)

    assert decision.record.reason is Reason.UNSUPPORTED
    long = Ask("my router is dead" * 10, {"safe": Predicate("Safe?")})
    assert decided(gateway, long).record.reason is Reason.TOO_LARGE
    assert asked == []


# --- what is found at start --------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "variable", "says"),
    [
        ({"COMMITTEE_MEMBERS": ""}, "COMMITTEE_MEMBERS", "not set"),
        (deciding(seats="a,,b"), "COMMITTEE_MEMBERS", "a member is a provider"),
        (deciding(seats="x=a,x=b"), "COMMITTEE_MEMBERS", "two members are called 'x'"),
        (deciding(seats="a,nobody"), "COMMITTEE_MEMBERS", "no provider 'nobody'"),
        (deciding(seats="a,committee"), "COMMITTEE_MEMBERS", "`committee` deliberates"),
        (deciding(seats="a,committee/x"), "COMMITTEE_MEMBERS", "`committee/x` deliberates"),
        (deciding(seats="a,debate"), "COMMITTEE_MEMBERS", "`debate` deliberates"),
        (deciding(seats="current,b,current"), "COMMITTEE_MEMBERS", "sits on it twice"),
        (
            {**deciding(seats="a,current"), "CURRENT_PROVIDER": "committee"},
            "COMMITTEE_MEMBERS",
            "`current` is committee",
        ),
        (deciding(seats="a", protocol="debate"), "COMMITTEE_MEMBERS", "a debate takes two"),
        (deciding(seats="a,b", protocol="skeptic"), "COMMITTEE_MEMBERS", "called `skeptic`"),
        (deciding(seats="a,skeptic=b", protocol="skeptic"), "COMMITTEE_MEMBERS", "takes two"),
        (deciding(seats="a,b", protocol="cost_matched"), "COMMITTEE_MEMBERS", "asks one member"),
        (deciding(protocol="quarrel"), "COMMITTEE_PROTOCOL", "it must be"),
        (deciding(rounds=2), "COMMITTEE_ROUNDS", "has no rounds"),
        (deciding(quorum=4), "COMMITTEE_QUORUM", "4 answers are wanted of 3 voters"),
        (deciding(max_calls=1), "COMMITTEE_MAX_CALLS", "never make a quorum of 2"),
        (
            deciding(max_calls=2, rule="judge", judge="jev") | {"AI_GATEWAY_API_KEY": "key"},
            "COMMITTEE_MAX_CALLS",
            "a quorum of 2 and a judge",
        ),
        (deciding(max_cost_usd=0), "COMMITTEE_MAX_COST_USD", "must be"),
        (deciding(timeout_seconds="soon"), "COMMITTEE_TIMEOUT_SECONDS", "must be"),
        (deciding(rule="judge"), "COMMITTEE_JUDGE", "none is named"),
        (deciding(judge="b"), "COMMITTEE_JUDGE", "judges nothing"),
        (deciding(rule="judge", judge="b"), "COMMITTEE_JUDGE", "vote twice"),
        (deciding(rule="judge", judge="nobody"), "COMMITTEE_JUDGE", "no provider 'nobody'"),
        (deciding(roles="/nowhere.toml"), "COMMITTEE_ROLES", "cannot be read"),
        (deciding(transcripts="/nowhere"), "COMMITTEE_TRANSCRIPTS", "no folder"),
        ({**deciding(), "A_MIN_CONFIDENCE": "2"}, "A_MIN_CONFIDENCE", "from 0"),
        (deciding(seats="a,jev"), "AI_GATEWAY_API_KEY", "not set"),
    ],
)
def test_what_an_operator_has_to_see_to_is_found_at_start(
    gateway_of: Gateways, environ: dict[str, str], variable: str, says: str
) -> None:
    """TR-01, BR-20: before anybody is asked, each fault with its variable."""
    functions = {name: virtual.raising() for name in "abc"}

    with pytest.raises(SetupError) as told:
        gateway_of({**deciding(), **environ}, plugins=[members(**functions)])

    where = {one.where for one in told.value.faults}
    assert where == {variable}
    assert says in str(told.value)


def test_everything_that_is_wrong_is_said_at_once(gateway_of: Gateways) -> None:
    environ = deciding(seats="a,nobody,committee", quorum=9, rule="judge")

    with pytest.raises(SetupError) as told:
        gateway_of(environ, plugins=[members(a=says("tech"))])

    assert len(told.value.faults) == 4


def test_a_member_that_is_found_to_deliberate_is_refused(gateway_of: Gateways) -> None:
    """BR-20: also where a stranger's plug-in says so."""
    thinker: Any = scripted("tech")
    thinker.name = "thinker"
    thinker.deliberates = True

    plugins = [Offers({"thinker": thinker}), members(a=says("tech"))]
    with pytest.raises(SetupError, match="`thinker` deliberates"):
        gateway_of(deciding(seats="a,thinker"), plugins=plugins)


def test_roles_are_read_from_a_file(gateway_of: Gateways, tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    heard: list[Draft] = []
    asked_of = counted_member(lambda _: "tech", heard)
    plugins = [members(a=asked_of, b=asked_of)]
    path.write_text("[cfo]\ninstructions = 'Weigh the money.'", "utf-8")
    seats = "cfo=a,b"
    written = decided(gateway_of(deciding(seats=seats, roles=path), plugins=plugins))
    told = [one.instructions for one in heard]
    unwritten = decided(gateway_of(deciding(seats=seats), plugins=plugins))

    assert told == [f"Weigh the money.\n\n{TEAM.instructions}", TEAM.instructions]
    assert written.record.attempts[0].model.startswith("committee(cfo=a,b)~")
    assert written.record.attempts[0].model != unwritten.record.attempts[0].model

    for text in ("{", "cfo = 7", "[cfo]\nsalary = 7", '["c f o"]'):
        path.write_text(text, "utf-8")
        with pytest.raises(SetupError, match="COMMITTEE_ROLES: it holds no roles"):
            gateway_of(deciding(seats=seats, roles=path), plugins=plugins)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"protocol": "debate", "rounds": 3, "timeout_seconds": 60},
            "210 s at worst do not fit into 60 s",
        ),
        ({"protocol": "debate", "rounds": 2, "max_calls": 14}, "15 calls, and 14"),
        ({"rule": "judge", "judge": "j", "max_calls": 3}, "4 calls, and 3"),
        (
            {"rule": "judge", "judge": "j", "timeout_seconds": 45},
            "60 s at worst do not fit into 45 s",
        ),
        ({"protocol": "debate", "rounds": 2, "max_calls": 15, "timeout_seconds": 150}, None),
        ({"members": "fixed,fixed"}, "`fixed` is asked more than once, and says the same"),
        ({"members": "fixed", "protocol": "cost_matched"}, "`fixed` is asked more than once"),
        ({"members": "a,a,fixed"}, None),
        ({}, None),
    ],
)
def test_what_can_hardly_fit_is_said(
    gateway_of: Gateways, settings: dict[str, Any], says: str | None
) -> None:
    """BR-09, AM-12: legal, and told of before the first decision."""
    functions = {name: virtual.obedient("tech") for name in "abcj"}
    fixed: Any = scripted("tech")
    fixed.name = "fixed"
    plugins = [members(**functions), Offers({"fixed": fixed})]
    gateway = gateway_of(deciding(**settings), plugins=plugins)

    told = "\n".join(str(one) for one in gateway.check() if "COMMITTEE" in one.where)

    assert told == "" if says is None else says in told


@pytest.mark.source
@pytest.mark.parametrize("field", CommitteeSettings.model_fields)
def test_every_variable_stands_in_its_page(field: str) -> None:
    page = (ROOT / "docs" / "committee.md").read_text("utf-8")

    assert f"| `COMMITTEE_{field.upper()}` |" in page
