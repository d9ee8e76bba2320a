"""
What is worked out from the log, entry by entry, in its order.

The same log gives the same rows, byte for byte, however it came to be written and whoever works
it out: nothing here looks at a clock, or at an entry behind the one that it is at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....gateway.journal.lines import Line
from ..dependents import propagate
from ..disputes import Dispute, Event, advanced, announced, gone_stale
from ..disputes.events import Standing
from ..entries import AnyEntry, Asserted, Erased, Stored, Used
from ..folding import due, fold, living
from ..keys import FactKey
from ..outcomes import Outcome
from . import rows, stories
from .fact import Fact, mattering, read_dispute, read_fact, read_page
from .settings import Settings
from .view import View


class Projector:
    """
    Works entries out and keeps what comes of it until it is written.

    Args:
        line: In a transaction that may write.
        namespace: Of these facts.

    Attributes:
        namespace: Of these facts.
        steps: How often a fact was folded.

    """

    def __init__(self, line: Line, namespace: str) -> None:
        self.namespace = namespace
        self.steps = 0
        self._line = line
        self._facts: dict[FactKey, Fact] = {}
        self._rows: dict[str, tuple[object, ...]] = {}
        self._events: list[tuple[object, ...]] = []
        self._disputes: dict[str, Dispute] = {}
        self._inputs: list[tuple[object, ...]] = []
        self._position = 0
        self._n = 0

    def fact(self, key: FactKey, position: int, settings: Settings) -> Fact:
        """Give a fact as it was before the entry at *position*."""
        key = settings.aliases.key(key)
        found = self._facts.get(key)
        if found is None:
            keys = settings.aliases.keys(key)
            found = read_fact(
                self._line, self.namespace, key, stories.story(self._line, keys, position - 1)
            )
            self._facts[key] = found
        return found

    def entry(self, stored: Stored, settings: Settings) -> Outcome | None:
        """Work out an entry about one fact; give what the fact comes to."""
        entry, about = stored.entry, stored.entry.about
        if about is None or isinstance(entry, Used):
            return None
        self._begin(stored.position)
        fact = self.fact(about, stored.position, settings)
        if rows.kind_of(entry) in rows.FOLDED:
            fact.story.append(stored)
        self._note_inputs(fact, stored, entry, settings)
        outcome = self.touch(fact, stored, settings)
        self.spread([fact], stored, settings)
        return outcome

    def touch(self, fact: Fact, stored: Stored, settings: Settings, cause: str = "") -> Outcome:
        """Fold a fact as it is with the entry *stored*, and note what came of it."""
        policy, registry, at = settings.policy, settings.registry, stored.recorded_at
        entries = (*fact.story, *settings.quarantines) if settings.quarantines else fact.story
        counts = living(entries, registry)
        new = fold(fact.key, counts, policy, registry, at)
        before = self._before(fact, stored, new)
        disputes, events = advanced(
            before, stored, fact.outcome, new, cause=cause, dismissed=counts.dismissed
        )
        self._disputes.update((one.id, one) for one in disputes if one not in before)
        fact.disputes = mattering(disputes)
        self._tell(events or self._emptied(stored, new))
        fact.outcome = new
        self._keep(fact, stored, due(counts, policy, registry, at))
        self.steps += 1
        return new

    def spread(self, facts: Iterable[Fact], stored: Stored, settings: Settings) -> None:
        """Find out which facts rest on what no longer holds, after *facts* were touched (RF-66)."""
        touched = [fact.key for fact in facts if fact.derived or fact.used]
        if not touched:
            return
        self.flush()
        view = self._view(stored, settings)
        gone: list[str] = []
        for key, stale in propagate(view, tuple(touched)):
            self._mark(key, "input_changed" if stale else "")
            if stale:
                gone.append(rows.written(key))
        if gone:
            self._tell((gone_stale(stored, touched[0], tuple(sorted(gone)), ""),))

    def announce(self, stored: Stored) -> None:
        """Note what an entry does to the whole namespace."""
        self._begin(stored.position)
        self._tell(announced(stored))

    def removed(self, fact: Fact, stored: Stored, settings: Settings, cause: str) -> None:
        """Close a fact that goes on under another key."""
        policy, registry = settings.policy.version, settings.registry.version
        gone = Outcome(key=fact.key, status="absent", policy=policy, registry=registry)
        disputes, events = advanced(fact.disputes, stored, fact.outcome, gone, cause=cause)
        self._disputes.update((one.id, one) for one in disputes)
        self._tell(events)
        self._facts.pop(fact.key, None)
        self._rows.pop(rows.written(fact.key), None)
        self.flush()
        self._line.execute(
            "DELETE FROM facts_current WHERE namespace = ? AND key = ?",
            (self.namespace, rows.written(fact.key)),
        )

    def resumed(self, stored: Stored) -> None:
        """Go on with an entry of which a part is worked out."""
        self._begin(stored.position)
        last = self._line.execute(
            "SELECT MAX(n) FROM facts_events WHERE namespace = ? AND position = ?",
            (self.namespace, stored.position),
        ).fetchone()[0]
        self._n = 0 if last is None else last + 1

    def forget(self) -> None:
        """Write what is noted, and read every fact anew from now on."""
        self.flush()
        self._facts.clear()

    def adopt_all(
        self, told: Sequence[tuple[FactKey, list[Stored]]], page: Sequence[str]
    ) -> list[Fact]:
        """
        Take facts whose entries were read already, and what is worked out of them at once.

        Args:
            told: The facts and their entries.
            page: Their written keys and perhaps others', sorted.

        """
        facts = read_page(self._line, self.namespace, told, page)
        self._facts.update((fact.key, fact) for fact in facts)
        return facts

    def flush(self) -> None:
        """Write what is noted."""
        if self._rows:
            rows.currents(self._line, list(self._rows.values()))
            self._rows.clear()
        if self._disputes:
            rows.disputed(self._line, self.namespace, list(self._disputes.values()))
            self._disputes.clear()
        if self._inputs:
            rows.rested(self._line, self._inputs)
            self._inputs.clear()
        if self._events:
            rows.happened(self._line, self._events)
            self._events.clear()

    def _before(self, fact: Fact, stored: Stored, new: Outcome) -> tuple[Dispute, ...]:
        """Give a fact's disputes that an entry may move, also where it names one that is over."""
        there = {one.id for one in fact.disputes}
        named = {getattr(stored.entry, "dispute", ""), new.dispute} - there - {""}
        found = (self._dispute(fact.key, id_) for id_ in sorted(named))
        return (*fact.disputes, *(one for one in found if one is not None))

    def _dispute(self, key: FactKey, id_: str) -> Dispute | None:
        noted = self._disputes.get(id_)
        if noted is None:
            return read_dispute(self._line, self.namespace, key, id_)
        return noted if noted.key == key else None

    def _emptied(self, stored: Stored, new: Outcome) -> tuple[Event, ...]:
        """Tell what a fact comes to without what was erased; what it was before is gone (RF-48)."""
        if not isinstance(stored.entry, Erased):
            return ()
        found = self._line.execute(
            "SELECT 1 FROM facts_log WHERE namespace = ? AND id = ? AND position < ?",
            (self.namespace, stored.entry.target, stored.position),
        ).fetchone()
        if found is None:  # it was kept out: it never counted
            return ()
        told = Event(
            position=stored.position,
            key=new.key,
            kind="disputed" if new.status == "disputed" else "decided",
            at=stored.recorded_at,
            after=Standing.of(new),
            rule=new.decided_by or new.reason,
            ids=(new.dispute,) if new.status == "disputed" else new.trace.unbeaten,
            cause="erased",
        )
        return (told,)

    def _begin(self, position: int) -> None:
        if position != self._position:
            self._position, self._n = position, 0

    def _tell(self, events: Iterable[Event]) -> None:
        for one in events:
            key = "" if one.key is None else rows.written(one.key)
            told = self.namespace, one.position, self._n, key, one.kind, one.at, rows.text(one)
            self._events.append(told)
            self._n += 1

    def _keep(self, fact: Fact, stored: Stored, next_due: int | None) -> None:
        outcome, written = fact.outcome, rows.written(fact.key)
        assert outcome is not None
        self._rows[written] = (
            self.namespace,
            written,
            stored.position,
            stored.recorded_at,
            outcome.status,
            outcome.hash,
            next_due,
            fact.stale,
            rows.text(outcome),
        )

    def _mark(self, key: FactKey, stale: str) -> None:
        if key in self._facts:
            self._facts[key].stale = stale
        self._line.execute(
            "UPDATE facts_current SET stale = ? WHERE namespace = ? AND key = ?",
            (stale, self.namespace, rows.written(key)),
        )

    def _note_inputs(self, fact: Fact, stored: Stored, entry: AnyEntry, settings: Settings) -> None:
        if not isinstance(entry, Asserted) or not entry.assertion.derived_from:
            return
        fact.derived = True
        key = rows.written(fact.key)
        for one in entry.assertion.derived_from:
            named = settings.aliases.key(one.key)
            self._inputs.append((self.namespace, key, stored.id, rows.written(named), one.outcome))
            if (used := self._facts.get(named)) is not None:
                used.used = True

    def _view(self, stored: Stored, settings: Settings) -> View:
        at = stored.recorded_at
        head = rows.Head(stored.position, stored.position, at)
        return View(self._line, self.namespace, head, settings, lambda: at, at)
