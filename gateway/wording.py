"""What the parts of a declared question must be: texts that say something, names once each."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, cast

from .errors import DeclarationError
from .state import clean


def described(given: object, what: str) -> dict[str, str]:
    """
    Read options or levels: name → description, names alone, or an Enum.

    Raises:
        DeclarationError: One is empty, repeated or no text; or their order is not fixed.

    """
    if isinstance(given, Mapping):
        pairs = list(cast("Mapping[object, object]", given).items())
    else:
        pairs = [(name, "") for name in _in_order(given, what)]
    texts: dict[str, str] = {}
    name: Any
    text: Any
    for name, text in pairs:  # menus come with calls: what is plain is taken as it is
        plain = type(name) is str and name.isascii() and name.strip()
        known = type(text) is str and text.isascii()
        texts[name if plain else _name(name, what)] = text if known else _description(text, what)
    if len(texts) != len(pairs):
        raise DeclarationError(f"an {what} is named twice")
    return texts


def _in_order(given: object, what: str) -> Iterable[object]:
    if isinstance(given, str):
        raise DeclarationError(f"{what}s are several names, not one text")
    if isinstance(given, set | frozenset):
        raise DeclarationError(f"{what}s in a set have no order; give a list")
    if not isinstance(given, Iterable):
        found = type(given).__name__
        raise DeclarationError(f"{what}s are names, or name → description; got {found}")
    return cast("Iterable[object]", given)


def _name(name: object, what: str) -> str:
    if isinstance(name, enum.Enum):  # by its value, as it is written; else by its name
        name = name.value if isinstance(name.value, str) else name.name
    if not is_name(name):
        raise DeclarationError(f"an {what}'s name is a text that says something{_got(name)}")
    return clean(cast("str", name))


def _description(text: object, what: str) -> str:
    if text is not None and not isinstance(text, str):
        raise DeclarationError(f"the description of an {what} is a text{_got(text)}")
    return clean(text) if text else ""


def is_name(name: object) -> bool:
    """Whether *name* is a text that says something."""
    return isinstance(name, str) and bool(name.strip())


def said(instructions: object) -> str:
    """
    Read the question itself.

    Raises:
        DeclarationError: It is no text, or says nothing.

    """
    if not isinstance(instructions, str):
        raise DeclarationError(f"the instructions are a text{_got(instructions)}")
    if not instructions.strip():
        raise DeclarationError("the instructions are empty")
    return clean(instructions)


def meaning(text: object, what: str) -> str:
    """
    Read what *true* or *false* means, on one line: the wire has no more room.

    Raises:
        DeclarationError: It is no text.

    """
    if not isinstance(text, str):
        raise DeclarationError(f"what {what} means is a text{_got(text)}")
    return " ".join(clean(text).split()) if text else ""


def without_meanings(instructions: str, true: str, false: str) -> tuple[str, str, str]:
    """
    Take meanings that stand as last lines of *instructions* to where they belong.

    One question then has one form, whether it was declared or read from the wire.
    """
    found = {"false": false, "true": true}
    while "\n" in instructions:
        head, _, last = instructions.rpartition("\n")
        word, mark, text = last.partition(": ")
        if not (mark and text.strip() and head.strip()) or found.get(word) != "":
            break
        instructions, found[word] = head, meaning(text, word)
    return instructions, found["true"], found["false"]


def number(value: object, what: str) -> float:
    """
    Read a bound of a score.

    Raises:
        DeclarationError: It is no number.

    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DeclarationError(f"`{what}` is a number{_got(value)}")
    return value


def between(count: int, bounds: tuple[int, int], what: str) -> None:
    """
    Check how many there are.

    Raises:
        DeclarationError: Too few or too many.

    """
    if not bounds[0] <= count <= bounds[1]:
        raise DeclarationError(f"{count} {what}; between {bounds[0]} and {bounds[1]} can be asked")


def _got(value: object) -> str:
    return f"; got {type(value).__name__}"
