"""
What would have been right: from feedback, from a file of labels, or from what `current` decided.

The last is no truth. What is found with it is agreement, and is called so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ...journal.rows import Trail
from ...questions import Outcome, Score, Value
from ...records import Attempt
from ...settings import CURRENT

Labels: TypeAlias = Literal["gold", "agreement"]
"""Whether answers are held against the truth, or against what the host runs today."""

TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
TRUE, FALSE = "true", "false"


class Told(msgspec.Struct, frozen=True):
    """
    What is known of the right outcome of one decision.

    Attributes:
        label: The right one, in the point's vocabulary; None if unknown.
        wrong: One that is known to be wrong, where the right one is not known.
        at: Seconds since the epoch, when that was first told.
        doubtful: What was decided was wrong, and nobody knows what would have been right.

    """

    label: Outcome
    wrong: Outcome = None
    at: float = 0.0
    doubtful: bool = False


class Given(msgspec.Struct, frozen=True):
    """
    A provider's answer to one decision.

    Attributes:
        attempt: How it ended.
        at: Seconds since the epoch, when it was complete.
        live: It was asked to decide, not in the background.
        decided: It did: its answer was believed.
        beside: What was decided, by whomever.

    """

    attempt: Attempt
    at: float
    live: bool
    decided: bool = False
    beside: Outcome = None


Teller: TypeAlias = Callable[[Trail, Given], Told | None]
"""Gives what is known of the right outcome of a trail's decision; None if nothing is."""


def from_feedback(trail: Trail, _given: Given) -> Told | None:
    """
    Take the latest feedback about the decision.

    Where it says only that what was decided was wrong, the right outcome stays in doubt, unless
    there are but two.
    """
    if not trail.feedback:
        return None
    last = max(trail.feedback, key=lambda one: one.at)
    at, decided = min(one.at for one in trail.feedback), trail.decision.record.outcome
    if last.label is not None:
        return Told(last.label, None, at)
    if last.right is None or decided is None:
        return None
    if last.right:
        return Told(decided, None, at)
    if isinstance(decided, Mapping):
        return Told(None, None, at, doubtful=True)  # one of them was wrong; nobody knows which
    opposite = _opposite(decided)
    return Told(opposite, decided, at, doubtful=opposite is None)


def _opposite(decided: Outcome) -> Outcome:
    return (not decided) if isinstance(decided, bool) else None


def from_current(trail: Trail, given: Given) -> Told | None:
    """
    Take what `current` decided beside an answer that was given in the background.

    Only where `current` was asked in any case: as a fallback it ran only where somebody was too
    unsure, and rows chosen by confidence stand for no others.
    """
    record = trail.decision.record
    asked = record.variant == CURRENT and record.provider == CURRENT
    if given.live or not asked or record.outcome is None:
        return None
    return Told(record.outcome, None, given.at)


def from_labels(labels: Mapping[str, Outcome]) -> Teller:
    """Take what a file says: decision's id → label."""

    def told(trail: Trail, given: Given) -> Told | None:
        label = labels.get(trail.decision.id)
        return None if label is None else Told(label, None, given.at)

    return told


def of_question(outcome: Outcome, question: str, sole: str | None) -> Value | None:
    """Give the part of an *outcome* that is about *question*; a bare value is about the *sole*."""
    if isinstance(outcome, Mapping):
        return outcome.get(question)
    return outcome if question == sole else None


def alike(label: Value, given: Value) -> Value:
    """Write a *label* as an answer is written: a truth in words becomes one, a number a name."""
    if isinstance(given, bool):
        known = truth(label)
        return label if known is None else known
    return written(label) if isinstance(given, str) else label


def truth(label: Value) -> bool | None:
    """Read the label of a predicate: `true`, `yes`, 1 and their opposites; None for any other."""
    return label if isinstance(label, bool) else TRUTHS.get(written(label).strip().lower())


def written(value: Value) -> str:
    """Write a value as distributions name it: a truth as `true` or `false`."""
    if isinstance(value, bool):
        return TRUE if value else FALSE
    return value if isinstance(value, str) else f"{value:.12g}"


def place(value: Value, levels: Sequence[str], score: Score | None) -> float | None:
    """
    Give the level index of a score's *value*, counted from 0; None if that cannot be known.

    The question's own scale counts; without it the levels' labels where they are numbers, else
    the value is an index already.
    """
    if isinstance(value, str):
        return _named(value, levels, score)
    if score is not None:
        return score.index(float(value))
    try:
        steps = [float(level) for level in levels]
    except ValueError:
        return float(value)
    if len(steps) < 2 or steps[-1] == steps[0]:  # noqa: PLR2004 - both ends of a scale
        return float(value)
    return (float(value) - steps[0]) * (len(steps) - 1) / (steps[-1] - steps[0])


def _named(value: str, levels: Sequence[str], score: Score | None) -> float | None:
    if value in levels:
        return float(levels.index(value))
    try:
        number = float(value)
    except ValueError:
        return None
    return place(number, levels, score) if math.isfinite(number) else None


def in_order(distribution: Mapping[str, float], score: Score | None) -> tuple[str, ...]:
    """Name a score's levels from low to high; a database may have sorted them as texts."""
    if score is not None:
        return tuple(score.levels)
    try:
        return tuple(sorted(distribution, key=float))
    except ValueError:
        return tuple(distribution)
