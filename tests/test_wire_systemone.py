"""The TypeSafe dialect ("System One"), in both directions."""

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
from pointsman.gateway.questions import Question
from pointsman.gateway.wire import systemone
from pointsman.gateway.wire.envelope import unwrapped
from pointsman.gateway.wire.requests import Asked, BadRequest

# the worked example of the protocol page, §4.2
REFUND = Ask(
    {"message": "Refund me or I call my bank."},
    {
        "angry": Predicate("Is the writer angry?"),
        "team": Choice(
            "Who takes it?",
            {"billing": "Money matters", "tech": "Defects", "other": "Anything else"},
        ),
        "risk": Score("Churn risk?", ["none", "some", "high"]),
    },
)
REQUEST = {
    "model": "jev-1.13.0",
    "state": {"message": "Refund me or I call my bank."},
    "questions": {
        "angry": {"type": "noul", "instructions": "Is the writer angry?"},
        "team": {
            "type": "choice",
            "instructions": "Who takes it?",
            "criteria": {"billing": "Money matters", "tech": "Defects", "other": "Anything else"},
        },
        "risk": {
            "type": "score",
            "instructions": "Churn risk?",
            "criteria": ["none", "some", "high"],
        },
    },
}
RESPONSE = {
    "model": "jev-1.13.0",
    "answers": {
        "angry": {"type": "noul", "noul": 0.93},
        "team": {
            "type": "choice",
            "choice": "billing",
            "confidence": 0.94,
            "probabilities": {"billing": 0.96, "tech": 0.01, "other": 0.03},
        },
        "risk": {
            "type": "score",
            "score": 1.7,
            "confidence": 0.55,
            "legend": {"0": "none", "1": "some", "2": "high"},
            "probabilities": {"0": 0.05, "1": 0.2, "2": 0.75},
        },
    },
    "usage": {"input_tokens": 187, "output_tokens": 0},
}
YES = Ask("s", {"q": Predicate("Is it so?")})
TEAM = Ask("s", {"q": Choice("Which?", ["a", "b"])})
MOOD = Ask("s", {"q": Score("How?", ["low", "mid", "high"])})
SURE = {"q": {"type": "noul", "noul": 0.9}}


def body(**said: Any) -> bytes:
    """A response of one answer, or whatever is said."""
    return json.dumps({"answers": SURE, "model": "m", **said}).encode()


def answered(ask: Ask, answer: Any) -> RawAnswer:
    """What one answer is read as."""
    answers = systemone.decode(ask, body(answers={"q": answer})).answers
    assert isinstance(answers, Mapping)
    return answers["q"]


# --- what we send ------------------------------------------------------------------------


def test_a_request_is_written_as_the_page_shows() -> None:
    assert json.loads(systemone.encode(REFUND, "jev-1.13.0")) == REQUEST


def test_an_empty_model_is_left_out_and_a_vendors_own_fields_stand_beside() -> None:
    """Portkey takes no model (§6); OpenRouter takes `provider` and `user` (§5)."""
    extra = {"provider": {"only": ["typesafe"]}, "user": "u"}

    written = json.loads(systemone.encode(YES, "", extra))

    assert written == {
        "state": "s",
        "questions": {"q": {"type": "noul", "instructions": "Is it so?"}},
        **extra,
    }


@pytest.mark.parametrize(
    ("state", "sent"),
    [
        ("text", "text"),
        ('{"a":1}', '{"a":1}'),  # a text is a text, whatever it looks like
        ({"b": [1], "a": "é"}, {"a": "é", "b": [1]}),
        ([{"role": "user", "content": "hi"}], [{"role": "user", "content": "hi"}]),
        (7, "7"),
        (None, "null"),
        (True, "true"),
    ],
)
def test_a_state_is_sent_as_the_json_that_it_is(state: Any, sent: Any) -> None:
    """§4.1: string, object or array; nothing else."""
    assert json.loads(systemone.encode(Ask(state, YES.questions), "m"))["state"] == sent


@pytest.mark.parametrize(
    ("question", "written"),
    [
        (
            Predicate("Confirmed?", true="they say yes", false="anything else"),
            {
                "instructions": "Confirmed?",
                "criteria": {"true": "they say yes", "false": "anything else"},
            },
        ),
        (Predicate("Confirmed?", true="yes"), {"instructions": "Confirmed?\ntrue: yes"}),
        (Predicate("Confirmed?", false="no"), {"instructions": "Confirmed?\nfalse: no"}),
    ],
)
def test_a_predicates_meanings_are_criteria_both_or_none(
    question: Predicate, written: dict[str, Any]
) -> None:
    """OpenRouter takes no single one (§5), so that it stands in the instructions."""
    sent = json.loads(systemone.encode(Ask("s", {"q": question}), "m"))["questions"]["q"]

    assert sent == {"type": "noul", **written}


def test_a_level_is_one_text_and_an_option_without_a_description_is_null() -> None:
    ask = Ask(
        "s", {"n": Score("?", {"low": "", "high": "now"}), "c": Choice("?", {"a": "", "b": "x"})}
    )

    sent = json.loads(systemone.encode(ask, "m"))["questions"]

    assert sent["n"]["criteria"] == ["low", "high: now"]
    assert sent["c"]["criteria"] == {"a": None, "b": "x"}


# --- what comes back ---------------------------------------------------------------------


def test_a_response_is_read_as_the_page_shows() -> None:
    reply = systemone.decode(REFUND, json.dumps(RESPONSE).encode())

    assert reply == Reply(
        {
            "angry": Held(0.93),
            "team": Chosen("billing", {"billing": 0.96, "tech": 0.01, "other": 0.03}, 0.94),
            "risk": Scored(1.7, [0.05, 0.2, 0.75], 0.55),
        },
        "jev-1.13.0",
        Usage(187, 0),
    )
    assert accept(REFUND, reply, Gate(0.5)).accepted


def test_two_decimals_are_rounded_one_by_one() -> None:
    """§4.2: sums of 0.99, and a score that differs from its mean by 0.01, are sound."""
    spread = {"billing": 0.33, "tech": 0.33, "other": 0.33}
    team = {"type": "choice", "choice": "billing", "confidence": 0.0, "probabilities": spread}
    risk = {
        "type": "score",
        "score": 1.71,
        "confidence": 0.5,
        "probabilities": {"1": 0.29, "2": 0.7},
    }
    answers = {**RESPONSE["answers"], "team": team, "risk": risk}  # type: ignore[dict-item]

    reply = systemone.decode(REFUND, body(answers=answers))

    assert accept(REFUND, reply, Gate(0.0)).reason is Reason.OK


UNREADABLE: Mapping[str, tuple[Ask, bytes, Reason]] = {
    "nothing": (YES, b"", Reason.MALFORMED),
    "no JSON": (YES, b"<html>", Reason.MALFORMED),
    "cut off": (YES, body()[:-5], Reason.MALFORMED),
    "no UTF-8": (YES, b'{"model":"\xff","answers":{}}', Reason.MALFORMED),
    "a list": (YES, b"[]", Reason.MALFORMED),
    "no answers": (YES, b"{}", Reason.MALFORMED),
    "answers by position": (YES, body(answers=[]), Reason.MALFORMED),
    "an answer missing": (YES, body(answers={}), Reason.INCOMPLETE),
    "one too many": (YES, body(answers={**SURE, "x": SURE["q"]}), Reason.MISMATCHED),
    "another's": (YES, body(answers={"x": SURE["q"]}), Reason.MISMATCHED),
    "an id twice": (
        YES,
        b'{"answers":{"q":{"type":"noul","noul":0.1},"q":{"type":"noul","noul":0.9}}}',
        Reason.MISMATCHED,
    ),
    "an id twice, one of them spoilt": (
        YES,
        b'{"answers":{"q":{"type":"noul","noul":NaN},"q":{"type":"noul","noul":0.9}}}',
        Reason.MISMATCHED,
    ),
    "an unknown type": (YES, body(answers={"q": {"type": "essay"}}), Reason.MALFORMED),
    "a box": (
        YES,
        body(answers={"q": {"type": "box", "box": {}, "confidence": None}}),
        Reason.MALFORMED,
    ),
    "no type": (YES, body(answers={"q": {"noul": 0.9}}), Reason.MALFORMED),
    "the type of another": (TEAM, body(), Reason.WRONG_TYPE),
    "a probability as text": (
        YES,
        body(answers={"q": {"type": "noul", "noul": "0.9"}}),
        Reason.MALFORMED,
    ),
    "above one": (YES, body(answers={"q": {"type": "noul", "noul": 1.01}}), Reason.INVALID_NUMBER),
    "NaN": (YES, b'{"answers":{"q":{"type":"noul","noul":NaN}}}', Reason.INVALID_NUMBER),
    "Infinity": (YES, b'{"answers":{"q":{"type":"noul","noul":-Infinity}}}', Reason.INVALID_NUMBER),
    "NaN where no answer is": (YES, b'{"answers":7,"x":NaN}', Reason.INVALID_NUMBER),
    "NaN in a text": (YES, b'{"answers":{"q":{"type":"NaN"}}}', Reason.MALFORMED),
    "an error in a success": (YES, body(error={"message": "no"}), Reason.PROVIDER_ERROR),
    "a detail in a success": (YES, body(detail="no"), Reason.PROVIDER_ERROR),
    "an error alone": (YES, b'{"error":"no"}', Reason.PROVIDER_ERROR),
    "a detail alone": (YES, b'{"detail":[{"loc":[],"msg":"no"}]}', Reason.PROVIDER_ERROR),
    "an option twice": (
        TEAM,
        (
            b'{"answers":{"q":{"type":"choice","choice":"a","confidence":1,'
            b'"probabilities":{"a":0.5,"a":0.5}}}}'
        ),
        Reason.INCONSISTENT,
    ),
    "a level twice": (
        MOOD,
        b'{"answers":{"q":{"type":"score","score":1,"probabilities":{"1":1,"1":1}}}}',
        Reason.INCONSISTENT,
    ),
    **{
        f"a level {level!r}": (
            MOOD,
            body(answers={"q": {"type": "score", "score": 1, "probabilities": {level: 1}}}),
            Reason.UNDECLARED_OPTION,
        )
        for level in ("3", "-1", "01", "1.0", "low", "", "²", "9" * 5000)
    },
    "levels turned round": (
        MOOD,
        body(
            answers={
                "q": {
                    "type": "score",
                    "score": 1.7,
                    "legend": {"0": "high", "1": "mid", "2": "low"},
                    "probabilities": {"1": 0.3, "2": 0.7},
                }
            }
        ),
        Reason.INCONSISTENT,
    ),
    "nested without end": (YES, b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}", Reason.MALFORMED),
    "never closed": (YES, b'{"x":' + b"[" * 50_000, Reason.MALFORMED),
}


@pytest.mark.parametrize(("ask", "content", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_has_one_reason(ask: Ask, content: bytes, reason: Reason) -> None:
    """And its text stays behind: it may repeat what was sent."""
    try:
        reply = systemone.decode(ask, content)
    except NoAnswer as fault:
        found, cause = fault.reason, fault.__cause__
    else:
        found, cause = accept(ask, reply, Gate(0.0)).reason, None

    assert (found, cause) == (reason, None)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (b'{"type":"box"}', Reason.MALFORMED),
        (b'{"type":"noul","noul":NaN}', Reason.INVALID_NUMBER),
        (b'{"type":"score","score":1,"probabilities":{"9":1}}', Reason.UNDECLARED_OPTION),
        (b"7", Reason.MALFORMED),
        (b"null", Reason.MALFORMED),
    ],
)
def test_an_answer_that_cannot_be_read_leaves_the_others_and_the_bill(
    wrong: bytes, reason: Reason
) -> None:
    """In a call that several points share, it is the fault of one of them."""
    ask = Ask("s", {"a": Predicate("?"), "b": MOOD.questions["q"], "c": Predicate("?")})
    content = (
        b'{"answers":{"a":{"type":"noul","noul":0.1},"b":' + wrong + b',"c":'
        b'{"type":"noul","noul":0.9}},"usage":{"input_tokens":3,"output_tokens":0}}'
    )

    reply = systemone.decode(ask, content)

    assert reply.answers == {"a": Held(0.1), "b": Unread(reason), "c": Held(0.9)}
    assert reply.usage == Usage(3, 0)


@pytest.mark.parametrize("confidence", [{"confidence": 0}, {"confidence": None}, {}])
@pytest.mark.parametrize("spread", [{}, {"probabilities": {}}, {"probabilities": None}])
def test_a_zero_without_a_distribution_says_that_there_is_no_confidence(
    confidence: dict[str, Any], spread: dict[str, Any]
) -> None:
    """§2.4: Vercel's sentinel, where a language model stood in; §5: OpenRouter leaves it out."""
    choice = {"type": "choice", "choice": "a", **confidence, **spread}
    score = {"type": "score", "score": 1, **confidence, **spread}

    assert answered(TEAM, choice) == Chosen("a")
    assert answered(MOOD, score) == Scored(1.0)
    reply = systemone.decode(TEAM, body(answers={"q": choice}))
    assert accept(TEAM, reply, Gate(0.7)).reason is Reason.CONFIDENCE_MISSING


def test_a_legend_that_is_not_what_was_sent_is_no_fault() -> None:
    """LiteLLM joins label and description in its own way (§8)."""
    answer = {
        "type": "score",
        "score": 2,
        "confidence": 1,
        "legend": {"0": "low - x", "1": {"text": "mid"}},
        "probabilities": {"2": 1},
    }

    assert answered(MOOD, answer) == Scored(2.0, [0.0, 0.0, 1.0], 1.0)


@pytest.mark.parametrize(
    ("said", "usage", "request_id"),
    [
        (
            {"usage": {"input_tokens": 3, "output_tokens": 1, "cost": 0.5}, "id": "gen-dec-1"},
            Usage(3, 1, 0.5),
            "gen-dec-1",
        ),
        (
            {
                "usage": {"input_tokens": 3, "output_tokens": 1},
                "provider_metadata": {"gateway": {"cost": "0.0000089", "marketCost": "1"}},
            },
            Usage(3, 1, 0.0000089),
            None,
        ),
        ({"usage": {"input_tokens": None}}, Usage(), None),
        ({"usage": None}, None, None),
        ({"provider_metadata": {"gateway": {"cost": "0.5"}}}, Usage(cost_usd=0.5), None),
        ({"usage": {"input_tokens": 3, "cost": -1}}, Usage(3), None),
    ],
)
def test_tokens_money_and_the_id_are_read_where_each_vendor_puts_them(
    said: dict[str, Any], usage: Usage | None, request_id: str | None
) -> None:
    """§5: OpenRouter's number and id; §2.7: Vercel's decimal string."""
    reply = systemone.decode(YES, body(**said))

    assert (reply.usage, reply.request_id) == (usage, request_id)
    with pytest.raises(NoAnswer) as caught:
        systemone.decode(YES, body(**{**said, "answers": 7}))
    assert caught.value.reply == Reply((), "m", usage, request_id)


# --- Cloudflare's envelope ---------------------------------------------------------------


def test_a_success_is_taken_out_of_its_envelope() -> None:
    """§7: `result` holds the dialect's body."""
    wrapped = json.dumps({"result": RESPONSE, "success": True, "errors": [], "messages": []})

    assert json.loads(unwrapped(wrapped.encode())) == RESPONSE
    assert unwrapped(body()) == body()


def test_a_literal_nan_in_an_envelope_spoils_only_its_answer() -> None:
    wrapped = (
        b'{"result":{"answers":{"a":{"type":"noul","noul":NaN},"b":{"type":"noul","noul":1}}},'
        b'"success":true}'
    )
    ask = Ask("s", {"a": Predicate("?"), "b": Predicate("?")})

    reply = systemone.decode(ask, unwrapped(wrapped))

    assert reply.answers == {"a": Unread(Reason.INVALID_NUMBER), "b": Held(1.0)}


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ([{"code": 4006, "message": "secret"}], Reason.PAYMENT),
        ([{"code": 10000}], Reason.AUTH),
        ([{"code": 5012}], Reason.PROVIDER_ERROR),
        ([], Reason.PROVIDER_ERROR),
    ],
)
def test_an_envelope_that_says_no_is_a_failure_with_a_status_of_success(
    errors: Any, reason: Reason
) -> None:
    with pytest.raises(NoAnswer) as caught:
        unwrapped(json.dumps({"result": None, "success": False, "errors": errors}).encode())

    assert caught.value.reason is reason


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"success":true}', b"{"])
def test_what_is_no_envelope_is_left_to_the_dialect(content: bytes) -> None:
    with pytest.raises(NoAnswer) as caught:
        systemone.decode(YES, unwrapped(content))

    assert caught.value.reason is Reason.MALFORMED


# --- what our server reads ---------------------------------------------------------------


def request(question: Any = None, **said: Any) -> bytes:
    """A request of one question, or whatever is said."""
    given = {"type": "noul", "instructions": "Is it so?"} if question is None else question
    return json.dumps({"model": "m", "state": "s", "questions": {"q": given}, **said}).encode()


def asked(question: Any) -> Any:
    """What one question is read as."""
    return systemone.decode_request(request(question)).questions["q"]


def test_a_request_is_read_back() -> None:
    read = systemone.decode_request(json.dumps(REQUEST).encode())

    assert (read.ask, read.model, read.subject) == (REFUND, "jev-1.13.0", None)
    assert systemone.decode_request(request(user="u_1")).subject == "u_1"
    assert systemone.decode_request(request(assets={}, images=None)).state == "s"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (
            {"type": "noul", "instructions": "Ok?", "criteria": {"true": "yes"}},
            Predicate("Ok?", true="yes"),
        ),
        (
            {"type": "noul", "criteria": {"true": "it is spam", "false": None}},
            Predicate("Is it so?", true="it is spam"),
        ),
        (
            {"type": "noul", "instructions": {"task": "spam"}, "criteria": None},
            Predicate('{"task":"spam"}'),
        ),
        (
            {"type": "choice", "criteria": {"a": None, "b": "text", "c": ["x", 1]}},
            Choice("Which of these holds?", {"a": "", "b": "text", "c": '["x",1]'}),
        ),
        (
            {"type": "score", "instructions": "How?", "criteria": ["low", "high: now", {"x": 1}]},
            Score("How?", {"low": "", "high": "now", '{"x":1}': ""}),
        ),
        (
            {"type": "score", "criteria": ["Severity: low", "Severity: high"]},
            Score("Which of these levels holds?", ["Severity: low", "Severity: high"]),
        ),
    ],
)
def test_questions_are_read_with_or_without_instructions(given: Any, read: Any) -> None:
    """§4.1: instructions are optional, and all texts may be JSON."""
    assert asked(given) == read


def test_an_empty_map_leaves_the_questions_to_the_point() -> None:
    read = systemone.decode_request(request(questions={}))

    assert read.about(REFUND.questions).ask == Ask("s", REFUND.questions)


def test_a_blank_id_is_echoed_as_it_is() -> None:
    read = systemone.decode_request(request(questions={" ": {"type": "noul", "instructions": "?"}}))

    written = systemone.encode_reply(read, {"0": Held(1.0)}, model="m")

    assert json.loads(written)["answers"] == {" ": {"type": "noul", "noul": 1.0}}


BAD: Mapping[str, tuple[bytes, str | None]] = {
    "nothing": (b"", None),
    "no JSON": (b"secret", None),
    "NaN": (b'{"state":NaN,"questions":{}}', None),
    "nested without end": (b'{"state":' + b"[" * 50_000, None),
    "a list": (b"[]", None),
    "no state": (b'{"questions":{}}', None),
    "no questions": (b'{"state":"s"}', None),
    "a state that is a number": (request(state=7), "state"),
    "a state that is null": (request(state=None), "state"),
    "an image in the state": (
        request(state=["x", {"type": "image_url", "image_url": {"url": "secret"}}]),
        "state[1]",
    ),
    "assets": (request(assets={"secret": {"type": "image"}}), "assets"),
    "images": (request(images=["secret"]), "images"),
    "audio": (request(audio=["secret"]), "audio"),
    "videos": (request(videos=["secret"]), "videos"),
    "questions as a list": (request(questions=[]), "questions"),
    "an id twice": (
        (
            b'{"state":"s","questions":{"secret":{"type":"noul","instructions":"a"},'
            b'"secret":{"type":"noul","instructions":"b"}}}'
        ),
        "questions",
    ),
    "a box": (request({"type": "box", "instructions": "secret"}), "questions[0].type"),
    "an unknown type": (request({"type": "secret"}), "questions[0].type"),
    "neither instructions nor criteria": (request({"type": "noul"}), "questions[0]"),
    "criteria that say nothing": (request({"type": "noul", "criteria": {}}), "questions[0]"),
    "a choice without criteria": (request({"type": "choice"}), "questions[0]"),
    "an option twice": (
        b'{"state":"s","questions":{"q":{"type":"choice","criteria":{"secret":"a","secret":"b"}}}}',
        "questions[0].criteria",
    ),
    "the second of two": (
        request(questions={"a": {"type": "noul", "instructions": "?"}, "secret": {"type": "noul"}}),
        "questions[1]",
    ),
    "of the second of two": (
        request(
            questions={
                "a": {"type": "noul", "instructions": "?"},
                "secret": {"type": "score", "criteria": ["a", 7]},
            }
        ),
        "questions[1].criteria[1]",
    ),
    "one option": (
        request({"type": "choice", "criteria": {"secret": "x"}}),
        "questions[0].criteria",
    ),
    "no level": (request({"type": "score", "criteria": []}), "questions[0].criteria"),
    "one level": (request({"type": "score", "criteria": ["secret"]}), "questions[0].criteria"),
    "a blank level": (request({"type": "score", "criteria": ["secret", " "]}), "questions[0]"),
    "blank instructions": (request({"type": "noul", "instructions": " "}), "questions[0]"),
    "257 options": (
        request({"type": "choice", "criteria": {f"{at}": None for at in range(257)}}),
        "questions[0].criteria",
    ),
    "a level twice": (
        request({"type": "score", "criteria": ["secret", "secret"]}),
        "questions[0].criteria",
    ),
    "eleven levels": (
        request({"type": "score", "criteria": [f"{at}" for at in range(11)]}),
        "questions[0].criteria",
    ),
}


@pytest.mark.parametrize(("content", "param"), BAD.values(), ids=BAD)
def test_a_bad_request_is_told_by_its_place_and_never_by_its_content(
    content: bytes, param: str | None
) -> None:
    """Ids are the client's own words too: a place is named by position."""
    with pytest.raises(BadRequest) as caught:
        systemone.decode_request(content)

    assert caught.value.param == param
    assert "secret" not in str(caught.value)
    assert caught.value.problem


def test_a_box_is_told_as_what_it_is() -> None:
    with pytest.raises(BadRequest, match="choice, noul or score"):
        asked({"type": "box", "instructions": "the mug"})


# --- what our server writes --------------------------------------------------------------


def test_a_reply_is_written_as_clients_require_it() -> None:
    """§4.2; a refusal and a bare truth are no answers; money stands where Vercel puts it (§2.7)."""
    added = {name: Predicate("?") for name in ("no", "late", "said")}
    questions: dict[str, Question] = {**REFUND.questions, **added}
    answers: dict[str, RawAnswer] = {
        "angry": Held(0.93),
        "team": Chosen("billing", None, None),
        "risk": Scored(1.7, [0.05, 0.2, 0.75], 0.55),
        "no": Refused(),
        "said": Stated(holds=True),
    }
    extra = {"provider_metadata": {"pointsman": {"reason": "ok"}}}

    written = systemone.encode_reply(
        Asked("s", questions), answers, model="jev", usage=Usage(5, 2, 0.5), extra=extra
    )

    assert json.loads(written) == {
        "model": "jev",
        "answers": {
            "angry": {"type": "noul", "noul": 0.93},
            "team": {"type": "choice", "choice": "billing", "confidence": 0, "probabilities": {}},
            "risk": RESPONSE["answers"]["risk"],  # type: ignore[index]
        },
        "usage": {"input_tokens": 5, "output_tokens": 2},
        "provider_metadata": {"pointsman": {"reason": "ok"}, "gateway": {"cost": "0.5"}},
    }


def test_a_legend_repeats_the_criteria_that_were_sent() -> None:
    criteria = ["low", "high: now"]
    read = systemone.decode_request(request({"type": "score", "criteria": criteria}))

    written = systemone.encode_reply(read, {"q": Scored(1.0, [0.0, 1.0], 1.0)}, model="m")

    assert json.loads(written)["answers"]["q"]["legend"] == {"0": "low", "1": "high: now"}
