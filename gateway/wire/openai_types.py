"""The bodies of the OpenAI Decisions dialect, as types; `openai.py` gives them meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec

from .bills import Bill

SAID = msgspec.Meta(extra_json_schema={"pattern": r"\S"})
"""A text that says something; the questions themselves see to it."""

Instructions: TypeAlias = str | Sequence[Mapping[str, Any]]
"""Text, or parts: `input_text` and `input_json`."""


class Described(msgspec.Struct, frozen=True, omit_defaults=True):
    """An option with its description; `true` and `"true"` are two options."""

    value: Annotated[str | bool, SAID]
    description: str | None = None


class Labelled(msgspec.Struct, frozen=True, omit_defaults=True):
    """A level with its description."""

    label: Annotated[str, SAID]
    description: str | None = None


class WirePredicate(msgspec.Struct, frozen=True, tag="predicate"):
    """A yes/no question."""

    instructions: Instructions
    name: str | None = None


class WireChoice(msgspec.Struct, frozen=True, tag="choice"):
    """A question with 2–255 options."""

    instructions: Instructions
    choices: Annotated[Sequence[Described], msgspec.Meta(min_length=2)]
    name: str | None = None


class WireScore(msgspec.Struct, frozen=True, tag="score"):
    """A question with 2–10 levels, low to high."""

    instructions: Instructions
    levels: Annotated[Sequence[Labelled], msgspec.Meta(min_length=2, max_length=10)]
    name: str | None = None


WireQuestion: TypeAlias = WirePredicate | WireChoice | WireScore


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    The body of a request; an endpoint's own extensions stand beside these.

    Attributes:
        input: The state: text as it is, anything else as canonical JSON.
        questions: In order.
        model: The model's id at the endpoint.

    """

    input: str
    questions: Sequence[WireQuestion]
    model: str = ""


class ServedRequest(msgspec.Struct, frozen=True):
    """
    The body of a request as our server takes it.

    Attributes:
        input: Text, or items: messages, function calls and their outputs.
        questions: In order; none means the point's own.
        model: A point or a provider.
        safety_identifier: Who the request is about.
        stream: Whether the answer should come in parts, which it never does.

    """

    input: str | Sequence[Mapping[str, Any]]
    questions: Sequence[WireQuestion]
    model: str | None = None
    safety_identifier: str | None = None
    stream: bool | None = None


class OptionProbability(msgspec.Struct, frozen=True):
    """One entry of a choice's distribution."""

    value: str | bool
    probability: float


class LevelProbability(msgspec.Struct, frozen=True):
    """One entry of a score's distribution."""

    value: int
    probability: float
    label: str | None = None


class AnswerPredicate(msgspec.Struct, frozen=True, tag="predicate"):
    """The probability that it is true."""

    probability: float
    name: str | None = None


class AnswerChoice(msgspec.Struct, frozen=True, tag="choice"):
    """The chosen option."""

    choice: str | bool
    name: str | None = None
    confidence: float | None = None
    probabilities: Sequence[OptionProbability] | None = None


class AnswerScore(msgspec.Struct, frozen=True, tag="score"):
    """The expected level, counted from 0."""

    score: float
    name: str | None = None
    confidence: float | None = None
    probabilities: Sequence[LevelProbability] | None = None


class AnswerRefusal(msgspec.Struct, frozen=True, tag="refusal"):
    """The model declines to answer."""

    name: str | None = None


WireAnswer: TypeAlias = AnswerPredicate | AnswerChoice | AnswerScore | AnswerRefusal


class Response(Bill, frozen=True, kw_only=True):
    """The body of a success."""

    answers: Sequence[WireAnswer]


class LooseResponse(Bill, frozen=True, kw_only=True):
    """The body of a success of which an answer cannot be read."""

    answers: Sequence[msgspec.Raw]


class Named(msgspec.Struct, frozen=True):
    """What an answer that cannot be read is called all the same."""

    name: str | None = None


class InputDetails(msgspec.Struct, frozen=True):
    """What of the input came from a cache; clients require it."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputDetails(msgspec.Struct, frozen=True):
    """What of the output was reasoning; clients require it."""

    reasoning_tokens: int = 0


class ServedUsage(msgspec.Struct, frozen=True):
    """Tokens as clients require them."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: InputDetails = InputDetails()
    output_tokens_details: OutputDetails = OutputDetails()


class ServedResponse(msgspec.Struct, frozen=True):
    """The body of a success as our server gives it."""

    answers: Sequence[WireAnswer]
    model: str
    usage: ServedUsage
