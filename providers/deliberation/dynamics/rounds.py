"""A round: who speaks when, who is asked again, and what it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....gateway.errors import Reason
from ..panel import Member
from .hall import Hall
from .minutes import Held
from .speaking import Round, Speech
from .stands import Stand, Stands, changed, signs, state_hash

TYPES = ("posicoes_iniciais", "rebatidas", "refinamento")  # DD-77, DD-78, AM-36


async def hold(hall: Hall) -> Held:
    """Hold the next round and note what came of it."""
    number = len(hall.rounds) + 1
    held, begun = Round(hall, number), hall.floor.elapsed
    said = await _heard(held)
    said, refined = await _checked(held, said)
    told = _noted(hall, number, said, hall.floor.elapsed - begun)
    return _held(hall, held, said, {**told, "refined": refined})


async def _heard(held: Round) -> list[Speech]:
    """A first round is always parallel (DD-25); later ones as the rules say (DD-29)."""
    seats = held.hall.seats
    if held.number == 1 or held.hall.rules.round2 == "parallel":
        return await _at_once(held, seats)
    said: list[Speech] = []
    for member in seats:
        said.append(await held.speak(member))
        if held.hall.rules.visibility == "live" and (stand := said[-1].stand) is not None:
            held.table = {**held.table, member.name: stand}
    return said


async def _at_once(held: Round, seats: Sequence[Member]) -> list[Speech]:
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(held.speak(member)) for member in seats]
    except BaseExceptionGroup as several:  # a mismatch with the transcript, or a bug of ours
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


async def _checked(held: Round, said: list[Speech]) -> tuple[list[Speech], bool]:
    """Ask those again who cite what nobody retrieved: one refinement, however many they are."""
    hall = held.hall
    wrong = [one for one in said if not held.founded(one)]
    spare = hall.facts.refinements < hall.rules.circuit_breaker_max_refinements
    again = bool(wrong) and hall.rules.verify and spare
    if again:
        said = [one if one not in wrong else await held.speak_again(one) for one in said]
    return [held.stripped(one) for one in said], again


def _noted(hall: Hall, number: int, said: Sequence[Speech], seconds: float) -> Mapping[str, Any]:
    """Write down what depends on the clock, so that a replay comes to the same."""
    over = ""
    if hall.over:
        over = "timeout_total"
    elif any(one.broke for one in said):
        over = "budget"
    told = {"round": number, "over": over, "seconds": round(seconds, 6)}
    return hall.transcript.entry("verdict", told, f"round/{number}")


def _held(hall: Hall, held: Round, said: Sequence[Speech], told: Mapping[str, Any]) -> Held:
    fresh = {one.member.name: one.stand for one in said if one.stand is not None}
    before: Stands = {} if hall.last is None else hall.last.stands
    return Held(
        number=held.number,
        kind=TYPES[min(held.number, len(TYPES)) - 1],
        fresh=fresh,
        stands=_counted(hall, fresh),
        silent={one.member.name: _why(one) for one in said if one.stand is None},
        timeouts=tuple(one.member.name for one in said if one.late),
        seconds=told["seconds"],
        over=told["over"],
        moved=changed(before, fresh),
        refined=told["refined"],
        signs=signs(before, fresh),
        hash=state_hash(fresh),
    )


def _why(speech: Speech) -> Reason:
    return Reason.ABSTAINED if speech.reason is Reason.OK else speech.reason


def _counted(hall: Hall, fresh: Mapping[str, Stand]) -> Mapping[str, Stand]:
    """AM-38: a role that fell silent counts in no round, or with its last position in this one."""
    if hall.rules.on_missing_round == "exclude":
        return fresh
    return {**hall.stands, **fresh}


def seen(hall: Hall) -> bool:
    """
    Whether the last round's positions make a loop (DD-71…73, AM-14, AM-15).

    Only what was said anew counts: silence repeats nothing.
    """
    states = [(tuple(sorted(one.fresh)), one.hash) for one in hall.rounds if one.fresh]
    if not states or hall.last is None or not hall.last.fresh:
        return False
    if hall.rules.loop_compare == "every":
        return states.count(states[-1]) >= hall.rules.loop_repeats
    tail = states[-hall.rules.loop_repeats :]
    return len(tail) == hall.rules.loop_repeats and len(set(tail)) == 1


def with_check(held: Held, check: Mapping[str, Any]) -> Held:
    """Give the round with what its checkpoint found."""
    return msgspec.structs.replace(held, check=check)
