"""What rests on a fact: decisions that used it, facts derived from it, and what used those."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from ..assertions import Input
from ..entries import Used
from ..keys import FactKey
from .sights import Read
from .staleness import stale

if TYPE_CHECKING:
    from ..ledger.view import View


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """
    A decision that used a fact.

    Attributes:
        decision: The decision's id.
        key: The fact that it used.
        outcome: Hash of the outcome that it used.
        at: When, in microseconds since the epoch.
        overturned: Whether what it used no longer stands.

    """

    decision: str
    key: FactKey
    outcome: str
    at: int
    overturned: bool = False


class Resting(msgspec.Struct, frozen=True, kw_only=True):
    """
    A fact that was derived from another.

    Attributes:
        key: The fact.
        of: The one that it was derived from: the fact that was asked about, or one nearer to it.
        overturned: Whether it rests on an outcome that no longer holds, and on nothing else.

    """

    key: FactKey
    of: FactKey
    overturned: bool = False


class Impact(msgspec.Struct, frozen=True, kw_only=True):
    """
    What rests on a fact (RF-67).

    Attributes:
        key: The fact.
        outcome: Hash of its outcome now.
        since: From when on uses were looked for, in microseconds since the epoch; None: ever.
        decisions: Those that used it or what was derived from it, by time.
        facts: Those that were derived from it, the nearest first.

    """

    key: FactKey
    outcome: str
    since: int | None
    decisions: tuple[Decided, ...]
    facts: tuple[Resting, ...]

    @property
    def overturned(self) -> tuple[Decided, ...]:
        """The decisions that rest on what no longer stands: those to look at again."""
        return tuple(one for one in self.decisions if one.overturned)


def impact(view: View, key: FactKey, since: int | None, at: int) -> Impact:
    """
    List what rests on *key*, and say of each whether that still stands.

    Args:
        view: A consistent read of the log.
        key: The fact.
        since: From when on uses and derivations count, in microseconds; None: ever.
        at: The valid time at which outcomes are compared, in microseconds.

    """
    lines = _Lines(view, key, at)
    used = [one for fact in lines.nearer for one in lines.used(fact, since or 0)]
    return Impact(
        key=key,
        outcome=lines.sight.hash(key),
        since=since,
        decisions=tuple(sorted(used, key=lambda one: (one.at, one.decision, one.key))),
        facts=tuple(lines.resting(since or 0)),
    )


class _Lines:
    """The lines of derivation that begin at one fact."""

    def __init__(self, view: View, root: FactKey, at: int) -> None:
        self.view, self.root = view, root
        self.sight = Read(view, at)
        self.nearer = self._nearer()
        self.lost = self._lost(stale(self.nearer, self.sight))

    def _nearer(self) -> dict[FactKey, FactKey]:
        """Give every fact that live assertions derive from the root → the one it is derived of."""
        found = {self.root: self.root}
        todo = deque(found)
        while todo:
            near = todo.popleft()
            for fact in self.view.dependents(near):
                if fact not in found and any(one.key == near for one in self._inputs(fact)):
                    found[fact] = near
                    todo.append(fact)
        return found

    def _inputs(self, fact: FactKey) -> Iterator[Input]:
        for inputs in self.sight.derived(fact).values():
            yield from inputs

    def _lost(self, flags: Mapping[FactKey, bool]) -> set[FactKey]:
        """Give those that are stale because of what happened along these lines."""
        lost: set[FactKey] = set()
        rest = [fact for fact in self.nearer if flags[fact] and fact != self.root]
        while moved := [fact for fact in rest if self._is_lost(fact, lost)]:
            lost.update(moved)
            rest = [fact for fact in rest if fact not in lost]
        return lost

    def _is_lost(self, fact: FactKey, lost: set[FactKey]) -> bool:
        return any(
            one.key in self.nearer and (one.key in lost or one.outcome != self.sight.hash(one.key))
            for one in self._inputs(fact)
        )

    def used(self, fact: FactKey, since: int) -> Iterator[Decided]:
        """Give the decisions that used *fact*."""
        for stored in self.view.entries(fact, kinds=("used",)):
            entry = stored.entry
            if isinstance(entry, Used) and entry.at >= since:
                moved = entry.outcome != self.sight.hash(fact)
                yield Decided(
                    decision=entry.decision,
                    key=fact,
                    outcome=entry.outcome,
                    at=entry.at,
                    overturned=moved or fact in self.lost,
                )

    def resting(self, since: int) -> Iterator[Resting]:
        """Give the facts that were derived since."""
        for fact, of in self.nearer.items():
            if fact != self.root and self._derived_at(fact, of) >= since:
                yield Resting(key=fact, of=of, overturned=fact in self.lost)

    def _derived_at(self, fact: FactKey, of: FactKey) -> int:
        """Give when it was last derived from *of*, in microseconds."""
        found = self.sight.derived(fact)
        return max(
            one.recorded_at
            for one in self.sight.living(fact).assertions
            if any(it.key == of for it in found.get(one.id, ()))
        )
