"""
`current`: what decides where the host has no path of its own.

In a program, `current` is the wrapped function, and no provider. The command and servers
wrap nothing: there it is the provider that `CURRENT_PROVIDER` names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_settings import BaseSettings

from ..gateway.errors import SetupError
from ..gateway.variables import ProviderName

if TYPE_CHECKING:
    from ..gateway.plugins import Provider, Setup


class CurrentSettings(BaseSettings):
    """What stands in for the host."""

    provider: ProviderName = Field("local", alias="CURRENT_PROVIDER")


def current(setup: Setup) -> Provider:
    """
    Give the provider that stands in.

    Raises:
        SetupError: `CURRENT_PROVIDER` names `current` itself, or nothing that is installed.

    """
    name = setup.read(CurrentSettings).provider
    if name == setup.name:
        fix = "Name a provider, for example local"
        raise SetupError.of("CURRENT_PROVIDER", "it names itself", fix)
    return setup.provider(name)
