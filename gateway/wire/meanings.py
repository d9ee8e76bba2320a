"""Where a dialect has no slot for a meaning: how it stands in a text, and is read back."""

from __future__ import annotations

from collections.abc import Sequence

from ..questions import Predicate

_BETWEEN = ": "  # label and description of a level, in the one text that TypeSafe takes


def with_meanings(question: Predicate) -> str:
    """Write what true and false mean as further lines of the instructions."""
    meanings = (("true", question.true), ("false", question.false))
    lines = [f"{word}: {text}" for word, text in meanings if text]
    return "\n".join([question.instructions, *lines])


def criterion(label: str, description: str) -> str:
    """Write a level as one text."""
    return f"{label}{_BETWEEN}{description}" if description else label


def levels_of(criteria: Sequence[str]) -> dict[str, str]:
    """
    Read levels from texts: label → description.

    Where the parts before the first colon are no labels of their own (`Severity: low`,
    `Severity: high`), each text is a label. Two that are alike leave one.
    """
    split = dict(map(_split, criteria))
    return split if len(split) == len(criteria) else dict.fromkeys(criteria, "")


def _split(text: str) -> tuple[str, str]:
    label, _, description = text.partition(_BETWEEN)
    return (label, description) if label.strip() and description else (text, "")
