"""Providers under names of their own, and a journal to look into: what tests of trials share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pointsman import Gateway, Offer, Setup, hookimpl
from pointsman.gateway.journal.rows import Trail
from pointsman.gateway.journal.store import FirstExposure, Store

POINT = "TEAM"


class Offers:
    """A plug-in that offers providers, made already."""

    def __init__(self, providers: Mapping[str, Any]) -> None:
        self._providers = providers

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        """Offer them."""
        return [Offer(name, partial(_making, made)) for name, made in self._providers.items()]


def _making(made: Any) -> Callable[[Setup], Any]:
    return lambda _: made


def offering(
    environ: Mapping[str, str] | None = None, /, *, observers: Any = (), **providers: Any
) -> Gateway:
    """Make a gateway from variables alone that knows *providers* by name."""
    said = {"DECISION_LOG": "off", **(environ or {})}
    return Gateway.from_env(said, plugins=[Offers(providers)], observers=observers)


class Kept:
    """A journal in a folder: the variables that switch it on, and what is in it afterwards."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder / 'decisions.db'}"
        self.variables = {"DECISION_JOURNAL": self.url}

    def trails(self, **wanted: Any) -> list[Trail]:
        """Give every decision, once the gateway is closed."""
        store = Store.open(self.url)
        try:
            return list(store.trails(**wanted))
        finally:
            store.close()

    def exposures(self, point: str, experiment: str) -> list[FirstExposure]:
        """Give each subject's first exposure to a split."""
        store = Store.open(self.url)
        try:
            return list(store.exposures(point, experiment))
        finally:
            store.close()
