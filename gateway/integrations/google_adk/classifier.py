"""`PointsmanClassifier`: the gateway as the classifier of ADK's `ClassifierNode`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from google.adk.labs.classifiers import (
    BaseClassifier,
    Binary,
    BinaryAnswer,
    Choice,
    ChoiceAnswer,
    ClassifierInput,
    ClassifierResponse,
    Question,
    ScoreAnswer,
)
from pydantic import PrivateAttr

from ... import kinds
from ...answers import Answer
from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Outcome, Value
from ...records import Decision
from ...state import State
from .seeing import readable, worded

HALF: Final = 0.5  # where a probability becomes a truth, for records: `classify` knows no threshold
LABEL: Final = "Which label fits?"  # what is asked where the question brings no instructions
TRUTH: Final = "Does it meet the description?"
LEVEL: Final = "Which level fits?"


class PointsmanClassifier(BaseClassifier):
    """
    Answers ADK's typed questions by whoever the variables name, else by *current*.

    Answers carry the provider's own distribution; the gateway's threshold only decides whether
    the provider or *current* answers. Where one question of several is undecided, *current*
    answers all of them, once. It alone answers what a provider cannot be asked: input that is
    more than words, or none; more options than a choice may have.

    `classify` is given no context: the decision is about the session bound around it, by
    `PointsmanPlugin` or `gateway.session`.

    Args:
        gateway: Decides who answers.
        point: Suffix of the point's variables, or a declaration.
        current: The classifier that answers today.

    """

    _gateway: Gateway = PrivateAttr()
    _classified: Callable[[_Call], Awaitable[ClassifierResponse | None]] = PrivateAttr()

    def __init__(
        self, gateway: Gateway, point: str | DecisionPoint, *, current: BaseClassifier
    ) -> None:
        super().__init__(model="pointsman")

        async def classified(call: _Call) -> ClassifierResponse | None:
            return await current.classify(input=call.input, questions=call.questions)

        self._gateway = gateway
        self._classified = gateway.point(point, _asked, lens=_LENS)(classified)

    async def classify(
        self,
        *,
        input: ClassifierInput,  # noqa: A002 - ADK's name
        questions: Mapping[str, Question],
    ) -> ClassifierResponse:
        """
        Answer all questions about the input.

        Raises:
            NoAnswer: The provider is not believed, and the plan has no fallback.

        """
        decision = await self._gateway.decide(self._classified, _Call(input, questions))
        return decision.value or _response(decision, questions)


class _Call(NamedTuple):
    """One call of `classify`."""

    input: ClassifierInput
    questions: Mapping[str, Question]

    def shown(self) -> State:
        """
        Give what deciders are shown.

        Raises:
            DeclarationError: It holds more than words, or none.

        """
        return readable(self.input)


def _asked(call: _Call) -> Mapping[str, kinds.Question]:
    return {name: _question(one) for name, one in call.questions.items()}


def _question(question: Question) -> kinds.Question:
    said = worded(question.instructions)
    if isinstance(question, Choice):
        options = {label: worded(text) for label, text in question.criteria.items()}
        return kinds.Choice(said or LABEL, options)
    if isinstance(question, Binary):
        return kinds.Predicate(said or TRUTH, worded(question.criteria))
    levels = {str(level): worded(text) for level, text in enumerate(question.criteria)}
    return kinds.Score(said or LEVEL, levels)


def _response(decision: Decision[Any], questions: Mapping[str, Question]) -> ClassifierResponse:
    answers = {
        name: _answer(question, decision.answers[name]) for name, question in questions.items()
    }
    return ClassifierResponse(answers=answers, model_version=decision.attempts[-1].model or None)


def _answer(question: Question, answer: Answer) -> ChoiceAnswer | BinaryAnswer | ScoreAnswer:
    spread = answer.distribution or {}
    sure: Mapping[str, Any] = {"confidence": answer.reported}
    if isinstance(question, Choice):
        full = {label: spread.get(label, 0.0) for label in question.criteria} if spread else {}
        return ChoiceAnswer(choice=str(answer.value), probabilities=full, **sure)
    if isinstance(question, Binary):
        return BinaryAnswer(probability=spread.get("true", float(bool(answer.value))), **sure)
    levels = {int(level): probability for level, probability in spread.items()}
    return ScoreAnswer(score=float(answer.value or 0.0), probabilities=levels, **sure)


def _outcome(response: ClassifierResponse) -> Outcome:
    """Read what *current* answered, for records and comparisons."""
    values = {name: _value(answer) for name, answer in response.answers.items()}
    return next(iter(values.values())) if len(values) == 1 else values


def _value(answer: ChoiceAnswer | BinaryAnswer | ScoreAnswer) -> Value:
    if isinstance(answer, ChoiceAnswer):
        return answer.choice
    return answer.probability >= HALF if isinstance(answer, BinaryAnswer) else answer.score


def _unsaid(_: object) -> None:
    """Say nothing in *current*'s place: `classify` reads the decision itself."""


_LENS = Lens(state=_Call.shown, read=_outcome, write=_unsaid)
