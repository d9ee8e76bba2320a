"""What a member's checked answer to one question is worth: a vote, a probability, a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from ....gateway.answers import Answer
from ....gateway.questions import Choice, Question, Score, Value, may_answer


class Ballot(msgspec.Struct, frozen=True):
    """
    One usable answer of one voter to one question.

    Attributes:
        value: The option, the truth, or the number on the score's scale.
        probability: That the predicate is true, in [0, 1]; None: the voter stated a truth.
        ranking: All options from most to least likely; empty where the voter does not order
            them.

    """

    value: Value
    probability: float | None = None
    ranking: tuple[str, ...] = ()


def ballot_of(question: Question, answer: Answer) -> Ballot | None:
    """
    Give the ballot of a checked *answer*; None: this voter abstains.

    The host's own path is a voter whose values nobody has checked, so that they are here.
    """
    value, given = answer.value, answer.distribution
    if isinstance(question, Score):
        return _number(question, value)
    if value is None or not may_answer(question, value):
        return None
    if isinstance(question, Choice):
        return Ballot(value, ranking=_ranked(question, str(value), given or {}))
    return Ballot(value, None if given is None else given.get("true"))


def ballots_of(said: Iterable[Mapping[str, Answer]], name: str, question: Question) -> list[Ballot]:
    """Collect the ballots on the *question* of that *name* from what was said."""
    given = [answers[name] for answers in said if name in answers]
    ballots = [ballot_of(question, answer) for answer in given]
    return [ballot for ballot in ballots if ballot is not None]


def _number(question: Score, value: Value | None) -> Ballot | None:
    """A number an ulp beside the scale is on it, as acceptance reads one."""
    if isinstance(value, bool | str) or value is None or not math.isfinite(value):
        return None
    slack = 1e-6 * (question.high - question.low)
    if not question.low - slack <= value <= question.high + slack:
        return None
    return Ballot(min(question.high, max(question.low, value)))


def _ranked(question: Choice, chosen: str, given: Mapping[str, float]) -> tuple[str, ...]:
    """Options of one probability are in no order, so that nothing is ranked by their names."""
    rest = [given.get(name, 0.0) for name in question.options if name != chosen]
    if not given or len(set(rest)) < len(rest):
        return ()
    named = [name for name in question.options if name != chosen]
    return (chosen, *sorted(named, key=lambda name: -given.get(name, 0.0)))
