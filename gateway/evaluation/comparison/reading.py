"""
Who said what about a decision, and what is known of the truth: a trail, read once and kept small.

Answers are kept as names: an option, `true` or `false`, a level. Two deciders agree where their
names are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ...errors import Reason
from ...journal.rows import DecisionRow, FeedbackRow, Trail
from ...keys import QuestionKey
from ...questions import Outcome
from ...records import Attempt, Exposure, Record
from .naming import Naming, named
from .truths import Strange, Truth, Vocabulary, other

UNSENT = (Reason.BREAKER_OPEN, Reason.OVER_BUDGET, Reason.NESTED, Reason.SKIPPED)


class Sure(NamedTuple):
    """How sure an answer is: the chosen outcome's probability, and the provider's own number."""

    probability: float | None
    reported: float | None


class Said(msgspec.Struct, frozen=True, gc=False):
    """
    What one decider said about one decision.

    Attributes:
        values: Question → name of its answer; empty without a valid one.
        sure: Question → how sure; empty for the host's own path.
        asked: Question → what a threshold for it belongs to.
        language: What it was asked in.
        reason: `ok`, or why it was not, or would not have been, believed.
        live: It was asked to decide, not in the background.
        sent: The question went out: it was not skipped, and not known already.
        seconds: From the ask to the verdict.
        cost_usd: US dollars; None if nobody knows.
        tokens: Read and written.
        model: As served.
        form: Alone, or sharing a call.

    """

    values: Mapping[str, str]
    sure: Mapping[str, Sure]
    asked: Mapping[str, QuestionKey]
    language: str
    reason: Reason
    live: bool
    sent: bool
    seconds: float
    cost_usd: float | None
    tokens: int
    model: str
    form: str


class Seen(msgspec.Struct, frozen=True, gc=False):
    """
    One decision.

    Attributes:
        id: Its id.
        at: Seconds since the epoch.
        point: The decision point.
        subject: Keyed hash of whom it was about; None if unknown.
        language: What it was asked in.
        variant: Who was assigned.
        provider: Who decided; empty if nobody did.
        said: Decider → what it said.
        truths: Question → what is known of its right answer.
        right: Whether what was decided was right; None if unknown.
        told_at: When that was found out, in seconds since the epoch; 0 if it was not.
        fallback: Why the assigned provider was not believed and another had to decide; else None.
        seconds: For the whole decision.
        cost_usd: Of all attempts, as far as known; None if no cost is.
        exposure: The split that assigned `variant`.

    """

    id: str
    at: float
    point: str
    subject: str | None
    language: str
    variant: str
    provider: str
    said: Mapping[str, Said]
    truths: Mapping[str, Truth]
    right: bool | None
    told_at: float
    fallback: Reason | None
    seconds: float
    cost_usd: float | None
    exposure: Exposure | None

    def told(self, provider: str) -> bool:
        """Whether it is known what *provider* said, be it that it gave no valid answer."""
        said = self.said.get(provider)
        return said is not None and (bool(said.values) or said.reason is not Reason.OK)

    @property
    def day(self) -> str:
        """The ISO day, in UTC."""
        return datetime.fromtimestamp(self.at, UTC).date().isoformat()


class _Told(NamedTuple):
    """The latest feedback about a decision, what was decided, and what was asked."""

    feedback: FeedbackRow
    decided: Mapping[str, str]
    asked: Mapping[str, QuestionKey]


class Reader:
    """
    Read trails of one point; what many of them share is kept once.

    Args:
        naming: How answers are named.

    """

    def __init__(self, naming: Naming | None = None) -> None:
        self._naming = naming or Naming()
        self._vocabulary = Vocabulary(self._naming)
        self._known: dict[tuple[tuple[str, QuestionKey], ...], Mapping[str, QuestionKey]] = {}

    def read(self, trails: Iterable[Trail]) -> list[Seen]:
        """
        Give what is needed of each of *trails*, in their order.

        Labels are read at the end, when it is known what can be answered.
        """
        found = [self._seen(trail) for trail in trails]
        return [one if told is None else self._judged(one, told) for one, told in found]

    @property
    def strange(self) -> tuple[Strange, ...]:
        """Labels so far that name nothing that could have been answered, by question."""
        return self._vocabulary.strange()

    def _seen(self, trail: Trail) -> tuple[Seen, _Told | None]:
        row, record = trail.decision, trail.decision.record
        asked = self._asked(row.keys)
        decided = self._values(record.outcome, asked)
        latest = max(trail.feedback, key=lambda one: one.at, default=None)
        seen = Seen(
            id=record.id,
            at=record.at,
            point=record.point,
            subject=row.kept.subject,
            language=row.language,
            variant=record.variant,
            provider=record.provider,
            said=self._said(trail, decided),
            truths={},
            right=None,
            told_at=0.0 if latest is None else latest.at,
            fallback=record.reason if record.fallback else None,
            seconds=record.seconds,
            cost_usd=_cost(record),
            exposure=record.exposure,
        )
        return seen, None if latest is None else _Told(latest, decided, asked)

    def _judged(self, seen: Seen, told: _Told) -> Seen:
        """Add what is known of the right answers; of strange labels, only that they are."""
        labels = self._values(told.feedback.label, told.asked)
        read = {
            raw: self._vocabulary.read(named(raw, told.asked), label, seen.id)
            for raw, label in labels.items()
        }
        truths = {raw: Truth(label, None) for raw, label in read.items() if label is not None}
        right = told.feedback.right
        if right is None and truths:
            verdicts = [truth.judges(told.decided.get(raw)) for raw, truth in truths.items()]
            right = None if all(verdicts) and len(truths) < len(labels) else all(verdicts)
        return replace(seen, truths=truths or _thumbed(told), right=right)

    def _said(self, trail: Trail, decided: Mapping[str, str]) -> dict[str, Said]:
        """Keep the latest of each decider; what it said live counts before all else."""
        row, said = trail.decision, dict[str, Said]()
        for one in trail.shadows:
            keys, language = self._asked(one.keys or row.keys), one.language or row.language
            values = self._values(one.shadow.outcome, keys)
            said[one.shadow.provider] = self._one(one.shadow.attempt, values, keys, language)
        return said | dict(self._live(row, decided))

    def _live(self, row: DecisionRow, decided: Mapping[str, str]) -> Iterator[tuple[str, Said]]:
        record, keys = row.record, self._asked(row.keys)
        attempts = {one.provider: one for one in record.attempts}
        if record.provider:
            attempts.setdefault(record.provider, Attempt(provider=record.provider))
        for provider, attempt in attempts.items():
            given = {name: one.value for name, one in attempt.answers.items()}
            own = provider == record.provider
            values = decided if own else self._values(given or None, keys)
            yield provider, self._one(attempt, values, keys, row.language, live=True)

    def _one(
        self,
        attempt: Attempt,
        values: Mapping[str, str],
        keys: Mapping[str, QuestionKey],
        language: str,
        *,
        live: bool = False,
    ) -> Said:
        usage, alone = attempt.usage, len(attempt.answers) == 1
        sole, sure = self._naming.sole(keys), dict[str, Sure]()
        for name, one in attempt.answers.items():
            raw = sole if alone else name
            sure[raw] = Sure(one.probability, one.reported)
            self._vocabulary.weigh(named(raw, keys), one)
        for raw, value in values.items():
            self._vocabulary.see(named(raw, keys), value)
        return Said(
            values=values,
            sure=sure,
            asked=keys,
            language=language,
            reason=attempt.reason,
            live=live,
            sent=attempt.seconds > 0 and not attempt.cached and attempt.reason not in UNSENT,
            seconds=attempt.seconds,
            cost_usd=None if usage is None else usage.cost_usd,
            tokens=0 if usage is None else usage.input_tokens + usage.output_tokens,
            model=attempt.served,
            form=attempt.form,
        )

    def _asked(self, keys: Mapping[str, QuestionKey]) -> Mapping[str, QuestionKey]:
        return self._known.setdefault(tuple(keys.items()), keys)

    def _values(self, outcome: Outcome, keys: Mapping[str, QuestionKey]) -> Mapping[str, str]:
        if outcome is None:
            return {}
        if not isinstance(outcome, Mapping):
            sole = self._naming.sole(keys)
            return {sole: self._naming.name(named(sole, keys), outcome)}
        if len(outcome) == 1 and not outcome.keys() & keys.keys():
            return self._values(next(iter(outcome.values())), keys)
        return {
            name: self._naming.name(named(name, keys), value)
            for name, value in outcome.items()
            if value is not None
        }


def _cost(record: Record) -> float | None:
    priced = any(one.usage and one.usage.cost_usd is not None for one in record.attempts)
    return record.cost_usd if priced else None


def _thumbed(told: _Told) -> Mapping[str, Truth]:
    """Read that what was decided is right, or wrong; which of several is wrong is not known."""
    right, decided = told.feedback.right, told.decided
    if right:
        return {name: Truth(value, None) for name, value in decided.items()}
    if right is None or len(decided) != 1:
        return {}
    return {name: other(value) for name, value in decided.items()}
