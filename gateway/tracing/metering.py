"""What is counted: decisions, fallbacks, shadows, asks, tokens, money, breakers."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from opentelemetry.metrics import Observation

from ..errors import Reason
from ..forks import Lock
from . import names
from .attributes import Attributes, came, error_of

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter

    from ..records import Attempt, Record, Shadow
    from ..wiring import Wiring

# The buckets that OpenTelemetry's conventions for generative AI advise.
SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
TOKENS: Final = tuple(4**power for power in range(14))
# In-process deciders and cached answers take less than their first one.
SHORT: Final = (0.0005, 0.001, 0.002, 0.005, *SECONDS)

MOST: Final = 200  # names of one kind; a catalogue has some 30 points, and a plan few providers
OTHER: Final = "other"


class Names:
    """Bounds how many names there are of one kind: what comes after many others is `other`."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def of(self, name: str, *, declared: bool = False) -> str:
        """Give *name* as it is counted; one that is *declared* takes the place of no other."""
        if not declared and name not in self._known and len(self._known) < MOST:
            self._known.add(name)
        return name if declared or name in self._known else OTHER


class Meters:
    """
    The instruments of one meter provider, which gateways share.

    Args:
        meter: Makes them.

    """

    def __init__(self, meter: Meter) -> None:
        self._lock = Lock()
        self._watched: weakref.WeakKeyDictionary[object, weakref.ref[Wiring]]
        self._watched = weakref.WeakKeyDictionary()
        self._points, self._providers, self._models = Names(), Names(), Names()
        self._of_decisions(meter)
        self._of_asks(meter)

    def _of_decisions(self, meter: Meter) -> None:
        self._decisions = meter.create_counter(
            "pointsman.decisions", "{decision}", "Decisions made or failed."
        )
        self._fallbacks = meter.create_counter(
            "pointsman.fallbacks",
            "{fallback}",
            "Decisions that the planned provider was asked for, and somebody else had to make.",
        )
        self._durations = meter.create_histogram(
            "pointsman.decision.duration",
            "s",
            "Whole decisions.",
            explicit_bucket_boundaries_advisory=SHORT,
        )
        self._shadows = meter.create_counter(
            "pointsman.shadows", "{shadow}", "Asks in the background, by how they ended."
        )
        self._agreement = meter.create_counter(
            "pointsman.shadow.agreement",
            "{shadow}",
            "Answers in the background, by whether they agree with what was decided.",
        )

    def _of_asks(self, meter: Meter) -> None:
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "Asks of providers over the network, with all their retries.",
            explicit_bucket_boundaries_advisory=SECONDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens of one ask.",
            explicit_bucket_boundaries_advisory=TOKENS,
        )
        self._cost = meter.create_counter(
            "pointsman.cost", "{USD}", "US dollars, as far as they are known."
        )
        meter.create_observable_gauge(
            "pointsman.breaker.open",
            [self._breakers],
            "{breaker}",
            "1 where a provider is left alone for now, else 0.",
        )

    def named(self, point: str) -> str:
        """Give a point's name as it is told where each one costs: `other` after many strangers."""
        return self._points.of(point, declared=self._declared(point))

    def _declared(self, point: str) -> bool:
        """Whether it is offered, or has variables: it is known before anybody asks."""
        with self._lock:
            held = [ref() for ref in self._watched.values()]
        known = [(one.plugins.points, one.settings.points) for one in held if one is not None]
        return any(point in offered or point in planned for offered, planned in known)

    # --- what is seen ---------------------------------------------------------------------

    def decided(self, record: Record, error: str | None) -> None:
        """Count a decision that ended; *error*: the type of what the host got instead."""
        point = {names.POINT: self.named(record.point)}
        answered = self._provider(record.provider)
        said: Attributes = {
            **point,
            **answered,
            names.FLAG_VARIANT: self._providers.of(record.variant),
            names.REASON: record.reason.value,
            names.UNDECIDED: record.undecided,
        }
        if error is not None:
            said[names.ERROR] = error
        self._decisions.add(1, said)
        self._durations.record(record.seconds, {**point, **answered})
        if record.fallback:
            asked = self._provider(record.attempts[0].provider)
            self._fallbacks.add(1, {**point, **asked, names.FALLBACK_REASON: record.reason.value})

    def asked(self, attempt: Attempt, point: str, started: Attributes, *, remote: bool) -> None:
        """
        Count an ask that left.

        Args:
            attempt: How it ended.
            point: For which decision point.
            started: What its span was started with.
            remote: Whether it went over the network.

        """
        if attempt.cached or attempt.reason is Reason.SKIPPED:
            return
        if (usage := attempt.usage) is not None and usage.cost_usd:
            where = {names.POINT: self.named(point), **self._provider(attempt.provider)}
            self._cost.add(usage.cost_usd, where)
        said = self._operation(attempt, started)
        if remote:
            failed = error_of(attempt.reason)
            ended = said if failed is None else {**said, names.ERROR: failed}
            self._seconds.record(attempt.seconds, ended)
        if usage is None:
            return
        self._tokens.record(usage.input_tokens, {**said, names.TOKEN_TYPE: names.INPUT})
        if usage.output_tokens:
            self._tokens.record(usage.output_tokens, {**said, names.TOKEN_TYPE: names.OUTPUT})

    def shadowed(self, shadow: Shadow) -> None:
        """Count an ask in the background."""
        said = {names.POINT: self.named(shadow.point), **self._provider(shadow.provider)}
        self._shadows.add(1, {**said, names.REASON: shadow.attempt.reason.value})
        if shadow.outcome is not None:
            self._agreement.add(1, {**said, names.AGREE: shadow.outcome == shadow.beside})

    def _provider(self, name: str) -> Attributes:
        return {names.PROVIDER: self._providers.of(name)} if name else {}

    def _operation(self, attempt: Attempt, started: Attributes) -> Attributes:
        said: Attributes = {names.OPERATION: names.DECIDE, **self._provider(attempt.provider)}
        for name in (names.REQUEST_MODEL, names.SERVER_ADDRESS, names.SERVER_PORT):
            if name in started:
                said[name] = started[name]
        if attempt.model and came(attempt):
            said[names.RESPONSE_MODEL] = self._models.of(attempt.model)
        return said

    # --- breakers -------------------------------------------------------------------------

    def watch(self, wiring: Wiring) -> None:
        """Tell of the breakers of a gateway, as it is wired now."""
        with self._lock:
            self._watched[wiring.gateway] = weakref.ref(wiring)

    def forget(self, gateway: object) -> None:
        """Tell no more of the breakers of *gateway*."""
        with self._lock:
            self._watched.pop(gateway, None)

    def _breakers(self, _: CallbackOptions) -> Iterator[Observation]:
        for (provider, model, lane), is_open in self._open().items():
            said = {**self._provider(provider), names.LANE: lane}
            if model:
                said[names.REQUEST_MODEL] = self._models.of(model)
            yield Observation(int(is_open), said)

    def _open(self) -> Mapping[tuple[str, str, str], bool]:
        """Give provider, model and lane → whether a breaker of some gateway is open."""
        with self._lock:
            held = [ref() for ref in self._watched.values()]
        found: dict[tuple[str, str, str], bool] = {}
        for wiring in held:
            for lane in () if wiring is None else wiring.lanes:
                key = lane.name, lane.model, "shadow" if lane.on_trial else "live"
                found[key] = found.get(key, False) or lane.breaker.is_open
        return found
