"""How plug-ins are found: by entry point, each loaded and asked in its own `try`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pluggy

from .errors import Fault, SetupError, raise_all
from .masking import MaskOffer
from .plugins import PROJECT, Hooks, Make, Observer, Offer

if TYPE_CHECKING:
    from .points import DecisionPoint


HOOKS = {
    "provider": "pointsman_providers",
    "mask": "pointsman_masks",
    "decision point": "pointsman_points",
    "command": "pointsman_commands",
    "tool": "pointsman_tools",
}


class Plugins(msgspec.Struct, frozen=True):
    """
    What all plug-ins offer together.

    Attributes:
        offers: Provider name → offer.
        masks: Mask name → offer.
        points: Point name → declaration.
        commands: Sub-command name → function that returns a Typer app.
        tools: Tool name → function.
        observers: Plug-in name and observer, in the order of discovery.
        broken: Plug-in name → the kind of error that kept it from loading.

    """

    offers: Mapping[str, Offer]
    masks: Mapping[str, MaskOffer]
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
        SetupError: Two plug-ins offer one name, or one offers a name that no variable can
            say; one given by hand has no hook; an allowed one is broken or not installed.

    """
    found = _Found()
    for entry in _installed():
        own = entry.dist is not None and entry.dist.name == PROJECT
        if own or allowed is None or entry.name in allowed:
            found.add(entry.name, entry.load)
    for plugin in added:
        name = getattr(plugin, "__name__", type(plugin).__name__)
        found.add(name, partial(_itself, plugin), by_hand=True)
    raise_all([*found.clashes, *_not_allowed(allowed or (), found)])
    return found.plugins()


def named(observers: Sequence[Observer]) -> tuple[tuple[str, Observer], ...]:
    """
    Give the observers that were passed by hand, each with its name.

    Raises:
        SetupError: One cannot be called.

    """
    given: Sequence[object] = observers
    fix = "Pass functions of one record"
    raise_all(
        Fault("observers", f"{type(one).__name__} cannot be called", fix)
        for one in given
        if not callable(one)
    )
    return tuple((getattr(one, "__name__", repr(one)), one) for one in observers)


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

    def add(self, name: str, load: Callable[[], object], *, by_hand: bool = False) -> None:
        try:
            hook, hooked = _hooks_of(load())
            offered = {what: _offered(hook, what) for what in HOOKS}
            observers = [one for some in hook.pointsman_observers() for one in some]
        except Exception as error:  # noqa: BLE001 - a stranger's import may raise anything
            self.broken[name] = type(error).__name__
            return
        self.names.add(name)
        self._observers += [(name, observer) for observer in observers]
        for what, pairs in offered.items():
            for offer, value in pairs:
                self._take(name, what, offer, value)
        for what in ("provider", "mask"):
            self.clashes += _misoffered(name, what, offered[what])
        if not all(callable(one) for one in observers):
            problem = "an observer of this plug-in cannot be called"
            self.clashes.append(Fault(name, problem, "Repair it"))
        if by_hand and not hooked:
            fix = "Pass a module or object with @hookimpl functions"
            self.clashes.append(Fault(f"plugins: {name}", "it has no hook of Pointsman", fix))

    def _take(self, plugin: str, what: str, name: str, value: object) -> None:
        taken = self._offered.setdefault(what, {})
        if name in taken:
            problem = f"the plug-ins {taken[name][0]!r} and {plugin!r} both offer this {what}"
            fix = "Uninstall one, or choose with DECISION_PLUGINS"
            if taken[name][0] == plugin:
                problem, fix = f"the plug-in {plugin!r} offers this {what} twice", "Repair it"
            self.clashes.append(Fault(name, problem, fix))
        taken.setdefault(name, (plugin, value))

    def plugins(self) -> Plugins:
        def offered(what: str) -> dict[str, Any]:
            return {name: value for name, (_, value) in self._offered.get(what, {}).items()}

        return Plugins(
            offers=offered("provider"),
            masks=offered("mask"),
            points=offered("decision point"),
            commands=offered("command"),
            tools=offered("tool"),
            observers=self._observers,
            broken=self.broken,
        )


def _offered(hook: Any, what: str) -> list[tuple[str, Any]]:  # noqa: ANN401 - pluggy's relay
    return [pair for some in getattr(hook, HOOKS[what])() for pair in _pairs(some)]


def _pairs(some: Any) -> Iterable[tuple[str, Any]]:  # noqa: ANN401 - a stranger's
    if isinstance(some, Mapping):
        return cast("Mapping[str, Any]", some).items()
    return [(one.name, one) for one in some]


def _misoffered(plugin: str, what: str, offers: Iterable[tuple[str, Any]]) -> Iterable[Fault]:
    """Names that no variable could say."""
    for name, _ in offers:
        if not re.fullmatch("[a-z0-9][a-z0-9_-]*", name):
            problem = f"it offers the {what} {name!r}, which no variable can name"
            yield Fault(plugin, problem, "Call it by lower-case letters, digits, - and _")


def _hooks_of(plugin: object) -> tuple[Any, bool]:
    """Give pluggy's relay to the hooks of *plugin*, and whether it has any."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    manager.register(plugin)
    manager.check_pending()
    return manager.hook, bool(manager.get_hookcallers(plugin))


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
