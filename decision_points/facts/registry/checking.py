"""What no registry may say: levels and sources that there are not, attributes of two groups."""

from __future__ import annotations

from collections.abc import Iterable

from ..files.tables import Page, near
from .declared import ANYBODY, Registry
from .sources import Scope


def check(registry: Registry, page: Page) -> None:
    """Note on *page* whatever a registry names that it does not declare."""
    _levels(registry, page)
    _sources(registry, page)
    _groups(registry, page)
    for table, scopes in (("groups", registry.groups), ("attributes", registry.attributes)):
        for name, scope in scopes.items():
            _scope(registry, scope, page.within(table, name), grouped=table == "groups")


def _levels(registry: Registry, page: Page) -> None:
    known = registry.order.levels
    if "" in known:
        page.within("order").wrong("a level's name is empty", "Give it a name")
    for name, one in registry.sources.items():
        place = page.within("sources", name, "level")
        if one.level and one.level not in known:
            fix = near(one.level, known) if known else 'Write order = ["…"], the highest first'
            place.wrong(f"there is no level {one.level!r}", fix)
        elif known and not one.level:
            place.wrong("it has none, though there is an order", near("", known))


def _sources(registry: Registry, page: Page) -> None:
    for name, one in registry.sources.items():
        _declared(one.copies, registry, page.within("sources", name, "copies"))
    for name, actor in registry.actors.items():
        asked = (one for one in actor.may_correct if one != ANYBODY)
        _declared(asked, registry, page.within("actors", name, "may_correct"))


def _declared(names: Iterable[str], registry: Registry, page: Page) -> None:
    for one in names:
        if one not in registry.sources and not page.full:  # to look for the nearest takes long
            page.wrong(f"there is no source {one!r}", near(one, registry.sources))


def _groups(registry: Registry, page: Page) -> None:
    of: dict[str, str] = {}
    for name, scope in registry.groups.items():
        for attribute in scope.attributes:
            if of.setdefault(attribute, name) != name:
                problem = f"attribute {attribute!r} is in group {of[attribute]!r} too"
                page.within("groups", name, "attributes").wrong(problem, "Leave it in one")


def _scope(registry: Registry, scope: Scope, page: Page, *, grouped: bool) -> None:
    if grouped and not scope.attributes:
        page.within("attributes").wrong("the group has none", 'Write attributes = ["…"]')
    if scope.attributes and not grouped:
        page.within("attributes").wrong("only a group has them", "Write it under [groups.NAME]")
    if "" in scope.order.levels:
        page.within("order").wrong("a level's name is empty", "Give it a name")
    _declared(scope.sources, registry, page.within("sources"))
    known = {*scope.order.levels, *registry.order.levels}
    for group in registry.groups.values():
        known |= set(group.order.levels) if page.at.split(".", 1)[1] in group.attributes else set()
    for source, level in scope.sources.items():
        if level not in known:
            fix = near(level, known, 'Write order = ["…"] here, with')
            page.within("sources", source).wrong(f"there is no level {level!r}", fix)
