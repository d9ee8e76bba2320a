"""A decision point in the words that a client of the server reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from ...cli import describing

if TYPE_CHECKING:
    from ...points import DecisionPoint
    from ...questions import Question
    from ...settings import Plan


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """
    One point of the list.

    Attributes:
        point: Its name.
        asks: Question → its kind.
        provider: Who decides it now.
        set_by: The variable that said so; `default` if none did.
        believed_from: The confidence that an answer must reach.

    """

    point: str
    asks: dict[str, str]
    provider: str
    set_by: str
    believed_from: float


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """
    One question of a point.

    Attributes:
        kind: `choice`, `predicate` or `score`.
        instructions: What is asked.
        answers: Answer → what it means.
        none: The answer that says "none of these"; None: there is none.
        conditions: When it is asked and counts, and where further options come from.

    """

    kind: str
    instructions: str
    answers: dict[str, str]
    none: str | None
    conditions: list[str]


class Explained(Told, frozen=True, kw_only=True):
    """
    One point, whole.

    Attributes:
        reads: The fields of the state that it reads; empty: the whole state.
        words: Which of them holds the words, for a state that is a text; empty: none.
        questions: Name → question.
        in_doubt: What happens where nobody decides.
        falls_back: Whether `current` decides where the provider is not believed.
        deadline: Seconds for the provider; None: none is set.
        variables: Who is asked for the provider, the first that says something wins.
        why: Part of the plan → the variable that set it.

    """

    reads: list[str]
    words: str
    questions: dict[str, Asked]
    in_doubt: str
    falls_back: bool
    deadline: float | None
    variables: list[str]
    why: dict[str, str]


def told(point: DecisionPoint, plan: Plan) -> Told:
    """Tell what *point* asks, who decides and why."""
    return Told(**_told(point, plan, next(iter(point.questions))))


def explained(point: DecisionPoint, plan: Plan, language: str) -> Explained:
    """Tell all of *point* that its declaration and its plan say."""
    questions = point.spoken(language)
    return Explained(
        **_told(point, plan, language),
        reads=list(point.reads),
        words=point.words,
        questions={name: _asked(point, name, one) for name, one in questions.items()},
        in_doubt=describing.in_doubt(point),
        falls_back=plan.fallback,
        deadline=plan.deadline,
        variables=describing.order(point),
        why=dict(plan.why),
    )


def near(name: str, there: Iterable[str]) -> str:
    """Give the name most like *name*; empty if none is."""
    return next(iter(difflib.get_close_matches(name, list(there), n=1)), "")


def _told(point: DecisionPoint, plan: Plan, language: str) -> dict[str, Any]:
    questions = point.spoken(language)
    return {
        "point": point.name,
        "asks": {name: describing.kind(one).lower() for name, one in questions.items()},
        "provider": plan.provider,
        "set_by": plan.why["provider"],
        "believed_from": plan.gate.minimum,
    }


def _asked(point: DecisionPoint, name: str, question: Question) -> Asked:
    return Asked(
        kind=describing.kind(question).lower(),
        instructions=question.instructions,
        answers=dict(describing.outcomes(question)),
        none=describing.sentinel(question),
        conditions=list(describing.conditions(point, name, question, repr)),
    )
