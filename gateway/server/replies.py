"""From a decision to its reply: answers as a provider gives them, and what is told beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..answers import Answer, Chosen, Held, RawAnswer, Scored, Stated, Usage
from ..errors import Reason
from ..questions import Choice, Outcome, Predicate, Question
from ..recording import outcome_of
from ..settings import CURRENT
from ..turnout import turnout

if TYPE_CHECKING:
    from ..records import Attempt, Decision

CUT_OFF = frozenset({Reason.CANCELLED, Reason.TIMEOUT})
COMMON = frozenset({"reported", "probability"})
"""Where a confidence comes from, unless its source is told: of the decider itself."""


def answers_of(
    asked: Mapping[str, Question], answers: Mapping[str, Answer]
) -> Mapping[str, RawAnswer]:
    """Give each question's answer as a provider would; one without a value is left out."""
    given = {name: _raw(question, answers.get(name)) for name, question in asked.items()}
    return {name: answer for name, answer in given.items() if answer is not None}


def _raw(question: Question, answer: Answer | None) -> RawAnswer | None:
    if answer is None or answer.value is None:
        return None
    spread, value = answer.distribution, answer.value
    if isinstance(question, Choice):
        return Chosen(str(value), spread, answer.reported)
    if isinstance(question, Predicate):
        return Stated(bool(value)) if spread is None else Held(spread["true"])
    levels = None if spread is None else [spread.get(label, 0.0) for label in question.levels]
    index = question.index(float(value))
    top = float(len(question.levels) - 1)
    return Scored(min(max(index, 0.0), top), levels, answer.reported)


def counting(asked: Mapping[str, Question], decision: Decision[Any]) -> Mapping[str, Answer]:
    """
    Give the answers as they count; one that a calculator, a person or a rule gives has no number.

    Args:
        asked: Question → question.
        decision: As it was made.

    """
    outcome, answers = decision.record.outcome, decision.answers
    if decision.undecided or outcome is None or outcome == outcome_of(answers):
        return answers
    named: Mapping[str, Any] = (
        outcome if isinstance(outcome, Mapping) else dict.fromkeys(asked, outcome)
    )
    given = {name: answers.get(name) for name in asked}
    return {
        name: one if one is not None and one.value == named.get(name) else Answer(value=named[name])
        for name, one in given.items()
        if name in named
    }


def stated(decision: Decision[Any]) -> bool:
    """Whether an answer is a truth without a probability, which no dialect has a word for."""
    given = decision.answers.values()
    return any(isinstance(one.value, bool) and one.distribution is None for one in given)


def usage_of(attempts: Sequence[Attempt]) -> Usage:
    """Add up what all attempts used, also the rejected ones: they were paid for."""
    used = [one.usage for one in attempts if one.usage is not None]
    costs = [one.cost_usd for one in used]
    return Usage(
        input_tokens=sum(one.input_tokens for one in used),
        output_tokens=sum(one.output_tokens for one in used),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        estimated=any(one.estimated for one in used),
    )


def cost_of(attempts: Sequence[Attempt]) -> float:
    """US dollars of all attempts, as far as they are known."""
    return sum((one.usage.cost_usd or 0.0 for one in attempts if one.usage is not None), 0.0)


def unbilled(attempts: Sequence[Attempt]) -> bool:
    """Whether somebody was asked and cut off, so that nobody knows what it cost."""
    return any(
        one.reason in CUT_OFF and one.usage is None and not one.cached and one.provider != CURRENT
        for one in attempts
    )


def told(decision: Decision[Any], called: Mapping[str, str]) -> dict[str, Any]:
    """
    Tell who decided, and how it came about.

    Args:
        decision: As it was made.
        called: Question → what the client calls it.

    """
    record = decision.record
    attempts = record.attempts
    last = attempts[-1] if attempts else None
    said = _told(record.id, record.provider, attempts, record.reason.value)
    said["fallback"] = record.fallback
    said["undecided"] = record.undecided
    said["cached"] = last is not None and last.cached
    answers = decision.answers
    sources = {name: answers[one].source for one, name in called.items() if one in answers}
    if not COMMON.issuperset(sources.values()):
        said["sources"] = sources
    numberless = record.outcome is not None and record.outcome != outcome_of(answers)
    if record.undecided or numberless or stated(decision):
        said["outcome"] = _plain(record.outcome)
    return said


def told_unanswered(id_: str, attempts: Sequence[Attempt], reason: str) -> dict[str, Any]:
    """Tell of a decision that nobody was believed in, and that nobody stood behind."""
    said = _told(id_, "", attempts, reason)
    return {**said, "fallback": False, "undecided": False, "cached": False}  # as is recorded


def _told(id_: str, provider: str, attempts: Sequence[Attempt], reason: str) -> dict[str, Any]:
    model = attempts[-1].model if attempts and provider else ""
    said = {"decision": id_, "provider": provider, "model": model, "reason": reason}
    several = turnout(attempts)
    return said if several is None else {**said, "turnout": msgspec.to_builtins(several)}


def _plain(outcome: Outcome) -> Any:  # noqa: ANN401 - JSON
    return dict(outcome) if isinstance(outcome, Mapping) else outcome
