"""`PointsmanEvaluator`: the gateway as a judge of LlamaIndex."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Choice, Outcome, Predicate, Question, Score
from ...state import State
from ...wrapping import declared
from ..judges import fitted
from .prompts import TodaysPrompts


class _Verdict(NamedTuple):
    """What a provider found."""

    passing: bool | None
    score: float | None
    feedback: str | None = None


_Said: TypeAlias = EvaluationResult | _Verdict


class _Judged(NamedTuple):
    """What is judged; LlamaIndex passes it by these names."""

    query: str | None
    response: str | None
    contexts: Sequence[str] | None
    others: dict[str, Any]

    def shown(self, point: DecisionPoint) -> State:
        """Give what deciders are shown: the point's own fields, else what there is of the three."""
        sources = dict.fromkeys(("contexts", "evidence"), self.contexts)
        others = {**self.others, **sources, "expected": self.others.get("reference")}
        fields = point.reads or ("query", "response", "contexts")
        return fitted(fields, asked=self.query, given=self.response, others=others)

    def result(self, said: _Said) -> EvaluationResult:
        """Give what today's evaluator gave, or a provider's verdict as its own would be."""
        if isinstance(said, EvaluationResult):
            return said
        return EvaluationResult(
            query=self.query,
            response=self.response,
            contexts=self.contexts,
            passing=said.passing,
            score=said.score,
            feedback=said.feedback,
        )


class PointsmanEvaluator(TodaysPrompts, BaseEvaluator):
    """
    Judges by whoever the variables name, else by *current*; sync and async.

    A provider's judgement of a predicate has `passing` and the score 1 or 0. Of a score it has
    that score, on the point's own scale, and `passing` where the point declares a host's minimum,
    a share of that scale. Feedback is the label of a choice, if one is asked: nobody makes up more.

    Args:
        gateway: Decides who judges.
        point: Suffix of the point's variables, or a declaration. A point that names its fields is
            shown the query as its `question`, `text`, `message`, `input` or `query`, the response
            as its `answer`, `output` or `response`, the contexts as its `evidence` or `contexts`,
            a reference as its `expected`.
        question: What is asked about query, response and contexts; *true* passes. Absent: the
            catalogue's own.
        current: The evaluator of today. Its score is recorded as it is, whatever its scale.

    """

    def __init__(
        self,
        gateway: Gateway,
        point: str | DecisionPoint,
        question: Predicate | Score | None = None,
        *,
        current: BaseEvaluator,
    ) -> None:
        def judged(case: _Judged) -> _Said:
            return current.evaluate(case.query, case.response, case.contexts, **case.others)

        async def ajudged(case: _Judged) -> _Said:
            return await current.aevaluate(case.query, case.response, case.contexts, **case.others)

        lens = _lens(declared(point, question, gateway.points))
        decided = gateway.point(point, question, lens=lens)
        self._current = current
        self._judged: Callable[[_Judged], _Said] = decided(judged)
        self._ajudged: Callable[[_Judged], Awaitable[_Said]] = decided(ajudged)

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


def _lens(point: DecisionPoint) -> Lens:
    shown = partial(_shown, point)
    if point.predicate is not None:
        return Lens(state=shown, read=_passing, write=_held, blocks=False)
    return Lens(state=shown, read=partial(_scored, point), write=partial(_verdict, point))


def _shown(point: DecisionPoint, case: _Judged) -> State:
    return case.shown(point)


def _passing(result: EvaluationResult) -> bool | None:
    return result.passing


def _held(passing: bool) -> _Verdict:  # noqa: FBT001 - a truth
    return _Verdict(passing, float(passing))


def _scored(point: DecisionPoint, result: EvaluationResult) -> Outcome:
    """Read today's score as the answer of the point's score; what else is asked, it leaves open."""
    asked = _questions(point)
    if len(asked) == 1:
        return result.score
    return {name: result.score if isinstance(one, Score) else None for name, one in asked.items()}


def _verdict(point: DecisionPoint, outcome: Outcome) -> _Verdict:
    asked = _questions(point)
    said = outcome if isinstance(outcome, Mapping) else dict.fromkeys(asked, outcome)
    score = passing = label = None
    for name, question in asked.items():
        one = said.get(name)
        if isinstance(question, Score) and isinstance(one, int | float):
            score = float(one)
            share = (score - question.low) / (question.high - question.low)
            passing = None if point.host is None else point.host.clears(share)
        elif isinstance(question, Choice) and one is not None:
            label = str(one)
    return _Verdict(passing, score, label)


def _questions(point: DecisionPoint) -> Mapping[str, Question]:
    return next(iter(point.questions.values()))
