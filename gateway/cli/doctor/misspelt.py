"""Variables of providers that nothing reads, though one that is read has nearly their name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from ...errors import Fault
from ...misspelt import nearest_behind
from .secrets import read_by

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...plugins import Offer


def misspelt(gateway: Gateway, offers: Iterable[Offer], told: Collection[str]) -> Iterator[Fault]:
    """List the variables of offered providers that were meant to be others, unless *told*."""
    read = gateway.settings.read_of_providers
    left = set(gateway.settings.variables.values) - read - set(told)
    for offer in offers:
        prefix = f"{offer.name.upper().replace('-', '_')}_"
        given = {name for name in left if name.startswith(prefix)}
        known = read_by(gateway, offer) | read if given else set[str]()
        for name in sorted(given - known):
            if near := nearest_behind(prefix, name, known):
                fix = f"Did you mean {near}? Correct it, or unset it"
                yield Fault(name, "nothing reads it", fix)
