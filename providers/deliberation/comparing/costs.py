"""What turns cost, by the kind of turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .rows import Part

if TYPE_CHECKING:
    from ....gateway.answers import Usage
    from ..turns import Turn

UNASKED = "unasked"
VERDICT = "verdict"  # a skeptic's, which is an estimate after the rounds


def part_of(usage: Usage | None) -> Part:
    """Give what one call cost."""
    if usage is None:
        return Part(calls=1, untold=1, unpriced=1)
    tokens = usage.input_tokens + usage.output_tokens
    unpriced = int(usage.cost_usd is None)
    return Part(1, tokens, usage.cost_usd or 0.0, 0, unpriced)


def parts_of(turns: Sequence[Turn]) -> dict[str, Part]:
    """Add up what *turns* cost, by their kind; a skeptic's estimate is a kind of its own."""
    found: dict[str, Part] = {}
    for turn in turns:
        if UNASKED not in turn.notes:
            late = turn.kind == "estimate" and turn.round > 0
            kind = VERDICT if late else turn.kind
            found[kind] = found.get(kind, Part()) + part_of(turn.usage)
    return found
