"""What is declared about sources and those who correct them, and whose voice is whose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..files.durations import spelt
from ..files.tables import written
from .orders import Order


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """
    One source, as declared.

    Attributes:
        level: Where it stands in the order; empty: below all.
        skew: How wrong its clock may be, in microseconds; None: as the registry says (RF-42).
        copies: Sources that it repeats (RF-19).
        same_feed: What it repeats, as others that name the same; empty: nothing declared.

    """

    level: str = ""
    skew: int | None = None
    copies: tuple[str, ...] = ()
    same_feed: str = ""

    def plain(self) -> dict[str, Any]:
        """Give it as a table of a registry file."""
        return written(self) if self.skew is None else {**written(self), "skew": spelt(self.skew)}


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """
    An attribute, or a group of them, that has an order of its own.

    Attributes:
        order: Its levels.
        sources: Source → its level here, where that is another.
        attributes: Those of a group, sorted; none for an attribute.

    """

    order: Order = Order()
    sources: Mapping[str, str] = {}
    attributes: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Give it as a table of a registry file."""
        more = {"sources": dict(self.sources), "attributes": list(self.attributes)}
        return {**self.order.plain(), **{name: one for name, one in more.items() if one}}


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """
    Somebody who may take back or correct what sources said (RF-14, RF-47).

    Attributes:
        may_correct: Whose word, sorted; `*`: anybody's.

    """

    may_correct: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Give it as a table of a registry file."""
        return {"may_correct": list(self.may_correct)}


def lineages(sources: Mapping[str, Source]) -> dict[str, str]:
    """
    Give, for each source that shares its voice, what that voice is called (RF-19).

    Whoever copies, is copied or shares a feed, directly or through others, is one voice; it is
    called like the first of its sources by name.
    """
    leader: dict[str, str] = {}
    for name in sorted(sources):
        one = sources[name]
        for other in (*one.copies, *_feed(one)):
            _unite(leader, name, other)
    voices: dict[str, list[str]] = {}
    for name in sorted(set(leader) & set(sources)):
        voices.setdefault(_head(leader, name), []).append(name)
    return {name: members[0] for members in voices.values() for name in members}


def _feed(one: Source) -> tuple[str, ...]:
    return (f"{one.same_feed}\n",) if one.same_feed else ()  # no name of a source ends a line


def _unite(leader: dict[str, str], one: str, other: str) -> None:
    leader[_head(leader, one)] = _head(leader, other)


def _head(leader: dict[str, str], name: str) -> str:
    head = name
    while leader.setdefault(head, head) != head:
        head = leader[head]
    while name != head:  # so that no chain of copies is walked again
        leader[name], name = head, leader[name]
    return head
