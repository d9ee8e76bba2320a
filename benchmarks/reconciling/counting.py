"""What a rule makes of a set, in many orders of arrival."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from pathlib import Path
from statistics import fmean

import msgspec

from pointsman.decision_points.facts.assertions import Recorded
from pointsman.decision_points.facts.folding import fold
from pointsman.decision_points.facts.keys import FactKey
from pointsman.decision_points.facts.outcomes import Outcome
from pointsman.decision_points.facts.times import when

from .reading import Told, told
from .rules import Answer, Rule, last_write, majority, newcomer
from .sets import Wanted

FEW = 10  # assertions, whose orders are certainly too many
NOW = when("2026-01-01").start  # after everything that the sets tell of


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one rule made of one set; shares and means over the orders.

    Attributes:
        coverage: Share of facts with an answer.
        right_when_decided: Share of right answers among those.
        wrong: Share of facts with a wrong answer.
        disputes: Facts that are in dispute, of a thousand.
        coin: Share that is right if each dispute is ended by a fair coin among its candidates.
        flips: How often a fact's answer became another one while assertions came in, mean.
        instability: Share of facts in conflict whose outcome depends on the order.
        microseconds: CPU time for one fact; None: not measured.

    """

    coverage: float
    right_when_decided: float
    wrong: float
    disputes: float
    coin: float
    flips: float
    instability: float
    microseconds: float | None = None


@dataclass
class Count:
    """What one fact came to, in every order."""

    decided: float = 0.0
    right: float = 0.0
    disputed: float = 0.0
    coin: float = 0.0
    flips: float = 0.0
    moved: bool = False
    conflict: bool = False


def orders(said: Sequence[Recorded], number: int) -> Iterator[list[Recorded]]:
    """Take every order if they are few, else shuffle; what was observed earlier comes earlier."""
    dice = random.Random(said[0].id)
    if math.factorial(min(len(said), FEW)) <= number:
        every: Iterable[Sequence[Recorded]] = permutations(dice.sample(said, len(said)))
    else:
        every = (dice.sample(said, len(said)) for _ in range(number))
    for one in every:
        yield sorted(one, key=_observed)


def _observed(one: Recorded) -> int:
    return one.assertion.observed_at.start if one.assertion.observed_at else 0


def by_rule(rule: Rule, key: FactKey, set_: Told, shuffles: int) -> Count:
    """Count what a rule that always answers says about a fact."""
    said, right = set_.facts[key], set_.right[key]
    found = [rule(order) for order in orders(said, shuffles)]
    first = next(orders(said, 1))
    share = fmean(one in right for one in found)
    steps = [rule(first[: end + 1]) for end in range(len(first))]
    return Count(
        decided=1.0,
        right=share,
        coin=share,
        flips=_flips(steps),
        moved=len(set(found)) > 1,
        conflict=clash(said),
    )


def by_fold(key: FactKey, set_: Told, shuffles: int) -> Count:
    """Count what the whole set comes to."""
    said, right = set_.facts[key], set_.right[key]

    def outcome(given: Sequence[Recorded]) -> Outcome:
        return fold(key, given, set_.policy, set_.registry, NOW)

    seen = {msgspec.json.encode(outcome(order)) for order in orders(said, shuffles)}
    came, first = outcome(said), next(orders(said, 1))
    decided, disputed = came.status == "resolved", came.status == "disputed"
    candidates = [one.value in right for one in came.candidates] if disputed else []
    good = decided and came.value in right
    return Count(
        decided=float(decided),
        right=float(good),
        disputed=float(disputed),
        coin=fmean(candidates) if candidates else float(good),
        flips=_flips([outcome(first[: end + 1]).value for end in range(len(first))]),
        moved=seen != {msgspec.json.encode(came)},
        conflict=clash(said),
    )


def clash(said: Iterable[Recorded]) -> bool:
    """Whether two values were said."""
    return len({one.assertion.value for one in said}) > 1


def _flips(answers: Iterable[Answer]) -> int:
    """Count answers that became others, whatever dispute lay between."""
    known = [one for one in answers if one is not None]
    return sum(a != b for a, b in pairwise(known))


def figures(counts: Sequence[Count], microseconds: float | None = None) -> Figures:
    """Put the counts of a set together."""
    decided = sum(one.decided for one in counts)
    right = sum(one.right for one in counts)
    clashes = [one.moved for one in counts if one.conflict]
    return Figures(
        coverage=decided / len(counts),
        right_when_decided=right / decided if decided else 0.0,
        wrong=(decided - right) / len(counts),
        disputes=1000 * fmean(one.disputed for one in counts),
        coin=fmean(one.coin for one in counts),
        flips=fmean(one.flips for one in counts),
        instability=fmean(clashes) if clashes else 0.0,
        microseconds=microseconds,
    )


def _speed(set_: Told) -> float:
    """Fold every fact once; CPU time of one in microseconds."""
    began = time.process_time()
    for key, said in set_.facts.items():
        fold(key, said, set_.policy, set_.registry, NOW)
    return 1e6 * (time.process_time() - began) / len(set_.facts)


def measured(folder: Path, wanted: Wanted, shuffles: int) -> dict[str, Figures]:
    """Measure every rule on a set; rule → figures, ours first."""
    found, plain = dict[str, Figures](), told(folder, wanted, wanted.ways[0])
    for way in wanted.ways:
        set_ = told(folder, wanted, way)
        counts = [by_fold(key, set_, shuffles) for key in set_.facts]
        found[way.name] = figures(counts, _speed(set_))
    for name, rule in _others(plain).items():
        found[name] = figures([by_rule(rule, key, plain, shuffles) for key in plain.facts])
    return found


def _others(set_: Told) -> dict[str, Rule]:
    return {
        "last write": last_write,
        "majority of sources": majority,
        "newcomer against the one in memory": newcomer(set_.registry),
    }
