"""
The declared points against the vectors of the host's own cases.

`vectors/decision-points.jsonl` says for each case what a decider is asked and what it should
answer; ids such as A8 are those of the catalogue's list of ambiguities. English vectors
exercise the provider; the host's word lists and splitters are Portuguese (A34).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import pytest

from catalogue import (
    ALL,
    CATALOGUE,
    EVERY,
    NAMED,
    REASON_CODE,
    Vector,
    expected,
    extraction,
    given,
    line,
)
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

each_vector = pytest.mark.parametrize("vector", NAMED.values(), ids=NAMED)
each_point = pytest.mark.parametrize("point", CATALOGUE.values(), ids=CATALOGUE)
every_point = pytest.mark.parametrize("point", EVERY.values(), ids=EVERY)


def test_the_catalogue_holds_every_point_of_the_vectors_in_their_order() -> None:
    assert list(CATALOGUE) == list(dict.fromkeys(vector["point"] for vector in ALL))
    assert list(discover().points) == list(EVERY)
    assert list(EVERY)[: len(CATALOGUE)] == list(CATALOGUE)
    for name in CATALOGUE:
        assert {one["language"] for one in ALL if one["point"] == name} == {"en", "pt"}


@each_vector
def test_a_point_asks_exactly_what_its_vectors_say(vector: Vector) -> None:
    """Names, types, instructions, options with descriptions, levels, and their order.

    A13 is among them: CONTINUE is not offered while nobody is active. Only the question for
    a reason code may come on top (A24).
    """
    ask = CATALOGUE[vector["point"]].ask(given(vector), vector["language"])

    asked = json.loads(openai.encode(ask, "m"))["questions"]
    assert [one for one in asked if one["name"] != REASON_CODE] == vector["question"]


@each_vector
def test_a_point_shows_the_state_and_nothing_else(vector: Vector) -> None:
    """What the host adds beside the declared fields is not sent."""
    point = CATALOGUE[vector["point"]]

    ask = point.ask({**given(vector), "internal_note": "canary"}, vector["language"])

    assert json.loads(ask.text) == vector["state"]
    assert set(vector["state"]) <= set(point.reads)


@each_vector
def test_the_expected_answers_give_the_expected_outcomes(
    gateway_of: Gateways, vector: Vector
) -> None:
    gateway = gateway_of({"DECISION_LANGUAGE": vector["language"]})
    told = line(vector)

    with gateway.override({vector["point"]: scripted(told)}):
        made = gateway.ask_sync(vector["point"], given(vector))

    if "NONE" in told.values() and vector["point"] == "GLOBAL_SUPERVISOR":
        assert (made.value, made.undecided) == ("NONE", True)  # A20: no answer
        return
    assert made.provider == "scripted"
    outcome = made.record.outcome
    decided = outcome if isinstance(outcome, Mapping) else dict.fromkeys(told, outcome)
    for name, value in expected(vector).items():
        dead = name == "destination" and told["kind"] == "CONTINUE"  # A6
        assert decided[name] == (None if dead else pytest.approx(value))


def unbelievable(question: Question) -> Mapping[str, Any]:
    """Answers to one question that may not be believed, by what is wrong with them."""
    raw: dict[str, Any] = {"refused": Refused(), "missing": None}
    if isinstance(question, Predicate):
        return {**raw, "unsure": Held(0.6), "tie": Held(0.5), "wrong type": Scored(1, None, 1)}
    if isinstance(question, Score):
        return {**raw, "unsure": Scored(1, None, 0.1), "off the scale": Scored(9.1, None, 1)}
    option = next(iter(question.options))
    return {
        **raw,
        "unsure": Chosen(option, None, 0.3),
        "confidence missing": Chosen(option),
        "undeclared": Chosen("an_intent_of_its_own", None, 1),
        "tie": Chosen(option, dict.fromkeys(list(question.options)[:2], 0.5), 0.0),
    }


def doubtful(vector: Vector) -> Iterator[tuple[str, object]]:
    """Lines in which one gated and live answer is wrong and all others are right."""
    asked = CATALOGUE[vector["point"]].ask(given(vector), vector["language"]).questions
    told = line(vector)
    yield "broken", Reason.PROVIDER_ERROR
    for name, question in asked.items():
        dead = name == "destination" and told["kind"] == "CONTINUE"
        if question.advisory or dead:
            continue
        for wrong, raw in unbelievable(question).items():
            rest = {other: value for other, value in told.items() if other != name}
            yield f"{name} {wrong}", rest if raw is None else {**rest, name: raw}


@each_vector
def test_in_doubt_the_host_decides_and_without_it_the_safe_outcome(
    gateway_of: Gateways, vector: Vector
) -> None:
    """A8, A9: tie, low or missing confidence, refusal, a missing or undeclared answer.

    None of them becomes the outcome. The host's own value is asked for once.
    """
    gateway = gateway_of({"DECISION_LANGUAGE": vector["language"]})
    point, state = CATALOGUE[vector["point"]], given(vector)
    asked = point.ask(state, vector["language"]).questions
    host = extraction(vector)
    calls: list[int] = []

    def current() -> object:
        calls.append(1)
        return host

    for wrong, raw in doubtful(vector):
        calls.clear()
        with gateway.override({point.name: scripted(raw)}):
            back = gateway.ask_sync(point.name, state, current=current)
            alone = gateway.ask_sync(point.name, state)
        assert back.value is host, wrong
        assert (back.provider, len(calls)) == ("current", 1), wrong
        assert alone.undecided, wrong
        assert alone.record.outcome == point.in_doubt(asked), wrong
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
        gateway.ask_sync(vector["point"], given(vector))

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


SPOKEN = {
    "WORKFLOW_EXPECTED_INPUT",  # describes the usual words of contracts, its own language's first
    "TRANSACTION_CONFIRMATION",
    "JUDGE_CSI",  # its labels are words
}


@every_point
def test_a_point_speaks_both_languages_alike(point: DecisionPoint) -> None:
    """Same names, kinds, options and number of levels; other words."""
    english, portuguese = point.questions["en"], point.questions["pt"]

    assert list(english) == list(portuguese)
    for one, other in zip(english.values(), portuguese.values(), strict=True):
        assert type(one) is type(other)
        assert one.instructions != other.instructions
        if not isinstance(one, Predicate | Score) and not isinstance(other, Predicate | Score):
            assert len(one.options) == len(other.options)
            assert all(one.options.values())
            if point.name not in SPOKEN:
                assert list(one.options) == list(other.options)
        if isinstance(one, Score) and isinstance(other, Score):
            assert len(one.levels) == len(other.levels)


@each_point
def test_a_point_has_a_safe_outcome_and_says_what_it_reads(point: DecisionPoint) -> None:
    assert point.safe is not None
    assert point.words in point.reads
    assert {path.partition(".")[0] for path in point.needs.values()} <= set(point.reads)
    fields = {one.field for one in point.options.values() if isinstance(one, OptionsFrom)}
    assert fields <= {*point.reads, "backends"}  # the registry is no state of the conversation


@each_point
def test_a_point_takes_the_words_alone(point: DecisionPoint) -> None:
    """For functions of one text."""
    if not point.options and not point.repeats:
        assert json.loads(point.ask("just this").text) == {point.words: "just this"}


def test_the_four_points_are_declared_in_their_final_form() -> None:
    assert ROUTE_CONTINUITY.safe == "ROUTE"
    assert ROUTER.safe == "fallback"
    assert GUARDRAIL_PINJ.safe is False
    assert GUARDRAIL_PINJ.blocks is True
    assert JUDGE_RQLT.safe == 0.0
    internal = {"DEBATE_LANE", "CONVERGENCE", "DEBATE_ESCALATION", "COUNCIL", "FACT_DISPUTE"}
    assert EVERY.keys() - CATALOGUE.keys() == internal


GROUPS: Mapping[str, tuple[str, ...]] = {
    "input": (
        *("GUARDRAIL_PINJ", "GUARDRAIL_COER", "GUARDRAIL_TOX", "GUARDRAIL_OOS"),
        *("GUARDRAIL_DLEX_IN", "GUARDRAIL_GUARDRAIL", "JUDGE_CSI"),
    ),
    "routing": (
        *("ROUTE_CONTINUITY", "ROUTER", "WORKFLOW_EXPECTED_INPUT", "WORKFLOW_REENTRY"),
        *("TRANSACTION_PARAMETER_RELEVANCE", "TRANSACTION_INTENT_SHIFT"),
        "TRANSACTION_CONFIRMATION",
    ),
    "output": (
        *("GUARDRAIL_AOFERTA", "GUARDRAIL_REVPREC", "GUARDRAIL_FRASEOLOGIA", "GUARDRAIL_GRL"),
        *("GUARDRAIL_DLEX_OUT", "GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK"),
    ),
    "judges": ("JUDGE_RQLT", "JUDGE_ALUC", "JUDGE_VCTN", "JUDGE_LLM_JUDGE"),
    "retrieval": ("GUARDRAIL_RAGSEC",),
}


@pytest.mark.parametrize("group", GROUPS)
def test_points_share_a_call_by_the_table(group: str) -> None:
    """Never input with routing: another text, and another policy where they fail."""
    members = {name for name, one in CATALOGUE.items() if one.share and one.share.group == group}

    assert members == set(GROUPS[group])


def test_some_points_ask_by_themselves() -> None:
    shared = {name for group in GROUPS.values() for name in group}
    rest = {name: CATALOGUE[name].share for name in CATALOGUE.keys() - shared}

    assert {name for name, share in rest.items() if share is None} == {
        "MULTI_INTENT",
        "TRANSACTION_PARAMETER_RECONCILIATION",
    }
    assert {name for name, share in rest.items() if share is not None and share.alone} == {
        "PROCESSING_INTERRUPTION",
        "GLOBAL_SUPERVISOR",
    }


def test_the_hosts_own_thresholds_are_declared_with_their_reason() -> None:
    """A12: kept as they are, applied afterwards."""
    hosts = {name: one.host for name, one in CATALOGUE.items() if one.host}

    assert {name: host.value for name, host in hosts.items()} == {
        "ROUTE_CONTINUITY": 0.90,
        "TRANSACTION_PARAMETER_RELEVANCE": 0.70,
        "TRANSACTION_INTENT_SHIFT": 0.70,
        "MULTI_INTENT": 0.65,
        "JUDGE_RQLT": 0.7,
        "JUDGE_ALUC": 0.6,
        "JUDGE_LLM_JUDGE": 0.7,
    }
    assert all(host.why for host in hosts.values())


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("JUDGE_SENTIMENT", "JUDGE_CSI"),
        ("JUDGE_TONE", "JUDGE_VCTN"),
        ("JUDGE_GROUNDEDNESS", "JUDGE_ALUC"),
        ("JUDGE_RESPONSE_QUALITY", "JUDGE_RQLT"),
    ],
)
def test_A36_a_judge_answers_to_its_configured_name(  # noqa: N802
    gateway_of: Gateways, alias: str, name: str
) -> None:
    """Both spellings mean the same point, and the configured one's variables win."""
    assert CATALOGUE[name].names == (alias, name)
    gateway = gateway_of(
        {f"DECISION_{alias}_MIN_CONFIDENCE": "0.5", f"DECISION_{name}_MIN_CONFIDENCE": "0.9"}
    )
    with gateway.override({name: scripted(Reason.REFUSED)}):
        made = gateway.ask_sync(alias, {"text": "x", "answer": "x"})
    assert (made.record.point, made.attempts[0].minimum) == (name, 0.5)


@pytest.mark.parametrize(
    ("name", "generic"),
    [("GUARDRAIL_MINE", "GUARDRAIL_GUARDRAIL"), ("JUDGE_MINE", "JUDGE_LLM_JUDGE")],
)
def test_A1_unknown_rails_and_judges_are_the_generic_ones(  # noqa: N802
    gateway_of: Gateways, name: str, generic: str
) -> None:
    (asked,) = CATALOGUE[generic].questions["en"]
    told = {asked: True if generic.startswith("GUARDRAIL") else 1.0}

    with (gateway := gateway_of()).override({name: scripted(told)}):
        made = gateway.ask_sync(name, {"text": "x", "answer": "x"})

    assert (made.record.point, made.value) == (name, next(iter(told.values())))


def test_a_recheck_inherits_from_its_rail() -> None:
    recheck = CATALOGUE["GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK"]

    assert recheck.chain == ("GUARDRAIL_DLEX_OUT",)


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
