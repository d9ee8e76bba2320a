"""What becomes of facts under other rules, fact by fact and in numbers (RF-70)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from ..assertions import Value
from ..keys import FactKey
from ..outcomes import Candidate, Outcome, Status


class Change(msgspec.Struct, frozen=True):
    """
    Two versions.

    Attributes:
        before: What holds.
        after: What would.

    """

    before: str
    after: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a fact comes to under one of the two.

    Attributes:
        status: Whether there is a value.
        value: The value; None unless resolved.
        members: Of a set, those that hold; None for an attribute of one value.
        decided_by: The key that decided; empty: none did.
        reason: Why it is disputed; empty: it is not.
        dispute: The dispute's id; empty: none.
        candidates: What is left.

    """

    status: Status
    value: Value | None = None
    members: tuple[Value, ...] | None = None
    decided_by: str = ""
    reason: str = ""
    dispute: str = ""
    candidates: tuple[Candidate, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome) -> Side:
        """Take what is compared from an *outcome*."""
        return cls(**{name: getattr(outcome, name) for name in cls.__struct_fields__})


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that would come to something else."""

    key: FactKey
    before: Side
    after: Side

    @property
    def transition(self) -> str:
        """What it is, and what it would be: `resolved → disputed`."""
        return f"{self.before.status} → {self.after.status}"


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """
    How the rules alone do on facts that a person decided.

    Attributes:
        checked: Facts that a person decided.
        right: Those that the rules decide as the person did.
        wrong: Those that they decide otherwise.

    """

    checked: int = 0
    right: int = 0
    wrong: int = 0

    @property
    def undecided(self) -> int:
        """Facts that the rules leave open."""
        return self.checked - self.right - self.wrong

    @property
    def coverage(self) -> float | None:
        """The share that they decide; None: nothing was checked."""
        return (self.right + self.wrong) / self.checked if self.checked else None

    @property
    def right_when_decided(self) -> float | None:
        """The share of what they decide that is right; None: they decide nothing."""
        decided = self.right + self.wrong
        return self.right / decided if decided else None

    def with_(self, right: bool | None) -> Score:  # noqa: FBT001 - None: left open
        """Count one fact more."""
        return Score(
            checked=self.checked + 1,
            right=self.right + (right is True),
            wrong=self.wrong + (right is False),
        )


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """
    What would change, if nothing but the rules did; nothing was written.

    Attributes:
        policy: Its two versions.
        registry: Its two versions.
        at: For which time, in microseconds since the epoch.
        facts: How many were folded.
        changed: How many would come to something else.
        redecided: How many would come to the same by another key.
        rows: The facts that change, as many as were asked for, by key.
        left_out: How many more there are.
        transitions: `resolved → disputed` → how many.
        attributes: Attribute → how many change.
        opened: How many disputes would open.
        closed: How many would close.
        revised: How many would be between other candidates.
        overruled: How many facts would no longer be as somebody resolved them.
        dependents: How many facts were derived, through others too, from one that changes.
        before: How the present rules do where a person decided; None: no person did.
        after: How the others would.
        notes: What the numbers do not show.

    """

    policy: Change
    registry: Change
    at: int
    facts: int
    changed: int
    redecided: int
    rows: tuple[Changed, ...]
    left_out: int
    transitions: Mapping[str, int]
    attributes: Mapping[str, int]
    opened: int
    closed: int
    revised: int
    overruled: int
    dependents: int
    before: Score | None = None
    after: Score | None = None
    notes: tuple[str, ...] = ()


class Differences:
    """
    What changes, as it comes.

    Args:
        rows: How many facts are listed.

    """

    def __init__(self, rows: int) -> None:
        self.most = rows
        self.rows: list[Changed] = []
        self.facts = 0
        self.counts: Counter[str] = Counter()
        self.transitions: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()

    def compare(self, before: Outcome, after: Outcome) -> bool:
        """Count one fact; say whether it would come to something else."""
        self.facts += 1
        self._disputes(before, after)
        if before.hash == after.hash:
            self.counts["redecided"] += before.decided_by != after.decided_by
            return False
        self.counts["overruled"] += bool(before.receipt) and not after.receipt
        self._changed(Changed(key=before.key, before=Side.of(before), after=Side.of(after)))
        return True

    def _disputes(self, before: Outcome, after: Outcome) -> None:
        was, is_ = before.status == "disputed", after.status == "disputed"
        self.counts["opened"] += is_ and not was
        self.counts["closed"] += was and not is_
        self.counts["revised"] += was and is_ and before.dispute != after.dispute

    def _changed(self, one: Changed) -> None:
        self.counts["changed"] += 1
        self.transitions[one.transition] += 1
        self.attributes[one.key.attribute] += 1
        if len(self.rows) < self.most:
            self.rows.append(one)

    def numbers(self) -> dict[str, int]:
        """Give the counts, by their names in `WhatIf`."""
        names = ("changed", "redecided", "opened", "closed", "revised", "overruled")
        return {name: self.counts[name] for name in names}

    @property
    def left_out(self) -> int:
        """How many facts that change are not listed."""
        return self.counts["changed"] - len(self.rows)
