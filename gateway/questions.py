"""
What is asked: `Choice`, `Predicate`, `Score`, and `Ask`, a state with named questions.

Values check themselves at birth; one that contradicts itself raises `DeclarationError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from .errors import DeclarationError
from .kinds import OPTIONS, Choice, Predicate, Question, Score, Value, When
from .state import State, frozen
from .wording import is_name

__all__ = [
    "OPTIONS",
    "Ask",
    "Choice",
    "Outcome",
    "Predicate",
    "Question",
    "Questions",
    "Score",
    "Value",
    "When",
]


class Questions(dict[str, Question]):
    """
    Questions by name that can be asked together: checked at birth, once for many asks.

    Args:
        questions: Name → question.
        narrowed: The call has left options out, so that a `when` may name one that is gone.

    Raises:
        DeclarationError: No question, an open choice, a `when` that points to no earlier
            question or to a value that it cannot have.

    """

    def __init__(self, questions: Mapping[str, Question], *, narrowed: bool = False) -> None:
        super().__init__(by_name(questions))
        ordered(self)
        for name, question in self.items():
            if type(question) is Choice and (question.open or len(question.options) < OPTIONS[0]):
                raise DeclarationError(f"the options of {name!r} must come with the call")
        if not narrowed:
            reachable(self)


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
        text = self.state
        if type(text) is not str or not text.isascii():
            state, text = frozen(text)
            msgspec.structs.force_setattr(self, "state", state)
        msgspec.structs.force_setattr(self, "text", text)


Outcome: TypeAlias = Value | Mapping[str, Value | None] | None
"""What was decided: the only question's value, question → value of several, or nothing."""


def principal(questions: Mapping[str, Question]) -> str | None:
    """Name the only question that has to be believed, where others merely go with it."""
    gated = [name for name, question in questions.items() if not question.advisory]
    return gated[0] if len(gated) == 1 else None


def by_name(questions: object) -> Mapping[str, Question]:
    """
    Read questions with their names.

    Raises:
        DeclarationError: They are no mapping, or one is no question.

    """
    if not isinstance(questions, Mapping):
        how = '{"decision": question}'
        raise DeclarationError(
            f"questions are a mapping by name, such as {how}; got {type(questions).__name__}"
        )
    named = cast("Mapping[str, Question]", questions)
    for name, one in named.items():
        if not isinstance(one, Choice | Predicate | Score):  # pyright: ignore[reportUnnecessaryIsInstance]
            kinds = "a Choice, a Predicate or a Score"
            raise DeclarationError(f"{name!r} must be {kinds}; got {type(one).__name__}")
    return named


def ordered(questions: Mapping[str, Question]) -> None:
    """
    Check names, and that what decides over a question comes before it.

    Raises:
        DeclarationError: There is none, a name is empty, or a `when` points nowhere.

    """
    if not questions:
        raise DeclarationError("an ask needs at least one question")
    for at, (name, question) in enumerate(questions.items()):
        if not is_name(name):
            raise DeclarationError("a question's name is a text that says something")
        if question.when is not None and question.when.question not in list(questions)[:at]:
            raise DeclarationError(f"{name!r} must come after {question.when.question!r}")


def reachable(questions: Mapping[str, Question]) -> None:
    """
    Check that what a question waits for can be answered.

    Raises:
        DeclarationError: A `when` names a value that its question cannot have.

    """
    for name, question in questions.items():
        when = question.when
        for value in () if when is None else when.answers:
            assert when is not None
            if not may_answer(questions[when.question], value):
                problem = f"{when.question!r} cannot be {value!r}"
                raise DeclarationError(f"{name!r} waits for what never comes: {problem}")


def may_answer(question: Question, value: object) -> bool:
    """Whether *value* can be the answer; an open choice takes its options from the call."""
    if isinstance(question, Choice):
        return isinstance(value, str) and (question.open or value in question.options)
    if isinstance(question, Predicate):
        return isinstance(value, bool)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and question.low <= value <= question.high  # type: ignore[operator]
