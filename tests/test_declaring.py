"""What a declaration can say of its questions: repeats, needs, wording, names and prefixes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pointsman import (
    Choice,
    DecisionPoint,
    DeclarationError,
    Gateway,
    OptionsFrom,
    Predicate,
    SetupError,
    When,
    scripted,
)
from pointsman.gateway.offering import HostMinimum, Repeat
from pointsman.gateway.points import find

Gateways = Callable[..., Gateway]

FIELDS = DecisionPoint(
    name="FIELDS",
    questions={"": {"field": Choice('What of "{n}"?', ["take", "keep", "leave"])}},
    reads=("text", "schema", "known", "found"),
    words="text",
    needs={"take": "found.{n}", "keep": "known.{n}"},
    repeats={"field": Repeat("schema", "{n}")},
    safe="leave",
)


def asked(point: DecisionPoint, state: Mapping[str, Any]) -> dict[str, list[str]]:
    questions = point.ask(state).questions
    return {n: list(q.options) for n, q in questions.items() if isinstance(q, Choice)}


def test_a_repeated_question_is_asked_for_each_entry_with_what_is_possible() -> None:
    state = {
        "text": "t",
        "schema": {"a": {}, "b": {}, "c": {}},
        "found": {"a": 1},
        "known": {"a": 0, "b": False},
    }
    assert asked(FIELDS, state) == {"a": ["take", "keep", "leave"], "b": ["keep", "leave"]}
    assert FIELDS.ask(state).questions["a"].instructions == 'What of "a"?'


@pytest.mark.parametrize("absent", [None, ""])
def test_what_is_empty_is_absent_and_zero_is_a_value(absent: object) -> None:
    state = {"text": "t", "schema": {"a": {}, "b": {}}, "found": {"a": absent, "b": 0}}
    assert asked(FIELDS, state) == {"b": ["take", "leave"]}


def test_a_call_that_leaves_no_question_says_so() -> None:
    with pytest.raises(DeclarationError, match="FIELDS: this call leaves nothing to decide"):
        FIELDS.ask({"text": "t", "schema": {"a": {}}})


@pytest.mark.parametrize("schema", [None, "a", 3])
def test_what_is_repeated_over_must_be_a_list_or_a_mapping(schema: object) -> None:
    with pytest.raises(DeclarationError, match="'schema' must be a list or a mapping"):
        FIELDS.ask({"text": "t", "schema": schema})


def test_in_doubt_each_repeated_question_ends_safely(gateway_of: Gateways) -> None:
    state = {"text": "t", "schema": {"a": {}, "b": {}}, "found": {"a": 1, "b": 2}}
    gateway = gateway_of()
    with gateway.override({"FIELDS": scripted("take", confidence=0.2)}):
        decision = gateway.ask_sync(FIELDS, state)
    assert decision.undecided
    assert decision.value == {"a": "leave", "b": "leave"}


LEAKS = DecisionPoint(
    name="LEAKS",
    questions={
        "": {
            "leaks": Predicate("Does it leak?", tie=True),
            "what": Choice(
                "What?", ["secret", "number"], when=When("leaks", (True,)), advisory=True
            ),
        }
    },
    reads=("text", "numbers"),
    words="text",
    asked_with={"what": "numbers"},
    safe=True,
)


def test_a_question_is_asked_only_where_its_field_holds_something() -> None:
    assert list(LEAKS.ask({"text": "t", "numbers": 1}).questions) == ["leaks", "what"]
    assert list(LEAKS.ask({"text": "t", "numbers": 0}).questions) == ["leaks"]


@pytest.mark.parametrize(("numbers", "outcome"), [(1, {"leaks": True, "what": None}), (0, True)])
def test_in_doubt_the_outcome_has_the_shape_of_an_answer(
    gateway_of: Gateways, numbers: int, outcome: object
) -> None:
    gateway = gateway_of()
    state = {"text": "t", "numbers": numbers}
    with gateway.override({"LEAKS": scripted(False, confidence=0.51)}):  # noqa: FBT003
        decision = gateway.ask_sync(LEAKS, state)
    assert (decision.undecided, decision.value) == (True, outcome)


@pytest.mark.parametrize("numbers", [0, 1])
def test_a_function_of_a_truth_holds_what_others_only_explain(
    gateway_of: Gateways, numbers: int
) -> None:
    gateway = gateway_of()

    @gateway.point(LEAKS)
    def leaks(text: str, numbers: int) -> bool:  # noqa: ARG001
        return False

    told = {"leaks": True, "what": "secret"} if numbers else True
    with gateway.override({"LEAKS": scripted(told)}):
        decision = gateway.decide_sync(leaks, "t", numbers)
    assert decision.value is True

    with gateway.override({"LEAKS": "current"}):
        decision = gateway.decide_sync(leaks, "t", numbers)
    assert decision.value is False
    assert decision.record.outcome == ({"leaks": False, "what": None} if numbers else False)


def test_an_unsure_companion_is_unspecified_and_costs_nothing(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    from pointsman import Chosen, Held

    line = {"leaks": Held(0.95), "what": Chosen("secret", None, 0.1)}
    with gateway.override({"LEAKS": scripted(line)}):
        decision = gateway.ask_sync(LEAKS, {"text": "t", "numbers": 1})
    assert decision.value == {"leaks": True, "what": None}
    assert decision.confidence == 0.95


JUDGE = DecisionPoint(
    name="JUDGE_X",
    questions={"en": {"good": Predicate("Good?")}, "pt": {"good": Predicate("Boa?")}},
    aliases=("JUDGE_GROUND",),
    chain=("JUDGE",),
    safe=False,
)
GENERIC = DecisionPoint(
    name="RAIL_ANY", questions={"": {"ok": Predicate("OK?")}}, prefix="RAIL_", safe=False
)


def test_an_alias_is_more_specific_than_the_points_own_name() -> None:
    assert JUDGE.names == ("JUDGE_GROUND", "JUDGE_X", "JUDGE")
    assert find("JUDGE_GROUND", {"JUDGE_X": JUDGE}) is JUDGE
    assert JUDGE.called("judge mine").names == ("JUDGE_MINE", "JUDGE_GROUND", "JUDGE_X", "JUDGE")
    assert JUDGE.called("JUDGE_GROUND").names == ("JUDGE_GROUND", "JUDGE_X", "JUDGE")


def test_the_variable_of_an_alias_wins(gateway_of: Gateways) -> None:
    gateway = gateway_of(
        {
            "DECISION_JUDGE_X_PROVIDER": "current",
            "DECISION_JUDGE_GROUND_PROVIDER": "local",
            "DECISION_JUDGE_X_MIN_CONFIDENCE": "0.4",
        }
    )
    gateway.point(JUDGE)(_judge)
    plan = gateway.plan(JUDGE)
    assert (plan.provider, plan.gate.minimum) == ("local", 0.4)
    assert plan.why["provider"] == "DECISION_JUDGE_GROUND_PROVIDER"


def test_a_prefix_stands_for_unknown_names_and_for_no_known_one() -> None:
    points = {"RAIL_ANY": GENERIC, "JUDGE_X": JUDGE}
    mine = find("RAIL_MINE", points)
    assert mine is not None
    assert (mine.names, mine.prefix) == (("RAIL_MINE",), "")
    assert find("RAIL_ANY", points) is GENERIC
    assert find("OTHER", points) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [("GUARDRAIL_PNIJ", "GUARDRAIL_PINJ"), ("JUDGE_RQTL", "JUDGE_RQLT")],
)
def test_a_near_miss_of_a_name_is_no_point_of_ones_own(
    gateway_of: Gateways, name: str, meant: str
) -> None:
    """A generic question may be the very opposite of the one that was meant."""
    gateway = gateway_of()
    with pytest.raises(SetupError, match=f"Did you mean {meant}"):
        gateway.point(name)(_judge)
    with pytest.raises(SetupError, match=f"Did you mean {meant}"):
        gateway.ask_sync(name, "text")
    generic = find("GUARDRAIL_GUARDRAIL", gateway.points)
    assert generic is not None
    gateway.point(generic.called(name))(_judge)  # said so, it is one's own


def test_two_meanings_of_one_name_are_told(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    gateway.point(LEAKS)(_judge)
    assert not [one for one in gateway.check() if one.where == "LEAKS"]
    gateway.point(LEAKS.worded({"": {"leaks": "Really?"}}))(_judge)
    assert [one for one in gateway.check() if one.where == "LEAKS"]


def test_a_name_means_what_the_gateway_declared(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    gateway.point(LEAKS)(_judge)
    decider = scripted(True)  # noqa: FBT003

    @gateway.point("LEAKS")
    def again(text: str) -> bool:  # noqa: ARG001
        return False

    with gateway.override({"LEAKS": decider}):
        assert again("t") is True
    assert decider.asked[0].questions["leaks"] == LEAKS.questions[""]["leaks"]


MENU = DecisionPoint(
    name="MENU",
    questions={
        "en": {"dish": Choice("Which dish?", ["none"], "none", open=True)},
        "pt": {"dish": Choice("Que prato?", ["none"], "none", open=True)},
    },
    reads=("text",),
    words="text",
    options={"dish": OptionsFrom("dishes", "name", "about")},
    brings=("mood",),
)
DISHES = [{"name": "soup", "about": "hot"}, {"name": "ice", "about": "cold"}]


def test_a_function_takes_what_is_brought_and_not_sent(gateway_of: Gateways) -> None:
    gateway, decider = gateway_of(), scripted("soup")

    @gateway.point(MENU)
    def dish(text: str, dishes: list[dict[str, str]], mood: str) -> str:  # noqa: ARG001
        return "none"

    with gateway.override({"MENU": decider}):
        assert dish("cold today", DISHES, "sad") == "soup"
    assert decider.asked[0].state == {"text": "cold today"}


def test_an_ask_function_may_give_a_state_and_the_language_is_kept(gateway_of: Gateways) -> None:
    gateway, decider = gateway_of({"DECISION_LANGUAGE": "pt"}), scripted("ice")

    def shown(text: str, _: object) -> Any:
        return {"text": text, "dishes": DISHES}

    @gateway.point(MENU, ask=shown)
    def dish(text: str, _: object) -> str:  # noqa: ARG001
        return "none"

    with gateway.override({"MENU": decider}):
        assert dish("calor", object()) == "ice"
    assert decider.asked[0].questions["dish"].instructions == "Que prato?"


def test_wording_replaces_instructions_for_one_call_or_for_good() -> None:
    assert JUDGE.ask("t", wording={"good": "Fine?"}).questions["good"].instructions == "Fine?"
    worded = JUDGE.worded({"pt": {"good": "Ótima?"}})
    assert worded.ask("t", "pt").questions["good"].instructions == "Ótima?"
    assert worded.ask("t", "en").questions["good"].instructions == "Good?"
    with pytest.raises(DeclarationError, match="JUDGE_X asks good, not 'god'"):
        JUDGE.ask("t", wording={"god": "Fine?"})


@pytest.mark.parametrize("safe", ["leave", 0.5, {"leaks": "yes"}, {"leak": True}, {"what": "all"}])
def test_a_safe_outcome_must_be_an_answer(safe: Any) -> None:
    with pytest.raises(DeclarationError, match="safe outcome"):
        DecisionPoint(name="L", questions=LEAKS.questions, safe=safe)


def test_a_hosts_minimum_includes_its_value() -> None:
    minimum = HostMinimum(0.9, "a handoff at 0.85 is none")
    assert [minimum.clears(one) for one in (0.89, 0.9, 0.91)] == [False, True, True]


def _judge(text: str) -> bool:  # noqa: ARG001
    return True


@pytest.mark.parametrize(
    ("variables", "warned"),
    [
        ({"DECISION_FALLBACK_TO_CURRENT": "false"}, True),
        ({"DECISION_RAIL_SHUT_FALLBACK_TO_CURRENT": "false"}, True),
        ({}, False),
        ({"DECISION_FALLBACK_TO_CURRENT": "false", "DECISION_PROVIDER": "current"}, False),
    ],
)
def test_a_rail_that_fails_closed_without_fallback_is_said_at_start(
    gateway_of: Gateways, variables: dict[str, str], *, warned: bool
) -> None:
    """A31: an outage of the provider would block every text."""
    gateway = gateway_of({"DECISION_PROVIDER": "local", **variables})
    shut = DecisionPoint(
        name="RAIL_SHUT",
        questions={"": {"bad": Predicate("Bad?")}},
        fails_closed=True,
        safe=False,
    )
    gateway.point(shut)(_judge)
    told = [fault for fault in gateway.check() if "blocks everything" in str(fault)]
    assert bool(told) is warned


def test_a_variant_that_is_asked_once_does_not_take_its_points_name(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    variant = LEAKS.worded({"": {"leaks": "Really?"}})
    decider = scripted(False)  # noqa: FBT003
    with gateway.override({"LEAKS": decider}):
        for point in (LEAKS, variant, "LEAKS"):
            gateway.ask_sync(point, "t")
    said = [ask.questions["leaks"].instructions for ask in decider.asked]
    assert said == ["Does it leak?", "Really?", "Does it leak?"]


def test_points_can_be_keys() -> None:
    assert {LEAKS: 1, FIELDS: 2}[LEAKS] == 1
