"""The most that a committee can take: calls, seconds; and what of that cannot fit."""

from __future__ import annotations

from collections.abc import Iterator

from ....gateway.errors import Fault
from ....gateway.plugins import Setup
from ....gateway.remote import variable_of
from ..feasible import Stage, feasible
from .seats import DEBATES, SKEPTIC, Seats
from .settings import CommitteeSettings


def stages_of(settings: CommitteeSettings, seats: Seats) -> tuple[Stage, ...]:
    """
    Lay out what a committee does, part after part, with the most turns that each can have.

    Together they are n calls, n(1 + 2R) + s of a debate, k + 2 of one member's samples, and one
    of a judge.
    """
    return tuple(
        Stage(name=name, turns=turns, seconds=settings.timeout_per_member_seconds)
        for name, turns in _steps(settings, seats)
    )


def _steps(settings: CommitteeSettings, seats: Seats) -> Iterator[tuple[str, int]]:
    many, skeptics = len(seats.members), _skeptics(settings, seats)
    if settings.protocol == "cost_matched":
        yield from (("samples", settings.samples), ("self-critique", 1), ("second thought", 1))
    else:
        yield "answers", many - skeptics
    if settings.protocol in DEBATES:
        for number in range(1, settings.rounds_planned + 1):
            yield f"critiques {number}", many - skeptics
            yield f"revisions {number}", many - skeptics
    if skeptics:
        yield SKEPTIC, skeptics
    if seats.judge is not None:
        yield "judge", 1


def doubts_of(setup: Setup, settings: CommitteeSettings, seats: Seats) -> tuple[Fault, ...]:
    """Say where the slowest members leave no time, or no calls, for what is planned."""
    found: list[Fault] = []
    stages = stages_of(settings, seats)
    told, calls = feasible(stages, settings.timeout_seconds).told(), sum(s.turns for s in stages)
    if told:
        fix = "What is said by then counts. Raise it, or shorten the time of a member"
        found.append(Fault(variable_of(setup, "TIMEOUT_SECONDS"), told, fix))
    if settings.max_calls is not None and calls > settings.max_calls:
        problem = f"the protocol may take {calls} calls, and {settings.max_calls} are allowed"
        fix = "What is said by then counts. Raise it, or plan fewer rounds"
        found.append(Fault(variable_of(setup, "MAX_CALLS"), problem, fix))
    for name in seats.alike:
        problem = f"`{name}` is asked more than once, and says the same each time"
        fix = "Its votes are one vote that is counted several times. Name it once"
        found.append(Fault(variable_of(setup, "MEMBERS"), problem, fix))
    return tuple(found)


def _skeptics(settings: CommitteeSettings, seats: Seats) -> int:
    if settings.protocol != "skeptic":
        return 0
    return sum(one.name == SKEPTIC for one in seats.members)
