"""One session of a committee, from its first turn to what it comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ....gateway.answers import Answer, Reply
from ....gateway.errors import Reason
from ....gateway.questions import Ask
from ..floor import Floor
from ..hearing import UNASKED
from ..protocols import Deliberated, Packet
from ..turns import Turn, Wanted
from .deciding import Policy
from .holding import deliberated
from .naming import model_of
from .replying import Counted, counted, has_failed, used, why_nothing
from .seats import Seats, quorum_of, voters
from .settings import CommitteeSettings, OnPartial

PARTIAL: Mapping[OnPartial, Reason | None] = {
    "accept": None,
    "fallback": Reason.ABSTAINED,
    "reject": Reason.INCOMPLETE,
}
"""Policy → why an answer in which somebody is missing does not count."""

ANSWERS = ("answer", "estimate", "revision", "self_refine")
"""Kinds of turn in which a voter answers; who only criticises does not."""


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a committee came to.

    Attributes:
        reply: Its answers, who gave them and what that cost.
        reason: Why nothing of it counts; None: each question counts for itself.
        told: What the gateway will record: `ok`, `abstained`, or that reason.
        session: What the protocol gave.

    """

    reply: Reply
    reason: Reason | None
    told: Reason
    session: Deliberated

    @property
    def bare(self) -> Reply:
        """The reply without its answers, as it goes with a reason."""
        return msgspec.structs.replace(self.reply, answers={})

    @property
    def verdict(self) -> dict[str, Any]:
        """What is written down of it."""
        notes = self.reply.notes
        plain = msgspec.to_builtins(self.reply.answers)
        return {"reason": self.told, "model": self.reply.model, "answers": plain, "notes": notes}


async def concluded(
    settings: CommitteeSettings, seats: Seats, packet: Packet, ask: Ask, floor: Floor
) -> Conclusion:
    """Let the members speak, ask the judge where it is wanted, and put it all together."""
    session = await deliberated(settings, seats, packet, ask, floor)
    count = await _counted(settings, seats, ask, session, floor)
    turns = floor.transcript.turns
    missing = _missing(session, turns)
    failed = {*session.stale, *(name for name, why in missing.items() if has_failed(why))}
    reply = Reply(
        count.answers,
        model=model_of(settings, seats, _served(turns), failed),
        usage=used(turns),
        notes={**_noted(settings, seats, session, missing), **_asked(turns), **count.notes},
        partial=bool(failed),
    )
    reason = _why_not(settings, session, missing, partial=reply.partial)
    told = reason or (Reason.ABSTAINED if count.abstains else Reason.OK)
    return Conclusion(reply=reply, reason=reason, told=told, session=session)


async def _counted(
    settings: CommitteeSettings, seats: Seats, ask: Ask, session: Deliberated, floor: Floor
) -> Counted:
    expected = voters(settings, seats.members)
    given, policy = _voting(session), _policy(settings, expected)
    count = counted(ask.questions, given, expected, policy)
    if seats.judge is None or not count.is_open:
        return count
    wanted = Wanted(
        member=seats.judge,
        kind="answer",
        round=session.rounds + 1,
        tag="judge",
        ask=ask,
        closing=True,
    )
    turn = await floor.turn(wanted, settings.timeout_per_member_seconds)
    judge = turn.answers if turn.usable else None
    return counted(ask.questions, given, expected, policy, judge)


def _voting(session: Deliberated) -> Sequence[Mapping[str, Answer]]:
    """Give what counts; a skeptic without a vote is not among the estimates."""
    given: Mapping[str, Mapping[str, Answer]] = session.estimates
    return list(given.values())


def _why_not(
    settings: CommitteeSettings,
    session: Deliberated,
    missing: Mapping[str, Reason],
    *,
    partial: bool,
) -> Reason | None:
    if not session.estimates:
        return why_nothing(missing)
    return PARTIAL[settings.on_partial] if partial else None


def _missing(session: Deliberated, turns: Sequence[Turn]) -> dict[str, Reason]:
    """Say who has no answer that counts, and why: members, the skeptic, a second thought."""
    failed = {
        turn.member: turn.reason
        for turn in turns
        if turn.kind in ANSWERS and not turn.usable and turn.member not in session.estimates
    }
    return {**failed, **session.missing}


def _noted(
    settings: CommitteeSettings, seats: Seats, session: Deliberated, missing: Mapping[str, Reason]
) -> dict[str, float]:
    notes = {
        "responded": float(len(session.estimates)),
        "expected": float(voters(settings, seats.members)),
        "rounds": float(session.rounds),
    }
    absent = {f"{name}.{reason}": 1.0 for name, reason in missing.items()}
    stale = {f"{name}.stale": 1.0 for name in session.stale}
    stop = {f"stop.{session.stop}": 1.0} if session.planned else {}
    return {**notes, **absent, **stale, **stop}


def _asked(turns: Sequence[Turn]) -> dict[str, float]:
    return {"calls": float(sum(UNASKED not in turn.notes for turn in turns))}


def _policy(settings: CommitteeSettings, expected: int) -> Policy:
    return Policy(
        quorum=quorum_of(expected) if settings.quorum is None else settings.quorum,
        rule=settings.rule,
        predicate_rule=settings.predicate_rule,
        both_sides=settings.both_sides,
        max_spread=settings.max_spread,
    )


def _served(turns: Sequence[Turn]) -> dict[str, str]:
    """Name the model of each, also of those who abstained; that of an answer counts first."""
    named = [turn for turn in turns if turn.model]
    every = {turn.member: turn.model for turn in named}
    return every | {turn.member: turn.model for turn in named if turn.usable}
