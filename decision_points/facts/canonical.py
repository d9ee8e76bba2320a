"""One fact, one key: names in one form, and ids as their kind is written (RF-01, RF-02)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from .errors import Refused
from .keys import FactKey, seen, tidy
from .values.identifiers import IDENTIFIERS, identifier
from .values.texts import unfit

CANONICALISERS: Final = ("text", "exact", *IDENTIFIERS)
"""How ids of a type of entity may be written: without regard to case, as they are, or by kind."""

LONGEST: Final = 500  # characters of a name or an id

_NONE: Mapping[str, str] = MappingProxyType({})


def key_of(
    namespace: str,
    entity: str,
    attribute: str,
    qualifiers: Mapping[str, str] = _NONE,
    *,
    entities: Mapping[str, str] = _NONE,
) -> FactKey:
    """
    Name a fact.

    Args:
        namespace: The operator's name for it; taken as it is.
        entity: What the fact is about: `acme`, or with a type `book:0-306-40615-2`.
        attribute: What is said of it.
        qualifiers: What else tells it from others, in any order.
        entities: Type → canonicaliser, of `CANONICALISERS`, for entities written with a type.

    Returns:
        The same key however names are composed, spaced or capitalised.

    Raises:
        Refused: `bad_key`: a name is empty, too long or has characters that nobody can read; two
            qualifiers are one; an id is none of its kind.

    """
    if not namespace:
        raise Refused("bad_key", "the namespace has no name")
    return FactKey(
        namespace,
        _entity(entity, entities),
        _name("attribute", attribute),
        _qualifiers(qualifiers) if qualifiers else (),
    )


def _entity(entity: str, entities: Mapping[str, str]) -> str:
    kind, colon, name = entity.partition(":")
    how = entities.get(tidy(kind), "text") if colon and entities else "text"
    if how == "text":
        return _name("entity", entity)
    kind, name = _name("entity", kind), seen(_checked("entity", name))
    if how == "exact":
        return f"{kind}:{name}"
    try:
        return f"{kind}:{identifier(how)(name)}"
    except Refused as refused:
        raise Refused("bad_key", f"the entity: {refused.problem}", refused.fix) from None


def _qualifiers(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    found = sorted((_name("qualifier", one), _name("qualifier", given[one])) for one in given)
    if len({name for name, _ in found}) < len(found):
        raise Refused("bad_key", "two of the qualifiers have one name", "Give each of them once")
    return tuple(found)


@lru_cache(maxsize=16_384)
def _name(where: str, text: str) -> str:
    return tidy(_checked(where, text))


def _checked(where: str, text: str) -> str:
    problem = unfit(text)
    if not problem and not seen(text):
        problem = "is empty"
    if not problem and len(text) > LONGEST:
        problem = f"is longer than {LONGEST} characters"
    if problem:
        raise Refused("bad_key", f"the {where} {problem}")
    return text
