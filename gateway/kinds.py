"""
The kinds of question: `Choice`, `Predicate`, `Score`, each checked at birth.

Instructions, options and levels are the programmer's words. What users, documents or tools
said belongs into the state and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from .errors import DeclarationError
from .wording import between, described, meaning, number, said, without_meanings

Value: TypeAlias = str | bool | float
"""What an answer comes down to: an option's name, a truth, a number on the score's scale."""

OPTIONS = (2, 255)  # fewest and most options; the most that the hosted deciders take
LEVELS = (2, 10)  # fewest and most levels of a score on the wire
RANGE_LEVELS = 6  # even steps that a `low`–`high` score is asked in: 0–10 in elevens does not fit


class When(msgspec.Struct, frozen=True):
    """
    A question is live only under another answer.

    Attributes:
        question: Name of the question that decides.
        answers: Its values under which this one counts.

    """

    question: str
    answers: tuple[Value, ...]

    def __post_init__(self) -> None:
        given: Any = self.answers
        if type(given) is not tuple or not given:
            how = f"When({self.question!r}, (…,))"
            raise DeclarationError(f"`answers` are a tuple of at least one value: {how}")


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """
    Ask which one of several options holds.

    Attributes:
        instructions: The question, in the programmer's words.
        options: Name → one-line description, 2 to 255 of them. Names alone may be given;
            deciders do markedly better with descriptions. Of an Enum, the values are the
            names where they are texts.
        sentinel: The option that means "none of these"; an ordinary option.
        abstains: Choosing the sentinel means that the provider has no answer.
        when: Live only under another answer; always, if absent.
        advisory: Checked but never gated; if it fails, its value is `unspecified`.
        open: Further options come from the call, before the sentinel; until then the
            question cannot be asked.

    Raises:
        DeclarationError: Too few, too many, empty or repeated options; an unknown sentinel.

    """

    instructions: str
    options: Mapping[str, str]
    sentinel: str | None = None
    abstains: bool = False
    when: When | None = None
    advisory: bool = False
    open: bool = False

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913 - what a choice is made of
            self,
            instructions: str,
            options: Mapping[str, str] | Iterable[str] | type[Enum],
            sentinel: str | None = None,
            *,
            abstains: bool = False,
            when: When | None = None,
            advisory: bool = False,
            open: bool = False,  # noqa: A002 - the field's name
        ) -> None: ...

    def __post_init__(self) -> None:
        options = described(self.options, "option")
        msgspec.structs.force_setattr(self, "options", options)
        msgspec.structs.force_setattr(self, "instructions", said(self.instructions))
        between(len(options), (1, OPTIONS[1]) if self.open else OPTIONS, "options")
        if self.sentinel is not None and self.sentinel not in options:
            raise DeclarationError(f"the sentinel {self.sentinel!r} is not among the options")
        if self.abstains and self.sentinel is None:
            raise DeclarationError("`abstains` needs a sentinel to choose")

    def offering(self, options: Mapping[str, str]) -> Choice:
        """Close an open question with the *options* of this call; the sentinel stays last."""
        clash = sorted(options.keys() & self.options.keys())
        if clash:
            raise DeclarationError(f"the call offers {clash[0]!r}, which the point reserves")
        return msgspec.structs.replace(self, options={**options, **self.options}, open=False)

    def without(self, names: Iterable[str]) -> Choice:
        """Leave out options that are impossible for this call."""
        kept = {name: text for name, text in self.options.items() if name not in set(names)}
        return msgspec.structs.replace(self, options=kept)


class Predicate(msgspec.Struct, frozen=True, tag="predicate"):
    """
    Ask whether something is so.

    Attributes:
        instructions: The question, answered by true or false.
        true: What *true* means, on one line, if the question does not say it.
        false: What *false* means.
        tie: What is taken at exactly 0.5: the point's safe outcome.
        when: Live only under another answer; always, if absent.
        advisory: Checked but never gated; if it fails, its value is `unspecified`.

    """

    instructions: str
    true: str = ""
    false: str = ""
    tie: bool = False
    when: When | None = None
    advisory: bool = False

    def __post_init__(self) -> None:
        true, false = meaning(self.true, "true"), meaning(self.false, "false")
        texts = without_meanings(said(self.instructions), true, false)
        for field, text in zip(("instructions", "true", "false"), texts, strict=True):
            msgspec.structs.force_setattr(self, field, text)


class Score(msgspec.Struct, frozen=True, tag="score"):
    """
    Ask how much.

    A provider answers with the expected level, counted from 0; the value is that index
    carried linearly to `low`–`high`.

    Attributes:
        instructions: The question.
        levels: Label → description, low to high, 2 to 10 of them. Labels alone may be given;
            none given means six even steps from `low` to `high`, labelled by their values.
        low: Value of the lowest level; 0 if absent.
        high: Value of the highest level; the last level's index if absent.
        when: Live only under another answer; always, if absent.
        advisory: Checked but never gated; if it fails, its value is `unspecified`.

    Raises:
        DeclarationError: Too few or too many levels, no levels and no range, a range that
            is not finite or not rising.

    """

    instructions: str
    levels: Mapping[str, str] = {}
    low: float = 0.0
    high: float = math.nan
    when: When | None = None
    advisory: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            instructions: str,
            levels: Mapping[str, str] | Iterable[str] = ...,
            *,
            low: float = ...,
            high: float = ...,
            when: When | None = None,
            advisory: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "instructions", said(self.instructions))
        levels = described(self.levels, "level")
        low, high = number(self.low, "low"), number(self.high, "high")
        high = float(len(levels) - 1) if levels and math.isnan(high) else high
        if not (math.isfinite(high - low) and low < high):
            raise DeclarationError("a score needs levels, or a finite `low` below a finite `high`")
        levels = levels or _even_steps(low, high)
        between(len(levels), LEVELS, "levels")
        msgspec.structs.force_setattr(self, "levels", levels)
        msgspec.structs.force_setattr(self, "high", high)

    def value(self, index: float) -> float:
        """Carry an expected level *index* to the scale `low`–`high`."""
        return self.low + index * (self.high - self.low) / (len(self.levels) - 1)

    def index(self, value: float) -> float:
        """Carry a *value* of the scale back to an expected level index."""
        return (value - self.low) * (len(self.levels) - 1) / (self.high - self.low)


Question: TypeAlias = Choice | Predicate | Score


def _even_steps(low: float, high: float) -> dict[str, str]:
    step = (high - low) / (RANGE_LEVELS - 1)
    steps = {f"{low + position * step:.12g}": "" for position in range(RANGE_LEVELS)}
    if len(steps) < RANGE_LEVELS:
        raise DeclarationError("`low` and `high` are too close for even steps between them")
    return steps
