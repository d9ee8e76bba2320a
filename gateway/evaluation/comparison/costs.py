"""What deciding costs: time, money, tokens, and how often another has to decide instead."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from statistics import fmean

import msgspec

from ...errors import Reason
from ..statistics.numerics import percentile
from .pairing import Pair
from .reading import Said, Seen

QUANTILES = (0.5, 0.95, 0.99)
DRAWS, LEAST = 200, 40
WORK = 2_000_000  # rows drawn in all: some seconds
FEWEST = 20  # timed answers from which an interval says something


class Quantile(msgspec.Struct, frozen=True):
    """
    One quantile of a time, in seconds.

    Attributes:
        q: Which, in [0, 1].
        seconds: Its value.
        low: Lower end of its 95 % interval, by drawing subjects; None for too few rows.
        high: Upper end.

    """

    q: float
    seconds: float
    low: float | None
    high: float | None


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """
    What asking one decider takes, live or in the background.

    Attributes:
        provider: Who.
        asked: How often.
        timed: Answers whose time is known; what was skipped or known already is not among them.
        quantiles: Of these times.
        reasons: Why an answer was not, or would not have been, believed: reason → answers.
        cost_per_1000: US dollars of a thousand asks; None if nobody knows.
        priced: Asks whose cost is known.
        tokens: Mean of an ask, read and written.
        models: As served → asks.

    """

    provider: str
    asked: int
    timed: int
    quantiles: tuple[Quantile, ...]
    reasons: Mapping[str, int]
    cost_per_1000: float | None
    priced: int
    tokens: float
    models: Mapping[str, int]


class Assigned(msgspec.Struct, frozen=True, kw_only=True):
    """
    Decisions by whom they were assigned to, whoever decided in the end.

    Attributes:
        variant: Who was assigned.
        decisions: How many.
        fallbacks: Where another had to decide: reason → decisions.
        undecided: Where nobody did.
        quantiles: Of the whole decision's time.
        cost_per_1000: US dollars of a thousand decisions, all attempts together, as far as known;
            None if no cost is.

    """

    variant: str
    decisions: int
    fallbacks: Mapping[str, int]
    undecided: int
    quantiles: tuple[Quantile, ...]
    cost_per_1000: float | None


class Rescue(msgspec.Struct, frozen=True, kw_only=True):
    """
    What came of it where one was asked to decide, was not believed, and the other decided.

    Attributes:
        question: The question's name.
        rows: Answers of both.
        differ: Where the fallback changed the answer.
        labelled: Rows whose right answer is known.
        fixed: The first was wrong, the fallback right.
        broke: The first was right, the fallback wrong.
        same: Both right, or both wrong.

    """

    question: str
    rows: int
    differ: int
    labelled: int
    fixed: int
    broke: int
    same: int


def effort(seen: Iterable[Seen], provider: str) -> Effort:
    """Sum up what asking *provider* takes."""
    rows = [(one.subject or one.id, one.said[provider]) for one in seen if provider in one.said]
    said = [one for _, one in rows]
    timed = [(one.seconds, unit) for unit, one in rows if one.sent]
    costs = [one.cost_usd for one in said if one.cost_usd is not None]
    reasons = Counter(one.reason.value for one in said if one.reason is not Reason.OK)
    return Effort(
        provider=provider,
        asked=len(said),
        timed=len(timed),
        quantiles=quantiles(timed),
        reasons=dict(reasons.most_common()),
        cost_per_1000=1000 * fmean(costs) if costs else None,
        priced=len(costs),
        tokens=fmean(one.tokens for one in said) if said else 0.0,
        models=_models(said),
    )


def _models(said: Sequence[Said]) -> Mapping[str, int]:
    return dict(Counter(one.model for one in said if one.model).most_common())


def assigned(seen: Sequence[Seen], variant: str) -> Assigned | None:
    """Sum up the decisions that were assigned to *variant*; None without any."""
    rows = [one for one in seen if one.variant == variant]
    if not rows:
        return None
    costs = [one.cost_usd for one in rows if one.cost_usd is not None]
    fallbacks = Counter(one.fallback.value for one in rows if one.fallback is not None)
    return Assigned(
        variant=variant,
        decisions=len(rows),
        fallbacks=dict(fallbacks.most_common()),
        undecided=sum(not one.provider for one in rows),
        quantiles=quantiles([(one.seconds, one.subject or one.id) for one in rows]),
        cost_per_1000=1000 * sum(costs) / len(rows) if costs else None,
    )


def quantiles(timed: Sequence[tuple[float, str]], seed: int = 7) -> tuple[Quantile, ...]:
    """
    Give p50, p95 and p99 of (seconds, subject), with bootstrap intervals over subjects.

    Whole subjects are drawn, because answers of one conversation are not independent.
    """
    if not timed:
        return ()
    ordered = sorted(timed)
    seconds = [one for one, _ in ordered]
    values = [percentile(seconds, q) for q in QUANTILES]
    if len(ordered) < FEWEST:
        return tuple(Quantile(q, at, None, None) for q, at in zip(QUANTILES, values, strict=True))
    units = sorted({unit for _, unit in ordered})
    place = {unit: index for index, unit in enumerate(units)}
    owners, dice = [place[unit] for _, unit in ordered], random.Random(seed)  # noqa: S311
    draws = max(LEAST, min(DRAWS, WORK // len(ordered)))
    drawn = [_drawn(seconds, owners, len(units), dice) for _ in range(draws)]
    return tuple(
        Quantile(q, at, percentile(several, 0.025), percentile(several, 0.975))
        for q, at, several in zip(QUANTILES, values, zip(*drawn, strict=True), strict=True)
    )


def _drawn(
    seconds: Sequence[float], owners: Sequence[int], units: int, dice: random.Random
) -> list[float]:
    """Draw subjects with replacement, and give the quantiles of their times."""
    weights = [0] * units
    for unit in dice.choices(range(units), k=units):
        weights[unit] += 1
    below = list(accumulate(map(weights.__getitem__, owners)))
    return [seconds[bisect_left(below, max(1.0, q * below[-1]))] for q in QUANTILES]


def rescue(question: str, rows: Sequence[Pair]) -> Rescue:
    """Count what the fallback changed; A decided after B, in *rows*, was not believed."""
    verdicts = [verdict for one in rows if (verdict := one.verdicts) is not None]
    fixed = sum(a and not b for a, b in verdicts)
    broke = sum(b and not a for a, b in verdicts)
    return Rescue(
        question=question,
        rows=len(rows),
        differ=sum(not one.agree for one in rows),
        labelled=len(verdicts),
        fixed=fixed,
        broke=broke,
        same=len(verdicts) - fixed - broke,
    )
