"""`PointsmanEvaluator`: a judge of Pydantic Evals that a decision point switches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, TypeAlias

from .. import judges, needs

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
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Question
from ...state import State

_Judge: TypeAlias = Callable[[EvaluatorContext[Any, Any, Any]], Awaitable[Any]]


def judged(ctx: EvaluatorContext[Any, Any, Any]) -> State:
    """Show what was asked, what came of it, and what was expected, where that is known."""
    seen = {"input": ctx.inputs, "output": ctx.output, "expected": ctx.expected_output}
    return {name: one for name, one in seen.items() if one is not None}


def fitted(ctx: EvaluatorContext[Any, Any, Any], fields: Collection[str]) -> State:
    """
    Show a case in a point's own *fields*, each by its name.

    What was asked is its `question`, `message`, `text` or `input`, what came of it its `answer`
    or `output`, what was expected `expected`; others are those of the case's metadata.
    """
    noted = ctx.metadata if isinstance(ctx.metadata, Mapping) else {}
    others = {**noted, "expected": ctx.expected_output}
    return judges.fitted(fields, asked=ctx.inputs, given=ctx.output, others=others)


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
        state: Context → what deciders are shown; absent: the fields that the point reads, see
            `fitted`; of a point that names none, input, output and expected output. What does
            not fit leaves the case to *current*.

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
        state: Callable[[EvaluatorContext[Any, Any, Any]], State] | None = None,
    ) -> None:
        self.point = gateway.asks(point, question)
        self._gateway, self._state = gateway, state
        self._today = None if current is None else self._switched(current)

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> EvaluatorOutput:
        """Judge one case."""
        if self._today is not None:
            return await self._today(ctx)
        outcome = (await self._gateway.ask(self.point, self._shown(ctx))).value
        if isinstance(outcome, Mapping):  # of what is undecided a report says nothing
            return {name: one for name, one in outcome.items() if one is not None}
        return outcome  # type: ignore[no-any-return]

    def _switched(self, current: Evaluator[Any, Any, Any]) -> _Judge:
        @self._gateway.point(self.point, lens=Lens(state=self._shown, read=_read))
        async def today(ctx: EvaluatorContext[Any, Any, Any]) -> Any:  # noqa: ANN401 - the host's own
            return await current.evaluate_async(ctx)

        return today

    def _shown(self, ctx: EvaluatorContext[Any, Any, Any]) -> State:
        if self._state is not None:
            return self._state(ctx)
        return fitted(ctx, self.point.reads) if self.point.reads else judged(ctx)

    def get_default_evaluation_name(self) -> str:
        """Name it as reports show it: after its point."""
        return self.point.name.lower()

    def as_spec(self) -> EvaluatorSpec:
        """Write it as plain data: its point, and nothing of the gateway."""
        return EvaluatorSpec(name=self.get_serialization_name(), arguments=(self.point.name,))


def _read(output: object) -> Any:  # noqa: ANN401 - an outcome
    return output.value if isinstance(output, EvaluationReason) else output
