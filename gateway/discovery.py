"""How plug-ins are found: by entry point, each loaded and asked in its own `try`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

import msgspec
import pluggy

from .errors import Fault, SetupError, raise_all
from .plugins import PROJECT, Hooks, Make, Observer, Offer

if TYPE_CHECKING:
    from .points import DecisionPoint


class Plugins(msgspec.Struct, frozen=True):
    """
    What all plug-ins offer together.

    Attributes:
        offers: Provider name → offer.
        points: Point name → declaration.
        commands: Sub-command name → function that returns a Typer app.
        tools: Tool name → function.
        observers: Plug-in name and observer, in the order of discovery.
        broken: Plug-in name → the kind of error that kept it from loading.

    """

    offers: Mapping[str, Offer]
    points: Mapping[str, DecisionPoint]
    commands: Mapping[str, Callable[[], Any]]
    tools: Mapping[str, Callable[..., Any]]
    observers: Sequence[tuple[str, Observer]]
    broken: Mapping[str, str]


def discover(allowed: Sequence[str] | None = None, added: Sequence[object] = ()) -> Plugins:
    """
    Find every plug-in that is installed and *allowed* (None: all), and those *added* by hand.

    The package's own are always allowed. One that cannot be loaded is listed as broken.

    Raises:
        SetupError: Two plug-ins offer one name; an allowed one is broken or not installed.

    """
    found = _Found()
    for entry in _installed():
        own = entry.dist is not None and entry.dist.name == PROJECT
        if own or allowed is None or entry.name in allowed:
            found.add(entry.name, entry.load)
    for plugin in added:
        found.add(getattr(plugin, "__name__", type(plugin).__name__), partial(_itself, plugin))
    raise_all([*found.clashes, *_not_allowed(allowed or (), found)])
    return found.plugins()


def _itself(plugin: object) -> object:
    return plugin


def _installed() -> list[EntryPoint]:
    seen = {(entry.name, entry.value): entry for entry in entry_points(group=PROJECT)}
    return sorted(seen.values(), key=lambda entry: entry.name)


def _not_allowed(allowed: Sequence[str], found: _Found) -> Iterable[Fault]:
    for name in allowed:
        if name in found.broken:
            problem = f"the plug-in {name!r} cannot be loaded ({found.broken[name]})"
            yield Fault("DECISION_PLUGINS", problem, "Repair or uninstall it, or take it out")
        elif name not in found.names:
            problem = f"no plug-in {name!r} is installed"
            yield Fault("DECISION_PLUGINS", problem, "Install it, or correct its name")


class _Found:
    """Plug-ins as they are met: each loaded and asked in its own `try`."""

    def __init__(self) -> None:
        self._offered: dict[str, dict[str, tuple[str, Any]]] = {}
        self._observers: list[tuple[str, Observer]] = []
        self.names: set[str] = set()
        self.broken: dict[str, str] = {}
        self.clashes: list[Fault] = []

    def add(self, name: str, load: Callable[[], object]) -> None:
        try:
            hook = _hooks_of(load())
            offered = {
                "provider": {
                    offer.name: offer for some in hook.pointsman_providers() for offer in some
                },
                "decision point": {
                    one.name: one for some in hook.pointsman_points() for one in some
                },
                "command": {k: v for some in hook.pointsman_commands() for k, v in some.items()},
                "tool": {k: v for some in hook.pointsman_tools() for k, v in some.items()},
            }
            observers = [one for some in hook.pointsman_observers() for one in some]
        except Exception as error:  # noqa: BLE001 - a stranger's import may raise anything
            self.broken[name] = type(error).__name__
            return
        self.names.add(name)
        self._observers += [(name, observer) for observer in observers]
        for what, by_name in offered.items():
            for offer, value in by_name.items():
                self._take(name, what, offer, value)

    def _take(self, plugin: str, what: str, name: str, value: object) -> None:
        taken = self._offered.setdefault(what, {})
        if name in taken:
            problem = f"the plug-ins {taken[name][0]!r} and {plugin!r} both offer this {what}"
            fix = "Uninstall one, or choose with DECISION_PLUGINS"
            self.clashes.append(Fault(name, problem, fix))
        taken.setdefault(name, (plugin, value))

    def plugins(self) -> Plugins:
        def offered(what: str) -> dict[str, Any]:
            return {name: value for name, (_, value) in self._offered.get(what, {}).items()}

        return Plugins(
            offers=offered("provider"),
            points=offered("decision point"),
            commands=offered("command"),
            tools=offered("tool"),
            observers=self._observers,
            broken=self.broken,
        )


def _hooks_of(plugin: object) -> Any:  # noqa: ANN401 - pluggy's relay has no type of its own
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    manager.register(plugin)
    manager.check_pending()
    return manager.hook


def load(offer: Offer) -> Make:
    """
    Import what an *offer* needs.

    Raises:
        SetupError: A library is missing; the error names the extra that brings it.

    """
    try:
        return offer.load()
    except ImportError as error:
        missing = error.name or "a library"
        fix = f'Run: pip install "{offer.extra}"' if offer.extra else "Install it"
        raise SetupError.of(offer.name, f"{missing} is not installed", fix) from error
