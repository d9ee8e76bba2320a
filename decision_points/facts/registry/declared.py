"""A registry: who is ranked above whom, whose voices are one, and who may correct whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from ..assertions import digest
from ..files.durations import MICROSECONDS, spelt
from ..keys import seen
from .orders import Order
from .ranks import Rank, Ranks
from .sources import Actor, Scope, Source, lineages

SKEW = 5 * MICROSECONDS["m"]  # RF-42: what clocks of servers and people are usually within

ANYBODY = "*"


class Registry(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """
    The sources; `read_registry` and `registry_of` make one and check it.

    Attributes are named as in keys. Names of sources, levels and actors keep their case; runs of
    spaces and how letters are composed do not count.

    Attributes:
        order: Of the whole namespace.
        groups: Name → attributes that share an order, and that order.
        attributes: Name → the attribute's own order.
        sources: By their names.
        actors: Who may correct others.
        usual_skew: Of sources that name none, in microseconds; `skew` in a file (RF-42).

    """

    order: Order = Order()
    groups: Mapping[str, Scope] = {}
    attributes: Mapping[str, Scope] = {}
    sources: Mapping[str, Source] = {}
    actors: Mapping[str, Actor] = {}
    usual_skew: int = SKEW

    def __hash__(self) -> int:
        return hash(self.version)

    @cached_property
    def version(self) -> str:
        """Hash of what it says, however its file is laid out (RF-20)."""
        return digest(self.plain())

    def known(self, source: str) -> bool:
        """Tell whether a source is declared; one that is not is below all, and flagged (RF-09)."""
        return source in self.sources or seen(source) in self.sources

    def level(self, source: str, attribute: str) -> str:
        """Give a source's level for an attribute; empty for an unknown source."""
        one = source if source in self.sources else seen(source)
        for scope in self._scopes.get(attribute, ()):
            if one in scope.sources:
                return scope.sources[one]
        return self.sources[one].level if one in self.sources else ""

    def ranks(self, attribute: str) -> Ranks:
        """Give the levels of an attribute: its own, then its group's, then the namespace's."""
        return self._ranks.get(attribute, self._general)

    def ranked(self, attribute: str, a: str, b: str) -> Rank:
        """Say how level *a* ranks to *b* for an attribute (RF-17, RF-18)."""
        return self._ranks.get(attribute, self._general).ranked(a, b)

    def weakest(self, attribute: str, levels: Iterable[str]) -> str:
        """Give the level of *levels* that is below all others of them; else empty (RF-36)."""
        return self.ranks(attribute).weakest(levels)

    def lineage(self, source: str) -> str:
        """Name the voice of a source: the same for all that repeat one another (RF-19)."""
        if (voice := self._lineages.get(source)) is not None:
            return voice
        return self._lineages.get(one := seen(source), one)

    def skew(self, source: str) -> int:
        """Say how wrong the clock of a source may be, in microseconds (RF-42)."""
        found = self.sources.get(source) or self.sources.get(seen(source))
        return self.usual_skew if found is None or found.skew is None else found.skew

    def may(self, actor: str, source: str) -> bool:
        """Tell whether an actor may take back or correct what a source said (RF-14, RF-47)."""
        if (one := seen(actor)) == (other := seen(source)):
            return True
        allowed = self.actors.get(one, Actor()).may_correct
        return other in allowed or ANYBODY in allowed

    @cached_property
    def _scopes(self) -> Mapping[str, tuple[Scope, ...]]:
        grouped = {name: one for one in self.groups.values() for name in one.attributes}
        own = self.attributes
        return {
            name: tuple(one[name] for one in (own, grouped) if name in one)
            for name in {*own, *grouped}
        }

    @cached_property
    def _general(self) -> Ranks:
        return Ranks(self.order)

    @cached_property
    def _ranks(self) -> Mapping[str, Ranks]:
        return {
            name: Ranks(*(one.order for one in scopes), self.order)
            for name, scopes in self._scopes.items()
        }

    @cached_property
    def _lineages(self) -> Mapping[str, str]:
        return lineages(self.sources)

    def plain(self) -> dict[str, Any]:
        """Give it as JSON, with the tables and names of a registry file."""
        written: dict[str, Any] = {"schema": 1, **self.order.plain()}
        for table in ("groups", "attributes", "sources", "actors"):
            if members := getattr(self, table):
                written[table] = {name: one.plain() for name, one in members.items()}
        return written if self.usual_skew == SKEW else {**written, "skew": spelt(self.usual_skew)}

    @classmethod
    def of(cls, plain: Mapping[str, Any], where: str = "registry") -> Registry:
        """
        Read what `plain` gave, or the tables of a registry file.

        Args:
            plain: The tables.
            where: What they are called in faults.

        Raises:
            SetupError: They are no registry; every fault is listed.

        """
        from .reading import registry_from

        return registry_from(plain, where)

    def replaced(self, **tables: Any) -> Registry:  # noqa: ANN401 - JSON
        """
        Give another registry, in which some tables are these instead.

        Raises:
            SetupError: It is no registry then.

        """
        return Registry.of({**self.plain(), **tables})
