"""Whether the gateway stands aside, so that an adapter need not even look at a call."""

from __future__ import annotations

from .. import context
from ..gateway import Gateway
from ..points import DecisionPoint


def stands_aside(gateway: Gateway, point: DecisionPoint) -> bool:
    """
    Whether nobody but current would decide *point* now, and nobody would look on.

    Where that is so, a consultation comes to None and leaves no trace, whatever it is about.
    """
    if gateway._layers or context.collectors(gateway):  # noqa: SLF001 - one package
        return False
    wiring = gateway._wiring  # noqa: SLF001 - one package
    wired = wiring.wired(point)
    return wired.planned is None and not (wired.arms or wired.besides or wiring.keeper.watched)
