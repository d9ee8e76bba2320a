"""How a deliberation ends: its result, what is written down of it, and of one broken off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from ....gateway.errors import Reason
from ....gateway.state import frozen
from ..panel import Member
from ..turns import Turn
from .deliberated import ANSWERS, ARMS, Deliberated, Status, spent
from .forms import Form
from .sitting import Sitting
from .stopping import StopReason

__all__ = ["as_written", "concluded", "ended", "footer"]

More = Callable[[Sitting], Mapping[str, Any]]

BROKEN_OFF = "cancelled/"

RULED = (StopReason.AGREED, StopReason.SETTLED, StopReason.MAX_ROUNDS)
"""What must not be said of a panel too few of which answered."""


async def ended(
    sitting: Sitting, run: Awaitable[StopReason], more: More | None = None
) -> Deliberated:
    """
    Run a protocol to its end and close its transcript.

    Args:
        sitting: Its state.
        run: Its steps; gives why they ended.
        more: Fields of the result that the protocol knows better.

    Raises:
        CancelledError: The caller gave up; an entry says what there was by then, and the
            transcript can be resumed.

    """
    try:
        stop = await run
        _heeded(sitting)
        found = concluded(sitting, stop, {} if more is None else more(sitting))
        sitting.floor.transcript.close(footer(found, sitting.form))
    except asyncio.CancelledError:
        _broken_off(sitting)
        raise
    finally:
        sitting.floor.transcript.release()
    return found


def _broken_off(sitting: Sitting) -> None:
    """Write down what was finished: also what finished within the step that was cancelled."""
    transcript = sitting.floor.transcript
    sitting.take_over(transcript.turns)
    found = concluded(sitting, StopReason.CANCELLED)
    key = f"{BROKEN_OFF}{len(transcript.entries)}"
    transcript.entry("breaker", footer(found, sitting.form), key)


def _heeded(sitting: Sitting) -> None:
    """Where an earlier run was broken off, say that this is known."""
    transcript = sitting.floor.transcript
    for entry in list(transcript.entries):
        if entry.kind == "breaker" and entry.key.startswith(BROKEN_OFF):
            transcript.entry(entry.kind, entry.body, entry.key)


def concluded(
    sitting: Sitting, stop: StopReason, more: Mapping[str, Any] | None = None
) -> Deliberated:
    """Bring together what there is; *more* are fields that a protocol knows better."""
    now, form, terms = sitting.now(), sitting.form, sitting.terms
    estimates = sitting.counted()
    given = [one.name for one in sitting.panel if one.name in now.estimates]
    status = _status(sitting, stop, len(given), stale=bool(now.stale))
    fields: dict[str, Any] = {
        "estimates": estimates,
        "aggregate": form.aggregate(estimates, terms),
        "stale": tuple(sorted(now.stale)),
        "stop": _stop(stop, status),
        "agreed": form.agreed(estimates, terms.agreement),
        "status": status,
        "responded": len(given),
        "expected": len(sitting.panel),
        "missing": _missing(sitting.panel, given, sitting.turns),
        "skeptic": None if sitting.judge is None else now.estimates.get(sitting.judge.name),
    }
    return Deliberated(**{**_told(sitting), **fields, **(more or {})})


def _told(sitting: Sitting) -> dict[str, Any]:
    """Say what does not depend on how it ended."""
    return {
        "subject": sitting.packet.subject,
        "protocol": sitting.protocol,
        "arm": sitting.terms.arm or ARMS[sitting.protocol],
        "committee": sitting.terms.committee,
        "packet": sitting.case,
        "assignment": {member.name: member.provider for member in sitting.everybody},
        "rounds": sitting.rounds,
        "planned": sitting.terms.rounds,
        "turns": tuple(sitting.turns),
        "would_have_stopped": sitting.would_have_stopped,
        "spreads": tuple(sitting.spreads),
        "flags": tuple(sitting.flags.history),
        "unresolved": sitting.flags.unresolved,
        "notes": tuple(sitting.notes),
        **msgspec.structs.asdict(spent(sitting.turns)),
    }


def _stop(stop: StopReason, status: Status) -> StopReason:
    """Let the reason fit the status: one estimate may be a quorum, and is nobody to debate with."""
    if status == "no_quorum" and stop in RULED:
        return StopReason.NO_QUORUM
    alone = stop is StopReason.NO_QUORUM and status != "no_quorum"
    return StopReason.MAX_ROUNDS if alone else stop


def _status(sitting: Sitting, stop: StopReason, responded: int, *, stale: bool) -> Status:
    expected = len(sitting.panel)
    if responded < sitting.terms.least(expected):
        return "no_quorum"
    whole = responded == expected and not stale
    cut = stop in (StopReason.TIMEOUT, StopReason.BUDGET, StopReason.CANCELLED)
    return "complete" if whole and not cut else "partial"


def _missing(
    panel: Sequence[Member], given: Sequence[str], turns: Sequence[Turn]
) -> Mapping[str, Reason]:
    """Say why a member has no estimate: what its last try at one came to."""
    why: dict[str, Reason] = {}
    for turn in turns:
        if turn.kind in ANSWERS:
            why[turn.member] = Reason.INVALID_NUMBER if turn.usable else turn.reason
    return {one.name: why.get(one.name, Reason.CANCELLED) for one in panel if one.name not in given}


def footer(found: Deliberated, form: Form) -> dict[str, Any]:
    """Write a result down in plain values, without what the transcript holds already."""
    plain: dict[str, Any] = {
        name: msgspec.to_builtins(getattr(found, name))
        for name in found.__struct_fields__
        if name not in ("turns", "estimates", "skeptic")
    }
    plain["estimates"] = {name: form.plain(one) for name, one in found.estimates.items()}
    plain["skeptic"] = None if found.skeptic is None else form.plain(found.skeptic)
    return as_written(plain)


def as_written(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Give values as they are read again from a transcript, where a tuple is a list."""
    read: dict[str, Any] = msgspec.json.decode(frozen(msgspec.to_builtins(plain))[1])
    return read
