"""`PointsmanDecisionModel`: a decision point as LangChain's own decision model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ... import questions as ours
from ...errors import DeclarationError
from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from .. import needs
from .seeing import as_data, thread

try:
    from langchain_core.decisions import (
        Answer,
        BaseDecisionModel,
        Choice,
        ChoiceAnswer,
        ClassifierResponse,
        Noul,
        NoulAnswer,
        Question,
        Score,
        ScoreAnswer,
        State,
    )
    from langchain_core.messages import BaseMessage, UsageMetadata
    from pydantic import ConfigDict, Field, PrivateAttr
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...answers import Answer as Given
    from ...answers import Usage
    from ...records import Decision

_MEDIA = ("image", "image_url", "audio", "video", "file")


class PointsmanDecisionModel(BaseDecisionModel):
    """
    A decision model whose answers come from whom the plan of *point* names.

    What a provider answers comes back with its distribution as it was given, for thresholds
    that LangChain applies itself. If one question of a request is not answered well enough, or
    cannot be asked of anybody else (images, `Box`, a single label), *current* answers the whole
    request, once.

    Args:
        gateway: Decides who decides.
        point: Suffix of the point's variables, or a declaration.
        current: The decision model of today, the only fallback.

    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    gateway: Gateway = Field(exclude=True, repr=False)
    current: BaseDecisionModel
    model: str = "pointsman"
    _at_once: Callable[..., ClassifierResponse] = PrivateAttr()
    _awaited: Callable[..., Any] = PrivateAttr()

    def __init__(
        self, gateway: Gateway, point: str | DecisionPoint, *, current: BaseDecisionModel
    ) -> None:
        super().__init__(gateway=gateway, current=current)  # type: ignore[call-arg]

        def answer(state: State, questions: dict[str, Question]) -> ClassifierResponse:
            return current.invoke({"state": state, "questions": questions})

        async def answer_async(state: State, questions: dict[str, Question]) -> ClassifierResponse:
            return await current.ainvoke({"state": state, "questions": questions})

        wrap = gateway.point(point, _asked, lens=_LENS)
        self._at_once, self._awaited = wrap(answer), wrap(answer_async)

    @property
    def _provider(self) -> str:
        return "pointsman"

    def _classify(self, state: State, questions: dict[str, Question]) -> ClassifierResponse:
        decision = self.gateway.decide_sync(self._at_once, state, questions)
        return _response(decision, questions)

    async def _aclassify(self, state: State, questions: dict[str, Question]) -> ClassifierResponse:
        decision = await self.gateway.decide(self._awaited, state, questions)
        return _response(decision, questions)


# --- what is asked -----------------------------------------------------------------------


def _shown(state: State, questions: object) -> Any:  # noqa: ANN401, ARG001 - the call's own
    if isinstance(state, BaseMessage):
        return _plain(state)["content"]
    return _plain(state)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any state
    """
    Turn the messages in a state into data.

    Raises:
        DeclarationError: It holds an image or the like, which would not be seen.

    """
    if isinstance(value, BaseMessage):
        _plain(value.content)
        return as_data(value)
    if isinstance(value, Mapping):
        if value.get("type") in _MEDIA:
            raise DeclarationError("the state holds media, which only `current` may be shown")
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value


def _asked(state: State, questions: Mapping[str, Question]) -> dict[str, ours.Question]:  # noqa: ARG001
    return {name: _translated(name, one) for name, one in questions.items()}


def _translated(name: str, question: Question) -> ours.Question:
    if isinstance(question, Choice):
        options = {label: _said(text) for label, text in question.criteria.items()}
        return ours.Choice(_said(question.instructions), options)
    if isinstance(question, Noul):
        criteria = question.criteria
        true, false = (criteria.true, criteria.false) if criteria else (None, None)
        return ours.Predicate(_said(question.instructions), _said(true), _said(false))
    if isinstance(question, Score):
        levels = {str(at): _said(text) for at, text in enumerate(question.criteria)}
        return ours.Score(_said(question.instructions), levels)
    raise DeclarationError(f"{name!r} is a {type(question).__name__}, which no provider answers")


def _said(content: Any) -> str:  # noqa: ANN401 - any JSON
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(_plain(content), ensure_ascii=False)


# --- what is answered --------------------------------------------------------------------


def _response(decision: Decision[Any], questions: Mapping[str, Question]) -> ClassifierResponse:
    if not decision.answers:
        return cast("ClassifierResponse", decision.value)
    last = decision.attempts[-1]
    return ClassifierResponse(
        model=last.model or decision.provider,
        answers={name: _written(questions[name], one) for name, one in decision.answers.items()},
        usage=_counted(last.usage),
        request_id=last.request_id,
    )


def _counted(usage: Usage | None) -> UsageMetadata | None:
    if usage is None:
        return None
    total = usage.input_tokens + usage.output_tokens
    return UsageMetadata(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, total_tokens=total
    )


def _written(question: Question, answer: Given) -> Answer:
    spread = answer.distribution or {}
    if isinstance(question, Noul):
        return NoulAnswer(type="noul", noul=spread.get("true", float(answer.value is True)))
    sure = next((one for one in (answer.reported, answer.recomputed) if one is not None), 0.0)
    if isinstance(question, Choice):
        full = {label: spread.get(label, 0.0) for label in question.criteria} if spread else {}
        return ChoiceAnswer(
            type="choice", choice=str(answer.value), probabilities=full, confidence=sure
        )
    assert isinstance(question, Score)
    assert isinstance(answer.value, float | int)
    return ScoreAnswer(
        type="score",
        score=answer.value,
        legend=dict(enumerate(question.criteria)),
        probabilities={int(level): p for level, p in spread.items()},
        confidence=sure,
    )


def _outcome(response: ClassifierResponse) -> Any:  # noqa: ANN401 - one value, or several
    values = {name: _value(one) for name, one in response.answers.items()}
    return values if len(values) > 1 else next(iter(values.values()), None)


def _value(answer: Answer) -> ours.Value | None:
    if isinstance(answer, ChoiceAnswer):
        return answer.choice
    if isinstance(answer, NoulAnswer):
        return answer.noul >= 0.5  # noqa: PLR2004 - as LangChain's own middleware
    return answer.score if isinstance(answer, ScoreAnswer) else None


_LENS = Lens(state=_shown, session=thread, read=_outcome, write=lambda outcome: outcome)
