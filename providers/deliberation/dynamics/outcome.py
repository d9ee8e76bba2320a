"""What a debate came to, for whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from ....gateway.answers import Usage
from ....gateway.errors import Reason
from ..protocols.stopping import StopReason
from ..transcript import Transcript
from ..turns import Turn
from .hall import Hall
from .log import escalated_to, lines, log_of
from .minutes import Held, Synthesis
from .states import STOPS, State

Status: TypeAlias = Literal["complete", "partial", "no_quorum"]


class Debated(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a debate came to.

    Attributes:
        session: UUID of the debate.
        state: The terminal state it ended in.
        recommendation: The option that is emitted; None where a person decides or it failed.
        confidence: In percent, after penalties, or the council's score; what stands behind the
            recommendation.
        convergence: Percent, of the last checkpoint; None: there was none, or no quorum.
        status: Whether all roles were heard in the last round.
        responded: Roles that were, in the last round.
        expected: Roles that were asked.
        missing: Roles that were not → why.
        rounds: Those that were held.
        stop: Why no further round was held; None where rounds were not what was wanted.
        synthesis: What the roles come to; None: nobody was heard.
        reasons: Why it was routed so, from a closed list.
        impasse: Positions stood still without convergence (DD-75).
        flags: `REDUCED BY TIMEOUT`, `IMPASSE`, `CAVEATS`, `DEGRADED`; `COUNCIL DISSENTS`, where its
            synthesizer supports something else, and `COUNCIL REDUCED BY TIMEOUT`.
        breaker: The breaker's record; None: it did not trip.
        council: What the council came to; None: it did not sit.
        advice: The same where a person decides nonetheless; it changed nothing.
        fault: What was wrong with the debate itself; empty if nothing was.
        failed: Why there is no answer, where it failed.
        usage: What all turns used together.
        log: The record of the debate, with fixed keys.
        lines: Its lines, `TIMEOUT: {ROLE} em {PHASE}` among them.
        path: Ids of the transitions made.
        turns: All of them, in the order in which they ended.
        transcript: Everything.

    """

    session: str
    state: State
    recommendation: str | None = None
    confidence: float = 0.0
    convergence: float | None = None
    status: Status = "complete"
    responded: int = 0
    expected: int = 0
    missing: Mapping[str, Reason] = {}
    rounds: tuple[Held, ...] = ()
    stop: StopReason | None = None
    synthesis: Synthesis | None = None
    reasons: tuple[str, ...] = ()
    impasse: bool = False
    flags: tuple[str, ...] = ()
    breaker: Mapping[str, Any] | None = None
    council: Mapping[str, Any] | None = None
    advice: Mapping[str, Any] | None = None
    fault: str = ""
    failed: Reason | None = None
    usage: Usage | None = None
    log: Mapping[str, Any] = {}
    lines: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    transcript: Transcript

    @property
    def file(self) -> Path | None:
        """Where the transcript is kept; None: in memory alone."""
        return self.transcript.path


EMITS = (State.EMITTED, State.EMITTED_WITH_CAVEATS)


def outcome(hall: Hall, failed: Reason | None, ended: str) -> Debated:
    """
    Sum up a debate that has ended, or was broken off.

    Args:
        hall: The debate.
        failed: Why there is no answer, where it failed.
        ended: When it ended, as an ISO time.

    """
    last = hall.last
    made, emits = hall.synthesis, hall.state_now in EMITS
    stop = STOPS.get(hall.ended)
    return Debated(
        session=hall.session,
        state=hall.state_now,
        recommendation=_recommended(hall) if emits else None,
        confidence=confidence(hall),
        convergence=None if hall.check is None else hall.check["score"],
        status=status(hall),
        responded=0 if last is None else len(last.fresh),
        expected=len(hall.seats),
        missing={} if last is None else last.silent,
        rounds=tuple(hall.rounds),
        stop=_stop(hall, stop),
        synthesis=made,
        reasons=_reasons(hall),
        impasse=bool(hall.escalation.get("impasse")),
        flags=flags(hall),
        breaker=_breaker(hall),
        council=hall.sitting,
        advice=hall.advice,
        fault=hall.facts.fault,
        failed=failed,
        usage=hall.usage,
        log=log_of(hall, ended),
        lines=lines(hall),
        path=tuple(hall.path),
        turns=hall.turns,
        transcript=hall.transcript,
    )


def _breaker(hall: Hall) -> Mapping[str, Any] | None:
    """Give the breaker's record, with whom it went to (DD-45)."""
    if hall.breaker is None:
        return None
    return {**hall.breaker, "escalated_to": escalated_to(hall)}


def _recommended(hall: Hall) -> str:
    if hall.sitting is not None:
        told: str = hall.sitting["recommendation"]
        return told
    assert hall.synthesis is not None
    return hall.synthesis.recommendation


def confidence(hall: Hall) -> float:
    """Give what stands behind the recommendation: the council's score where it sat."""
    if hall.sitting is not None:
        score: float = hall.sitting["score"]
        return score
    return 0.0 if hall.synthesis is None else hall.synthesis.confidence.value


def status(hall: Hall) -> Status:
    """Say honestly how complete the panel was (BR-10)."""
    check, last = hall.check, hall.last
    if hall.applies and (check is None or check["score"] is None or hall.ended == "no_quorum"):
        return "no_quorum"
    degraded = last is not None and (last.silent or last.timeouts)
    return "partial" if degraded or (last is None and not hall.stands) else "complete"


def flags(hall: Hall) -> tuple[str, ...]:
    """List what must be said with the answer."""
    tags = () if hall.synthesis is None else hall.synthesis.tags
    sitting: Mapping[str, Any] = hall.sitting or {}
    told = {
        "IMPASSE": bool(hall.escalation.get("impasse")),
        "CAVEATS": hall.state_now is State.EMITTED_WITH_CAVEATS,
        "DEGRADED": status(hall) != "complete",
        "COUNCIL DISSENTS": bool(sitting.get("dissents")),
        "COUNCIL REDUCED BY TIMEOUT": bool(sitting.get("forced")),
    }
    return (*tags, *(name for name, holds in told.items() if holds))


def _stop(hall: Hall, stop: StopReason | None) -> StopReason | None:
    if hall.state_now is State.CANCELLED:
        return StopReason.CANCELLED
    return StopReason.ERROR if hall.state_now is State.FAILED and stop is None else stop


def _reasons(hall: Hall) -> tuple[str, ...]:
    """Give the route's reasons, and why a council that was wanted did not let it stand."""
    told = list(hall.escalation.get("reasons", ()))
    if hall.state_now is State.HUMAN and "TR-20" in hall.path:
        told.append("no_council" if hall.sitting is None else "council_undecided")
    elif hall.sitting is not None and hall.state_now is State.HUMAN:
        told.append("council")
    return tuple(told)
