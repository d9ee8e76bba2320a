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
    each fault's provider and reason, until that provider answers again. So is one whose journal
    does not write. Of several workers each knows the faults of all.

    Args:
        house: Of this worker.

    Returns:
        `status`: `ok`, `degraded`, or `draining` once the server is told to end; `faults`: a
        list of `provider` and `reason`, only where there are any; `journal`: `spool_down` or
        `database_down`, only where it does not write.

    """
    if house.draining:
        return {"status": DRAINING}
    told: dict[str, Any] = {}
    if faults := _faults(house):
        told["faults"] = [{"provider": name, "reason": reason} for name, reason in faults]
    if journal := _unkept(house):
        told["journal"] = journal
    return {"status": DEGRADED if told else OK, **told}


def _faults(house: House) -> list[tuple[str, str]]:
    if house.metrics is not None:
        return house.metrics.faults()
    return sorted(faults_of(house.gateway.health()))


def _unkept(house: House) -> str | None:
    if house.metrics is not None:
        return house.metrics.unkept()
    kept = house.gateway.backlog()
    return None if kept is None else kept.fault
