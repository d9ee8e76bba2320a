"""A gateway's life: made from variables, checked, reloaded, overridden, closed."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from . import checks
from .background import Background
from .discovery import discover, named
from .errors import Fault, SetupError, raise_all
from .forks import Lock
from .inbox.inbox import homeless, inbox_of
from .journaling import Journals
from .keeping import Keeper
from .plugins import Observer, Provider
from .points import DecisionPoint, suffix_of
from .questions import Outcome
from .register import expected
from .resilience import Lane
from .settings import Plan, Settings
from .telemetry import Telemetry
from .wired import Wired
from .wiring import Wiring
from .wrapping import Wrapped, declared

if TYPE_CHECKING:
    from .plugins import Others

DRAINING = 30.0  # seconds that shadows under way may take when the gateway is closed


class Lifecycle:
    """What a gateway is made of, and how it changes; `Gateway` decides with it."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        plugins: Sequence[object] = (),
        observers: Sequence[Observer] = (),
        stand_in: bool = False,
    ) -> None:
        """
        Hold *settings* (absent: the process environment).

        Args:
            settings: From `Settings.read`.
            plugins: Modules or objects with hooks, besides the installed ones.
            observers: Are told of every decision.
            stand_in: Where the host has no path of its own, ask the provider that
                `CURRENT_PROVIDER` names. For the command and servers.

        Raises:
            SetupError: With every fault of variables, plug-ins and selected providers.

        """
        given = None if settings is None else settings.variables.values
        self._source: tuple[Any, Any] = (given, None)
        self._plugins = tuple(plugins)
        self._observers = named(observers)
        self._stand_in = stand_in
        from .runtime import Runtime  # asks come later: an import need not pay for their client

        self._runtime = Runtime()
        self._background = Background()
        self._journals = Journals()
        self._layers: tuple[Mapping[str, Lane | None], ...] = ()
        self._lock = Lock()
        self._wrapped: list[Wrapped] = []
        self._asked: dict[str, DecisionPoint] = {}
        self._spellings: dict[str, set[str]] = {}
        self._retired: weakref.WeakSet[Wiring] = weakref.WeakSet()
        self._warned = False
        self._wiring = self._wire(settings or Settings.gathered())

    @classmethod
    def from_env(
        cls,
        environ: Mapping[str, str] | None = None,
        env_file: str | os.PathLike[str] | None = None,
        *,
        plugins: Sequence[object] = (),
        observers: Sequence[Observer] = (),
        stand_in: bool = False,
    ) -> Self:
        """
        Read the environment once, and a file of variables if one is named.

        A checkout's `.env` could redirect a base URL and with it a key, so the library
        reads none unless told. The other arguments are those of `Gateway`.

        Raises:
            SetupError: With every fault at once, each naming its variable and the fix.

        """
        settings = Settings.gathered(environ, env_file)
        gateway = cls(settings, plugins=plugins, observers=observers, stand_in=stand_in)
        gateway._source = (environ, env_file)
        return gateway

    def reload(self, environ: Mapping[str, str] | None = None) -> None:
        """
        Read the variables again and swap all plans at once; running decisions keep theirs.

        Raises:
            SetupError: Something is wrong; then nothing changes.

        """
        given, env_file = self._source
        wiring = self._wire(Settings.gathered(given if environ is None else environ, env_file))
        with self._lock:
            self._wiring.retire()
            self._retired.add(self._wiring)  # lives on while decisions use it
            self._wiring = wiring
            self._warned = False

    def _wire(self, settings: Settings) -> Wiring:
        try:
            plugins = discover(settings.globals.allowed, self._plugins)
        except SetupError as error:
            raise SetupError(*settings.faults, *error.faults) from None
        telemetry = Telemetry(settings.globals.log, (*plugins.observers, *self._observers))
        gateway = cast("Others", self)  # the only class that is made
        wiring = Wiring(
            settings, plugins, gateway, telemetry, self._runtime, stand_in=self._stand_in
        )
        spoken = checks.unspoken(settings, plugins.points.values())
        faults = [*settings.faults, *wiring.faults(), *spoken]
        faults += homeless(settings, self._asked.values())
        following = None
        try:
            following = None if faults else self._journals.following(settings, plugins)
        except SetupError as error:
            faults += error.faults
        raise_all(faults)
        telemetry.setup(checks.broken(wiring))
        journal = self._journals.take(following, telemetry)
        wiring.keeper = Keeper(telemetry, journal, self._background, inbox_of(wiring, journal))
        return wiring

    @contextmanager
    def override(self, providers: Mapping[str, str | Provider]) -> Generator[None]:
        """
        Put other providers in the place of the planned ones, for tests.

        Args:
            providers: Point → a provider's name, or a provider such as `scripted(…)`.

        """
        layer = {suffix_of(name): self._wiring.substitute(one) for name, one in providers.items()}
        with self._lock:
            self._layers = (*self._layers, layer)
        try:
            yield
        finally:
            with self._lock:
                self._layers = tuple(one for one in self._layers if one is not layer)

    def _note(self, point: DecisionPoint, spelling: str) -> None:
        if self._asked.get(point.name) is point and spelling in self._spellings[point.name]:
            return
        raise_all(homeless(self.settings, (point,)))
        with self._lock:
            self._asked = {**self._asked, point.name: point}
            self._spellings.setdefault(point.name, set()).add(spelling)

    def _wired(self, wiring: Wiring, point: DecisionPoint) -> Wired:
        if not self._warned:
            self._warned = True
            wiring.telemetry.setup(checks.oddities(wiring, self._asked, self._wrapped))
        if not self._layers:
            return wiring.wired(point)
        for layer in reversed(self._layers):
            for name in point.names:
                if name in layer:
                    return wiring.overridden(point, layer[name])
        return wiring.wired(point)

    @property
    def settings(self) -> Settings:
        """The variables as they were read."""
        return self._wiring.settings

    @property
    def stands_in(self) -> bool:
        """Whether a provider decides where the host has no path of its own."""
        return self._stand_in

    @property
    def points(self) -> Mapping[str, DecisionPoint]:
        """Every point that is offered or declared, by name."""
        return {**self._wiring.plugins.points, **self._asked}

    def plan(self, point: str | DecisionPoint) -> Plan:
        """
        Give the effective plan of a point, and why.

        Raises:
            SetupError: No point of this name is offered or declared.

        """
        one = declared(point, None, self.points)
        plan = self._wired(self._wiring, one).plan
        return expected(self._wiring.register, one, plan, self.settings.globals.language)

    def provider(self, name: str) -> Provider:
        """
        Give a provider by name, made at first use.

        Raises:
            SetupError: It is not installed, or its variables are wrong.

        """
        return self._wiring.lane(name).provider

    def check(self) -> tuple[Fault, ...]:
        """
        Check what can be known once all points are declared; return what is merely odd.

        Raises:
            SetupError: Points that collide, return types that cannot hold an answer, and,
                with `DECISION_STRICT`, variables that nothing reads.

        """
        wiring = self._wiring
        odd = checks.oddities(wiring, self._asked, self._wrapped)
        strict = (
            wiring.settings.unread(self.points.values()) if wiring.settings.globals.strict else []
        )
        raise_all([*checks.faults(wiring, self._wrapped, self._spellings), *strict])
        if not self._warned:
            self._warned = True
            wiring.telemetry.setup(odd)
        return (*odd, *checks.broken(wiring))

    def feedback(self, decision: str, *, right: bool | None = None, label: Outcome = None) -> None:
        """
        Tell the journal what was found out about a decision; also later, or elsewhere.

        Args:
            decision: Its id: `decision.record.id`.
            right: Whether what was decided was right.
            label: What would have been right, in the point's vocabulary; question → value for
                several questions.

        Raises:
            SetupError: No journal is kept.
            DeclarationError: Neither is given.

        """
        self._wiring.keeper.feedback(decision, right=right, label=label)

    def _drain(self) -> None:
        """Let the shadows answer, and the journal write what it has."""
        self._background.close(DRAINING)
        self._journals.close()

    def close(self) -> None:
        """Drain what is under way, and close what was opened; a later decision opens it again."""
        self._drain()
        for wiring in (*self._retired, self._wiring):
            wiring.close()
        self._runtime.close()

    async def aclose(self) -> None:
        """As `close`, with the clients of the running loop."""
        await asyncio.get_running_loop().run_in_executor(None, self._drain)
        for wiring in (*self._retired, self._wiring):
            await wiring.aclose()
        await self._runtime.aclose()

    def __enter__(self) -> Self:
        self.check()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self.check()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
