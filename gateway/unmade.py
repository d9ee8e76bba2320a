"""Why a provider is not there: nobody offers it, or it would have to be made of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import Fault
from .settings import CURRENT

if TYPE_CHECKING:
    from .discovery import Plugins


def circle(making: Sequence[str], variable: str) -> Fault:
    """Say that a provider needs itself to be made, and by way of whom."""
    way = making[making.index(making[-1]) :]
    problem = f"providers cannot be made of each other: {' → '.join(way)}"
    return Fault(variable or way[0], problem, "Let one of them leave out the one after it")


def unknown(name: str, variable: str, plugins: Plugins) -> Fault:
    """Say that no plug-in offers the provider *name*, and what could be meant."""
    import difflib  # only a wrong name needs it, and every process imports this module

    installed = sorted({*plugins.offers, CURRENT})
    near = difflib.get_close_matches(name, installed, n=1)
    problem = f"no provider {name!r} is installed"
    if plugins.broken:
        broken = ", ".join(f"{plugin} ({why})" for plugin, why in sorted(plugins.broken.items()))
        problem += f"; these plug-ins cannot be loaded and may offer it: {broken}"
    hint = f"Did you mean {near[0]}? " if near else ""
    return Fault(variable or name, problem, f"{hint}Installed: {', '.join(installed)}")
