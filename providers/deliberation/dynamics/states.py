"""
The states of a debate and every transition between them, as data.

An engine does what its state says, notes what came of it, and the first row of the table whose
guard holds says what is next. Nothing follows a terminal state.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

from ..protocols.stopping import StopReason
from .rules import Rules


class State(StrEnum):
    """Where a debate stands. The list is closed."""

    ROUTING = "ROUTING"
    ROUND = "ROUND"
    CHECK = "CHECK"
    BREAKER = "BREAKER"
    SYNTHESIS = "SYNTHESIS"
    ROUTE = "ROUTE"
    COUNCIL = "COUNCIL"
    EMITTED = "EMITTED"
    EMITTED_WITH_CAVEATS = "EMITTED_WITH_CAVEATS"
    HUMAN = "HUMAN"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


TERMINAL = frozenset(
    {State.EMITTED, State.EMITTED_WITH_CAVEATS, State.HUMAN, State.FAILED, State.CANCELLED}
)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the transitions are decided by.

    Attributes:
        rules: What the debate is held by.
        lane: `SIMPLE`, `DEBATE` or `COUNCIL`; empty before it is known.
        roles: How many roles take part.
        fault: What is wrong with the debate itself; empty if nothing is.
        cancelled: The caller has given up.
        over: `timeout_total` or `budget` where the whole is used up; else empty.
        round: The round that is held or was just held, from 1; 0 before.
        usable: Roles with a usable position in it.
        held: Roles with a usable position in any round.
        quorum: Whether these are enough.
        converged: What CONVERGENCE says of it.
        refinements: Passes besides the plain rounds.
        seen: The positions of this round were seen before, as often as makes a loop.
        settled: The numbers of a score have stopped moving.
        route: What DEBATE_ESCALATION, or the COUNCIL point, says; empty before.
        council: There is one, it has not sat yet, and it has not failed.

    """

    rules: Rules = Rules()
    lane: str = ""
    roles: int = 0
    fault: str = ""
    cancelled: bool = False
    over: str = ""
    round: int = 0
    usable: int = 0
    held: int = 0
    quorum: bool = False
    converged: bool = False
    refinements: int = 0
    seen: bool = False
    settled: bool = False
    route: str = ""
    council: bool = False

    @property
    def iterations(self) -> int:
        """Rounds and refinements together (AM-19)."""
        return self.round + self.refinements


Guard: TypeAlias = Callable[[Facts], Any]


class Transition(msgspec.Struct, frozen=True):
    """
    One row of the table.

    Attributes:
        id: As the specification calls it.
        source: The state that it leaves.
        when: What must hold.
        target: The state that it enters.
        why: The breaker's trigger, or how the rounds ended; empty where neither.

    """

    id: str
    source: State
    when: Guard
    target: State
    why: str = ""


def _always(_: Facts) -> bool:
    return True


def _has_converged(facts: Facts) -> bool:
    return facts.converged and facts.round >= facts.rules.rounds_min


def _has_settled(facts: Facts) -> bool:
    return facts.settled and facts.round >= facts.rules.rounds_min


def _too_many_iterations(facts: Facts) -> bool:
    return facts.iterations >= facts.rules.circuit_breaker_max_iterations


def _too_many_refinements(facts: Facts) -> bool:
    return facts.refinements >= facts.rules.circuit_breaker_max_refinements


def _to_council_at_once(facts: Facts) -> bool:
    return facts.lane == "COUNCIL" and facts.rules.critical_lane == "council_only"


def _nobody_is_there(facts: Facts) -> bool:
    return _to_council_at_once(facts) and not facts.council


def _nobody_spoke(facts: Facts) -> bool:
    return not facts.held and (bool(facts.over) or facts.lane != "DEBATE")


R = State
TABLE: tuple[Transition, ...] = (
    Transition("TR-01", R.ROUTING, lambda f: f.fault, R.FAILED),
    Transition("TR-05", R.ROUTING, lambda f: f.cancelled, R.CANCELLED),
    Transition("TR-20", R.ROUTING, _nobody_is_there, R.HUMAN),
    Transition("TR-02", R.ROUTING, _to_council_at_once, R.SYNTHESIS),
    Transition("TR-02", R.ROUTING, lambda f: f.lane == "COUNCIL", R.ROUND),
    Transition("TR-03", R.ROUTING, lambda f: f.lane == "DEBATE", R.ROUND),
    Transition("TR-04", R.ROUTING, lambda f: f.lane == "SIMPLE", R.ROUND),
    Transition("TR-05", R.ROUND, lambda f: f.cancelled, R.CANCELLED),
    Transition("TR-08", R.ROUND, _nobody_spoke, R.FAILED),
    Transition("TR-06", R.ROUND, lambda f: f.over == "timeout_total", R.BREAKER, "timeout_total"),
    Transition("TR-06", R.ROUND, lambda f: f.over == "budget", R.BREAKER, "budget"),
    Transition("TR-04", R.ROUND, lambda f: f.lane == "SIMPLE", R.SYNTHESIS),
    Transition("TR-02", R.ROUND, lambda f: f.lane == "COUNCIL", R.SYNTHESIS),
    Transition("TR-07", R.ROUND, _always, R.CHECK),
    Transition("TR-05", R.CHECK, lambda f: f.cancelled, R.CANCELLED),
    Transition("TR-08", R.CHECK, lambda f: f.round == 1 and not f.usable, R.FAILED),
    Transition("TR-09", R.CHECK, lambda f: not f.quorum, R.BREAKER, "no_quorum"),
    Transition("TR-10", R.CHECK, _has_converged, R.SYNTHESIS, "agreed"),
    Transition("TR-11", R.CHECK, _too_many_iterations, R.BREAKER, "max_iterations"),
    Transition("TR-12", R.CHECK, lambda f: f.seen and not f.converged, R.BREAKER, "loop"),
    Transition("TR-13", R.CHECK, _too_many_refinements, R.BREAKER, "max_refinements"),
    Transition("TR-14", R.CHECK, lambda f: f.round >= f.rules.rounds_max, R.BREAKER, "max_rounds"),
    Transition("TR-15", R.CHECK, _has_settled, R.SYNTHESIS, "settled"),
    Transition("TR-16", R.CHECK, _always, R.ROUND),
    Transition("TR-05", R.BREAKER, lambda f: f.cancelled, R.CANCELLED),
    Transition("TR-17", R.BREAKER, _always, R.SYNTHESIS),
    Transition("TR-05", R.SYNTHESIS, lambda f: f.cancelled, R.CANCELLED),
    Transition("TR-20", R.SYNTHESIS, lambda f: not f.held, R.HUMAN),
    Transition("TR-18", R.SYNTHESIS, _always, R.ROUTE),
    Transition("TR-05", R.ROUTE, lambda f: f.cancelled, R.CANCELLED),
    Transition("TR-19", R.ROUTE, lambda f: f.route == "EMIT", R.EMITTED),
    Transition("TR-19", R.ROUTE, lambda f: f.route == "EMIT_WITH_CAVEATS", R.EMITTED_WITH_CAVEATS),
    Transition("TR-20", R.ROUTE, lambda f: f.route == "COUNCIL" and not f.council, R.HUMAN),
    Transition("TR-19", R.ROUTE, lambda f: f.route == "COUNCIL", R.COUNCIL),
    Transition("TR-19", R.ROUTE, _always, R.HUMAN),
    Transition("TR-05", R.COUNCIL, lambda f: f.cancelled, R.CANCELLED),
    Transition("TR-20", R.COUNCIL, lambda f: not f.council, R.HUMAN),
    Transition("TR-22", R.COUNCIL, lambda f: f.route == "EMIT", R.EMITTED),
    Transition(
        "TR-22", R.COUNCIL, lambda f: f.route == "EMIT_WITH_CAVEATS", R.EMITTED_WITH_CAVEATS
    ),
    Transition("TR-22", R.COUNCIL, _always, R.HUMAN),
)
"""TR-21, the council's own time, and TR-23, that nothing follows a terminal state, are no rows."""

TRIGGERS = ("timeout_total", "budget", "max_iterations", "loop", "max_refinements", "max_rounds")
"""AM-18: which trigger names the breaker where several fire at once; `budget` beside the time."""

STOPS: dict[str, StopReason] = {
    "agreed": StopReason.AGREED,
    "settled": StopReason.SETTLED,
    "no_quorum": StopReason.NO_QUORUM,
    "timeout_total": StopReason.TIMEOUT,
    "budget": StopReason.BUDGET,
    "max_iterations": StopReason.MAX_ITERATIONS,
    "loop": StopReason.LOOP,
    "max_refinements": StopReason.MAX_REFINEMENTS,
    "max_rounds": StopReason.MAX_ROUNDS,
}


def following(state: State, facts: Facts) -> Transition:
    """
    Give the first row that leaves *state* under *facts* (TR-23).

    Raises:
        AssertionError: The state is terminal: nothing follows it.

    """
    assert state not in TERMINAL, f"nothing follows {state}"
    return next(row for row in TABLE if row.source is state and row.when(facts))


def fired(facts: Facts) -> tuple[str, ...]:
    """List the triggers of the breaker that hold, by precedence; the first names it (AM-18)."""
    holds = {
        facts.over: bool(facts.over),
        "max_iterations": _too_many_iterations(facts),
        "loop": facts.seen and not facts.converged,
        "max_refinements": _too_many_refinements(facts),
        "max_rounds": facts.round >= facts.rules.rounds_max,
    }
    return tuple(name for name in TRIGGERS if holds.get(name))
