"""Why a deliberation ended, and when it may: stable is not yet agreed."""

from __future__ import annotations

from enum import StrEnum

import msgspec

__all__ = ["TOLERANCE", "Checkpoint", "StopReason"]

TOLERANCE = 0.01  # of the previous dispersion; "moves < 1 %"


class StopReason(StrEnum):
    """Why no further round was run. The list is closed."""

    AGREED = "agreed"
    SETTLED = "settled"
    LOOP = "loop"
    MAX_ROUNDS = "max_rounds"
    MAX_ITERATIONS = "max_iterations"
    MAX_REFINEMENTS = "max_refinements"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    NO_QUORUM = "no_quorum"
    CANCELLED = "cancelled"
    ERROR = "error"


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a round's end looks like.

    Attributes:
        stable: The panel is the same, and its dispersion moved by less than the tolerance.
        agreed: The estimates lie within the agreement bound.

    """

    stable: bool = False
    agreed: bool = False

    @property
    def stop(self) -> StopReason | None:
        """
        What the rule says: `AGREED` or `SETTLED` once stable, else nothing.

        A stable spread is also what entrenched members look like: of 307 recorded firings of
        the rule 161 left the members far apart, so that the two are told apart.
        """
        if not self.stable:
            return None
        return StopReason.AGREED if self.agreed else StopReason.SETTLED
