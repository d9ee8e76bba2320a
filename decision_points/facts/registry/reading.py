"""Registries from TOML and CSV files and from the log; all that is wrong is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from ....gateway.errors import raise_all
from ..files.durations import duration
from ..files.reading import rows_of, toml_of
from ..files.tables import Before, Page, members, named, read
from ..keys import seen, tidy
from .checking import check
from .declared import SKEW, Registry
from .orders import Order, Pair, order_of
from .sources import Actor, Scope, Source

Given: TypeAlias = str | Path | Mapping[str, Any] | Registry | None

COLUMNS = {
    "source": "source",
    "level": "level",
    "tier": "level",
    "skew": "skew",
    "copies": "copies",
    "same_feed": "same_feed",
}
"""Of a file of sources → what they are called in a table."""


class _Order(msgspec.Struct, frozen=True, kw_only=True):
    """How an order is written."""

    order: tuple[str, ...] = ()
    above: tuple[Pair, ...] = ()
    levels: tuple[str, ...] = ()


class _Scope(_Order, frozen=True, kw_only=True):
    """The table of an attribute or a group."""

    sources: dict[str, str] = {}
    attributes: tuple[str, ...] = ()


class _Top(_Order, frozen=True, kw_only=True):
    """What stands at the top of a registry file."""

    schema: Literal[1] = 1
    skew: int = SKEW
    sources_file: str = ""
    attributes: Any = None
    groups: Any = None
    sources: Any = None
    actors: Any = None


def read_registry(path: str | Path) -> Registry:
    """
    Read a registry file, and the file of sources that it names, if it does.

    Raises:
        SetupError: One cannot be read, or it is no registry; every fault is listed with its place.

    """
    return registry_from(toml_of(path), str(path), Path(path).parent)


def registry_of(given: Given) -> Registry:
    """
    Make a registry of a file's path, of the tables of one, or of nothing: all are unknown then.

    Raises:
        SetupError: It is no registry; every fault is listed.

    """
    if isinstance(given, Registry):
        return given
    if given is None:
        return Registry()
    return Registry.of(given) if isinstance(given, Mapping) else read_registry(given)


def registry_from(given: Mapping[str, Any], where: str, folder: Path | None = None) -> Registry:
    """
    Read the tables of a registry.

    Args:
        given: The tables, as TOML or JSON holds them.
        where: The file's path, or what it is called.
        folder: From where `sources_file` is looked for; None: only a file may name one, since
            what comes from a log or over the network must not have others read.

    Raises:
        SetupError: They are no registry; every fault is listed.

    """
    page = Page(where, [])
    top = _Top(**read(_Top, given, page, {**_NAMES, "skew": _span}))
    rows = list(_filed(folder, top.sources_file, page)) if top.sources_file else []
    registry = Registry(
        order=_order(top, page),
        groups=_scopes(given.get("groups", {}), tidy, page.within("groups")),
        attributes=_scopes(given.get("attributes", {}), tidy, page.within("attributes")),
        sources=_sources([*rows, *named(given.get("sources", {}), seen, page.within("sources"))]),
        actors=dict(_actors(given.get("actors", {}), page.within("actors"))),
        usual_skew=top.skew,
    )
    check(registry, page)
    raise_all(page.faults)
    return registry


def _order(written: _Order, page: Page) -> Order:
    try:
        return order_of(written.order, written.above, written.levels)
    except ValueError as error:
        place = page.within("order") if written.order else page.within("above")
        place.wrong(str(error), "Take one of these steps away (RF-17)")
    named = {*written.order, *written.levels, *(one for pair in written.above for one in pair)}
    return Order(tuple(sorted(named)))  # so that what names these levels is no fault too


def _scopes(given: object, name: Callable[[str], str], page: Page) -> dict[str, Scope]:
    found: dict[str, Scope] = {}
    for one, table, place in named(given, name, page):
        written = _Scope(**read(_Scope, table, place, _NAMES))
        found[one] = Scope(
            order=_order(written, place),
            sources={seen(source): seen(level) for source, level in written.sources.items()},
            attributes=tuple(sorted({tidy(attribute) for attribute in written.attributes})),
        )
    return found


def _sources(given: list[tuple[str, object, Page]]) -> dict[str, Source]:
    found: dict[str, Source] = {}
    for name, table, place in given:
        if name in found:
            place.wrong("this source is there twice", "Leave one of them")
        else:
            found[name] = Source(**read(Source, table, place, {**_NAMES, "skew": _span}))
    return found


def _filed(folder: Path | None, name: str, page: Page) -> Iterator[tuple[str, object, Page]]:
    """Give the rows of a file of sources like tables."""
    place = page.within("sources_file")
    if folder is None:
        place.wrong("only a registry file may name one", "Write its rows under sources")
        return
    file = Page(str(folder / name), page.faults)
    for number, row in enumerate(rows_of(folder / name, COLUMNS, place), 2):
        if source := seen(row.pop("source", "")):
            yield source, row, file.within(source)
        else:
            file.within(f"row {number}").wrong("it names no source", "Fill the column source")


def _actors(given: object, page: Page) -> Iterator[tuple[str, Actor]]:
    for name, table, place in named(given, seen, page):
        yield name, Actor(**read(Actor, table, place, _NAMES))


def _span(text: object) -> int:
    if isinstance(text, str):
        return duration(text)
    raise ValueError("it is no duration such as 30s or 5m, in quotes")


def _name(given: object) -> object:
    return seen(given) if isinstance(given, str) else given


def _list(given: object) -> object:
    """Bring names into their one form, those of pairs too."""
    found = members(given)
    return _name(given) if found is None else [_list(one) for one in found]


def _set(given: object) -> object:
    """Let one name stand without brackets; their sequence does not count."""
    listed = [given] if (found := members(given)) is None else found
    names = {seen(one) for one in listed if isinstance(one, str)}
    return sorted(names) if all(isinstance(one, str) for one in listed) else given


_NAMES: Before = {
    "order": _list,
    "above": _list,
    "levels": _list,
    "level": _name,
    "same_feed": _name,
    "copies": _set,
    "may_correct": _set,
}
