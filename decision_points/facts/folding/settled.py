"""What claims about one value come to: a value, or candidates that nothing decides between."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from ..assertions import Value
from ..keys import FactKey
from ..outcomes import Candidate, Witness, candidate_id
from .claims import Claim


class Settled(msgspec.Struct, kw_only=True):
    """
    What claims came to.

    Attributes:
        value: The value; None: they are in dispute.
        decided_by: What decided; empty: nothing did.
        reason: Why they are in dispute; empty: they are not.
        candidates: What is left: of what was decided the one.
        unbeaten: Ids of claims.
        beaten: Why the others do not count.
        runner_up: Id of the best that lost with another value.
        ties: Why nothing decides between two candidates.
        dissent: Candidate ids → voices that say otherwise.
        receipt: Id of the resolution that counts.
        dispute: Id of the dispute that this resolved.
        notes: Flags.

    """

    value: Value | None = None
    decided_by: str = ""
    reason: str = ""
    candidates: tuple[Candidate, ...] = ()
    unbeaten: list[str] = []
    beaten: list[Witness] = []
    runner_up: str = ""
    ties: tuple[tuple[str, str, str], ...] = ()
    dissent: tuple[tuple[str, int], ...] = ()
    receipt: str = ""
    dispute: str = ""
    notes: list[str] = []


def candidate(
    key: FactKey, value: Value, claims: Iterable[Claim], voices: Collection[str]
) -> Candidate:
    """Name what is left of *claims* as a candidate."""
    said = tuple(claims)
    return Candidate(
        id=candidate_id(key, value),
        value=value,
        assertions=tuple(sorted(one.id for one in said)),
        sources=tuple(sorted({one.said.source for one in said})),
        voices=len(voices),
    )


def voices_of(claims: Iterable[Claim]) -> set[str]:
    """Give the lineages whose word *claims* are (RF-19)."""
    return {voice for one in claims for voice in one.voices}
