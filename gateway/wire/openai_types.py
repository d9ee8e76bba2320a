"""The bodies of the OpenAI Decisions dialect, as types; `openai.py` gives them meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec


class Described(msgspec.Struct, frozen=True, omit_defaults=True):
    """An option with its description."""

    value: str
    description: str = ""


class Labelled(msgspec.Struct, frozen=True, omit_defaults=True):
    """A level with its description."""

    label: str
    description: str = ""


class WirePredicate(msgspec.Struct, frozen=True, tag="predicate"):
    """A yes/no question."""

    instructions: str
    name: str | None = None


class WireChoice(msgspec.Struct, frozen=True, tag="choice"):
    """A question with 2–255 options."""

    instructions: str
    choices: Sequence[Described]
    name: str | None = None


class WireScore(msgspec.Struct, frozen=True, tag="score"):
    """A question with 2–10 levels, low to high."""

    instructions: str
    levels: Sequence[Labelled]
    name: str | None = None


WireQuestion: TypeAlias = WirePredicate | WireChoice | WireScore


class Request(
    msgspec.Struct, frozen=True, omit_defaults=True, rename={"options": "providerOptions"}
):
    """
    The body of a request.

    Attributes:
        model: The model's id at the endpoint.
        input: The state: text as it is, anything else as canonical JSON.
        questions: In order.
        options: The endpoint's own extension, `providerOptions`.

    """

    model: str
    input: str
    questions: Sequence[WireQuestion]
    options: Mapping[str, Any] = {}


class OptionProbability(msgspec.Struct, frozen=True):
    """One entry of a choice's distribution."""

    value: str
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

    choice: str
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


class WireUsage(msgspec.Struct, frozen=True):
    """Tokens."""

    input_tokens: int = 0
    output_tokens: int = 0


class Gatewayed(msgspec.Struct, frozen=True):
    """What Vercel AI Gateway adds: money as a decimal string."""

    cost: str | float | None = None


class Metadata(msgspec.Struct, frozen=True):
    """What gateways add."""

    gateway: Gatewayed | None = None


NO_ERROR = msgspec.Raw(b"null")  # a union of Raw with None would take null alone


class Response(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of a success. `error` may stand in one all the same."""

    answers: Sequence[WireAnswer]
    model: str = ""
    usage: WireUsage | None = None
    provider_metadata: Metadata | None = None
    error: msgspec.Raw = NO_ERROR


class Loose(msgspec.Struct, frozen=True):
    """The body of a success of which an answer cannot be read."""

    answers: Sequence[msgspec.Raw]
    model: str = ""
    usage: WireUsage | None = None
    provider_metadata: Metadata | None = None
    error: msgspec.Raw = NO_ERROR


class Named(msgspec.Struct, frozen=True):
    """What an answer that cannot be read is called all the same."""

    name: str | None = None


class Failed(msgspec.Struct, frozen=True):
    """What a success that cannot be read may be after all: an error."""

    error: msgspec.Raw = NO_ERROR


class Bill(msgspec.Struct, frozen=True):
    """What a body says of its cost, whatever its answers are."""

    model: str = ""
    usage: WireUsage | None = None
    provider_metadata: Metadata | None = None
