"""
Plans and lanes as they stand now: what a reload swaps, whole, in one assignment.

A decision takes the wiring once, at its beginning, so that a reload in its middle changes
nothing for it.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from .asking import Asking
from .background import Background
from .budgets import budget_of
from .caching import Cache
from .cases import Beside
from .closing import aclose_lanes, close_lanes
from .discovery import Plugins, load
from .errors import Fault, PointsmanError, SetupError
from .forks import Lock
from .gates import Gate
from .journaling import register_of
from .keeping import Keeper
from .masking import mask_of
from .plugins import Others, Provider, Setup
from .resilience import Lane
from .settings import CURRENT, PREFIX, Plan, Settings
from .tracing.making import lacking
from .unmade import circle, unknown
from .wired import Wired

if TYPE_CHECKING:
    from .points import DecisionPoint
    from .register import Register
    from .runtime import Runtime
    from .telemetry import Telemetry
    from .tracing.tracing import Tracing

OVERRIDE = "override"


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
        self.keeper = Keeper(telemetry, None, Background())
        self.register: Register | None = None
        self.tracing: Tracing | None = None
        self.settings = settings.knowing(plugins.offers)
        self.plugins = plugins
        self.telemetry = telemetry
        self.asking = Asking(runtime, telemetry, gateway)
        self.standing = runtime.standing
        self._runtime = runtime
        self.gateway = gateway
        self._stand_in = stand_in
        self._lock = Lock()
        self._lanes: dict[str, Lane] = {}
        self._making: list[str] = []  # who is being made, each for the one before
        self._wired: dict[str, Wired] = {}
        self._gates: dict[str, Gate] = {}
        self.doubted: set[str] = set()  # points of which it is known what happens in doubt
        kept = any(one.cache_seconds is not None for one in settings.points.values())
        self.cache = Cache() if kept else None

    @property
    def stands_in(self) -> bool:
        """Whether a provider decides where the host has no path of its own."""
        return self._stand_in

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes made so far, also those for trial; each once."""
        return tuple({id(lane): lane for lane in dict(self._lanes).values()}.values())

    def faults(self) -> Iterable[Fault]:
        """Make every selected provider, and list what is wrong with them."""
        selected = self.settings.selected()
        if self._stand_in:
            selected.append(("CURRENT_PROVIDER", CURRENT))
        found = [fault for variable, name in selected for fault in self._wrong(variable, name)]
        try:
            self.register = (
                None if self.settings.faults else register_of(self.settings, self.telemetry)
            )
        except SetupError as error:
            found += error.faults
        found += lacking(self.settings)
        return dict.fromkeys(found)

    def trace(self, tracing: Tracing | None) -> None:
        """Let *tracing* see the decisions from now on; None: nothing does."""
        self.tracing = tracing
        self.keeper.traced_by(tracing)
        if tracing is not None:
            tracing.meters.watch(self)

    def _wrong(self, variable: str, name: str) -> Iterable[Fault]:
        finds = (
            partial(self.lane, name, variable),
            partial(self.settings.own_minimum, name),
            partial(mask_of, name, self.settings, self.plugins),
            partial(budget_of, name, self.settings),
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
        arms = {arm.provider: self.settings.plan(point, arm.provider) for arm in plan.arms}
        besides = tuple(self._beside(point, name) for name in plan.shadows)
        wired = self._laned_plan(point, plan, besides)
        split = {name: self._laned_plan(point, one, besides) for name, one in arms.items()}
        wired = msgspec.structs.replace(wired, arms=split)
        self._wired[point.name] = wired
        return wired

    def _laned_plan(self, point: DecisionPoint, plan: Plan, besides: tuple[Beside, ...]) -> Wired:
        planned = None if plan.provider == CURRENT or plan.arms else self.lane(plan.provider)
        behind = self.lane(CURRENT, "CURRENT_PROVIDER") if self._stand_in else None
        gate = None if behind is None else self.own_gate(behind)
        register = self.register if plan.certifiable else None
        return Wired(point, plan, planned, behind, gate, register, besides=besides)

    def _beside(self, point: DecisionPoint, name: str) -> Beside:
        """A shadow is always asked: what it would say now is what its record is for."""
        plan = msgspec.structs.replace(self.settings.plan(point, name), cache_seconds=None)
        return Beside(plan, self.trial(name), self.register if plan.certifiable else None)

    def trial(self, name: str) -> Lane:
        """Give the lane in which *name* is asked for trial; its failures are its own."""
        key = f"{name} for trial"
        with self._lock:
            if key not in self._lanes:
                live = self.lane(name)
                # one that waits on a loop is bound to it; the others may be asked from anywhere
                provider = self._made(name) if live.shape == "async" else live.provider
                trial = self._laned(live.name, provider, trial=True)
                live.trial = trial.trial = trial
                self._lanes[key] = trial
            return self._lanes[key]

    def tried(self, wired: Wired) -> Wired:
        """Give the same, decided for trial: no failure of it touches who answers live."""
        planned, behind = (self._tried(lane) for lane in (wired.planned, wired.behind))
        return msgspec.structs.replace(wired, planned=planned, behind=behind)

    def _tried(self, lane: Lane | None) -> Lane | None:
        """An override's lane, which no variable names, is nobody else's: it is its own."""
        if lane is None or lane.trial is not None:
            return lane and lane.trial
        names = [name for name, one in dict(self._lanes).items() if one is lane]
        return self.trial(names[0]) if names else lane

    def own_gate(self, lane: Lane) -> Gate:
        """
        Give what an answer of *lane* has to clear where no point says so.

        Raises:
            SetupError: Its variable is no number in [0, 1].

        """
        gate = self._gates.get(lane.name)
        if gate is None:
            scale = self.settings.globals.scale
            gate = Gate(self.settings.own_minimum(lane.name)[0], scale)
            self._gates[lane.name] = gate
        return gate

    def overridden(self, point: DecisionPoint, lane: Lane | None) -> Wired:
        """Put another lane, or `current`, in the place of the planned one; nothing is beside it."""
        wired = self.wired(point)
        name = CURRENT if lane is None else lane.name
        why = {**wired.plan.why, "provider": OVERRIDE}
        gate = wired.plan.gate
        if not why["minimum"].startswith(PREFIX):  # the point names none: the provider's own
            minimum, why["minimum"] = self.settings.own_minimum(name)
            gate = msgspec.structs.replace(gate, minimum=minimum)
        plan = msgspec.structs.replace(
            wired.plan, provider=name, gate=gate, why=why, cache_seconds=None
        )
        return msgspec.structs.replace(wired, plan=plan, planned=lane, arms={}, besides=())

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

    def _made(self, name: str, variable: str = "") -> Provider:
        offer = self.plugins.offers.get(name.partition("/")[0])
        if offer is None:
            raise SetupError(unknown(name, variable, self.plugins))
        by_name = partial(_provider, weakref.ref(self))  # a provider must not hold its wiring
        if name in self._making:
            raise SetupError(circle([*self._making, name], variable))
        self._making.append(name)
        try:
            return load(offer)(Setup(name, self.settings, self.gateway, by_name))
        finally:
            self._making.pop()

    def _make(self, name: str, variable: str) -> Lane:
        try:
            provider = self._made(name, variable)
            same = [lane for lane in self._lanes.values() if lane.provider is provider]
            own = provider.name if name == CURRENT else name  # a stand-in answers as itself
            return same[0] if same else self._laned(own, provider)
        except PointsmanError:
            raise
        except Exception as bug:
            problem = f"the provider {name!r} cannot be made ({type(bug).__name__})"
            fix = "Repair the plug-in that offers it, or select another provider"
            raise SetupError.of(variable or name, problem, fix) from bug

    def _laned(self, name: str, provider: Provider, *, trial: bool = False) -> Lane:
        mask = mask_of(name, self.settings, self.plugins)
        budget = self._runtime.purses.of(name, self.settings, trial=trial)
        return Lane(name, provider, self.telemetry.operator_fault, mask, budget)

    def retire(self) -> None:
        """Close the providers when the last decision that uses this wiring has ended."""
        given = (self._lanes, self.telemetry, self._runtime)
        weakref.finalize(self, close_lanes, *given).atexit = False

    def close(self) -> None:
        """Close the providers that were made, and keep nothing of what they said."""
        self._empty()
        close_lanes(self._lanes, self.telemetry, self._runtime)

    def _empty(self) -> None:
        if self.cache is not None:
            self.cache.clear()

    async def aclose(self) -> None:
        """As `close`, with the async ones on the running loop."""
        self._empty()
        await aclose_lanes(self._lanes, self.telemetry)


def _provider(wiring: weakref.ref[Wiring], name: str) -> Provider:
    held = wiring()
    if held is None:
        raise SetupError.of(name, "the gateway has read its variables again", "Ask the gateway")
    return held.lane(name).provider
