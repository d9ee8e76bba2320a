"""`PointsmanEvaluator`: a judge of Pydantic Evals that a decision point switches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import needs

try:
    from pydantic_evals.evaluators import (
        EvaluationReason,
        Evaluator,
        EvaluatorContext,
        EvaluatorOutput,
        EvaluatorSpec,
    )
except ImportError as missing:
    raise needs("pydantic-ai", "Pydantic Evals, with pydantic-evals beside it") from missing

from ...gateway import Gateway
from ...points import DecisionPoint
from ...questions import Question
from ...state import State


def judged(ctx: EvaluatorContext[Any, Any, Any]) -> State:
    """Show what was asked, what came of it, and what was expected, where that is known."""
    seen = {"input": ctx.inputs, "output": ctx.output, "expected": ctx.expected_output}
    return {name: one for name, one in seen.items() if one is not None}


class PointsmanEvaluator(Evaluator[Any, Any, Any]):
    """
    An evaluator that is a judge point; *current*, another evaluator, is its only fallback.

    Where current decides, its output is passed on untouched, reasons included. A provider's
    verdict is a truth, a label or a number, without a reason: nobody makes one up.

    Args:
        gateway: Who decides.
        point: The judge: a name or a declaration, the catalogue's too.
        question: What is asked, for a point of your own.
        current: The evaluator of today.
        state: Context → what deciders are shown; absent: input, output and expected output.

    Raises:
        SetupError: No *current*, and the point says nothing of what happens in doubt; at the
            first evaluation.

    """

    def __init__(
        self,
        gateway: Gateway,
        point: str | DecisionPoint,
        question: Question | Mapping[str, Question] | None = None,
        *,
        current: Evaluator[Any, Any, Any] | None = None,
        state: Callable[[EvaluatorContext[Any, Any, Any]], State] = judged,
    ) -> None:
        self.point = gateway.asks(point, question)
        self._gateway, self._current, self._state = gateway, current, state

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> EvaluatorOutput:
        """Judge one case."""
        current = self._current
        decision = await self._gateway.ask(
            self.point,
            self._state(ctx),
            current=None if current is None else lambda: current.evaluate_async(ctx),
            read=_read,
        )
        return decision.value  # type: ignore[no-any-return]

    def get_default_evaluation_name(self) -> str:
        """Name it as reports show it: after its point."""
        return self.point.name.lower()

    def as_spec(self) -> EvaluatorSpec:
        """Write it as plain data: its point, and nothing of the gateway."""
        return EvaluatorSpec(name=self.get_serialization_name(), arguments=(self.point.name,))


def _read(output: object) -> Any:  # noqa: ANN401 - an outcome
    return output.value if isinstance(output, EvaluationReason) else output
