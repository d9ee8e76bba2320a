"""What would change if B decided from its certified threshold on, and A the rest."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .always_valid import watched
from .in_force import Cuts, passes
from .pairing import Pair


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    """
    B with A behind it, held against A alone, on the labelled rows of one question.

    Attributes:
        question: Its name.
        rows: Labelled rows of both, also those of which not all is known.
        decided: Those that B would decide.
        only_a: Decided rows that only A has right.
        only_b: Decided rows that only B has right.
        unclear: Decided rows of which it is not known who is right.
        difference: Share of right decisions with B in front, less A's; the unclear as no change.
        low: Lower end of its always-valid 95 % interval, by subjects; the unclear all for A.
        high: Upper end; the unclear all for B.

    """

    question: str
    rows: int
    decided: int
    only_a: int
    only_b: int
    unclear: int
    difference: float
    low: float
    high: float


def handover(question: str, rows: Sequence[Pair], cuts: Cuts, effect: float) -> Handover | None:
    """Compare on labelled rows; None without any, or where no threshold of B is in force."""
    known = [one for one in rows if one.labelled]
    if not known or not any(cuts.values()):
        return None
    passed = [passes(one.of_b, cuts) for one in known]
    ranges = [one.range if at else (0.0, 0.0) for one, at in zip(known, passed, strict=True)]
    units = [one.unit for one in known]
    least = watched([low for low, _ in ranges], units, effect)
    most = watched([high for _, high in ranges], units, effect)
    only_a, only_b = ranges.count((-1.0, -1.0)), ranges.count((1.0, 1.0))
    return Handover(
        question=question,
        rows=len(known),
        decided=sum(passed),
        only_a=only_a,
        only_b=only_b,
        unclear=sum(low < high for low, high in ranges),
        difference=(only_b - only_a) / len(known),
        low=least.low,
        high=most.high,
    )
