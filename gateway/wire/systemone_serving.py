"""The TypeSafe dialect as our server speaks it: requests are read, replies written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ..answers import Chosen, Held, RawAnswer, Refused, Scored, Usage
from ..questions import Choice, Predicate, Question, Score
from ..state import State, frozen
from .meanings import criterion, levels_of
from .reading import Key, keyed
from .requests import Asked, BadRequest, built, few, once, read, unique, whole
from .systemone_types import (
    AnswerChoice,
    AnswerNoul,
    AnswerScore,
    ChoiceQuestion,
    Content,
    NoulCriteria,
    NoulQuestion,
    Request,
    ScoreQuestion,
    ServedResponse,
    ServedUsage,
)
from .writing import beside, completed, confidence, joined

_Answer = AnswerNoul | AnswerChoice[str] | AnswerScore[str]
_Question = NoulQuestion | ChoiceQuestion[Key] | ScoreQuestion

MEDIA = ("assets", "images", "audio", "videos")
# the dialect takes questions without instructions, which have nothing but their criteria
NOUL, CHOICE, SCORE = "Is it so?", "Which of these holds?", "Which of these levels holds?"


class _Loose(msgspec.Struct, frozen=True):
    questions: Mapping[str, msgspec.Raw] = {}


_request: msgspec.json.Decoder[Request[Key]]
_request = msgspec.json.Decoder(Request[Key], dec_hook=keyed)
_question: msgspec.json.Decoder[_Question] = msgspec.json.Decoder(_Question, dec_hook=keyed)
_loose = msgspec.json.Decoder(_Loose)
KINDS = "choice, noul or score"


def decode_request(body: bytes) -> Asked:
    """
    Read a request's body.

    Raises:
        BadRequest: It is not of the dialect, shows what is no text, or contradicts itself.

    """
    once(body)
    request = _read(body)
    whole(stream=request.stream)
    for field in MEDIA:
        if getattr(request, field):
            raise BadRequest("only text and JSON can be judged here", field)
    names = tuple(key.name for key in request.questions)
    if len(set(names)) < len(names):
        raise BadRequest("two questions have one name", "questions")
    asked = [_asked(one, f"questions[{at}]") for at, one in enumerate(request.questions.values())]
    return Asked(
        _state(request.state),
        dict(zip(unique(names), asked, strict=True)),
        request.model or "",
        request.user or None,
        names,
    )


def encode_reply(
    asked: Asked,
    answers: Mapping[str, RawAnswer],
    *,
    model: str,
    usage: Usage | None = None,
    extra: Mapping[str, Any] | None = None,
) -> bytes:
    """
    Write the response's body.

    A refused question has no answer, nor has a truth without a probability: the dialect has no
    word for either.

    Args:
        asked: What was asked; its names are the keys.
        answers: Question id → answer; one that is absent is left out.
        model: Who answered.
        usage: Tokens, and money where known; clients require tokens, so none are 0.
        extra: Further fields at the top level: `provider_metadata`.

    """
    names = asked.names or tuple(asked.questions)
    written: dict[str, _Answer] = {}
    for one, name in zip(asked.questions, names, strict=True):
        answer = _written(asked.questions[one], answers.get(one, Refused()))
        if answer is not None:
            written[one if name is None else name] = answer
    used = usage or Usage()
    counted = ServedUsage(used.input_tokens, used.output_tokens)
    return joined(ServedResponse(model, written, counted), beside(usage, extra))


def _read(body: bytes) -> Request[Key]:
    try:
        return read(_request, body, KINDS)
    except BadRequest as bad:
        if bad.param is None or not bad.param.startswith("questions["):
            raise
        raise _found(body) or bad from None


def _found(body: bytes) -> BadRequest | None:
    """Say by its position which question it is; msgspec names no keys."""
    for at, given in enumerate(read(_loose, body, KINDS).questions.values()):
        try:
            read(_question, given, KINDS)
        except BadRequest as bad:
            place = f"questions[{at}]" + (f".{bad.param}" if bad.param else "")
            return BadRequest(bad.problem, place)
    return None


def _asked(question: _Question, place: str) -> Question:
    if isinstance(question, NoulQuestion):
        return _noul(question, place)
    where = f"{place}.criteria"
    if isinstance(question, ChoiceQuestion):
        few(len(question.criteria), where)
        options = {key.name: _text(content) for key, content in question.criteria.items()}
        if len(options) < len(question.criteria):
            raise BadRequest("two choices have one name", where)
        return built(place, lambda: Choice(_text(question.instructions) or CHOICE, options))
    levels = levels_of([_text(content) for content in question.criteria])
    if len(levels) < len(question.criteria):
        raise BadRequest("two levels have one text", where)
    return built(place, lambda: Score(_text(question.instructions) or SCORE, levels))


def _noul(question: NoulQuestion, place: str) -> Predicate:
    criteria = question.criteria or NoulCriteria()
    instructions, true, false = map(_text, (question.instructions, criteria.true, criteria.false))
    if not (instructions or true or false):
        raise BadRequest("needs instructions or criteria", place)
    return built(place, lambda: Predicate(instructions or NOUL, true, false))


def _text(content: Content | None) -> str:
    """Give instructions or a criterion as a text; JSON is written out, and a blank is none."""
    text = "" if content is None else frozen(content)[1]
    return text if text.strip() else ""


def _state(given: State) -> State:
    """
    Take the state; an array of nothing but text parts is their text, as in the other dialect.

    Raises:
        BadRequest: OpenRouter lets images stand among parts.

    """
    parts = cast("list[object]", given) if isinstance(given, list) else []
    for at, part in enumerate(parts):
        if isinstance(part, dict) and cast("dict[str, Any]", part).get("type") == "image_url":
            raise BadRequest("only text and JSON can be judged here", f"state[{at}]")
    texts = [text for text in map(_part, parts) if text is not None]
    alone = bool(parts) and len(texts) == len(parts)
    return "\n".join(texts) if alone else cast("State", given)


def _part(part: object) -> str | None:
    """Give the text of a part that holds nothing else, as the AI SDK sends each state."""
    if not isinstance(part, dict):
        return None
    given = cast("dict[str, Any]", part)
    text = given.get("text")
    plain = given.keys() == {"type", "text"} and given["type"] == "text"
    return text if plain and isinstance(text, str) else None


def _written(question: Question, answer: RawAnswer) -> _Answer | None:
    if isinstance(answer, Chosen):
        spread = completed(question, answer)
        return AnswerChoice[str](answer.option, confidence(question, answer), spread)
    if isinstance(answer, Scored):
        return _scored(question, answer)
    return AnswerNoul(answer.probability) if isinstance(answer, Held) else None


def _scored(question: Question, answer: Scored) -> AnswerScore[str]:
    levels = question.levels.items() if isinstance(question, Score) else ()
    legend = {str(at): criterion(*level) for at, level in enumerate(levels)}
    spread = {str(at): p for at, p in enumerate(answer.probabilities or ())}
    return AnswerScore[str](answer.score, confidence(question, answer), legend, spread)
