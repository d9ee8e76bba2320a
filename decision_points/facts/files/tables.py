"""Tables of a file, read field by field, so that every fault of it is found at once."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, cast, get_args, get_origin

import msgspec

from ....gateway.errors import Fault

Before = Mapping[str, Callable[[Any], Any]]
"""Field → what makes of the text of a file what the field holds; raises ValueError."""

MANY = 100  # faults: more than anybody reads at once

_TYPES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


class Page(msgspec.Struct, frozen=True):
    """
    Where in a file we are, and what was found wrong with it so far.

    Attributes:
        file: Its path, or what it is called where there is no file.
        faults: What is wrong; whoever reads goes on and adds to it.
        at: The table, as `attributes.price`; empty at the top.

    """

    file: str
    faults: list[Fault]
    at: str = ""

    def within(self, *names: str) -> Page:
        """Go into a table of this one."""
        parts = (part for part in (self.at, *names) if part)
        return Page(self.file, self.faults, ".".join(parts))

    def wrong(self, problem: str, fix: str) -> None:
        """Note a fault of this place; of more than `MANY` only that there are more."""
        if len(self.faults) < MANY:
            where = f"{self.file}: {self.at}" if self.at else self.file
            self.faults.append(Fault(where, problem, fix))
        elif not self.full:
            more = Fault(self.file, f"it has more faults than these {MANY}", "Correct these first")
            self.faults.append(more)

    @property
    def full(self) -> bool:
        """Whether no more faults are taken."""
        return len(self.faults) > MANY


def near(name: str, known: Iterable[str], what: str = "Write") -> str:
    """Suggest one of the *known* words for *name*: the nearest, or all if they are few."""
    import difflib

    listed = sorted(known)
    if found := difflib.get_close_matches(name, listed, n=1, cutoff=0.5):
        return f"Did you mean {found[0]!r}?"
    told = ", ".join(listed[:12]) + (", …" if len(listed) > 12 else "")  # noqa: PLR2004 - a line of them
    return f"{what} one of {told}" if listed else "Take it away"


def read(model: type[msgspec.Struct], given: object, page: Page, before: Before) -> dict[str, Any]:
    """
    Convert a table field by field.

    Args:
        model: What it describes: names, as files write them, and types of its fields.
        given: The table.
        page: Where it stands; gets a fault for every unknown name and every wrong value.
        before: Applied to a value before its type is checked.

    Returns:
        What is right, under the names of the model's fields.

    """
    if not _is_table(given):
        page.wrong("it is no table", "Write a table of names and values")
        return {}
    fields, said = _fields(model), table(given)
    for name in said.keys() - fields.keys():
        page.within(name).wrong("there is no such setting", near(name, fields))
    taken: dict[str, Any] = {}
    for name in (one for one in fields if one in said):
        try:
            value = before[name](said[name]) if name in before else said[name]
            if fields[name].type is not Any and _endless(value):
                page.within(name).wrong("it is no finite number", "Write one, or take it away")
            else:
                taken[fields[name].name] = msgspec.convert(value, fields[name].type)
        except msgspec.ValidationError as error:
            page.within(name).wrong(*_told(str(error), fields[name].type))
        except (ValueError, TypeError) as error:
            page.within(name).wrong(str(error), "Correct it")
    return taken


def _endless(given: object) -> bool:
    """Whether a number in it is `inf` or `nan`, which JSON has not: it would come back as null."""
    if isinstance(given, float):
        return not math.isfinite(given)
    return any(map(_endless, members(given) or table(given).values()))


def written(one: msgspec.Struct) -> dict[str, Any]:
    """Give what of *one* is not as it is by default, as JSON, under the names that files use."""
    plain = msgspec.json.decode(msgspec.json.encode(one))
    fields = _fields(type(one))
    return {
        name: each
        for name, each in plain.items()
        if getattr(one, fields[name].name) != _default(fields[name])
    }


def _default(field: msgspec.structs.FieldInfo) -> object:
    made = field.default_factory
    return field.default if made is msgspec.NODEFAULT else made()


@functools.cache
def _fields(model: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {one.encode_name: one for one in msgspec.structs.fields(model)}


def members(given: object) -> list[Any] | None:
    """Give what a list holds; None: it is no list."""
    return list(cast("Iterable[Any]", given)) if isinstance(given, list | tuple) else None


def table(given: object) -> dict[str, Any]:
    """Give what a table holds; of anything else, which is a fault elsewhere, nothing."""
    return dict(cast("Mapping[str, Any]", given)) if _is_table(given) else {}


def _is_table(given: object) -> bool:
    return isinstance(given, Mapping)


def tables(given: object, page: Page) -> dict[str, Any]:
    """Take a table of tables apart; what is none is a fault of *page*."""
    if _is_table(given):
        return table(given)
    page.wrong("it is no table", f"Write [{page.at}.NAME] and below it what holds for NAME")
    return {}


def named(given: object, name: Callable[[str], str], page: Page) -> Iterator[tuple[str, Any, Page]]:
    """Give the tables of a table, each under the one form of its *name*, with its place."""
    written: dict[str, str] = {}
    for text, one in tables(given, page).items():
        form, place = name(text), page.within(text)
        if not form:
            place.wrong("its name is empty", "Give it a name")
        elif form in written:
            place.wrong(f"it is the same name as {written[form]!r}", "Write it once")
        else:
            written[form] = text
            yield form, one, place


def _told(message: str, kind: Any) -> tuple[str, str]:  # noqa: ANN401 - a type form
    """Say in plain words what msgspec found, and what to write instead."""
    if word := re.match(r"Invalid enum value '(.*?)'(?: - at|$)", message):
        return f"it cannot be {word[1]!r}", near(word[1], _words(kind))
    message = re.sub(r"\s*- at `\$(.*?)`", "", message)
    plain = re.sub(r"`(\w+)`", lambda found: _TYPES.get(found[1], found[1]), message)
    return f"it is of the wrong form: {plain[0].lower()}{plain[1:]}", "Correct it"


def _words(kind: Any) -> list[str]:  # noqa: ANN401 - a type form
    """Give the words that a type allows, wherever in it."""
    if get_origin(kind) is Literal:
        return [str(one) for one in get_args(kind)]
    return [word for one in get_args(kind) for word in _words(one)]
