"""The breaker's record: what it tripped on, and what it leaves to whom (DD-45)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .hall import Hall
from .states import fired
from .synthesis import divergences

IMPASSE = "positions stabilised without convergence"  # DD-75


def record(hall: Hall, trigger: str) -> Mapping[str, Any]:
    """
    Write down why the debate was stopped (DD-45, AM-18).

    `trigger` names it; `fired` lists every trigger that held. Whom it goes to is known once it is
    routed: see the entry `route`.
    """
    check = hall.check or {}
    leads = sorted({one.recommendation for one in hall.stands.values()})
    sides = {
        option: [name for name, one in hall.stands.items() if one.recommendation == option]
        for option in leads
    }
    impasse = trigger in ("loop", "max_refinements")
    told = {
        "trigger": trigger,
        "fired": [trigger, *(one for one in fired(hall.facts) if one != trigger)],
        "rounds": len(hall.rounds),
        "max_rounds": hall.rules.rounds_max,
        "refinements": hall.facts.refinements,
        "convergence": check.get("score"),
        "consensus": list(check.get("agreed", ())),
        "divergences": list(divergences(hall)),
        "conflict": sides if len(sides) > 1 else {},
        "impasse": IMPASSE if impasse else "",
    }
    return hall.transcript.entry("breaker", told, "breaker")
