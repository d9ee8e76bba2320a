"""
What a point can work out by itself: its own `current`, and the rule that a judgement is held to.

A calculator is ordinary code over the state: it needs no model, and it is what stands behind a
provider that is not believed. The rule makes a provider's outcome at least as protective as the
point allows, whoever is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from .errors import DeclarationError
from .questions import Ask, Outcome, Question, may_answer
from .state import State

Given: TypeAlias = Mapping[str, Any]
"""A state as the host gave it, with what is brought and never sent."""

After: TypeAlias = Callable[[Given, Outcome], Outcome]
"""State and a provider's outcome → one that is at least as protective."""


class Calculator(msgspec.Struct, frozen=True):
    """
    How a point decides where the host has no path of its own.

    Attributes:
        decide: The state as given → the point's value.
        read: The point's value → outcome in its words.
        write: The state and a provider's outcome, after the rule → the point's value.

    """

    decide: Callable[[Given], Any]
    read: Callable[[Any], Outcome]
    write: Callable[[Given, Outcome], Any]


class Unfit(Exception):
    """What a point's own functions make of a provider's outcome is no answer, or they raise."""


def fit(questions: Mapping[str, Question], outcome: Outcome, said: Outcome) -> Outcome:
    """
    Give what a rule made of what a provider *said*, if it answers the same questions.

    Raises:
        Unfit: It does not.

    """
    if outcome is said:
        return outcome
    given: Any = outcome
    before: Any = said
    if len(questions) == 1:
        (name,) = questions
        given, before = {name: outcome}, {name: said}
    if not isinstance(given, Mapping):
        raise Unfit
    answers = cast("Mapping[str, Any]", given)
    if answers.keys() != questions.keys():
        raise Unfit
    for name, question in questions.items():
        one = answers[name]
        left = one is None and (question.advisory or before[name] is None)
        if not left and not may_answer(question, one):
            raise Unfit
    return outcome


def state_of(name: str, ask: Ask | State) -> Given:
    """
    Give the state that the point *name* calculates with.

    Raises:
        DeclarationError: It is no mapping.

    """
    state = ask.state if isinstance(ask, Ask) else ask
    if isinstance(state, Mapping):
        return cast("Given", state)
    raise DeclarationError(f"{name} calculates with its state, which is a mapping of its fields")


def calculates(name: str, current: object, after: object, *, hybrid: bool) -> None:
    """
    Check what a point works out by itself.

    Raises:
        DeclarationError: It is no `Calculator`, or no function; it stands at a hybrid point,
            whose `current` is always the host's.

    """
    if current is not None and not isinstance(current, Calculator):
        raise DeclarationError(f"{name}: `current` is a `Calculator`; got {type(current).__name__}")
    if after is not None and not callable(after):
        raise DeclarationError(f"{name}: `after` is a function of a state and an outcome")
    if hybrid and (current is not None or after is not None):
        raise DeclarationError(f"{name}: a hybrid point takes what the host's own path extracts")
