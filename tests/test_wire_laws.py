"""What holds for both dialects whatever is asked or sent: round trips, and a closed list."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import Ask, Choice, Chosen, Held, NoAnswer, Predicate, Reason, Refused, Score, Scored
from pointsman.gateway.acceptance import accept
from pointsman.gateway.answers import RawAnswer, Reply, Stated, Usage
from pointsman.gateway.confidence import choice_confidence, score_confidence
from pointsman.gateway.gates import Gate
from pointsman.gateway.questions import Question
from pointsman.gateway.wire import openai, systemone
from pointsman.gateway.wire.envelope import unwrapped
from pointsman.gateway.wire.requests import Asked, BadRequest


class Dialect(NamedTuple):
    """The four functions that both modules offer."""

    encode: Callable[..., bytes]
    decode: Callable[[Ask, bytes], Reply]
    decode_request: Callable[[bytes], Asked]
    encode_reply: Callable[..., bytes]


FOUR = Dialect._fields
OPENAI = Dialect(*(getattr(openai, name) for name in FOUR))
SYSTEMONE = Dialect(*(getattr(systemone, name) for name in FOUR))
both = pytest.mark.parametrize("dialect", [OPENAI, SYSTEMONE], ids=["openai", "systemone"])

words = st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
labels = words.filter(lambda text: ": " not in text and not text.endswith(":"))
descriptions = st.text(max_size=12).map(lambda text: text if text.strip() else "")
menu = st.dictionaries(words, descriptions, min_size=2, max_size=10)
meanings = st.text(max_size=12)
predicates = st.builds(Predicate, words, meanings, meanings)
choices = st.builds(Choice, words, menu)
scores = st.builds(Score, words, st.dictionaries(labels, descriptions, min_size=2, max_size=10))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
asks = st.builds(
    Ask,
    st.text() | json_values,
    st.dictionaries(words, predicates | choices | scores, min_size=1, max_size=4),
)
chances = st.floats(0, 1)
counts = st.integers(0, 10**9)


@st.composite
def asked_and_answered(draw: st.DrawFn) -> tuple[Ask, dict[str, RawAnswer]]:
    """An ask with an answer of the right kind, or a refusal, to each question."""
    ask = draw(asks)
    return ask, {name: draw(_answers(question)) for name, question in ask.questions.items()}


def _answers(question: Question) -> st.SearchStrategy[RawAnswer]:
    if isinstance(question, Predicate):
        return st.builds(Held, chances) | st.builds(Stated, st.booleans()) | st.just(Refused())
    confidences = st.none() | chances
    if isinstance(question, Choice):
        one = st.sampled_from(list(question.options))
        spreads = st.none() | st.dictionaries(one, chances)
        return st.builds(Chosen, one, spreads, confidences) | st.just(Refused())
    top = len(question.levels) - 1
    levels = st.none() | st.lists(chances, min_size=top + 1, max_size=top + 1)
    return st.builds(Scored, st.floats(0, top), levels, confidences) | st.just(Refused())


def told(question: Question, answer: RawAnswer) -> RawAnswer:
    """What is left of an answer once it is written: all options (§9), no bare truth; §12."""
    if isinstance(answer, Stated):
        return Refused()
    if not isinstance(answer, Chosen | Scored):
        return answer
    if not answer.probabilities:  # a zero without a distribution is none (§2.4)
        return msgspec.structs.replace(
            answer, probabilities=None, confidence=answer.confidence or None
        )
    if isinstance(answer, Chosen):
        assert isinstance(question, Choice)
        spread = {one: (answer.probabilities or {}).get(one, 0.0) for one in question.options}
        answer = msgspec.structs.replace(answer, probabilities=spread)
    if answer.confidence is not None:
        return answer
    return msgspec.structs.replace(answer, confidence=min(1.0, formula(question, answer)))


def formula(question: Question, answer: Chosen | Scored) -> float:
    if isinstance(answer, Scored):
        return score_confidence(list(answer.probabilities or ()))
    assert isinstance(question, Choice)
    top = (answer.probabilities or {}).get(answer.option, 0.0)
    return choice_confidence(top, len(question.options))


def served(ask: Ask) -> Asked:
    return Asked(ask.state, ask.questions, names=tuple(ask.questions))


def named(reply: Reply) -> dict[str, RawAnswer]:
    given = reply.answers
    return dict(given) if isinstance(given, Mapping) else {str(name): raw for name, raw in given}


@both
@given(ask=asks, model=st.text())
@settings(derandomize=True, deadline=None)
def test_a_request_comes_back_as_it_went(dialect: Dialect, ask: Ask, model: str) -> None:
    """encode ∘ decode is identity: for bytes, for questions, and for the state as it is shown."""
    written = dialect.encode(ask, model)

    asked = dialect.decode_request(written)

    assert asked.ask.text == ask.text
    assert (asked.ask.questions, asked.model) == (ask.questions, model)
    assert asked.names == tuple(ask.questions)
    assert dialect.encode(asked.ask, asked.model) == written


@both
@given(ask=asks, extra=st.dictionaries(st.sampled_from(["user", "provider", "x"]), json_values))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_what_stands_beside_changes_nothing_else(
    dialect: Dialect, ask: Ask, extra: dict[str, Any]
) -> None:
    alone, beside = (json.loads(dialect.encode(ask, "m", one)) for one in (None, extra))

    assert beside == {**alone, **extra}


@both
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
    dialect: Dialect, instructions: str, true: str, false: str
) -> None:
    """Meanings in the last lines of the instructions are taken out at birth: one form each."""
    ask = Ask("s", {"q": Predicate(instructions, true, false)})

    written = dialect.encode(ask, "m")
    asked = dialect.decode_request(written)

    assert asked.ask == ask
    assert dialect.encode(asked.ask, asked.model) == written
    kept = "".join(str(json.loads(written)["questions"]).split())
    question = asked.questions["q"]
    assert isinstance(question, Predicate)
    for text in (question.true, question.false):
        assert "".join(repr(text)[1:-1].split()) in kept


def test_meanings_are_one_line_and_may_stand_in_the_instructions() -> None:
    assert Predicate("q", "they\n  say so") == Predicate("q", "they say so")
    assert Predicate("q\nfalse: b\ntrue: a") == Predicate("q", "a", "b")
    assert Predicate("q\ntrue: a", "b").instructions == "q\ntrue: a"
    assert Predicate("true: a").instructions == "true: a"


@given(
    levels=st.lists(st.text("ab: ", min_size=1, max_size=6), min_size=2, unique=True, max_size=4)
)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_levels_keep_every_word_however_label_and_description_are_told_apart(
    levels: list[str],
) -> None:
    """TypeSafe takes one text for both: what it was sent is what comes back, at each pass."""
    question = {"type": "score", "instructions": "?", "criteria": levels}
    body = json.dumps({"state": "s", "questions": {"q": question}}).encode()
    try:
        asked = systemone.decode_request(body)
    except BadRequest:
        assert any(not level.strip() for level in levels)
        return

    assert json.loads(systemone.encode(asked.ask, ""))["questions"]["q"] == question


@both
@given(
    pair=asked_and_answered(),
    model=st.text(max_size=9),
    usage=st.none()
    | st.builds(Usage, counts, counts, st.none() | counts.map(lambda units: units / 1e9)),
)
@settings(derandomize=True, deadline=None)
def test_a_reply_comes_back_as_it_went(
    dialect: Dialect, pair: tuple[Ask, dict[str, RawAnswer]], model: str, usage: Usage | None
) -> None:
    """The same answers, but that TypeSafe's dialect has no word for a refusal."""
    ask, answers = pair
    expected = {name: told(ask.questions[name], answer) for name, answer in answers.items()}
    if dialect is SYSTEMONE:
        expected = {name: one for name, one in expected.items() if not isinstance(one, Refused)}

    written = dialect.encode_reply(served(ask), answers, model=model, usage=usage)
    read = dialect.decode(ask, written)

    assert named(read) == expected
    assert (read.model, read.usage) == (model, usage or Usage())
    again = dialect.encode_reply(served(ask), named(read), model=model, usage=usage)
    assert again == written


@both
@given(pair=asked_and_answered())
@settings(derandomize=True, deadline=None, max_examples=50)
def test_a_written_reply_says_a_number_wherever_clients_require_one(
    dialect: Dialect, pair: tuple[Ask, dict[str, RawAnswer]]
) -> None:
    """openai-python and typesafe-sdk: `confidence` and `probabilities` are never absent."""
    ask, answers = pair

    said = json.loads(dialect.encode_reply(served(ask), answers, model="m"))["answers"]

    for one in said if isinstance(said, list) else said.values():
        if one["type"] in ("choice", "score"):
            assert 0 <= one["confidence"] <= 1
            assert isinstance(one["probabilities"], list | dict)


# --- the clients' own types --------------------------------------------------------------


@given(pair=asked_and_answered())
@settings(derandomize=True, deadline=None, max_examples=30)
def test_openai_python_takes_every_reply_by_its_own_types(
    pair: tuple[Ask, dict[str, RawAnswer]],
) -> None:
    """Validated strictly, which the client itself does not even do."""
    types = pytest.importorskip("openai.types", reason="openai-python is not installed")
    ask, answers = pair

    read = types.Decision.model_validate_json(
        openai.encode_reply(served(ask), answers, model="m", usage=Usage(1, 2)), strict=True
    )

    assert [one.name for one in read.answers] == list(ask.questions)
    assert read.usage.total_tokens == 3


@given(pair=asked_and_answered())
@settings(derandomize=True, deadline=None, max_examples=30)
def test_typesafe_sdk_takes_every_reply_by_its_own_types(
    pair: tuple[Ask, dict[str, RawAnswer]],
) -> None:
    sdk = pytest.importorskip("typesafe_sdk", reason="typesafe-sdk is not installed")
    ask, answers = pair

    read = sdk.SystemOneResponse.model_validate_json(
        systemone.encode_reply(served(ask), answers, model="m", usage=Usage(1, 2))
    )

    given_ones = {name for name, one in answers.items() if not isinstance(one, Refused | Stated)}
    assert read.answers.keys() == given_ones
    assert (read.usage.input_tokens, read.usage.output_tokens) == (1, 2)


# --- whatever is sent --------------------------------------------------------------------

DEPLOY = Ask(
    "s",
    {
        "needs_human": Predicate("Must a person approve?"),
        "route": Choice("Which agent?", ["ops", "code", "none"]),
        "urgency": Score("How urgent?", ["low", "medium", "high"]),
    },
)
GOOD: dict[str, RawAnswer] = {
    "needs_human": Held(0.81),
    "route": Chosen("ops", {"ops": 0.9, "code": 0.04, "none": 0.06}, 0.85),
    "urgency": Scored(1.7, [0.05, 0.2, 0.75], 0.55),
}
KEYS = (
    "answers error detail model usage type name probability probabilities choice score value "
    "confidence provider_metadata gateway cost input_tokens noul legend result success errors code "
    "state input questions criteria instructions choices levels label description role content"
)
keys = st.sampled_from([*KEYS.split(), "0", "1", *DEPLOY.questions])
wild = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["predicate", "choice", "score", "refusal", "noul", "box", "ops", "1e999"])
    | st.sampled_from(
        ["input_text", "input_json", "message", "function_call", "user", "assistant"]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | st.text(max_size=4), inner),
    max_leaves=8,
)
answer = st.fixed_dictionaries(
    {"type": st.sampled_from(["predicate", "choice", "score", "refusal", "noul"])},
    optional={
        "name": st.sampled_from([*DEPLOY.questions, "x"]) | wild,
        "probability": st.floats() | wild,
        "noul": st.floats() | wild,
        "choice": st.sampled_from(["ops", "x"]) | wild,
        "score": st.floats() | wild,
        "confidence": st.floats() | wild,
        "probabilities": wild,
        "legend": wild,
    },
)
replies = st.fixed_dictionaries(
    {
        "answers": st.lists(answer, max_size=4)
        | st.dictionaries(st.sampled_from([*DEPLOY.questions, "x"]), answer)
    },
    optional={"model": wild, "usage": wild, "provider_metadata": wild},
)
question = st.fixed_dictionaries(
    {"type": st.sampled_from(["predicate", "choice", "score", "noul", "box"])},
    optional=dict.fromkeys(("name", "instructions", "choices", "levels", "criteria"), wild),
)
item = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "role", "content", "call_id", "name", "output"), wild)
)
requests = st.fixed_dictionaries(
    {
        "questions": st.lists(question, max_size=3)
        | st.dictionaries(st.text(max_size=3), question, max_size=3)
    },
    optional={
        "input": st.lists(item, max_size=3) | wild,
        "state": wild,
        "model": wild,
        "user": wild,
        "safety_identifier": wild,
    },
)


def believed(dialect: Dialect, content: bytes) -> Reason:
    """What the gateway makes of a body, from wire to verdict."""
    try:
        reply = dialect.decode(DEPLOY, unwrapped(content))
    except NoAnswer as fault:
        return fault.reason
    return accept(DEPLOY, reply, Gate(0.0)).reason


def read(dialect: Dialect, content: bytes) -> Asked | None:
    """A request, if it is one."""
    try:
        return dialect.decode_request(content)
    except BadRequest:
        return None


@both
def test_a_good_reply_is_believed(dialect: Dialect) -> None:
    content = dialect.encode_reply(served(DEPLOY), GOOD, model="m")

    assert believed(dialect, content) is Reason.OK


@both
@given(value=wild | replies)
@settings(derandomize=True, deadline=None, max_examples=120)
def test_any_json_is_a_reply_with_a_listed_reason(dialect: Dialect, value: object) -> None:
    """Python writes NaN as a literal, as broken servers do."""
    assert isinstance(believed(dialect, json.dumps(value).encode()), Reason)


@both
@given(content=st.binary())
@settings(derandomize=True, deadline=None)
def test_any_bytes_are_a_reply_with_a_listed_reason(dialect: Dialect, content: bytes) -> None:
    assert believed(dialect, content) is not Reason.OK
    assert read(dialect, content) is None


@both
@given(value=wild | requests)
@settings(derandomize=True, deadline=None, max_examples=120)
def test_any_json_is_a_request_that_can_be_sent_on_or_a_bad_one(
    dialect: Dialect, value: object
) -> None:
    asked = read(dialect, json.dumps(value).encode())

    if asked is not None and asked.questions:
        for other in (OPENAI, SYSTEMONE):
            assert other.decode_request(other.encode(asked.ask, asked.model)).questions.keys() == (
                asked.questions.keys()
            )


@both
@given(at=st.integers(0, 400), byte=st.integers(0, 255))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_one_wrong_byte_is_still_judged(dialect: Dialect, at: int, byte: int) -> None:
    for whole in (
        dialect.encode_reply(served(DEPLOY), GOOD, model="m"),
        dialect.encode(DEPLOY, "m"),
    ):
        content = bytearray(whole)
        content[at % len(content)] = byte

        assert isinstance(believed(dialect, bytes(content)), Reason)
        asked = read(dialect, bytes(content))
        assert asked is None or msgspec.json.encode(asked.model)
