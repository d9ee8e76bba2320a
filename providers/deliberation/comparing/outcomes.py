"""From members' answers to an arm's outcome: by the committee's own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ....gateway.answers import Answer, Chosen, Held, RawAnswer, Scored
from ....gateway.questions import Predicate, Question, Score, Value
from ..committee.ballots import ballots_of
from ..committee.deciding import Policy, found
from ..measures.probabilities import selected
from ..protocols.terms import Terms
from .rows import Values

Answers = Mapping[str, Answer]


class Outcome(msgspec.Struct, frozen=True):
    """
    What an arm says.

    Attributes:
        given: Question → answer; None: it says nothing.
        sure: The least confidence of a choice or predicate that decides, in [0, 1]; None:
            there is none.
        why: `ok`, or why it says nothing.

    """

    given: Values | None
    sure: float | None = None
    why: str = "ok"


def voted(
    questions: Mapping[str, Question],
    heard: Sequence[Answers],
    expected: int,
    policy: Policy,
) -> Outcome:
    """
    Put members' answers together.

    Args:
        questions: What was asked.
        heard: Answers of the members that count.
        expected: How many were to answer.
        policy: By which rules.

    """
    given: dict[str, Value | None] = {}
    sure: list[float] = []
    for name, question in questions.items():
        if not _is_live(question, given):
            given[name] = None
            continue
        finding = found(question, ballots_of(heard, name, question), expected, policy)
        if finding.answer is None:
            if not question.advisory:
                return Outcome(None, why=finding.why)
            given[name] = None
        else:
            given[name], confidence = _read(question, finding.answer)
            counts = not (question.advisory or isinstance(question, Score))
            sure += [confidence] if counts and confidence is not None else []
    return Outcome(given, min(sure, default=None))


def policy_of(rule: str, expected: int) -> Policy:
    """Give the committee's rules for a panel of this size, with its own quorum."""
    return msgspec.convert({"quorum": Terms().least(expected), "rule": rule}, Policy)


def told(questions: Mapping[str, Question], answers: Answers) -> Outcome:
    """Take one decider's own answers as the outcome."""
    sure = [
        answers[name].confidence
        for name, question in questions.items()
        if name in answers and answers[name].source != "current"
        if answers[name].value is not None
        if not (question.advisory or isinstance(question, Score))
    ]
    return Outcome(values(answers), min(sure, default=None))


def values(answers: Answers) -> dict[str, Value | None]:
    """Give each question's value."""
    return {name: answer.value for name, answer in answers.items()}


def _is_live(question: Question, given: Values) -> bool:
    return question.when is None or given.get(question.when.question) in question.when.answers


def _read(question: Question, answer: RawAnswer) -> tuple[Value | None, float | None]:
    if isinstance(answer, Held):
        tie = isinstance(question, Predicate) and question.tie
        return selected(answer.probability, tie=tie)
    if isinstance(answer, Scored) and isinstance(question, Score):
        return question.value(answer.score), answer.confidence
    assert isinstance(answer, Chosen)
    return answer.option, answer.confidence
