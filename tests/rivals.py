"""Trails of two deciders, made up: what they said, what is right, who was assigned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from pointsman.gateway.answers import Answer, Usage
from pointsman.gateway.certificates import AtRisk, Certificate, Key, Thresholds
from pointsman.gateway.errors import Reason
from pointsman.gateway.journal.rows import (
    DecisionRow,
    FeedbackRow,
    Kept,
    Row,
    ShadowRow,
    Trail,
)
from pointsman.gateway.keys import QuestionKey
from pointsman.gateway.records import Attempt, Exposure, Record, Shadow

POINT = "ROUTER"
KEYS = {"decision": QuestionKey("decision", "template", "options")}
START = 1_790_000_000.0  # seconds since the epoch
DAY = 86_400.0


def id_of(number: int, kind: int = 0) -> str:
    return f"{number:016x}{kind:016x}"


def attempt(
    provider: str, value: Any, sure: float = 0.9, reason: Reason = Reason.OK, **given: Any
) -> Attempt:
    """What a provider answered; nothing where there is no value."""
    answers = {} if value is None else {"decision": answer(value, sure)}
    made = Attempt(
        provider=provider,
        model=f"{provider}-1",
        reason=reason,
        answers=answers,
        confidence=sure if answers else 0.0,
        minimum=0.7,
        seconds=0.2,
        usage=Usage(100, 2, 0.0004),
    )
    return replace(made, **given)


def answer(value: Any, sure: float) -> Answer:
    return Answer(
        value=value, confidence=sure, source="probability", reported=sure, probability=sure
    )


def record(number: int, outcome: Any, **given: Any) -> Record:
    """A decision of the host's own path, unless something else is given."""
    made = Record(
        id=id_of(number),
        at=START + 60.0 * number,
        point=POINT,
        variant="current",
        provider="current",
        outcome=outcome,
        attempts=(Attempt(provider="current", seconds=0.8),),
        seconds=0.8,
    )
    return replace(made, **given)


def feedback(number: int, label: Any = None, *, right: bool | None = None) -> FeedbackRow:
    return FeedbackRow(
        id=id_of(number, 9),
        of=id_of(number),
        at=START + 60.0 * number + 30,
        label=label,
        right=right,
    )


def trail(
    decided: Record,
    shadows: Iterable[Attempt] = (),
    told: FeedbackRow | None = None,
    subject: str | None = None,
    language: str = "en",
) -> Trail:
    """A decision with what was asked in the background and found out later."""
    number = round((decided.at - START) / 60.0)
    return Trail(
        decision=DecisionRow(
            record=decided, language=language, keys=KEYS, kept=Kept(subject=subject)
        ),
        shadows=tuple(_shadow(decided, one, number, kind) for kind, one in enumerate(shadows, 1)),
        feedback=() if told is None else (told,),
    )


def _shadow(decided: Record, asked: Attempt, number: int, kind: int) -> ShadowRow:
    values = [one.value for one in asked.answers.values()]
    return ShadowRow(
        shadow=Shadow(
            id=id_of(number, kind),
            of=decided.id,
            at=decided.at + 1,
            point=decided.point,
            provider=asked.provider,
            attempt=asked,
            outcome=values[0] if values else None,
            beside=decided.outcome,
            beside_provider=decided.provider,
        ),
        language="en",
        keys=KEYS,
    )


def paired(number: int, a: Any, b: Any, label: Any = None, **given: Any) -> Trail:
    """A decision of the host's own path with `jev` beside it."""
    sure = given.pop("sure", 0.9)
    told = None if label is None else feedback(number, label)
    return trail(record(number, a), [attempt("jev", b, sure)], told, **given)


def split(
    number: int,
    arm: str,
    subject: str | None,
    *,
    right: bool | None,
    shares: Mapping[str, float] = {},
) -> Trail:
    """A decision that a split assigned, under *shares* in percent."""
    exposure = Exposure("1", 5 if subject else None, sticky=subject is not None, shares=shares)
    asked = (
        attempt(arm, "billing") if arm != "current" else Attempt(provider="current", seconds=0.8)
    )
    made = record(
        number, "billing", variant=arm, provider=arm, attempts=(asked,), exposure=exposure
    )
    told = None if right is None else feedback(number, right=right)
    return trail(made, told=told, subject=subject)


def certified(minimum: float | None, provider: str = "jev", **given: Any) -> Thresholds:
    """A file with one certificate at α = 5 %."""
    key = Key(
        point=POINT,
        question="decision",
        template="template",
        options="options",
        language="en",
        form="single",
        scale="probability",
        provider=provider,
        model=f"{provider}-1",
    )
    level = AtRisk(alpha=0.05, minimum=minimum, **given)
    made = Certificate(
        key=key,
        risk=0.05,
        levels=(level,),
        delta=0.05,
        method="ltt-4",
        labels="gold",
        rows=500,
        seed=0,
        data="",
        date="2026-11-01",
    )
    return Thresholds(certificates=(made,))


def rows_of(trails: Sequence[Trail]) -> list[Row]:
    """Everything that a journal holds of *trails*."""
    rows: list[Row] = []
    for one in trails:
        rows += [one.decision, *one.shadows, *one.feedback]
    return rows
