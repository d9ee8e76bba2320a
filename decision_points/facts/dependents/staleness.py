"""Which facts rest on what no longer holds (RF-66): a pure function of what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ..assertions import Input
from ..keys import FactKey
from .circles import circles


class Sight(Protocol):
    """What has to be known of facts, at one point in time."""

    def derived(self, key: FactKey) -> Mapping[str, tuple[Input, ...]]:
        """Give the derived assertions of *key* that are live: id → what they were derived from."""
        ...

    def hash(self, key: FactKey) -> str:
        """Give the hash of the outcome of *key*."""
        ...

    def without(self, key: FactKey, ids: frozenset[str]) -> str:
        """Give the hash that it would have if these assertions had never been made."""
        ...

    def settled(self, key: FactKey) -> bool | None:
        """Whether *key* is stale, where that is known already; None: it is to be worked out."""
        ...


def stale(keys: Iterable[FactKey], sight: Sight) -> dict[FactKey, bool]:
    """
    Say of *keys*, and of everything that they rest on, whether it is stale.

    A derived assertion is broken if one of its inputs has another outcome than the one that was
    used, or is stale itself. A fact is stale if it would come to something else without its
    broken assertions: so another full justification clears it, and so does deriving it anew.

    Facts that rest on one another in a circle do not hold each other up: one of them is fresh only
    if it stands on something outside, or on others of them that do. So the answer is the same
    wherever one begins.
    """
    found: dict[FactKey, bool] = {}

    def towards(key: FactKey) -> Iterable[FactKey]:
        if sight.settled(key) is not None:
            return ()
        return dict.fromkeys(one.key for inputs in sight.derived(key).values() for one in inputs)

    for circle in circles(keys, towards):
        found.update(dict.fromkeys(circle, True))
        while fresh := [key for key in circle if found[key] and _stands(key, found, sight)]:
            found.update(dict.fromkeys(fresh, False))
    return found


def _stands(key: FactKey, found: Mapping[FactKey, bool], sight: Sight) -> bool:
    settled = sight.settled(key)
    if settled is not None:
        return not settled
    lost = broken(key, found, sight)
    return not lost or sight.without(key, lost) == sight.hash(key)


def broken(key: FactKey, found: Mapping[FactKey, bool], sight: Sight) -> frozenset[str]:
    """Give the ids of derived assertions of *key* whose inputs no longer stand."""
    return frozenset(
        id_
        for id_, inputs in sight.derived(key).items()
        if any(found[one.key] or sight.hash(one.key) != one.outcome for one in inputs)
    )
