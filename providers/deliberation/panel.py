"""
Members: who takes part in a deliberation, as which role.

A member is a reference to any provider, by the name that variables give it, or a function of
the host's that `members` offers as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

import msgspec
from pydantic import TypeAdapter, ValidationError

from ...gateway.errors import DeclarationError
from ...gateway.variables import ProviderName
from .functions import members
from .roles import Role, get_role

__all__ = ["Member", "members", "seated"]


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """
    One seat of a panel.

    Attributes:
        name: Unique in its panel.
        provider: Who speaks: `jev`, `chat/fast`, `local`, `current`, or a function's name.
        role: As what.

    Raises:
        DeclarationError: The name is empty, or has a blank, a colon, a comma or `=` in it.

    """

    name: str
    provider: str
    role: Role

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^\s:,=]+", self.name):
            raise DeclarationError(f"a member's name has no blanks and none of :,= ; {self.name!r}")


def seated(text: str, roles: Mapping[str, Role] | None = None) -> tuple[Member, ...]:
    """
    Read a panel: `jev,chat/fast,cfo=chat/a`.

    A seat without a name is called as its provider is; the second one of a provider is
    `chat/fast#2`. Its role is the one of its name among *roles*, else among those that are
    registered, else the generalist's under its name.

    Raises:
        ValueError: A seat is empty, or two have one name; the text says which.

    """
    if not text.strip():
        raise ValueError("it names nobody; name providers: jev,local,chat/fast")
    seats = [_seat(one.strip()) for one in text.split(",")]
    found = tuple(
        Member(name=name, provider=provider, role=_role(given, roles or {}))
        for name, given, provider in _named(seats)
    )
    twice = [name for name, many in Counter(one.name for one in found).items() if many > 1]
    if twice:
        raise ValueError(f"two members are called {twice[0]!r}; each needs its own name")
    return found


def _seat(text: str) -> tuple[str, str]:
    name, named, provider = text.rpartition("=")
    name, provider = name.strip(), provider.strip()
    if not provider or (named and not name):
        raise ValueError("a member is a provider, or name=provider; separate them by commas")
    return name, _reference(provider)


def _reference(provider: str) -> str:
    try:
        return _adapter().validate_python(provider)
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


@cache
def _adapter() -> TypeAdapter[str]:
    return TypeAdapter(ProviderName)


def _named(seats: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Give each seat its name in the panel, the name it was given, and its provider."""
    seen: Counter[str] = Counter()
    for given, provider in seats:
        if given:
            yield given, given, provider
            continue
        seen[provider] += 1
        number = seen[provider]
        yield provider if number == 1 else f"{provider}#{number}", "", provider


def _role(name: str, roles: Mapping[str, Role]) -> Role:
    if name in roles:
        return roles[name]
    if not name:
        return get_role("generalist")
    try:
        return get_role(name)
    except DeclarationError:
        return _unwritten(name)


def _unwritten(name: str) -> Role:
    """Let a member that nobody wrote a role for speak as a generalist under its own name."""
    general = get_role("generalist")
    try:
        return Role(name=name, instructions=general.instructions)
    except DeclarationError:
        raise ValueError(f"a member's name is letters, digits, - and _; got {name!r}") from None
