"""What would hold under another policy or registry, or without somebody's word (RF-70, RF-22)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..entries import Quarantined, Stored
from ..folding import Living, fold, living
from ..keys import FactKey
from ..policy import Policy
from ..registry import Registry
from .differences import Change, Differences, WhatIf
from .scoring import Scoring, resolved

if TYPE_CHECKING:
    from ..ledger.view import View

EVERY = 1_000  # facts between two reports of progress

ROWS = 1_000  # facts that change and are listed; the rest is counted


class Rules(NamedTuple):
    """
    What facts are folded under.

    Attributes:
        policy: The policy.
        registry: Of the sources.
        further: Quarantines, and what lifts them, beside those of the log.

    """

    policy: Policy
    registry: Registry
    further: tuple[Stored, ...] = ()

    def living(self, story: tuple[Stored, ...]) -> Living:
        """Sort out what counts."""
        return living((*story, *self.further), self.registry)


class Asked(NamedTuple):
    """
    What is asked.

    Attributes:
        policy: The other policy; None: the one that holds.
        registry: The other registry; None: the one that holds.
        quarantine: Whose word is left out; or, with `lifts`, whose is let in again.
        keys: Only these facts; None: all.
        at: For which time, in microseconds since the epoch; None: now.
        rows: How many facts that change are listed, at most.
        progress: Called with the number of facts done, now and then.

    """

    policy: Policy | None = None
    registry: Registry | None = None
    quarantine: Quarantined | None = None
    keys: Iterable[FactKey] | None = None
    at: int | None = None
    rows: int = ROWS
    progress: Callable[[int], None] | None = None


def what_if(view: View, asked: Asked) -> WhatIf:
    """
    Fold what was said under the present rules and under others; nothing is written.

    Facts are read one after the other: memory grows with those that change, not with all.

    Args:
        view: A consistent read of the log.
        asked: The other rules.

    """
    policy, registry = view.versions()
    now = Rules(policy, registry)
    then = Rules(asked.policy or policy, asked.registry or registry, _further(asked.quarantine))
    at = view.now() if asked.at is None else asked.at
    run = _Run(view, (now, then), at, asked.rows)
    for done, (key, story) in enumerate(_stories(view, asked.keys), 1):
        run.compare(key, story)
        if asked.progress is not None and done % EVERY == 0:
            asked.progress(done)
    return run.told()


def _further(quarantine: Quarantined | None) -> tuple[Stored, ...]:
    if quarantine is None:
        return ()
    return (Stored(position=0, id=quarantine.id, recorded_at=quarantine.at, entry=quarantine),)


def _stories(
    view: View, keys: Iterable[FactKey] | None
) -> Iterator[tuple[FactKey, tuple[Stored, ...]]]:
    if keys is None:
        yield from view.stories()
        return
    for key in keys:
        yield key, view.story(key)


class _Run:
    """One comparison."""

    def __init__(self, view: View, rules: tuple[Rules, Rules], at: int, rows: int) -> None:
        self.view, self.at = view, at
        self.now, self.then = rules
        self.judges_alike = self.now.registry is self.then.registry and not self.then.further
        self.scores = [Scoring(one.policy, one.registry) for one in rules]
        self.differences = Differences(rows)
        self.touched: set[FactKey] = set()  # what was derived from a fact that changes

    def compare(self, key: FactKey, story: tuple[Stored, ...]) -> None:
        """Fold one fact twice."""
        now = self.now.living(story)
        then = now if self.judges_alike else self.then.living(story)
        before = fold(key, now, self.now.policy, self.now.registry, self.at)
        after = fold(key, then, self.then.policy, self.then.registry, self.at)
        known = resolved(key, now, self.now.policy, self.now.registry)
        for scoring, one in zip(self.scores, (now, then), strict=True):
            if known is not None:
                scoring.count(key, one, known)
        if self.differences.compare(before, after):
            self._touch(key)

    def _touch(self, key: FactKey) -> None:
        """Count what was derived from *key*; behind a fact that is counted all are already."""
        todo = [key]
        while todo:
            new = set(self.view.dependents(todo.pop())) - self.touched
            self.touched |= new
            todo.extend(new)

    def told(self) -> WhatIf:
        """Sum up."""
        found, now, then = self.differences, self.now, self.then
        return WhatIf(
            policy=Change(now.policy.version, then.policy.version),
            registry=Change(now.registry.version, then.registry.version),
            at=self.at,
            facts=found.facts,
            rows=tuple(found.rows),
            left_out=found.left_out,
            transitions=dict(sorted(found.transitions.items())),
            attributes=dict(sorted(found.attributes.items())),
            dependents=len(self.touched),
            before=self.scores[0].score,
            after=self.scores[1].score,
            notes=self._notes(),
            **found.numbers(),
        )

    def _notes(self) -> tuple[str, ...]:
        """Say what a fold of stored assertions cannot show."""
        same = self.now.policy.entities == self.then.policy.entities
        return () if same else (KEPT_KEYS,)


KEPT_KEYS = "entities are named otherwise: facts are shown under the keys that they were written by"
