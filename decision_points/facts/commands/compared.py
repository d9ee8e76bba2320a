"""What long looks print: what would change, who was right, what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from ....gateway.cli import screen
from ..telling import Spellings, escaped
from .showing import NAME, SHORT, style_of, value_of

if TYPE_CHECKING:
    from ..auditing import Agreement, Audit, Swap, Tally
    from ..keys import FactKey
    from ..ledger.verifying import Verified
    from ..whatif import Changed, Score, Side, WhatIf

Pairs: TypeAlias = "Iterator[tuple[str, str | Text]]"

CELL = 40  # characters of a value beside another
SWAPPED = "! "


def what_if(found: WhatIf, count: int, spelt: Callable[[FactKey], Spellings]) -> None:
    """
    Print what would change: facts before and after, then in numbers.

    Args:
        found: What would.
        count: How many facts are shown.
        spelt: Gives how the values of a fact are written.

    """
    if found.rows[:count]:
        _changes(found.rows[:count], spelt)
        left = found.changed - count
        if left > 0:
            screen.line((f"… and {left:,} more: -n shows more, --json has them", screen.FAINT))
        screen.line()
    screen.pairs(_numbers(found))


def _changes(rows: Sequence[Changed], spelt: Callable[[FactKey], Spellings]) -> None:
    loose = ("fact", "before", "after", "decided by")
    listed = screen.table("fact", "before", "after", "decided by", loose=loose)
    for one in rows:
        how = spelt(one.key)
        listed.add_row(
            escaped(str(one.key)),
            _side(one.before, how),
            _side(one.after, how),
            one.after.decided_by or one.after.reason.replace("_", " "),
        )
    screen.show(listed)


def _side(side: Side, how: Spellings) -> Text:
    if side.members is not None and side.status == "resolved":
        told = ", ".join(value_of(one, how, CELL) for one in side.members) or "no members"
        return Text(told, style_of(side.status))
    if side.value is not None:
        return Text(value_of(side.value, how, CELL), style_of(side.status))
    several = " | ".join(value_of(one.value, how, CELL) for one in side.candidates)
    told = f"{side.status.replace('_', ' ')}: {several}" if several else side.status
    return Text(told, style_of(side.status))


def _numbers(found: WhatIf) -> Pairs:
    yield "facts", f"{found.facts:,}"
    yield "change", f"{found.changed:,} ({screen.percent(found.changed, found.facts)})"
    for name, count in sorted(found.transitions.items(), key=lambda one: (-one[1], one[0])):
        yield "", f"{name.replace('_', ' ')}: {count:,}"
    if found.redecided:
        yield "same by another key", f"{found.redecided:,}"
    yield "disputes", f"{found.opened:,} open, {found.closed:,} close, {found.revised:,} revised"
    if found.overruled:
        yield "no longer as resolved", f"{found.overruled:,}"
    yield "derived facts touched", f"{found.dependents:,}"
    if found.before is not None and found.after is not None:
        yield from _scores(found.before, found.after)
    for note in found.notes:
        yield "note", Text(escaped(note, 400), screen.FAINT)
    for name, change in (("policy", found.policy), ("registry", found.registry)):
        same = change.before == change.after
        was, now = change.before[:SHORT], change.after[:SHORT]
        told = f"{was} as it is" if same else f"{was} → {now}"
        yield name, Text(told, screen.FAINT)


def _scores(before: Score, after: Score) -> Pairs:
    checked = f"{before.checked:,} {'fact' if before.checked == 1 else 'facts'}"
    yield "persons resolved", f"{checked}; without their word the rules would decide:"
    for name, one in (("  now", before), ("  then", after)):
        told = f"{one.right:,} as they did, {one.wrong:,} otherwise, {one.undecided:,} not at all"
        yield name, told


def audit(found: Audit, *, writers: bool) -> None:
    """Print who was right how often, by source or by who read it, and what that suggests."""
    if found.sources:
        _tallies(found.writers if writers else found.sources, writers=writers)
    else:
        screen.note("No person decided anything yet: nothing can be said of sources.")
    for swap in found.swaps:
        _swap(swap)
    for one in found.agreements:
        _agreement(one)
    if found.left_out:
        told = f"{found.left_out:,} facts with very many sources were left out of agreements"
        screen.note((told, screen.FAINT))


def _tallies(tallies: Sequence[Tally], *, writers: bool) -> None:
    who = ("source", "writer") if writers else ("source",)
    right = ("right", "of", "share")
    listed = screen.table("attribute", *who, *right, "95 % interval", right=right)
    for one in sorted(tallies, key=lambda one: (one.attribute, -one.low, one.source, one.writer)):
        names = [escaped(getattr(one, name), NAME) or "–" for name in ("attribute", *who)]
        interval = f"{100 * one.low:.0f}–{100 * one.high:.0f} %"
        share = screen.percent(one.right, one.checked)
        listed.add_row(*names, f"{one.right:,}", f"{one.checked:,}", share, interval)
    screen.show(listed)


def _swap(swap: Swap) -> None:
    below, above = escaped(swap.below.source), escaped(swap.above.source)
    told = f"{escaped(swap.attribute)}: {below} is right more often than {above}, ranked above it"
    screen.line((SWAPPED, screen.OTHER), told)


def _agreement(one: Agreement) -> None:
    names = f"{escaped(one.one)} and {escaped(one.other)}"
    told = f"{names} say the same of {one.same:,} of {one.facts:,} contested facts"
    fix = ": does one copy the other? `copies` or `same_feed` in the registry says so"
    screen.line((SWAPPED, screen.OTHER), told, (fix, screen.FAINT))


def verified(found: Verified) -> None:
    """Print whether the log is whole, and what is derived is what it says."""
    if found.same:
        told = f"{found.facts:,} facts from {found.entries:,} entries are as the log says"
        screen.line(("✓ ", screen.GOOD), told)
        return
    sign, style = ("✓ ", screen.GOOD) if found.repaired else ("✗ ", screen.BAD)
    doing = "was written anew" if found.repaired else "is not as the log says"
    told = "the log was altered" if found.broken else f"what was derived {doing}"
    screen.line((sign, style), f"{told}:")
    for one in found.differences[:SHORT]:
        screen.line(f"  {escaped(str(one))}")
    if found.broken:
        screen.note(("the log cannot be repaired: restore an export or a copy", screen.FAINT))
    elif not found.repaired:
        screen.note(("`pointsman facts verify --repair` writes it anew", screen.FAINT))
