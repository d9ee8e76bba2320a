"""Every transition of a debate: the table as data, and each row through the whole engine."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from debating import (
    ALL,
    CASE,
    INVEST,
    NONE,
    ROLES,
    agreeing,
    council_of,
    critic,
    debate_of,
    gateway_of,
    held,
    panel,
    rules_of,
    says,
    spoken,
    stand,
    trio,
    weighed,
)
from pointsman.gateway.errors import Reason
from pointsman.gateway.questions import Score
from pointsman.providers.deliberation.dynamics import Debate, Debated
from pointsman.providers.deliberation.dynamics.states import (
    TABLE,
    TERMINAL,
    Facts,
    State,
    fired,
    following,
)
from pointsman.providers.deliberation.protocols import StopReason
from virtual import hung, obedient, raising, run, silent, timed

RULES = rules_of()


def facts(**known: Any) -> Facts:
    usual: dict[str, Any] = {"rules": RULES, "lane": "DEBATE", "roles": 3, "round": 1, "usable": 3}
    return Facts(**{**usual, "held": 3, "quorum": True, "council": True, **known})


ROWS = [
    ("TR-01", State.ROUTING, facts(fault="empty_question"), State.FAILED),
    ("TR-02", State.ROUTING, facts(lane="COUNCIL"), State.SYNTHESIS),
    (
        "TR-02",
        State.ROUTING,
        facts(lane="COUNCIL", rules=rules_of(critical_lane="r1_then_council")),
        State.ROUND,
    ),
    ("TR-20", State.ROUTING, facts(lane="COUNCIL", council=False), State.HUMAN),
    ("TR-03", State.ROUTING, facts(), State.ROUND),
    ("TR-04", State.ROUTING, facts(lane="SIMPLE"), State.ROUND),
    ("TR-04", State.ROUND, facts(lane="SIMPLE"), State.SYNTHESIS),
    ("TR-02", State.ROUND, facts(lane="COUNCIL"), State.SYNTHESIS),
    ("TR-05", State.ROUND, facts(cancelled=True), State.CANCELLED),
    ("TR-06", State.ROUND, facts(over="timeout_total"), State.BREAKER),
    ("TR-06", State.ROUND, facts(over="budget"), State.BREAKER),
    ("TR-08", State.ROUND, facts(over="timeout_total", held=0), State.FAILED),
    ("TR-07", State.ROUND, facts(), State.CHECK),
    ("TR-08", State.CHECK, facts(usable=0), State.FAILED),
    ("TR-09", State.CHECK, facts(quorum=False), State.BREAKER),
    ("TR-09", State.CHECK, facts(round=2, usable=0, quorum=False), State.BREAKER),
    ("TR-10", State.CHECK, facts(converged=True), State.SYNTHESIS),
    ("TR-11", State.CHECK, facts(round=3, refinements=2), State.BREAKER),
    ("TR-12", State.CHECK, facts(round=2, seen=True), State.BREAKER),
    ("TR-13", State.CHECK, facts(round=2, refinements=2), State.BREAKER),
    ("TR-14", State.CHECK, facts(round=3), State.BREAKER),
    ("TR-15", State.CHECK, facts(round=2, settled=True), State.SYNTHESIS),
    (
        "TR-16",
        State.CHECK,
        facts(round=2, settled=True, rules=rules_of(rounds_min=3)),
        State.ROUND,
    ),
    ("TR-16", State.CHECK, facts(round=2), State.ROUND),
    ("TR-17", State.BREAKER, facts(), State.SYNTHESIS),
    ("TR-18", State.SYNTHESIS, facts(), State.ROUTE),
    ("TR-20", State.SYNTHESIS, facts(lane="COUNCIL", held=0), State.HUMAN),
    ("TR-19", State.ROUTE, facts(route="EMIT"), State.EMITTED),
    ("TR-19", State.ROUTE, facts(route="EMIT_WITH_CAVEATS"), State.EMITTED_WITH_CAVEATS),
    ("TR-19", State.ROUTE, facts(route="COUNCIL"), State.COUNCIL),
    ("TR-19", State.ROUTE, facts(route="HUMAN"), State.HUMAN),
    ("TR-20", State.ROUTE, facts(route="COUNCIL", council=False), State.HUMAN),
    ("TR-20", State.COUNCIL, facts(route="EMIT", council=False), State.HUMAN),
    ("TR-22", State.COUNCIL, facts(route="EMIT"), State.EMITTED),
    ("TR-22", State.COUNCIL, facts(route="EMIT_WITH_CAVEATS"), State.EMITTED_WITH_CAVEATS),
    ("TR-22", State.COUNCIL, facts(route="HUMAN"), State.HUMAN),
]


@pytest.mark.parametrize(("row", "state", "known", "target"), ROWS)
def test_the_table_of_transitions(row: str, state: State, known: Facts, target: State) -> None:
    """TR-01 to TR-22, row by row: the first guard that holds says what is next."""
    found = following(state, known)
    assert (found.id, found.target) == (row, target)


def test_every_row_of_the_table_is_tried() -> None:
    assert {row.id for row in TABLE} == {row for row, *_ in ROWS}


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_tr_23_nothing_follows_a_terminal_state(state: State) -> None:
    with pytest.raises(AssertionError, match="nothing follows"):
        following(state, facts())


FACTS = st.builds(
    Facts,
    rules=st.builds(
        rules_of,
        rounds_max=st.integers(1, 5),
        circuit_breaker_max_iterations=st.integers(1, 8),
        circuit_breaker_max_refinements=st.integers(1, 4),
        critical_lane=st.sampled_from(["council_only", "r1_then_council"]),
    ),
    lane=st.sampled_from(["SIMPLE", "DEBATE", "COUNCIL"]),
    fault=st.sampled_from(["", "empty_question"]),
    cancelled=st.booleans(),
    over=st.sampled_from(["", "timeout_total", "budget"]),
    round=st.integers(1, 6),
    usable=st.integers(0, 3),
    held=st.integers(0, 3),
    quorum=st.booleans(),
    converged=st.booleans(),
    refinements=st.integers(0, 5),
    seen=st.booleans(),
    settled=st.booleans(),
    route=st.sampled_from(["EMIT", "EMIT_WITH_CAVEATS", "COUNCIL", "HUMAN"]),
    council=st.booleans(),
)


@given(FACTS)
def test_tr_23_whatever_is_known_every_state_leads_somewhere_and_a_cancelled_one_ends(
    known: Facts,
) -> None:
    """Hard limits hold whatever a verdict says: no round beyond them is ever begun (AM-09)."""
    for state in sorted(set(State) - TERMINAL):
        target = following(state, known).target
        assert target in State
        if known.cancelled and not known.fault:
            assert target is State.CANCELLED
    after = following(State.CHECK, known)
    if after.target is State.ROUND:
        assert known.round < known.rules.rounds_max
        assert known.iterations < known.rules.circuit_breaker_max_iterations
        assert not known.seen or known.converged


# --- through the engine ------------------------------------------------------------------


def ended(done: Debated, *rows: str) -> None:
    assert tuple(done.path) == rows, done.path


def test_tr_01_a_member_that_is_not_there_fails_it_before_anybody_is_asked() -> None:
    asked: list[str] = []

    async def speaks(_: object) -> None:
        asked.append("asked")

    gateway = gateway_of({"cfo": speaks})
    debate = Debate(INVEST, panel("cfo", "nobody"))

    done = run(debate.held(gateway, CASE))

    ended(done, "TR-01")
    assert (done.state, done.fault, done.turns, asked) == (
        State.FAILED,
        "unknown_member:nobody",
        (),
        [],
    )


def test_tr_01_a_blank_state_asks_nothing() -> None:
    done = held(trio(ALL), state="  ")
    assert (done.state, done.fault, done.turns) == (State.FAILED, "empty_question", ())


def test_tr_02_a_critical_question_goes_to_the_council_at_once() -> None:
    """DD-04, AM-30 in the profile `brief`: nobody debates, and the three decide."""
    proposes = obedient(
        says({"recommendation": "invest", "resolution": "resolved", "confidence": 80})
    )
    state = {**CASE, "risk": {"critical": True}}
    done = held(trio(ALL), state=state, council=council_of(synthesizer=proposes))

    ended(done, "TR-02", "TR-18", "TR-19", "TR-22")
    assert {turn.kind for turn in done.turns} == {"synthesis", "critic", "advocate", "synthesizer"}
    assert (done.state, done.rounds, done.confidence) == (State.EMITTED, (), 80.0)


def test_tr_02_a_proposal_takes_no_longer_than_a_role() -> None:
    """AM-12, FV-29, TR-20: so that the published worst case holds in this lane, too."""
    gateway = gateway_of({**trio(ALL), **council_of(synthesizer=hung())})
    state = {**CASE, "risk": {"critical": True}}
    done, seconds = timed(debate_of().held(gateway, state))
    ended(done, "TR-02", "TR-20")
    assert seconds == pytest.approx(30, abs=1)


def test_tr_02_or_after_a_first_round_where_the_rules_say_so() -> None:
    """AM-30, `r1_then_council`: round 1 in parallel, then the council."""
    state = {**CASE, "risk": {"critical": True}}
    done = held(trio(ALL), state=state, rules=rules_of(critical_lane="r1_then_council"))

    ended(done, "TR-02", "TR-02", "TR-18", "TR-19", "TR-22")
    assert [one.number for one in done.rounds] == [1]
    assert (done.state, done.convergence) == (State.EMITTED, 100.0)
    assert "critical" in done.reasons


def test_tr_03_two_roles_debate() -> None:
    """DD-03: two or more roles go to round 1."""
    done = held({one: obedient(agreeing(one, ALL)) for one in ("cfo", "cro")})
    ended(done, "TR-03", "TR-07", "TR-10", "TR-18", "TR-19")


def test_tr_04_one_role_answers_once() -> None:
    """DD-01, DD-02, AM-32, AM-37: no debate and no convergence, which triggers nothing."""
    done = held({"cfo": obedient(agreeing("cfo", ALL))})

    ended(done, "TR-04", "TR-04", "TR-18", "TR-19")
    assert (done.state, done.recommendation, len(done.turns)) == (State.EMITTED, "invest", 1)
    result = done.log["resultado"]
    assert result["convergencia_final"] is None
    assert result["motivo_convergencia"] == "not_applicable"
    assert done.status == "complete"


def test_tr_04_a_lane_that_is_switched_to_simple_asks_the_first_role_alone() -> None:
    """DD-01, AM-31: the lane is a decision point, and any provider may be put behind it."""

    async def lane(_: object) -> str:
        return "SIMPLE"

    done = held(
        {**trio(ALL), "router": lane},
        names=ROLES,
        variables={"DECISION_DEBATE_LANE_PROVIDER": "router"},
    )
    assert {turn.member for turn in done.turns} == {"cfo"}


def test_tr_05_a_caller_that_gives_up_cancels_it_and_the_record_is_kept() -> None:
    """BR-03, BR-04: cancelled is neither failed nor out of time; who had spoken stays."""
    functions = {"cfo": obedient(agreeing("cfo", NONE), 1), "cro": hung()}
    gateway = gateway_of({**functions, **council_of()})
    debate = debate_of(("cfo", "cro"))

    async def cancelled() -> Any:
        from pointsman.gateway.plugins import Call
        from pointsman.providers.deliberation.dynamics.engine import run as engine
        from pointsman.providers.deliberation.floor import Floor
        from pointsman.providers.deliberation.transcript import Transcript

        call = Call(point="DEBATE")
        begun = debate.header(CASE, "s", "t", texts=False)
        transcript = Transcript.begin(None, begun)
        floor = Floor(gateway, call, debate.opened(call), debate.allowance(), transcript)
        hall = debate.hall(gateway, CASE, floor, call)
        task = asyncio.create_task(engine(hall))
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return hall

    hall = run(cancelled())
    assert hall.state_now is State.CANCELLED
    assert hall.path[-1] == "TR-05"
    endings = {turn.member: turn.ending for turn in hall.turns}
    assert endings == {"cfo": "ok", "cro": "cancelled"}
    assert "cancelled" in hall.transcript.notes


def test_tr_06_the_total_time_stops_it_and_keeps_what_was_said() -> None:
    """DD-14, DD-43, DD-66, DD-70, AM-11: 300 s in round 2; what is there is put together."""
    rules = rules_of(timeout_per_agent=200, timeout_per_round=250, timeout_total=300)
    slow = {one: obedient(agreeing(one, NONE, NONE), 120) for one in ROLES}

    done = held(slow, rules=rules)

    assert done.path[:5] == ("TR-03", "TR-07", "TR-16", "TR-06", "TR-17")
    assert done.stop is StopReason.TIMEOUT
    assert done.breaker is not None
    assert done.breaker["trigger"] == "timeout_total"
    assert done.breaker["escalated_to"] == done.log["resultado"]["escalado_para"]
    assert "REDUCED BY TIMEOUT" in done.flags
    assert done.synthesis is not None
    assert done.synthesis.recommendation == "invest"
    finished = [turn.member for turn in done.turns if turn.round == 2 and turn.usable]
    assert finished == ["cfo"]
    assert done.synthesis.stale == ("cro", "cto")


def test_tr_06_a_budget_that_is_used_up_stops_it() -> None:
    """BR-07: four calls are two rounds of three only in part."""
    done = held(trio(NONE, NONE), rules=rules_of(max_calls=4, reserve=0.0), council=council_of())
    assert done.stop is StopReason.BUDGET
    assert done.breaker is not None
    assert done.breaker["trigger"] == "budget"
    made = [turn for turn in done.turns if "unasked" not in turn.notes]
    assert len(made) == 4


def test_tr_07_a_round_ends_at_its_own_time_and_is_checked_on_what_is_there() -> None:
    """DD-13, DD-65: 120 s; two of three are a quorum."""
    rules = rules_of(timeout_per_agent=200, timeout_per_round=120)
    functions = {**trio(ALL), "cto": hung()}
    done = held(functions, rules=rules)

    assert done.rounds[0].seconds == pytest.approx(120)
    assert done.rounds[0].timeouts == ("cto",)
    ended(done, "TR-03", "TR-07", "TR-10", "TR-18", "TR-19")
    assert (done.responded, done.expected, done.status) == (2, 3, "partial")


@pytest.mark.parametrize(
    ("member", "reason"),
    [(raising, Reason.PROVIDER_ERROR), (silent, Reason.ABSTAINED), (hung, Reason.TIMEOUT)],
)
def test_tr_08_where_nobody_answers_it_fails(member: Any, reason: Reason) -> None:
    """The round scenario `[—]`: the gateway's single fallback is for that."""
    done = held({one: member() for one in ROLES})
    ended(done, "TR-03", "TR-07", "TR-08")
    assert (done.state, done.failed, done.stop) == (State.FAILED, reason, StopReason.ERROR)


def test_tr_09_below_the_quorum_nobody_has_agreed() -> None:
    """AM-24, AM-25, BR-10: one of three in round 2 → NO_QUORUM → council."""
    alone = {one: says(stand(one, 1, agreed=NONE)) for one in ROLES}

    def falls_silent(role: str) -> Any:
        async def speaks(draft: Any) -> Any:
            return None if draft.round > 1 and role != "cfo" else alone[role](draft)

        return speaks

    done = held({one: falls_silent(one) for one in ROLES})

    assert done.stop is StopReason.NO_QUORUM
    assert done.path[:6] == ("TR-03", "TR-07", "TR-16", "TR-07", "TR-09", "TR-17")
    assert (done.convergence, done.responded, done.status) == (None, 1, "no_quorum")
    assert "no_quorum" in done.reasons
    assert done.council is not None


def test_tr_10_converged_in_the_first_round() -> None:
    """The scenario `[100]`; DD-08: one round always runs, and DD-36 ends it there."""
    done = held(trio(ALL))
    ended(done, "TR-03", "TR-07", "TR-10", "TR-18", "TR-19")
    assert (len(done.rounds), done.stop, done.breaker) == (1, StopReason.AGREED, None)


def test_tr_10_no_earlier_than_the_rules_say() -> None:
    """DD-08 as `rounds.min = 2`: agreement in round 1 does not end it, nor is it a loop (AM-17)."""
    done = held(trio(ALL, ALL), rules=rules_of(rounds_min=2))
    assert (len(done.rounds), done.stop) == (2, StopReason.AGREED)


def test_tr_11_too_many_iterations_send_it_to_a_person() -> None:
    """DD-15, DD-41, DD-53, AM-19, E18: rounds and refinements together; HUMAN, not the council."""
    rules = rules_of(circuit_breaker_max_iterations=2)
    done = held(trio(NONE, NONE), rules=rules)
    assert done.path[:6] == ("TR-03", "TR-07", "TR-16", "TR-07", "TR-11", "TR-17")
    assert (done.state, done.stop) == (State.HUMAN, StopReason.MAX_ITERATIONS)
    assert "max_iterations" in done.reasons
    assert done.council is None


def test_tr_12_the_same_positions_again_are_a_loop() -> None:
    """The scenario `[40, 40]`; DD-24, DD-44, DD-58, DD-71, DD-72, DD-73, DD-75, AM-14, E20."""
    same = {one: obedient(says(stand(one, 1, agreed=NONE))) for one in ROLES}
    done = held(same, rules=weighed(40, 20, 20, 20))

    assert done.path[:6] == ("TR-03", "TR-07", "TR-16", "TR-07", "TR-12", "TR-17")
    assert [one.check and one.check["score"] for one in done.rounds] == [40.0, 40.0]
    assert (done.stop, done.impasse) == (StopReason.LOOP, True)
    assert "IMPASSE" in done.flags
    assert done.breaker is not None
    assert done.breaker["impasse"] == "positions stabilised without convergence"
    assert {"conv<70", "loop"} <= set(done.reasons)
    assert done.council is not None


def test_tr_13_too_many_refinements_are_an_impasse() -> None:
    """DD-16, DD-42, AM-19: a role that keeps on citing what nobody retrieved is asked twice."""
    cites = {"evidence": ["[RAG:GHOST_1]"]}
    functions = trio(NONE, NONE, NONE)
    functions["cto"] = obedient(agreeing("cto", NONE, NONE, NONE, **cites))
    done = held(functions)

    assert done.path[:6] == ("TR-03", "TR-07", "TR-16", "TR-07", "TR-13", "TR-17")
    assert (done.stop, done.impasse) == (StopReason.MAX_REFINEMENTS, True)
    assert [turn.round for turn in done.turns if turn.kind == "verification"] == [1, 2]
    assert "max_refinements" in done.reasons


def test_tr_14_the_last_round_without_agreement_trips_the_breaker() -> None:
    """The scenario `[40, 50, 60]`; DD-10, DD-33, DD-40, E19: forced, and to the council."""
    done = held(
        trio(NONE, frozenset({"premises"}), frozenset({"premises", "risks"})),
        rules=weighed(40, 10, 10, 40),
    )
    assert [one.check and one.check["score"] for one in done.rounds] == [40.0, 50.0, 60.0]
    assert done.path[-5:-3] == ("TR-14", "TR-17")
    assert done.stop is StopReason.MAX_ROUNDS
    assert done.breaker is not None
    assert done.breaker["rounds"] == done.breaker["max_rounds"] == 3
    assert "conv<70" in done.reasons
    assert done.council is not None


def test_tr_15_numbers_that_stop_moving_are_settled_and_not_agreed() -> None:
    """AP-03: the levels of a score lie apart and stay there; the words around them change."""
    grades = Score("How risky is it?", {"low": "", "some": "", "much": "", "high": ""})

    def insists(role: str, level: str) -> Any:
        made = [stand(role, at, agreed=NONE, recommendation=level) for at in (1, 2, 3)]
        return obedient(says(*made))

    levels = {"cfo": "low", "cro": "some", "cto": "high"}
    done = held({role: insists(role, one) for role, one in levels.items()}, question=grades)

    assert done.path[:5] == ("TR-03", "TR-07", "TR-16", "TR-07", "TR-15")
    assert (done.stop, done.breaker) == (StopReason.SETTLED, None)
    assert "conv<70" in done.reasons


def test_tr_16_it_goes_on_while_they_differ() -> None:
    """The scenario `[40, 75]`; DD-28, DD-37: below 70 the next round starts."""
    done = held(trio(NONE, frozenset({"premises"})), rules=weighed(40, 35, 15, 10))
    assert [one.check and one.check["score"] for one in done.rounds] == [40.0, 75.0]
    ended(done, "TR-03", "TR-07", "TR-16", "TR-07", "TR-10", "TR-18", "TR-19")


def test_tr_17_the_third_round_may_converge_as_any_other() -> None:
    """The scenario `[40, 55, 72]`; AM-08, AM-09, DD-31, DD-38: no breaker at round 3."""
    done = held(
        trio(NONE, frozenset({"premises"}), frozenset({"premises", "risks"})),
        rules=weighed(40, 15, 17, 28),
    )
    assert [one.check and one.check["score"] for one in done.rounds] == [40.0, 55.0, 72.0]
    assert (done.stop, done.breaker) == (StopReason.AGREED, None)
    assert done.log["resultado"]["circuit_breaker"] is False


def test_tr_19_and_tr_20_without_a_council_a_person_decides() -> None:
    done = held(trio(NONE, NONE, NONE), council=council_of(), names=ROLES)
    assert done.council is not None
    bare = run(debate_of(council=False).held(gateway_of(trio(NONE, NONE, NONE)), CASE))
    assert bare.path[-1] == "TR-20"
    assert (bare.state, bare.recommendation) == (State.HUMAN, None)
    assert "no_council" in bare.reasons


@pytest.mark.parametrize("member", [raising(), silent()], ids=["raises", "says nothing"])
@pytest.mark.parametrize("seat", ["critic", "advocate", "synthesizer"])
def test_tr_20_a_council_that_fails_leaves_it_to_a_person(seat: str, member: Any) -> None:
    done = held(trio(NONE, NONE, NONE), council=council_of(**{seat: member}))
    assert done.path[-1] == "TR-20"
    assert (done.state, done.council) == (State.HUMAN, None)


def test_tr_20_the_council_sits_once() -> None:
    """One pass a question: each of the three speaks once."""
    done = held(trio(NONE, NONE, NONE))
    sat = [turn.kind for turn in done.turns if turn.kind in ("critic", "advocate", "synthesizer")]
    assert sorted(sat) == ["advocate", "critic", "synthesizer"]


def test_tr_21_a_council_out_of_time_is_forced_to_its_end() -> None:
    """DD-21, DD-68: who hangs has approved of nothing; the synthesizer still has its slice."""
    done = held(trio(NONE, NONE, NONE), council=council_of(critic=hung()))
    assert done.council is not None
    assert done.council["forced"] is True
    assert done.council["critic_verdict"] == "reject"
    (turn,) = [one for one in done.turns if one.kind == "synthesizer"]
    assert turn.usable
    assert done.path[-1] == "TR-22"


def test_tr_21_even_its_synthesizer_may_hang() -> None:
    """DD-68, BR-19: 180 s, and then no consensus is counted that nobody said."""
    done = held(trio(NONE, NONE, NONE), council=council_of(synthesizer=hung()))
    assert done.council is not None
    assert (done.council["forced"], done.council["resolution"]) == (True, "resolved")
    assert done.council["parts"]["consensus"] == 0.0
    (late,) = [turn for turn in done.turns if turn.kind == "synthesizer"]
    assert late.ending == "timeout"


@pytest.mark.parametrize(
    ("marks", "found", "state"),
    [
        (85, {}, State.EMITTED),
        (60, {}, State.EMITTED_WITH_CAVEATS),
        (40, {"unmitigated_risk": True}, State.HUMAN),
    ],
)
def test_tr_22_the_councils_score_decides(marks: int, found: dict[str, bool], state: State) -> None:
    """DD-07, DD-22, DD-63, AM-06: from 70 plainly, from 60 with caveats, below it a person."""
    differ = {
        "cfo": obedient(agreeing("cfo", NONE, NONE, NONE, confidence=65)),
        "cro": obedient(agreeing("cro", NONE, NONE, NONE, confidence=65)),
        "cto": obedient(agreeing("cto", NONE, NONE, NONE, confidence=65, recommendation="defer")),
    }
    council = council_of(critic=critic(marks), advocate=found)
    done = held(differ, council=council, rules=rules_of(penalties="off", thresholds_human=0))
    assert done.council is not None
    assert done.state is state
    assert done.council["parts"]["consensus"] == 10.0


def test_am_18_several_triggers_at_once_are_all_told_and_the_first_names_it() -> None:
    known = facts(round=3, refinements=2, seen=True, over="timeout_total")
    assert fired(known) == (
        "timeout_total",
        "max_iterations",
        "loop",
        "max_refinements",
        "max_rounds",
    )
    assert following(State.CHECK, msgspec.structs.replace(known, over="")).why == "max_iterations"


def test_am_18_through_the_engine() -> None:
    """The same positions in the last round: a loop, and the last round, too."""
    functions = {
        name: obedient(says(*(stand(name, at, agreed=NONE) for at in (1, 2, 1)))) for name in ROLES
    }
    done = held(functions)
    assert done.breaker is not None
    assert done.breaker["fired"] == ["loop", "max_rounds"]
    assert done.log["resultado"]["motivo_circuit_breaker"] == "loop"


def test_a_speaker_fills_the_form() -> None:
    """The helper of these tests gives what the schema wants, and nothing else."""
    from pointsman.gateway.plugins import Draft

    draft = Draft(
        task="position",
        instructions="x",
        state={},
        schema={"properties": {"a": {"type": "string"}, "b": {"type": "array"}}},
    )
    assert spoken(draft, {"a": "x", "z": 1}) == {"a": "x", "b": []}
