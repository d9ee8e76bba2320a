"""
How one entry of the log moves the disputes of a fact, and what it is told as.

Nothing here asks a clock or a database: from the same log come the same disputes and events.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import get_args

import msgspec

from ..entries import (
    Asserted,
    Assigned,
    Dismissed,
    Escalated,
    Receipt,
    Retracted,
    Spent,
    Stored,
    Withdrawn,
)
from ..outcomes import Outcome
from .dispute import Dispute
from .events import Event, EventKind, Standing, tag

ORDER: tuple[EventKind, ...] = get_args(EventKind)

Disputes = tuple[Dispute, ...]


def advanced(
    before: Disputes,
    stored: Stored,
    old: Outcome | None,
    new: Outcome,
    *,
    cause: str = "",
    dismissed: Collection[str] = (),
) -> tuple[Disputes, tuple[Event, ...]]:
    """
    Move the disputes of one fact by one log entry that touches it.

    Args:
        before: Its disputes before, in any order: that of the last revision, those that are not
            closed, and those that *stored* or *new* names; the others move no more.
        stored: The entry.
        old: What the fact came to before; None: it was never folded.
        new: What it comes to with the entry.
        cause: Why, where the entry's own kind does not say it.
        dismissed: Ids of the disputes that are put aside now.

    Returns:
        These and a new one, as they are now, by revision; and what happened, in a fixed order, at
        most one of a kind.

    """
    if not before and not new.dispute:
        return (), _events((), (), stored, old, new, cause)
    ranked = tuple(sorted(before, key=_age))
    noted = tuple(_noted(one, stored) for one in ranked)
    after = _followed(noted, stored, old, new, dismissed)
    return after, _events(ranked, after, stored, old, new, cause)


def conflicting(outcome: Outcome | None) -> bool:
    """Whether what is said of a fact contradicts itself, decided or not; succession does not."""
    if outcome is None:
        return False
    return outcome.status == "disputed" or bool(outcome.dispute or outcome.trace.dissent)


def _age(one: Dispute) -> tuple[int, str]:
    return one.revision, one.id


def _noted(one: Dispute, stored: Stored) -> Dispute:
    """Note what an entry says of the dispute itself."""
    entry = stored.entry
    if getattr(entry, "dispute", None) != one.id:
        return one
    if isinstance(entry, Receipt):
        named = dict.fromkeys((*one.receipts, stored.id))
        one = _answered(one, entry.decision)
        return msgspec.structs.replace(one, receipts=tuple(named))
    if isinstance(entry, Spent):
        return _spent(one, entry)
    if isinstance(entry, Escalated):
        one = _answered(one, entry.answered)
    return _worked(one, stored) if one.live else one


def _answered(one: Dispute, decision: str) -> Dispute:
    """Note that the person who was asked has been heard."""
    heard = one.waiting and one.waiting == decision
    return msgspec.structs.replace(one, waiting="") if heard else one


def _worked(one: Dispute, stored: Stored) -> Dispute:
    """Note whose it is, and whether a person has to."""
    entry = stored.entry
    if isinstance(entry, Assigned):
        return _assigned(one, entry)
    if isinstance(entry, Escalated):
        waiting = entry.decision or one.waiting
        return msgspec.structs.replace(one, escalated=entry.reason, waiting=waiting)
    return one


def _spent(one: Dispute, entry: Spent) -> Dispute:
    return msgspec.structs.replace(
        one,
        reads=one.reads + entry.reads,
        tokens=one.tokens + entry.tokens,
        cost_usd=one.cost_usd + entry.cost_usd,
    )


def _assigned(one: Dispute, entry: Assigned) -> Dispute:
    if entry.until <= entry.at:
        return one.freed()
    return msgspec.structs.replace(
        one, state="assigned", assigned_to=entry.to, party=entry.party, until=entry.until
    )


def _followed(
    before: Disputes,
    stored: Stored,
    old: Outcome | None,
    new: Outcome,
    dismissed: Collection[str],
) -> Disputes:
    """Let the disputes follow what the fact comes to: of one fact one is open (RF-58)."""
    after = tuple(
        _present(one, new, dismissed) if one.id == new.dispute else _past(one, stored, new)
        for one in before
    )
    if not new.dispute:
        return after
    after = tuple(one if one.id == new.dispute else one.followed() for one in after)
    if any(one.id == new.dispute for one in before):
        return after
    opened = _opened(_former(before, old), before, stored, new)
    return (*after, _present(opened, new, dismissed))


def _present(one: Dispute, new: Outcome, dismissed: Collection[str]) -> Dispute:
    listed = new.candidates
    if one.candidates and {candidate.id for candidate in listed} != {*one.seen}:
        listed = one.candidates  # it was resolved, and one of them is gone since
    one = msgspec.structs.replace(one, candidates=listed, reason=new.reason or one.reason)
    if new.receipt and new.status != "disputed":
        named = dict.fromkeys((*one.receipts, new.receipt))
        return msgspec.structs.replace(one.ended("resolved"), receipts=tuple(named))
    if one.id in dismissed:
        return one.ended("dismissed")
    return one if one.live else one.again()


def _past(one: Dispute, stored: Stored, new: Outcome) -> Dispute:
    """One that is not about what is left now; what was settled once stays told as it was."""
    if _settles(stored, one, new):
        return one.ended("resolved")
    if isinstance(stored.entry, Withdrawn) and one.receipts[-1:] == (stored.entry.target,):
        return one.ended("auto_closed")
    if one.live or one.state == "dismissed":
        return one.ended("auto_closed")
    return one


def _settles(stored: Stored, one: Dispute, new: Outcome) -> bool:
    """Whether an entry is a receipt of a dispute, and the fact comes to what it chose."""
    entry = stored.entry
    if not isinstance(entry, Receipt) or entry.dispute != one.id:
        return False
    left = () if new.status != "disputed" else new.candidates
    if new.members is not None and entry.choice not in {each.id for each in left}:
        return True  # of a set: that member is settled, whatever is left to settle of the others
    decided = new.status != "disputed" and [each.id for each in new.candidates] == [entry.choice]
    return decided or stored.id == new.receipt


def _former(before: Disputes, old: Outcome | None) -> Dispute | None:
    """Give the one that a new one follows: that of before, else the last."""
    of_before = [one for one in before if old is not None and one.id == old.dispute]
    return next(iter((*of_before, *before[-1:])), None)


def _opened(former: Dispute | None, before: Disputes, stored: Stored, new: Outcome) -> Dispute:
    """Open a dispute; where it goes on with one, what that one has cost counts (RF-59)."""
    made = Dispute(
        id=new.dispute,
        key=new.key,
        revision=max((one.revision for one in before), default=0) + 1,
        candidates=new.candidates,
        reason=new.reason,
        opened_at=stored.recorded_at,
    )
    if former is None:
        return made
    made = msgspec.structs.replace(made, former=former.id)
    if former.state in {"resolved", "dismissed"}:
        return msgspec.structs.replace(made, state="reopened", reopened=1)
    if not former.live:
        return made
    return msgspec.structs.replace(
        made, reads=former.reads, tokens=former.tokens, cost_usd=former.cost_usd
    )


def _told(
    before: Disputes, after: Disputes, stored: Stored, old: Outcome | None, new: Outcome
) -> Iterator[tuple[EventKind, tuple[str, ...]]]:
    """Say what happened: kind → what it is about."""
    entry = stored.entry
    if isinstance(entry, Asserted):
        yield "asserted", (stored.id,)
    elif isinstance(entry, Retracted):
        yield "retracted", (entry.target,)
    elif isinstance(entry, Dismissed):
        yield "dismissed", (entry.dispute,)
    elif isinstance(entry, Withdrawn):
        yield "withdrawn", (entry.target,)
    if conflicting(new) and not conflicting(old):
        yield "conflict_detected", tuple(one.id for one in new.candidates)
    if new.status != "disputed" and (old is None or old.hash != new.hash):
        yield "decided", new.trace.unbeaten
    were = {one.id: one for one in before}
    for one in after:
        yield from _moves(were.get(one.id), one, stored)
    revised = {one.former for one in after if one.id not in were}
    for one in before:
        if one.live and one.id not in revised and _by_id(after, one.id).state == "auto_closed":
            yield "closed", (one.id,)


def _by_id(disputes: Disputes, id: str) -> Dispute:  # noqa: A002 - the dispute's
    return next(one for one in disputes if one.id == id)


def _moves(
    was: Dispute | None, now: Dispute, stored: Stored
) -> Iterator[tuple[EventKind, tuple[str, ...]]]:
    """Say what became of one dispute."""
    state, entry = None if was is None else was.state, stored.entry
    ids = (now.id, now.former) if was is None and now.former else (now.id,)
    if state == now.state == "resolved" and was is not None and was.receipts != now.receipts:
        yield "resolved", (now.id, now.receipts[-1])
    elif isinstance(entry, Assigned) and entry.dispute == now.id and was != now:
        yield ("assigned" if now.state == "assigned" else "released"), ids
    elif isinstance(entry, Escalated) and entry.dispute == now.id and was != now and now.live:
        yield "escalated", (now.id, now.waiting) if now.waiting else ids
    elif state == now.state:
        return
    elif now.state == "resolved":
        yield "resolved", (now.id, now.receipts[-1])
    elif now.state == "reopened":
        yield "reopened", ids
    elif now.state == "dismissed":  # also where the clash was put aside before it came, or is back
        yield "dismissed", (now.id,)
    elif now.state == "open" and was is None:
        yield "disputed", ids


def _events(
    before: Disputes,
    after: Disputes,
    stored: Stored,
    old: Outcome | None,
    new: Outcome,
    cause: str,
) -> tuple[Event, ...]:
    """Tell what happened, in the order of the kinds."""
    said = dict(_told(before, after, stored, old, new))
    if not said:
        return ()
    was, now = Standing.of(old), Standing.of(new)
    return tuple(
        Event(
            position=stored.position,
            key=new.key,
            kind=kind,
            at=stored.recorded_at,
            before=was,
            after=now,
            rule=new.decided_by or new.reason,
            ids=said[kind],
            cause=_because(kind, stored, cause),
        )
        for kind in sorted(said, key=ORDER.index)
    )


def _because(kind: EventKind, stored: Stored, cause: str) -> str:
    if kind == "reopened" and isinstance(stored.entry, Asserted):
        return "new_evidence"
    return cause or tag(stored)
