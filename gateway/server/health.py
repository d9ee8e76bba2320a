"""Whether the server is ready, and what its operator has to see to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .metrics import faults_of

if TYPE_CHECKING:
    from .house import House

OK, DEGRADED, DRAINING = "ok", "degraded", "draining"


def ready(house: House) -> dict[str, Any]:
    """
    Tell whether requests may be sent here.

    A server whose provider has a bad key still answers, by its fallback: it is `degraded`, with
    each fault's provider and reason, until that provider answers again. Of several workers each
    knows the faults of all.

    Args:
        house: Of this worker.

    Returns:
        `status`: `ok`, `degraded`, or `draining` once the server is told to end; `faults`: a
        list of `provider` and `reason`, only where there are any.

    """
    if house.draining:
        return {"status": DRAINING}
    faults = _faults(house)
    if not faults:
        return {"status": OK}
    return {
        "status": DEGRADED,
        "faults": [{"provider": name, "reason": reason} for name, reason in faults],
    }


def _faults(house: House) -> list[tuple[str, str]]:
    if house.metrics is not None:
        return house.metrics.faults()
    return sorted(faults_of(house.gateway.health()))
