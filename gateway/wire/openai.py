"""
The OpenAI Decisions dialect, in both directions.

`POST …/v1/decisions` at OpenAI, Vercel AI Gateway and LiteLLM. Questions and answers are
arrays; answers are matched by position and their names are echoed. A predicate has no slot
for what true and false mean, so its meanings are two further lines of its instructions.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..answers import Chosen, Held, RawAnswer, Refused, Reply, Scored, Unread, Usage
from ..errors import NoAnswer, Reason
from ..questions import Ask, Choice, Predicate, Question, Score
from .openai_types import (
    NO_ERROR,
    AnswerChoice,
    AnswerPredicate,
    AnswerRefusal,
    AnswerScore,
    Bill,
    Described,
    Failed,
    Gatewayed,
    Labelled,
    LevelProbability,
    Loose,
    Metadata,
    Named,
    OptionProbability,
    Request,
    Response,
    WireAnswer,
    WireChoice,
    WirePredicate,
    WireQuestion,
    WireScore,
    WireUsage,
)

_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
MARK = "not-a-finite-number"  # a text where a number should stand
_encoder = msgspec.json.Encoder()
_request = msgspec.json.Decoder(Request)
_response = msgspec.json.Decoder(Response)
_loose = msgspec.json.Decoder(Loose)
_answer = msgspec.json.Decoder(WireAnswer)
_named = msgspec.json.Decoder(Named)
_failed = msgspec.json.Decoder(Failed)
_bill = msgspec.json.Decoder(Bill)


def encode(ask: Ask, model: str, options: Mapping[str, Any] | None = None) -> bytes:
    """Write the request's body for *ask*."""
    questions = [_question(name, question) for name, question in ask.questions.items()]
    return _encoder.encode(Request(model, ask.text, questions, options or {}))


def decode_request(body: bytes) -> tuple[Ask, str]:
    """
    Read a request's body: the ask, and the model it names.

    Unnamed questions are called `0`, `1`, … by their positions. A predicate's meanings are
    taken out of its instructions again.

    Raises:
        msgspec.ValidationError: It is not of the dialect.
        DeclarationError: A question contradicts itself.

    """
    request = _request.decode(body)
    named = {one.name or str(at): _asked(one) for at, one in enumerate(request.questions)}
    if len(named) < len(request.questions):
        raise msgspec.ValidationError("two questions have one name")
    return Ask(request.input, named), request.model


def encode_reply(ask: Ask, reply: Reply) -> bytes:
    """Write the response's body for *reply*, the answers in the order of the questions."""
    assert isinstance(reply.answers, Mapping)
    answers = [_written(ask.questions[name], name, reply.answers[name]) for name in ask.questions]
    usage = reply.usage
    counted = None if usage is None else WireUsage(usage.input_tokens, usage.output_tokens)
    metadata = None
    if usage is not None and usage.cost_usd is not None:
        metadata = Metadata(Gatewayed(f"{usage.cost_usd:.12f}".rstrip("0").rstrip(".")))
    return _encoder.encode(Response(answers, reply.model, counted, metadata))


def decode(ask: Ask, body: bytes) -> Reply:
    """
    Read a response's body as the reply to *ask*; whether to believe it is acceptance's business.

    An answer that cannot be read, that has a literal NaN, or that says two probabilities of one
    outcome, is `Unread` and leaves the others as they are.

    Raises:
        NoAnswer: `malformed`, `invalid_number` for a literal NaN elsewhere, `provider_error`
            for an error inside a success. Its `reply` holds no answer, but tokens and cost
            where the body tells.

    """
    try:
        return _decoded(ask, body)
    except NoAnswer as fault:
        raise NoAnswer(fault.reason, reply=_billed(body)) from None


def _billed(body: bytes) -> Reply | None:
    """Read what an unreadable answer cost all the same."""
    try:
        bill = _bill.decode(body)
    except _UNREADABLE:
        return None
    return Reply((), bill.model, _usage(bill))


def _decoded(ask: Ask, body: bytes) -> Reply:
    try:
        response: Response | Loose = _response.decode(body)
    except _UNREADABLE:
        response = _loosely(body)
    if response.error != NO_ERROR:
        raise NoAnswer(Reason.PROVIDER_ERROR)
    kinds = [*ask.questions.values(), *[None] * len(response.answers)]
    answers = [_entry(one, ask, kind) for one, kind in zip(response.answers, kinds, strict=False)]
    return Reply(answers, response.model, _usage(response))


def _loosely(body: bytes) -> Loose:
    """Read all but the answers, so that an unreadable one does not spoil the others."""
    with contextlib.suppress(*_UNREADABLE):
        return _loose.decode(body)
    reason = _why_unreadable(body)
    if reason is Reason.INVALID_NUMBER:
        with contextlib.suppress(*_UNREADABLE):
            return _loose.decode(_marked(body))
    raise NoAnswer(reason)


def _marked(body: bytes) -> bytes:
    """Write MARK for each literal NaN or Infinity, so that the rest can be read."""
    return json.dumps(json.loads(body, parse_constant=lambda _: MARK)).encode()


def _entry(
    given: WireAnswer | msgspec.Raw, ask: Ask, question: Question | None
) -> tuple[str | None, RawAnswer]:
    """Read the answer to the *ask*'s question of its name, else to that of its position."""
    name = None
    try:
        if isinstance(given, msgspec.Raw):
            name = _called(given)
            given = _answer.decode(given)
        name = given.name
        return name, _read(given, ask.questions.get(name or "", question))
    except _UNREADABLE:
        marked = isinstance(given, msgspec.Raw) and MARK.encode() in bytes(given)
        return name, Unread(Reason.INVALID_NUMBER if marked else Reason.MALFORMED)
    except NoAnswer as fault:
        return name, Unread(fault.reason)


def _called(answer: msgspec.Raw) -> str | None:
    try:
        return _named.decode(answer).name
    except _UNREADABLE:
        return None


def _question(name: str, question: Question) -> WireQuestion:
    if isinstance(question, Choice):
        choices = [Described(value, text) for value, text in question.options.items()]
        return WireChoice(question.instructions, choices, name)
    if isinstance(question, Score):
        levels = [Labelled(label, text) for label, text in question.levels.items()]
        return WireScore(question.instructions, levels, name)
    return WirePredicate(_with_meanings(question), name)


def _with_meanings(question: Predicate) -> str:
    meanings = [f"{word}: {text}" for word, text in _meanings(question) if text]
    return "\n".join([question.instructions, *meanings])


def _meanings(question: Predicate) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("true", question.true), ("false", question.false)


def _asked(question: WireQuestion) -> Question:
    if isinstance(question, WireChoice):
        options = [(one.value, one.description) for one in question.choices]
        if len(dict(options)) < len(options):
            raise msgspec.ValidationError("two choices have one value")
        return Choice(question.instructions, dict(options))
    if isinstance(question, WireScore):
        return Score(question.instructions, {one.label: one.description for one in question.levels})
    return Predicate(question.instructions)  # which takes meanings out of it


def _read(answer: WireAnswer, question: Question | None) -> RawAnswer:
    if isinstance(answer, AnswerChoice):
        return Chosen(answer.choice, _by_option(answer.probabilities), answer.confidence)
    if isinstance(answer, AnswerScore):
        levels = len(question.levels) if isinstance(question, Score) else 0
        return Scored(answer.score, _by_level(answer.probabilities, levels), answer.confidence)
    return Held(answer.probability) if isinstance(answer, AnswerPredicate) else Refused()


def _by_option(given: Sequence[OptionProbability] | None) -> dict[str, float] | None:
    if given is None:
        return None
    named = {one.value: one.probability for one in given}
    if len(named) < len(given):
        raise NoAnswer(Reason.INCONSISTENT)
    return named


def _by_level(given: Sequence[LevelProbability] | None, levels: int) -> list[float] | None:
    """Order by level; one left out counts as 0, as for options."""
    if given is None or levels == 0:
        return None
    named = {one.value: one.probability for one in given}
    if len(named) < len(given):
        raise NoAnswer(Reason.INCONSISTENT)
    if any(not 0 <= level < levels for level in named):
        raise NoAnswer(Reason.UNDECLARED_OPTION)
    return [named.get(level, 0.0) for level in range(levels)]


def _written(question: Question, name: str, answer: RawAnswer) -> WireAnswer:
    if isinstance(answer, Chosen):
        given = answer.probabilities
        spread = None if given is None else [OptionProbability(k, p) for k, p in given.items()]
        return AnswerChoice(answer.option, name, answer.confidence, spread)
    if isinstance(answer, Scored):
        labels = list(question.levels) if isinstance(question, Score) else []
        pairs = enumerate(zip(labels, answer.probabilities or (), strict=False))
        levels = [LevelProbability(at, p, label) for at, (label, p) in pairs]
        return AnswerScore(answer.score, name, answer.confidence, levels or None)
    return (
        AnswerPredicate(answer.probability, name)
        if isinstance(answer, Held)
        else AnswerRefusal(name)
    )


def _usage(response: Response | Loose | Bill) -> Usage | None:
    counted = response.usage
    if counted is None:
        return None
    return Usage(counted.input_tokens, counted.output_tokens, _cost(response.provider_metadata))


def _cost(metadata: Metadata | None) -> float | None:
    if metadata is None or metadata.gateway is None or metadata.gateway.cost is None:
        return None
    try:
        cost = float(metadata.gateway.cost)
    except ValueError:
        return None
    return cost if 0.0 <= cost < math.inf else None


def _why_unreadable(body: bytes) -> Reason:
    """Tell an error, and a literal NaN or Infinity, from other unreadable bodies."""
    with contextlib.suppress(*_UNREADABLE):
        if _failed.decode(body).error != NO_ERROR:
            return Reason.PROVIDER_ERROR
    literals: list[str] = []
    try:
        json.loads(body, parse_constant=literals.append)
    except (ValueError, RecursionError):
        return Reason.MALFORMED
    return Reason.INVALID_NUMBER if literals else Reason.MALFORMED
