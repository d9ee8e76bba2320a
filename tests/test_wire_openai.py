"""The OpenAI Decisions dialect, as Vercel AI Gateway speaks it, in both directions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from pointsman import (
    Ask,
    Choice,
    Chosen,
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
from pointsman.gateway.answers import RawAnswer, Stated, Unread
from pointsman.gateway.gates import Gate
from pointsman.gateway.wire import openai
from pointsman.gateway.wire.requests import Asked, BadRequest

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
    extra = {"providerOptions": {"gateway": {"only": ["typesafe-ai"]}}}

    assert json.loads(openai.encode(DEPLOY, "typesafe-ai/jev-1.13.0", extra)) == REQUEST
    assert "providerOptions" not in json.loads(openai.encode(DEPLOY, "m"))
    assert "model" not in json.loads(openai.encode(DEPLOY, ""))


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


@pytest.mark.parametrize("spread", [{}, {"probabilities": None}, {"probabilities": []}])
@pytest.mark.parametrize(
    ("ask", "answer", "read"),
    [
        (TEAM, {"type": "choice", "choice": "a"}, Chosen("a")),
        (MOOD, {"type": "score", "score": 1}, Scored(1.0)),
    ],
)
def test_a_zero_without_a_distribution_says_that_there_is_no_confidence(
    ask: Ask, answer: dict[str, Any], read: RawAnswer, spread: dict[str, Any]
) -> None:
    """Protocols §2.4: a sentinel, not a low confidence; an absent one is the same."""
    for confidence in ({"confidence": 0}, {"confidence": 0.0}, {"confidence": None}, {}):
        said = body(answers=[{**answer, **spread, **confidence}])

        assert openai.decode(ask, said).answers == [(None, read)]


def test_a_zero_with_a_distribution_is_a_confidence() -> None:
    spread = [{"value": "a", "probability": 0.5}, {"value": "b", "probability": 0.5}]
    answer = {"type": "choice", "choice": "a", "confidence": 0, "probabilities": spread}

    assert openai.decode(TEAM, body(answers=[answer])).answers == [
        (None, Chosen("a", {"a": 0.5, "b": 0.5}, 0.0))
    ]


def test_levels_that_a_server_has_turned_round_are_not_believed() -> None:
    """Each is told by its index and its label; the two must agree."""
    labels = ("high", "mid", "low")
    spread = [{"value": at, "label": one, "probability": at / 3} for at, one in enumerate(labels)]
    answer = {"type": "score", "score": 1.7, "probabilities": spread}

    assert openai.decode(MOOD, body(answers=[answer])).answers == [
        (None, Unread(Reason.INCONSISTENT))
    ]


@pytest.mark.parametrize("usage", [{"input_tokens": None}, {}, None])
def test_tokens_that_are_not_told_do_not_spoil_the_answers(usage: Any) -> None:
    reply = openai.decode(YES, body(usage=usage))

    assert reply.answers == [("q", Held(0.9))]
    assert reply.usage == (None if usage is None else Usage())


def test_an_answer_of_a_named_bill_is_paid_for_though_it_is_not_believed() -> None:
    content = body(answers=None, usage={"input_tokens": 7}, id="r-1")

    with pytest.raises(NoAnswer) as caught:
        openai.decode(YES, content)

    assert caught.value.reply == Reply((), "m", Usage(7, 0), "r-1")


# --- what our server reads ---------------------------------------------------------------


def request(**said: Any) -> bytes:
    """A request of one question, or whatever is said."""
    question = {"type": "predicate", "instructions": "Is it so?"}
    return json.dumps({"model": "m", "input": "s", "questions": [question], **said}).encode()


def test_a_request_is_read_back() -> None:
    asked = openai.decode_request(json.dumps(REQUEST).encode())

    assert (asked.ask, asked.model) == (DEPLOY, "typesafe-ai/jev-1.13.0")
    assert asked.names == ("needs_human", "route", "urgency")


def test_who_it_is_about_and_what_is_not_ours_are_read_past() -> None:
    """What openai-python may send beside: nothing of it changes the question."""
    beside = {
        "safety_identifier": "u_3f9c",
        "prompt_cache_key": "k",
        "prompt_cache_options": {"mode": "implicit", "ttl": "30m"},
    }

    asked = openai.decode_request(request(**beside))

    assert (asked.subject, asked.state) == ("u_3f9c", "s")
    assert openai.decode_request(request(safety_identifier="")).subject is None
    assert openai.decode_request(request(safety_identifier=None)).subject is None


def test_an_empty_list_leaves_the_questions_to_the_point() -> None:
    asked = openai.decode_request(request(questions=[]))

    assert asked.about(DEPLOY.questions).names == tuple(DEPLOY.questions)
    assert asked.about(DEPLOY.questions).ask == Ask("s", DEPLOY.questions)
    with pytest.raises(BadRequest) as caught:
        _ = asked.ask
    assert caught.value.param == "questions"


def test_questions_without_names_or_with_the_same_have_ids_of_their_own() -> None:
    """The schema asks for no names (protocols §3.1); what the client said is kept."""
    names = [None, "a", "a", " ", "1", "0", "4"]
    questions = [
        {"type": "predicate", "instructions": f"{at}", "name": name}
        for at, name in enumerate(names)
    ]

    asked = openai.decode_request(request(questions=questions))

    assert list(asked.questions) == ["0'", "a", "2", "3", "1", "0", "4"]
    assert [one.instructions for one in asked.questions.values()] == list("0123456")
    assert asked.names == tuple(names)


ITEMS: Mapping[str, tuple[Any, Any]] = {
    "a user's text": ([{"role": "user", "content": "hi"}], "hi"),
    "with its type": ([{"type": "message", "role": "user", "content": "hi"}], "hi"),
    "a user's parts": (
        [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look:"},
                    {"type": "input_json", "data": {"b": 1, "a": [True]}},
                ],
            }
        ],
        'look:\n{"a":[true],"b":1}',
    ),
    "data alone": (
        [{"role": "user", "content": [{"type": "input_json", "data": [{"a": 1}]}]}],
        [{"a": 1}],
    ),
    "a conversation": (
        [
            {"role": "developer", "content": [{"type": "input_text", "text": "be brief"}]},
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "where is it?"},
            {
                "role": "assistant",
                "phase": "commentary",
                "content": [
                    {"type": "output_text", "text": "I look"},
                    {"type": "refusal", "refusal": "or not"},
                ],
            },
            {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"id":1}'},
            {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "ls"},
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": [{"type": "input_text", "text": "sent"}],
            },
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "a.txt"},
        ],
        [
            {"role": "developer", "content": "be brief"},
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "where is it?"},
            {"role": "assistant", "content": "I look\nor not"},
            {"role": "assistant", "content": 'find({"id":1})'},
            {"role": "assistant", "content": "run(ls)"},
            {"role": "tool", "name": "find", "content": "sent"},
            {"role": "tool", "name": "run", "content": "a.txt"},
        ],
    ),
}


@pytest.mark.parametrize(("given", "state"), ITEMS.values(), ids=ITEMS)
def test_items_are_read_as_a_state(given: Any, state: Any) -> None:
    """Protocols §3.1: messages stay messages, a text alone is itself, data is data."""
    assert openai.decode_request(request(input=given)).state == state


IMAGE = {"type": "input_image", "image_url": "https://secret.test/x.png"}
PART = {"type": "input_text", "text": "secret"}
CHOICE = {"type": "choice", "instructions": "secret", "choices": [{"value": "a"}, {"value": "b"}]}
SCORE = {"type": "score", "instructions": "secret", "levels": [{"label": "a"}, {"label": "b"}]}
BAD: Mapping[str, tuple[bytes, str | None]] = {
    "nothing": (b"", None),
    "no JSON": (b"secret", None),
    "no UTF-8": (b'{"model":"\xff"}', None),
    "NaN": (b'{"model":"m","input":NaN,"questions":[]}', None),
    "nested without end": (b'{"x":' + b"[" * 50_000, None),
    "a list": (b"[]", None),
    "no input": (b'{"model":"m","questions":[]}', None),
    "no questions": (b'{"model":"m","input":"s"}', None),
    "a number as input": (request(input=7), "input"),
    "no items": (request(input=[]), "input"),
    "an item that is a text": (request(input=["secret"]), "input[0]"),
    "an unknown item": (request(input=[{"type": "secret"}]), "input[0]"),
    "an unknown role": (request(input=[{"role": "secret", "content": "x"}]), "input[0]"),
    "no content": (request(input=[{"role": "user"}]), "input[0].content"),
    "an image": (
        request(input=[{"role": "user", "content": [PART, IMAGE]}]),
        "input[0].content[1]",
    ),
    "a file": (
        request(input=[{"role": "user", "content": [{"type": "input_file", "file_id": "secret"}]}]),
        "input[0].content[0]",
    ),
    "a part that is none": (
        request(input=[{"role": "user", "content": [7]}]),
        "input[0].content[0]",
    ),
    "data that is a text": (
        request(input=[{"role": "user", "content": [{"type": "input_json", "data": "secret"}]}]),
        "input[0].content[0].data",
    ),
    "an output without its call": (
        request(
            input=[
                {"role": "user", "content": "x"},
                {"type": "function_call_output", "call_id": "secret", "output": "x"},
            ]
        ),
        "input[1].call_id",
    ),
    "a call without a name": (
        request(input=[{"type": "function_call", "call_id": "secret", "arguments": "x"}]),
        "input[0].name",
    ),
    "an image in a question": (
        request(questions=[{"type": "predicate", "instructions": [PART, IMAGE]}]),
        "questions[0].instructions[1]",
    ),
    "an unknown question": (
        request(questions=[{"type": "secret", "instructions": "x"}]),
        "questions[0].type",
    ),
    "a box": (request(questions=[{"type": "box", "instructions": "secret"}]), "questions[0].type"),
    "no instructions": (request(questions=[{"type": "predicate"}]), "questions[0]"),
    "empty instructions": (
        request(questions=[{"type": "predicate", "instructions": " "}]),
        "questions[0]",
    ),
    "a choice twice": (
        request(questions=[{**CHOICE, "choices": [{"value": "secret"}] * 2}]),
        "questions[0].choices",
    ),
    "one choice": (
        request(questions=[{**CHOICE, "choices": [{"value": "x"}]}]),
        "questions[0].choices",
    ),
    "a blank choice": (
        request(questions=[{**CHOICE, "choices": [{"value": "x"}, {"value": " "}]}]),
        "questions[0]",
    ),
    "a choice that is a number": (
        request(questions=[{**CHOICE, "choices": [{"value": 7}]}]),
        "questions[0].choices[0].value",
    ),
    "a level twice": (
        request(questions=[{**SCORE, "levels": [{"label": "secret"}] * 2}]),
        "questions[0].levels",
    ),
    "no level": (request(questions=[{**SCORE, "levels": []}]), "questions[0].levels"),
    "eleven levels": (
        request(questions=[{**SCORE, "levels": [{"label": f"{at}"} for at in range(11)]}]),
        "questions[0].levels",
    ),
}


@pytest.mark.parametrize(("content", "param"), BAD.values(), ids=BAD)
def test_a_bad_request_is_told_by_its_place_and_never_by_its_content(
    content: bytes, param: str | None
) -> None:
    with pytest.raises(BadRequest) as caught:
        openai.decode_request(content)

    assert caught.value.param == param
    assert "secret" not in str(caught.value)
    assert caught.value.problem


# --- what our server writes --------------------------------------------------------------


def test_a_reply_is_written_as_clients_require_it() -> None:
    """Protocols §3.2: details of usage, a name that may be null, money as a decimal string."""
    questions = [
        {"type": "predicate", "instructions": "a", "name": "q"},
        {"type": "predicate", "instructions": "b"},
        {"type": "predicate", "instructions": "c", "name": "r"},
    ]
    asked = openai.decode_request(request(questions=questions))
    extra = {"provider_metadata": {"pointsman": {"reason": "ok"}}}

    answers: dict[str, RawAnswer] = {"q": Held(0.75), "r": Stated(holds=False)}
    usage = Usage(5, 2, 0.0000089)

    written = openai.encode_reply(asked, answers, model="jev", usage=usage, extra=extra)

    assert json.loads(written) == {
        "answers": [
            {"type": "predicate", "name": "q", "probability": 0.75},
            {"type": "refusal", "name": None},
            {"type": "refusal", "name": "r"},
        ],
        "model": "jev",
        "usage": {
            "input_tokens": 5,
            "output_tokens": 2,
            "total_tokens": 7,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
        "provider_metadata": {"pointsman": {"reason": "ok"}, "gateway": {"cost": "0.0000089"}},
    }


def test_without_a_confidence_a_reply_says_so_or_what_the_formula_makes_of_it() -> None:
    """Protocols §2.4 and §12: the published example .95/.02/.01/.02 comes to .93."""
    choice = Choice("?", ["a", "b", "c", "d"])
    asked = Asked("s", {"q": choice, "r": choice, "n": Score("?", ["l", "m", "h"])})
    spread = {"a": 0.95, "b": 0.02, "c": 0.01, "d": 0.02}
    answers: dict[str, RawAnswer] = {
        "q": Chosen("a", spread),
        "r": Chosen("a"),
        "n": Scored(1.1, [0.1, 0.7, 0.2]),
    }

    first, second, third = json.loads(openai.encode_reply(asked, answers, model=""))["answers"]

    assert first["confidence"] == pytest.approx(0.9333, abs=1e-4)
    assert (second["confidence"], second["probabilities"]) == (0, [])
    assert third["confidence"] == pytest.approx(0.55)
    assert third["probabilities"][1] == {"value": 1, "label": "m", "probability": 0.7}


def test_a_truth_among_the_choices_comes_back_as_one() -> None:
    """Protocols §3.1: `true` and `"true"` are different choices."""
    values = [True, "true", False, "other"]
    choices = [{"value": value, "description": f"{at}"} for at, value in enumerate(values)]
    asked = openai.decode_request(request(questions=[{**CHOICE, "choices": choices}]))
    (question,) = asked.questions.values()
    assert isinstance(question, Choice)
    names = list(question.options)

    for name, value in zip(names, values, strict=True):
        spread = {one: float(one == name) for one in names}
        written = openai.encode_reply(asked, {"0": Chosen(name, spread, 1.0)}, model="m")
        (answer,) = json.loads(written)["answers"]
        assert (type(answer["choice"]), answer["choice"]) == (type(value), value)
        assert [one["value"] for one in answer["probabilities"]] == values
        assert [type(one["value"]) for one in answer["probabilities"]] == list(map(type, values))

    assert names == ["true (boolean)", "true", "false", "other"]
    assert list(question.options.values()) == ["0", "1", "2", "3"]
