"""What a policy names elsewhere: types, hierarchies, canonicalisers, locales, time zones."""

from __future__ import annotations

import graphlib
from collections.abc import Iterator, Mapping
from typing import Any

from ....gateway.errors import SetupError
from ..files.tables import Page, near
from ..keys import tidy
from .attributes import Attribute
from .rules import Policy


def nested(given: Mapping[str, Any], page: Page) -> dict[str, str]:
    """
    Read a hierarchy, child → parent, into lower case.

    A child of two parents, and a circle, which is named, are faults of *page* (RF-85).
    """
    found: dict[str, str] = {}
    for written, parent in given.items():
        child = tidy(written)
        if not isinstance(parent, str) or not tidy(parent) or not child:
            page.within(written).wrong("it is no text", 'Write it like Milan = "Lombardy"')
        elif found.setdefault(child, tidy(parent)) != tidy(parent):
            problem = f"it lies in {found[child]!r} and in {tidy(parent)!r}"
            page.within(written).wrong(problem, "Leave one of them")
    if circle := _circle(found):
        page.wrong(f"it goes round: {' < '.join(circle)}", "Take one of these away")
    return dict(sorted(found.items()))


def _circle(parents: Mapping[str, str]) -> list[str]:
    try:
        graphlib.TopologicalSorter({child: (one,) for child, one in parents.items()}).prepare()
    except graphlib.CycleError as error:
        return [str(one) for one in reversed(error.args[1])]
    return []


def check_places(policy: Policy, page: Page) -> None:
    """Note on *page* what a policy names that there is not."""
    from ..canonical import CANONICALISERS

    for name, one in policy.entities.items():
        if one not in CANONICALISERS:
            place = page.within("entities", name)
            place.wrong(f"there is no canonical form {one!r}", near(one, CANONICALISERS))
    for name, attribute in policy.attributes.items():
        _named(attribute, policy, page.within("attributes", name))
        for field, inner in attribute.fields.items():
            _named(inner, policy, page.within("attributes", name, "fields", field))


def _named(attribute: Attribute, policy: Policy, page: Page) -> None:
    from ..values import TYPES

    if attribute.type not in TYPES:
        page.within("type").wrong(
            f"there is no type {attribute.type!r}", near(attribute.type, TYPES)
        )
    if attribute.hierarchy and attribute.hierarchy not in policy.hierarchies:
        problem = f"there is no hierarchy {attribute.hierarchy!r}"
        page.within("hierarchy").wrong(problem, near(attribute.hierarchy, policy.hierarchies))
    for setting, problem, fix in _here(attribute):
        page.within(setting).wrong(problem, fix)


def _here(attribute: Attribute) -> Iterator[tuple[str, str, str]]:
    from ..times import NoTime, zone_of

    try:
        zone_of(attribute.zone)
    except NoTime as error:
        yield "zone", str(error), "Write it like America/Sao_Paulo"
    if attribute.locale:
        yield from _locale(attribute.locale)


def _locale(name: str) -> Iterator[tuple[str, str, str]]:
    from ..values.numbers import locale_of

    try:
        locale_of(name)
    except SetupError as error:
        for one in error.faults:
            yield "locale", one.problem, one.fix
