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
from ..scopes import Scope
from ..turns import Kind, Turn, Wanted
from . import verdicts
from .briefs import ADVOCATE, CRITIC, PROPOSING, TASKS
from .hall import Hall
from .schemas import FINDINGS, MARKS, AdvocateReport, CriticReport, form_of
from .stands import Stand
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
    """Let the synthesizer propose where a critical question was not debated (DD-04)."""
    member = hall.council["synthesizer"]
    wanted = hall.wanted(
        member,
        "synthesis",
        PROPOSING,
        {"case": hall.state},
        (form_of("verdict", tuple(hall.options))[0], None),
        closing=True,
        tag="proposal",
    )
    turn = await hall.floor.turn(wanted, within=opened(hall))
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
        What it came to; None: critic or advocate failed otherwise than by the time, so that there
        was no council.

    """
    whole, first = opened(hall), opened(hall, 1.0 - hall.rules.reserve)
    wanted = [
        _asked(hall, "critic", CRITIC, CriticReport),
        _asked(hall, "advocate", ADVOCATE, AdvocateReport),
    ]
    critic, advocate = await hall.floor.together(wanted, within=first)
    if any(not turn.usable and turn.ending not in OUT_OF_TIME for turn in (critic, advocate)):
        hall.transcript.note("the council failed")
        return None
    last = await _synthesizer(hall, critic, advocate, whole)
    forced = not (critic.usable and advocate.usable and last.usable)
    marks, findings = _marks(critic), _findings(advocate)
    level = _resolution(hall, last)
    found = await verdicts.council(hall, marks, findings, level, f"{key}/verdict")
    told = {
        **found,
        "resolution": level,
        "forced": forced,
        "recommendation": _recommended(hall, last),
        "marks": marks,
        "findings": findings,
        "summary": (last.said or {}).get("summary", ""),
        "caveats": list((last.said or {}).get("caveats", ())),
    }
    return hall.transcript.entry("council", told, key)


def _asked(hall: Hall, kind: Kind, task: str, form: type[msgspec.Struct]) -> Wanted:
    assert hall.synthesis is not None
    state = {"case": hall.state, "debate": account(hall, hall.synthesis)}
    return hall.wanted(hall.council[kind], kind, task, state, (form, None), closing=True)


async def _synthesizer(hall: Hall, critic: Turn, advocate: Turn, scope: Scope) -> Turn:
    assert hall.synthesis is not None
    state = {
        "case": hall.state,
        "debate": account(hall, hall.synthesis),
        "critic": _fenced(critic, "remarks"),
        "advocate": _fenced(advocate, "case"),
    }
    forms = (form_of("verdict", tuple(hall.options))[0], None)
    member = hall.council["synthesizer"]
    wanted = hall.wanted(member, "synthesizer", TASKS["verdict"], state, forms, closing=True)
    return await hall.floor.turn(wanted, within=scope)


def _fenced(turn: Turn, prose: str) -> Mapping[str, Any] | None:
    """Give a report with its prose in fences; None: there is none."""
    return None if turn.said is None else {**turn.said, prose: fenced(turn.said[prose])}


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
    difference can be `resolved` at best. Without the synthesizer's word it is what they bear, and
    `unresolved` where they differ.
    """
    said, bears = last.said, _borne(hall)
    made = hall.synthesis
    assert made is not None
    if said is None:
        return bears if bears in ("strong", "partial") else "unresolved"
    if made.recommendation not in ("", said["recommendation"]):
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
