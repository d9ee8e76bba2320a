"""What is asked of a store: a fact, its history, why it is so, and what happened since."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .entries import Receipt, Stored, Used
from .errors import NotResolved
from .keeping import NOTHING
from .keys import FactKey
from .overlooking import Overlooking
from .stating import Time, named
from .times import instant

if TYPE_CHECKING:
    from .disputes import Event
    from .reading import Reading
    from .telling import Explanation

TICK = 0.05  # seconds between two looks for new events
PAGE = 1000  # events read at once


class Recalling(Overlooking):
    """One namespace of facts, as it is read."""

    def get(  # noqa: PLR0913 - which fact, and as of when
        self,
        entity: str | FactKey,
        attribute: str = "",
        *,
        qualifiers: Mapping[str, str] = NOTHING,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        provisional: str | None = None,
        decision: str = "",
    ) -> Reading:
        """
        Read a fact.

        Args:
            entity: What it is about; or the fact's key.
            attribute: What is said of it.
            qualifiers: What else tells it from others.
            valid_at: What holds at this time; None: now (RF-41).
            known_at: What was known at this time; None: now.
            provisional: `most_voices` or `newest`: a value while it is disputed, marked as such.
            decision: Id of a decision that will rest on it, which is noted (RF-67).

        Raises:
            Refused: It is no key, or no time.
            StoreDown: The database cannot be reached.

        """
        from .reading import read

        at = self._clock() if valid_at is None else instant(valid_at)
        with self.view(known_at=known_at) as view:
            key = named(self.namespace, entity, attribute, qualifiers, view.settings.policy)
            found = read(view, key, at, provisional or "")
        if decision:
            used = Used(
                key=found.key, outcome=found.outcome.hash, decision=decision, at=self._clock()
            )
            self.ledger.append(used)
        return found

    def require(
        self,
        entity: str | FactKey,
        attribute: str = "",
        *,
        qualifiers: Mapping[str, str] = NOTHING,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        decision: str = "",
    ) -> Reading:
        """
        Read a fact that must be resolved and fresh.

        Raises:
            NotResolved: It is not; its reading says what there is instead.
            Refused: It is no key, or no time.

        """
        found = self.get(
            entity,
            attribute,
            qualifiers=qualifiers,
            valid_at=valid_at,
            known_at=known_at,
            decision=decision,
        )
        if not found.fresh:
            raise NotResolved(found)
        return found

    def history(
        self,
        entity: str | FactKey,
        attribute: str = "",
        *,
        qualifiers: Mapping[str, str] = NOTHING,
    ) -> tuple[Stored, ...]:
        """Give everything that was written about a fact, also what lost or was taken back."""
        with self.view() as view:
            key = named(self.namespace, entity, attribute, qualifiers, view.settings.policy)
            return tuple(view.entries(key))

    def explain(
        self,
        entity: str | FactKey,
        attribute: str = "",
        *,
        qualifiers: Mapping[str, str] = NOTHING,
        valid_at: Time | None = None,
        known_at: Time | None = None,
    ) -> Explanation:
        """Say why a fact comes to what it does: as JSON, and in a sentence (RF-63)."""
        from .reading import read
        from .telling import explanation_of

        at = self._clock() if valid_at is None else instant(valid_at)
        with self.view(known_at=known_at) as view:
            key = named(self.namespace, entity, attribute, qualifiers, view.settings.policy)
            found = read(view, key, at)
            receipt = view.entry(found.outcome.receipt) if found.outcome.receipt else None
            return explanation_of(
                found.outcome,
                view.living(key),
                view.settings.registry,
                stale=found.stale,
                receipt=receipt.entry if receipt and isinstance(receipt.entry, Receipt) else None,
                valid_at=None if valid_at is None else at,
                known_at=None if known_at is None else view.known,
                policy=view.settings.policy,
            )

    def facts(self, prefix: str = "") -> Iterator[Reading]:
        """Read every fact of which something was said, a page of them at a time."""
        from .reading import read_all

        with self.view() as view:
            yield from read_all(view, self._clock(), prefix)

    def subscribe(self, cursor: int | str = 0, *, wait: float | None = None) -> Iterator[Event]:
        """
        Follow what happens, each fact's events in order, each at least once (RF-65).

        A slow follower keeps nobody from writing.

        Args:
            cursor: From this position of the log on, it included; or the id of the event behind
                which it goes on.
            wait: Seconds without anything new after which it ends; None: at once.

        """
        ledger = self.ledger
        with ledger.view() as view:
            place = view.place_of(cursor)
        quiet = time.monotonic()
        while True:
            ledger.catch_up()
            with ledger.view() as view:
                found = view.happened(*place, limit=PAGE)
            for position, n, event in found:
                yield event
                place = position, n + 1
                quiet = time.monotonic()
            if not found:
                if wait is None or time.monotonic() - quiet >= wait:
                    return
                time.sleep(min(TICK, wait))
