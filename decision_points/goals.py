"""Several goals in one message: `current` cuts them out, a provider says what each pursues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from ..gateway.points import DecisionPoint, HostMinimum, Hybrid, OptionsFrom, Repeat
from ..gateway.questions import Choice
from .planning import UNSUPPORTED, GoalPlan, extended, merged, outcome, read_plan
from .reading import clears
from .routing import Intent
from .shares import fields


class Fragment(TypedDict, total=False):
    """
    One goal that was cut out of the message.

    Attributes:
        order: Its place, from 1.
        source_text: The literal words.

    """

    order: Required[int]
    source_text: Required[str]


class MultiIntentState(TypedDict, total=False):
    """
    What MULTI_INTENT sees.

    Attributes:
        message: The whole message, or what remains of it after a yes.
        goals: What was cut out of it, in order; the extraction puts it here.
        allowed_intents: The enabled intents, whose names are the options.
        secondary_only: The message goes along with a confirmation.
        transaction_context: Status, intent and tool of one in progress.

    """

    message: Required[str]
    goals: Required[Sequence[Fragment]]
    allowed_intents: Required[Sequence[Intent]]
    secondary_only: bool
    transaction_context: Mapping[str, Any] | None


MULTI_INTENT = DecisionPoint(
    name="MULTI_INTENT",
    questions={
        "en": {
            "goal": Choice(
                "Which intent does extracted goal {n} pursue?",
                {
                    "UNSUPPORTED": "A clear request that no intent covers",
                    "NOT_A_GOAL": (
                        "Not a request of its own: a detail, condition or limit of another one"
                    ),
                },
                sentinel="UNSUPPORTED",
                open=True,
            ),
        },
        "pt": {
            "goal": Choice(
                "Qual intenção o objetivo extraído {n} busca?",
                {
                    "UNSUPPORTED": "Um pedido claro que nenhuma intenção cobre",
                    "NOT_A_GOAL": "Não é um pedido próprio: detalhe, condição ou limite de outro",
                },
                sentinel="UNSUPPORTED",
                open=True,
            ),
        },
    },
    reads=fields(MultiIntentState),
    words="message",
    options={"goal": OptionsFrom("allowed_intents", "intent", "description")},
    repeats={"goal": Repeat("goals", "goal_{n}")},
    safe={"goal": None},  # no plan: the keyword plan or the normal routing
    host=HostMinimum(0.65, "the planner's threshold on the plan's confidence"),
    hybrid=Hybrid(read_plan, extended, merged, outcome),
)


def usable(plan: GoalPlan, confidence: float | None = 1.0) -> bool:
    """
    Say whether the host takes the *plan*: sure enough, with a goal that some intent covers.

    The host's own rules come after it: unknown intents void a plan, repeated ones are dropped.

    Args:
        plan: What the wrapped function returned.
        confidence: Of the decision, which the plan's own holds already; None
            (`confidence_of`): the host's own path decided, and no threshold is applied again.

    """
    covered = any(goal.intent not in ("", UNSUPPORTED) for goal in plan.goals)
    sure = None if confidence is None else min(plan.confidence, confidence)
    return covered and clears(MULTI_INTENT, sure)
