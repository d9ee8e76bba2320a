"""
From trails to samples: what a provider answered, live or in the background, with its labels.

A decision counts once for a provider, with its latest answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from ...journal.rows import Trail
from ...keys import QuestionKey, spoken_language
from ...points import DecisionPoint
from .labelling import Given, Teller, from_feedback
from .samples import Sample
from .sampling import About, samples_of
from .vocabulary import Strange, sifted

TENANT = "tenant"  # a field of the state that is always looked for


class Wanted(msgspec.Struct, frozen=True):
    """
    Which samples are made.

    Attributes:
        provider: Whose answers.
        teller: Where labels come from.
        point: The decision point, where its declaration is known: for a score's scale, and for
            which question a bare label is about.
        fields: Fields of the state by which rows are told apart, where full content is kept.

    """

    provider: str
    teller: Teller = from_feedback
    point: DecisionPoint | None = None
    fields: tuple[str, ...] = (TENANT,)


class Collected(msgspec.Struct, frozen=True):
    """
    Samples, and what became none.

    Attributes:
        samples: One for each question of each decision.
        decisions: Decisions that were looked at.
        unasked: Those about which the provider was never asked.
        unplaced: Those where it is not known which questions were asked.
        wrong_only: Those where it is known only that what was decided was wrong, and the
            provider said something else: they count as wrong.
        unclear: Labelled ones whose label is about none of their questions.
        strange: Labels that name nothing that can be answered, by question.

    """

    samples: tuple[Sample, ...]
    decisions: int = 0
    unasked: int = 0
    unplaced: int = 0
    wrong_only: int = 0
    unclear: int = 0
    strange: tuple[Strange, ...] = ()


def collect(trails: Iterable[Trail], wanted: Wanted) -> Collected:
    """Make samples of what a provider answered, live or in the background."""
    samples: list[Sample] = []
    seen: Counter[str] = Counter()
    for trail in trails:
        seen["decisions"] += 1
        made = _of_trail(trail, wanted, seen)
        samples += made
    kept, strange = sifted(samples, wanted.point)
    return Collected(kept, **seen, strange=strange)


def _of_trail(trail: Trail, wanted: Wanted, seen: Counter[str]) -> list[Sample]:
    given = _latest(trail, wanted.provider)
    if given is None:
        seen["unasked"] += 1
        return []
    keys, language = _asked(trail, given)
    if not keys:
        seen["unplaced"] += 1
        return []
    told, about = wanted.teller(trail, given), _about(trail, wanted, language)
    spoken = None if wanted.point is None else wanted.point.questions.get(about.language)
    made = samples_of(about, given, keys, told, spoken or {})
    if any(one.doubtful for one in made):
        seen["wrong_only"] += 1
    elif told is not None and not any(
        one.labelled or (told.doubtful and not one.answered) for one in made
    ):
        seen["unclear"] += 1
    return made


def _about(trail: Trail, wanted: Wanted, language: str) -> About:
    record, kept = trail.decision.record, trail.decision.kept
    return About(
        id=record.id,
        point=record.point,
        language=language if wanted.point is None else spoken_language(wanted.point, language),
        provider=wanted.provider,
        subject=kept.subject,
        digest=kept.digest,
        length=None if kept.state is None else len(kept.state),
        slices=_fields(kept.state if kept.structured else None, wanted.fields),
    )


def _latest(trail: Trail, provider: str) -> Given | None:
    record = trail.decision.record
    decided = record.provider == provider
    given = [
        Given(one, record.at, live=True, decided=decided, beside=record.outcome)
        for one in record.attempts
        if one.provider == provider
    ]
    given += [
        Given(row.shadow.attempt, row.shadow.at, live=False, beside=record.outcome)
        for row in trail.shadows
        if row.shadow.provider == provider
    ]
    return max(given, key=lambda one: one.at, default=None)


def _asked(trail: Trail, given: Given) -> tuple[Mapping[str, QuestionKey], str]:
    for row in trail.shadows:
        if row.shadow.attempt is given.attempt and row.keys:
            return row.keys, row.language
    return trail.decision.keys, trail.decision.language


def _fields(state: str | None, names: Sequence[str]) -> dict[str, str]:
    try:
        read: Any = None if state is None else json.loads(state)
    except ValueError:  # masked in a way that broke it
        return {}
    return sliced(read, names)


def sliced(fields: object, names: Sequence[str]) -> dict[str, str]:
    """Take the fields *names* of a row where they hold one value."""
    if not isinstance(fields, Mapping):
        return {}
    there = cast("Mapping[str, Any]", fields)
    values = {name: there[name] for name in names if name in there}
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if isinstance(value, str | bool | int | float)
    }
