"""The plan of several goals: what `current` extracts, and how the chosen intents go into it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec

from ..gateway.errors import DeclarationError, NothingToAsk
from ..gateway.questions import Value

MAX_OPERATIONS: Final = 4
"""The most goals of one plan: the host's own bound."""

UNSUPPORTED: Final = "UNSUPPORTED"
"""A clear request that no intent covers; the host declines it in words."""

NOT_A_GOAL: Final = "NOT_A_GOAL"
"""No request of its own. No word of the host's: such fragments never reach it (A19)."""


class Goal(msgspec.Struct, frozen=True):
    """
    One goal of a message.

    Attributes:
        source_text: The literal words of the message.
        intent: What it pursues: a name of the catalogue or `UNSUPPORTED`; empty: not said.

    """

    source_text: str
    intent: str = ""


class GoalPlan(msgspec.Struct, frozen=True):
    """
    The goals of one message, in the message's order.

    Attributes:
        goals: The first is routed now, the others are pending topics.
        confidence: Of the whole plan, in [0, 1]; the least of all that went into it (A17).

    """

    goals: tuple[Goal, ...]
    confidence: float


def read_plan(value: object) -> GoalPlan | None:
    """
    Read what the wrapped function returned: a `GoalPlan`, or a dict of its shape.

    A goal may also be its words alone; a missing confidence is 0. None is no plan.

    Raises:
        DeclarationError: It has another shape, or a confidence outside [0, 1].

    """
    if value is None:
        return None
    plan = value if isinstance(value, GoalPlan) else _plan(value)
    if not 0 <= plan.confidence <= 1:  # what is no number is neither
        raise DeclarationError("a plan's confidence is a number from 0 to 1")
    return plan


def _plan(value: object) -> GoalPlan:
    try:
        given = cast("Mapping[str, Any]", value)
        goals = [_goal(one) for one in _listed(given["goals"])]
        said = given.get("confidence")
        plan = {"goals": goals, "confidence": 0.0 if said is None else said}
        return msgspec.convert(plan, GoalPlan)
    except (TypeError, KeyError, AttributeError, msgspec.ValidationError):
        shape = "{'goals': [{'source_text': …}, …], 'confidence': …}"
        raise DeclarationError(f"a plan is a GoalPlan or {shape}") from None


def _listed(goals: object) -> Iterable[Any]:
    if isinstance(goals, list | tuple):
        return cast("Iterable[Any]", goals)
    raise TypeError("goals come in order")


def _goal(one: Any) -> object:  # noqa: ANN401 - the host's own
    if isinstance(one, str):
        return {"source_text": one}
    if isinstance(one, Mapping):
        given = cast("Mapping[str, Any]", one)
        return {**given, "intent": "" if given.get("intent") is None else given["intent"]}
    return one


def extended(state: Mapping[str, Any], plan: GoalPlan) -> Mapping[str, Any]:
    """
    Put the extracted fragments into the state that is asked about.

    Raises:
        NothingToAsk: It has no goal.
        DeclarationError: More than four, or one whose words the message does not hold after
            those of the one before (A18): then the plan of `current` stands as it is.

    """
    if not plan.goals:
        raise NothingToAsk("the plan has no goal")
    if len(plan.goals) > MAX_OPERATIONS:
        raise DeclarationError(f"a plan has at most {MAX_OPERATIONS} goals, not {len(plan.goals)}")
    _found_in_order(_literal(state.get("message")), plan.goals)
    fragments = [
        {"order": at, "source_text": goal.source_text} for at, goal in enumerate(plan.goals, 1)
    ]
    return {**state, "goals": fragments}


def _found_in_order(message: str, goals: tuple[Goal, ...]) -> None:
    end = 0
    for at, goal in enumerate(goals, 1):
        words = _literal(goal.source_text)
        start = message.find(words, end)
        if not words or words not in message:
            raise DeclarationError(f"goal {at} is no literal part of the message")
        if start < 0:
            raise DeclarationError(f"goal {at} does not come after goal {at - 1} in the message")
        end = start + len(words)


def merged(plan: GoalPlan, outcome: Mapping[str, Value | None], confidence: float) -> GoalPlan:
    """
    Put the chosen intents into the *plan*: order kept, what is no goal left out (A19).

    Its confidence is the least of the extraction's and the decision's (A17).
    """
    chosen = [
        msgspec.structs.replace(goal, intent=str(outcome.get(f"goal_{at}") or goal.intent or ""))
        for at, goal in enumerate(plan.goals, 1)
    ]
    kept = tuple(goal for goal in chosen if goal.intent != NOT_A_GOAL)
    return GoalPlan(kept, min(plan.confidence, confidence))


def outcome(plan: GoalPlan) -> Mapping[str, Value | None]:
    """Give the intents that `current` itself said, by question."""
    return {f"goal_{at}": goal.intent or None for at, goal in enumerate(plan.goals, 1)}


def _literal(text: object) -> str:
    """Compare by characters, however they were typed or spaced."""
    return " ".join(unicodedata.normalize("NFC", text if isinstance(text, str) else "").split())
