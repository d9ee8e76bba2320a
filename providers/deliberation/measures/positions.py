"""Positions in one canonical form, their hash, and whether a debate goes in circles."""

from __future__ import annotations

import hashlib
import unicodedata
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


def revisited(states: Sequence[Hashable], repeats: int = 2) -> bool:
    """
    Whether the last state has been seen `repeats` times, in whichever rounds.

    A debate that comes back to any earlier state goes in circles, A-B-A-B too.
    """
    return bool(states) and states.count(states[-1]) >= repeats


def repeated(states: Sequence[Hashable], repeats: int = 2) -> bool:
    """
    Whether the last `repeats` states are the same; it is blind to A-B-A-B.

    The literal reading, a counter of 2 that each repetition raises, is a `repeats` of 3.
    """
    return len(states) >= repeats and len(set(states[-repeats:])) == 1
