"""Which fact: a namespace, an entity, an attribute, and what tells one such fact from another."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, unquote

import msgspec

_UNSAFE = re.compile(r"[^\w :|,.@+~-]")  # all but what stands in a written key as it is

_UNSEEN = re.compile("[\xad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff]")
"""Characters that nobody sees: soft hyphens, zero-width spaces, marks of direction."""


class FactKey(msgspec.Struct, frozen=True, order=True):
    """
    One fact, in canonical form: two that mean the same are equal (RF-01).

    It is made by `key_of`, which brings names into that form; made by hand it is taken as it is.

    Attributes:
        namespace: Nothing of one is seen from another (RF-79).
        entity: What it is about, as its type writes ids.
        attribute: What is said of it.
        qualifiers: Name and value, by name: a contract, a period, a region.

    """

    namespace: str
    entity: str
    attribute: str
    qualifiers: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Write it as commands take it, without its namespace: `acme/price?contract=c1`."""
        more = "&".join(f"{_escaped(name)}={_escaped(value)}" for name, value in self.qualifiers)
        plain = f"{_escaped(self.entity)}/{_escaped(self.attribute)}"
        return f"{plain}?{more}" if more else plain


def seen(text: str) -> str:
    """Write *text* with composed characters, one space for each run of them, nothing unseen."""
    if text.isascii():
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFC", _UNSEEN.sub("", text)).split())


def tidy(text: str) -> str:
    """Write *text* as names are compared: as `seen`, and without regard to case."""
    if text.isascii():
        return " ".join(text.lower().split())
    return seen(unicodedata.normalize("NFD", seen(text)).casefold())


def _escaped(text: str) -> str:
    return _UNSAFE.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    one = found[0]
    return one if unicodedata.category(one).startswith("M") else quote(one, safe="")


def parts(written: str) -> tuple[str, str, dict[str, str]]:
    """
    Take apart what `str(key)` wrote, or a person did: entity, attribute, qualifiers.

    The attribute follows the last slash; a slash, `?`, `&`, `=` or `%` of a name is written `%2F`
    and so on.

    Raises:
        ValueError: It is no key.

    """
    plain, _, more = written.partition("?")
    entity, slash, attribute = plain.rpartition("/")
    if not (slash and entity and attribute):
        raise ValueError(f"{written!r} is no key: write ENTITY/ATTRIBUTE or E/A?name=value")
    qualifiers: dict[str, str] = {}
    for one in more.split("&") if more else ():
        name, equals, value = one.partition("=")
        if not (equals and name):
            raise ValueError(f"{one!r} is no qualifier: write name=value")
        qualifiers[unquote(name)] = unquote(value)
    return unquote(entity), unquote(attribute), qualifiers
