"""The committee as a reader sees it: an anonymous table, and the critiques addressed to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from ..drafts import POINTS
from ..turns import Turn
from .curtain import Curtain
from .schemas import Critique, CritiqueSet
from .terms import Placebo

__all__ = [
    "FROM",
    "SELF",
    "Addressed",
    "Show",
    "Table",
    "addressed_to",
    "committee_state",
    "critiques_of",
    "routed",
    "told",
]

FROM = "committee_member"
SELF = "yourself"

Row = Mapping[str, Any]
Show = Callable[[Any, Callable[[str], str], frozenset[str]], Row]
"""How a form shows an estimate: its texts through the curtain, its citations of these ids only."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one reader is shown of the others in one round, and who stands behind it.

    Attributes:
        state: Round and rows, as they go into the reader's state.
        labels: Label → member. Never leaves this process.
        owner: Label of the reader's own row; empty where it has no estimate.

    """

    state: Mapping[str, Any]
    labels: Mapping[str, str]
    owner: str = ""


class Addressed(msgspec.Struct, frozen=True, kw_only=True):
    """
    A critique on its way.

    Attributes:
        author: Who wrote it; its target never learns.
        target: Whose estimate it is about.
        critique: What it says.
        estimated: Whether its author has a valid estimate of its own.

    """

    author: str
    target: str
    critique: Critique
    estimated: bool = True


def committee_state(  # noqa: PLR0913 - what a table depends on, and on nothing else
    round: int,  # noqa: A002 - a debate's word
    estimates: Mapping[str, Any],
    *,
    reader: str,
    seen: frozenset[str],
    curtain: Curtain,
    show: Show,
    placebo: Placebo | None = None,
    roles: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """
    Make the anonymous table for one reader.

    Args:
        round: Whose prompt it is for.
        estimates: Member → current estimate; those without one are not in the table.
        reader: Who reads it; nobody of the panel: no row is its own.
        seen: Ids of the evidence that the reader may see; others are filtered out.
        curtain: Labels, order, and what is taken out of texts.
        show: How the form shows an estimate.
        placebo: Another case's rows, in place of the peers'.
        roles: Member → what its role is, where that may be told.

    """
    labels = curtain.labels(estimates, round, reader)
    rows: list[Row] = []
    for at, (name, member) in enumerate(labels.items()):
        own = member == reader
        row = show(estimates[member], lambda text: curtain.drawn(text, seen), seen)
        if placebo is not None and placebo.rows and not own:
            row = placebo.rows[at % len(placebo.rows)]
        role = {"role": roles[member]} if roles.get(member) else {}
        rows.append({**row, **role, "member": name, "yours": own})
    owner = next((name for name, member in labels.items() if member == reader), "")
    return Table(state={"round": round, "members": rows}, labels=labels, owner=owner)


def critiques_of(turn: Turn) -> list[Critique]:
    """Read the critiques of a turn; none where it failed."""
    if not turn.usable or turn.said is None:
        return []
    return msgspec.convert(turn.said, CritiqueSet).critiques


def routed(
    author: str, table: Table, critiques: Sequence[Critique], *, estimated: bool
) -> list[Addressed]:
    """
    Find whom *author*'s critiques are about; one for each target, the first.

    Dropped are those about itself and about nobody in its table.
    """
    found: dict[str, Addressed] = {}
    for one in critiques:
        target = table.labels.get(one.target_role.strip().upper())
        if target is not None and target != author:
            found.setdefault(
                target, Addressed(author=author, target=target, critique=one, estimated=estimated)
            )
    return list(found.values())


def addressed_to(
    reader: str,
    critiques: Sequence[Addressed],
    *,
    round: int,  # noqa: A002 - a debate's word
    seen: frozenset[str],
    curtain: Curtain,
) -> list[Row]:
    """Show a reader the critiques about its estimate: anonymous, in an order of their own."""
    mine = [one for one in critiques if one.target == reader]
    mine.sort(
        key=lambda one: (curtain.digest("critiques", str(round), reader, one.author), one.author)
    )
    return [_shown(one, seen, curtain) for one in mine]


def _shown(one: Addressed, seen: frozenset[str], curtain: Curtain) -> Row:
    critique = one.critique
    row = {"from": FROM, **told(critique, lambda text: curtain.drawn(text, seen), seen)}
    return row if one.estimated else {**row, "author_has_no_estimate": True}


def told(critique: Critique, draw: Callable[[str], str], seen: frozenset[str]) -> Row:
    """Say what a critique says: at most six points, and citations that its reader may see."""
    suggested = critique.suggested_value
    return {
        "agree": critique.agree,
        "points": [draw(point) for point in critique.points[:POINTS]],
        "evidence_ids_cited": [one for one in critique.evidence_ids_cited if one in seen],
        "suggested_value": draw(suggested) if isinstance(suggested, str) else suggested,
    }
