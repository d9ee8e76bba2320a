"""What commands about one fact print: how it stands, why, and what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias, get_args

from rich.text import Text

from ....gateway.cli import screen
from ..assertions import Kind
from ..telling import Claim, Explanation, Spellings, escaped, spelt, standing
from ..telling.lines import why_absent
from ..times import written

if TYPE_CHECKING:
    from ..assertions import Value
    from ..outcomes import Candidate, Outcome
    from ..reading import Reading

Pairs: TypeAlias = "Iterator[tuple[str, str | Text]]"

SHORT = 12  # digits of an id in a table
CELL = 60  # characters of a value in a table
SIGNS = {"unbeaten": ("✓", screen.GOOD), "beaten": ("✗", screen.BAD), "left_out": ("·", "dim")}
STYLES = {"resolved": screen.GOOD, "disputed": screen.BAD}
MINUTE = len("2026-11-30T22:33")  # of a time, as it is written
NAME = 60  # … of a source's name
SOURCES = 8  # that are named
PLAIN: Spellings = {}


def style_of(status: str) -> str:
    """Give the colour of a status."""
    return STYLES.get(status, screen.OTHER)


def value_of(value: Value, how: Spellings = PLAIN, limit: int = CELL) -> str:
    """Write a value in a table; `unknown`, `ended` and `deny` are no values, and say so."""
    if value.form == "kind":
        return f"({value.text})"
    told = spelt(value, how, "en", limit)
    return f"({value.form}) {told}" if value.form in get_args(Kind) else told


def values_of(reading: Reading, limit: int = CELL) -> str:
    """Write what a fact comes to, or a dash."""
    outcome, how = reading.outcome, reading.spelt
    if outcome.members is not None:
        return ", ".join(value_of(one, how, limit) for one in outcome.members) or "–"
    return "–" if outcome.value is None else value_of(outcome.value, how, limit)


def said_by(candidate: Candidate, how: Spellings) -> str:
    """Write a candidate, and whose word it is."""
    who = ", ".join(escaped(one, NAME) for one in candidate.sources[:SOURCES])
    left = len(candidate.sources) - SOURCES
    more = f", and {left:,} more" if left > 0 else ""
    return f"{value_of(candidate.value, how)}, said by {who}{more}"


def facts_read(readings: Iterable[Reading]) -> None:
    """Print several facts, a line each."""
    listed = screen.table("fact", "value", "standing", loose=("value", "standing"))
    for one in readings:
        stands = Text(_stands(one), style_of(one.status))
        listed.add_row(escaped(str(one.key)), values_of(one), stands)
    screen.show(listed)


def fact_read(reading: Reading) -> None:
    """Print one fact."""
    how = Text(_stands(reading), style_of(reading.status))
    screen.line((escaped(str(reading.key)), "bold"), "  ", how)
    screen.pairs(_about(reading))


def _stands(reading: Reading) -> str:
    why = why_absent(reading.outcome) if reading.status == "absent" else reading.outcome.reason
    return standing(reading.status, why, reading.stale)


def _about(reading: Reading) -> Pairs:
    outcome = reading.outcome
    if outcome.status == "resolved":
        yield "value", values_of(reading, 400)
        yield "decided by", outcome.decided_by
    if reading.provisional:
        yield "provisional", f"{escaped(str(reading.value))} (under {escaped(reading.provisional)})"
    for one in outcome.candidates:
        alone = outcome.status == "resolved" and len(outcome.candidates) == 1
        told = said_by(one, reading.spelt)
        yield ("said by", told.rpartition(", said by ")[2]) if alone else (one.id, told)
    if outcome.dispute:
        yield "dispute", outcome.dispute
    if outcome.trace.dissent and outcome.status == "resolved":
        voices = sum(count for _, count in outcome.trace.dissent)
        yield "dissent", f"{voices:,} {'voice says' if voices == 1 else 'voices say'} otherwise"
    yield "versions", versions(outcome)


def explained(found: Explanation, language: str) -> None:
    """Print why a fact stands as it does."""
    screen.line(found.sentence(language))
    if found.claims:
        screen.line()
        _claims(found.claims)
    screen.line()
    screen.pairs(_footing(found))


def _claims(claims: Iterable[Claim]) -> None:
    loose = ("says", "source", "how", "beaten on")
    listed = screen.table("", "says", "source", "how", "when", "beaten on", loose=loose)
    for one in claims:
        sign, style = SIGNS[one.counts]
        says = one.says if one.kind == "value" else f"({one.kind}) {one.says}".rstrip()
        listed.add_row(Text(sign, style), says[:CELL], _who(one), _how(one), _when(one), _lost(one))
    screen.show(listed)


def _who(claim: Claim) -> str:
    level = claim.level or "unknown"
    return claim.source if level == claim.source else f"{claim.source} ({level})"


def _how(claim: Claim) -> str:
    sure = "" if claim.confidence is None else f" {claim.confidence:.2f}"
    return f"{claim.evidence}{sure}"


def _when(claim: Claim) -> str:
    return (claim.valid_from or claim.observed_at)[:MINUTE].replace("T", " ") or "–"


def _lost(claim: Claim) -> str:
    if claim.counts == "left_out":
        return "not in force, or unread"
    return claim.on


def _footing(found: Explanation) -> Pairs:
    for one in found.candidates if found.status == "disputed" else ():
        yield one.id, f"{one.value}, said by {', '.join(one.sources)}"
    if found.dispute:
        yield "dispute", found.dispute
    for note in found.notes:
        yield "note", note
    yield "versions", versions(found)


def moment(at: int) -> str:
    """Write a time to the second, in UTC."""
    return written(at)[:19].replace("T", " ")


def versions(found: Outcome | Explanation) -> Text:
    """Write under which policy and registry it was decided, shortly."""
    policy, registry = found.policy[:SHORT], found.registry[:SHORT]
    return Text(f"policy {policy}, registry {registry}", screen.FAINT)
