"""Items 7 and 8 of a calibration: certified thresholds, and two cut-points for predicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ...certificates import AtRisk, Beyond
from ..statistics.certifying import Certified, certify
from ..statistics.cutting import Cut, two_sided
from ..statistics.cutting import Side as CutSide
from .columns import Rows, sides_of
from .findings import Settings, Side
from .slices import decides

ALPHAS = (0.01, 0.02, 0.05, 0.10, 0.20)


def alphas(risk: float) -> tuple[float, ...]:
    """Name the error rates that are tried: the usual ones, and the one that is wanted."""
    return tuple(sorted({*ALPHAS, risk}))


def sides(rows: Rows, settings: Settings) -> tuple[Side, ...]:
    """Item 8: both cut-points at each error rate; nothing for anything but a predicate."""
    if not rows.predicate:
        return ()
    probabilities, truths = sides_of(rows)
    part = len(rows.judged) / len(rows.labelled)
    found: list[Side] = []
    for alpha in alphas(settings.risk):
        both = two_sided(probabilities, truths, alpha, settings.delta)
        found.append(_side(both.no_below, alpha, "no", part))
        found.append(_side(both.yes_from, alpha, "yes", part))
    return tuple(found)


def _side(cut: CutSide, alpha: float, side: Literal["no", "yes"], part: float) -> Side:
    if not isinstance(cut, Cut):
        return Side(alpha=alpha, side=side, why=cut.reason, needed=cut.needed)
    return Side(
        alpha=alpha,
        side=side,
        at=cut.at,
        errors=cut.errors,
        of=cut.n,
        bound=cut.bound,
        coverage=cut.coverage * part,
    )


def levels(rows: Rows, found: Sequence[Side], settings: Settings) -> tuple[AtRisk, ...]:
    """Item 7: what is certified at each error rate, with the cut-points *found* for it."""
    if not (rows.predicate and settings.two_sided):
        return minima(rows, settings)
    return tuple(
        _two(rows, [one for one in found if one.alpha == alpha], alpha)
        for alpha in alphas(settings.risk)
    )


def minima(rows: Rows, settings: Settings) -> tuple[AtRisk, ...]:
    """Certify one minimum at each error rate."""
    return tuple(minimum(rows, alpha, settings) for alpha in alphas(settings.risk))


def minimum(rows: Rows, alpha: float, settings: Settings, least: float = 0.0) -> AtRisk:
    """Certify the lowest minimum of *least* or more at one error rate."""
    given = certify(rows.confidences, rows.right, alpha, settings.delta, least)
    if not isinstance(given, Certified):
        return AtRisk(alpha=alpha, why=given.reason, needed=given.needed)
    return AtRisk(
        alpha=alpha,
        minimum=given.threshold,
        accepted=given.accepted,
        errors=given.errors,
        bound=given.bound,
        coverage=given.accepted / len(rows.labelled),
    )


def _two(rows: Rows, mine: Sequence[Side], alpha: float) -> AtRisk:
    no, yes = (next(one for one in mine if one.side == side) for side in ("no", "yes"))
    level = AtRisk(alpha=alpha, no_below=no.at, yes_from=yes.at)
    if promises(level, sided=True):
        return cut(rows, level, (no.bound, yes.bound))
    needs = [one.needed for one in mine if one.needed is not None]
    why = "; ".join(f"{one.side}: {one.why}" for one in mine)
    return msgspec.structs.replace(level, why=why, needed=min(needs, default=None))


def cut(rows: Rows, level: AtRisk, bounds: tuple[float, float]) -> AtRisk:
    """
    Count what the two cut-points of *level* do.

    Their *bounds* are those of the certified cuts. Narrower ones harm fewer rows, so that these
    hold for them too, whatever they were chosen by.
    """
    believes = decides(level, two_sided=True)
    decided = [
        one
        for one, confidence in zip(rows.judged, rows.confidences, strict=True)
        if believes(one, confidence)
    ]
    p, truths = sides_of(rows)
    no = None if level.no_below is None else [one < level.no_below for one in p]
    yes = None if level.yes_from is None else [one >= level.yes_from for one in p]
    sides_ = (
        _beyond(rows, no, truths, bounds[0]),
        _beyond(rows, yes, [not one for one in truths], bounds[1]),
    )
    return msgspec.structs.replace(
        level,
        accepted=len(decided),
        errors=sum(not one.right for one in decided),
        bound=max(one.bound for one in sides_ if one is not None),
        coverage=len(decided) / len(rows.labelled),
        no=sides_[0],
        yes=sides_[1],
    )


def _beyond(
    rows: Rows, answered: Sequence[bool] | None, harmed: Sequence[bool], bound: float
) -> Beyond | None:
    if answered is None:
        return None
    errors = sum(one and other for one, other in zip(answered, harmed, strict=True))
    part = sum(answered) / len(rows.labelled)
    return Beyond(errors=errors, of=sum(harmed), bound=bound, coverage=part)


def promises(level: AtRisk, *, sided: bool) -> bool:
    """Whether anything may be decided at *level*."""
    if sided:
        return level.no_below is not None or level.yes_from is not None
    return level.minimum is not None
