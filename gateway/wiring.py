"""
Plans and lanes as they stand now: what a reload swaps, whole, in one assignment.

A decision takes the wiring once, at its beginning, so that a reload in its middle changes
nothing for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import weakref
from collections.abc import Generator, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from . import unbuilt
from .acceptance import Gate
from .asking import Asking
from .discovery import Plugins, load
from .errors import Fault, PointsmanError, SetupError
from .forks import Lock
from .masking import mask_of
from .plugins import Others, Provider, Setup
from .resilience import Lane
from .settings import CURRENT, PREFIX, Plan, Settings

if TYPE_CHECKING:
    from .points import DecisionPoint
    from .runtime import Runtime
    from .telemetry import Telemetry

OVERRIDE = "override"
CLOSING = 5.0  # seconds that a provider may take to close


class Wired(msgspec.Struct, frozen=True):
    """
    One point, ready to be decided.

    Attributes:
        point: The declaration that was wired.
        plan: Its plan.
        planned: The planned provider's lane; None if the plan is `current`.
        behind: The stand-in's lane, where the gateway has one.
        own_gate: The stand-in's own gate.

    """

    point: DecisionPoint
    plan: Plan
    planned: Lane | None
    behind: Lane | None
    own_gate: Gate | None


class Wiring:
    """Settings, plug-ins, and the lanes and plans made of them so far."""

    def __init__(
        self,
        settings: Settings,
        plugins: Plugins,
        gateway: Others,
        telemetry: Telemetry,
        runtime: Runtime,
        *,
        stand_in: bool,
    ) -> None:
        self.settings = settings
        self.plugins = plugins
        self.telemetry = telemetry
        self.asking = Asking(runtime, telemetry, gateway)
        self._runtime = runtime
        self.gateway = gateway
        self._stand_in = stand_in
        self._lock = Lock()
        self._lanes: dict[str, Lane] = {}
        self._wired: dict[str, Wired] = {}

    @property
    def stands_in(self) -> bool:
        """Whether a provider decides where the host has no path of its own."""
        return self._stand_in

    def faults(self) -> Iterable[Fault]:
        """Make every selected provider, and list what is wrong with them."""
        selected = self.settings.selected()
        if self._stand_in:
            selected["CURRENT_PROVIDER"] = CURRENT
        found = [
            fault for variable, name in selected.items() for fault in self._wrong(variable, name)
        ]
        return dict.fromkeys(found)

    def _wrong(self, variable: str, name: str) -> Iterable[Fault]:
        if ":" in name:  # a split, which is a fault already
            return
        yield from unbuilt.of_provider(name, self.settings.variables.values)
        finds = (
            partial(self.lane, name, variable),
            partial(self.settings.own_minimum, name),
            partial(mask_of, name, self.settings, self.plugins),
        )
        for find in finds:
            try:
                find()
            except SetupError as error:
                for fault in error.faults:  # a stand-in's unknown name is its variable's fault
                    named = fault.where != name and not fault.where.islower()
                    yield fault if named else msgspec.structs.replace(fault, where=variable)

    def wired(self, point: DecisionPoint) -> Wired:
        """Resolve *point*, once."""
        wired = self._wired.get(point.name)
        if wired is not None and wired.point is point:
            return wired
        return self._wire(point, self.settings.plan(point))

    def _wire(self, point: DecisionPoint, plan: Plan) -> Wired:
        planned = None if plan.provider == CURRENT else self.lane(plan.provider)
        behind = self.lane(CURRENT, "CURRENT_PROVIDER") if self._stand_in else None
        gate = None
        if behind is not None:
            gate = Gate(self.settings.own_minimum(behind.name)[0], plan.gate.scale)
        wired = Wired(point, plan, planned, behind, gate)
        self._wired[point.name] = wired
        return wired

    def overridden(self, point: DecisionPoint, lane: Lane | None) -> Wired:
        """Put another lane, or `current`, in the place of the planned one."""
        wired = self.wired(point)
        name = CURRENT if lane is None else lane.name
        why = {**wired.plan.why, "provider": OVERRIDE}
        gate = wired.plan.gate
        if not why["minimum"].startswith(PREFIX):  # the point names none: the provider's own
            minimum, why["minimum"] = self.settings.own_minimum(name)
            gate = msgspec.structs.replace(gate, minimum=minimum)
        plan = msgspec.structs.replace(wired.plan, provider=name, gate=gate, why=why)
        return msgspec.structs.replace(wired, plan=plan, planned=lane)

    def substitute(self, provider: str | Provider) -> Lane | None:
        """Give the lane of an override: a provider, its name, or `current` for none."""
        if not isinstance(provider, str):
            return self._laned(provider.name, provider)
        return None if provider == CURRENT else self.lane(provider, OVERRIDE)

    def lane(self, name: str, variable: str = "") -> Lane:
        """
        Give the lane of the provider *name*, made at first use.

        Raises:
            SetupError: It is not installed, or its variables are wrong.

        """
        lane = self._lanes.get(name)
        if lane is not None:
            return lane
        with self._lock:
            if name not in self._lanes:
                self._lanes[name] = self._make(name, variable)
            return self._lanes[name]

    def _make(self, name: str, variable: str) -> Lane:
        offer = self.plugins.offers.get(name.partition("/")[0])
        if offer is None:
            raise SetupError(unknown(name, variable, self.plugins))
        try:
            by_name = partial(_provider, weakref.ref(self))  # a provider must not hold its wiring
            provider = load(offer)(Setup(name, self.settings, self.gateway, by_name))
            same = [lane for lane in self._lanes.values() if lane.provider is provider]
            own = provider.name if name == CURRENT else name  # a stand-in answers as itself
            return same[0] if same else self._laned(own, provider)
        except PointsmanError:
            raise
        except Exception as bug:
            problem = f"the provider {name!r} cannot be made ({type(bug).__name__})"
            fix = "Repair the plug-in that offers it, or select another provider"
            raise SetupError.of(variable or name, problem, fix) from bug

    def _laned(self, name: str, provider: Provider) -> Lane:
        mask = mask_of(name, self.settings, self.plugins)
        return Lane(name, provider, self.telemetry.operator_fault, mask)

    def retire(self) -> None:
        """Close the providers when the last decision that uses this wiring has ended."""
        given = (self._lanes, self.telemetry, self._runtime)
        weakref.finalize(self, close_lanes, *given).atexit = False

    def close(self) -> None:
        """Close the providers that were made."""
        close_lanes(self._lanes, self.telemetry, self._runtime)

    async def aclose(self) -> None:
        """As `close`, with the async ones on the running loop."""
        loop = asyncio.get_running_loop()
        for lane, close in _closes(self._lanes):
            with _told(lane, self.telemetry):
                if inspect.iscoroutinefunction(close):
                    await asyncio.wait_for(close(), CLOSING)
                else:
                    await loop.run_in_executor(None, close)


def close_lanes(lanes: Mapping[str, Lane], telemetry: Telemetry, runtime: Runtime) -> None:
    """Close the providers of *lanes*; one that cannot does not keep the others open."""
    for lane, close in _closes(lanes):
        with _told(lane, telemetry):
            if inspect.iscoroutinefunction(close):
                runtime.wait(close, CLOSING)
            else:
                close()


def _closes(lanes: Mapping[str, Lane]) -> list[tuple[Lane, Any]]:
    made = {id(lane.provider): lane for lane in lanes.values()}.values()
    closes = [(lane, getattr(lane.provider, "close", None)) for lane in made]
    return [(lane, close) for lane, close in closes if callable(close)]


@contextlib.contextmanager
def _told(lane: Lane, telemetry: Telemetry) -> Generator[None]:
    try:
        yield
    except Exception as bug:  # noqa: BLE001 - a stranger's plug-in may raise anything
        telemetry.provider_bug(lane.name, bug)


def _provider(wiring: weakref.ref[Wiring], name: str) -> Provider:
    held = wiring()
    if held is None:
        raise SetupError.of(name, "the gateway has read its variables again", "Ask the gateway")
    return held.lane(name).provider


def unknown(name: str, variable: str, plugins: Plugins) -> Fault:
    """Say that no plug-in offers the provider *name*, and what could be meant."""
    installed = sorted({*plugins.offers, CURRENT})
    import difflib

    near = difflib.get_close_matches(name, installed, n=1)
    problem = f"no provider {name!r} is installed"
    if plugins.broken:
        broken = ", ".join(f"{plugin} ({why})" for plugin, why in sorted(plugins.broken.items()))
        problem += f"; these plug-ins cannot be loaded and may offer it: {broken}"
    hint = f"Did you mean {near[0]}? " if near else ""
    return Fault(variable or name, problem, f"{hint}Installed: {', '.join(installed)}")
