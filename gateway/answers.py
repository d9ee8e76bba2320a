"""
What comes back: raw answers as a provider gives them, and checked ones as the host gets them.

A provider's `Reply` is a claim; only `acceptance` turns its parts into `Answer`s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, cast, get_args

import msgspec

from .errors import NoAnswer, Reason
from .questions import Value

LARGEST = 2**63 - 1  # what fits into a record; false for NaN too


LABEL = 200  # characters; model names and request ids of the hosted deciders stay below 80


class Chosen(msgspec.Struct, frozen=True, tag="choice", gc=False):
    """
    A provider's answer to a `Choice`.

    Attributes:
        option: Name of the chosen option.
        probabilities: Option → probability; options left out count as 0.
        confidence: The provider's own number in [0, 1], whatever it means there.

    """

    option: str
    probabilities: Mapping[str, float] | None = None
    confidence: float | None = None


class Held(msgspec.Struct, frozen=True, tag="predicate", gc=False):
    """
    A provider's answer to a `Predicate`.

    Attributes:
        probability: That the predicate is true, in [0, 1].

    """

    probability: float


class Stated(msgspec.Struct, frozen=True, tag="statement", gc=False):
    """
    A provider's answer to a `Predicate` without a probability, which no other number replaces.

    Attributes:
        holds: Whether the predicate is true.

    """

    holds: bool


class Scored(msgspec.Struct, frozen=True, tag="score", gc=False):
    """
    A provider's answer to a `Score`.

    Attributes:
        score: The expected level, counted from 0: a number in [0, levels − 1].
        probabilities: One for each level, low to high.
        confidence: The provider's own number in [0, 1].

    """

    score: float
    probabilities: Sequence[float] | None = None
    confidence: float | None = None


class Refused(msgspec.Struct, frozen=True, tag="refusal"):
    """The provider declines to answer this question."""


class Unread(msgspec.Struct, frozen=True, tag="unread"):
    """
    An answer that cannot be read, among others that can: it fails only its own question.

    Attributes:
        reason: Why.

    """

    reason: Reason


RawAnswer: TypeAlias = Chosen | Held | Stated | Scored | Refused | Unread

Origin: TypeAlias = Literal["", "log_probabilities", "self_reported"]
"""
Where a language model's numbers come from: the probabilities of the tokens that it wrote, or
what it says of itself. Empty for a decider, whose numbers are its own.
"""

ORIGINS: tuple[Origin, ...] = get_args(Origin)


class Usage(msgspec.Struct, frozen=True, gc=False):
    """
    What an attempt used.

    Attributes:
        input_tokens: Tokens read.
        output_tokens: Tokens written.
        cost_usd: US dollars; None if nobody knows.
        estimated: True if the cost was computed from tokens and a list price.

    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False


class Reply(msgspec.Struct, frozen=True, gc=False):
    """
    What a provider returns for one `Ask`.

    Attributes:
        answers: By question name; or a sequence of (echoed name or None, answer) in the
            order of the questions, for wires that match by position.
        model: The model that answered, as served.
        usage: Tokens and money, where known.
        request_id: The provider's own id of the request.
        notes: Further numbers by name, for example the best cosine of a choice. Recorded,
            never acted on.
        source: Where its numbers come from, if not from the decider itself.
        partial: Somebody who should have had a part in it failed. It is believed as any other,
            and kept in no cache.

    """

    answers: Mapping[str, RawAnswer] | Sequence[tuple[str | None, RawAnswer]]
    model: str = ""
    usage: Usage | None = None
    request_id: str | None = None
    notes: Mapping[str, float] | None = None
    source: Origin = ""
    partial: bool = False


def sound(reply: object) -> Reply:
    """
    Keep of a stranger's reply what is of the declared types; its answers are checked later.

    Raises:
        NoAnswer: `malformed`: it is no reply at all.

    """
    if not isinstance(reply, Reply):
        raise NoAnswer(Reason.MALFORMED)
    if type(reply.answers) not in (dict, list, tuple):
        reply = msgspec.structs.replace(reply, answers=_plain(reply.answers))
    bare = reply.usage is None and reply.request_id is None and reply.notes is None
    if bare and _is_origin(reply.source) and _is_label(reply.model):
        return reply
    return Reply(
        reply.answers,
        reply.model if _is_label(reply.model) else "",
        reply.usage if _is_usage(reply.usage) else None,
        reply.request_id if _is_label(reply.request_id) else None,
        reply.notes if _are_notes(reply.notes) else None,
        reply.source if _is_origin(reply.source) else "",
        reply.partial is True,
    )


def _is_origin(value: object) -> bool:
    return type(value) is str and value in ORIGINS


def _plain(answers: object) -> Mapping[str, RawAnswer]:
    try:
        return dict(cast("Mapping[str, RawAnswer]", answers))
    except Exception:  # noqa: BLE001 - a stranger's own mapping may raise anything
        raise NoAnswer(Reason.MALFORMED) from None


def _is_label(value: object) -> bool:
    """Whether a foreign text may enter logs and records: short, and without control characters."""
    return isinstance(value, str) and len(value) <= LABEL and value.isprintable()


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _is_number(value: object) -> bool:
    return (type(value) is float or type(value) is int) and -LARGEST <= value <= LARGEST


def _is_usage(usage: object) -> bool:
    if not isinstance(usage, Usage):
        return False
    counted = _is_count(usage.input_tokens) and _is_count(usage.output_tokens)
    cost = usage.cost_usd
    costs = cost is None or (_is_number(cost) and cost >= 0)
    return counted and costs and (usage.estimated is True or usage.estimated is False)


def _are_notes(notes: object) -> bool:
    if notes is None or not isinstance(notes, Mapping):
        return False
    pairs = cast("Mapping[object, object]", notes).items()
    return all(_is_label(name) and _is_number(one) for name, one in pairs)


Source: TypeAlias = Literal[
    "reported", "probability", "log_probabilities", "self_reported", "missing", "current"
]


class Answer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """
    One checked answer.

    Attributes:
        value: The option's name, the truth, or the number on the score's scale; None when
            the question was not live, or advisory and unspecified.
        confidence: The number that was compared with the threshold, in [0, 1].
        source: Where it comes from: `reported` by the provider, the `probability` of the
            selected outcome, `log_probabilities` or `self_reported` for a language model's,
            `missing` (then it is 0), or `current` (the host's own path, which has none).
        reported: The provider's own confidence, if it gave one.
        recomputed: What TypeSafe's formula makes of the distribution; may differ from
            `reported`, which is no fault.
        probability: That of the chosen option, of the selected truth, or of the most
            likely level, if a distribution was given.
        distribution: Outcome → probability, if given. A score's outcomes are its labels.

    """

    value: Value | None
    confidence: float = 0.0
    source: Source = "missing"
    reported: float | None = None
    recomputed: float | None = None
    probability: float | None = None
    distribution: Mapping[str, float] | None = None

    def sourced(self, source: Origin) -> Answer:
        """Say that its number is of *source*; a missing one comes from nowhere."""
        if source == "" or self.source == "missing":
            return self
        return msgspec.structs.replace(self, source=source)


def origin(answers: Mapping[str, Answer]) -> Origin:
    """Say where the numbers of one reply's *answers* come from; empty: from the decider itself."""
    given = {one.source for one in answers.values()}
    if "log_probabilities" in given:
        return "log_probabilities"
    return "self_reported" if "self_reported" in given else ""


def served_as(model: str, source: Origin) -> str:
    """
    Name what a threshold belongs to: the *model*, and where its numbers come from.

    What a language model says of itself is another number than what its tokens say, so that
    neither's threshold holds for the other.
    """
    return f"{model} ({source})" if source else model
