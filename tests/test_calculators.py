"""Points that calculate: who is current, what a provider is held to, and what is recorded."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from listening import WITHIN, Listener, Member, listening
from pointsman import (
    Ask,
    Attempt,
    Call,
    Choice,
    Chosen,
    Decision,
    DecisionPoint,
    DeclarationError,
    Gateway,
    Hybrid,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    Reply,
    Stated,
    scripted,
)
from pointsman.gateway.cli.app import app
from pointsman.gateway.plugins import Others
from pointsman.gateway.points import Calculator
from pointsman.gateway.questions import Outcome, Question
from served import Running, running
from trialling import Kept

LANES = {"SIMPLE": "one role", "DEBATE": "several roles", "COUNCIL": "the council"}
STATE: Mapping[str, Any] = {"question": "Shall we?", "roles": 3, "rule": {"least": 2}}
CRITICAL = {**STATE, "critical": True}


class Lane:
    """A point that calculates, and counts how often it does each of its parts."""

    def __init__(self, **said: Any) -> None:
        self.did: list[str] = []
        self.states: list[Mapping[str, Any]] = []
        given: dict[str, Any] = {
            "current": Calculator(self.decide, self.read, self.write),
            "after": self.after,
            **said,
        }
        self.point = DecisionPoint(
            name="LANE",
            questions={"en": {"lane": Choice("How much?", LANES)}},
            reads=("question", "roles", "critical"),
            brings=("rule",),
            internal=True,
            **given,
        )

    def decide(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Calculate."""
        self.did.append("decide")
        self.states.append(state)
        if state.get("critical"):
            return {"lane": "COUNCIL", "by": "calculation"}
        enough = state["roles"] >= state["rule"]["least"]
        return {"lane": "DEBATE" if enough else "SIMPLE", "by": "calculation"}

    def read(self, value: Any) -> Outcome:
        """Read the point's value."""
        return str(value["lane"])

    def write(self, state: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
        """Write a provider's outcome."""
        self.did.append("write")
        return {"lane": outcome, "by": "judgement", "roles": state["roles"]}

    def after(self, state: Mapping[str, Any], outcome: Outcome) -> Outcome:
        """Nothing critical is answered by fewer than the council."""
        self.did.append("after")
        self.states.append(state)
        return "COUNCIL" if state.get("critical") else outcome


@pytest.fixture
def lane() -> Lane:
    """A point that nobody else has."""
    return Lane()


class Judge(Member):
    """Says a lane, or nothing."""

    def answer(self, ask: Ask, call: Call) -> Any:
        super().answer(ask, call)
        option, confidence = self._said
        return Reply({"lane": Chosen(option, None, confidence)}, "j-1")


PLANNED = {"DECISION_LANE_PROVIDER": "judge"}
COLOURS = ("sync", "async")


def asked(gateway: Gateway, colour: str, *given: Any, **more: Any) -> Decision[Any]:
    """Ask a point in one of the two colours."""
    if colour == "sync":
        return gateway.ask_sync(*given, **more)
    return asyncio.run(gateway.ask(*given, **more))


# --- who decides -----------------------------------------------------------------------------


@pytest.mark.parametrize("colour", COLOURS)
def test_where_nothing_is_configured_the_calculator_decides(lane: Lane, colour: str) -> None:
    """DESIGN, step 2: the point's own calculator is `current`, and nothing is built around it."""
    recorder = Recorder()
    gateway = listening(observers=[])

    decision = asked(gateway, colour, lane.point, STATE)

    assert decision.value == {"lane": "DEBATE", "by": "calculation"}
    assert (decision.provider, decision.record.outcome) == ("current", "DEBATE")
    assert lane.did == ["decide"]
    assert lane.states == [STATE]  # with what is brought, and never sent
    assert recorder.records == []


def test_what_is_watched_is_recorded_with_the_calculators_outcome(lane: Lane) -> None:
    recorder = Recorder()

    listening(observers=[recorder]).ask_sync(lane.point, STATE)

    (record,) = recorder.records
    assert (record.variant, record.provider, record.outcome) == ("current", "current", "DEBATE")
    assert lane.did == ["decide"]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_provider_is_asked_where_a_variable_says_so(lane: Lane, colour: str) -> None:
    """It is sent what the point reads; its outcome is ruled, then written as the point's value."""
    judge = Judge("SIMPLE")

    decision = asked(listening(PLANNED, judge=judge), colour, lane.point, STATE)

    assert json.loads(judge.asked[0].text) == {"question": "Shall we?", "roles": 3}
    assert decision.value == {"lane": "SIMPLE", "by": "judgement", "roles": 3}
    assert lane.did == ["after", "write"]
    assert lane.states == [STATE]


def test_an_internal_point_does_not_follow_the_global_provider(lane: Lane) -> None:
    judge = Judge("SIMPLE")

    listening({"DECISION_PROVIDER": "judge"}, judge=judge).ask_sync(lane.point, STATE)

    assert (lane.did, judge.asked) == (["decide"], [])


def test_a_providers_outcome_is_at_least_as_protective_as_the_rule(lane: Lane) -> None:
    """The record keeps both: what was said, and what counts."""
    decision = listening(PLANNED, judge=Judge("SIMPLE")).ask_sync(lane.point, CRITICAL)

    assert decision.value["lane"] == "COUNCIL"
    assert decision.record.outcome == "COUNCIL"
    assert decision.answers["lane"].value == "SIMPLE"


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(
    "judge",
    [Judge("SIMPLE", 0.1), Judge("ELSEWHERE"), Judge(fails=NoAnswer(Reason.TIMEOUT))],
    ids=["unsure", "undeclared", "silent"],
)
def test_a_provider_that_is_not_believed_leaves_it_to_the_calculator_once(
    lane: Lane, judge: Judge, colour: str
) -> None:
    """The rule is for providers: what is calculated is not held to it."""
    decision = asked(listening(PLANNED, judge=judge), colour, lane.point, CRITICAL)

    assert decision.value == {"lane": "COUNCIL", "by": "calculation"}
    assert decision.provider == "current"
    assert decision.record.fallback
    assert lane.did == ["decide"]


def test_without_the_fallback_the_providers_silence_reaches_the_host(lane: Lane) -> None:
    environ = {**PLANNED, "DECISION_FALLBACK_TO_CURRENT": "false"}

    with pytest.raises(NoAnswer):
        listening(environ, judge=Judge(fails=NoAnswer(Reason.REFUSED))).ask_sync(lane.point, STATE)
    assert lane.did == []


def test_the_calculator_stands_before_a_provider_that_stands_in(lane: Lane) -> None:
    """DESIGN, step 2: wrapped function, calculator, `CURRENT_PROVIDER`."""
    judge = Judge("COUNCIL")
    gateway = listening({"CURRENT_PROVIDER": "judge"}, stand_in=True, judge=judge)

    assert gateway.ask_sync(lane.point, STATE).value["by"] == "calculation"
    prepared = gateway.prepared(lane.point, STATE)
    assert prepared.made_sync().value["by"] == "calculation"
    assert judge.asked == []


# --- the host's own path ---------------------------------------------------------------------


@pytest.mark.parametrize("colour", COLOURS)
def test_a_path_of_the_hosts_own_wins_and_is_never_ruled(lane: Lane, colour: str) -> None:
    """Whether it is asked first, or falls back to."""
    for gateway in (
        listening(),
        listening(PLANNED, judge=Judge(fails=NoAnswer(Reason.ABSTAINED))),
    ):
        decision = asked(gateway, colour, lane.point, CRITICAL, current=lambda: "SIMPLE")
        assert (decision.value, decision.record.outcome) == ("SIMPLE", "SIMPLE")
    assert lane.did == []


def test_a_provider_is_ruled_beside_a_path_of_the_hosts_too(lane: Lane) -> None:
    """The value is as the host writes it: the outcome itself, unless it says otherwise."""
    gateway = listening(PLANNED, judge=Judge("SIMPLE"))

    plain = gateway.ask_sync(lane.point, CRITICAL, current=lambda: "SIMPLE")
    own = gateway.ask_sync(
        lane.point, CRITICAL, current=lambda: "SIMPLE", write=lambda said: f"<{said}>"
    )

    assert (plain.value, own.value) == ("COUNCIL", "<COUNCIL>")
    assert lane.did == ["after", "after"]


def test_a_consultation_is_ruled_and_never_calculated(lane: Lane) -> None:
    """A point reached through `consult` has the host as its current."""
    gateway = listening(PLANNED, judge=Judge("SIMPLE"))

    decision = gateway.consult_sync(lane.point, CRITICAL)
    assert decision is not None
    assert decision.record.outcome == "COUNCIL"
    assert listening().consult_sync(lane.point, CRITICAL) is None
    assert lane.did == ["after"]


def test_a_wrapped_function_is_current_and_its_provider_is_ruled(lane: Lane) -> None:
    for environ, expected in (({}, "SIMPLE"), (PLANNED, "COUNCIL")):
        gateway = listening(environ, judge=Judge("DEBATE"))

        @gateway.point(lane.point)
        def route(question: str, roles: int, *, critical: bool) -> str:
            return "SIMPLE" if question and roles and critical else "DEBATE"

        assert route("Shall we?", 3, critical=True) == expected
    assert lane.did == ["after"]


def test_the_host_may_read_and_write_in_the_place_of_the_point(lane: Lane) -> None:
    gateway = listening(PLANNED, judge=Judge("SIMPLE"))

    decision = gateway.ask_sync(lane.point, STATE, write=lambda outcome: f"<{outcome}>")

    assert decision.value == "<SIMPLE>"


# --- what else looks on ------------------------------------------------------------------------


def test_a_shadow_is_ruled_as_it_would_be_live(lane: Lane, tmp_path: Path) -> None:
    """What it would have come to is compared, not what the model said."""
    kept = Kept(tmp_path)
    environ = {"DECISION_LANE_SHADOW": "judge", **kept.variables}

    with listening(environ, judge=Judge("SIMPLE")) as gateway:
        assert gateway.ask_sync(lane.point, CRITICAL).value["by"] == "calculation"

    (trail,) = kept.trails()
    (row,) = trail.shadows
    shadow = row.shadow
    assert (shadow.outcome, shadow.beside) == ("COUNCIL", "COUNCIL")
    assert shadow.attempt.answers["lane"].value == "SIMPLE"
    assert lane.did == ["decide", "after"]


def test_a_rule_that_breaks_in_a_shadow_breaks_nothing_else(tmp_path: Path) -> None:
    def broken(_: Mapping[str, Any], __: Outcome) -> Outcome:
        raise KeyError("rule")

    kept, lane = Kept(tmp_path), Lane(after=broken)
    environ = {"DECISION_LANE_SHADOW": "judge", **kept.variables}

    with listening(environ, judge=Judge("SIMPLE")) as gateway:
        gateway.ask_sync(lane.point, STATE)

    (trail,) = kept.trails()
    assert [one.shadow.outcome for one in trail.shadows] == [None]


def _raises(*_: Any) -> Any:
    raise KeyError("zq7-rule")


def _abstains(*_: Any) -> Any:
    raise NoAnswer(Reason.ABSTAINED)


UNFIT: dict[str, dict[str, Any]] = {
    "a rule that raises": {"after": _raises},
    "a rule that has no answer": {"after": _abstains},
    "a rule of another type": {"after": lambda _, __: 42},
    "a rule of another word": {"after": lambda _, __: "SENATE"},
    "a rule that says nothing": {"after": lambda _, __: None},
    "a rule of several": {"after": lambda _, __: {"lane": "SIMPLE", "more": 1}},
    "a value that cannot be written": {
        "current": Calculator(lambda _: {"lane": "DEBATE"}, lambda value: value["lane"], _raises)
    },
}


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("what", UNFIT)
def test_what_the_points_own_functions_can_make_nothing_of_is_no_answer(
    what: str, colour: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The calculator decides, once, and one event says whose fault it was."""
    recorder, environ = Recorder(), {**PLANNED, "DECISION_LOG": "json"}
    gateway = listening(environ, observers=[recorder], judge=Judge("SIMPLE"))

    decision = asked(gateway, colour, Lane(**UNFIT[what]).point, STATE)

    assert (decision.value["lane"], decision.provider) == ("DEBATE", "current")
    (record,) = recorder.records
    assert [one.provider for one in record.attempts] == ["judge", "current"]
    assert record.reason is Reason.UNSUPPORTED
    assert (record.outcome, record.answers) == ("DEBATE", {})
    err = capsys.readouterr().err
    told = [json.loads(line)["event"] for line in err.splitlines()]
    assert told.count("decision.read_failed") == 1
    assert "zq7-rule" not in err


def test_without_the_fallback_there_is_no_answer() -> None:
    environ = {**PLANNED, "DECISION_LANE_FALLBACK_TO_CURRENT": "false"}
    gateway = listening(environ, judge=Judge("SIMPLE"))

    with pytest.raises(NoAnswer) as raised:
        gateway.ask_sync(Lane(after=_raises).point, STATE)

    assert raised.value.reason is Reason.UNSUPPORTED


def test_a_rule_may_leave_open_what_was_left_open() -> None:
    """And turn what was said; it may not leave open what counts."""
    questions: dict[str, Question] = {
        "may": Predicate("May it?"),
        "why": Choice("Why?", ["a", "b"], advisory=True),
    }

    def ruling(ruled: Any) -> Any:
        return lambda _, __: ruled

    said = {"may": True, "why": "a"}
    for ruled, provider in (
        ({"may": False, "why": None}, "scripted"),
        ({"may": None, "why": "a"}, "current"),
        ({"may": False}, "current"),
    ):
        point = DecisionPoint(name="TWO", questions={"en": questions}, after=ruling(ruled))
        gateway = listening()
        with gateway.override({"TWO": scripted(said)}):
            decision = gateway.ask_sync(point, {"n": 1}, current=lambda: said)
        assert decision.provider == provider
        assert decision.value == (said if provider == "current" else ruled)


@pytest.mark.parametrize("colour", COLOURS)
def test_the_calculator_is_heard_as_current(lane: Lane, colour: str) -> None:
    """A committee with a seat for current hears what the point calculates, in its words."""

    async def hears(gateway: Others, ask: Ask, call: Call) -> Attempt:
        return await gateway.hear("current", ask, within=call)

    listener = Listener(hears)
    gateway = listening({"DECISION_LANE_PROVIDER": "listener"}, listener=listener)

    decision = asked(gateway, colour, lane.point, STATE)

    assert [one.answers["lane"].value for one in listener.heard] == ["DEBATE"]
    assert decision.value["by"] == "calculation"
    assert lane.did == ["decide"]


def test_a_calculated_decision_may_be_nested(lane: Lane) -> None:
    """As a debate asks: `gateway.ask(point, state, within=call)`."""
    decision = asyncio.run(listening().ask(lane.point, STATE, within=WITHIN))

    assert decision.value["lane"] == "DEBATE"


def test_a_deliberating_provider_within_another_is_nested_and_the_calculator_decides(
    lane: Lane,
) -> None:
    """DESIGN, step 3: the inner plan becomes `current`, recorded as `nested`."""
    deep = Judge("SIMPLE", deliberates=True)
    within = Call(point="TEAM", asking=("debate",))

    decision = asyncio.run(listening(PLANNED, judge=deep).ask(lane.point, STATE, within=within))

    assert decision.value["by"] == "calculation"
    assert (decision.record.reason, deep.asked) == (Reason.NESTED, [])


def test_a_turn_and_an_override_know_it_too(lane: Lane) -> None:
    gateway = listening()

    async def turned() -> Any:
        async with gateway.turn() as turn:
            return (await turn.ask(lane.point, state=STATE))["LANE"].value

    assert asyncio.run(turned())["by"] == "calculation"
    with gateway.override({"LANE": scripted("SIMPLE")}):
        assert gateway.ask_sync(lane.point, CRITICAL).value["lane"] == "COUNCIL"


def test_several_questions_are_ruled_together() -> None:
    """A provider's truths come as a mapping; the rule may turn any of them."""

    def never_alone(_: Mapping[str, Any], outcome: Outcome) -> Outcome:
        assert isinstance(outcome, Mapping)
        return {**outcome, "b": False}

    point = DecisionPoint(
        name="PAIR",
        questions={"en": {"a": Predicate("Is it a?"), "b": Predicate("Is it b?")}},
        reads=("x",),
        current=Calculator(
            decide=lambda _: {"a": False, "b": False},
            read=lambda value: value,
            write=lambda _, outcome: outcome,
        ),
        after=never_alone,
    )

    class Says(Member):
        def answer(self, ask: Ask, call: Call) -> Any:
            return Reply({name: Stated(holds=True) for name in ask.questions})

    gateway = listening({"DECISION_PAIR_PROVIDER": "says", "SAYS_MIN_CONFIDENCE": "0"}, says=Says())

    assert gateway.ask_sync(point, {"x": 1}).value == {"a": True, "b": False}


# --- declarations --------------------------------------------------------------------------------


def test_a_point_with_a_calculator_has_an_end(lane: Lane) -> None:
    """No safe outcome is needed, and nobody is said to be missing."""
    assert lane.point.safe is None
    human = Lane(on_undecided=None)
    gateway = listening()
    gateway.asks(human.point)

    assert gateway.ask_sync(human.point, STATE).value["lane"] == "DEBATE"
    assert [fault for fault in gateway.check() if "LANE" in fault.where] == []


def test_points_that_nobody_decides_are_those_without_a_calculator() -> None:
    gateway = listening({"DECISION_INBOX": "off"})
    for name, own in (("LANE", {}), ("OTHER", {"current": None, "after": None})):
        point = msgspec.structs.replace(Lane(**own).point, name=name)
        gateway.asks(point, on_undecided="human")

    told = [fault.where for fault in gateway.check() if "nobody decides" in fault.problem]

    assert told == ["DECISION_OTHER_PROVIDER"]


@pytest.mark.parametrize("state", ["Shall we?", None, [1]])
def test_a_calculator_needs_a_mapping(lane: Lane, state: Any) -> None:
    for gateway in (listening(), listening(PLANNED, judge=Judge("SIMPLE"))):
        with pytest.raises(DeclarationError, match="LANE"):
            gateway.ask_sync(lane.point, state)


def test_a_rule_reads_fields_also_where_today_decides() -> None:
    """What would fail the first time that somebody is asked fails at the first call at all."""
    point = DecisionPoint(
        name="LANE",
        questions={"en": {"lane": Choice("How much?", LANES)}},
        after=lambda _, one: one,
    )
    for gateway in (listening(), listening(PLANNED, judge=Judge("SIMPLE"))):
        with pytest.raises(DeclarationError, match="LANE"):
            gateway.ask_sync(point, "a text", current=lambda: "SIMPLE")
        with pytest.raises(DeclarationError, match="LANE"):
            gateway.consult_sync(point, "a text")

        def of_a_text(text: str) -> str:
            return text

        with pytest.raises(DeclarationError, match="mapping"):
            gateway.point(point)(of_a_text)


def test_an_ask_is_calculated_by_its_own_state(lane: Lane) -> None:
    """What is brought and never sent is in no ask: a calculator that needs it says so."""
    ask = Ask({"question": "?", "roles": 1, "critical": True}, lane.point.questions["en"])
    assert listening().ask_sync(lane.point, ask).value["lane"] == "COUNCIL"
    with pytest.raises(KeyError, match="rule"):
        listening().ask_sync(lane.point, lane.point.ask(STATE))


def _given(*given: Any) -> Any:
    return given[0]


WRONG: dict[str, dict[str, Any]] = {
    "no calculator": {"current": _given},
    "no function": {"after": "COUNCIL"},
    "hybrid": {"hybrid": Hybrid(read=dict, extend=_given, merge=_given)},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_declaration_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match="LANE"):
        Lane(**wrong)


def test_other_names_and_words_keep_the_calculator(lane: Lane) -> None:
    other = lane.point.called("LANE_OTHER").worded({"en": {"lane": "How much of it?"}})

    assert (other.current, other.after) == (lane.point.current, lane.point.after)


# --- the command and the server -------------------------------------------------------------------


@pytest.fixture
def serving(lane: Lane) -> Running:
    """Serve the point; a stranger's state is all that is known of a request."""
    made = running({})
    made.house.gateway._note(lane.point, "LANE")  # pyright: ignore[reportPrivateUsage]
    return made


REQUEST = {"model": "point:LANE", "state": STATE, "questions": {}}


def test_the_server_calculates_with_the_state_as_it_is_given(serving: Running) -> None:
    """Its answer has no number: none is made up, and `outcome` says what was decided."""
    with serving as served:
        body = served.systemone(REQUEST).json()

    told = body["provider_metadata"]["pointsman"]
    assert (told["provider"], told["outcome"]) == ("current", "DEBATE")
    assert body["answers"]["lane"]["choice"] == "DEBATE"
    assert (body["answers"]["lane"]["confidence"], body["answers"]["lane"]["probabilities"]) == (
        0.0,
        {},
    )


def test_what_a_server_answers_is_ruled(lane: Lane) -> None:
    """A client acts upon the answer: it must be the one that counts."""
    made = running({"DECISION_LANE_PROVIDER": "told"}, told=scripted("SIMPLE"))
    made.house.gateway._note(lane.point, "LANE")  # pyright: ignore[reportPrivateUsage]
    with made as served:
        body = served.systemone({**REQUEST, "state": CRITICAL}).json()

    assert body["answers"]["lane"]["choice"] == "COUNCIL"
    assert body["provider_metadata"]["pointsman"]["outcome"] == "COUNCIL"
    assert body["provider_metadata"]["pointsman"]["provider"] == "told"


def test_a_state_that_a_calculator_cannot_read_is_the_clients_fault() -> None:
    def picky(_: Mapping[str, Any]) -> Any:
        raise DeclarationError("LANE reads `roles`, a whole number")

    lane = Lane(current=Calculator(picky, str, lambda _, outcome: outcome))
    made = running({})
    made.house.gateway._note(lane.point, "LANE")  # pyright: ignore[reportPrivateUsage]
    with made as served:
        reply = served.systemone(REQUEST)

    assert reply.status_code == 400
    assert "LANE reads `roles`" in reply.text


APP = """
from pointsman import Choice, DecisionPoint, Gateway
from pointsman.gateway.points import Calculator

def decide(state):
    return {"lane": "DEBATE" if state["roles"] >= state["rule"]["least"] else "SIMPLE"}

gateway = Gateway.from_env({"DECISION_LOG": "off"})
gateway.asks(DecisionPoint(
    name="LANE",
    questions={"en": {"lane": Choice("How much?", ["SIMPLE", "DEBATE"])}},
    reads=("question", "roles"),
    brings=("rule",),
    current=Calculator(decide, lambda value: value["lane"], lambda state, lane: {"lane": lane}),
    after=lambda state, lane: lane,
))
"""


def said(*words: str) -> str:
    """Give what the command prints."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_calculates_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lanes.py").write_text(APP)
    (tmp_path / "state.json").write_text(json.dumps(dict(STATE)))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    own = ("--app", "lanes:gateway")

    told = said(*own, "ask", "LANE", "--state", str(tmp_path / "state.json"))
    assert "DEBATE" in told
    assert "The point's own calculator decides here." in told
    assert "a calculator of its own" in said(*own, "points", "LANE")
    explained = said(*own, "points", "LANE", "--explain")
    assert "its own calculator" in explained
    assert "held to a rule" in explained
    data = json.loads(said(*own, "points", "LANE", "--json"))
    assert data["points"][0]["calculates"] is True
