"""
Ballots → what was voted for, under a rule that is said aloud.

A ballot is an option, or None: a member that failed, abstained or answered invalidly. Such a one
never becomes a vote for anything, and it stays in the denominator. A tie is an outcome: no winner,
and `tied` names the options. No result depends on the order of ballots or on a hash.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from ....gateway.evaluation.statistics.numerics import wilson
from .weights import NEAR, checked

Ballot = str | None


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """
    How a vote went.

    Attributes:
        winner: The option that the rule chose; None where it chose none.
        counts: (option, votes or weight or Borda points), most first, equals by name.
        share: Of the leading option in all that could have been given, abstainers among them;
            in [0, 1]; 0 where nobody voted.
        cast: Ballots with an option.
        expected: Voters, abstainers among them.
        tied: Options that share the lead, by name; empty where one leads alone.

    """

    winner: str | None
    counts: tuple[tuple[str, float], ...]
    share: float
    cast: int
    expected: int
    tied: tuple[str, ...] = ()


def strict_majority(ballots: Sequence[Ballot], expected: int | None = None) -> Tally:
    """
    Choose the option with more than half of all *expected* voters; half is not enough.

    Args:
        ballots: One for each voter that was heard.
        expected: Voters there should be; those without a ballot abstain. Default: the ballots.

    Raises:
        ValueError: More ballots than voters.

    """
    tally = plurality(ballots, expected)
    most = tally.counts[0][1] if tally.counts else 0
    return msgspec.structs.replace(
        tally, winner=tally.winner if 2 * most > tally.expected else None
    )


def plurality(ballots: Sequence[Ballot], expected: int | None = None) -> Tally:
    """
    Choose the option with the most votes; a shared lead chooses none.

    Raises:
        ValueError: More ballots than expected voters.

    """
    voters = len(ballots) if expected is None else expected
    if len(ballots) > voters:
        raise ValueError(f"{len(ballots)} ballots of {voters} voters")
    return _tally(((ballot, 1.0) for ballot in ballots), voters, float(voters))


def weighted(ballots: Sequence[Ballot], weights: Sequence[float]) -> Tally:
    """
    Choose the option with the most weight; an abstainer's weight stays in the denominator.

    Weights within 1e-9 of each other share the lead.

    Args:
        ballots: One for each voter.
        weights: Of the voters; finite, not below 0, of any scale.

    Raises:
        ValueError: Not one weight for each ballot, or one that is none.

    """
    total = math.fsum(checked(weights, len(ballots)))
    return _tally(zip(ballots, weights, strict=True), len(ballots), total)


def by_confidence(ballots: Sequence[Ballot], confidences: Sequence[float | None]) -> Tally:
    """
    Choose the option with the most confidence behind it; a missing one counts 0.

    Linear, without steps, so that no confidence falls between two of them. Self-reported
    confidence hardly says who is right: weigh by it only where it was measured.

    Raises:
        ValueError: Not one for each ballot, or one that lies outside [0, 1].

    """
    known = [0.0 if one is None else one for one in confidences]
    if not all(0.0 <= one <= 1.0 for one in known):
        raise ValueError(f"confidences {known}: each lies from 0 to 1")
    return weighted(ballots, known)


def borda(rankings: Sequence[Sequence[str] | None], options: Sequence[str]) -> Tally:
    """
    Choose by ranks: of m options the first of a ranking gets m − 1 points, the last 0.

    Options that a ranking leaves out share the points that are left, equally (Borda 1784; the
    averaged form for incomplete ballots). It may choose another option than `plurality`.

    Args:
        rankings: Best first; None abstains.
        options: All that may be ranked.

    Raises:
        ValueError: A ranking names an option twice, or one that is none.

    """
    voters = len(rankings)
    points = [pair for ranking in rankings for pair in _places(ranking, options)]
    most = float(voters * (len(options) - 1))
    tally = _tally(points, voters, most)
    cast = sum(ranking is not None for ranking in rankings)
    return msgspec.structs.replace(tally, cast=cast)


def vote_confidence(votes: int, voters: int, options: int = 2) -> float:
    """
    Probability to report for an option with so many votes: (v + 1) / (n + k), Laplace's rule.

    The plain share is too sure: three of three that agree are weak evidence (0.8 of 2 options).

    Args:
        votes: For the option.
        voters: All, abstainers among them.
        options: k, that could be voted for.

    Raises:
        ValueError: More votes than voters, a negative number, or no option.

    """
    if not 0 <= votes <= voters or options < 1:
        raise ValueError(f"{votes} votes of {voters} voters for one of {options} options")
    return (votes + 1) / (voters + options)


def wilson_lower(votes: int, voters: int, alpha: float = 0.05) -> float:
    """
    Lower end of the two-sided Wilson interval of a share of votes: a cautious confidence.

    Raises:
        ValueError: More votes than voters, a negative number, or alpha not between 0 and 1.

    """
    return wilson(votes, voters, alpha).low


def _places(ranking: Sequence[str] | None, options: Sequence[str]) -> list[tuple[Ballot, float]]:
    if ranking is None:
        return []
    if len(set(ranking)) < len(ranking) or not set(ranking) <= set(options):
        raise ValueError(f"ranking {list(ranking)} of the options {list(options)}")
    rest = len(options) - len(ranking)
    ranked = [(one, float(len(options) - 1 - at)) for at, one in enumerate(ranking)]
    left = [(one, (rest - 1) / 2) for one in options if one not in ranking]
    return [*ranked, *left]


def _tally(given: Iterable[tuple[Ballot, float]], expected: int, total: float) -> Tally:
    piles: dict[str, list[float]] = defaultdict(list)
    for ballot, weight in given:
        if ballot is not None:
            piles[ballot].append(weight)
    sums = {option: math.fsum(pile) for option, pile in piles.items()}
    counts = tuple(sorted(sums.items(), key=lambda pair: (-pair[1], pair[0])))
    most = counts[0][1] if counts else 0.0
    lead = tuple(sorted(one for one, votes in counts if most - votes <= NEAR)) if most else ()
    return Tally(
        winner=lead[0] if len(lead) == 1 else None,
        counts=counts,
        share=min(1.0, most / total) if total else 0.0,
        cast=sum(len(pile) for pile in piles.values()),
        expected=expected,
        tied=lead if len(lead) > 1 else (),
    )
