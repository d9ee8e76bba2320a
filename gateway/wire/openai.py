"""
The OpenAI Decisions dialect, in both directions.

`POST …/v1/decisions` at OpenAI, Vercel AI Gateway and LiteLLM. Questions and answers are
arrays; answers are matched by position and their names are echoed. A predicate has no slot
for what true and false mean, so its meanings are two further lines of its instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..answers import Chosen, Held, RawAnswer, Refused, Reply, Scored
from ..errors import NoAnswer, Reason
from ..questions import Ask, Choice, Question, Score
from .faults import UNREADABLE
from .meanings import with_meanings
from .openai_serving import decode_request, encode_reply
from .openai_types import (
    AnswerChoice,
    AnswerPredicate,
    AnswerScore,
    Described,
    Labelled,
    LooseResponse,
    Named,
    Request,
    Response,
    WireAnswer,
    WireChoice,
    WirePredicate,
    WireQuestion,
    WireScore,
)
from .reading import by_level, entry, replied, response, sure
from .writing import joined

__all__ = ["decode", "decode_request", "encode", "encode_reply"]

_response = msgspec.json.Decoder(Response)
_loose = msgspec.json.Decoder(LooseResponse)
_answer = msgspec.json.Decoder(WireAnswer)
_named = msgspec.json.Decoder(Named)


def encode(ask: Ask, model: str, extra: Mapping[str, Any] | None = None) -> bytes:
    """
    Write the request's body for *ask*.

    Args:
        ask: State and questions.
        model: The model's id at the endpoint; an empty one is left out.
        extra: An endpoint's own fields, at the top level: `providerOptions`, `safety_identifier`.

    """
    questions = [_question(name, question) for name, question in ask.questions.items()]
    return joined(Request(ask.text, questions, model), extra)


def decode(ask: Ask, body: bytes) -> Reply:
    """
    Read a response's body as the reply to *ask*; whether to believe it is acceptance's business.

    An answer that cannot be read, that has a literal NaN, or that says two probabilities of one
    outcome, is `Unread` and leaves the others as they are. Confidence 0 without a distribution
    is how gateways say that there is none.

    Raises:
        NoAnswer: `malformed`, `invalid_number` for a literal NaN elsewhere, and for an error
            inside a success what its codes say, else `provider_error`. Its `reply` holds no
            answer, but tokens and cost where the body tells.

    """
    return replied(_decoded, ask, body)


def _decoded(ask: Ask, body: bytes) -> Reply:
    read = response(body, _response, _loose)
    given: Sequence[WireAnswer | msgspec.Raw] = read.answers
    kinds = [*ask.questions.values(), *[None] * len(given)]
    answers = [_entry(one, ask, kind) for one, kind in zip(given, kinds, strict=False)]
    return Reply(answers, read.model or "", read.used(), read.id)


def _entry(
    given: WireAnswer | msgspec.Raw, ask: Ask, question: Question | None
) -> tuple[str | None, RawAnswer]:
    """Read the answer to the *ask*'s question of its name, else to that of its position."""
    name = _called(given) if isinstance(given, msgspec.Raw) else given.name
    asked = question if name is None else ask.questions.get(name, question)
    return name, entry(_read, given, asked)


def _called(answer: msgspec.Raw) -> str | None:
    try:
        return _named.decode(answer).name
    except UNREADABLE:
        return None


def _read(given: WireAnswer | msgspec.Raw, question: Question | None) -> RawAnswer:
    answer = _answer.decode(given) if isinstance(given, msgspec.Raw) else given
    if isinstance(answer, AnswerPredicate):
        return Held(answer.probability)
    if isinstance(answer, AnswerChoice):
        return _chosen(answer)
    if isinstance(answer, AnswerScore):
        given_levels = answer.probabilities or ()
        labels = list(question.levels) if isinstance(question, Score) else []
        levels = by_level([(one.value, one.label, one.probability) for one in given_levels], labels)
        return Scored(answer.score, levels, sure(answer.confidence, given_levels))
    return Refused()


def _chosen(answer: AnswerChoice) -> Chosen:
    """Read a choice; we offer texts alone, so a truth is none of them."""
    given = answer.probabilities or ()
    spread: dict[Any, float] = {one.value: one.probability for one in given}
    if len(spread) < len(given):
        raise NoAnswer(Reason.INCONSISTENT)
    if isinstance(answer.choice, bool) or True in spread or False in spread:
        raise NoAnswer(Reason.MALFORMED)
    return Chosen(answer.choice, spread or None, sure(answer.confidence, spread))


def _question(name: str, question: Question) -> WireQuestion:
    if isinstance(question, Choice):
        choices = [Described(value, text or None) for value, text in question.options.items()]
        return WireChoice(question.instructions, choices, name)
    if isinstance(question, Score):
        levels = [Labelled(label, text or None) for label, text in question.levels.items()]
        return WireScore(question.instructions, levels, name)
    return WirePredicate(with_meanings(question), name)
