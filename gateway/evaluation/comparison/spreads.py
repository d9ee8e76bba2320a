"""One decider's answers over all thresholds: what these rows look like, and no promise."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..statistics.certifying import Certified, certify
from ..statistics.numerics import exact_upper
from ..statistics.selective import risk_coverage
from .answering import Given
from .judging import Sureness, sureness
from .watching import surely_above

DELTA = 0.05
LADDER = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
POINTS = 200  # of a drawn curve
FIFTH, LEAST = 5, 50  # the most confident fifth, where it has so many labelled rows


class Rung(msgspec.Struct, frozen=True):
    """
    What one raw threshold would do.

    Attributes:
        threshold: Least probability that is decided.
        decided: Answers from it on.
        labelled: Those of them whose right answer is known.
        errors: Wrong ones.
        bound: Exact upper bound of the error rate, at 95 %, had the threshold been chosen blindly.

    """

    threshold: float
    decided: int
    labelled: int
    errors: int
    bound: float


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """
    One decider's answers to one question.

    Attributes:
        provider: Who.
        question: The question's name.
        rows: Asked, also those without a valid answer.
        labelled: Answers whose right answer is known, and whose probability is.
        rungs: At common thresholds; empty where no probability is given.
        curve: (coverage, risk) of the labelled rows, thinned out for drawing.
        sureness: How well its probabilities sort right from wrong; None without labels.
        certifiable: These labels would certify a threshold at `alpha`.
        needed: About how many more labels would; None if none would, or nobody can tell.
        hopeless: Even of the most confident fifth surely more than `alpha` are wrong, however
            often one looks.
        alpha: The error rate that is allowed.

    """

    provider: str
    question: str
    rows: int
    labelled: int
    rungs: tuple[Rung, ...]
    curve: tuple[tuple[float, float], ...]
    sureness: Sureness | None
    certifiable: bool
    needed: int | None
    hopeless: bool
    alpha: float


def spread(rows: Sequence[Given], alpha: float) -> Spread:
    """
    Describe the answers of one decider to one question.

    Raises:
        ValueError: No rows.

    """
    if not rows:
        raise ValueError("no rows")
    sure = [(at, one) for one in rows if (at := _probability(one)) is not None]
    known = [(at, one.right) for at, one in sure if one.right is not None]
    confidences, right = [row[0] for row in known], [row[1] for row in known]
    ruling = certify(confidences, right, alpha, DELTA) if sure else None
    certified = isinstance(ruling, Certified)
    return Spread(
        provider=rows[0].key.provider,
        question=rows[0].key.question,
        rows=len(rows),
        labelled=len(known),
        rungs=tuple(_rung([(at, one.right) for at, one in sure], low) for low in LADDER)
        if sure
        else (),
        curve=_curve(confidences, right),
        sureness=sureness(known),
        certifiable=certified,
        needed=None if ruling is None or isinstance(ruling, Certified) else ruling.needed,
        hopeless=_is_hopeless(sure, alpha),
        alpha=alpha,
    )


def _probability(one: Given) -> float | None:
    return None if one.name is None or one.sure is None else one.sure.probability


def _is_hopeless(sure: Sequence[tuple[float, Given]], alpha: float) -> bool:
    """Whether what is wrong among the most confident is no matter of chance, nor of doubt."""
    known = [(at, one.right is False) for at, one in sure if one.right is not None or one.unclear]
    top = sorted(known, key=lambda row: -row[0])[: len(known) // FIFTH]
    return len(top) >= LEAST and surely_above(sum(wrong for _, wrong in top), len(top), alpha)


def _rung(sure: Sequence[tuple[float, bool | None]], threshold: float) -> Rung:
    decided = [right for probability, right in sure if probability >= threshold]
    known, wrong = len(decided) - decided.count(None), decided.count(False)
    return Rung(threshold, len(decided), known, wrong, exact_upper(wrong, known, DELTA))


def _curve(confidences: Sequence[float], right: Sequence[bool]) -> tuple[tuple[float, float], ...]:
    points = risk_coverage(confidences, right)
    step = max(1, len(points) // POINTS)
    kept = [*points[::step], *points[-1:]]
    return tuple(dict.fromkeys((one.coverage, one.risk) for one in kept))
