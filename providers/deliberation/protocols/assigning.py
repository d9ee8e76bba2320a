"""Who speaks for which role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....gateway.errors import DeclarationError
from ..panel import Member
from ..roles import Role, get_role

__all__ = ["assigned"]


def assigned(roles: Sequence[Role | str], providers: str | Mapping[str, str]) -> list[Member]:
    """
    Make a panel of *roles*, each member called as its role is.

    Args:
        roles: Roles, or names of registered ones.
        providers: One for all of them, or role → provider.

    Raises:
        DeclarationError: No such role, or a role without a provider; it is named.

    """
    given = [get_role(one) if isinstance(one, str) else one for one in roles]
    if isinstance(providers, str):
        return [Member(name=one.name, provider=providers, role=one) for one in given]
    missing = [one.name for one in given if one.name not in providers]
    if missing:
        raise DeclarationError(f"the role {missing[0]!r} has no provider: nobody speaks for it")
    return [Member(name=one.name, provider=providers[one.name], role=one) for one in given]
