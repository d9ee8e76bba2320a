"""What the log of a namespace held at one moment, now or in the past, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....gateway.journal.lines import Line
from ..entries import Stored
from ..folding import Living, fold, living
from ..keys import FactKey
from ..outcomes import Outcome
from ..policy import Policy
from ..registry import Registry
from . import rows, stories
from .settings import Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection

PAGE = 1000  # rows read at once
LAST = (1 << 63) - 1  # behind every position


class Log:
    """
    A namespace as it was when an entry was the last of its log.

    It lives as long as the transaction that it was lent in.

    Args:
        line: In a transaction.
        namespace: Of these facts.
        head: How far the log is; of the past, was.
        settings: What holds there.
        clock: Gives the time at which facts are looked at, in microseconds.
        known: The time that was asked for; None: now.

    Attributes:
        line: For statements of one's own.
        namespace: Of these facts.
        position: Of the last entry that counts.
        recorded_at: When that was taken in; asked for as `known_at`, the same is seen again.
        settings: What holds for the namespace.
        known: The time that was asked for; None: now.

    """

    def __init__(
        self,
        line: Line,
        namespace: str,
        head: rows.Head,
        settings: Settings,
        clock: Callable[[], int],
        known: int | None = None,
    ) -> None:
        self.line = line
        self.namespace = namespace
        self.position = head.position
        self.recorded_at = head.recorded_at
        self.settings = settings
        self.known = known
        self.now = clock

    @property
    def connection(self) -> Connection:
        """The same transaction, for statements that are built with SQLAlchemy."""
        return self.line.connection

    def versions(self) -> tuple[Policy, Registry]:
        """Give the policy and the registry that hold."""
        return self.settings.policy, self.settings.registry

    def canonical(self, entity: str) -> str:
        """Name the entity that stands for *entity*."""
        return self.settings.aliases.canonical(entity)

    def names(self, entity: str) -> tuple[str, ...]:
        """Name all entities that are the same as *entity*."""
        return self.settings.aliases.names(entity)

    # --- the log ---------------------------------------------------------------------------

    def entries(
        self,
        key: FactKey | None = None,
        *,
        kinds: Sequence[str] = (),
        after: int = 0,
        limit: int | None = None,
    ) -> Iterator[Stored]:
        """
        Give entries in the order of the log, a page at a time; none whose content was erased.

        Args:
            key: About this fact, under any of its names; None: about anything.
            kinds: Of these kinds; empty: of all.
            after: Behind this position.
            limit: At most so many.

        """
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            page = self._page(key, kinds, after, size)
            yield from (rows.stored(row) for row in page)
            if len(page) < size:
                return
            after = page[-1][0]
            left = None if left is None else left - len(page)

    def entry(self, id: str) -> Stored | None:  # noqa: A002 - the column's name
        """Give the entry of an id; None: there is none, or its content was erased."""
        if not (id.isascii() and id.isalnum()):  # as all ids are
            return None
        found = self.line.execute(
            f"SELECT {rows.ENTRY} FROM facts_log WHERE namespace = ? AND id = ?"  # noqa: S608 - fixed texts
            " AND position <= ? AND body <> ''",
            (self.namespace, id, self.position),
        ).fetchone()
        return None if found is None else rows.stored(found)

    def key_of_entry(self, id: str) -> FactKey | None:  # noqa: A002 - the column's name
        """Give the fact that the entry of an id is about, also of one that was erased."""
        if not (id.isascii() and id.isalnum()):  # as all ids are
            return None
        found = self.line.execute(
            "SELECT key FROM facts_log WHERE namespace = ? AND id = ? AND position <= ?",
            (self.namespace, id, self.position),
        ).fetchone()
        return rows.key_in(self.namespace, found[0]) if found and found[0] else None

    def keys(self, prefix: str = "") -> Iterator[FactKey]:
        """Give the facts that anybody said something about, by their written keys."""
        written = stories.names(self.line, self.namespace, prefix, self.position)
        found = (rows.key_in(self.namespace, one) for one in written)
        aliases = self.settings.aliases
        if not aliases:
            yield from found
            return
        given: set[FactKey] = set()  # only of entities with several names: those are few
        for key in found:
            if len(aliases.names(key.entity)) == 1:
                yield key
            elif (one := aliases.key(key)) not in given:
                given.add(one)
                yield one

    # --- what it comes to ------------------------------------------------------------------

    def story(self, key: FactKey) -> tuple[Stored, ...]:
        """Give what `living` takes of a fact: its entries, and the namespace's quarantines."""
        keys = self.settings.aliases.keys(key)
        found = stories.story(self.line, keys, self.position)
        if self.known is not None:  # what was erased later is missing in the past, too (RF-48)
            found += stories.story(self.line, keys, LAST, ("erased",), self.position)
        return (*found, *self.settings.quarantines)

    def living(self, key: FactKey) -> Living:
        """Give what counts of a fact."""
        return living(self.story(key), self.settings.registry)

    def outcome(self, key: FactKey, valid_at: int | None = None) -> Outcome:
        """
        Fold a fact from the log.

        Args:
            key: The fact, under any of its names.
            valid_at: The point in time, in microseconds; None: now.

        """
        policy, registry = self.versions()
        at = self.now() if valid_at is None else valid_at
        return fold(self.settings.aliases.key(key), self.living(key), policy, registry, at)

    def stories(self, prefix: str = "") -> Iterator[tuple[FactKey, tuple[Stored, ...]]]:
        """Give `story` of every fact of which something was said, a page of them at a time."""
        aliases, quarantines = self.settings.aliases, self.settings.quarantines
        found = stories.stories(self.line, self.namespace, aliases, self.position, prefix)
        for key, entries in found:
            if entries:
                yield key, (*entries, *quarantines)

    def livings(self, prefix: str = "") -> Iterator[tuple[FactKey, Living]]:
        """Give `living` of every fact of which something was said."""
        for key, story in self.stories(prefix):
            yield key, living(story, self.settings.registry)

    def _page(
        self, key: FactKey | None, kinds: Sequence[str], after: int, limit: int
    ) -> list[Sequence[Any]]:
        wanted, given = ["namespace = ?"], [self.namespace]
        by = "" if key is None else rows.by_key(self.line)
        if key is not None:
            keys = self.settings.aliases.keys(key)
            wanted.append(f"key IN ({rows.marks(len(keys))})")
            given.extend(map(rows.written, keys))
        if kinds:
            wanted.append(f"kind IN ({rows.marks(len(kinds))})")
            given.extend(kinds)
        found: list[Sequence[Any]] = self.line.execute(
            f"SELECT {rows.ENTRY} FROM facts_log {by} WHERE {' AND '.join(wanted)}"  # noqa: S608 - fixed texts
            " AND position > ? AND position <= ? AND body <> '' ORDER BY position LIMIT ?",
            (*given, after, self.position, limit),
        ).fetchall()
        return found
