"""What the assertions about a fact come to."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import msgspec

from .assertions import Value, digest
from .keys import FactKey

Status: TypeAlias = Literal["resolved", "disputed", "unreconciled", "absent", "not_yet", "ended"]
"""
`unreconciled`: no policy declares the attribute; `absent`: nobody says anything, or what is left
says that it is unknown or that there is none; `not_yet`: what is said holds only later.
"""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """
    A value that is left, or for an undeclared attribute one that was said.

    Attributes:
        id: Of the value under this fact: how a dispute names it.
        value: In canonical form.
        assertions: Ids of what says so and is unbeaten, sorted.
        sources: Whose word that is, sorted.
        voices: How many lineages say so, those among them whose claim is beaten by nothing that is
            left of another value (RF-33).

    """

    id: str
    value: Value
    assertions: tuple[str, ...]
    sources: tuple[str, ...]
    voices: int


class Witness(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """
    Why an assertion does not count.

    Attributes:
        lost: Its id.
        to: Id of one that beats it, chosen the same way every time.
        on: The key on which it does: `correction`, `authority`, `evidence`, `confidence`,
            `succession`, `recency`.

    """

    lost: str
    to: str
    on: str


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """
    How an outcome came about (RF-37), in an order that depends on content alone.

    Attributes:
        unbeaten: Ids of what nothing beats.
        beaten: One witness for each that something does.
        runner_up: Id of the best that lost with another value; empty: none did.
        ties: For a dispute, why nothing decides between two candidates: reason, and their ids;
            of the first hundred pairs.
        notes: Flags, as `unknown_source:<id>`, `future_dated:<id>`, `unreadable:<id>`.
        dissent: Candidates ids → voices of lineages that say otherwise than what was resolved.
        ruled: Of a set, candidate id of what was chosen → id of the receipt that settled it.

    """

    unbeaten: tuple[str, ...] = ()
    beaten: tuple[Witness, ...] = ()
    runner_up: str = ""
    ties: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    dissent: tuple[tuple[str, int], ...] = ()
    ruled: tuple[tuple[str, str], ...] = ()


class Outcome(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """
    What the assertions about a fact come to; the same for the same set, whoever folds it (RF-23).

    Attributes:
        key: The fact.
        status: Whether there is a value, and why not.
        value: The value; None unless resolved.
        members: Those of a set that hold, sorted; None for an attribute of one value.
        decided_by: What decided: `unanimous`, a key of the policy, `succession`, `correction`,
            `compatible`, `tolerance`, `corroboration`, `resolution`; empty where nothing did.
        reason: Why it is disputed: `tie`, `unranked`, `confidence_missing`, `self_contradiction`,
            `dissent`, `denied` (a member of a set); empty otherwise.
        candidates: What is left, by id; of one value the one.
        dispute: The id of the dispute, while candidates are in conflict: also of one that was
            resolved by a receipt; else empty.
        receipt: The id of the resolution that counts; empty: none does.
        policy: Version of the policy that it was folded under.
        registry: Version of the registry of sources.
        last_confirmed: When what it comes to was said last, in microseconds since the epoch; of a
            set the member's for which that is longest ago; None: not known.
        trace: How it came about.

    """

    key: FactKey
    status: Status
    value: Value | None = None
    members: tuple[Value, ...] | None = None
    decided_by: str = ""
    reason: str = ""
    candidates: tuple[Candidate, ...] = ()
    dispute: str = ""
    receipt: str = ""
    policy: str = ""
    registry: str = ""
    last_confirmed: int | None = None
    trace: Trace = Trace()

    @cached_property
    def hash(self) -> str:
        """What others that use it are bound to: it changes when what is said does, not with who."""
        named = () if self.status == "resolved" else tuple(one.id for one in self.candidates)
        return digest((self.status, self.value, self.members, named))


@lru_cache(maxsize=4_096)
def candidate_id(key: FactKey, value: Value) -> str:
    """Name *value* under the fact *key*: 12 hexadecimal digits."""
    return digest((key, value))[:12]


def dispute_id(key: FactKey, candidates: tuple[str, ...]) -> str:
    """Name the dispute between *candidates*, in whatever order they came (RF-50)."""
    return digest((key, tuple(sorted(candidates))))[:16]
