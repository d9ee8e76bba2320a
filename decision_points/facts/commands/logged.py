"""What commands about the log print: entries of a fact, events, what rests on a fact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ....gateway.cli import screen
from ..entries import (
    Aliased,
    AnyEntry,
    Asserted,
    Assigned,
    Dismissed,
    Erased,
    Escalated,
    Quarantined,
    Receipt,
    Retracted,
    Spent,
    Used,
    Withdrawn,
)
from ..telling import as_said, escaped
from .showing import SHORT, moment, value_of

if TYPE_CHECKING:
    from ..dependents import Impact
    from ..disputes import Event
    from ..disputes.events import Standing
    from ..entries import Stored

CHANGING = ("decided", "disputed", "resolved", "reopened", "closed")
"""Kinds of events by which a fact comes to something else."""

WIDE = ("quarantine", "policy", "alias")
"""Causes that lie in no entry of the fact itself."""

STYLES = {"disputed": screen.BAD, "reopened": screen.BAD, "resolved": screen.GOOD}


def entries(found: Iterable[Stored]) -> None:
    """Print entries of the log, a line each, in its order."""
    listed = screen.table("at", "what", "who", "id", loose=("what", "who"))
    for one in found:
        who, what = _entry(one.entry)
        listed.add_row(moment(one.recorded_at), what, escaped(who) or "–", one.id[:SHORT])
    screen.show(listed)


def _entry(entry: AnyEntry) -> tuple[str, str]:  # noqa: PLR0911 - one for each kind
    """Say who did what."""
    match entry:
        case Asserted(assertion=said):
            value = as_said(said)
            told = value if said.kind == "value" else f"{said.kind} {value}".rstrip()
            return said.source, f"says {told}"
        case Retracted():
            return entry.by, f"takes back {entry.target[:SHORT]}{_because(entry.reason)}"
        case Receipt():
            return entry.resolver, f"resolves {entry.dispute[:SHORT]}{_because(entry.reason)}"
        case Dismissed():
            return entry.by, f"dismisses {entry.dispute[:SHORT]}{_because(entry.reason)}"
        case Withdrawn():
            return entry.by, f"withdraws {entry.target[:SHORT]}{_because(entry.reason)}"
        case Erased():
            return entry.by, f"erases {entry.target[:SHORT]}{_because(entry.reason)}"
        case Assigned():
            dispute = entry.dispute[:SHORT]
            if entry.until <= entry.at:
                return entry.to, f"gives back {dispute}"
            return entry.to, f"takes {dispute} until {moment(entry.until)}"
        case Used():
            return "", f"used by decision {escaped(entry.decision)[:SHORT]}"
        case _:
            return _rarely(entry)


def _rarely(entry: AnyEntry) -> tuple[str, str]:
    match entry:
        case Escalated():
            return "", f"needs a person{_because(entry.reason)}"
        case Spent():
            return entry.by, f"spent {entry.reads:,} reads, {screen.cost(entry.cost_usd)}"
        case Aliased():
            return entry.by, f"{escaped(entry.entity)} is {escaped(entry.of)}"
        case Quarantined():
            whom = escaped(entry.source or entry.writer or entry.lifts[:SHORT])
            doing = "lifts" if entry.lifts else "quarantines"
            return entry.by, f"{doing} {whom}{_because(entry.reason)}"
        case _:
            return "", str(entry.__struct_config__.tag)


def _because(reason: str) -> str:
    return f": {escaped(reason)}" if reason else ""


def events(found: Iterable[Event]) -> None:
    """Print what happened, a line each, in the log's order."""
    for one in found:
        fact = "" if one.key is None else escaped(str(one.key))
        what = one.kind.replace("_", " ")
        change = _change(one.before, one.after) if one.kind in CHANGING else ""
        because = f"  by {one.cause}" if one.cause in WIDE else ""
        style = STYLES.get(one.kind, "")
        when = (f"{moment(one.at)}  ", screen.FAINT)
        screen.line(when, (f"{what:<17}  ", style), (fact, "bold"), f"  {change}{because}".rstrip())


def _change(before: Standing | None, after: Standing | None) -> str:
    if after is None:
        return ""
    was, now = _stood(before), _stood(after)
    return now if was in ("", now) else f"{was} → {now}"


def _stood(stood: Standing | None) -> str:
    if stood is None:
        return ""
    if stood.members is not None:
        return ", ".join(map(value_of, stood.members)) or stood.status
    return stood.status if stood.value is None else value_of(stood.value)


def impact(found: Impact) -> None:
    """Print what rests on a fact."""
    if not (found.decisions or found.facts):
        screen.note("Nothing is known to rest on it.")
        return
    listed = screen.table("what", "which", "through", "still so", loose=("which", "through"))
    for decided in found.decisions:
        state = "overturned" if decided.overturned else "yes"
        through = escaped(str(decided.key))
        listed.add_row("decision", escaped(decided.decision), through, state)
    for resting in found.facts:
        state = "overturned" if resting.overturned else "yes"
        listed.add_row("fact", escaped(str(resting.key)), escaped(str(resting.of)), state)
    screen.show(listed)
