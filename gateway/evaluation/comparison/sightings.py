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

from ...errors import Reason
from ...journal.rows import DecisionRow, FeedbackRow, Trail
from ...keys import QuestionKey
from ...questions import Outcome
from ...records import Attempt, Exposure, Record
from ..calibration.labelling import FALSE, TRUE, TRUTHS
from .naming import Naming, named

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


class Truth(NamedTuple):
    """What is known of the right answer: its name, or only one that it is not."""

    label: str | None
    wrong: str | None

    def judges(self, given: str | None) -> bool | None:
        """Whether *given* is right; no answer never is; None where that cannot be told."""
        if given is None or given == self.wrong:
            return False
        return None if self.label is None else given == self.label


NOTHING = Truth(None, None)


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


class Reader:
    """
    Read trails of one point; what many of them share is kept once.

    Args:
        naming: How answers are named.

    """

    def __init__(self, naming: Naming | None = None) -> None:
        self._naming = naming or Naming()
        self._known: dict[tuple[tuple[str, QuestionKey], ...], Mapping[str, QuestionKey]] = {}

    def read(self, trails: Iterable[Trail]) -> Iterator[Seen]:
        """Give what is needed of each of *trails*, in their order."""
        return map(self._seen, trails)

    def _seen(self, trail: Trail) -> Seen:
        row, record = trail.decision, trail.decision.record
        asked = self._asked(row.keys)
        decided = self._values(record.outcome, asked)
        latest = max(trail.feedback, key=lambda one: one.at, default=None)
        truths = self._truths(latest, decided, asked)
        return Seen(
            id=record.id,
            at=record.at,
            point=record.point,
            subject=row.kept.subject,
            language=row.language,
            variant=record.variant,
            provider=record.provider,
            said=self._said(trail, decided),
            truths=truths,
            right=_right(latest, truths, decided),
            told_at=0.0 if latest is None else latest.at,
            fallback=record.reason if record.fallback else None,
            seconds=record.seconds,
            cost_usd=_cost(record),
            exposure=record.exposure,
        )

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
        sole = self._naming.sole(keys)
        sure = {
            sole if alone else name: Sure(one.probability, one.reported)
            for name, one in attempt.answers.items()
        }
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
            model=attempt.model,
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

    def _truths(
        self,
        feedback: FeedbackRow | None,
        decided: Mapping[str, str],
        keys: Mapping[str, QuestionKey],
    ) -> Mapping[str, Truth]:
        if feedback is None:
            return {}
        if feedback.label is not None:
            labels = self._values(feedback.label, keys)
            return {
                name: Truth(_alike(one, decided.get(name)), None) for name, one in labels.items()
            }
        if feedback.right:
            return {name: Truth(value, None) for name, value in decided.items()}
        if feedback.right is None or len(decided) != 1:
            return {}  # of several answers it is not known which is wrong
        return {name: _other(value) for name, value in decided.items()}


def _cost(record: Record) -> float | None:
    priced = any(one.usage and one.usage.cost_usd is not None for one in record.attempts)
    return record.cost_usd if priced else None


def _alike(label: str, decided: str | None) -> str:
    """Write a label as what was decided is written: a truth in words becomes one."""
    if decided not in (TRUE, FALSE):
        return label
    truth = TRUTHS.get(label.strip().lower())
    return label if truth is None else TRUE if truth else FALSE


def _other(wrong: str) -> Truth:
    """What is right where *wrong* is not: known of a predicate only."""
    return Truth({TRUE: FALSE, FALSE: TRUE}.get(wrong), wrong)


def _right(
    feedback: FeedbackRow | None, truths: Mapping[str, Truth], decided: Mapping[str, str]
) -> bool | None:
    if feedback is None:
        return None
    if feedback.label is None or feedback.right is not None:
        return feedback.right
    verdicts = [truth.judges(decided.get(name)) for name, truth in truths.items()]
    return all(verdicts) if verdicts else None
