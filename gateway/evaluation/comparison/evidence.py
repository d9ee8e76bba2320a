"""What a verdict rests on, and how it is named."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .accuracy import Judged
from .arms import Split
from .equal_risk import Guarded
from .handover import Handover
from .raw_thresholds import Spread
from .truths import Strange


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the verdict rests on.

    Attributes:
        point: The decision point.
        a: Who decides today.
        b: Who might.
        alpha: The error rate that is allowed among what B decides.
        effect: Loss of right decisions, as a share, that does not matter.
        judged: Both on labelled decisions, by question.
        guarded: B at its certified threshold, by question.
        spreads: B over all thresholds, by question.
        handovers: B with A behind it, by question.
        split: The arms of a split, if there is one.
        running: Id of the split that is set now; None for none.
        strange: Labels that name nothing that could have been answered, by question.

    """

    point: str
    a: str
    b: str
    alpha: float
    effect: float
    judged: Sequence[Judged] = ()
    guarded: Sequence[Guarded] = ()
    spreads: Sequence[Spread] = ()
    handovers: Sequence[Handover] = ()
    split: Split | None = None
    running: str | None = None
    strange: Sequence[Strange] = ()


def percent(alpha: float) -> str:
    """Write an error rate."""
    return f"{100 * alpha:g} %"


def naming(evidence: Evidence, question: str, alpha: float | None = None) -> str:
    """Name the question where there are several, and the error rate where it has several."""
    several = len({one.question for one in evidence.guarded}) > 1
    rates = len({one.alpha for one in evidence.guarded if one.question == question}) > 1
    at = f"α = {percent(alpha)}" if rates and alpha is not None else ""
    named = ", ".join(part for part in (question if several else "", at) if part)
    return f"{named}: " if named else ""


def counted(one: Guarded) -> str:
    """Write the answers by which a promise is judged."""
    errors, rows = one.counted
    what = "labelled answers" if one.firsts is None else "subjects' first labelled answers"
    return f"{errors:,} of {rows:,} {what}"
