"""One attempt as it is traced: an ask of a provider, or a run of the host's own path."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opentelemetry.context import Context, attach, get_current
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ..errors import NoAnswer, Reason
from ..settings import CURRENT
from . import attributes, names
from .carrying import Carries, carried

if TYPE_CHECKING:
    from ..questions import Ask
    from ..records import Attempt
    from ..resilience import Lane
    from .tracing import Tracing

_propagator = TraceContextTextMapPropagator()  # never baggage: what a host puts there is private


class Within:
    """
    Runs what is inside with a span as the current one.

    Nothing is reset by token: some frameworks go on in another context than they began in.
    """

    def __init__(self, context: Context, carries: Carries | None = None) -> None:
        self._context, self._carries = context, carries

    def __enter__(self) -> Self:
        self._before, self._carried = get_current(), carried.get()
        attach(self._context)
        carried.set(self._carries)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if get_current() is self._context:
            attach(self._before)
        if carried.get() is self._carries:
            carried.set(self._carried)


class Asked(Within):
    """
    One ask of a provider. Its span is closed once it is known whether it is believed.

    Args:
        tracing: Of the gateway.
        lane: Whom it asks.
        at: Its place among the attempts of its decision.
        point: For which decision point.
        around: The context of the decision's span.

    """

    def __init__(self, tracing: Tracing, lane: Lane, at: int, point: str, around: Context) -> None:
        self._tracing, self._lane, self.at, self._point = tracing, lane, at, point
        self._started = tracing.safe(attributes.of_lane, lane, point) or {}
        self._remote = lane.shape == "exchange"
        kind = SpanKind.CLIENT if self._remote else SpanKind.INTERNAL
        self._span = tracing.begun(f"ask {lane.name}", around, kind, self._started)
        super().__init__(set_span_in_context(self._span, around), self)

    def leaves(self, lane: Lane, ask: Ask) -> None:
        """Keep what the provider is shown, where content is wanted."""
        if lane is self._lane and self._tracing.content and self._span.is_recording():
            self._tracing.safe(self._shown, ask)

    def _shown(self, ask: Ask) -> None:
        self._span.set_attributes(attributes.shown(ask))

    def headers(self, url: str) -> Mapping[str, str]:
        """Give the context of this attempt, as W3C writes it; the address is known now."""
        return (self._tracing.safe(self._headers, url) or {}) if self._remote else {}

    def _headers(self, url: str) -> Mapping[str, str]:
        if names.SERVER_ADDRESS not in self._started:
            where = attributes.address_of(url)
            self._started |= where
            if self._span.is_recording():
                self._span.set_attributes(where)
        written: dict[str, str] = {}
        _propagator.inject(written, self._context)
        return written

    def settle(self, attempt: Attempt | None) -> None:
        """Say how it ended, and close the span."""
        if attempt is not None:
            self._tracing.safe(ended_as, self._span, attempt, content=self._tracing.content)
            given = attempt, self._point, self._started
            self._tracing.safe(self._tracing.meters.asked, *given, remote=self._remote)
        self._tracing.safe(self._span.end)


class Ran(Within):
    """
    One run of the host's own path.

    Attributes:
        overdue: It was cancelled at its deadline.

    """

    def __init__(self, tracing: Tracing, point: str, around: Context) -> None:
        self._tracing, self.overdue = tracing, False
        started = attributes.of_current(point)
        self._span = tracing.begun(CURRENT, around, SpanKind.INTERNAL, started)
        super().__init__(set_span_in_context(self._span, around))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        ended = NoAnswer(Reason.TIMEOUT) if self.overdue else error
        self._tracing.safe(failed_as, self._span, ended)
        self._tracing.safe(self._span.end)


def ended_as(span: Span, attempt: Attempt, *, content: bool) -> None:
    """Say on *span* how an attempt ended."""
    if not span.is_recording():
        return
    span.set_attributes(attributes.of_attempt(attempt, content=content))
    if attributes.error_of(attempt.reason) is not None and attempt.reason is not Reason.CANCELLED:
        span.set_status(StatusCode.ERROR)


def error_type(error: BaseException | None) -> str | None:
    """Name what the host got instead of a decision: by its reason, or its type alone."""
    if error is None:
        return None
    if isinstance(error, NoAnswer):
        return error.reason.value
    gone = isinstance(error, asyncio.CancelledError | GeneratorExit)
    return Reason.CANCELLED.value if gone else type(error).__name__


def failed_as(span: Span, error: BaseException | None) -> None:
    """Say on *span* what was raised, without a word of its text; what was given up is no error."""
    said = error_type(error)
    if said is None or not span.is_recording():
        return
    span.set_attribute(names.ERROR, said)
    if said != Reason.CANCELLED.value:
        span.set_status(StatusCode.ERROR)
