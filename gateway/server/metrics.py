"""
Counters for Prometheus: of decisions, of asks (by OpenTelemetry's names), of requests.

Every label is bounded: a name that comes after many others is counted as `other`, so that no
client and no provider can make series without end. Several workers share a folder in which each
keeps its numbers; whichever is asked gives those of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from ..errors import Reason
from ..forks import Lock
from .families import Family

if TYPE_CHECKING:
    from ..journal.backlog import Backlog
    from ..records import Attempt, Record, Shadow
    from ..resilience import Health

FAULTS = "pointsman_operator_fault"
JOURNAL = "pointsman_journal_fault"
DECIDE = "decide"  # the operation, as Pydantic AI names it too

# The buckets that OpenTelemetry's conventions for generative AI advise.
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = tuple(4**power for power in range(14))
# In-process deciders and cached answers take less than their first one.
SHORT = (0.0005, 0.001, 0.002, 0.005, *SECONDS)

NOT_SENT = frozenset(
    {
        Reason.BREAKER_OPEN,
        Reason.NESTED,
        Reason.OVER_BUDGET,
        Reason.SKIPPED,
        Reason.TOO_LARGE,
        Reason.UNSUPPORTED,
    }
)
"""Ends of an ask that nothing was sent for: they are no operation of a client."""


class Metrics:
    """
    Observes the decisions of one gateway and the requests of one worker.

    It is an observer: `Gateway.from_env(observers=[metrics])`. It keeps a registry of its own.

    Args:
        folder: Where several workers keep their numbers, each its own; None: there is one worker.
            It is also what `PROMETHEUS_MULTIPROC_DIR` must say when prometheus-client is
            imported.

    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._registry = CollectorRegistry()
        self._lock = Lock()
        self._health: Callable[[], Sequence[Health]] = tuple
        self._backlog: Callable[[], Backlog | None] = _none
        self._models: dict[str, str] = {}
        self._of_decisions()
        self._of_asks()
        self._of_requests()
        self._of_journal()

    def _of_decisions(self) -> None:
        labels = ("point", "variant", "provider", "reason", "fallback", "undecided", "cached")
        self._decisions = self._counter("pointsman_decisions", "Decisions made or failed.", labels)
        self._cost = self._counter(
            "pointsman_cost_usd", "US dollars, as far as they are known.", ("provider",)
        )
        self._shadows = self._counter(
            "pointsman_shadow",
            "Answers given in the background, by whether they agree with what was decided.",
            ("point", "provider", "agree"),
        )
        self._faults = self._gauge(
            FAULTS,
            "1 where the operator has to see to a provider.",
            ("provider", "reason"),
        )
        self._paused = self._gauge(
            "pointsman_breaker_open", "1 where a provider is left alone for now.", ("provider",)
        )

    def _of_asks(self) -> None:
        labels = (
            "gen_ai_operation_name",
            "gen_ai_provider_name",
            "gen_ai_request_model",
            "gen_ai_response_model",
        )
        self._seconds = self._histogram(
            "gen_ai_client_operation_duration_seconds",
            "Asks of providers, with all their retries.",
            (*labels, "error_type"),
            SHORT,
        )
        self._tokens = self._histogram(
            "gen_ai_client_token_usage",
            "Tokens of one ask.",
            (*labels, "gen_ai_token_type"),
            TOKENS,
        )

    def _of_requests(self) -> None:
        self._requests = self._counter(
            "pointsman_http_requests", "Requests that were answered.", ("route", "status")
        )
        self._request_seconds = self._histogram(
            "pointsman_http_request_duration_seconds",
            "From the whole head of a request to its whole answer.",
            ("route",),
            SHORT,
        )

    def _of_journal(self) -> None:
        faults = "1 where the journal does not write, by what does not."
        self._unkept = self._gauge(JOURNAL, faults, ("reason",))
        self._waiting = Gauge(
            "pointsman_journal_waiting",
            "Decisions and feedback that the journal's database does not have yet.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self._lost = Gauge(
            "pointsman_journal_lost",
            "Decisions and feedback that can never be read in the journal.",
            registry=self._registry,
            multiprocess_mode="sum",  # those of a worker that died stay lost
        )

    def _counter(self, name: str, text: str, labels: tuple[str, ...]) -> Family[Counter]:
        return Family(Counter(name, text, labels, registry=self._registry), len(labels))

    def _gauge(self, name: str, text: str, labels: tuple[str, ...]) -> Family[Gauge]:
        made = Gauge(name, text, labels, registry=self._registry, multiprocess_mode="livemax")
        return Family(made, len(labels))

    def _histogram(
        self, name: str, text: str, labels: tuple[str, ...], buckets: Sequence[float]
    ) -> Family[Histogram]:
        made = Histogram(name, text, labels, registry=self._registry, buckets=buckets)
        return Family(made, len(labels))

    # --- what is seen ---------------------------------------------------------------------

    def __call__(self, record: Record) -> None:
        """Count a decision and the asks before it."""
        for attempt in record.attempts:
            self._asked(attempt)
        last = record.attempts[-1] if record.attempts else None
        self._decisions.of(
            record.point,
            record.variant,
            record.provider,
            record.reason.value,
            _said(record.fallback),
            _said(record.undecided),
            _said(last is not None and last.cached),
        ).inc()

    def shadowed(self, shadow: Shadow) -> None:
        """Count an answer that was given in the background."""
        self._asked(shadow.attempt)
        agree = "none" if shadow.outcome is None else _said(shadow.outcome == shadow.beside)
        self._shadows.of(shadow.point, shadow.provider, agree).inc()

    def request(self, route: str, status: int, seconds: float) -> None:
        """
        Count a request.

        Args:
            route: As declared; never what the client wrote.
            status: Of the answer.
            seconds: From its whole head to its whole answer.

        """
        self._requests.of(route, str(status)).inc()
        self._request_seconds.of(route).observe(seconds)

    def _asked(self, attempt: Attempt) -> None:
        if attempt.cached or attempt.reason in NOT_SENT:
            return
        provider, served = attempt.provider, attempt.model
        labels = DECIDE, provider, self._model(provider), served
        failed = "" if attempt.reason is Reason.OK else attempt.reason.value
        self._seconds.of(*labels, failed).observe(attempt.seconds)
        if (usage := attempt.usage) is None:
            return
        self._tokens.of(*labels, "input").observe(usage.input_tokens)
        if usage.output_tokens:
            self._tokens.of(*labels, "output").observe(usage.output_tokens)
        if usage.cost_usd:
            self._cost.of(provider).inc(usage.cost_usd)

    def _model(self, provider: str) -> str:
        """Give the model that *provider* is configured with; empty where it names none."""
        model = self._models.get(provider)
        if model is None:
            for one in self._health():
                self._models[one.provider] = one.model
            model = self._models.setdefault(provider, "")
        return model

    # --- what is told ---------------------------------------------------------------------

    def watch(
        self,
        health: Callable[[], Sequence[Health]],
        backlog: Callable[[], Backlog | None] | None = None,
    ) -> None:
        """
        Read how all is.

        Args:
            health: Of providers, as `Gateway.health` gives it.
            backlog: Of the journal, as `Gateway.backlog` gives it.

        """
        self._health = health
        self._backlog = backlog or _none

    def refresh(self) -> None:
        """Set the gauges to how the providers and the journal of this worker do now."""
        health, kept = self._health(), self._backlog()
        with self._lock:  # the page is made on another thread
            _set(self._paused, [(one.provider,) for one in health if one.paused])
            _set(self._faults, faults_of(health))
            _set(self._unkept, [(kept.fault,)] if kept is not None and kept.fault else [])
            self._waiting.set(0 if kept is None else kept.waiting)
            self._lost.set(0 if kept is None else kept.lost)

    def faults(self) -> list[tuple[str, str]]:
        """Give provider and reason of each operator's fault that some worker knows of."""
        if self._folder is None:
            return sorted(faults_of(self._health()))
        self.refresh()
        return sorted({(one["provider"], one["reason"]) for one in self._shared_faults(FAULTS)})

    def unkept(self) -> str | None:
        """Give what of the journal does not write, in some worker; None: nothing is known."""
        if self._folder is None:
            kept = self._backlog()
            return None if kept is None else kept.fault
        self.refresh()
        return min((one["reason"] for one in self._shared_faults(JOURNAL)), default=None)

    def _shared_faults(self, name: str) -> Iterator[Mapping[str, str]]:
        """Read the gauges alone: a probe that comes every second needs no histogram."""
        assert self._folder is not None
        files = [str(file) for file in self._folder.glob("gauge_*.db")]
        merged: Any = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
        for metric in cast("Iterable[Metric]", merged):
            for sample in metric.samples if metric.name == name else ():
                if sample.value:
                    yield sample.labels

    def page(self) -> tuple[bytes, str]:
        """Give all numbers of all workers, and their content type."""
        self.refresh()
        return generate_latest(self._shared()), CONTENT_TYPE_LATEST

    def _shared(self) -> CollectorRegistry:
        if self._folder is None:
            return self._registry
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder))  # type: ignore[no-untyped-call]
        return registry


def _none() -> None:
    """Stand for the journal where none is watched."""


def faults_of(health: Sequence[Health]) -> list[tuple[str, str]]:
    """Give provider and reason of each operator's fault in *health*."""
    return [(one.provider, one.fault.value) for one in health if one.fault is not None]


def _set(gauges: Family[Gauge], true: Sequence[tuple[str, ...]]) -> None:
    """Set the gauges of *true* to 1 and all others to 0; nobody reads a 0 in between."""
    held = [gauges.of(*labels) for labels in true]
    for gauge in gauges.series.values():
        gauge.set(gauge in held)


def _said(truth: bool) -> str:  # noqa: FBT001 - it is what is written
    return "true" if truth else "false"
