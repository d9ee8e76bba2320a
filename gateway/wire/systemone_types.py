"""
The bodies of the TypeSafe dialect, as types; `systemone.py` gives them meaning.

Maps are read with keys of type `Key`, so that a name that comes twice is seen, and written with
texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

import msgspec

from .bills import Bill
from .reading import Key

K = TypeVar("K", str, Key)

Content: TypeAlias = str | Mapping[str, Any] | Sequence[Any]
"""Text, or JSON that says as much."""


class NoulCriteria(msgspec.Struct, frozen=True, omit_defaults=True):
    """What yes and no mean."""

    true: Content | None = None
    false: Content | None = None


class NoulQuestion(msgspec.Struct, frozen=True, tag="noul", omit_defaults=True):
    """A yes/no question; instructions, criteria, or both."""

    instructions: Content | None = None
    criteria: NoulCriteria | None = None


class ChoiceQuestion(msgspec.Struct, Generic[K], frozen=True, tag="choice", omit_defaults=True):
    """A question with 2–255 options: label → description."""

    criteria: Annotated[
        Mapping[K, Content | None],
        msgspec.Meta(min_length=2, extra_json_schema={"propertyNames": {"pattern": r"\S"}}),
    ]
    instructions: Content | None = None


class ScoreQuestion(msgspec.Struct, frozen=True, tag="score", omit_defaults=True):
    """A question with 2–10 levels, low to high."""

    criteria: Annotated[
        Sequence[Content],
        msgspec.Meta(min_length=2, max_length=10, extra_json_schema={"uniqueItems": True}),
    ]
    instructions: Content | None = None


class Request(msgspec.Struct, Generic[K], frozen=True, omit_defaults=True):
    """
    The body of a request; an endpoint's own fields stand beside these.

    Attributes:
        state: What the questions are about.
        questions: Id → question; for our server none means the point's own.
        model: The model's id at the endpoint; at our server a point or a provider.
        user: Who the request is about.
        assets: Media of TypeSafe, by placeholder.
        images: Media of Clef and LiteLLM.
        audio: Media of Clef.
        videos: Media of Clef.
        stream: Whether the answer should come in parts, which ours never does.

    """

    state: Content
    questions: Mapping[K, NoulQuestion | ChoiceQuestion[K] | ScoreQuestion]
    model: str | None = None
    user: str | None = None
    assets: Any = None
    images: Any = None
    audio: Any = None
    videos: Any = None
    stream: bool | None = None


class AnswerNoul(msgspec.Struct, frozen=True, tag="noul"):
    """The probability that it is true."""

    noul: float


class AnswerChoice(msgspec.Struct, Generic[K], frozen=True, tag="choice"):
    """The chosen label."""

    choice: str
    confidence: float | None = None
    probabilities: Mapping[K, float] | None = None


class AnswerScore(msgspec.Struct, Generic[K], frozen=True, tag="score"):
    """The expected level, counted from 0."""

    score: float
    confidence: float | None = None
    legend: Mapping[str, Any] | None = None
    probabilities: Mapping[K, float] | None = None


WireAnswer: TypeAlias = AnswerNoul | AnswerChoice[K] | AnswerScore[K]


class Response(Bill, frozen=True, kw_only=True):
    """The body of a success."""

    answers: Mapping[Key, AnswerNoul | AnswerChoice[Key] | AnswerScore[Key]]


class LooseResponse(Bill, frozen=True, kw_only=True):
    """The body of a success of which an answer cannot be read."""

    answers: Mapping[Key, msgspec.Raw]


class ServedUsage(msgspec.Struct, frozen=True):
    """Tokens as clients require them."""

    input_tokens: int
    output_tokens: int


class ServedResponse(msgspec.Struct, frozen=True):
    """The body of a success as our server gives it."""

    model: str
    answers: Mapping[str, AnswerNoul | AnswerChoice[str] | AnswerScore[str]]
    usage: ServedUsage
