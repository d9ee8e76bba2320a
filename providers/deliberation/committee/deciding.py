"""
From ballots to one typed answer, question by question: pure functions, no I/O.

A choice goes to the strict majority of all voters *expected*, those who abstain among them, else
to what the declared rule says; a tie or no majority is an abstention. A predicate is the median of
the probabilities, or their geometric mean of odds clipped to [.01, .99]; where a voter states a
truth without a probability, it is a vote. A score is the median.

The confidence of a vote is (v + 1)/(n + 2), v ballots for the winner of n voters expected:
Laplace's rule of succession for the winner against the rest, whatever the number of options. That
of a predicate is the probability of the selected truth, that of a score 1 − IQR/range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ....gateway.answers import Chosen, Held, RawAnswer, Scored
from ....gateway.questions import Choice, Predicate, Question, Score
from ..measures.dispersion import dispersion
from ..measures.points import median
from ..measures.probabilities import geometric_mean_of_odds
from ..measures.votes import borda, plurality, strict_majority, vote_confidence
from .ballots import Ballot
from .settings import BothSides, PredicateRule, Rule

Why: TypeAlias = Literal["", "no_quorum", "no_majority", "tie", "both_sides", "spread"]
"""Why a question comes to nothing; empty: it does not."""

OPEN = ("no_majority", "tie")
"""What a judge's vote may still decide."""

TIED = 0.5  # a probability on neither side
SIDE = 3  # of both sides, each has at least one in so many ballots


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """
    By which rules ballots become an answer.

    Attributes:
        quorum: Fewest ballots.
        rule: What decides a vote that no strict majority decides.
        predicate_rule: How probabilities are put together.
        both_sides: What comes of a predicate with at least a third of the ballots on each side.
        max_spread: Largest interquartile range of a score, as a share of its range; None: any.

    """

    quorum: int = 1
    rule: Rule = "majority"
    predicate_rule: PredicateRule = "median"
    both_sides: BothSides = "answer"
    max_spread: float | None = None


class Finding(msgspec.Struct, frozen=True):
    """
    What one question comes to.

    Attributes:
        answer: As a provider gives it; None: the committee abstains.
        why: Why it abstains.
        notes: The numbers behind it; their names say where the confidence comes from.
            `vote_share`: of the ballots for the winner in the voters expected. `probability`:
            that the predicate is true. `dispersion`: IQR of the scores as a share of the range.

    """

    answer: RawAnswer | None
    why: Why = ""
    notes: Mapping[str, float] = {}


def found(
    question: Question,
    ballots: Sequence[Ballot],
    expected: int,
    policy: Policy,
    casting: Ballot | None = None,
) -> Finding:
    """
    Put the *ballots* on *question* together.

    Args:
        question: What was asked.
        ballots: The usable ones, at most one of each voter, in any order.
        expected: How many voters there are, those who abstain among them.
        policy: By which rules.
        casting: A judge's, who is one more voter where no majority decides.

    """
    if len(ballots) < max(1, policy.quorum):
        return Finding(None, "no_quorum")
    if isinstance(question, Score):
        return _score(question, ballots, policy)
    if isinstance(question, Predicate) and _is_probable(ballots):
        return _probable(ballots, policy)
    if isinstance(question, Predicate) and _is_divided(ballots, policy):
        return Finding(None, "both_sides")
    return _voted(question, ballots, expected, policy, casting)


def _voted(
    question: Choice | Predicate,
    ballots: Sequence[Ballot],
    expected: int,
    policy: Policy,
    casting: Ballot | None,
) -> Finding:
    winner = _elected(question, ballots, expected, policy, casting)
    if winner is None:
        tied = plurality(_names(ballots), expected).tied
        return Finding(None, "tie" if tied else "no_majority")
    votes, voters = _names(ballots), expected
    if casting is not None and strict_majority(votes, expected).winner is None:
        votes, voters = [*votes, *_names([casting])], expected + 1
    count = votes.count(winner)
    sure, notes = vote_confidence(count, voters), {"vote_share": count / voters}
    if isinstance(question, Choice):
        return Finding(Chosen(winner, confidence=sure), notes=notes)
    if 2 * count <= voters:  # less than half for it: no probability says that it is so
        return Finding(None, "no_majority")
    return Finding(Held(sure if winner == _name(value=True) else 1.0 - sure), notes=notes)


def _elected(
    question: Choice | Predicate,
    ballots: Sequence[Ballot],
    expected: int,
    policy: Policy,
    casting: Ballot | None,
) -> str | None:
    """Name the winner; a strict majority wins under every rule."""
    votes = _names(ballots)
    winner = strict_majority(votes, expected).winner
    if winner is not None or policy.rule == "majority":
        return winner
    if policy.rule == "judge":
        return None if casting is None else _name(casting.value)
    if policy.rule == "plurality":
        return plurality(votes, expected).winner
    return _by_ranks(question, ballots)


def _by_ranks(question: Choice | Predicate, ballots: Sequence[Ballot]) -> str | None:
    """Count ranks where every ballot has them: a voter with one option alone ranks nothing."""
    if isinstance(question, Predicate) or not all(one.ranking for one in ballots):
        return None
    return borda([one.ranking for one in ballots], list(question.options)).winner


def _probable(ballots: Sequence[Ballot], policy: Policy) -> Finding:
    if _is_divided(ballots, policy):
        return Finding(None, "both_sides")
    given = [one.probability for one in ballots if one.probability is not None]
    together = geometric_mean_of_odds if policy.predicate_rule == "odds" else median
    true = together(given)
    return Finding(Held(true), notes={"probability": true})


def _is_probable(ballots: Sequence[Ballot]) -> bool:
    return all(one.probability is not None for one in ballots)


def _is_divided(ballots: Sequence[Ballot], policy: Policy) -> bool:
    """Whether both sides are at least a third of the ballots; those at 0.5 are on neither."""
    if policy.both_sides == "answer":
        return False
    sides = [one.value for one in ballots if one.probability != TIED]
    least = min(sides.count(True), sides.count(False))
    return SIDE * least >= len(ballots)


def _score(question: Score, ballots: Sequence[Ballot], policy: Policy) -> Finding:
    """One number lies apart from none, so that nothing is known of how sure it is."""
    values = [float(one.value) for one in ballots]
    apart = dispersion(values, "linear")
    spread = None if apart is None else apart / (question.high - question.low)
    if spread is not None and policy.max_spread is not None and spread > policy.max_spread:
        return Finding(None, "spread")
    sure = None if spread is None else max(0.0, 1.0 - spread)
    notes = {} if spread is None else {"dispersion": spread}
    return Finding(Scored(question.index(median(values)), confidence=sure), notes=notes)


def _names(ballots: Sequence[Ballot]) -> list[str]:
    return [_name(one.value) for one in ballots]


def _name(value: object) -> str:
    return str(value)
