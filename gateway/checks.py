"""What can be said of variables only once the points are declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .errors import Fault
from .settings import CURRENT, GLOBALS, PREFIX, SUFFIXES
from .wrapping import misfits

if TYPE_CHECKING:
    from .points import DecisionPoint
    from .wiring import Wiring
    from .wrapping import Wrapped


def faults(
    wiring: Wiring, wrapped: Iterable[Wrapped], spellings: Mapping[str, set[str]]
) -> Iterable[Fault]:
    """List what keeps a declared point from working."""
    for suffix, names in spellings.items():
        if len(names) > 1:
            problem = f"{' and '.join(sorted(map(repr, names)))} share these variables"
            yield Fault(f"{PREFIX}{suffix}_…", problem, "Rename one of the points")
        if any(f"{PREFIX}{suffix}_{ending}" in GLOBALS for ending in SUFFIXES):
            yield Fault(suffix, "a global variable has this name", "Rename the point")
    for one in wrapped:
        if wiring.wired(one.point).plan.provider != CURRENT:
            yield from misfits(one, wiring.settings.globals.language)


def oddities(wiring: Wiring, asked: Mapping[str, DecisionPoint]) -> list[Fault]:
    """List what is odd, but no error unless `DECISION_STRICT` is set."""
    known = {**wiring.plugins.points, **asked}
    return [
        *wiring.settings.unread(known.values()),
        *_idle(wiring, asked),
        *_masked(wiring, asked),
    ]


def broken(wiring: Wiring) -> list[Fault]:
    """List the plug-ins that cannot be loaded and that nobody needs."""
    fix = "Repair or uninstall it, or leave it out of DECISION_PLUGINS"
    return [
        Fault(name, f"this plug-in cannot be loaded ({why})", fix)
        for name, why in wiring.plugins.broken.items()
    ]


def _idle(wiring: Wiring, asked: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """Catalogue names with a provider of their own that nothing here asks."""
    if wiring.stands_in:  # the command and servers are asked at run time, for hosts elsewhere
        return
    reached = {name for point in asked.values() for name in point.names}
    for name, group in wiring.settings.points.items():
        unasked = name in wiring.plugins.points and name not in reached
        if unasked and group.provider not in (None, CURRENT):
            problem = "nothing in this process asks this point"
            yield Fault(f"{PREFIX}{name}_PROVIDER", problem, "Wrap it, or unset the variable")


def _masked(wiring: Wiring, asked: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """A global provider that no asked point takes, since each has a line of its own."""
    chosen = wiring.settings.globals.provider
    if chosen == CURRENT or not asked:
        return
    if all(
        wiring.wired(point).plan.why["provider"] != "DECISION_PROVIDER" for point in asked.values()
    ):
        problem = f"{chosen!r} changes nothing: every point has a provider line of its own"
        yield Fault(
            "DECISION_PROVIDER", problem, "Unset the lines of the points that should inherit"
        )
