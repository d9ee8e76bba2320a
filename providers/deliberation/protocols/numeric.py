"""Numbers as the form of a deliberation: a point and five quantiles, written by each member."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from ..measures.dispersion import dispersion, mad, spread_range
from ..measures.points import points
from ..measures.quantiles import interval_90, intervals
from ..turns import Turn, Wanted
from .briefs import Brief
from .forms import Estimates, critique_wanted, written_wanted
from .packets import Packet
from .schemas import AgentEstimate, Estimate, UnsortedEstimate, crossing, quantiles_of
from .terms import Scale, Terms
from .verification import verify_evidence

__all__ = ["Numeric"]

POOLS = {"linear_pool": "pool", "vincent": "vincent", "median": "median", "geometric": "geometric"}


class Numeric(msgspec.Struct, frozen=True, kw_only=True):
    """
    Numbers with their uncertainty, in the packet's unit; asked of members that can write.

    Attributes:
        scale: What points are compared on: `log` for positive quantities, `linear` for signed
            ones, `logit` for shares between 0 and 1. A point that it has no place for is no
            estimate.
        on_crossing: `reject` an estimate whose quantiles cross, as an invalid answer; or `flag`
            it: its point counts, its quantiles do not until they are mended.
        bounds: Lowest and highest value that there can be; an estimate with a number outside is
            none, whatever a server promised of its schema.

    """

    scale: Scale = "log"
    on_crossing: Literal["reject", "flag"] = "reject"
    bounds: tuple[float, float] | None = None

    name = "numeric"

    @property
    def form(self) -> type[UnsortedEstimate]:
        """What members write."""
        return AgentEstimate if self.on_crossing == "reject" else UnsortedEstimate

    def wanted(self, brief: Brief) -> Wanted:
        """Ask for an estimate; for critiques where the task is one."""
        question = brief.packet.question
        if brief.task in ("critique", "self_critique"):
            return critique_wanted(brief, question)
        return written_wanted(brief, question, self.form)

    def estimate(self, turn: Turn) -> Estimate | None:
        """Read a turn's estimate; None where it has none, or one off the scale."""
        if not turn.usable or turn.said is None:
            return None
        estimate = msgspec.convert(turn.said, self.form)
        return estimate if self._fits(estimate) else None

    def _fits(self, estimate: Estimate) -> bool:
        """Whether the scale has a place for the point, and all numbers are within the bounds."""
        point = estimate.point_estimate
        low, high = (-math.inf, math.inf) if self.bounds is None else self.bounds
        within = all(low <= one <= high for one in (point, *quantiles_of(estimate)))
        return within and {"log": point > 0, "linear": True, "logit": 0 < point < 1}[self.scale]

    def plain(self, estimate: Estimate) -> dict[str, Any]:
        """Give an estimate as plain values."""
        plain: dict[str, Any] = msgspec.to_builtins(estimate)
        return plain

    def shown(
        self, estimate: Estimate, draw: Callable[[str], str], seen: frozenset[str]
    ) -> dict[str, Any]:
        """Show numbers, citations that the reader may see, and the rationale."""
        row = self.plain(estimate)
        row["evidence"] = [one for one in estimate.evidence if one in seen]
        row["rationale"] = draw(estimate.rationale)
        return row

    def spread(self, estimates: Estimates) -> dict[str, float] | None:
        """Interquartile range of the points on the scale; beside it their range and MAD."""
        given = _points(estimates)
        iqr, wide, middle = (rule(given, self.scale) for rule in (dispersion, spread_range, mad))
        if iqr is None or wide is None or middle is None:
            return None
        return {"dispersion": iqr, "range": wide, "mad": middle}

    def agreed(self, estimates: Estimates, bound: float) -> bool:
        """Whether the interquartile range is within *bound*."""
        spread = self.spread(estimates)
        return spread is not None and spread["dispersion"] <= bound

    def moved(self, before: Estimates, after: Estimates, tolerance: float) -> bool:
        """No: the rule for numbers is about their dispersion alone."""
        return False

    def flags(self, estimate: Estimate, packet: Packet, allowed: frozenset[str]) -> tuple[str, ...]:
        """Check citations, quoted numbers, and the estimate's shape and scale."""
        return verify_evidence(estimate, packet, allowed)

    def aggregate(self, estimates: Estimates, terms: Terms) -> dict[str, Any]:
        """
        Bring points and quantiles together.

        Returns:
            `points` (each rule → number), `quantiles` (five, or None) and `interval_90` (low
            and high, or None).

        """
        weights = _weights(estimates, terms)
        given = {
            member: quantiles_of(one)
            for member, one in estimates.items()
            if not crossing(quantiles_of(one))
            and (terms.pool != "geometric" or quantiles_of(one)[0] > 0)
        }
        pooled = intervals(given, weights if terms.weighted_intervals else None, POOLS[terms.pool])
        outer = interval_90(pooled)
        return {
            "points": points(_points(estimates), weights),
            "quantiles": None if pooled is None else list(pooled),
            "interval_90": None if outer is None else [outer[0], outer[1]],
        }


def _points(estimates: Estimates) -> dict[str, float]:
    return {member: float(one.point_estimate) for member, one in estimates.items()}


def _weights(estimates: Estimates, terms: Terms) -> Mapping[str, float] | None:
    if terms.weights is None:
        return None
    return {member: terms.weights.get(member, 1.0) for member in estimates}
