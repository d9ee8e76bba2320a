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
from .holding import held
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
        heard: What the protocol gave.

    """

    reply: Reply
    reason: Reason | None
    told: Reason
    heard: Deliberated

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
    heard = await held(settings, seats, packet, ask, floor)
    count = await _counted(settings, seats, ask, heard, floor)
    turns = floor.transcript.turns
    missing = _missing(heard, turns)
    reply = Reply(
        count.answers,
        model=model_of(settings, seats, _served(turns)),
        usage=used(turns),
        notes={**_noted(settings, seats, heard, missing), **_asked(turns), **count.notes},
    )
    reason = _why_not(settings, heard, missing)
    told = reason or (Reason.ABSTAINED if count.abstains else Reason.OK)
    return Conclusion(reply=reply, reason=reason, told=told, heard=heard)


async def _counted(
    settings: CommitteeSettings, seats: Seats, ask: Ask, heard: Deliberated, floor: Floor
) -> Counted:
    expected = voters(settings, seats.members)
    given, policy = _voting(heard), _policy(settings, expected)
    count = counted(ask.questions, given, expected, policy)
    if seats.judge is None or not count.is_open:
        return count
    wanted = Wanted(
        member=seats.judge,
        kind="answer",
        round=heard.rounds + 1,
        tag="judge",
        ask=ask,
        closing=True,
    )
    turn = await floor.turn(wanted, settings.timeout_per_member_seconds)
    judge = turn.answers if turn.usable else None
    return counted(ask.questions, given, expected, policy, judge)


def _voting(heard: Deliberated) -> Sequence[Mapping[str, Answer]]:
    """Give what counts; a skeptic without a vote is not among the estimates."""
    given: Mapping[str, Mapping[str, Answer]] = heard.estimates
    return list(given.values())


def _why_not(
    settings: CommitteeSettings, heard: Deliberated, missing: Mapping[str, Reason]
) -> Reason | None:
    if not heard.estimates:
        return why_nothing(missing)
    partial = any(map(has_failed, missing.values())) or bool(heard.stale)
    return PARTIAL[settings.on_partial] if partial else None


def _missing(heard: Deliberated, turns: Sequence[Turn]) -> dict[str, Reason]:
    """Say who has no answer that counts, and why: members, the skeptic, a second thought."""
    failed = {
        turn.member: turn.reason
        for turn in turns
        if turn.kind in ANSWERS and not turn.usable and turn.member not in heard.estimates
    }
    return {**failed, **heard.missing}


def _noted(
    settings: CommitteeSettings, seats: Seats, heard: Deliberated, missing: Mapping[str, Reason]
) -> dict[str, float]:
    notes = {
        "responded": float(len(heard.estimates)),
        "expected": float(voters(settings, seats.members)),
        "rounds": float(heard.rounds),
    }
    absent = {f"{name}.{reason}": 1.0 for name, reason in missing.items()}
    stale = {f"{name}.stale": 1.0 for name in heard.stale}
    stop = {f"stop.{heard.stop}": 1.0} if heard.planned else {}
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
    return {turn.member: turn.model for turn in turns if turn.usable}
