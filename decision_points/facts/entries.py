"""
What is written into the log of facts; nothing in it is ever changed (RF-73).

An entry is known by its content, so that the same one written twice is there once. Everything
else, what holds now and which disputes are open, is worked out from the entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from .assertions import Assertion, digest
from .keys import FactKey

Party: TypeAlias = Literal["person", "agent"]


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What every entry has: `id`, the hash of its content."""

    @property
    def id(self) -> str:
        """Hash of its content."""
        return digest(self)

    @property
    def about(self) -> FactKey | None:
        """The fact it is about; None: the whole namespace."""
        return None


class _OfFact(Entry, frozen=True, kw_only=True):
    key: FactKey

    @property
    def about(self) -> FactKey | None:
        """The fact it is about."""
        return self.key


class Asserted(Entry, frozen=True, kw_only=True, tag="asserted"):
    """Somebody said something."""

    assertion: Assertion

    @property
    def id(self) -> str:
        """Hash of what was written, not of how it was read into a canonical form."""
        return digest(self.assertion.content())

    @property
    def about(self) -> FactKey | None:
        """The fact it is about."""
        return self.assertion.key


class Retracted(_OfFact, frozen=True, kw_only=True, tag="retracted"):
    """
    An assertion, or another retraction, counts as never made (RF-47).

    Attributes:
        target: Its id; it may come before what it names.
        by: Who takes it back: its source, or one whom the registry lets.
        reason: Why.
        again: How often the same was said before and taken back, so that it can be said anew.

    """

    target: str
    by: str
    reason: str
    again: int = 0


class Receipt(_OfFact, frozen=True, kw_only=True, tag="resolved"):
    """
    How a dispute was resolved (RF-52); the entry's id is the receipt's.

    Attributes:
        dispute: Its id, which is a hash of the candidates that were seen.
        revision: How many disputes of this fact it follows, from 1.
        seen: Ids of the candidates that were listed, sorted.
        upon: Ids of the assertions that said one of them then, sorted; a person's word on these
            holds whichever rules are adopted later. Empty where they were too many to list.
        choice: The id of the candidate chosen; of a new assertion's value its candidate id.
        resolver: Who.
        party: A person or an agent.
        reason: Why.
        evidence: Ids of assertions read, or references; data.
        at: When, in microseconds since the epoch.
        until: Until when it holds, exclusive, in microseconds; None: until the set changes.
        seconds: How long it took.
        cost_usd: What it cost; None: not known.
        decision: The decision's id where a provider answered; empty otherwise.
        fallback: Whether the provider that was planned failed, and another answered.
        overrides: Ids of receipts that it takes the place of.

    """

    dispute: str
    revision: int = 1
    seen: tuple[str, ...]
    upon: tuple[str, ...] = ()
    choice: str
    resolver: str
    party: Party
    reason: str = ""
    evidence: tuple[str, ...] = ()
    at: int
    until: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    decision: str = ""
    fallback: bool = False
    overrides: tuple[str, ...] = ()


class Dismissed(_OfFact, frozen=True, kw_only=True, tag="dismissed"):
    """A dispute was put aside: both are legitimate, and the scope has to be split (RF-51)."""

    dispute: str
    by: str
    party: Party
    reason: str
    at: int


class Withdrawn(_OfFact, frozen=True, kw_only=True, tag="withdrawn"):
    """A receipt or a dismissal, by its id, counts as never given (RF-49)."""

    target: str
    by: str
    reason: str
    at: int


class Assigned(_OfFact, frozen=True, kw_only=True, tag="assigned"):
    """A dispute is somebody's until a time in microseconds; until the past gives it back."""

    dispute: str
    to: str
    party: Party
    until: int
    at: int


class Escalated(_OfFact, frozen=True, kw_only=True, tag="escalated"):
    """
    A dispute waits in the inbox for a person, under the decision's id; or needs one.

    Attributes:
        dispute: Its id.
        decision: Under which it waits from now on; empty: under none that is new.
        answered: The decision that a person answered, with a word that does not count.
        reason: Why a person has to decide, or why that word does not count.
        at: When, in microseconds since the epoch.

    """

    dispute: str
    decision: str = ""
    answered: str = ""
    reason: str
    at: int


class Spent(_OfFact, frozen=True, kw_only=True, tag="spent"):
    """What a try at a dispute cost (RF-59), in reads, tokens and US dollars."""

    dispute: str
    by: str
    reads: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    at: int


class Used(_OfFact, frozen=True, kw_only=True, tag="used"):
    """A decision rests on the outcome of a fact that has this hash (RF-67)."""

    outcome: str
    decision: str
    at: int


class Passed(_OfFact, frozen=True, kw_only=True, tag="passed"):
    """A time has come at which the fact may be another, in microseconds."""

    at: int


class Erased(_OfFact, frozen=True, kw_only=True, tag="erased"):
    """The content of an assertion is gone; its id and hash are kept (RF-48)."""

    target: str
    by: str
    reason: str


class Aliased(Entry, frozen=True, kw_only=True, tag="aliased"):
    """One entity is another (RF-02): facts of *entity* are folded with those of *of*."""

    entity: str
    of: str
    by: str


class Adopted(Entry, frozen=True, kw_only=True, tag="adopted"):
    """
    From now on facts are folded under another policy or registry (RF-20, RF-71).

    Attributes:
        policy: The whole policy, as plain JSON.
        registry: The whole registry, as plain JSON.
        by: Who adopted it.
        reason: Why.
        at: When, in microseconds since the epoch.

    """

    policy: Mapping[str, Any]
    registry: Mapping[str, Any]
    by: str
    reason: str = ""
    at: int


class Quarantined(Entry, frozen=True, kw_only=True, tag="quarantined"):
    """
    What a source or a writer said in a span of time counts as never said (RF-22).

    Attributes:
        source: Whose word; empty: anybody's.
        writer: Who read it; empty: anybody.
        since: Of what was recorded from then on, in microseconds; None: ever.
        until: Of what was recorded before, exclusive; None: for good.
        lifts: The id of a quarantine that ends; all else is then empty.
        by: Who.
        reason: Why.
        at: When.

    """

    source: str = ""
    writer: str = ""
    since: int | None = None
    until: int | None = None
    lifts: str = ""
    by: str
    reason: str = ""
    at: int


AnyEntry: TypeAlias = (
    Asserted
    | Retracted
    | Receipt
    | Dismissed
    | Withdrawn
    | Assigned
    | Escalated
    | Spent
    | Used
    | Passed
    | Erased
    | Aliased
    | Adopted
    | Quarantined
)


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """
    An entry in the log of a namespace.

    Attributes:
        position: From 1, without gaps.
        id: Of the entry.
        recorded_at: When the store took it in, in microseconds since the epoch.
        entry: What it is.

    """

    position: int
    id: str
    recorded_at: int
    entry: AnyEntry
