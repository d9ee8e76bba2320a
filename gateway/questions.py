"""
What is asked: `Choice`, `Predicate`, `Score`, and `Ask`, a state with named questions.

Values check themselves at birth; one that contradicts itself raises `DeclarationError`.
Instructions, options and levels are the programmer's words. What users, documents or tools
said belongs into the state and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from .errors import DeclarationError
from .state import State, canonical

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


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """
    Ask which one of several options holds.

    Attributes:
        instructions: The question, in the programmer's words.
        options: Name → one-line description, 2 to 255 of them. Names alone may be given;
            deciders do markedly better with descriptions.
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
            options: Mapping[str, str] | Iterable[str],
            sentinel: str | None = None,
            *,
            abstains: bool = False,
            when: When | None = None,
            advisory: bool = False,
            open: bool = False,  # noqa: A002 - the field's name
        ) -> None: ...

    def __post_init__(self) -> None:
        options = _described(self.options, "option")
        msgspec.structs.force_setattr(self, "options", options)
        _said(self.instructions)
        _between(len(options), (1, OPTIONS[1]) if self.open else OPTIONS, "options")
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
        true: What *true* means, if the question does not say it.
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
        _said(self.instructions)


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
        _said(self.instructions)
        levels = _described(self.levels, "level")
        high = float(len(levels) - 1) if levels and math.isnan(self.high) else self.high
        if not (math.isfinite(high - self.low) and self.low < high):
            raise DeclarationError("a score needs levels, or a finite `low` below a finite `high`")
        levels = levels or _even_steps(self.low, high)
        _between(len(levels), LEVELS, "levels")
        msgspec.structs.force_setattr(self, "levels", levels)
        msgspec.structs.force_setattr(self, "high", high)

    def value(self, index: float) -> float:
        """Carry an expected level *index* to the scale `low`–`high`."""
        return self.low + index * (self.high - self.low) / (len(self.levels) - 1)

    def index(self, value: float) -> float:
        """Carry a *value* of the scale back to an expected level index."""
        return (value - self.low) * (len(self.levels) - 1) / (self.high - self.low)


Question: TypeAlias = Choice | Predicate | Score


class Questions(dict[str, Question]):
    """
    Questions by name that can be asked together: checked at birth, once for many asks.

    Raises:
        DeclarationError: No question, an open choice, a `when` that points to no earlier
            question.

    """

    def __init__(self, questions: Mapping[str, Question]) -> None:
        super().__init__(questions)
        _askable(self)


class Ask(msgspec.Struct, frozen=True):
    """
    A state and the questions about it, by name.

    The state is frozen at birth: `text` is what deciders are sent, and what the caller
    changes afterwards is not seen.

    Attributes:
        state: Text, messages, or anything that is JSON (objects with `model_dump` too).
        questions: Name → question, at least one.
        text: The state as one string: text as it is, anything else as canonical JSON.

    Raises:
        DeclarationError: No question, an open choice, a `when` that points to no earlier
            question, a state that is no JSON.

    """

    state: State
    questions: Mapping[str, Question]
    text: str = ""

    if TYPE_CHECKING:

        def __init__(self, state: State, questions: Mapping[str, Question]) -> None: ...

    def __post_init__(self) -> None:
        if type(self.questions) is not Questions:
            msgspec.structs.force_setattr(self, "questions", Questions(self.questions))
        text = self.state if isinstance(self.state, str) else canonical(self.state)
        msgspec.structs.force_setattr(self, "text", text)


def _askable(questions: Mapping[str, Question]) -> None:
    if not questions:
        raise DeclarationError("an ask needs at least one question")
    for at, (name, question) in enumerate(questions.items()):
        if not _is_name(name):
            raise DeclarationError("a question's name is a text that says something")
        if question.when is not None and question.when.question not in list(questions)[:at]:
            raise DeclarationError(f"{name!r} must come after {question.when.question!r}")
        if type(question) is Choice and (question.open or len(question.options) < OPTIONS[0]):
            raise DeclarationError(f"the options of {name!r} must come with the call")


def _described(given: Mapping[str, str] | Iterable[str], what: str) -> dict[str, str]:
    if isinstance(given, str):
        raise DeclarationError(f"{what}s are several names, not one text")
    named = cast("Mapping[str, str]", given) if isinstance(given, Mapping) else None
    pairs = list(named.items()) if named is not None else [(name, "") for name in given]
    described = {name: text or "" for name, text in pairs}
    if len(described) != len(pairs):
        raise DeclarationError(f"an {what} is named twice")
    if not all(_is_name(name) for name in described):
        raise DeclarationError(f"an {what}'s name is a text that says something")
    return described


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip())


def _even_steps(low: float, high: float) -> dict[str, str]:
    step = (high - low) / (RANGE_LEVELS - 1)
    steps = {f"{low + position * step:.12g}": "" for position in range(RANGE_LEVELS)}
    if len(steps) < RANGE_LEVELS:
        raise DeclarationError("`low` and `high` are too close for even steps between them")
    return steps


def _between(count: int, bounds: tuple[int, int], what: str) -> None:
    if not bounds[0] <= count <= bounds[1]:
        raise DeclarationError(f"{count} {what}; between {bounds[0]} and {bounds[1]} can be asked")


def _said(instructions: object) -> None:
    if not isinstance(instructions, str) or not instructions.strip():
        raise DeclarationError("the instructions are empty")
