"""`PointsmanDecisionModel`: the gateway as Pydantic AI's own decision model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final, assert_never

import msgspec
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.decision import (
    ChoiceAnswer,
    ChoiceQuestion,
    DecisionAnswer,
    DecisionHandOff,
    DecisionModel,
    DecisionModelSettings,
    DecisionQuestion,
    DecisionRequest,
    DecisionResponse,
    NoulAnswer,
    NoulCriteria,
    NoulQuestion,
    ScoreAnswer,
    ScoreQuestion,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from ...answers import Answer
from ...consulting import Consultation
from ...errors import SetupError
from ...gateway import Gateway
from ...kinds import LEVELS, OPTIONS
from ...questions import Ask, Choice, Predicate, Question, Score, Value, When
from ...records import Record
from .seen import holds_files


class PointsmanDecisionModel(DecisionModel[None]):
    """
    A decision model whose answers come from the planned provider of a point.

    Where the plan is `current`, or the provider is not believed, the whole request is current's:
    of *current*, or of the language model behind it, to which `DecisionHandOff` hands it:

        FallbackModel(PointsmanDecisionModel(gateway, "TRIAGE"), llm, fallback_on=DecisionHandOff)

    What comes back are the provider's own distributions; the framework's thresholds apply to
    them afterwards, the gateway's confidence only says whose they are.

    Args:
        gateway: Who decides.
        point: Suffix of the point's variables; its questions are the agent's output fields.
        current: The decision model of today.

    Raises:
        SetupError: *current* is another kind of model.

    """

    supports_image_input: ClassVar[bool] = False
    max_choice_options: ClassVar[int | None] = OPTIONS[1]
    max_score_levels: ClassVar[int | None] = LEVELS[1]
    requires_instructions: ClassVar[bool] = True

    def __init__(
        self, gateway: Gateway, point: str, *, current: DecisionModel[Any] | None = None
    ) -> None:
        super().__init__()
        if current is not None and not isinstance(
            current, DecisionModel
        ):  # the host may be untyped
            problem = "`current` is a decision model"
            fix = "Put a language model behind it: FallbackModel(…, fallback_on=DecisionHandOff)"
            raise SetupError.of(point, problem, fix)
        self._gateway = gateway
        self._point = gateway.asks(point, _PLACEHOLDER)
        self._current = current

    @property
    def model_name(self) -> str:
        """The point's name: which model answers is a matter of its plan."""
        return self._point.name

    @property
    def system(self) -> str:
        """Who is asked, as traces name it."""
        return "pointsman"

    @property
    def base_url(self) -> str | None:
        """None: there is no one address."""
        return None

    def prepare_request(
        self,
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> tuple[ModelSettings | None, ModelRequestParameters]:
        """
        Prepare a request as all models do; an output that is text goes to who stands behind.

        Raises:
            DecisionHandOff: It is text, or another that no decision model can give.

        """
        try:
            return super().prepare_request(model_settings, model_request_parameters)
        except UserError:
            if self._current is not None:
                raise
            raise self._hand_off() from None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """
        Answer with the output's fields, or hand the step to current untouched.

        What holds an image or another file is current's too: deciders cannot be shown it. So is
        an output that is no question, such as a text: nobody is asked about it.

        Raises:
            DecisionHandOff: Current decides, and it stands behind this model.

        """
        if self._gateway.untouched(self._point) or holds_files(messages):
            return await self._todays(messages, model_settings, model_request_parameters)
        try:
            return await super().request(messages, model_settings, model_request_parameters)
        except UserError:  # the framework has looked at the output's fields, and asked nobody yet
            return await self._todays(messages, model_settings, model_request_parameters)

    async def _todays(self, *request: Any) -> ModelResponse:  # noqa: ANN401 - as it came
        if self._current is None:
            raise self._hand_off()
        return await self._current.request(*request)

    async def decide(
        self, request: DecisionRequest, model_settings: DecisionModelSettings
    ) -> DecisionResponse:
        """
        Ask all *request*'s questions at once; if any is undecided, current decides them all.

        Raises:
            DecisionHandOff: Current decides, and it stands behind this model.
            NoAnswer: The provider is not believed, and the plan has no fallback.

        """
        questions = _questions(request.questions)
        consultation = self._gateway.consultation(self._point, Ask(request.state, questions))
        decision = await consultation.ask()
        if decision is None:
            return await self._by_current(request, model_settings, consultation)
        return _response(decision.record, questions)

    async def _by_current(
        self,
        request: DecisionRequest,
        model_settings: DecisionModelSettings,
        consultation: Consultation,
    ) -> DecisionResponse:
        if self._current is None:
            raise self._hand_off()
        response = await self._current.decide(request, model_settings)
        consultation.observe(_outcome(response.answers))
        return response

    def _hand_off(self) -> DecisionHandOff:
        told = f"{self._point.name} is current's: put a model behind it, with `FallbackModel`"
        return DecisionHandOff(self._point.name, "current", 0.0, told)


_PLACEHOLDER: Final = Predicate("Is it so?")  # what is asked comes with each request
_ROUTE: Final = "route"  # so the framework calls the question that picks between tools and outputs


def _questions(asked: Mapping[str, DecisionQuestion]) -> dict[str, Question]:
    """Ask for the route first: the fields of a route count only where it is the one taken."""
    routes = asked.get(_ROUTE)
    if not isinstance(routes, ChoiceQuestion):
        return {name: _question(one) for name, one in asked.items()}
    questions = {_ROUTE: _question(routes)}
    for name, one in asked.items():
        of = next((route for route in routes.criteria if name.startswith(f"{route}.")), None)
        if name != _ROUTE:
            when = None if of is None else When(_ROUTE, (of,))
            questions[name] = msgspec.structs.replace(_question(one), when=when)
    return questions


def _question(asked: DecisionQuestion) -> Question:
    said = _text(asked.instructions)
    if isinstance(asked, NoulQuestion):
        means = asked.criteria or NoulCriteria()
        return Predicate(said, _text(means.true), _text(means.false))
    if isinstance(asked, ChoiceQuestion):
        return Choice(said, {name: _text(text) for name, text in asked.criteria.items()})
    if isinstance(asked, ScoreQuestion):
        return Score(said, {str(level): _text(text) for level, text in enumerate(asked.criteria)})
    assert_never(asked)


def _text(said: object) -> str:
    """Write what may be JSON: a mapping's parts each on a line."""
    if said is None or isinstance(said, str):
        return said or ""
    if isinstance(said, Mapping):
        return "\n".join(f"{name}: {_text(one)}" for name, one in said.items())
    return json.dumps(said, ensure_ascii=False)


def _response(record: Record, questions: Mapping[str, Question]) -> DecisionResponse:
    attempt = record.attempts[-1]
    used = attempt.usage
    return DecisionResponse(
        answers={
            name: _answer(one, record.answers[name])
            for name, one in questions.items()
            if record.answers[name].value is not None  # of a route that is not taken
        },
        model_name=attempt.model or record.provider,
        usage=RequestUsage(
            input_tokens=used.input_tokens if used else 0,
            output_tokens=used.output_tokens if used else 0,
        ),
        provider_response_id=attempt.request_id,
    )


def _answer(question: Question, answer: Answer) -> DecisionAnswer:
    value, spread = answer.value, answer.distribution
    if isinstance(question, Predicate):
        said = 1.0 if value else 0.0  # of one that says no more
        return NoulAnswer(noul=said if spread is None else spread["true"])
    if isinstance(question, Choice):
        option = str(value)
        alone = {option: answer.confidence}
        return ChoiceAnswer(
            choice=option, confidence=answer.confidence, probabilities=dict(spread or alone)
        )
    index = question.index(float(value or 0.0))
    levels = {str(round(index)): answer.confidence} if spread is None else spread
    by_level = {int(one): p for one, p in levels.items()}
    return ScoreAnswer(score=index, confidence=answer.confidence, probabilities=by_level)


def _outcome(answers: Mapping[str, DecisionAnswer]) -> Value | Mapping[str, Value]:
    """Read what today's decision model said, for shadows and splits to compare with."""
    values = {name: _value(one) for name, one in answers.items()}
    return next(iter(values.values())) if len(values) == 1 else values


def _value(answer: DecisionAnswer) -> Value:
    if isinstance(answer, NoulAnswer):
        return answer.noul >= 0.5  # noqa: PLR2004 - more likely than not
    return answer.choice if isinstance(answer, ChoiceAnswer) else answer.score
