"""The OpenAI Decisions dialect, as Vercel AI Gateway speaks it, in both directions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import (
    Ask,
    Choice,
    Chosen,
    DeclarationError,
    Held,
    NoAnswer,
    Predicate,
    Reason,
    Refused,
    Reply,
    Score,
    Scored,
    Usage,
)
from pointsman.gateway.acceptance import accept
from pointsman.gateway.answers import Unread
from pointsman.gateway.gates import Gate
from pointsman.gateway.wire import openai

# the worked example of the protocol page, §2.2 and §2.3
DEPLOY = Ask(
    "Deploy of 'billing' failed twice. On-call asks to roll back now.",
    {
        "needs_human": Predicate("Must a person approve before anything is changed?"),
        "route": Choice(
            "Which agent should take this?",
            {"ops": "Deployments and incidents", "code": "Source changes", "none": "Neither fits"},
        ),
        "urgency": Score("How urgent is it?", ["low", "medium", "high"]),
    },
)
REQUEST = {
    "model": "typesafe-ai/jev-1.13.0",
    "input": "Deploy of 'billing' failed twice. On-call asks to roll back now.",
    "questions": [
        {
            "type": "predicate",
            "name": "needs_human",
            "instructions": "Must a person approve before anything is changed?",
        },
        {
            "type": "choice",
            "name": "route",
            "instructions": "Which agent should take this?",
            "choices": [
                {"value": "ops", "description": "Deployments and incidents"},
                {"value": "code", "description": "Source changes"},
                {"value": "none", "description": "Neither fits"},
            ],
        },
        {
            "type": "score",
            "name": "urgency",
            "instructions": "How urgent is it?",
            "levels": [{"label": "low"}, {"label": "medium"}, {"label": "high"}],
        },
    ],
    "providerOptions": {"gateway": {"only": ["typesafe-ai"]}},
}
RESPONSE = {
    "answers": [
        {"type": "predicate", "name": "needs_human", "probability": 0.81},
        {
            "type": "choice",
            "name": "route",
            "choice": "ops",
            "confidence": 0.85,
            "probabilities": [
                {"value": "ops", "probability": 0.9},
                {"value": "code", "probability": 0.04},
                {"value": "none", "probability": 0.06},
            ],
        },
        {
            "type": "score",
            "name": "urgency",
            "score": 1.7,
            "confidence": 0.55,
            "probabilities": [
                {"value": 0, "label": "low", "probability": 0.05},
                {"value": 1, "label": "medium", "probability": 0.2},
                {"value": 2, "label": "high", "probability": 0.75},
            ],
        },
    ],
    "model": "typesafe-ai/jev-1.13.0",
    "usage": {"input_tokens": 212, "output_tokens": 0, "total_tokens": 212},
    "provider_metadata": {"gateway": {"generationId": "gen_x", "cost": "0.0000089"}},
}
YES = Ask("s", {"q": Predicate("Is it so?")})
TEAM = Ask("s", {"q": Choice("Which?", ["a", "b"])})
MOOD = Ask("s", {"q": Score("How?", ["low", "mid", "high"])})


def body(**said: Any) -> bytes:
    """A response of one answer, or whatever is said."""
    held = {"type": "predicate", "name": "q", "probability": 0.9}
    return json.dumps({"answers": [held], "model": "m", **said}).encode()


def test_a_request_is_written_as_the_page_shows() -> None:
    options = {"gateway": {"only": ["typesafe-ai"]}}

    assert json.loads(openai.encode(DEPLOY, "typesafe-ai/jev-1.13.0", options)) == REQUEST
    assert "providerOptions" not in json.loads(openai.encode(DEPLOY, "m"))


def test_a_response_is_read_as_the_page_shows() -> None:
    """Answers by position with their echoed names; money from its decimal string."""
    reply = openai.decode(DEPLOY, json.dumps(RESPONSE).encode())

    assert reply == Reply(
        [
            ("needs_human", Held(0.81)),
            ("route", Chosen("ops", {"ops": 0.9, "code": 0.04, "none": 0.06}, 0.85)),
            ("urgency", Scored(1.7, [0.05, 0.2, 0.75], 0.55)),
        ],
        "typesafe-ai/jev-1.13.0",
        Usage(212, 0, 0.0000089),
    )
    assert accept(DEPLOY, reply, Gate(0.5)).accepted


def test_a_predicates_meanings_are_two_lines_of_its_instructions() -> None:
    """The dialect has no slot for them."""
    ask = Ask("s", {"q": Predicate("Confirmed?", true="they say yes", false="anything else")})

    (question,) = json.loads(openai.encode(ask, "m"))["questions"]

    assert question["instructions"] == "Confirmed?\ntrue: they say yes\nfalse: anything else"


def test_a_state_is_one_string() -> None:
    """Text as it is, anything else as canonical JSON."""
    state = {"b": [1], "a": "é"}

    assert json.loads(openai.encode(Ask(state, YES.questions), "m"))["input"] == '{"a":"é","b":[1]}'


def test_a_range_is_asked_in_six_labelled_levels_and_read_back_linearly() -> None:
    ask = Ask("s", {"q": Score("How good?", low=0, high=10)})

    (question,) = json.loads(openai.encode(ask, "m"))["questions"]
    answer = {"type": "score", "name": "q", "score": 4.5, "confidence": 0.9}
    verdict = accept(ask, openai.decode(ask, body(answers=[answer])), Gate(0.7))

    assert question["levels"] == [{"label": label} for label in ("0", "2", "4", "6", "8", "10")]
    assert verdict.answers["q"].value == 9.0


UNREADABLE: Mapping[str, tuple[Ask, bytes, Reason]] = {
    "nothing": (YES, b"", Reason.MALFORMED),
    "no JSON": (YES, b"<html>", Reason.MALFORMED),
    "cut off": (YES, body()[:-5], Reason.MALFORMED),
    "no UTF-8": (YES, b'{"model":"\xff","answers":[]}', Reason.MALFORMED),
    "a list": (YES, b"[]", Reason.MALFORMED),
    "null": (YES, b"null", Reason.MALFORMED),
    "no answers": (YES, b"{}", Reason.MALFORMED),
    "answers null": (YES, body(answers=None), Reason.MALFORMED),
    "answers by name": (YES, body(answers={"q": {}}), Reason.MALFORMED),
    "an unknown type": (YES, body(answers=[{"type": "essay"}]), Reason.MALFORMED),
    "no type": (YES, body(answers=[{"probability": 0.9}]), Reason.MALFORMED),
    "a probability as text": (
        YES,
        body(answers=[{"type": "predicate", "probability": "0.9"}]),
        Reason.MALFORMED,
    ),
    "a choice that is a truth": (
        TEAM,
        body(answers=[{"type": "choice", "choice": True}]),
        Reason.MALFORMED,
    ),
    "NaN, which is no JSON": (
        YES,
        b'{"answers":[{"type":"predicate","probability":NaN}]}',
        Reason.INVALID_NUMBER,
    ),
    "Infinity": (
        YES,
        b'{"answers":[{"type":"predicate","probability":-Infinity}]}',
        Reason.INVALID_NUMBER,
    ),
    "NaN cut off": (YES, b'{"answers":[{"probability":NaN', Reason.MALFORMED),
    "an error in a success": (
        YES,
        body(error={"message": "no", "code": "x"}),
        Reason.PROVIDER_ERROR,
    ),
    "an error alone": (YES, b'{"error":"no"}', Reason.PROVIDER_ERROR),
    "an option twice": (
        TEAM,
        body(
            answers=[
                {
                    "type": "choice",
                    "choice": "a",
                    "confidence": 1,
                    "probabilities": [{"value": "a", "probability": 0.5}] * 2,
                }
            ]
        ),
        Reason.INCONSISTENT,
    ),
    "a level twice": (
        MOOD,
        body(
            answers=[
                {"type": "score", "score": 1, "probabilities": [{"value": 1, "probability": 1}] * 2}
            ]
        ),
        Reason.INCONSISTENT,
    ),
    "a level that nobody asked": (
        MOOD,
        body(
            answers=[
                {"type": "score", "score": 1, "probabilities": [{"value": 3, "probability": 1}]}
            ]
        ),
        Reason.UNDECLARED_OPTION,
    ),
    "nested without end": (YES, b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}", Reason.MALFORMED),
    "never closed": (YES, b'{"x":' + b"[" * 50_000, Reason.MALFORMED),
}


@pytest.mark.parametrize(("ask", "content", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_has_one_reason(ask: Ask, content: bytes, reason: Reason) -> None:
    """And its text stays behind: it may repeat what was sent."""
    try:
        reply = openai.decode(ask, content)
    except NoAnswer as fault:
        found, cause = fault.reason, fault.__cause__
    else:
        found, cause = accept(ask, reply, Gate(0.0)).reason, None

    assert (found, cause) == (reason, None)


THREE = Ask("s", {name: Score("How?", ["low", "mid", "high"]) for name in "abc"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "essay"},
        {"type": "score", "score": "1"},
        {"type": "score", "score": 1, "probabilities": [{"value": 9, "probability": 1}]},
        7,
        None,
    ],
    ids=["an unknown type", "a text", "a level that nobody asked", "a number", "null"],
)
@pytest.mark.parametrize("is_named", [True, False])
def test_an_answer_that_cannot_be_read_leaves_the_others(
    wrong: Any,
    is_named: bool,  # noqa: FBT001
) -> None:
    """In a call that several points share, it is the fault of one of them."""
    good = {"type": "score", "score": 1.0}
    answers: list[Any] = [good, wrong, good]
    if is_named and isinstance(wrong, dict):
        answers = [
            {**one, "name": name} for name, one in zip(THREE.questions, answers, strict=True)
        ]

    reply = openai.decode(THREE, body(answers=answers, usage={"input_tokens": 3}))

    assert isinstance(reply.answers, list)
    first, second, third = (raw for _, raw in reply.answers)
    assert (first, third) == (Scored(1.0), Scored(1.0))
    assert isinstance(second, Unread)
    assert reply.usage == Usage(3, 0)
    assert accept(THREE, reply, Gate(0.0)).reason is second.reason


def test_an_answer_is_read_as_its_name_says_where_one_is_missing() -> None:
    """Else a level of a longer scale would look undeclared."""
    ask = Ask("s", {"yes": Predicate("?"), "mood": MOOD.questions["q"]})
    spread = [{"value": 2, "probability": 1}]
    answer = {"type": "score", "name": "mood", "score": 2, "probabilities": spread}

    assert openai.decode(ask, body(answers=[answer])).answers == [
        ("mood", Scored(2.0, [0.0, 0.0, 1.0]))
    ]


def test_an_error_that_is_null_is_none() -> None:
    assert openai.decode(YES, body(error=None)).model == "m"


def test_refusals_extras_and_unknown_fields_are_left_to_acceptance() -> None:
    reply = openai.decode(YES, body(answers=[{"type": "refusal", "name": "q", "why": 1}] * 2))

    assert reply.answers == [("q", Refused()), ("q", Refused())]


def test_a_level_left_out_counts_as_zero() -> None:
    given_ones = [{"value": 2, "probability": 0.4}, {"value": 1, "probability": 0.6}]
    answer = {"type": "score", "name": "q", "score": 1.4, "probabilities": given_ones}

    assert openai.decode(MOOD, body(answers=[answer])).answers == [
        ("q", Scored(1.4, [0.0, 0.6, 0.4]))
    ]


@pytest.mark.parametrize(
    ("cost", "usd"),
    [
        ("0.0000089", 0.0000089),
        ("0", 0.0),
        (0.5, 0.5),
        (None, None),
        ("free", None),
        ("nan", None),
        ("inf", None),
        ("-1", None),
    ],
)
def test_money_is_a_finite_sum_or_unknown(cost: object, usd: float | None) -> None:
    """A total must not be spoilt by one strange entry."""
    metadata = {"gateway": {"cost": cost}}

    reply = openai.decode(YES, body(usage={"input_tokens": 3}, provider_metadata=metadata))

    assert reply.usage == Usage(3, 0, usd)


# --- the other direction -----------------------------------------------------------------


def test_a_request_is_read_back() -> None:
    ask, model = openai.decode_request(json.dumps(REQUEST).encode())

    assert (ask, model) == (DEPLOY, "typesafe-ai/jev-1.13.0")


@pytest.mark.parametrize(
    ("questions", "error"),
    [
        ([], DeclarationError),
        ([{"type": "predicate", "instructions": ""}], DeclarationError),
        ([{"type": "predicate", "instructions": "a", "name": "q"}] * 2, msgspec.ValidationError),
        (
            [{"type": "choice", "instructions": "a", "choices": [{"value": "x"}] * 2}],
            msgspec.ValidationError,
        ),
        ([{"type": "choice", "instructions": "a", "choices": [{"value": "x"}]}], DeclarationError),
        ([{"type": "essay", "instructions": "a"}], msgspec.ValidationError),
    ],
    ids=["none", "empty", "a name twice", "a choice twice", "one choice", "unknown"],
)
def test_a_request_that_contradicts_itself_is_refused(
    questions: list[object], error: type[Exception]
) -> None:
    content = json.dumps({"model": "m", "input": "s", "questions": questions}).encode()

    with pytest.raises(error):
        openai.decode_request(content)


def test_questions_without_names_are_called_by_their_positions() -> None:
    questions = [{"type": "predicate", "instructions": text} for text in ("a", "b")]
    content = json.dumps({"model": "m", "input": "s", "questions": questions}).encode()

    assert list(openai.decode_request(content)[0].questions) == ["0", "1"]


# --- laws --------------------------------------------------------------------------------

words = st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
menu = st.dictionaries(words, st.text(max_size=12), min_size=2, max_size=10)
meanings = st.text(max_size=12)
predicates = st.builds(Predicate, words, meanings, meanings)
choices = st.builds(Choice, words, menu)
scores = st.builds(Score, words, menu)
asks = st.builds(
    Ask,
    st.text(),
    st.dictionaries(words, predicates | choices | scores, min_size=1, max_size=4),
)
chances = st.floats(0, 1)
counts = st.integers(0, 10**9)


@st.composite
def asked_and_answered(draw: st.DrawFn) -> tuple[Ask, Reply]:
    """An ask with an answer of the right kind, or a refusal, to each question."""
    ask = draw(asks)
    answers: dict[str, Any] = {}
    for name, question in ask.questions.items():
        if isinstance(question, Predicate):
            answers[name] = Held(draw(chances))
        elif isinstance(question, Choice):
            one = st.sampled_from(list(question.options))
            spread = st.none() | st.dictionaries(one, chances)
            answers[name] = Chosen(draw(one), draw(spread), draw(st.none() | chances))
        else:
            top = len(question.levels) - 1
            levels = st.none() | st.lists(chances, min_size=top + 1, max_size=top + 1)
            answers[name] = Scored(draw(st.floats(0, top)), draw(levels), draw(st.none() | chances))
        if draw(st.integers(0, 5)) == 0:
            answers[name] = Refused()
    micros = st.none() | st.integers(0, 10**9).map(lambda units: units / 1e9)
    usage = draw(st.none() | st.builds(Usage, counts, counts, micros))
    return ask, Reply(answers, draw(st.text(max_size=9)), usage)


@given(ask=asks, model=st.text())
@settings(derandomize=True, deadline=None)
def test_a_request_comes_back_as_it_went(ask: Ask, model: str) -> None:
    """encode ∘ decode is identity, for bytes and for values."""
    written = openai.encode(ask, model)

    read, served = openai.decode_request(written)

    assert (read, served) == (ask, model)
    assert openai.encode(read, served) == written


@given(
    instructions=words
    | st.lists(st.sampled_from(["q", "\ntrue: ", "\nfalse: ", "x", "\n"]), min_size=1).map(
        lambda parts: "q" + "".join(parts)
    ),
    true=st.text(max_size=9),
    false=st.text(max_size=9),
)
@settings(derandomize=True, deadline=None, max_examples=150)
def test_meanings_never_lose_a_word_however_they_are_written(
    instructions: str, true: str, false: str
) -> None:
    """Meanings in the last lines of the instructions are taken out at birth: one form each."""
    ask = Ask("s", {"q": Predicate(instructions, true, false)})

    written = openai.encode(ask, "m")
    read, model = openai.decode_request(written)

    assert read == ask
    assert openai.encode(read, model) == written
    kept = "".join(json.loads(written)["questions"][0]["instructions"].split())
    assert all("".join(text.split()) in kept for text in (true, false))


def test_meanings_are_one_line_and_may_stand_in_the_instructions() -> None:
    assert Predicate("q", "they\n  say so") == Predicate("q", "they say so")
    assert Predicate("q\nfalse: b\ntrue: a") == Predicate("q", "a", "b")
    assert Predicate("q\ntrue: a", "b").instructions == "q\ntrue: a"
    assert Predicate("true: a").instructions == "true: a"


@given(pair=asked_and_answered())
@settings(derandomize=True, deadline=None)
def test_a_reply_comes_back_as_it_went(pair: tuple[Ask, Reply]) -> None:
    ask, reply = pair
    assert isinstance(reply.answers, Mapping)

    read = openai.decode(ask, openai.encode_reply(ask, reply))

    assert read.answers == [(name, reply.answers[name]) for name in ask.questions]
    assert read.model == reply.model
    assert read.usage == reply.usage
    again = Reply({str(name): raw for name, raw in read.answers}, read.model, read.usage)
    assert openai.encode_reply(ask, again) == openai.encode_reply(ask, reply)


KEYS = (
    "answers error model usage type name probability probabilities choice score value confidence "
    "provider_metadata gateway cost input_tokens"
)
keys = st.sampled_from(KEYS.split())
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["predicate", "choice", "score", "refusal", "ops", "route", "1e999"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | st.text(max_size=4), inner),
    max_leaves=15,
)
envelopes = st.fixed_dictionaries(
    {
        "answers": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["predicate", "choice", "score", "refusal"])},
                optional={
                    "name": st.sampled_from([*DEPLOY.questions, "x"]) | json_values,
                    "probability": st.floats() | json_values,
                    "choice": st.sampled_from(["ops", "x"]) | json_values,
                    "score": st.floats() | json_values,
                    "confidence": st.floats() | json_values,
                    "probabilities": json_values,
                },
            ),
            max_size=4,
        )
    },
    optional={"model": json_values, "usage": json_values, "provider_metadata": json_values},
)


def believed(content: bytes, ask: Ask = DEPLOY) -> Reason:
    """What the gateway makes of a body, from wire to verdict."""
    try:
        reply = openai.decode(ask, content)
    except NoAnswer as fault:
        return fault.reason
    return accept(ask, reply, Gate(0.0)).reason


def test_a_literal_nan_in_one_answer_leaves_the_others_and_the_bill() -> None:
    ask = Ask("state", {"a": Predicate("A?"), "b": Predicate("B?"), "c": Choice("C?", ["x", "y"])})
    content = (
        b'{"answers":[{"type":"predicate","name":"a","probability":NaN},'
        b'{"type":"predicate","name":"b","probability":0.25},'
        b'{"type":"choice","name":"c","choice":1}],'
        b'"model":"m","usage":{"input_tokens":7,"output_tokens":1}}'
    )

    reply = openai.decode(ask, content)

    assert reply.answers == [
        ("a", Unread(Reason.INVALID_NUMBER)),
        ("b", Held(0.25)),
        ("c", Unread(Reason.MALFORMED)),
    ]
    assert reply.usage == Usage(7, 1)


@given(value=json_values | envelopes)
@settings(derandomize=True, deadline=None, max_examples=250)
def test_any_json_is_a_reply_with_a_listed_reason(value: object) -> None:
    """Python writes NaN as a literal, as broken servers do."""
    assert isinstance(believed(json.dumps(value).encode()), Reason)


@given(content=st.binary())
@settings(derandomize=True, deadline=None)
def test_any_bytes_are_a_reply_with_a_listed_reason(content: bytes) -> None:
    assert believed(content) is not Reason.OK


@given(at=st.integers(0, len(json.dumps(RESPONSE)) - 1), byte=st.integers(0, 255))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_a_good_reply_with_one_wrong_byte_is_still_judged(at: int, byte: int) -> None:
    content = bytearray(json.dumps(RESPONSE).encode())
    content[at] = byte

    assert isinstance(believed(bytes(content)), Reason)
