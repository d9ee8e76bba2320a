"""A round: who speaks when, and what it leaves."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....gateway.errors import Reason
from ..measures.positions import repeated, revisited
from ..panel import Member
from .hall import Hall
from .minutes import Held
from .rules import Rules
from .speaking import Round, Speech
from .stands import Stand, Stands, changed, signs, state_hash

TYPES = ("posicoes_iniciais", "rebatidas", "refinamento")  # DD-77, DD-78, AM-36


async def hold(hall: Hall) -> Held:
    """Hold the next round and note what came of it."""
    number = len(hall.rounds) + 1
    held, begun = Round(hall, number), hall.floor.elapsed
    said = await _heard(held)
    for one in said:
        if one.ghosts:
            hall.transcript.note(f"unfounded citations: {one.member.name}, {number}")
    told = _noted(hall, number, said, hall.floor.elapsed - begun)
    return _held(hall, held, said, told)


async def _heard(held: Round) -> list[Speech]:
    """A first round is always parallel (DD-25); later ones as the rules say (DD-29)."""
    hall, seats = held.hall, held.hall.seats
    if held.number == 1 or hall.rules.round2 == "parallel":
        return await _at_once(held, seats)
    said: list[Speech] = []
    for member in order(seats, held.number, hall.rules):
        said.append(await held.speak(member))
        if hall.rules.visibility == "live":
            _hears(held, said[-1])
    return sorted(said, key=lambda one: seats.index(one.member))


def _hears(held: Round, speech: Speech) -> None:
    """Let those who speak later hear it (AM-29)."""
    if speech.stand is not None:
        name = speech.member.name
        held.table = {**held.table, name: speech.stand}
        held.critiques = {**held.critiques, name: speech.critique}
    held.known = held.hall.retrieval.known


def order(seats: Sequence[Member], number: int, rules: Rules) -> list[Member]:
    """
    Say who speaks when in a round that is held in turn, from the second on.

    Where not all fit into a round's time, those who were cut off begin the next one; the seed says
    who begins the second. Where all fit, it is the order of the seats.
    """
    fit = max(1, math.floor(rules.timeout_per_round / rules.timeout_per_agent))
    if fit >= len(seats):
        return list(seats)
    first = (rules.seed + fit * (number - 2)) % len(seats)
    return [*seats[first:], *seats[:first]]


def too_late(hall: Hall) -> bool:
    """
    Whether the time was up before the next round could begin, so that none is held.

    It is written down, as everything is that depends on the clock. A round in which somebody has
    spoken already, before the debate was resumed, is held to its end.
    """
    number = len(hall.rounds) + 1
    key = f"round/{number}"
    told = hall.transcript.recorded("verdict", key)
    if told is None and number > 1 and hall.over and not _begun(hall, number):
        told = {"round": number, "held": False, "over": "timeout_total", "seconds": 0.0}
    if told is None or told.get("held", True):
        return False
    hall.transcript.entry("verdict", told, key)
    return True


def _begun(hall: Hall, number: int) -> bool:
    return any(one.round == number for one in hall.turns)


async def _at_once(held: Round, seats: Sequence[Member]) -> list[Speech]:
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(held.speak(member)) for member in seats]
    except BaseExceptionGroup as several:  # a mismatch with the transcript, or a bug of ours
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


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
        refined=any(one.again for one in said),
        signs=signs(before, fresh),
        hash=state_hash(fresh),
        critiques={one.member.name: one.critique for one in said if one.stand is not None},
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
    reading = revisited if hall.rules.loop_compare == "every" else repeated
    return reading(states, hall.rules.loop_repeats)


def with_check(held: Held, check: Mapping[str, Any]) -> Held:
    """Give the round with what its checkpoint found."""
    return msgspec.structs.replace(held, check=check)
