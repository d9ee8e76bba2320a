"""
A debate, from top to bottom.

In each state something is done and noted as facts; then the table of transitions says what is next.
What is done in a state is in the rooms around this one: rounds, checkpoint, breaker, synthesis,
council. However it ends, what was said by then stands in the transcript.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from ....gateway.errors import NoAnswer, Reason
from . import breaker, council, rounds, synthesis, verdicts
from .hall import Hall
from .states import TERMINAL, State, Transition, following


async def run(hall: Hall) -> State:
    """
    Hold the debate to its end.

    Raises:
        CancelledError: The caller gave up; the transcript says so, and can be gone on with.

    """
    try:
        while hall.state_now not in TERMINAL:
            await STEPS[hall.state_now](hall)
            _enter(hall, following(hall.state_now, hall.facts))
    except asyncio.CancelledError:
        hall.know(cancelled=True)
        _enter(hall, following(hall.state_now, hall.facts))
        hall.transcript.note("cancelled")
        raise
    finally:
        await hall.retrieval.clear()
        await hall.floor.clear()
    return hall.state_now


def _enter(hall: Hall, row: Transition) -> None:
    hall.path.append(row.id)
    hall.state_now = row.target
    if row.why:
        hall.ended = row.why


async def _routing(hall: Hall) -> None:
    """Check that a debate can be held at all, then pick its lane."""
    if fault := _recorded_fault(hall):
        hall.know(fault=fault)
        return
    hall.lane = await verdicts.lane(hall)
    lane = hall.lane["lane"]
    hall.know(lane=lane, fault="too_few_roles" if lane == "DEBATE" and _alone(hall) else "")


def _recorded_fault(hall: Hall) -> str:
    """Write down what is wrong: it depends on who is there now, which a replay does not know."""
    known = hall.transcript.recorded("verdict", "ready")
    told = {"fault": _fault(hall)} if known is None else known
    fault: str = hall.transcript.entry("verdict", told, "ready")["fault"]
    return fault


def _fault(hall: Hall) -> str:
    """TR-01: what nobody can be asked for."""
    everybody = (*hall.panel, *hall.council.values())
    if not hall.panel:
        return "no_roles"
    if not hall.question.instructions.strip() or _says_nothing(hall.state):
        return "empty_question"
    strange = [one for one in everybody if not hall.writes(one.provider)]
    return f"unknown_member:{strange[0].name}" if strange else ""


def _says_nothing(state: object) -> bool:
    return state is None or (isinstance(state, str) and not state.strip())


def _alone(hall: Hall) -> bool:
    return len(hall.panel) < 2  # noqa: PLR2004 - it takes two


async def _round(hall: Hall) -> None:
    if rounds.too_late(hall):
        hall.know(over="timeout_total")
        return
    held = await rounds.hold(hall)
    if hall.facts.lane == "COUNCIL" and held.fresh and not held.over:
        held = rounds.with_check(held, await verdicts.convergence(hall, held))
    hall.rounds.append(held)
    hall.know(
        round=held.number,
        usable=len(held.fresh),
        held=len(hall.stands),
        over=held.over,
        refinements=hall.facts.refinements + held.refined,
    )


async def _check(hall: Hall) -> None:
    """Agreement first, then whether the positions have been seen before (AM-17)."""
    held = hall.rounds[-1]
    if held.number == 1 and not held.stands:
        return
    await _checked(hall)
    check = hall.rounds[-1].check
    assert check is not None
    hall.know(
        quorum=check["verdict"] != "NO_QUORUM",
        converged=check["verdict"] == "CONVERGED",
        seen=rounds.seen(hall),
        settled=verdicts.settled(hall),
    )


async def _checked(hall: Hall) -> None:
    held = hall.rounds[-1]
    hall.rounds[-1] = rounds.with_check(held, await verdicts.convergence(hall, held))


async def _breaker(hall: Hall) -> None:
    """Where a round was cut by the time or the budget, what is there of it is checked (DD-65)."""
    held = hall.rounds[-1]
    if held.check is None and hall.applies and held.fresh:
        await _checked(hall)
    hall.breaker = breaker.record(hall, hall.ended)


async def _synthesis(hall: Hall) -> None:
    if not hall.rounds:
        await council.propose(hall)
    if not hall.stands:
        return
    made = await synthesis.summarised(hall, synthesis.synthesis(hall))
    hall.synthesis = made
    hall.transcript.entry("synthesis", _told(hall), "synthesis")


def _told(hall: Hall) -> Mapping[str, object]:
    made = hall.synthesis
    assert made is not None
    confidence = made.confidence
    return {
        "recommendation": made.recommendation,
        "tied": made.tied,
        "votes": made.votes,
        "confidence": {"raw": confidence.raw, "adjusted": confidence.value, **confidence.parts},
        "consensus": made.consensus,
        "divergences": made.divergences,
        "conflict": made.conflict,
        "stale": made.stale,
        "tags": made.tags,
        "summary": made.summary,
    }


async def _route(hall: Hall) -> None:
    critical = synthesis.critical(hall)
    hall.escalation = await verdicts.escalation(hall, critical=critical)
    hall.know(route=hall.escalation["route"])
    if hall.escalation["route"] == "HUMAN" and hall.rules.council_before_human and hall.council:
        hall.advice = await council.sit(hall, "advice")


async def _council(hall: Hall) -> None:
    """One pass a question: whatever comes of it, there is no council any more (TR-20)."""
    hall.sitting = await council.sit(hall)
    decided = hall.sitting is not None and bool(hall.sitting["recommendation"])
    hall.know(council=decided)
    if hall.sitting is not None:
        hall.know(route=hall.sitting["route"])


STEPS: Mapping[State, Callable[[Hall], Awaitable[None]]] = {
    State.ROUTING: _routing,
    State.ROUND: _round,
    State.CHECK: _check,
    State.BREAKER: _breaker,
    State.SYNTHESIS: _synthesis,
    State.ROUTE: _route,
    State.COUNCIL: _council,
}


def failure(hall: Hall) -> NoAnswer:
    """Say why nobody could be heard, by what kept the roles silent (TR-08)."""
    if hall.facts.fault:
        return NoAnswer(Reason.UNSUPPORTED)
    silent = [] if hall.last is None else list(hall.last.silent.values())
    if hall.facts.over == "budget":
        return NoAnswer(Reason.OVER_BUDGET)
    alike = set(silent)
    return NoAnswer(alike.pop() if len(alike) == 1 else Reason.PROVIDER_ERROR)
