"""How a transcript is shown: who spoke when, how far they agreed, why it stopped."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from rich.text import Text

from ....gateway.cli import screen
from ..chain import Entry
from ..turns import Turn, turn_of
from .telling import (
    GLUE,
    event,
    facts,
    fields,
    glued,
    headline,
    printable,
    seats,
    sentences,
    short,
    stand_of,
)

HEAD = ("kind", "point", "subject", "question", "protocol", "arm", "committee", "profile")
INDENT = 10  # columns of the seconds
WHO, WHAT = 12, 16  # columns of the member and of what was wanted
READ = 100  # columns where there is no terminal: it is still read by somebody
ROOM = 32  # columns that what is told needs beside the others; else it stands below them
ENDS = (
    "recommendation",
    "confidence",
    "aggregate",
    "stop",
    "reason",
    "state",
    "route",
    "escalated",
    "status",
    "responded",
    "expected",
    "missing",
    "failed",
)
AGREED = ("score", "convergence", "verdict", "dispersion", "agreed", "responded", "expected")
SHORTLY = {"breaker": ("trigger", "stop", "fired", "impasse"), "route": ("route", "reasons")}
WHOM = {"HUMANO": "person", "COUNCIL": "council", "NENHUM": "nobody"}  # the log's own words
RESUMES = {
    "debate": "; `Debate.resumed(…)` goes on with it",
    "protocol": "; `pointsman compare-arms … --resume` goes on with its own",
}
LINES = 3  # of what a member said, unless all of it is wanted


def show_entries(entries: Sequence[Entry], *, full: bool) -> None:
    """Print a transcript."""
    header = entries[0].body
    screen.pairs(_head(header))
    screen.plain("\n")
    stands: dict[str, str] = {}
    for entry in entries[1:]:
        if entry.kind == "turn":
            _turn(turn_of(entry), stands, full=full)
        elif entry.kind != "footer":
            _event(entry)
    _agreement(entries)
    _ending(entries)


def _head(header: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in HEAD:
        if header.get(name):
            yield name, printable(_plain(header[name]))
    yield "members", seats(header) or "–"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else short(value)


def _turn(turn: Turn, stands: dict[str, str], *, full: bool) -> None:
    """Print one turn: when, who, what, how it ended, where it stands, and whether it moved."""
    stand, before = stand_of(turn), stands.get(turn.member, "")
    moved = f" (was {before})" if turn.usable and before and stand and stand != before else ""
    if turn.usable and stand:
        stands[turn.member] = stand
    asked = f"{turn.kind} {turn.round}" + (f" #{turn.attempt}" if turn.attempt > 1 else "")
    _line(turn.begun + turn.seconds, turn.member, asked, _told(turn) + moved, _style(turn))
    for name, text in sentences(turn, full=full):
        _paragraph(f"{name}: {text}" if full else text, full=full)


def _told(turn: Turn) -> str:
    ended = turn.ending.replace("_", " ")
    why = "" if turn.reason.value in ("ok", turn.ending) else f" ({turn.reason.value})"
    notes = f" [{', '.join(turn.notes)}]" if turn.notes else ""
    how = "" if turn.ending == "ok" else f"{ended}{why}{notes}"
    return " · ".join(part for part in (how, headline(turn)) if part) or ended


def _style(turn: Turn) -> str:
    return "" if turn.usable else screen.BAD


def _event(entry: Entry) -> None:
    noted = entry.kind == "note"
    named = "" if noted or entry.key.startswith("#") or entry.key == entry.kind else entry.key
    told = printable(str(entry.body.get("text", ""))) if noted else event(entry.body)
    _line(entry.at, "", " ".join((entry.kind, printable(named))).strip(), told, screen.FAINT)


def _line(at: float, who: str, what: str, told: str, style: str) -> None:
    """Print one line of the timeline, gone on with under itself where it is too long."""
    seconds = f"{at:7.2f}s "
    start = (f" {printable(who):<{WHO}}" if who else "") + f" {what:<{WHAT}} "
    beside = not told or _width() - len(seconds + start) >= ROOM
    column = len(start) if beside else 3
    first, *more = _wrapped(told, _width() - len(seconds) - column)
    said = [f"{start}{first}"] if beside else [start, f"{'':{column}}{first}"]
    for part in (*said, *(f"{'':{column}}{one}" for one in more)):
        told = part.rstrip()
        screen.line((seconds, screen.FAINT), (told, style) if style else told)
        seconds = " " * len(seconds)


def _width() -> int:
    columns = screen.out().width
    return READ if columns == screen.ENDLESS else columns


def _wrapped(told: str, width: int) -> list[str]:
    """Break a line between two facts rather than within one; at least one line."""
    room = max(20, width)
    lines = textwrap.wrap(glued(told, room), room, break_on_hyphens=False)
    return [one.replace(GLUE, " ") for one in lines] or [""]


def _paragraph(text: str, *, full: bool) -> None:
    """Print what was said, indented; at a terminal in a few lines, unless all is wanted."""
    lines = textwrap.wrap(text, max(20, _width() - INDENT - 2))
    kept = lines if full or screen.out().width == screen.ENDLESS else lines[:LINES]
    if len(kept) < len(lines):
        kept[-1] = f"{kept[-1]} …"
    for line in kept:
        screen.line(" " * (INDENT + 1) + line)


def _agreement(entries: Sequence[Entry]) -> None:
    """Print how far the members agreed, check by check, where anybody looked."""
    rows = [one for one in entries if one.kind == "verdict" and _agreed(one.body)]
    if not rows:
        return
    screen.plain("\n")
    screen.line(("how far they agreed", "bold"))
    for one in rows:
        _line(one.at, "", printable(one.key), _agreed(one.body), "")


def _agreed(body: Mapping[str, Any]) -> str:
    return facts({name: body[name] for name in AGREED if name in body})


def _ending(entries: Sequence[Entry]) -> None:
    """Print why it stopped and where it went."""
    screen.plain("\n")
    told = _ends(entries)
    if entries[-1].kind != "footer":
        how = RESUMES.get(str(entries[0].body.get("kind")), "")
        broken = Text.assemble((f"it was broken off{how}", screen.OTHER))
        screen.pairs([("ended", broken)])
    screen.pairs(told.items())


def _ends(entries: Sequence[Entry]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries:
        if entry.kind in SHORTLY:
            told = {name: entry.body.get(name) for name in SHORTLY[entry.kind]}
            found[entry.kind] = facts(told)
        if entry.kind == "footer":
            found |= dict(fields(_ended(entry.body)))
    found["after"] = f"{entries[-1].at:.2f} s"
    return found


def _ended(footer: Mapping[str, Any]) -> Mapping[str, Any]:
    told = {name: footer.get(name) for name in ENDS}
    return {**told, "escalated": WHOM.get(str(told["escalated"]), told["escalated"])}


def summed(entries: Sequence[Entry]) -> Mapping[str, Any]:
    """Give a transcript for programs: header, turns, other entries in order, and how it ended."""
    footer = entries[-1].body if entries[-1].kind == "footer" else None
    others = [one for one in entries[1:] if one.kind not in ("turn", "footer")]
    return {
        "header": entries[0].body,
        "turns": [msgspec.to_builtins(turn_of(one)) for one in entries if one.kind == "turn"],
        "events": [
            {"kind": one.kind, "key": one.key, "at": one.at, "body": one.body} for one in others
        ],
        "footer": footer,
    }
