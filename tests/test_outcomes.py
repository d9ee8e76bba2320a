"""
What a decision makes the host do: the typed outcomes and their rules, for every vector.

Ids such as A13 are those of the catalogue's list of ambiguities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import msgspec
import pytest

from catalogue import CATALOGUE, NAMED, Vector, extraction, given, line
from pointsman import (
    Choice,
    Chosen,
    Gateway,
    Held,
    Predicate,
    Reason,
    Refused,
    Score,
    Scored,
    scripted,
)
from pointsman import decision_points as dp
from pointsman.decision_points import (
    Action,
    Candidate,
    Confirmation,
    Continuity,
    Destination,
    Goal,
    GoalPlan,
    Interruption,
    Parameters,
    Reenter,
    Reentry,
    Reprompt,
    Resume,
    Sentiment,
    Shift,
    ShiftKind,
    reasons,
)
from pointsman.gateway.errors import DeclarationError
from pointsman.gateway.points import DecisionPoint
from pointsman.gateway.questions import Outcome, Question

Gateways = Callable[..., Gateway]

each_vector = pytest.mark.parametrize("vector", NAMED.values(), ids=NAMED)

INTENTS: list[dp.Intent] = [
    {"intent": "bill", "agent": "billing", "domain": "telecom", "tools": ["read_bill"]},
    {"intent": "cancel", "agent": "disputes"},
    {"intent": "orphan"},
]

# --- every vector: answers → outcome → effect --------------------------------------------


def rail(vector: Vector, outcome: Outcome) -> object:
    """The rail's action alone; its fixed texts have tests of their own."""
    return dp.rail(CATALOGUE[vector["point"]], outcome).action


def judged(vector: Vector, outcome: Outcome) -> object:
    """Whether it passed."""
    return dp.judged(CATALOGUE[vector["point"]], outcome).allowed


SURE = 0.99

READERS: Mapping[str, Callable[[Vector, Any], object]] = {
    "ROUTE_CONTINUITY": lambda v, o: dp.continuity(
        o, SURE, active_agent=v["state"]["active_agent"]
    ),
    "ROUTER": lambda v, o: dp.destination(o, v["state"]["allowed_intents"], "fallback_agent").agent,
    "WORKFLOW_EXPECTED_INPUT": lambda v, o: type(dp.expected_input(o, v["state"])),
    "WORKFLOW_REENTRY": lambda _, o: dp.reentry(o),
    "TRANSACTION_CONFIRMATION": lambda v, o: dp.confirmation(
        o, v["state"]["confirm_values"], v["state"]["reject_values"]
    ),
    "TRANSACTION_PARAMETER_RELEVANCE": lambda _, o: dp.relevance(o, SURE),
    "TRANSACTION_INTENT_SHIFT": lambda v, o: _shift(
        dp.shift(o, SURE, v["state"]["transaction"], v["state"]["allowed_intents"])
    ),
    "GLOBAL_SUPERVISOR": lambda v, o: dp.backend(o, [b["id"] for b in given(v)["backends"]]),
    "PROCESSING_INTERRUPTION": lambda _, o: dp.interruption(o),
}


def _shift(found: Shift) -> object:
    return found.effect, found.agent


EFFECTS: Mapping[str, Mapping[str, object]] = {
    "ROUTE_CONTINUITY": {
        "keep product_agent, skip the router (only if confidence ≥ 0.90)": Continuity.CONTINUE,
        "normal router": Continuity.ROUTE,
        "node end_session": Continuity.END_SESSION,
    },
    "ROUTER": {"billing_agent": "billing_agent", "fallback_agent asks": "fallback_agent"},
    "WORKFLOW_EXPECTED_INPUT": {
        "resume with that value": Resume,
        "contextual re-entry → ROUTER": Reenter,
    },
    "WORKFLOW_REENTRY": {
        "resume with NO": Reentry.RESUME,
        "resume (also the failure outcome)": Reentry.RESUME,
    },
    "TRANSACTION_CONFIRMATION": {
        "confirm → execute once": Confirmation.CONFIRM,
        "reject → CANCELLED": Confirmation.REJECT,
        "stay pending, explain and ask again": Confirmation.PENDING,
    },
    "TRANSACTION_PARAMETER_RELEVANCE": {
        "extract, consume the turn": True,
        "extraction is empty → keep the transaction and ask again / offer another way": True,
        "value of `reason`, not an abandonment": True,
    },
    "TRANSACTION_INTENT_SHIFT": {
        "the explicit parser then rejects": ("", ""),
        "intent_shift": ("intent_shift", "product_agent"),
        "same_intent_replacement": ("same_intent_replacement", "dispute_agent"),
        "close as CANCELLED, route to orders_agent": ("explicit_abandonment", "orders_agent"),
    },
    "GLOBAL_SUPERVISOR": {"rule decision / default backend": None, "forward to support": "support"},
    "PROCESSING_INTERRUPTION": {
        "replay": Interruption.REPLAY,
        "new turn with this text": Interruption.REGENERATE,
    },
}

RAILS: Mapping[str, Action] = {
    "block": Action.BLOCK,
    "retry": Action.RETRY,
    "ask to rephrase": Action.REPHRASE,
    "drop chunk": Action.DROP,
    "block stays": Action.KEEP,
}

JUDGES: Mapping[str, bool] = {
    "passed": True,
    "not passed": False,
    "recorded": True,
    "recorded; fails only with fail_on_negative": True,
}


def effect(vector: Vector) -> object:
    """The vector's effect, as the typed outcome that stands for it."""
    point, said = vector["point"], vector["expected"]["effect"]
    if point.startswith("GUARDRAIL_"):
        return RAILS.get(said, Action.ALLOW)
    return JUDGES[said] if point.startswith("JUDGE_") else EFFECTS[point][said]


@each_vector
def test_the_expected_answers_have_the_vectors_effect(gateway_of: Gateways, vector: Vector) -> None:
    point = vector["point"]
    if CATALOGUE[point].hybrid:
        return  # what they put into the extraction is tested below
    gateway = gateway_of({"DECISION_LANGUAGE": vector["language"]})
    family = judged if point.startswith("JUDGE_") else rail

    with gateway.override({point: scripted(line(vector))}):
        made = gateway.ask_sync(point, given(vector))

    assert READERS.get(point, family)(vector, made.record.outcome) == effect(vector)


HYBRIDS = {name: one for name, one in NAMED.items() if CATALOGUE[one["point"]].hybrid}


@pytest.mark.parametrize("vector", HYBRIDS.values(), ids=HYBRIDS)
def test_the_expected_answers_go_into_the_extraction(gateway_of: Gateways, vector: Vector) -> None:
    """A hybrid point returns the host's extraction, completed; the host's function runs once."""
    gateway = gateway_of({"DECISION_LANGUAGE": vector["language"]})
    state = {k: v for k, v in given(vector).items() if k not in ("goals", "candidates")}
    calls: list[int] = []

    def current() -> object:
        calls.append(1)
        return extraction(vector)

    with gateway.override({vector["point"]: scripted(line(vector))}):
        made = gateway.ask_sync(vector["point"], state, current=current)

    assert (made.provider, len(calls)) == ("scripted", 1)
    answers = vector["expected"]["answers"]
    if isinstance(made.value, GoalPlan):
        assert [goal.intent for goal in made.value.goals] == list(answers.values())
        assert made.value.confidence == pytest.approx(0.9)  # A17: the extractor's is the least
        assert dp.usable(made.value)
        return
    assert isinstance(made.value, Parameters)
    found = {field: one["value"] for field, one in vector["state"]["candidates"].items()}
    held = {"resolved": found, "preserve": vector["state"]["known_arguments"]}
    assert made.value.values == {
        field: held[answer][field] for field, answer in answers.items() if answer in held
    }
    assert set(made.value.unresolved) == {
        field for field, answer in answers.items() if answer == "unresolved"
    }


# --- routing -----------------------------------------------------------------------------


@pytest.mark.parametrize("label", list(Continuity))
def test_continuity_needs_the_hosts_ninety_for_every_label(label: Continuity) -> None:
    assert dp.continuity(label.value, 0.90, active_agent="a") is label
    assert dp.continuity(label.value, 0.8999, active_agent="a") is Continuity.ROUTE


@pytest.mark.parametrize("nobody", ["", None])
def test_A13_continue_without_an_active_agent_is_route(nobody: str | None) -> None:  # noqa: N802
    """A provider is never offered it; only the host's own function can say it."""
    assert dp.continuity("CONTINUE", 1, active_agent=nobody) is Continuity.ROUTE
    assert dp.continuity("END_SESSION", 1, active_agent=nobody) is Continuity.END_SESSION


@pytest.mark.parametrize("label", list(Continuity))
def test_A37_the_probe_hears_nothing_but_a_handoff(label: Continuity) -> None:  # noqa: N802
    wanted = label if label == "HUMAN_HANDOFF" else Continuity.ROUTE
    assert dp.continuity(label.value, 1, active_agent="a", probe=True) is wanted


@pytest.mark.parametrize("said", [None, "STAY", "", True, 0.9, {"decision": "CONTINUE"}])
def test_an_unknown_continuity_is_route(said: Outcome) -> None:
    assert dp.continuity(said, 1, active_agent="a") is Continuity.ROUTE


def test_the_hosts_own_path_has_applied_its_threshold_already(gateway_of: Gateways) -> None:
    """A rule of the host states no confidence: as it decided, so it is."""
    gateway = gateway_of()
    state = {"current_message": "and June?", "active_agent": "billing"}
    with gateway.override({"ROUTE_CONTINUITY": scripted("CONTINUE", confidence=0.75)}):
        told = gateway.ask_sync("ROUTE_CONTINUITY", state)
    ruled = gateway.ask_sync("ROUTE_CONTINUITY", state, current=lambda: "CONTINUE")

    assert dp.confidence_of(told) == 0.75
    assert dp.confidence_of(ruled) is None
    for made, label in ((told, Continuity.ROUTE), (ruled, Continuity.CONTINUE)):
        sure = dp.confidence_of(made)
        assert dp.continuity(made.value, sure, active_agent="billing") is label
    assert dp.continuity("CONTINUE", None, active_agent=None) is Continuity.ROUTE
    assert dp.relevance("RELEVANT", None) is True
    assert dp.relevance("maybe", None) is None
    assert moved("SHIFT", "bill", None).kind is ShiftKind.SHIFT
    assert dp.usable(GoalPlan((Goal("a", "bill"),), 0.2), None)
    assert not dp.usable(GoalPlan((Goal("a", "bill"),), 0.9), 0.2)
    assert not dp.usable(GoalPlan((Goal("a"),), 0.9), None)


def test_who_decided_nothing_is_not_sure(gateway_of: Gateways) -> None:
    with (gateway := gateway_of()).override({"ROUTE_CONTINUITY": scripted(Reason.TIMEOUT)}):
        made = gateway.ask_sync("ROUTE_CONTINUITY", "hello")

    assert made.undecided
    assert dp.confidence_of(made) == 0.0


class Own(Enum):
    """A host's own enum, some by value and some by name."""

    STAY = "CONTINUE"
    SHIFT = 3
    CARRY_ON = "no word of ours"
    CANCEL = "cancel"
    YES = True
    GRUMPY = "negativo"
    REENTER = "back to the router"
    NOT_RELEVANT = None
    bill = "the bill"


def test_a_hosts_own_enum_is_meant_by_its_value_or_its_name() -> None:
    assert dp.continuity(Own.STAY, 1, active_agent="billing") is Continuity.CONTINUE
    assert dp.continuity(Own.CARRY_ON, 1, active_agent="billing") is Continuity.ROUTE
    assert dp.destination(Own.CANCEL, INTENTS, "front").agent == "disputes"
    assert dp.confirmation(Own.YES, ["YES"], ["NO"]) is Confirmation.CONFIRM
    assert dp.interruption(Own.YES) is Interruption.REGENERATE
    assert dp.backend(Own.CANCEL, ["cancel"]) == "cancel"
    assert dp.expected_input(Own.CANCEL, {"allowed_values": ["CANCEL"]}) == Resume("CANCEL")
    assert dp.reentry(Own.REENTER) is Reentry.REENTER
    assert dp.relevance(Own.NOT_RELEVANT, 1) is False
    assert dp.rail(dp.GUARDRAIL_PINJ, Own.YES).action is Action.BLOCK
    assert dp.judged(dp.JUDGE_VCTN, Own.YES).allowed is True
    assert dp.judged(dp.JUDGE_CSI, Own.GRUMPY).sentiment is Sentiment.NEGATIVE
    told: Any = {"kind": Own.SHIFT, "destination": Own.bill}
    assert dp.shift(told, 1, {"current_intent": "cancel"}, INTENTS).agent == "billing"


def test_a_destination_is_read_from_the_catalogue_and_nowhere_else() -> None:
    assert dp.destination("bill", INTENTS, "f") == Destination(
        "bill", "billing", "telecom", ("read_bill",)
    )
    for said in ("fallback", "unheard_of", "orphan", None, True, {"intent": "bill"}):
        assert dp.destination(said, INTENTS, "f") == Destination("fallback", "f")


# --- workflows ---------------------------------------------------------------------------

PAUSED: Mapping[str, Any] = {
    "user_input": "hm",
    "allowed_values": ["Yes", "More"],
    "option_actions": {"More": {"action": "contextual_reentry"}},
}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Yes", Resume("Yes")),
        (" yes ", Resume("Yes")),
        ("MORE", Reenter("More")),
        ("UNMATCHED", Reprompt()),
        ("OTHER", Reprompt()),
        ("", Reprompt()),
        (None, Reprompt()),
        (True, Reprompt()),
    ],
)
def test_only_an_allowed_value_reaches_the_workflow(said: Outcome, found: object) -> None:
    assert dp.expected_input(said, PAUSED) == found


def test_an_action_may_be_its_name_alone() -> None:
    state = {**PAUSED, "option_actions": {"Yes": "contextual_reentry", "More": None}}

    assert dp.expected_input("Yes", state) == Reenter("Yes")
    assert dp.expected_input("More", state) == Resume("More")


def options(point: DecisionPoint, state: Mapping[str, Any], language: str = "en") -> dict[str, str]:
    """The options that a call offers."""
    question = point.ask(state, language).questions["option"]
    return dict(question.options)  # type: ignore[union-attr]


def test_A15_a_forced_choice_gets_a_way_to_say_none() -> None:  # noqa: N802
    """The contract's own word, or an internal one that is no allowed value."""
    named = options(dp.WORKFLOW_EXPECTED_INPUT, {**PAUSED, "unmatched_value": "OTHER"})
    unnamed = options(dp.WORKFLOW_EXPECTED_INPUT, PAUSED)

    assert list(named) == ["Yes", "More", "OTHER"]
    assert list(unnamed) == ["Yes", "More", "UNMATCHED"]
    assert named["OTHER"] == unnamed["UNMATCHED"] != ""


@pytest.mark.parametrize("sentinel", ["Yes", " yes", "MORE"])
def test_A15_a_sentinel_that_is_an_allowed_value_is_a_fault(sentinel: str) -> None:  # noqa: N802
    with pytest.raises(DeclarationError, match="is also an allowed value"):
        dp.WORKFLOW_EXPECTED_INPUT.ask({**PAUSED, "unmatched_value": sentinel})


@pytest.mark.parametrize("allowed", [None, [], "YES", [1], [" "], 5])
def test_a_contract_without_allowed_values_cannot_be_asked(allowed: object) -> None:
    with pytest.raises(DeclarationError):
        dp.WORKFLOW_EXPECTED_INPUT.ask({"user_input": "hm", "allowed_values": allowed})


@pytest.mark.parametrize(
    ("value", "like"), [("yes", "YES"), ("SIM", "YES"), ("NÃO", "NO"), ("nao", "NO"), ("X", "")]
)
def test_A16_values_are_described_by_the_contract_else_by_the_usual_words(  # noqa: N802
    value: str, like: str
) -> None:
    """The contract's words are not sent as state: they are the programmer's."""
    state = {"user_input": "hm", "allowed_values": [value, "YES" if like != "YES" else "A"]}
    usual = options(dp.WORKFLOW_EXPECTED_INPUT, {**state, "allowed_values": ["YES", "NO"]})
    told = {**state, "option_descriptions": {value: "Go ahead"}}

    assert options(dp.WORKFLOW_EXPECTED_INPUT, state)[value] == usual.get(like, "")
    assert options(dp.WORKFLOW_EXPECTED_INPUT, told)[value] == "Go ahead"
    assert "Go ahead" not in dp.WORKFLOW_EXPECTED_INPUT.ask(told).text


def test_a_reply_reenters_only_by_the_exact_word() -> None:
    assert dp.reentry("REENTER") is Reentry.REENTER
    for said in ("RESUME", "reenter", None, True):
        assert dp.reentry(said) is Reentry.RESUME


# --- transactions ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("YES", Confirmation.CONFIRM),
        (" yes", Confirmation.CONFIRM),
        ("No", Confirmation.REJECT),
        ("CONTINUE", Confirmation.PENDING),
        ("NEITHER", Confirmation.PENDING),
        ("BOTH", Confirmation.PENDING),
        ("", Confirmation.PENDING),
        (None, Confirmation.PENDING),
        (True, Confirmation.PENDING),
    ],
)
def test_only_a_listed_value_confirms_or_rejects(said: Outcome, found: Confirmation) -> None:
    assert dp.confirmation(said, ["YES", "BOTH", ""], ["NO", "BOTH"]) is found


def test_a_confirmation_can_always_be_neither() -> None:
    """An own sentinel comes only where the configuration has no neutral option."""
    asked = {"user_input": "hm", "confirm_values": ["OK"], "reject_values": ["STOP"]}

    two = options(dp.TRANSACTION_CONFIRMATION, {**asked, "allowed_values": ["OK", "STOP"]})
    three = options(dp.TRANSACTION_CONFIRMATION, {**asked, "allowed_values": ["OK", "STOP", "?"]})

    assert list(two) == ["OK", "STOP", "NEITHER"]
    assert list(three) == ["OK", "STOP", "?"]
    assert options(dp.TRANSACTION_CONFIRMATION, {"user_input": "x"}).keys() == {
        "YES",
        "NO",
        "CONTINUE",
    }
    assert list(options(dp.TRANSACTION_CONFIRMATION, {"user_input": "x"}, "pt")) == [
        "SIM",
        "NAO",
        "CONTINUAR",
    ]


OK_STOP = {"confirm_values": ["OK"], "reject_values": ["STOP"]}


@pytest.mark.parametrize(
    ("told", "added"),
    [
        ({"allowed_values": ["CONFIRMA", "RECUSA"]}, True),
        ({"allowed_values": ["YES", "NO", "LATER"]}, True),
        ({"allowed_values": ["YES", "NO"]}, True),
        ({"allowed_values": ["sim", "não", "continuar"]}, False),
        ({"allowed_values": ["YES", "NO", "CONTINUE"], "confirm_values": ["YES"]}, False),
        ({"allowed_values": ["OK", "STOP", "?"], "confirm_values": ["OK"]}, True),
        ({"allowed_values": ["OK", "STOP", "?"], **OK_STOP, "reject_values": []}, True),
        ({"allowed_values": ["OK", "STOP", "?"], **OK_STOP}, False),
        ({"allowed_values": ["YES", "NO", "NEITHER"]}, False),
        ({"confirm_values": ["YES", "CONTINUE"], "reject_values": ["NO"]}, True),
    ],
)
def test_an_unlisted_word_is_not_taken_for_neither(told: Mapping[str, Any], added: bool) -> None:  # noqa: FBT001
    """Without the contract's lists, `RECUSA` may well be its refusal: hence a way out of both."""
    found = options(dp.TRANSACTION_CONFIRMATION, {"user_input": "hm", **told})
    own = [one for one in found if one not in told.get("allowed_values", ())]

    assert ("NEITHER" in own) is added


def test_relevance_is_three_valued() -> None:
    assert dp.relevance("RELEVANT", 0.70) is True
    assert dp.relevance("NOT_RELEVANT", 0.70) is False
    for said, confidence in (("RELEVANT", 0.69), ("NOT_RELEVANT", 0.0), (None, 1), ("yes", 1)):
        assert dp.relevance(said, confidence) is None
    assert dp.relevance(outcome=True, confidence=1) is None


def moved(kind: str, to: str | None, confidence: float | None = 1, **mode: bool) -> Shift:
    """Read one decision about a transaction that cancels."""
    outcome = {"kind": kind, "destination": to}
    return dp.shift(outcome, confidence, {"current_intent": "cancel"}, INTENTS, **mode)


STAYS = Shift(ShiftKind.CONTINUE)


def test_a_shift_names_where_the_message_goes() -> None:
    assert moved("REPLACE", "cancel") == Shift(
        ShiftKind.REPLACE, "cancel", "disputes", "same_intent_replacement"
    )
    assert moved("SHIFT", "bill") == Shift(ShiftKind.SHIFT, "bill", "billing", "intent_shift")
    assert moved("ABANDON", "bill") == Shift(
        ShiftKind.ABANDON, "bill", "billing", "explicit_abandonment"
    )
    for nowhere in ("NONE", None, ""):
        assert moved("ABANDON", nowhere) == Shift(
            ShiftKind.ABANDON, effect="state:TRANSACTION_ABANDONED"
        )


@pytest.mark.parametrize(
    ("kind", "to"),
    [
        ("CONTINUE", "bill"),
        ("REPLACE", "bill"),
        ("REPLACE", "NONE"),
        ("SHIFT", "cancel"),
        ("SHIFT", "NONE"),
        ("SHIFT", None),
        ("SHIFT", "orphan"),
        ("SHIFT", "unheard_of"),
        ("ABANDON", "orphan"),
        ("LEAVE", "bill"),
    ],
)
def test_a_shift_that_contradicts_itself_continues(kind: str, to: str | None) -> None:
    assert moved(kind, to) == STAYS


def test_A14_the_first_mode_hears_only_an_abandonment() -> None:  # noqa: N802
    """All four are asked once; both modes read the same answers."""
    assert moved("SHIFT", "bill", abandon_only=True) == STAYS
    assert moved("REPLACE", "cancel", abandon_only=True) == STAYS
    assert moved("ABANDON", None, abandon_only=True) == moved("ABANDON", None)


def test_the_hosts_seventy_still_holds_a_transaction() -> None:
    assert moved("ABANDON", None, 0.70).kind is ShiftKind.ABANDON
    assert moved("ABANDON", None, 0.69) == STAYS
    for outcome in (None, "CONTINUE", True):
        assert dp.shift(outcome, 1, {"current_intent": "cancel"}, INTENTS) == STAYS
    assert dp.shift("ABANDON", 1, {}, INTENTS).kind is ShiftKind.ABANDON


# --- goals and parameters ----------------------------------------------------------------

TWO = GoalPlan((Goal("see my bill"), Goal("but only June")), 0.9)
MESSAGE: Mapping[str, Any] = {
    "message": "I want to see  my bill, but only June",
    "allowed_intents": [{"intent": "bill"}, {"intent": "cancel"}],
}


def planned(gateway: Gateway, plan: object, told: Mapping[str, Any], **how: Any) -> Any:
    """Ask MULTI_INTENT with what its extractor found."""
    with gateway.override({"MULTI_INTENT": scripted(told, **how)}):
        return gateway.ask_sync("MULTI_INTENT", MESSAGE, current=lambda: plan)


def test_A19_what_is_no_goal_never_reaches_the_host(gateway_of: Gateways) -> None:  # noqa: N802
    made = planned(gateway_of(), TWO, {"goal_1": "bill", "goal_2": "NOT_A_GOAL"})

    assert made.value.goals == (Goal("see my bill", "bill"),)


def test_A17_a_plan_is_as_sure_as_its_least_sure_part(gateway_of: Gateways) -> None:  # noqa: N802
    told = {"goal_1": Chosen("bill", None, 0.75), "goal_2": Chosen("UNSUPPORTED", None, 0.95)}

    made = planned(gateway_of(), TWO, told)

    assert made.value.confidence == pytest.approx(0.75)
    assert dp.usable(made.value)


def test_a_plan_is_used_from_the_hosts_own_threshold_on() -> None:
    assert dp.usable(GoalPlan((Goal("a", "bill"),), 0.65))
    assert not dp.usable(GoalPlan((Goal("a", "bill"),), 0.64))
    assert not dp.usable(GoalPlan((Goal("a", "UNSUPPORTED"), Goal("b")), 1))
    assert not dp.usable(GoalPlan((), 1))


@pytest.mark.parametrize(
    "goals",
    [("see the bill",), ("",), (), ("I", "I", "I", "I", "I")],
    ids=["not literal", "blank", "none", "five"],
)
def test_A18_a_plan_that_is_not_literal_is_rejected_whole(  # noqa: N802
    gateway_of: Gateways, goals: tuple[str, ...]
) -> None:
    """The plan of the host stands then; order and count of goals are never repaired."""
    plan = GoalPlan(tuple(Goal(one, "cancel") for one in goals), 0.9)

    made = planned(gateway_of(), plan, dict.fromkeys(("goal_1", "goal_2"), "bill"))

    assert made.value is plan
    assert made.provider == "current"


@pytest.mark.parametrize(
    "goals",
    [("but only June", "see my bill"), ("see my bill", "bill, but only"), ("June", "June")],
    ids=["out of order", "overlapping", "the same words twice"],
)
def test_A18_goals_stand_one_after_the_other(gateway_of: Gateways, goals: Any) -> None:  # noqa: N802
    plan = GoalPlan(tuple(Goal(one, "cancel") for one in goals), 0.9)

    made = planned(gateway_of(), plan, dict.fromkeys(("goal_1", "goal_2"), "bill"))

    assert made.value is plan


def test_A18_words_said_twice_may_be_two_goals(gateway_of: Gateways) -> None:  # noqa: N802
    plan = {"goals": [{"source_text": "my bill", "intent": None}, "my bill"], "confidence": 1}
    state = {**MESSAGE, "message": "my bill, I said: my bill!"}

    with (gateway := gateway_of()).override({"MULTI_INTENT": scripted("bill")}):
        made = gateway.ask_sync("MULTI_INTENT", state, current=lambda: plan)

    assert [one["intent"] for one in made.value["goals"]] == ["bill", "bill"]


@pytest.mark.parametrize(
    "shape",
    [
        {"goals": "see my bill", "confidence": 0.9},
        {"goals": {"see my bill": 1}, "confidence": 0.9},
        {"goals": {"see my bill"}, "confidence": 0.9},
        {"goals": ["see my bill"], "confidence": 1.1},
        {"goals": ["see my bill"], "confidence": -0.1},
        {"goals": ["see my bill"], "confidence": float("nan")},
        {"goals": ["see my bill"], "confidence": "high"},
        {"goals": ["see my bill"], "confidence": True},
        GoalPlan((Goal("see my bill"),), float("nan")),
        GoalPlan((Goal("see my bill"),), 90),
    ],
)
def test_a_plan_of_another_shape_is_none(gateway_of: Gateways, shape: object) -> None:
    made = planned(gateway_of(), shape, {"goal_1": "bill"})

    assert made.value is shape
    assert made.provider == "current"


def test_a_goal_may_say_no_intent_and_a_plan_no_confidence() -> None:
    hybrid = dp.MULTI_INTENT.hybrid
    assert hybrid is not None

    for unsaid in ({}, {"confidence": None}):
        plan = hybrid.read({"goals": ({"source_text": "a", "intent": None}, "b"), **unsaid})
        assert plan == GoalPlan((Goal("a"), Goal("b")), 0.0)
        assert hybrid.merge(plan, {}, 1.0) == plan


def test_A18_literal_is_after_composing_and_collapsing_blanks(gateway_of: Gateways) -> None:  # noqa: N802
    state = {**MESSAGE, "message": "quero  o cartão e a conta"}
    plan = {"goals": ["quero o carta\u0303o", {"source_text": "a conta"}], "confidence": 0.8}

    with (gateway := gateway_of()).override({"MULTI_INTENT": scripted("bill")}):
        made = gateway.ask_sync("MULTI_INTENT", state, current=lambda: plan)

    assert made.value == {
        "goals": [
            {"source_text": "quero o carta\u0303o", "intent": "bill"},
            {"source_text": "a conta", "intent": "bill"},
        ],
        "confidence": 0.8,
    }


FOUND = Parameters(
    {"item": Candidate("Radio", "current"), "amount": Candidate(None)},
    {"day": 0, "place": "home"},
)
COLLECTING: Mapping[str, Any] = {
    "current_user_message": "the radio one",
    "parameter_schema": {
        name: {"type": "string"} for name in ("item", "amount", "day", "place", "unknown")
    },
}


def reconciled(gateway: Gateway, point: object, told: Any) -> Any:
    """Ask RECONCILIATION with what its extractor found."""
    with gateway.override({"TRANSACTION_PARAMETER_RECONCILIATION": scripted(told)}):
        return gateway.ask_sync(point, COLLECTING, current=lambda: FOUND)  # type: ignore[arg-type]


def test_a_field_is_asked_about_only_what_is_possible(gateway_of: Gateways) -> None:
    """No candidate, no `resolved`; no known value, nothing to preserve; one option, no question."""
    told = {"item": "resolved", "day": "preserve", "place": "clear"}

    made = reconciled(gateway_of(), "TRANSACTION_PARAMETER_RECONCILIATION", told)

    assert made.provider == "scripted"
    assert made.value.values == {"item": "Radio", "day": 0}
    assert made.value.clear_fields == ("place",)
    assert made.value.unresolved == ("amount", "unknown")


def test_no_decision_creates_a_value(gateway_of: Gateways) -> None:
    told = {"item": "preserve", "day": "preserve", "place": "preserve"}

    made = reconciled(gateway_of(), "TRANSACTION_PARAMETER_RECONCILIATION", told)

    assert made.provider == "current"
    assert made.value is FOUND


@pytest.mark.parametrize("wrong", [Refused(), Chosen("resolved", None, 0.2), Chosen("else")])
def test_A7_one_unsure_field_may_be_unresolved_alone(  # noqa: N802
    gateway_of: Gateways, wrong: object
) -> None:
    """Strict by default: all of it falls back. By field, the others stand."""
    told = {"item": wrong, "day": "preserve", "place": "clear"}
    strict = reconciled(gateway_of(), "TRANSACTION_PARAMETER_RECONCILIATION", told)
    lenient = dp.by_field(dp.TRANSACTION_PARAMETER_RECONCILIATION)

    made = reconciled(gateway_of(), lenient, told)

    assert strict.value is FOUND
    assert made.provider == "scripted"
    assert made.value.unresolved == ("item", "amount", "unknown")
    assert made.value.values == {"day": 0}
    assert made.value.clear_fields == ("place",)


POINT = "TRANSACTION_PARAMETER_RECONCILIATION"


def test_what_the_state_knows_is_preserved_with_its_value(gateway_of: Gateways) -> None:
    """The extraction's own known values come first, unless it merely says that it has none."""
    found = Parameters({"item": Candidate("Radio")}, {"day": None, "place": "home"})
    known = {"day": 0, "place": "away", "amount": 7}
    told = {"item": "resolved", "day": "preserve", "place": "preserve", "amount": "clear"}

    with (gateway := gateway_of()).override({POINT: scripted(told)}):
        made = gateway.ask_sync(
            POINT, {**COLLECTING, "known_arguments": known}, current=lambda: found
        )

    assert made.provider == "scripted"
    assert made.value.values == {"item": "Radio", "day": 0, "place": "home"}
    assert made.value.known == {"day": 0, "place": "home", "amount": 7}
    assert made.value.clear_fields == ("amount",)
    assert made.value.unresolved == ("unknown",)


def test_what_is_no_field_of_the_transaction_is_neither_sent_nor_listed(
    gateway_of: Gateways,
) -> None:
    found = Parameters({"item": Candidate("Radio"), "pin": Candidate("4711")}, {"iban": "DE00"})
    state = {**COLLECTING, "known_arguments": {"card": "5500"}}
    decider = scripted({"item": "resolved"})

    with (gateway := gateway_of()).override({POINT: decider}):
        made = gateway.ask_sync(POINT, state, current=lambda: found)

    assert made.value.values == {"item": "Radio"}
    assert made.value.unresolved == ("amount", "day", "place", "unknown")
    for hidden in ("pin", "4711", "iban", "DE00", "card", "5500"):
        assert hidden not in decider.asked[0].text


@pytest.mark.parametrize("wrong", [{"parameter_schema": ["item"]}, {"known_arguments": ["item"]}])
def test_a_state_of_another_shape_leaves_the_host_its_value(
    gateway_of: Gateways, wrong: Mapping[str, Any]
) -> None:
    with (gateway := gateway_of()).override({POINT: scripted("resolved")}):
        made = gateway.ask_sync(POINT, {**COLLECTING, **wrong}, current=lambda: FOUND)

    assert made.value is FOUND
    assert made.attempts[0].reason is Reason.UNSUPPORTED


def test_an_extraction_may_be_a_plain_dict(gateway_of: Gateways) -> None:
    """Candidates with or without their source; what comes back has the extraction's fields."""
    plain = {"candidates": {"item": {"value": "Radio", "source": "history:1"}, "day": 3}}
    told = {"item": "resolved", "day": "unresolved"}
    point = "TRANSACTION_PARAMETER_RECONCILIATION"

    with (gateway := gateway_of()).override({point: scripted(told)}):
        made = gateway.ask_sync(point, COLLECTING, current=lambda: plain)

    assert made.value["values"] == {"item": "Radio"}
    assert made.value["candidates"]["day"] == {"value": 3, "source": ""}
    assert list(made.value["unresolved"]) == ["amount", "day", "place", "unknown"]


@pytest.mark.parametrize("shape", [5, {}, {"candidates": 5}, {"candidates": {}, "known": 5}])
def test_parameters_that_cannot_be_read_leave_the_host_its_value(
    gateway_of: Gateways, shape: object
) -> None:
    point = "TRANSACTION_PARAMETER_RECONCILIATION"

    with (gateway := gateway_of()).override({point: scripted("resolved")}):
        made = gateway.ask_sync(point, COLLECTING, current=lambda: shape)

    assert made.value is shape


def test_what_current_decided_is_read_field_by_field() -> None:
    """For records and comparisons: as far as its own extraction says it."""
    hybrid = dp.TRANSACTION_PARAMETER_RECONCILIATION.hybrid
    assert hybrid is not None
    assert hybrid.outcome is not None
    decided = msgspec.structs.replace(
        FOUND, values={"item": "Radio", "day": 0}, clear_fields=("place",), unresolved=("amount",)
    )

    assert hybrid.outcome(decided) == {
        "item": "resolved",
        "day": "preserve",
        "place": "clear",
        "amount": "unresolved",
    }
    assert hybrid.outcome(FOUND) == {"item": None, "amount": None}


@pytest.mark.parametrize("shape", [5, "goals", {}, {"goals": 5}, {"goals": [{"text": "a"}]}])
def test_an_extraction_that_cannot_be_read_leaves_the_host_its_value(
    gateway_of: Gateways, shape: object
) -> None:
    made = planned(gateway_of(), shape, {"goal_1": "bill"})

    assert made.value is shape
    assert made.provider == "current"


# --- supervisor, interruption ------------------------------------------------------------


@pytest.mark.parametrize("said", ["NONE", "elsewhere", None, True])
def test_A20_no_fitting_backend_leaves_the_rule_decision(said: Outcome) -> None:  # noqa: N802
    assert dp.backend(said, ["support", "NONE"]) is None


def test_a_backend_is_found_among_ids_or_entries() -> None:
    for registry in (["support", "sales"], [{"id": "support", "description": "x"}, {"id": "s"}]):
        assert dp.backend("support", registry) == "support"
        assert dp.backend("elsewhere", registry) is None
    assert dp.backend("NONE", [{"id": "NONE"}]) is None


def test_A20_the_supervisor_sends_no_registry() -> None:  # noqa: N802
    state = {"message": "hi", "backends": [{"id": "a", "description": "secret plan"}, {"id": "b"}]}

    assert dp.GLOBAL_SUPERVISOR.ask(state).text == '{"message":"hi"}'


def test_only_a_plain_yes_makes_a_new_answer() -> None:
    assert dp.interruption(outcome=True) is Interruption.REGENERATE
    for said in (False, None, "true", 1.0):
        assert dp.interruption(said) is Interruption.REPLAY


# --- guardrails --------------------------------------------------------------------------


@pytest.mark.parametrize("vague", [None, {}, {"leaks": None}, "yes", 1.0])
def test_an_unreadable_rail_is_its_safe_outcome(vague: Outcome) -> None:
    assert dp.rail(dp.GUARDRAIL_DLEX_OUT, vague).allowed is False
    assert dp.rail(dp.GUARDRAIL_PINJ, vague).allowed is True
    assert dp.rail(dp.GUARDRAIL_GUARDRAIL, vague).allowed is False


@pytest.mark.parametrize("vague", [None, {}, "yes"])
def test_a_rail_says_that_nobody_decided(vague: Outcome) -> None:
    for point in (dp.GUARDRAIL_DLEX_OUT, dp.GUARDRAIL_PINJ, dp.GUARDRAIL_GUARDRAIL):
        for language in ("en", "pt"):
            found = dp.rail(point, vague, language)
            assert found.undecided
            assert found.reason == reasons.PLAIN["undecided"][language]
    told = dp.rail(dp.GUARDRAIL_PINJ, outcome=False)
    assert (told.undecided, told.reason) == (False, reasons.PLAIN["allowed"]["en"])
    assert dp.rail(dp.GUARDRAIL_PINJ, outcome=False, undecided=True).undecided
    strict = msgspec.structs.replace(dp.GUARDRAIL_FRASEOLOGIA, on_undecided="block")
    assert dp.rail(strict, vague).reason == reasons.FRASEOLOGIA["unspecified"]["en"]
    half: Outcome = {"leaks": None, "reason_code": "own_protocol"}
    assert dp.rail(dp.GUARDRAIL_DLEX_OUT, half).code == "unspecified"


@pytest.mark.parametrize("said", [None, "unheard_of"])
def test_A24_a_code_that_is_not_known_is_unspecified(said: str | None) -> None:  # noqa: N802
    found = dp.rail(dp.GUARDRAIL_FRASEOLOGIA, {"forbidden_wording": True, "reason_code": said})

    assert (found.action, found.code) == (Action.REWRITE, "unspecified")
    assert found.reason != ""


@pytest.mark.parametrize("wrong", [Refused(), Chosen("blame", None, 0.1), Chosen("rudeness")])
def test_A24_an_unsure_code_leaves_the_decision_standing(  # noqa: N802
    gateway_of: Gateways, wrong: object
) -> None:
    told = {"forbidden_wording": True, "reason_code": wrong}

    with (gateway := gateway_of()).override({"GUARDRAIL_FRASEOLOGIA": scripted(told)}):
        made = gateway.ask_sync("GUARDRAIL_FRASEOLOGIA", {"answer": "x"})

    assert made.provider == "scripted"
    assert dp.rail(dp.GUARDRAIL_FRASEOLOGIA, made.record.outcome).action is Action.REWRITE


def test_A24_what_is_exposed_is_asked_only_where_a_protocol_was_masked() -> None:  # noqa: N802
    asked = dp.GUARDRAIL_DLEX_OUT.ask

    assert list(asked({"answer": "x", "expected_protocols_masked": 1}).questions) == [
        "leaks",
        "reason_code",
    ]
    for none in ({}, {"expected_protocols_masked": 0}):
        assert list(asked({"answer": "x", **none}).questions) == ["leaks"]


def test_A23_the_strict_contract_asks_again_in_doubt(gateway_of: Gateways) -> None:  # noqa: N802
    strict, lenient = dp.GUARDRAIL_COER_VOICE_STRICT, dp.GUARDRAIL_COER
    assert strict.names == lenient.names

    for point, wanted in ((strict, Action.REPHRASE), (lenient, Action.ALLOW)):
        gateway = gateway_of({"DECISION_GUARDRAIL_COER_MIN_CONFIDENCE": "0.5"})
        with gateway.override({"GUARDRAIL_COER": scripted({"incomprehensible": Held(0.5)})}):
            made = gateway.ask_sync(point, "no change my plan")
        assert dp.rail(point, made.record.outcome).action is wanted


def test_A21_a_generic_rail_passes_only_what_needs_no_change() -> None:  # noqa: N802
    mine = dp.guardrail("Minhas regras")

    assert mine.name == "GUARDRAIL_MINHAS_REGRAS"
    assert dp.rail(mine, outcome=True).action is Action.ALLOW
    assert dp.rail(mine, outcome=False).action is Action.BLOCK


@pytest.mark.parametrize("name", ["pinj", "guardrail.dlex_out", "GRL", "Coer"])
def test_A3_the_catalogues_rails_keep_their_names(name: str) -> None:  # noqa: N802
    with pytest.raises(DeclarationError, match=r"reserved .* or choose another name"):
        dp.guardrail(name)


@pytest.mark.parametrize("name", ["csi", "Sentiment", "judge.groundedness", "tone"])
def test_A3_the_catalogues_judges_keep_their_names(name: str) -> None:  # noqa: N802
    with pytest.raises(DeclarationError, match=r"reserved .* or choose another name"):
        dp.judge(name)


def test_the_generic_points_are_found_by_their_own_names() -> None:
    for name in ("guardrail", "GUARDRAIL_GUARDRAIL"):
        assert dp.guardrail(name) is dp.GUARDRAIL_GUARDRAIL
    for name in ("llm_judge", "LLM judge", "JUDGE_LLM_JUDGE"):
        assert dp.judge(name) is dp.JUDGE_LLM_JUDGE


def test_a_point_of_your_own_says_which_answer_blocks() -> None:
    """The polarity of a predicate is declared, never guessed from its words."""
    asked = {"en": {"polite": Predicate("Is it polite?")}}
    for blocks in (True, False):
        polite = DecisionPoint(name="JUDGE_POLITE", questions=asked, blocks=blocks)
        assert dp.judged(polite, outcome=True).allowed is not blocks
        kind = DecisionPoint(name="GUARDRAIL_POLITE", questions=asked, blocks=blocks)
        assert dp.rail(kind, outcome=True).allowed is not blocks


OWN_PROTOCOL = reasons.DLEX_OUT["own_protocol"]
OTHER_TEXTS = [
    (f"{code} {language}", text)
    for table in (reasons.FRASEOLOGIA, reasons.DLEX_OUT, reasons.PLAIN)
    for code, spoken in table.items()
    for language, text in spoken.items()
    if spoken is not OWN_PROTOCOL
]
IDENTIFIES = ("protocol", "identifier", "identificador")
SUPPRESSES = (
    *("token", "prompt", "key", "secret", "password", "credential", "internal", "senha", "chave"),
    *("segredo", "intern", "instruction", "instruç", "other", "outr", "rule", "regra", "system"),
)


def test_finding_5_only_the_own_protocol_lets_a_host_look_again() -> None:
    """Its condition is words of the reason: an identifier, and nothing else."""
    for spoken, word in (("en", "identifier"), ("pt", "identificador")):
        found = dp.rail(
            dp.GUARDRAIL_DLEX_OUT, {"leaks": True, "reason_code": "own_protocol"}, spoken
        )
        assert found.code == "own_protocol"
        assert word in found.reason
        assert not [one for one in SUPPRESSES if one in found.reason.lower()]


@pytest.mark.parametrize("text", [text for _, text in OTHER_TEXTS], ids=[n for n, _ in OTHER_TEXTS])
def test_finding_5_no_other_reason_speaks_of_an_identifier(text: str) -> None:
    assert not [one for one in IDENTIFIES if one in text.lower()]


def test_finding_6_every_code_has_a_correction_of_its_own() -> None:
    """The rewriter lives on the reason: each option of the question has its text."""
    for point, table in (
        (dp.GUARDRAIL_FRASEOLOGIA, reasons.FRASEOLOGIA),
        (dp.GUARDRAIL_DLEX_OUT, reasons.DLEX_OUT),
    ):
        for asked in point.questions.values():
            assert {*asked["reason_code"].options} == {*table} - {"unspecified"}  # type: ignore[union-attr]
        for language in ("en", "pt"):
            assert len({spoken[language] for spoken in table.values()}) == len(table)
    told: Outcome = {"forbidden_wording": True, "reason_code": "blame"}
    found = dp.rail(dp.GUARDRAIL_FRASEOLOGIA, told, "pt-BR")
    assert found.reason == reasons.FRASEOLOGIA["blame"]["pt"]


def test_an_input_rail_on_output_rides_with_the_output_rails() -> None:
    moved_rail = dp.on_output(dp.GUARDRAIL_PINJ)

    assert moved_rail.share == dp.GUARDRAIL_DLEX_OUT.share != dp.GUARDRAIL_PINJ.share
    assert moved_rail.questions == dp.GUARDRAIL_PINJ.questions
    assert moved_rail.names == ("GUARDRAIL_PINJ_OUTPUT", "GUARDRAIL_PINJ")


# --- judges ------------------------------------------------------------------------------


def as_a_host_reads(score: float) -> float:
    """The host's own rule, typed again: it divides by ten only what is above one."""
    return min(max(score / 10 if score > 1 else score, 0.0), 1.0)


@pytest.mark.parametrize("name", ["JUDGE_RQLT", "JUDGE_CSI"])
def test_A25_a_host_never_misreads_a_score(name: str) -> None:  # noqa: N802
    """Every level and a thousand fine steps; 0.8 of 10 must not pass 0.7."""
    point = CATALOGUE[name]
    levels = next(q for q in point.questions["en"].values() if isinstance(q, Score)).levels
    steps = [*(10 * at / (len(levels) - 1) for at in range(len(levels)))]
    steps += [at / 100 for at in range(1001)]

    for score10 in steps:
        outcome: Outcome = score10 if name == "JUDGE_RQLT" else {"satisfaction": score10}
        found = dp.judged(point, outcome)
        assert found.score is not None
        assert as_a_host_reads(found.score) == pytest.approx(score10 / 10)
        assert found.score10 == pytest.approx(score10)
        if name == "JUDGE_RQLT":
            assert found.allowed is (found.score >= 0.7)


def test_a_generic_judge_scores_0_to_1() -> None:
    mine = dp.judge("politeness")

    assert mine.name == "JUDGE_POLITENESS"
    assert dp.judged(mine, 0.7).allowed is True
    assert dp.judged(mine, 0.69).allowed is False
    assert dp.judged(dp.JUDGE_LLM_JUDGE, 0.6).score == 0.6


@pytest.mark.parametrize(
    ("point", "passing"), [(dp.JUDGE_VCTN, True), (dp.JUDGE_ALUC, False)], ids=["VCTN", "ALUC"]
)
def test_A27_a_judge_of_one_truth_has_no_score(point: DecisionPoint, passing: bool) -> None:  # noqa: FBT001, N802
    for outcome in (True, False):
        found = dp.judged(point, outcome)
        assert (found.allowed, found.score) == (outcome is passing, None)


def test_A26_sentiment_always_has_its_label() -> None:  # noqa: N802
    """Finding 8: without it, `fail_on_negative` would pass silently."""
    for word in ("NEGATIVE", "NEGATIVO"):
        found = dp.judged(dp.JUDGE_CSI, {"sentiment": word, "satisfaction": 1.0})
        assert (found.sentiment, found.allowed) == (Sentiment.NEGATIVE, True)
        assert found.sentiment is not None
        assert found.sentiment.sentimento == "negativo"
    angry: Outcome = {"sentiment": "NEGATIVE", "satisfaction": 1.0}
    assert dp.judged(dp.JUDGE_CSI, angry, fail_on_negative=True).allowed is False
    for unsaid in (None, {"satisfaction": 5.0}, {"sentiment": None, "satisfaction": 5.0}):
        assert dp.judged(dp.JUDGE_CSI, unsaid).sentiment is Sentiment.NEUTRAL


def judge_of(**asked: Question) -> DecisionPoint:
    """A judge of the user's own."""
    return DecisionPoint(name="JUDGE_MINE", questions={"en": asked}, host=dp.JUDGE_RQLT.host)


TEN = Score("How good?", ("poor", "fair", "good"), high=10)
LEVEL = Score("How clear?", ("poor", "fair", "good"), high=2)


def test_a_judge_of_several_scores_has_their_mean() -> None:
    three = judge_of(clear=LEVEL, full=TEN, useful=TEN)

    good = dp.judged(three, {"clear": 2, "full": 10.0, "useful": 4.0})
    bad = dp.judged(three, {"clear": 0, "full": 10.0, "useful": 4.0})

    assert good.score == pytest.approx(0.8)
    assert (good.allowed, good.sentiment, good.undecided) == (True, None, False)
    assert bad.score == pytest.approx(1.4 / 3)
    assert not bad.allowed
    assert not bad.undecided


def test_a_judge_goes_by_what_has_to_be_believed() -> None:
    why = Choice("Why?", ["tone", "facts"], advisory=True)

    found = dp.judged(judge_of(quality=TEN, why=why), {"quality": 9.0, "why": None})
    fine = dp.judged(judge_of(why=why, wrong=Predicate("Is it?")), {"why": "tone", "wrong": False})

    assert found.score == pytest.approx(0.9)
    assert (found.allowed, found.sentiment) == (True, None)
    assert (fine.allowed, fine.score, fine.undecided) == (True, None, False)
    assert dp.judged(judge_of(quality=TEN, why=why), 9.0).allowed is True


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (dp.JUDGE_ALUC, {}),
        (dp.JUDGE_ALUC, {"unsupported_fact": None}),
        (dp.JUDGE_ALUC, {"other": False}),
        (dp.JUDGE_ALUC, "no"),
        (dp.JUDGE_VCTN, 0.65),
        (dp.JUDGE_RQLT, True),
        (dp.JUDGE_RQLT, float("nan")),
        (dp.JUDGE_LLM_JUDGE, {}),
        (judge_of(clear=LEVEL, full=TEN), {"clear": 2}),
        (judge_of(clear=LEVEL, full=TEN), 2.0),
        (judge_of(clear=LEVEL, fine=Predicate("Is it?")), {"clear": 2, "fine": False}),
        (judge_of(fine=Predicate("Is it?"), true=Predicate("Is it?")), {"fine": 0, "true": 0}),
        (judge_of(which=Choice("Which?", ["good", "bad"])), "good"),
    ],
)
def test_a_judge_that_cannot_be_read_has_not_passed(point: DecisionPoint, said: Outcome) -> None:
    found = dp.judged(point, said)

    assert (found.allowed, found.score, found.sentiment) == (False, None, None)
    assert found.undecided
    assert found.reason == reasons.PLAIN["undecided"]["en"]


@pytest.mark.parametrize("word", ["NEGATIVO", "negativo", " Negative", "NEGATIVE"])
@pytest.mark.parametrize("field", ["", "sentiment", "sentimento"])
def test_A26_the_word_is_read_in_either_language(word: str, field: str) -> None:  # noqa: N802
    """As a host's own path says it: alone or in a field, in any case."""
    said: Outcome = {field: word} if field else word
    found = dp.judged(dp.JUDGE_CSI, said, fail_on_negative=True)

    assert (found.sentiment, found.allowed) == (Sentiment.NEGATIVE, False)
    assert not found.undecided


@pytest.mark.parametrize("said", [None, {}, {"satisfaction": 5.0}, {"sentiment": "angry"}, "?", 5])
def test_A26_a_missing_word_is_neutral_and_undecided(said: Outcome) -> None:  # noqa: N802
    found = dp.judged(dp.JUDGE_CSI, said, fail_on_negative=True)

    assert (found.sentiment, found.undecided) == (Sentiment.NEUTRAL, True)
    assert found.reason == reasons.PLAIN["undecided"]["en"]


@pytest.mark.parametrize("name", ["JUDGE_RQLT", "JUDGE_ALUC", "JUDGE_VCTN", "JUDGE_LLM_JUDGE"])
def test_A27_an_undecided_judge_has_not_passed(gateway_of: Gateways, name: str) -> None:  # noqa: N802
    with (gateway := gateway_of()).override({name: scripted(Reason.TIMEOUT)}):
        made = gateway.ask_sync(name, {"answer": "x"})

    for outcome in (made.record.outcome, None):
        found = dp.judged(CATALOGUE[name], outcome, undecided=made.undecided)
        assert (found.allowed, found.undecided) == (False, True)
        assert found.score in (0.0, None)


def test_a_satisfaction_is_carried_from_its_levels(gateway_of: Gateways) -> None:
    told = {"sentiment": "POSITIVE", "satisfaction": Scored(3.0, None, 0.9)}

    with (gateway := gateway_of()).override({"JUDGE_CSI": scripted(told)}):
        made = gateway.ask_sync("JUDGE_CSI", {"text": "thanks"})

    found = dp.judged(dp.JUDGE_CSI, made.record.outcome)
    assert found.score == pytest.approx(0.75)
    assert found.sentiment is Sentiment.POSITIVE
