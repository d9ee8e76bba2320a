"""What a view of the log, or what was projected from it, knows of facts that rest on others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from ..assertions import Input
from ..folding import Living, fold
from ..keys import FactKey

if TYPE_CHECKING:
    from ..ledger.rows import Current
    from ..ledger.view import View


class _Viewed:
    """What both have: assertions from the log, each fact's once."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.policy, self.registry = view.versions()
        self._livings: dict[FactKey, Living] = {}
        self._derived: dict[FactKey, Mapping[str, tuple[Input, ...]]] = {}

    def living(self, key: FactKey) -> Living:
        """Give what is live of *key*."""
        if key not in self._livings:
            self._livings[key] = self.view.living(key)
        return self._livings[key]

    def derived(self, key: FactKey) -> Mapping[str, tuple[Input, ...]]:
        """Give the derived assertions of *key* that are live: id → what they were derived from."""
        if key not in self._derived:
            self._derived[key] = {
                one.id: tuple(map(self._canonical, one.assertion.derived_from))
                for one in self.living(key).assertions
                if one.assertion.derived_from
            }
        return self._derived[key]

    def _canonical(self, one: Input) -> Input:
        """Name the fact as it is named since an alias: it was read under its name of then."""
        entity = self.view.canonical(one.key.entity)
        if entity == one.key.entity:
            return one
        key = msgspec.structs.replace(one.key, entity=entity)
        return msgspec.structs.replace(one, key=key)

    def folded(self, key: FactKey, at: int, less: frozenset[str] = frozenset()) -> str:
        """Give the hash of what *key* comes to at *at*, as if *less* had never been said."""
        living = self.living(key)
        if less:
            kept = tuple(one for one in living.assertions if one.id not in less)
            living = msgspec.structs.replace(living, assertions=kept)
        return fold(key, living, self.policy, self.registry, at).hash


class Read(_Viewed):
    """
    What the log says, at one point in time.

    Args:
        view: A consistent read of it.
        at: The valid time, in microseconds since the epoch.

    """

    def __init__(self, view: View, at: int) -> None:
        super().__init__(view)
        self.at = at
        self._hashes: dict[FactKey, str] = {}

    def hash(self, key: FactKey) -> str:
        """Give the hash of the outcome of *key*."""
        if key not in self._hashes:
            self._hashes[key] = self.folded(key, self.at)
        return self._hashes[key]

    def without(self, key: FactKey, ids: frozenset[str]) -> str:
        """Give the hash that it would have if these assertions had never been made."""
        return self.folded(key, self.at, ids)

    def settled(self, key: FactKey) -> bool | None:
        """Nothing is known before it is worked out."""
        return None


class Projected(_Viewed):
    """
    What was projected: each outcome at the time of the entry that last touched its fact.

    Args:
        view: A consistent read of it.
        open_: Facts whose staleness is to be worked out; of all others it is what was projected.

    """

    def __init__(self, view: View, open_: Mapping[FactKey, object]) -> None:
        super().__init__(view)
        self.open = open_
        self._rows: dict[FactKey, Current | None] = {}

    def _current(self, key: FactKey) -> Current | None:
        if key not in self._rows:
            self._rows[key] = self.view.current(key)
        return self._rows[key]

    def hash(self, key: FactKey) -> str:
        """Give the hash of the outcome of *key*."""
        current = self._current(key)
        return current.hash if current is not None else self.folded(key, NEVER)

    def without(self, key: FactKey, ids: frozenset[str]) -> str:
        """Give the hash that it would have if these assertions had never been made."""
        current = self._current(key)
        return self.folded(key, NEVER if current is None else current.at, ids)

    def settled(self, key: FactKey) -> bool | None:
        """Give what was projected, where nothing that it rests on was touched."""
        return None if key in self.open else self.flagged(key)

    def flagged(self, key: FactKey) -> bool:
        """Whether it is projected as stale."""
        current = self._current(key)
        return current is not None and current.stale == STALE


STALE = "input_changed"

NEVER = 0  # a time, for facts of which nothing was said: they are the same at any
