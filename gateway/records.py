"""What is kept of a decision: every attempt, who answered, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Literal, TypeVar

import msgspec

from .answers import Answer, Usage, origin, served_as
from .errors import Reason
from .forks import Lock
from .questions import Value

R = TypeVar("R")
SCHEMA = 1
HUMAN = "human"
"""Who answered, where a person did."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """
    One ask of one provider, or one run of the host's own path.

    Attributes:
        provider: Who was asked; `current` for the host's own path, `human` for a person.
        model: The model that answered, as served; empty if unknown.
        reason: `ok`, or why it was not believed.
        answers: Question → checked answer of a valid reply, also of one too unsure to be
            believed; empty for the host's own path.
        confidence: What was compared with the minimum, in [0, 1].
        minimum: What it had to reach; None for the host's own path.
        seconds: From the ask to the verdict.
        usage: Tokens and money, also of rejected answers; None if nothing came back.
        request_id: The provider's id of the request.
        notes: Further numbers that the provider gave, by name.
        late: It ended after its deadline and was let finish.
        form: `single`, or `shared:<digest of the question set>` where it shared a call with
            other points of its turn; tokens and cost are then its part of that call's.
        cached: The answer was known, from its turn or a cache, or came with the same ask of
            another decision: nothing was sent for it, and it cost nothing.

    """

    provider: str
    model: str = ""
    reason: Reason = Reason.OK
    answers: Mapping[str, Answer] = {}
    confidence: float = 0.0
    minimum: float | None = None
    seconds: float = 0.0
    usage: Usage | None = None
    request_id: str | None = None
    notes: Mapping[str, float] | None = None
    late: bool = False
    form: str = "single"
    cached: bool = False

    @property
    def served(self) -> str:
        """What a threshold belongs to: the model, and where its numbers come from."""
        return served_as(self.model, origin(self.answers))


class Exposure(msgspec.Struct, frozen=True, gc=False):
    """
    That a split decided who was asked.

    Attributes:
        experiment: Id of the split.
        bucket: The subject's, in 0–9,999, under the arm that took it, else under the last that
            did not; None without a subject.
        sticky: The same subject gets the same arm in every process; False where there was no
            subject and the arm was drawn by lot.
        shares: Arm → percent of the subjects, as planned at that time.

    """

    experiment: str
    bucket: int | None = None
    sticky: bool = True
    shares: Mapping[str, float] = {}


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """
    A decision written down. Holds no state, no instructions and no secret.

    Attributes:
        id: Unique; sorts by time.
        at: Seconds since the epoch, when the decision was complete.
        point: The decision point.
        variant: The provider that the plan assigned; a fallback never changes it.
        provider: Who answered in the end; `human` for a person, empty if nobody did.
        outcome: What was decided, in the point's vocabulary: an option, a truth, a number;
            question → value for several questions; None if the host's own value says no more.
        answers: Question → checked answer, where a provider decided.
        confidence: Of the answer that decided; 0 where none has one.
        reason: `ok`, or why the first attempt was not believed.
        attempts: All of them, in order.
        undecided: Nobody decided; the outcome is the point's safe one.
        seconds: For the whole decision.
        exposure: The split that assigned `variant`; None where no split did.
        schema: Version of this layout.

    """

    id: str
    at: float
    point: str
    variant: str
    provider: str
    outcome: Value | Mapping[str, Value | None] | None = None
    answers: Mapping[str, Answer] = {}
    confidence: float = 0.0
    reason: Reason = Reason.OK
    attempts: tuple[Attempt, ...] = ()
    undecided: bool = False
    seconds: float = 0.0
    exposure: Exposure | None = None
    schema: int = SCHEMA

    @property
    def fallback(self) -> bool:
        """Whether the assigned provider was asked and somebody else had to decide."""
        first = self.attempts[0] if self.attempts else None
        tried = first is not None and first.provider == self.variant and first.reason != Reason.OK
        return tried and (len(self.attempts) > 1 or bool(self.provider) or self.undecided)

    @property
    def late(self) -> bool:
        """Whether any attempt ended after its deadline."""
        return any(attempt.late for attempt in self.attempts)

    @property
    def cost_usd(self) -> float:
        """US dollars of all attempts, as far as they are known."""
        return sum(
            [one.usage.cost_usd or 0.0 for one in self.attempts if one.usage is not None], 0.0
        )

    @property
    def tokens(self) -> int:
        """Input tokens of all attempts, also of rejected ones."""
        return sum([one.usage.input_tokens for one in self.attempts if one.usage is not None])


class Shadow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """
    An answer that was asked for in the background and never acted on.

    Attributes:
        id: Its own; sorts by time.
        of: The decision that it stands beside.
        at: Seconds since the epoch, when it was complete.
        point: The decision point.
        provider: Who was asked.
        attempt: How it ended, with the gate that a live answer would have met.
        outcome: What it came to, in the point's vocabulary; also of an answer too unsure to be
            believed; None if there is no valid one.
        beside: What was decided, in the same vocabulary.
        beside_provider: Who decided that; `current` for the host's own path.
        source: `live` beside a decision, or `replay` of a recorded one.
        schema: Version of this layout.

    """

    id: str
    of: str
    at: float
    point: str
    provider: str
    attempt: Attempt
    outcome: Value | Mapping[str, Value | None] | None = None
    beside: Value | Mapping[str, Value | None] | None = None
    beside_provider: str = ""
    source: Literal["live", "replay"] = "live"
    schema: int = SCHEMA


class Decision(msgspec.Struct, Generic[R], frozen=True):
    """
    What the host gets: the value, and the story of how it came about.

    Attributes:
        value: In the wrapped function's own return type.
        record: Who decided, every attempt, confidence and cost.

    """

    value: R
    record: Record

    @property
    def provider(self) -> str:
        """Who answered; empty if nobody did."""
        return self.record.provider

    @property
    def confidence(self) -> float:
        """Of the answer that decided, in [0, 1]; 0 where the host's own path decided."""
        return self.record.confidence

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt, in order."""
        return self.record.attempts

    @property
    def answers(self) -> Mapping[str, Answer]:
        """Question → checked answer, where a provider decided."""
        return self.record.answers

    @property
    def undecided(self) -> bool:
        """Whether nobody decided, so that the value is the point's safe outcome."""
        return self.record.undecided


class Recorder:
    """
    An observer that keeps records in memory, for tests and notebooks.

    >>> recorder = Recorder()
    >>> recorder.records
    []
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._records: list[Record] = []

    def __call__(self, record: Record) -> None:
        """Keep *record*."""
        with self._lock:
            self._records.append(record)

    def completed(self, record: Record) -> None:
        """Keep the *record* of what current did after a consultation in vain, too."""
        self(record)

    @property
    def records(self) -> list[Record]:
        """All records so far, oldest first."""
        with self._lock:
            return list(self._records)
