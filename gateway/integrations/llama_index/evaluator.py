"""`PointsmanEvaluator`: the gateway as a judge of LlamaIndex."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Predicate
from ...state import State
from .prompts import TodaysPrompts


class _Judged(NamedTuple):
    """What is judged; LlamaIndex passes it by these names."""

    query: str | None
    response: str | None
    contexts: Sequence[str] | None
    others: dict[str, Any]

    def shown(self) -> State:
        """Give what deciders are shown: what there is of the three."""
        given = {"query": self.query, "response": self.response, "contexts": self.contexts}
        return {name: one for name, one in given.items() if one is not None}

    def result(self, said: object) -> EvaluationResult:
        """Give what today's evaluator gave, or a provider's truth as its own would be."""
        if isinstance(said, EvaluationResult):
            return said
        return EvaluationResult(
            query=self.query,
            response=self.response,
            contexts=self.contexts,
            passing=bool(said),
            score=float(bool(said)),
        )


class PointsmanEvaluator(TodaysPrompts, BaseEvaluator):
    """
    Judges by whoever the variables name, else by *current*; sync and async.

    A provider's judgement has `passing`, the score 1 or 0, and no feedback.

    Args:
        gateway: Decides who judges.
        point: Suffix of the point's variables, or a declaration.
        question: What is asked about query, response and contexts; *true* passes. Absent: the
            catalogue's own.
        current: The evaluator of today.

    """

    def __init__(
        self,
        gateway: Gateway,
        point: str | DecisionPoint,
        question: Predicate | None = None,
        *,
        current: BaseEvaluator,
    ) -> None:
        def judged(case: _Judged) -> EvaluationResult | bool:
            return current.evaluate(case.query, case.response, case.contexts, **case.others)

        async def ajudged(case: _Judged) -> EvaluationResult | bool:
            return await current.aevaluate(case.query, case.response, case.contexts, **case.others)

        decided = gateway.point(point, question, lens=_LENS)
        self._current = current
        self._judged: Callable[[_Judged], EvaluationResult | bool] = decided(judged)
        self._ajudged: Callable[[_Judged], Awaitable[EvaluationResult | bool]] = decided(ajudged)

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,  # noqa: ANN401 - today's evaluator's own
    ) -> EvaluationResult:
        """Judge on this thread, also under a running loop where *current* can."""
        case = _Judged(query, response, contexts, kwargs)
        return case.result(self._judged(case))

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,  # noqa: ANN401 - today's evaluator's own
    ) -> EvaluationResult:
        """Judge what was answered."""
        case = _Judged(query, response, contexts, kwargs)
        return case.result(await self._ajudged(case))


def _passing(result: EvaluationResult) -> bool | None:
    return result.passing


_LENS = Lens(state=_Judged.shown, read=_passing, write=bool, blocks=False)
