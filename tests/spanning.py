"""What tests of telemetry share: a gateway that is traced into memory, and what it made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer, format_span_id, format_trace_id

from faulty import Server
from pointsman import Gateway

Makes = Callable[..., Gateway]

SPEC = {  # frameworks §7: the attributes of spans and events, row by row
    *("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"),
    *("gen_ai.response.model", "gen_ai.response.id", "gen_ai.conversation.id"),
    *("error.type", "server.address", "server.port"),
    *("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
    *("openinference.span.kind", "decision.system", "decision.provider", "decision.model_name"),
    *("decision.request.model_name", "decision.response.model_name"),
    *("decision.token_count.input", "decision.token_count.output"),
    *("input.value", "output.value", "input.mime_type", "output.mime_type"),
    *("gen_ai.evaluation.name", "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"),
    *("feature_flag.key", "feature_flag.provider.name", "feature_flag.result.variant"),
    *("feature_flag.result.reason", "feature_flag.context.id"),
    *("pointsman.point", "pointsman.question.type", "pointsman.answer", "pointsman.confidence"),
    *("pointsman.threshold", "pointsman.fallback", "pointsman.fallback.reason"),
    "pointsman.shadow.agree",
}
OWN = {  # in our own namespace, beside those of the page
    *("pointsman.decision.id", "pointsman.reason", "pointsman.cached", "pointsman.form"),
    *("pointsman.undecided", "pointsman.standing"),
}
CONTENT = {  # never there unless content is wanted
    *("gen_ai.conversation.id", "feature_flag.context.id", "pointsman.answer"),
    *("input.value", "input.mime_type", "output.value", "output.mime_type"),
    "gen_ai.evaluation.score.label",
}


class Seen:
    """Spans and metrics in memory, of gateways that are made and closed here."""

    def __init__(self, make: Makes) -> None:
        self._make = make
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meters = MeterProvider([self._reader], shutdown_on_exit=False)
        self.content = False

    def gateway(self, environ: Mapping[str, str] | None = None, **given: Any) -> Gateway:
        """Make a gateway that is traced."""
        gateway = self._make(dict(environ or {}), **given)
        self.traces(gateway)
        return gateway

    def traces(self, gateway: Gateway) -> None:
        """Trace a gateway that is made already."""
        gateway.instrument(
            tracer_provider=self.tracers, meter_provider=self.meters, content=self.content
        )

    def tracer(self) -> Tracer:
        """Give a tracer of the host's own."""
        return self.tracers.get_tracer("host")

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        """All that have ended."""
        return self._exporter.get_finished_spans()

    def forget(self) -> None:
        """Forget the spans so far."""
        self._exporter.clear()

    def one(self, name: str) -> ReadableSpan:
        """Give the only span of that name."""
        (span,) = [one for one in self.spans if one.name == name]
        return span

    def points(self, metric: str) -> list[Any]:
        """Give the data points of a metric; none where nothing was measured."""
        return [point for one in self.metrics() if one.name == metric for point in one.data_points]

    def metrics(self) -> Iterator[Any]:
        """Give name, unit and data points of what was measured."""
        data = self._reader.get_metrics_data()
        for resource in () if data is None else data.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    yield Measured(metric)

    def written(self) -> str:
        """Give all that is exported, as text."""
        measured = [(one.name, one.unit, one.data_points) for one in self.metrics()]
        links = [[link.attributes for link in span.links] for span in self.spans]
        return "\n".join([*(span.to_json() for span in self.spans), repr(measured), repr(links)])


class Measured:
    """One metric."""

    def __init__(self, metric: Any) -> None:
        self.name, self.unit = metric.name, metric.unit
        self.data_points = list(metric.data.data_points)


@pytest.fixture
def seen(gateway_of: Makes) -> Iterator[Seen]:
    """Trace into memory; every name that was used is one of the page, or of our own."""
    seen = Seen(gateway_of)
    yield seen
    allowed = SPEC | OWN if seen.content else (SPEC | OWN) - CONTENT
    for span in seen.spans:
        if span.instrumentation_scope is not None and span.instrumentation_scope.name == "host":
            continue
        used = {*(span.attributes or {})}
        assert used <= allowed, used - allowed
        for event in span.events:
            assert {*(event.attributes or {})} <= allowed


class Breaks(SpanProcessor):
    """Fails where it is told to."""

    def __init__(self, where: str, error: BaseException) -> None:
        self._where, self._error = where, error

    def on_start(self, span: Any, parent_context: Context | None = None) -> None:
        """Fail at the start of a span."""
        if self._where == "start":
            raise self._error

    def on_end(self, span: ReadableSpan) -> None:
        """Fail at its end."""
        if self._where == "end":
            raise self._error


def jev(server: Server, **others: str) -> dict[str, str]:
    """Give the variables by which a provider over HTTP decides TEAM."""
    return {
        "DECISION_TEAM_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "the-key",
        "JEV_BASE_URL": server.url,
        "JEV_MAX_ATTEMPTS": "1",
        **others,
    }


def said(span: ReadableSpan) -> dict[str, Any]:
    """Give a span's attributes."""
    return dict(span.attributes or {})


def parent(span: ReadableSpan) -> int | None:
    """Give the id of a span's parent."""
    return None if span.parent is None else span.parent.span_id


def own(span: ReadableSpan) -> int:
    """Give a span's id."""
    assert span.context is not None
    return int(span.context.span_id)


def traceparent(span: ReadableSpan) -> str:
    """Give what W3C writes of a span."""
    assert span.context is not None
    ids = format_trace_id(span.context.trace_id), format_span_id(own(span))
    return f"00-{ids[0]}-{ids[1]}-{span.context.trace_flags:02x}"
