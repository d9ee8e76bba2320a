"""How a gateway is seen from outside: by who watches its decisions, and who asks how it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from . import context
from .discovery import named
from .lifecycle import Lifecycle
from .plugins import Observer
from .resilience import Health
from .tracing.making import Trace, traced_by_variables, tracing, untraced
from .wrapping import declared

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from .journal.backlog import Backlog
    from .points import DecisionPoint
    from .settings import Settings
    from .wiring import Wiring


class Watched(Lifecycle):
    """A gateway that tells how its providers do, and that a server may take over."""

    _trace: Trace = staticmethod(traced_by_variables)

    def _wire(self, settings: Settings) -> Wiring:
        wiring = super()._wire(settings)
        wiring.trace(self._trace(settings, wiring.telemetry))
        return wiring

    def instrument(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        content: bool = False,
    ) -> None:
        """
        Make spans and metrics of all decisions from now on, as `DECISION_OTEL=on` does.

        Args:
            tracer_provider: Makes the spans; absent: the process's own, also one set later.
            meter_provider: Takes the metrics; absent: the process's own, also one set later.
            content: Whether spans hold states, answers and subjects too; never keys.
                `DECISION_OTEL_CONTENT` says so as well.

        Raises:
            SetupError: OpenTelemetry's API is not installed.

        """
        given = partial(tracing, tracers=tracer_provider, meters=meter_provider)
        self._traced(partial(given, content=content))

    def uninstrument(self) -> None:
        """Make no spans and metrics of decisions that begin from now on."""
        self._traced(untraced)

    def _traced(self, trace: Trace) -> None:
        wiring = self._wiring
        now, before = trace(wiring.settings, wiring.telemetry), wiring.tracing
        with self._lock:
            self._trace = trace
            if before is not None:
                before.meters.forget(self)
            wiring.trace(now)

    def continued(self, headers: Mapping[bytes, bytes]) -> AbstractContextManager[None]:
        """Go on with the trace that a request's *headers* tell of, where decisions are traced."""
        tracing = self._wiring.tracing
        return nullcontext() if tracing is None else tracing.continued(headers)

    def untouched(self, point: str | DecisionPoint) -> bool:
        """
        Whether nobody but current would decide a point now, and nobody would look on.

        Then an adapter need not even look at a call: consulting would come to None and leave no
        trace, whatever it is about. It is not so where a function is declared to decide this
        point `once`; a call that is consulted with `once` leaves a trace in any case.

        Raises:
            SetupError: No point of this name is offered or declared.

        """
        one = declared(point, None, self.points) if isinstance(point, str) else point
        if self._layers or context.collectors(self):
            return False
        wiring = self._wiring
        wired = wiring.wired(one)
        seen = wired.arms or wired.besides or wiring.keeper.watched
        return wired.planned is None and not seen and not self._stands(one)

    def left_to_current(self, point: str | DecisionPoint) -> bool:
        """
        Whether nobody but current would decide a point now, whoever looks on.

        What an adapter asks `once` only for its provider's sake need not stand then, nor wait for
        the journal.

        Raises:
            SetupError: No point of this name is offered or declared.

        """
        one = declared(point, None, self.points) if isinstance(point, str) else point
        wired = self._wired(self._wiring, one)
        return wired.planned is None and not wired.arms

    def _stands(self, point: DecisionPoint) -> bool:
        named = (one for one in self._wrapped if one.point.name == point.name)
        return any(one.once is not None for one in named)

    def health(self) -> tuple[Health, ...]:
        """
        Tell how each provider does that was made so far; nothing is asked.

        A provider that is asked for trial too is told once: with its operator's fault, if it has
        one on either side, and as paused only where its answers are acted on.
        """
        seen: dict[str, Health] = {}
        for lane in sorted(self._wiring.lanes, key=lambda one: one.on_trial):
            health = lane.health
            before = seen.get(health.provider)
            if before is None or (before.fault is None and health.fault is not None):
                paused = not lane.on_trial and health.paused if before is None else before.paused
                seen[health.provider] = Health(health.provider, health.model, health.fault, paused)
        return tuple(seen.values())

    def backlog(self) -> Backlog | None:
        """Tell what the journal has not written, in this process; None where none is kept."""
        journal = self._wiring.keeper.journal
        return None if journal is None else journal.backlog

    def take_over(self, observers: Sequence[Observer]) -> None:
        """
        Decide for others than the host from now on, and tell *observers* too.

        A provider stands in for `current` then: what the host wraps is not run for a stranger.

        Raises:
            SetupError: Something is wrong with the variables, as they are now.

        """
        self._observers = (*self._observers, *named(observers))
        self._stand_in = True
        self.reload()
