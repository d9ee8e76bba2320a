"""What commands about one fact print: how it stands, why, and what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias, get_args

from rich.text import Text

from ....gateway.cli import screen
from ..assertions import Kind
from ..telling import Claim, Explanation, Spellings, escaped, spelt, standing
from ..telling.escaping import apart
from ..telling.lines import why_absent
from ..telling.spelling import spelt_apart
from ..times import written

if TYPE_CHECKING:
    from ..assertions import Value
    from ..outcomes import Candidate, Outcome
    from ..reading import Reading

Pairs: TypeAlias = "Iterator[tuple[str, str | Text]]"

SHORT = 12  # digits of an id in a table
CELL = 60  # characters of a value in a table
SIGNS = {
    "unbeaten": ("✓", "+", screen.GOOD),
    "disputed": ("?", "?", screen.BAD),
    "beaten": ("✗", "x", screen.BAD),
    "left_out": ("·", "-", "dim"),
}
"""How an assertion counts → its mark, the same in ASCII, its colour."""
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


def claims_of(candidates: Iterable[Candidate], how: Spellings, limit: int = CELL) -> Pairs:
    """Give the id of each candidate, and what it says in words that tell it from the others."""
    every = tuple(candidates)
    told = spelt_apart((one.value for one in every), how, "en", limit)
    for one in every:
        # what is shown of it is cut already, and stays as it is
        yield one.id, said_by(one, {**how, one.value: told[one.value]})


def facts_read(readings: Iterable[Reading]) -> None:
    """Print several facts, a line each."""
    listed = screen.table("fact", "value", "standing", loose=("value", "standing"))
    for one in readings:
        stands = Text(_stands(one), style_of(one.status))
        if left := left_out(one.outcome.trace.notes):
            stands.append(f"; {left:,} left out by quarantine", screen.FAINT)
        listed.add_row(escaped(str(one.key)), values_of(one), stands)
    screen.show(listed)


def left_out(notes: Iterable[str]) -> int:
    """Count what quarantines leave out, as the notes of an outcome say."""
    return sum(one.startswith("quarantined:") for one in notes)


def fact_read(reading: Reading, notes: Iterable[str] = ()) -> None:
    """
    Print one fact.

    Args:
        reading: The fact.
        notes: What is to be known of what was said, in words.

    """
    how = Text(_stands(reading), style_of(reading.status))
    screen.line((escaped(str(reading.key)), "bold"), "  ", how)
    screen.pairs([*_about(reading), *(("note", one) for one in notes)])


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
    alone = outcome.status == "resolved" and len(outcome.candidates) == 1
    for name, told in claims_of(outcome.candidates, reading.spelt):
        yield ("said by", str(told).rpartition(", said by ")[2]) if alone else (name, told)
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
        _claims(found.claims, disputed=found.status == "disputed")
    screen.line()
    screen.pairs(_footing(found))


def _claims(claims: Iterable[Claim], *, disputed: bool) -> None:
    loose = ("says", "source", "how", "beaten on")
    listed = screen.table("", "says", "source", "how", "when", "beaten on", loose=loose)
    every = tuple(claims)
    for one, told in zip(every, apart([one.says for one in every], CELL), strict=True):
        sign = _sign("disputed" if disputed and one.counts == "unbeaten" else one.counts)
        says = told if one.kind == "value" else f"({one.kind}) {told}".rstrip()
        listed.add_row(sign, says, _who(one), _how(one), _when(one), _lost(one))
    screen.show(listed)


def _sign(counts: str) -> Text:
    sign, plain, style = SIGNS[counts]
    return Text(plain if screen.out().options.ascii_only else sign, style)


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
