"""What holds for a whole namespace at one position of its log: rules, aliases, quarantines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from ....gateway.journal.lines import Line
from ..entries import Adopted, Aliased, Stored
from ..keys import FactKey
from ..policy import Policy, policy_of
from ..registry import Registry, registry_of
from . import rows

KEPT = 16  # settings of other positions that are kept, for views of the past


class Aliases:
    """
    Which entities are one and the same (RF-02), whatever order that was said in.

    Args:
        said: Pairs: this entity is that one.

    """

    def __init__(self, said: Iterable[tuple[str, str]] = ()) -> None:
        self._named: dict[str, tuple[str, ...]] = {}
        self._of: dict[str, str] = {}
        pairs = set(said)
        further = {entity for entity, of in pairs if entity != of}
        for group in _groups(pairs):
            last = min(group - further, default=min(group))
            self._named[last] = tuple(sorted(group))
            self._of.update(dict.fromkeys(group, last))

    def __bool__(self) -> bool:
        return bool(self._of)

    def canonical(self, entity: str) -> str:
        """Name the one that stands for *entity*."""
        return self._of.get(entity, entity)

    def names(self, entity: str) -> tuple[str, ...]:
        """Name all that are the same as *entity*, it included."""
        return self._named.get(self.canonical(entity), (entity,))

    def key(self, key: FactKey) -> FactKey:
        """Give the fact under which *key* is folded."""
        entity = self.canonical(key.entity)
        if entity == key.entity:
            return key
        return FactKey(key.namespace, entity, key.attribute, key.qualifiers)

    def keys(self, key: FactKey) -> tuple[FactKey, ...]:
        """Give every fact that is folded together with *key*."""
        return tuple(
            FactKey(key.namespace, entity, key.attribute, key.qualifiers)
            for entity in self.names(key.entity)
        )


class Settings(NamedTuple):
    """
    What holds for a namespace.

    Attributes:
        policy: The policy that was adopted last.
        registry: The registry of sources that was.
        adopted: When they were, in microseconds; 0: none ever was, and both are empty.
        aliases: Which entities are the same.
        quarantines: What is to be left out, and what of that is lifted.

    """

    policy: Policy
    registry: Registry
    adopted: int
    aliases: Aliases
    quarantines: tuple[Stored, ...]


class Known:
    """
    The settings of one namespace, read when they are needed and kept.

    Safe for several threads: at worst two read the same.

    Attributes:
        latest: Those that held when somebody looked last; None: nobody did.

    """

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._kept: dict[str, Settings] = {}
        self.latest: Settings | None = None

    def at(self, line: Line, position: int, wide: str | None = None) -> Settings:
        """
        Give what holds at *position*.

        Args:
            line: In a transaction.
            position: Of the log: what was written later does not count.
            wide: The last entry of the whole namespace up to there, as heads name it, if known.

        """
        named = self._last(line, position) if wide is None else wide
        found = self._kept.get(named)
        if found is None:
            found = self._read(line, int(named.partition(":")[0] or 0))
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[named] = found
        return found

    def _last(self, line: Line, position: int) -> str:
        row = line.execute(
            f"SELECT position, id FROM facts_log {rows.by_key(line)}"  # noqa: S608 - fixed texts
            f" WHERE namespace = ? AND key = '' AND kind IN {rows.WIDE} AND position <= ?"
            " ORDER BY position DESC LIMIT 1",
            (self._namespace, position),
        ).fetchone()
        return "" if row is None else f"{row[0]}:{row[1]}"

    def _read(self, line: Line, position: int) -> Settings:
        found = line.execute(
            f"SELECT {rows.ENTRY} FROM facts_log {rows.by_key(line)}"  # noqa: S608 - fixed texts
            f" WHERE namespace = ? AND key = '' AND kind IN {rows.WIDE} AND position <= ?"
            " ORDER BY position",
            (self._namespace, position),
        ).fetchall()
        return settings_of([rows.stored(row) for row in found])


def settings_of(wide: Iterable[Stored]) -> Settings:
    """
    Give what holds after the *wide* entries, in whatever order they are.

    Of several that were adopted it is the one with the latest time: so it is the same one in two
    logs that took each other in.
    """
    adopted: list[tuple[int, str, Adopted]] = []
    aliases: list[tuple[str, str]] = []
    quarantines: list[Stored] = []
    for one in wide:
        if isinstance(one.entry, Adopted):
            adopted.append((one.entry.at, one.id, one.entry))
        elif isinstance(one.entry, Aliased):
            aliases.append((one.entry.entity, one.entry.of))
        else:
            quarantines.append(one)
    rest = Aliases(aliases), tuple(quarantines)
    if not adopted:
        return Settings(policy_of(None), registry_of(None), 0, *rest)
    at, _, last = max(adopted, key=itemgetter(0, 1))
    return Settings(Policy.of(last.policy), Registry.of(last.registry), at, *rest)


def _groups(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """Give the sets of what is connected."""
    beside: dict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        beside[one].add(other)
        beside[other].add(one)
    groups: list[set[str]] = []
    left = set(beside)
    while left:
        group, reached = set[str](), {left.pop()}
        while reached:
            group |= reached
            reached = {near for one in reached for near in beside[one]} - group
        left -= group
        groups.append(group)
    return groups
