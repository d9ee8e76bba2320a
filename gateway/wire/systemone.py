"""
The TypeSafe dialect ("System One"), in both directions.

At TypeSafe, OpenRouter, Portkey, Perplexity, Cloudflare Clef and self-hosted servers. Questions
and answers are maps by id. There is no refusal: a question that is refused has no answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from ..answers import Chosen, Held, RawAnswer, Reply, Scored
from ..errors import NoAnswer, Reason
from ..questions import Ask, Choice, Question, Score
from .meanings import criterion, with_meanings
from .reading import Key, by_level, entry, keyed, replied, response, sure
from .systemone_serving import decode_request, encode_reply
from .systemone_types import (
    AnswerChoice,
    AnswerNoul,
    AnswerScore,
    ChoiceQuestion,
    Content,
    LooseResponse,
    NoulCriteria,
    NoulQuestion,
    Request,
    Response,
    ScoreQuestion,
)
from .writing import joined

__all__ = ["decode", "decode_request", "encode", "encode_reply"]

_Read = AnswerNoul | AnswerChoice[Key] | AnswerScore[Key]
_Question = NoulQuestion | ChoiceQuestion[str] | ScoreQuestion

_response = msgspec.json.Decoder(Response, dec_hook=keyed)
_loose = msgspec.json.Decoder(LooseResponse, dec_hook=keyed)
_answer: msgspec.json.Decoder[_Read] = msgspec.json.Decoder(_Read, dec_hook=keyed)


def encode(ask: Ask, model: str, extra: Mapping[str, Any] | None = None) -> bytes:
    """
    Write the request's body for *ask*.

    Args:
        ask: State and questions; a state that is an object or an array is sent as one.
        model: The model's id at the endpoint; an empty one is left out (Portkey).
        extra: An endpoint's own fields, at the top level: `provider`, `user`.

    """
    questions = {name: _question(question) for name, question in ask.questions.items()}
    return joined(Request[str](_state(ask), questions, model or None), extra)


def decode(ask: Ask, body: bytes) -> Reply:
    """
    Read a response's body as the reply to *ask*; whether to believe it is acceptance's business.

    An answer that cannot be read, that is of an unknown type, that has a literal NaN, or that
    says two probabilities of one outcome, is `Unread` and leaves the others as they are. Answers
    that nobody asked for are kept, and so is each of two under one id: acceptance rejects them.
    Confidence 0 without a distribution is how gateways say that there is none.

    Raises:
        NoAnswer: `malformed`, `invalid_number` for a literal NaN elsewhere, and for an error
            inside a success what its codes say, else `provider_error`. Its `reply` holds no
            answer, but tokens and cost where the body tells.

    """
    return replied(_decoded, ask, body)


def _decoded(ask: Ask, body: bytes) -> Reply:
    read = response(body, _response, _loose)
    given: Mapping[Key, _Read | msgspec.Raw] = read.answers
    answers = [
        (key.name, entry(_read, one, ask.questions.get(key.name))) for key, one in given.items()
    ]
    named = dict(answers)
    # two answers under one id go on as a sequence, which keeps both
    kept = named if len(named) == len(answers) else answers
    return Reply(kept, read.model or "", read.used(), read.id)


def _read(given: _Read | msgspec.Raw, question: Question | None) -> RawAnswer:
    answer = _answer.decode(given) if isinstance(given, msgspec.Raw) else given
    if isinstance(answer, AnswerNoul):
        return Held(answer.noul)
    spread = [(key.name, p) for key, p in (answer.probabilities or {}).items()]
    if isinstance(answer, AnswerChoice):
        named = dict(spread)
        if len(named) < len(spread):
            raise NoAnswer(Reason.INCONSISTENT)
        return Chosen(answer.choice, named or None, sure(answer.confidence, named))
    confidence = sure(answer.confidence, spread)
    return Scored(answer.score, _levels(answer, spread, question), confidence)


def _levels(
    answer: AnswerScore[Key], spread: Sequence[tuple[str, float]], question: Question | None
) -> list[float] | None:
    """Order by level, and see that the server did not turn them round."""
    if not isinstance(question, Score):
        return None
    legend = answer.legend or {}
    given = [(_level(key), _text(legend.get(key)), p) for key, p in spread]
    return by_level(given, [criterion(*level) for level in question.levels.items()])


def _level(key: str) -> int | None:
    """Read a level's index, as it is written: `0`, never `00` or ` 0`."""
    is_index = key.isascii() and key.isdigit() and len(key) <= 2  # noqa: PLR2004 - up to 99
    return int(key) if is_index and str(int(key)) == key else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _state(ask: Ask) -> Content:
    """Send an object or an array as it is; the dialect takes nothing else but text."""
    is_text = isinstance(ask.state, str) or ask.text[:1] not in ("{", "[")
    return ask.text if is_text else cast("Content", msgspec.Raw(ask.text.encode()))


def _question(question: Question) -> _Question:
    if isinstance(question, Choice):
        options = {name: text or None for name, text in question.options.items()}
        return ChoiceQuestion[str](options, question.instructions)
    if isinstance(question, Score):
        levels = [criterion(label, text) for label, text in question.levels.items()]
        return ScoreQuestion(levels, question.instructions)
    if question.true and question.false:
        return NoulQuestion(question.instructions, NoulCriteria(question.true, question.false))
    return NoulQuestion(with_meanings(question))  # OpenRouter takes both meanings or none
