"""Policies from TOML files and from the log; all that is wrong with one is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from ....gateway.errors import raise_all
from ..files.durations import duration
from ..files.reading import toml_of
from ..files.tables import Before, Page, members, named, read, table, tables
from ..keys import tidy
from .attributes import Attribute
from .checking import check
from .places import check_places, nested
from .rules import MILLION, DisputeRules, Limits, Policy

Given: TypeAlias = str | Path | Mapping[str, Any] | Policy | None

GENERAL = (
    "keys",
    "edges",
    "margin",
    "evidence",
    "basis",
    "freshness",
    "dissent",
    "corroboration",
    "strict",
    "locale",
    "zone",
    "currency",
    "formats",
)
"""What a policy may say once, at its top, for every attribute that does not say otherwise."""

IN_A_RECORD = ("type", "hierarchy", "case", "options", "locale", "zone", "currency", "formats")


class _Top(msgspec.Struct):
    """The tables of a policy file, beside what it says for all attributes."""

    schema: Literal[1] = 1
    attributes: Any = None
    entities: Any = None
    hierarchies: Any = None
    disputes: Any = None
    limits: Any = None


def read_policy(path: str | Path) -> Policy:
    """
    Read a policy file.

    Raises:
        SetupError: It cannot be read, or it is no policy; every fault is listed with its place.

    """
    return policy_from(toml_of(path), str(path))


def policy_of(given: Given) -> Policy:
    """
    Make a policy of a file's path, of the tables of one, or of nothing: then nothing is declared.

    Raises:
        SetupError: It is no policy; every fault is listed.

    """
    if isinstance(given, Policy):
        return given
    if given is None:
        return Policy()
    return Policy.of(given) if isinstance(given, Mapping) else read_policy(given)


def policy_from(given: Mapping[str, Any], where: str) -> Policy:
    """
    Read the tables of a policy.

    Args:
        given: The tables, as TOML or JSON holds them.
        where: The file's path, or what it is called.

    Raises:
        SetupError: They are no policy; every fault is listed.

    """
    page = Page(where, [])
    top = read(_Top, {name: one for name, one in given.items() if name not in GENERAL}, page, {})
    general = read(Attribute, {one: given[one] for one in GENERAL if one in given}, page, _BEFORE)
    policy = Policy(
        attributes=_attributes(top.get("attributes", {}), general, page.within("attributes")),
        entities=_names(top.get("entities", {}), page.within("entities")),
        hierarchies=_hierarchies(top.get("hierarchies", {}), page.within("hierarchies")),
        disputes=DisputeRules(**_rules(top.get("disputes", {}), page.within("disputes"))),
        limits=Limits(**read(Limits, top.get("limits", {}), page.within("limits"), {})),
        strict=general.get("strict", False),
    )
    check_places(policy, page)
    raise_all(page.faults)
    return policy


def _attributes(given: object, general: dict[str, Any], page: Page) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    for name, said, place in named(given, tidy, page):
        found[name] = one = _attribute(name, said, general, place)
        check(one, place)
    return found


def _attribute(name: str, given: object, general: dict[str, Any], page: Page) -> Attribute:
    said = table(given)
    if "name" in said:
        page.within("name").wrong("its name is that of its table", "Take it away")
    own = read(Attribute, given, page, {**_BEFORE, "fields": lambda _: {}})
    made = msgspec.structs.replace(Attribute(name=name), **{**general, **own, "name": name})
    if "fields" not in said:
        return made
    fields = _fields(said["fields"], made, page.within("fields"))
    return msgspec.structs.replace(made, fields=fields)


def _fields(given: object, record: Attribute, page: Page) -> dict[str, Attribute]:
    """Read the fields of a record; they are written like it unless they say otherwise."""
    same = {"locale": record.locale, "zone": record.zone, "currency": record.currency}
    found: dict[str, Attribute] = {}
    for name, said, place in named(given, tidy, page):
        if more := table(said).keys() - set(IN_A_RECORD):
            fix = f"Say it of {record.name}: its fields are decided together (RF-05)"
            place.wrong(f"a field of a record has no {', '.join(sorted(more))}", fix)
            continue
        found[name] = one = _attribute(name, said, same, place)
        check(one, place)
    return found


def _rules(given: object, page: Page) -> dict[str, Any]:
    before: Before = {
        "lease": lambda text: _span(text) / MILLION,
        "escalate": lambda texts: [_span(text) / MILLION for text in _list(texts)],
    }
    taken = read(DisputeRules, given, page, before)
    ages = taken.get("escalate_seconds", ())
    if tuple(sorted(set(ages))) != ages:
        page.within("escalate").wrong("its ages do not ascend", 'Write them like ["1d", "3d"]')
    if taken.get("lease_seconds") == 0:
        page.within("lease").wrong("it would be over at once", "Write it like 30m")
    return taken


def _names(given: object, page: Page) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, one, place in named(given, tidy, page):
        if isinstance(one, str):
            found[name] = one
        else:
            place.wrong("it is no text", 'Write it like book = "isbn"')
    return found


def _hierarchies(given: object, page: Page) -> dict[str, dict[str, str]]:
    return {
        name: nested(tables(one, place), place) for name, one, place in named(given, tidy, page)
    }


def _span(text: object) -> int:
    if isinstance(text, str):
        return duration(text)
    raise ValueError("it is no duration such as 30d, 2h or 1h30m, in quotes")


def _list(given: object) -> list[Any]:
    if (found := members(given)) is None:
        raise ValueError("it is no list")
    return found


def _tiers(given: object) -> list[Any]:
    """Let a tier of one kind stand without brackets."""
    return [one if members(one) is not None else [one] for one in _list(given)]


def _name(given: object) -> object:
    return tidy(given) if isinstance(given, str) else given


def _options(given: object) -> object:
    """Let options without other spellings be a list."""
    found = members(given)
    return given if found is None else dict.fromkeys(found, ())


def _amount(given: object) -> object:
    """Let an amount stand without quotes."""
    plain = isinstance(given, int | float) and not isinstance(given, bool)
    return str(given) if plain else given


_BEFORE: Before = {
    "freshness": _span,
    "evidence": _tiers,
    "options": _options,
    "tolerance": _amount,
    "hierarchy": _name,
}
