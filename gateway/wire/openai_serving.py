"""The OpenAI Decisions dialect as our server speaks it: requests are read, replies written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..answers import Chosen, Held, RawAnswer, Refused, Scored, Usage
from ..questions import Choice, Predicate, Question, Score
from .items import state_of, text_of
from .openai_types import (
    AnswerChoice,
    AnswerPredicate,
    AnswerRefusal,
    AnswerScore,
    LevelProbability,
    OptionProbability,
    ServedRequest,
    ServedResponse,
    ServedUsage,
    WireAnswer,
    WireChoice,
    WirePredicate,
    WireQuestion,
)
from .requests import Asked, BadRequest, built, few, once, read, unique, whole
from .writing import beside, completed, confidence, joined

_request = msgspec.json.Decoder(ServedRequest)


def decode_request(body: bytes) -> Asked:
    """
    Read a request's body.

    Questions without a name, or with one that another has, get ids of their own; what a client
    calls them is kept to be echoed.

    Raises:
        BadRequest: It is not of the dialect, shows what is no text, or contradicts itself.

    """
    once(body)
    request = read(_request, body, "choice, predicate or score")
    whole(stream=request.stream)
    names = tuple(question.name for question in request.questions)
    ids = unique(names)
    asked = [_asked(one, f"questions[{at}]") for at, one in enumerate(request.questions)]
    truths = {one: _truths(question) for one, question in zip(ids, request.questions, strict=True)}
    return Asked(
        state_of(request.input),
        dict(zip(ids, asked, strict=True)),
        request.model or "",
        request.safety_identifier or None,
        names,
        {one: named for one, named in truths.items() if named},
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
    Write the response's body, the answers in the order of the questions.

    Args:
        asked: What was asked; its names are echoed.
        answers: Question id → answer; one that is absent is a refusal, and so is a truth without
            a probability, which the dialect has no other word for.
        model: Who answered.
        usage: Tokens, and money where known; clients require tokens, so none are 0.
        extra: Further fields at the top level: `provider_metadata`.

    """
    names = asked.names or tuple(asked.questions)
    written = [
        _written(asked, one, name, answers.get(one, Refused()))
        for one, name in zip(asked.questions, names, strict=True)
    ]
    used = usage or Usage()
    total = used.input_tokens + used.output_tokens
    counted = ServedUsage(used.input_tokens, used.output_tokens, total)
    return joined(ServedResponse(written, model, counted), beside(usage, extra))


def _asked(question: WireQuestion, place: str) -> Question:
    instructions = text_of(question.instructions, f"{place}.instructions")
    if isinstance(question, WirePredicate):
        return built(place, lambda: Predicate(instructions))
    if isinstance(question, WireChoice):
        options = _options(question, f"{place}.choices")
        return built(place, lambda: Choice(instructions, options))
    levels = {one.label: one.description or "" for one in question.levels}
    if len(levels) < len(question.levels):
        raise BadRequest("two levels have one label", f"{place}.levels")
    return built(place, lambda: Score(instructions, levels))


def _options(question: WireChoice, place: str) -> dict[str, str]:
    few(len(question.choices), place)
    names = _named(question)
    if len(names) < len(question.choices):
        raise BadRequest("two choices have one value", place)
    texts = [one.description or "" for one in question.choices]
    return dict(zip(names, texts, strict=True))


def _named(question: WireChoice) -> dict[str, str | bool]:
    """Name each option: a truth by its word, or by more where a text has that word."""
    given = {one.value for one in question.choices if isinstance(one.value, str)}
    return {_name(one.value, given): one.value for one in question.choices}


def _name(value: str | bool, given: set[str]) -> str:  # noqa: FBT001 - a choice
    if isinstance(value, str):
        return value
    name = "true" if value else "false"
    while name in given:
        name += " (boolean)"
    return name


def _truths(question: WireQuestion) -> dict[str, bool]:
    if not isinstance(question, WireChoice):
        return {}
    if all(type(one.value) is str for one in question.choices):
        return {}
    named = _named(question).items()
    return {name: value for name, value in named if isinstance(value, bool)}


def _written(asked: Asked, one: str, name: str | None, answer: RawAnswer) -> WireAnswer:
    question = asked.questions[one]
    if isinstance(answer, Chosen):
        return _choice(question, answer, name, asked.booleans.get(one, {}))
    if isinstance(answer, Scored):
        labels = list(question.levels) if isinstance(question, Score) else []
        pairs = enumerate(zip(labels, answer.probabilities or (), strict=False))
        levels = [LevelProbability(at, p, label) for at, (label, p) in pairs]
        return AnswerScore(answer.score, name, confidence(question, answer), levels)
    if isinstance(answer, Held):
        return AnswerPredicate(answer.probability, name)
    return AnswerRefusal(name)


def _choice(
    question: Question, answer: Chosen, name: str | None, truths: Mapping[str, bool]
) -> AnswerChoice:
    spread = [
        OptionProbability(truths.get(option, option), p)
        for option, p in completed(question, answer).items()
    ]
    option = truths.get(answer.option, answer.option)
    return AnswerChoice(option, name, confidence(question, answer), spread)
