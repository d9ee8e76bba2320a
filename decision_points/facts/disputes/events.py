"""What happened to a fact, for those who follow: computed from the log, never kept beside it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ..assertions import Value
from ..entries import Adopted, Stored
from ..keys import FactKey
from ..outcomes import Outcome, Status

EventKind: TypeAlias = Literal[
    "asserted",
    "conflict_detected",
    "decided",
    "disputed",
    "assigned",
    "resolved",
    "reopened",
    "retracted",
    "policy_changed",
    "dependents_stale",
    "dismissed",
    "withdrawn",
    "released",
    "escalated",
    "closed",
]
"""
`decided`: what it comes to is another, and no dispute (RF-64); `disputed`: a dispute was opened;
`closed`: the rule decides now; `escalated`: a person has to; `withdrawn`: a receipt or a dismissal.
"""


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    What a fact came to, before an event or after it.

    Attributes:
        status: As in its outcome.
        value: The value; None unless resolved.
        members: Those of a set that hold.
        dispute: The dispute; empty: there is none.
        hash: Of the outcome.

    """

    status: Status
    value: Value | None = None
    members: tuple[Value, ...] | None = None
    dispute: str = ""
    hash: str

    @classmethod
    def of(cls, outcome: Outcome | None) -> Standing | None:
        """Take of an *outcome* what an event tells; None stays None."""
        if outcome is None:
            return None
        return cls(
            status=outcome.status,
            value=outcome.value,
            members=outcome.members,
            dispute=outcome.dispute,
            hash=outcome.hash,
        )


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    Something that happened to a fact (RF-64).

    Attributes:
        position: Of the log entry that caused it; events of one fact come in this order.
        key: The fact; None: the whole namespace.
        kind: What happened.
        at: When the store took that entry in, in microseconds since the epoch.
        before: What the fact came to before; None: nobody had said anything.
        after: What it comes to now.
        rule: What decided, or why nothing did.
        ids: What it is about: of assertions, receipts or disputes.
        cause: What brought it about: the entry's kind, `new_evidence`, or as whoever caused it
            says: `policy`, `quarantine`.

    """

    position: int
    key: FactKey | None
    kind: EventKind
    at: int
    before: Standing | None = None
    after: Standing | None = None
    rule: str = ""
    ids: tuple[str, ...] = ()
    cause: str = ""

    @property
    def id(self) -> str:
        """The same however often it is delivered (RF-65)."""
        return f"{self.position}:{'' if self.key is None else self.key}:{self.kind}"


def tag(stored: Stored) -> str:
    """Name the kind of an entry: `asserted`, `resolved`, `adopted`."""
    return str(stored.entry.__struct_config__.tag)


def announced(stored: Stored) -> tuple[Event, ...]:
    """Give what happened to the whole namespace by one entry: that other rules hold (RF-71)."""
    entry = stored.entry
    if not isinstance(entry, Adopted):
        return ()
    told = Event(
        position=stored.position,
        key=None,
        kind="policy_changed",
        at=stored.recorded_at,
        ids=(stored.id,),
        cause=entry.reason,
    )
    return (told,)


def gone_stale(stored: Stored, key: FactKey, ids: tuple[str, ...], cause: str) -> Event:
    """
    Tell that facts derived from the fact *key* rest on what it no longer comes to (RF-66).

    Args:
        stored: The entry that changed it.
        key: The fact that changed.
        ids: What went stale: the facts, as they are written.
        cause: As of other events.

    """
    return Event(
        position=stored.position,
        key=key,
        kind="dependents_stale",
        at=stored.recorded_at,
        ids=ids,
        cause=cause or tag(stored),
    )
