"""A point as it is decided now: its plan, and the lanes of those whom the plan names."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from .cases import Beside
from .chance import chance
from .gates import Gate
from .points import DecisionPoint
from .records import Exposure
from .register import Register
from .resilience import Lane
from .settings import Plan
from .trials import assigned


class Wired(msgspec.Struct, frozen=True):
    """
    One point, ready to be decided.

    Attributes:
        point: The declaration that was wired.
        plan: Its plan.
        planned: The planned provider's lane; None if the plan is `current`.
        behind: The stand-in's lane, where the gateway has one.
        own_gate: The stand-in's own gate.
        register: The certificates that may set its thresholds.
        arms: Of a split: provider → the point as that arm decides it.
        besides: Who is asked in the background.

    """

    point: DecisionPoint
    plan: Plan
    planned: Lane | None
    behind: Lane | None
    own_gate: Gate | None
    register: Register | None = None
    arms: Mapping[str, Wired] = {}
    besides: tuple[Beside, ...] = ()

    def shadowed(self) -> tuple[Beside, ...]:
        """Draw who is asked in the background, this once."""
        if not self.besides or (self.plan.sample < 1.0 and chance.random() >= self.plan.sample):
            return ()
        return tuple(one for one in self.besides if one.lane.name != self.plan.provider)

    def certainly(self) -> Wired:
        """Give the same where it has been drawn already that those beside are asked."""
        return msgspec.structs.replace(self, plan=msgspec.structs.replace(self.plan, sample=1.0))

    def assigned(self, subject: str | None) -> tuple[Wired, Exposure | None]:
        """Give the arm that *subject* belongs to, and what is recorded of it."""
        if not self.arms:
            return self, None
        plan = self.plan
        name, exposure = assigned(self.point.name, plan.experiment, plan.arms, subject)
        return self.arms[name], exposure
