"""
What each question is called in a chat, and how its answers are written there.

A question is `q1`, `q2` …; a choice's options are letters, a predicate's outcomes `true` and
`false`, a score's levels digits. So an answer is told by its first token, whatever the options
are called, and everything that is written is ASCII.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, islice, product
from string import ascii_uppercase

import msgspec

from ...gateway.questions import Ask, Choice, Question, Score


class Slot(msgspec.Struct, frozen=True):
    """
    One question's place in a chat.

    Attributes:
        key: What it is called there.
        name: Its name in the ask.
        question: The question.
        codes: How its outcomes are written in JSON, in their order; no one begins another.

    """

    key: str
    name: str
    question: Question
    codes: Sequence[str]

    @property
    def sure(self) -> str:
        """What the number is called by which the model says how sure it is."""
        return f"{self.key}_sure"


def slots_of(ask: Ask) -> list[Slot]:
    """Give each question of *ask* its place."""
    named = enumerate(ask.questions.items(), 1)
    return [Slot(f"q{at}", name, one, _codes(one)) for at, (name, one) in named]


def _codes(question: Question) -> Sequence[str]:
    if isinstance(question, Choice):
        return [f'"{letters}"' for letters in _letters(question.options)]
    if isinstance(question, Score):
        return [str(level) for level in range(len(question.levels))]
    return ("true", "false")


def _letters(options: Mapping[str, str]) -> list[str]:
    """
    Name each option by letters: one each up to 26, as few as are enough beyond.

    An option that is itself called `B` must not be taken for the second one: then all have more
    letters than such a name.
    """
    return next(codes for width in count(1) if (codes := _of(width, options)))


def _of(width: int, options: Mapping[str, str]) -> list[str]:
    """Give codes of *width* letters; none where there are too few, or one would mislead."""
    if len(ascii_uppercase) ** width < len(options):
        return []
    codes = ["".join(some) for some in islice(product(ascii_uppercase, repeat=width), len(options))]
    taken = set(codes)
    named = [(name.strip().upper(), code) for name, code in zip(options, codes, strict=True)]
    return [] if any(name != code and name in taken for name, code in named) else codes
