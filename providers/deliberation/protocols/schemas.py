"""
What members write: an estimate with its quantiles, and critiques of others' estimates.

Bounds are checked here, whatever a server promises of its structured output: one that was
measured did not hold numbers to their schema's bounds at all.
"""

from __future__ import annotations

import itertools
import math
from typing import Protocol

import msgspec

__all__ = [
    "LEVELS",
    "AgentEstimate",
    "Critique",
    "CritiqueSet",
    "Quantiles",
    "UnsortedEstimate",
    "quantiles_of",
]

LEVELS = (0.05, 0.25, 0.50, 0.75, 0.95)

Quantiles = tuple[float, float, float, float, float]
"""At the levels .05, .25, .50, .75 and .95."""


class Estimate(Protocol):
    """What both forms of an estimate hold."""

    @property
    def point_estimate(self) -> float: ...
    @property
    def q05(self) -> float: ...
    @property
    def q25(self) -> float: ...
    @property
    def q50(self) -> float: ...
    @property
    def q75(self) -> float: ...
    @property
    def q95(self) -> float: ...
    @property
    def evidence(self) -> list[str]: ...
    @property
    def rationale(self) -> str: ...


class UnsortedEstimate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    An estimate whose quantiles may cross: kept to be flagged, never pooled while they do.

    Attributes:
        point_estimate: The member's single number, in the packet's unit.
        q05: It expects the truth below this with 5 % probability; q25, q50, q75, q95 alike.
        evidence: Ids of the items that it rests on.
        rationale: Why, in a few sentences.

    """

    point_estimate: float
    q05: float
    q25: float
    q50: float
    q75: float
    q95: float
    evidence: list[str]
    rationale: str

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.point_estimate, *quantiles_of(self)))):
            raise ValueError("an estimate is made of finite numbers")


class AgentEstimate(UnsortedEstimate, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    An estimate: a point and five quantiles that do not cross.

    Raises:
        ValueError: A number is not finite, or the quantiles decrease.

    """

    def __post_init__(self) -> None:
        UnsortedEstimate.__post_init__(self)
        if crossing(quantiles_of(self)):
            raise ValueError("quantiles must not decrease")


class Critique(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What a member says of another's estimate.

    Attributes:
        target_role: The label of the row that it speaks of, as the writer's table shows it.
        agree: Whether it agrees on the whole.
        points: What it holds against it, or in favour; the first six are passed on.
        evidence_ids_cited: Ids of the items that it rests on.
        suggested_value: What it would put instead, if anything.

    """

    target_role: str
    agree: bool
    points: list[str]
    evidence_ids_cited: list[str]
    suggested_value: bool | float | str | None = None


class CritiqueSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All critiques that one member writes in one round."""

    critiques: list[Critique]


def quantiles_of(estimate: Estimate) -> Quantiles:
    """List the five quantiles, low to high level."""
    return (estimate.q05, estimate.q25, estimate.q50, estimate.q75, estimate.q95)


def crossing(quantiles: Quantiles) -> bool:
    """Whether a higher level has a lower value."""
    return any(low > high for low, high in itertools.pairwise(quantiles))
