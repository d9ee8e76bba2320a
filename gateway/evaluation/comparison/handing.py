"""What would change if B decided from its certified threshold on, and A the rest."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...certificates import Certificate
from .guarding import cuts_of, passes
from .judging import interval
from .pairing import Pair


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    """
    B with A behind it, held against A alone, on the labelled rows of one question.

    Attributes:
        question: Its name.
        rows: Labelled rows of both.
        decided: Those that B would decide.
        only_a: Decided rows that only A has right.
        only_b: Decided rows that only B has right.
        difference: Share of right decisions with B in front, less A's alone.
        low: Lower end of its 95 % interval, by subjects.
        high: Upper end.

    """

    question: str
    rows: int
    decided: int
    only_a: int
    only_b: int
    difference: float
    low: float
    high: float


def handover(
    question: str, rows: Sequence[Pair], certificates: Sequence[Certificate], alpha: float
) -> Handover | None:
    """Compare on labelled rows; None without any, or where no threshold of B is in force."""
    cuts = cuts_of(certificates, alpha)
    known = [(one, verdict) for one in rows if (verdict := one.verdicts) is not None]
    if not known or not any(cuts.values()):
        return None
    decided = [passes(one.of_b, cuts) for one, _ in known]
    changed = [
        (float(b) - float(a)) if passed else 0.0
        for passed, (_, (a, b)) in zip(decided, known, strict=True)
    ]
    low, high = interval(changed, [one.unit for one, _ in known])
    only_a, only_b = changed.count(-1.0), changed.count(1.0)
    return Handover(
        question=question,
        rows=len(known),
        decided=sum(decided),
        only_a=only_a,
        only_b=only_b,
        difference=(only_b - only_a) / len(known),
        low=low,
        high=high,
    )
