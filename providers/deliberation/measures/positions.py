"""Positions in one canonical form, their hash, and whether a debate goes in circles."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import msgspec


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a role holds, as far as its repetition is told by it; its confidence is not.

    Attributes:
        recommendation: What to do.
        premises: What it rests on; a set.
        risks: What could go wrong; a set.
        timing: When.

    """

    recommendation: str
    premises: Sequence[str] = ()
    risks: Sequence[str] = ()
    timing: str = ""


def normal(text: str) -> str:
    """Text without differences of case, spacing and spelling: NFKC, casefold, single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def normal_set(texts: Sequence[str]) -> list[str]:
    """Distinct normal texts in order; empty ones are none."""
    return sorted({normal(text) for text in texts} - {""})


def canonical(positions: Mapping[str, Position]) -> str:
    """
    One text for one state of a debate, whatever the order, case and spacing.

    JSON without spaces: a list of [role, recommendation, premises, risks, timing], sorted.
    """
    rows = sorted(
        [
            normal(role),
            normal(one.recommendation),
            normal_set(one.premises),
            normal_set(one.risks),
            normal(one.timing),
        ]
        for role, one in positions.items()
    )
    return msgspec.json.encode(rows).decode()


def position_hash(positions: Mapping[str, Position]) -> str:
    """SHA-256 of the canonical text, in hexadecimal digits."""
    return hashlib.sha256(canonical(positions).encode()).hexdigest()


def revisited(states: Sequence[Hashable], repeats: int = 2) -> int | None:
    """
    Round in which a state has been seen `repeats` times, counted from 1; None without one.

    The reading in force: a debate that comes back to any earlier state goes in circles.
    """
    seen = Counter[Hashable]()
    for at, state in enumerate(states, start=1):
        seen[state] += 1
        if seen[state] >= repeats:
            return at
    return None


def repeated(states: Sequence[Hashable], counter: int = 1) -> int | None:
    """
    Round at which a state equals the one before for the `counter`-th time; None if it never does.

    The literal reading has a counter of 2. It is blind to A-B-A-B, and three rounds are over
    when it fires.
    """
    count = 0
    for at in range(1, len(states)):
        count += states[at] == states[at - 1]
        if count >= counter:
            return at + 1
    return None
