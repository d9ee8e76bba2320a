"""Ends that say nothing about an arm: what came of the item is no result, and is not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....gateway.errors import Reason
from .rows import Part

if TYPE_CHECKING:
    from ..turns import Turn

STOPPING = frozenset({Reason.AUTH, Reason.PAYMENT, Reason.BREAKER_OPEN, Reason.OVER_BUDGET})
"""Nothing heals by itself soon: the run ends."""

PASSING = frozenset({Reason.TRANSPORT, Reason.RATE_LIMITED, Reason.PROVIDER_ERROR, Reason.SKIPPED})
"""It failed, or could not be reached: other items are gone on with."""

OWN_LIMIT = "limit:provider"  # its own time was up, not the experiment's


class Left(Exception):
    """
    An arm on an item is left for another time.

    Attributes:
        provider: Who failed; empty: nobody did.
        reason: Why.
        stops: Nothing more is to be asked.
        cost: What was spent on it all the same.

    """

    def __init__(
        self, provider: str, reason: str, cost: Part | None = None, *, stops: bool = False
    ) -> None:
        super().__init__(f"{provider}: {reason}" if provider else reason)
        self.provider, self.reason, self.stops = provider, reason, stops
        self.cost = cost or Part()


def failed(turn: Turn) -> bool:
    """Whether *turn* ended by a failure of its provider, and not by anything that it said."""
    if turn.reason is Reason.TIMEOUT:
        return OWN_LIMIT in turn.notes
    return turn.reason in STOPPING | PASSING
