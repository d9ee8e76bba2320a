"""
The declared points against the vectors of the host's own cases.

`vectors/decision-points.jsonl` says for each case what a decider is asked and what it should
answer; ids such as A8 are those of the catalogue's list of ambiguities. English vectors
exercise the provider; the host's word lists and splitters are Portuguese (A34).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pointsman import (
    Choice,
    Chosen,
    DecisionPoint,
    DeclarationError,
    Gateway,
    Held,
    NoAnswer,
    Predicate,
    Reason,
    Refused,
    Score,
    Scored,
    When,
    scripted,
)
from pointsman.decision_points import GUARDRAIL_PINJ, JUDGE_RQLT, ROUTE_CONTINUITY, ROUTER
from pointsman.gateway.discovery import discover
from pointsman.gateway.points import OptionsFrom
from pointsman.gateway.questions import Question
from pointsman.gateway.wire import openai

Gateways = Callable[..., Gateway]
Vector = dict[str, Any]

VECTORS = Path(__file__).parent / "vectors" / "decision-points.jsonl"
CATALOGUE = discover().points
ALL: list[Vector] = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
OURS = [vector for vector in ALL if vector["point"] in CATALOGUE]
NAMED = {f"{vector['point']}-{vector['language']}-{at}": vector for at, vector in enumerate(OURS)}
each_vector = pytest.mark.parametrize("vector", NAMED.values(), ids=NAMED)
each_point = pytest.mark.parametrize("point", CATALOGUE.values(), ids=CATALOGUE)


def outcome(vector: Vector, name: str) -> Any:
    """The expected answer, as a value on the question's own scale."""
    expected = vector["expected"]["answers"][name]
    if isinstance(expected, dict):  # a range of scores
        return (expected["min"] + expected["max"]) / 2
    return expected


def test_each_declared_point_has_its_vectors_in_both_languages() -> None:
    assert {vector["point"] for vector in OURS} >= {
        "ROUTE_CONTINUITY",
        "ROUTER",
        "GUARDRAIL_PINJ",
        "JUDGE_RQLT",
    }
    for name in CATALOGUE:
        assert {one["language"] for one in OURS if one["point"] == name} == {"en", "pt"}


@each_vector
def test_a_point_asks_exactly_what_its_vectors_say(vector: Vector) -> None:
    """Names, types, instructions, options with descriptions, levels, and their order.

    A13 is among them: CONTINUE is not offered while nobody is active.
    """
    ask = CATALOGUE[vector["point"]].ask(vector["state"], vector["language"])

    assert json.loads(openai.encode(ask, "m"))["questions"] == vector["question"]


@each_vector
def test_a_point_shows_the_state_and_nothing_else(vector: Vector) -> None:
    """What the host adds beside the declared fields is not sent."""
    point = CATALOGUE[vector["point"]]

    ask = point.ask({**vector["state"], "internal_note": "canary"}, vector["language"])

    assert json.loads(ask.text) == vector["state"]
    assert set(vector["state"]) <= set(point.reads)


@each_vector
def test_the_expected_answers_give_the_expected_outcomes(
    gateway_of: Gateways, vector: Vector
) -> None:
    gateway = gateway_of({"DECISION_LANGUAGE": vector["language"]})
    (name,) = vector["expected"]["answers"]
    expected = outcome(vector, name)

    with gateway.override({vector["point"]: scripted(expected)}):
        made = gateway.ask_sync(vector["point"], vector["state"])

    assert made.provider == "scripted"
    assert made.value == expected
    assert made.record.outcome == expected


def unbelievable(question: Question) -> Mapping[str, Any]:
    """Answers to one question that may not be believed, by what is wrong with them."""
    raw: dict[str, Any] = {"refused": Refused(), "broken": Reason.PROVIDER_ERROR}
    if isinstance(question, Predicate):
        return {**raw, "unsure": Held(0.6), "tie": Held(0.5), "wrong type": Scored(1, None, 1)}
    if isinstance(question, Score):
        return {**raw, "unsure": Scored(5, None, 0.1), "off the scale": Scored(5.1, None, 1)}
    option = next(iter(question.options))
    return {
        **raw,
        "unsure": Chosen(option, None, 0.3),
        "confidence missing": Chosen(option),
        "undeclared": Chosen("an_intent_of_its_own", None, 1),
        "tie": Chosen(option, dict.fromkeys(list(question.options)[:2], 0.5), 0.0),
    }


@each_vector
def test_in_doubt_the_host_decides_and_without_it_the_safe_outcome(
    gateway_of: Gateways, vector: Vector
) -> None:
    """Tie, low confidence, refusal and undeclared option never become the outcome."""
    gateway = gateway_of({"DECISION_LANGUAGE": vector["language"]})
    point = CATALOGUE[vector["point"]]
    (question,) = point.ask(vector["state"], vector["language"]).questions.items()
    host = object()

    for wrong, raw in unbelievable(question[1]).items():
        line = raw if isinstance(raw, Reason) else {question[0]: raw}
        with gateway.override({point.name: scripted(line)}):
            back = gateway.ask_sync(point.name, vector["state"], current=lambda: host)
            alone = gateway.ask_sync(point.name, vector["state"])
        assert back.value is host, wrong
        assert back.provider == "current", wrong
        assert alone.undecided, wrong
        assert alone.value == point.safe, wrong
        assert alone.provider == "", wrong


@each_vector
def test_without_fallback_a_doubtful_answer_reaches_the_hosts_own_policy(
    gateway_of: Gateways, vector: Vector
) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})

    with (
        gateway.override({vector["point"]: scripted(Reason.REFUSED)}),
        pytest.raises(NoAnswer) as e,
    ):
        gateway.ask_sync(vector["point"], vector["state"])

    assert (e.value.reason, e.value.point) == (Reason.REFUSED, vector["point"])


# --- readings of the ambiguities ---------------------------------------------------------


def test_A8_a_tie_of_a_guardrail_passes(gateway_of: Gateways) -> None:  # noqa: N802
    """Exactly 0.5 is the safe outcome at confidence 0.5: doubt passes PINJ."""
    gateway = gateway_of({"DECISION_GUARDRAIL_PINJ_MIN_CONFIDENCE": "0.5"})

    with gateway.override({"GUARDRAIL_PINJ": scripted({"injection": Held(0.5)})}):
        made = gateway.ask_sync("GUARDRAIL_PINJ", "forget it", current=lambda: True)

    assert (made.value, made.confidence, made.provider) == (False, 0.5, "scripted")


@each_point
def test_A8_ties_and_safe_outcomes_agree(point: DecisionPoint) -> None:  # noqa: N802
    for questions in point.questions.values():
        for question in questions.values():
            if isinstance(question, Predicate):
                assert question.tie is point.safe


def test_A9_a_missing_confidence_passes_only_an_explicit_zero(  # noqa: N802
    gateway_of: Gateways,
) -> None:
    """The host gets 0.0 then, and its own 0.90 rejects it."""
    line = {"decision": Chosen("END_SESSION")}
    for minimum, provider in (("0.01", "current"), ("0", "scripted")):
        gateway = gateway_of({"DECISION_ROUTE_CONTINUITY_MIN_CONFIDENCE": minimum})
        with gateway.override({"ROUTE_CONTINUITY": scripted(line)}):
            made = gateway.ask_sync("ROUTE_CONTINUITY", "bye", current=lambda: "ROUTE")
        assert (made.provider, made.confidence) == (provider, 0.0)


def test_A10_after_a_fallback_the_confidence_is_not_the_providers(  # noqa: N802
    gateway_of: Gateways,
) -> None:
    gateway = gateway_of()

    with gateway.override({"ROUTER": scripted("a", confidence=0.6)}):
        made = gateway.ask_sync("ROUTER", _routed(), current=lambda: "a")

    assert made.confidence == 0.0
    assert made.attempts[0].confidence == 0.6


@pytest.mark.parametrize("nobody", ["", None])
def test_A13_continue_is_not_offered_while_nobody_is_active(  # noqa: N802
    gateway_of: Gateways, nobody: object
) -> None:
    """And a provider that says it all the same goes to the safe outcome, ROUTE."""
    gateway = gateway_of()
    state = {"active_agent": nobody, "current_message": "yes, that one"}

    with gateway.override(
        {"ROUTE_CONTINUITY": scripted({"decision": Chosen("CONTINUE", None, 1)})}
    ):
        made = gateway.ask_sync("ROUTE_CONTINUITY", state)

    assert list(ROUTE_CONTINUITY.ask(state).questions["decision"].options) == [  # type: ignore[union-attr]
        "ROUTE",
        "HUMAN_HANDOFF",
        "END_SESSION",
    ]
    assert made.attempts[0].reason is Reason.UNDECLARED_OPTION
    assert (made.value, made.undecided) == ("ROUTE", True)


def test_A13_continue_is_offered_while_somebody_is(gateway_of: Gateways) -> None:  # noqa: N802
    state = {"active_agent": "billing_agent", "current_message": "and the second one?"}

    with (gateway := gateway_of()).override({"ROUTE_CONTINUITY": scripted("CONTINUE")}):
        assert gateway.ask_sync("ROUTE_CONTINUITY", state).value == "CONTINUE"


def test_A25_a_judge_scores_0_to_10_in_six_levels(gateway_of: Gateways) -> None:  # noqa: N802
    """Eleven values cannot be asked; the port carries 0–10, linearly: score10 = 10·s/5."""
    (question,) = JUDGE_RQLT.questions["en"].values()
    assert isinstance(question, Score)
    assert (len(question.levels), question.low, question.high) == (6, 0, 10)
    gateway = gateway_of()

    for level in (0.0, 0.4, 2.5, 5.0):
        line = {"quality": Scored(level, None, 0.9)}
        with gateway.override({"JUDGE_RQLT": scripted(line)}):
            made = gateway.ask_sync("JUDGE_RQLT", {"question": "?", "answer": "!"})
        assert made.value == pytest.approx(10 * level / 5)


def test_A27_an_undecided_judge_has_not_passed_the_answer(gateway_of: Gateways) -> None:  # noqa: N802
    gateway = gateway_of()

    with gateway.override({"JUDGE_RQLT": scripted(Reason.TIMEOUT)}):
        made = gateway.ask_sync("JUDGE_RQLT", {"question": "?", "answer": "!"})

    assert (made.value, made.undecided) == (0.0, True)


def test_A31_a_rail_may_be_told_to_block_or_to_pass(gateway_of: Gateways) -> None:  # noqa: N802
    gateway = gateway_of()

    with gateway.override({"GUARDRAIL_PINJ": scripted(Reason.TIMEOUT)}):
        for told, unsafe in (("block", True), ("allow", False), (None, False)):
            made = gateway.ask_sync("GUARDRAIL_PINJ", "x", on_undecided=told)  # type: ignore[arg-type]
            assert (made.value, made.undecided) == (unsafe, True)


# --- the router's open menu --------------------------------------------------------------


def _routed(*names: str) -> dict[str, Any]:
    intents = [{"intent": name, "description": name.upper()} for name in names or ("a", "b")]
    return {"message": "hi", "allowed_intents": intents}


def test_the_routers_options_come_with_the_call_and_the_sentinel_stays_last() -> None:
    (question,) = ROUTER.ask(_routed("z", "a")).questions.values()

    assert list(question.options) == ["z", "a", "fallback"]  # type: ignore[union-attr]
    assert question.sentinel == "fallback"  # type: ignore[union-attr]


def test_an_intent_without_a_description_is_its_name() -> None:
    state = {
        "message": "hi",
        "allowed_intents": [{"intent": "a"}, {"intent": "b", "description": None}],
    }

    (question,) = ROUTER.ask(state).questions.values()

    assert dict(question.options)["a"] == dict(question.options)["b"] == ""  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "intents",
    [
        None,
        "a, b",
        [1],
        [{"name": "a"}],
        [{"intent": ""}],
        [{"intent": "fallback"}],
        [],
        [{"intent": str(one)} for one in range(255)],
    ],
    ids=["none", "text", "numbers", "other key", "blank", "reserved", "empty", "too many"],
)
def test_a_menu_that_cannot_be_asked_is_the_programmers_error(intents: Any) -> None:
    state = {"message": "hi"} if intents is None else {"message": "hi", "allowed_intents": intents}

    with pytest.raises(DeclarationError):
        ROUTER.ask(state)


def test_the_sentinel_of_the_router_is_an_ordinary_answer(gateway_of: Gateways) -> None:
    """`fallback` is an intent of the host: its agent asks back."""
    gateway = gateway_of()

    with gateway.override({"ROUTER": scripted("fallback")}):
        made = gateway.ask_sync("ROUTER", _routed(), current=lambda: "a")

    assert (made.value, made.provider) == ("fallback", "scripted")


# --- declarations ------------------------------------------------------------------------


@each_point
def test_a_point_speaks_both_languages_alike(point: DecisionPoint) -> None:
    """Same names, kinds, options and number of levels; other words."""
    english, portuguese = point.questions["en"], point.questions["pt"]

    assert list(english) == list(portuguese)
    for one, other in zip(english.values(), portuguese.values(), strict=True):
        assert type(one) is type(other)
        assert one.instructions != other.instructions
        if not isinstance(one, Predicate | Score) and not isinstance(other, Predicate | Score):
            assert list(one.options) == list(other.options)
            assert all(one.options.values())
        if isinstance(one, Score) and isinstance(other, Score):
            assert len(one.levels) == len(other.levels)


@each_point
def test_a_point_has_a_safe_outcome_and_says_what_it_reads(point: DecisionPoint) -> None:
    assert point.safe is not None
    assert point.words in point.reads
    assert set(point.needs.values()) <= set(point.reads)
    assert {source.field for source in point.options.values()} <= set(point.reads)


@each_point
def test_a_point_takes_the_words_alone(point: DecisionPoint) -> None:
    """For functions of one text."""
    if not point.options:
        assert json.loads(point.ask("just this").text) == {point.words: "just this"}


def test_the_four_points_are_declared_in_their_final_form() -> None:
    assert ROUTE_CONTINUITY.safe == "ROUTE"
    assert ROUTER.safe == "fallback"
    assert GUARDRAIL_PINJ.safe is False
    assert GUARDRAIL_PINJ.blocks is True
    assert JUDGE_RQLT.safe == 0.0
    assert not any(point.internal for point in CATALOGUE.values())


TEAM = {"decision": Predicate("?")}


def _menu(waits_for: str) -> dict[str, Question]:
    """An open menu, a closed kind, and what hangs on both."""
    return {
        "intent": Choice("?", ["none"], "none", open=True),
        "kind": Choice("?", ["a", "b", "c"]),
        "left_out": Predicate("?", when=When("kind", (waits_for,))),
        "unknown": Predicate("?", when=When("intent", ("any that comes",))),
    }


WRONG: Mapping[str, Callable[[], object]] = {
    "no language": lambda: DecisionPoint(name="A", questions={}),
    "no question": lambda: DecisionPoint(name="A", questions={"en": {}}),
    "languages that differ": lambda: DecisionPoint(
        name="A", questions={"en": TEAM, "pt": {"decisao": Predicate("?")}}
    ),
    "a safe option that is none": lambda: DecisionPoint(
        name="A", questions=ROUTE_CONTINUITY.questions, safe="STAY"
    ),
    "a safe text for a truth": lambda: DecisionPoint(name="A", questions={"": TEAM}, safe="no"),
    "a safe number for a truth": lambda: DecisionPoint(name="A", questions={"": TEAM}, safe=0.0),
    "a safe truth for a score": lambda: DecisionPoint(
        name="A", questions=JUDGE_RQLT.questions, safe=False
    ),
    "a safe score off the scale": lambda: DecisionPoint(
        name="A", questions=JUDGE_RQLT.questions, safe=10.5
    ),
    "undecided choices": lambda: DecisionPoint(
        name="A", questions=ROUTE_CONTINUITY.questions, on_undecided="block"
    ),
    "a language it does not speak": lambda: ROUTE_CONTINUITY.ask("hi", "fr"),
    "a name that is no suffix": lambda: DecisionPoint(name="triage", questions={"": TEAM}),
    "a chain of no suffixes": lambda: DecisionPoint(
        name="A_B", questions={"": TEAM}, chain=("a-b",)
    ),
    "a name that is no text": lambda: DecisionPoint(name=5, questions={"": TEAM}),  # type: ignore[arg-type]
    "questions without a language": lambda: DecisionPoint(name="A", questions=Predicate("?")),  # type: ignore[arg-type]
    "a question without a name": lambda: DecisionPoint(
        name="A",
        questions={"en": Predicate("?")},  # type: ignore[dict-item]
    ),
    "a wait for what never comes": lambda: DecisionPoint(name="A", questions={"": _menu("never")}),
    "no words to speak of": lambda: DecisionPoint(
        name="A", questions={"": TEAM}, reads=("a", "b")
    ).ask("hi"),
    "no field of this name": lambda: OptionsFrom("x", "name", "text").read({}),
}


@pytest.mark.parametrize("born", WRONG.values(), ids=WRONG)
def test_a_point_that_contradicts_itself_is_never_born(born: Callable[[], object]) -> None:
    with pytest.raises(DeclarationError):
        born()


def test_a_wait_for_an_option_that_this_call_leaves_out_is_no_fault() -> None:
    point = DecisionPoint(
        name="A",
        questions={"": _menu("a")},
        reads=("text", "menu", "kinds"),
        words="text",
        options={"intent": OptionsFrom("menu", "name", "about")},
        needs={"a": "kinds"},
    )

    asked = point.ask({"text": "hi", "menu": [{"name": "x"}]}).questions

    assert list(asked["kind"].options) == ["b", "c"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (
            {"user_message": "hi"},
            "the state has user_message. Did you mean 'message' by 'user_message'?",
        ),
        ({"message": None}, "it is null"),
        ({}, "the state has no field"),
        ({"my secret": 1}, "the state has no field"),
    ],
)
def test_a_state_without_the_words_is_never_asked(state: Any, told: str) -> None:
    """`local` would decide by the options' own texts, and be sure of it."""
    with pytest.raises(DeclarationError) as caught:
        ROUTER.ask(state)

    assert str(caught.value) == f"ROUTER: the words are read from 'message'; {told}"


@pytest.mark.parametrize("state", [{"text": "hi", "history": [1j]}, 1j])
def test_a_state_that_is_no_json_names_the_point(state: Any) -> None:
    with pytest.raises(DeclarationError, match=r"^GUARDRAIL_PINJ: state\.\S+ is of type complex"):
        GUARDRAIL_PINJ.ask(state)


def test_a_tie_ends_as_the_point_does_where_nobody_decides() -> None:
    """A8: exactly 0.5 is no more than doubt."""
    rail = DecisionPoint(name="A", questions={"en": TEAM, "pt": TEAM}, safe=True)

    def tie(point: DecisionPoint) -> bool:
        return all(one["decision"].tie for one in point.questions.values())  # type: ignore[union-attr]

    assert tie(rail)
    assert rail.ask("hi").questions["decision"].tie  # type: ignore[union-attr]
    assert not tie(msgspec.structs.replace(rail, on_undecided="allow"))
    assert tie(msgspec.structs.replace(rail, on_undecided="block"))
    assert not tie(DecisionPoint(name="A", questions={"": TEAM}))


def test_a_language_is_found_in_any_case() -> None:
    assert ROUTE_CONTINUITY.spoken("PT") is ROUTE_CONTINUITY.questions["pt"]


def test_a_point_of_one_language_is_asked_in_it_whatever_is_set() -> None:
    """A user's own points need not be translated."""
    point = DecisionPoint(name="A", questions={"": TEAM})

    assert point.ask("hi", "pt").questions == TEAM
