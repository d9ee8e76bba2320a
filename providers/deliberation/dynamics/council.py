"""
The council of three: it judges how a question was deliberated, once, and lets it stand or not.

Critic and devil's advocate speak at the same time, then the synthesizer. A slice of the council's
time is the synthesizer's own, so that two who hang cannot take it (DD-68, TR-21).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from ..drafts import fenced
from ..panel import Member
from ..scopes import Scope
from ..turns import Kind, Turn, Wanted
from . import verdicts
from .briefs import ADVOCATE, CRITIC, PROPOSING, TASKS
from .citing import founded
from .hall import Hall
from .schemas import FINDINGS, MARKS, AdvocateReport, CriticReport, form_of
from .stands import Stand, state_for
from .synthesis import account

SEATS = ("critic", "advocate", "synthesizer")
LEVELS = ("unresolved", "resolved", "partial", "strong")  # the most protective first
OUT_OF_TIME = ("timeout", "late")


def opened(hall: Hall, share: float = 1.0) -> Scope:
    """Begin the council's own time, or a *share* of it; none of the debate's (DD-21, AM-12)."""
    rules, waits = hall.rules, Scope.opened("caller", None, hall.call).left
    mine = math.inf if waits is None else waits * (1.0 - rules.reserve)  # the fallback's is not
    return Scope.opened("council", share * min(rules.council_timeout, mine), hall.call)


async def propose(hall: Hall) -> None:
    """
    Let the synthesizer propose where a critical question was not debated (DD-04).

    It has a role's time for it, so that the council's own is whole after that.
    """
    member = hall.council["synthesizer"]
    wanted = hall.wanted(
        member,
        "synthesis",
        PROPOSING,
        {"case": state_for(member.role, hall.state)},
        (form_of("verdict", tuple(hall.options))[0], None),
        closing=True,
        tag="proposal",
    )
    turn = await hall.floor.turn(wanted, hall.rules.timeout_per_agent, within=opened(hall))
    if turn.usable and turn.said is not None:
        said = turn.said
        hall.proposal = Stand(
            member=member.name,
            round=0,
            recommendation=said["recommendation"],
            confidence=said["confidence"],
            position=said["summary"],
        )
    hall.know(held=len(hall.stands))


async def sit(hall: Hall, key: str = "council") -> Mapping[str, Any] | None:
    """
    Hear the three and ask COUNCIL; one pass, however it ends.

    Returns:
        What it came to; None: one of them failed otherwise than by the time, or none of them was
        heard, so that there was no council.

    """
    whole, first = opened(hall), opened(hall, 1.0 - hall.rules.reserve)
    wanted = [
        _asked(hall, "critic", CRITIC, CriticReport),
        _asked(hall, "advocate", ADVOCATE, AdvocateReport),
    ]
    critic, advocate = await hall.floor.together(wanted, within=first)
    if _failed(critic, advocate):
        hall.transcript.note("the council failed")
        return None
    last = await _synthesizer(hall, critic, advocate, whole)
    three = (critic, advocate, last)
    if _failed(last) or not any(turn.usable for turn in three):
        hall.transcript.note("the council failed" if _failed(last) else "the council was not heard")
        return None
    forced, dissents = not all(turn.usable for turn in three), _dissents(hall, last)
    marks, findings = _marks(critic), _findings(advocate)
    level = _resolution(hall, last)
    found = await verdicts.council(hall, marks, findings, level, f"{key}/verdict")
    said = founded(last.said or {}, hall.retrieval.known)
    told = {
        **found,
        "route": _reserved(found["route"], forced or dissents),
        "resolution": level,
        "forced": forced,
        "dissents": dissents,
        "recommendation": _recommended(hall, last),
        "marks": marks,
        "findings": findings,
        "summary": said.get("summary", ""),
        "caveats": list(said.get("caveats", ())),
    }
    return hall.transcript.entry("council", told, key)


def _failed(*turns: Turn) -> bool:
    return any(not turn.usable and turn.ending not in OUT_OF_TIME for turn in turns)


def _reserved(route: str, doubt: bool) -> str:  # noqa: FBT001 - what it is about
    """Emit with caveats at most what was forced by the time, or what its synthesizer is against."""
    return "EMIT_WITH_CAVEATS" if doubt and route == "EMIT" else route


def _dissents(hall: Hall, last: Turn) -> bool:
    """Whether the synthesizer supports something else than the debate recommends."""
    assert hall.synthesis is not None
    chosen = (last.said or {}).get("recommendation", "")
    return bool(chosen) and hall.synthesis.recommendation not in ("", chosen)


def _asked(hall: Hall, kind: Kind, task: str, form: type[msgspec.Struct]) -> Wanted:
    member = hall.council[kind]
    return hall.wanted(member, kind, task, _told(hall, member), (form, None), closing=True)


def _told(hall: Hall, member: Member) -> dict[str, Any]:
    """Give case and debate as *member* may see them: its role has its own evidence, too."""
    assert hall.synthesis is not None
    case = state_for(member.role, hall.state)
    return {"case": case, "debate": account(hall, hall.synthesis, member.role)}


async def _synthesizer(hall: Hall, critic: Turn, advocate: Turn, scope: Scope) -> Turn:
    member = hall.council["synthesizer"]
    state = {
        **_told(hall, member),
        "critic": _fenced(hall, critic, "remarks"),
        "advocate": _fenced(hall, advocate, "case"),
    }
    forms = (form_of("verdict", tuple(hall.options))[0], None)
    wanted = hall.wanted(member, "synthesizer", TASKS["verdict"], state, forms, closing=True)
    return await hall.floor.turn(wanted, within=scope)


def _fenced(hall: Hall, turn: Turn, prose: str) -> Mapping[str, Any] | None:
    """Give a report with its prose in fences; None: there is none."""
    if turn.said is None:
        return None
    return {**turn.said, prose: fenced(founded(turn.said[prose], hall.retrieval.known))}


def _marks(critic: Turn) -> dict[str, int]:
    """A critic who ran out of time has approved of nothing."""
    said = critic.said or {}
    return {name: said.get(name, 0) for name in MARKS}


def _findings(advocate: Turn) -> dict[str, bool]:
    """An advocate who ran out of time may have found anything."""
    said = advocate.said or {}
    return {name: said.get(name, True) for name in FINDINGS}


def _resolution(hall: Hall, last: Turn) -> str:
    """
    Take the synthesizer's word for how well it was resolved, as far as the positions bear it.

    All roles on one recommendation bear `strong`, more than half of them `partial`, else a
    difference can be `resolved` at best. Without the synthesizer's word nothing is added that
    nobody said: `resolved` where all recommend the same, else `unresolved`.
    """
    said, bears = last.said, _borne(hall)
    if said is None:
        return "resolved" if bears == "strong" else "unresolved"
    if _dissents(hall, last):
        return "unresolved"
    level: str = said["resolution"]
    return min(bears, level, key=LEVELS.index)


def _borne(hall: Hall) -> str:
    check = hall.check
    if not hall.applies or check is None or check["score"] is None:
        return "resolved"
    votes = [one.recommendation for one in hall.stands.values()]
    most = max(map(votes.count, votes))
    if most == len(votes):
        return "strong"
    return "partial" if 2 * most > len(votes) else "resolved"


def _recommended(hall: Hall, last: Turn) -> str:
    """The debate's recommendation; of a tie, the tied option that the synthesizer supports."""
    made = hall.synthesis
    assert made is not None
    if made.recommendation:
        return made.recommendation
    chosen = (last.said or {}).get("recommendation", "")
    return chosen if chosen in made.tied else ""
