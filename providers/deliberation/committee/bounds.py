"""The most that a committee can take: calls, seconds; and what of that cannot fit."""

from __future__ import annotations

from ....gateway.errors import Fault
from ....gateway.plugins import Setup
from ....gateway.remote import variable_of
from ..measures.matching import debate_calls, independent_calls, single_calls
from .seats import DEBATES, SKEPTIC, Seats
from .settings import CommitteeSettings


def most_calls(settings: CommitteeSettings, seats: Seats) -> int:
    """Most asks in one decision: n, n(1 + 2R) + s of a debate, k + 2; and one of a judge."""
    many, judges = len(seats.members), int(seats.judge is not None)
    if settings.protocol == "cost_matched":
        return single_calls(settings.samples) + judges
    if settings.protocol not in DEBATES:
        return independent_calls(many) + judges
    skeptics = _skeptics(settings, seats)
    return debate_calls(many - skeptics, settings.rounds_planned, skeptics) + judges


def worst_seconds(settings: CommitteeSettings, seats: Seats) -> float:
    """Longest time that members can take one after the other: those of one step speak at once."""
    steps = 1 + 2 * settings.rounds_planned
    if settings.protocol == "cost_matched":
        steps = single_calls(settings.samples) - settings.samples + 1
    steps += _skeptics(settings, seats) + (seats.judge is not None)
    return steps * settings.timeout_per_member_seconds


def doubts_of(setup: Setup, settings: CommitteeSettings, seats: Seats) -> tuple[Fault, ...]:
    """Say where the slowest members leave no time, or no calls, for what is planned."""
    found: list[Fault] = []
    seconds, calls = worst_seconds(settings, seats), most_calls(settings, seats)
    if seconds > settings.timeout_seconds:
        problem = f"members may take {seconds:g} seconds, of {settings.timeout_seconds:g}"
        fix = "What is said by then counts. Raise it, or shorten the time of a member"
        found.append(Fault(variable_of(setup, "TIMEOUT_SECONDS"), problem, fix))
    if settings.max_calls is not None and calls > settings.max_calls:
        problem = f"the protocol may take {calls} calls, and {settings.max_calls} are allowed"
        fix = "What is said by then counts. Raise it, or plan fewer rounds"
        found.append(Fault(variable_of(setup, "MAX_CALLS"), problem, fix))
    return tuple(found)


def _skeptics(settings: CommitteeSettings, seats: Seats) -> int:
    if settings.protocol != "skeptic":
        return 0
    return sum(one.name == SKEPTIC for one in seats.members)
