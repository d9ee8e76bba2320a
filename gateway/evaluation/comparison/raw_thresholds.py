"""One decider's answers over all thresholds: what these rows look like, and no promise."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..statistics.certifying import Certified, NotCertified, certify
from ..statistics.numerics import exact_upper
from ..statistics.selective import risk_coverage
from .accuracy import Sureness, sureness
from .always_valid import surely_above
from .answering import Given, firsts

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
        bound: Exact upper bound of the error rate, at 95 %, had the threshold been chosen blindly;
            of the first labelled answer of each subject.

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
        subjects: Distinct ones of these answers; each decision is one where none is known.
        certifiable: These labels would certify a threshold at `alpha`, each subject once.
        needed: About how many more labels would; None if none would, or nobody can tell.
        hopeless: Even of the most confident fifth surely more than `alpha` are wrong, however
            often one looks; each subject once.
        alpha: The error rate that is allowed.

    """

    provider: str
    question: str
    rows: int
    labelled: int
    subjects: int
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
    ruling = _ruling([one for _, one in sure], alpha)
    certified = isinstance(ruling, Certified)
    return Spread(
        provider=rows[0].key.provider,
        question=rows[0].key.question,
        rows=len(rows),
        labelled=len(known),
        subjects=len({one.unit for _, one in sure if one.right is not None}),
        rungs=tuple(_rung(sure, low) for low in LADDER) if sure else (),
        curve=_curve(confidences, right),
        sureness=sureness(known),
        certifiable=certified,
        needed=None if ruling is None or isinstance(ruling, Certified) else ruling.needed,
        hopeless=_is_hopeless(sure, alpha),
        alpha=alpha,
    )


def _probability(one: Given) -> float | None:
    return None if one.name is None or one.sure is None else one.sure.probability


def _ruling(sure: Sequence[Given], alpha: float) -> Certified | NotCertified | None:
    """Certify as calibration does, on one answer of each subject; None without a probability."""
    if not sure:
        return None
    rows = [(_probability(one) or 0.0, bool(one.right)) for one in firsts(sure)]
    return certify([row[0] for row in rows], [row[1] for row in rows], alpha, DELTA)


def _is_hopeless(sure: Sequence[tuple[float, Given]], alpha: float) -> bool:
    """Whether what is wrong among the most confident is no matter of chance, nor of doubt."""
    known = [(at, one) for at, one in sure if one.right is not None or one.unclear]
    top = [one for _, one in sorted(known, key=lambda row: -row[0])[: len(known) // FIFTH]]
    each = firsts(top)
    rows, wrong = len(each) + sum(one.unclear for one in top), sum(not one.right for one in each)
    return rows >= LEAST and surely_above(wrong, rows, alpha)


def _rung(sure: Sequence[tuple[float, Given]], threshold: float) -> Rung:
    decided = [one for probability, one in sure if probability >= threshold]
    right, each = [one.right for one in decided], firsts(decided)
    bound = exact_upper(sum(not one.right for one in each), len(each), DELTA)
    known = len(right) - right.count(None)
    return Rung(threshold, len(decided), known, right.count(False), bound)


def _curve(confidences: Sequence[float], right: Sequence[bool]) -> tuple[tuple[float, float], ...]:
    points = risk_coverage(confidences, right)
    step = max(1, len(points) // POINTS)
    kept = [*points[::step], *points[-1:]]
    return tuple(dict.fromkeys((one.coverage, one.risk) for one in kept))
