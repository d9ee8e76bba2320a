"""What traces the decisions of one gateway."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from opentelemetry.context import Context, get_current
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    Span,
    SpanContext,
    SpanKind,
    Tracer,
    get_current_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ..engine import Flow, drive_async, drive_sync
from ..forks import Lock
from . import attributes
from .attempts import Asked, Within, ended_as
from .safety import Safe, Say
from .spans import NANO, Traced

if TYPE_CHECKING:
    from ..cases import Case
    from ..records import Decision, Shadow
    from ..resilience import Lane
    from ..steps import Step
    from .attributes import Attributes
    from .metering import Meters

D = TypeVar("D", bound="Decision[Any] | None")

LINKED = 4_096  # decisions whose shadows may still come; those that are starved never do


class Tracing:
    """
    Makes the spans of one gateway's decisions, and has them counted.

    Args:
        tracer: Makes spans.
        meters: Counts.
        say: Writes an event to the gateway's log.
        content: Whether spans hold states, answers and subjects too.

    """

    def __init__(self, tracer: Tracer, meters: Meters, say: Say, *, content: bool) -> None:
        self._tracer = tracer
        self.meters = meters
        self.safe = Safe(say)
        self.content = content
        self._lock = Lock()
        self._links: OrderedDict[str, tuple[SpanContext, int]] = OrderedDict()

    def sync(self, case: Case, flow: Flow[D], perform: Callable[[Step], object]) -> D:
        """Drive *flow* on this thread, with the decision's span as the current one."""
        with Traced(self, case) as traced:
            end = drive_sync(flow, traced.sync(perform))
            traced.end = end
        return end

    async def async_(
        self, case: Case, flow: Flow[D], perform: Callable[[Step], Awaitable[object]]
    ) -> D:
        """As `sync`, in this task."""
        with Traced(self, case) as traced:
            end = await drive_async(flow, traced.async_(perform))
            traced.end = end
        return end

    def heard(self, lane: Lane, point: str) -> Asked:
        """Trace one ask within a decision that is under way, below whatever span runs here."""
        return Asked(self, lane, 0, point, get_current())

    def begun(
        self,
        name: str,
        around: Context,
        kind: SpanKind,
        said: Attributes,
        *,
        links: Sequence[Link] = (),
        start: int | None = None,
    ) -> Span:
        """Begin a span, at *start* in nanoseconds; where that fails, one that does nothing."""
        span = self.safe(self._tracer.start_span, name, around, kind, said, links, start)
        return INVALID_SPAN if span is None else span

    # --- shadows --------------------------------------------------------------------------

    def ended(self, case: Case, span: Span) -> None:
        """Keep which span a decision had, until its shadows have been asked."""
        if not case.besides:
            return
        with self._lock:
            self._links[case.id] = span.get_span_context(), len(case.besides)
            while len(self._links) > LINKED:
                self._links.popitem(last=False)

    def shadowed(self, case: Case, shadow: Shadow) -> None:
        """Tell of an ask in the background: in a trace of its own, beside its decision's."""
        self.safe(self._shadowed, case, shadow)

    def _shadowed(self, case: Case, shadow: Shadow) -> None:
        attempt, lane, now = shadow.attempt, case.planned, time.time_ns()
        assert lane is not None
        remote, said = lane.shape == "exchange", attributes.of_lane(lane, shadow.point)
        span = self.begun(
            f"shadow {self.meters.named(shadow.point)}",
            Context(),
            SpanKind.CLIENT if remote else SpanKind.INTERNAL,
            said,
            links=[Link(one) for one in self._linked(shadow.of)],
            start=now - int(attempt.seconds * NANO),
        )
        if span.is_recording():
            span.set_attributes(attributes.of_shadow(shadow))
        ended_as(span, attempt, content=self.content)
        span.end(now)
        self.meters.shadowed(shadow)
        self.meters.asked(attempt, shadow.point, said, remote=remote)

    def _linked(self, decision: str) -> list[SpanContext]:
        with self._lock:
            context, left = self._links.pop(decision, (None, 0))
            if context is None:
                return []
            if left > 1:
                self._links[decision] = context, left - 1
        return [context] if context.is_valid else []

    # --- callers --------------------------------------------------------------------------

    @contextmanager
    def continued(self, headers: Mapping[bytes, bytes]) -> Generator[None]:
        """Go on with the trace of a caller, unless whoever serves the request does so already."""
        if get_current_span().get_span_context().is_valid:
            yield
            return
        with Within(self.safe(_caller, headers) or get_current()):
            yield


def _caller(headers: Mapping[bytes, bytes]) -> Context:
    given = {
        name: headers[name.encode()].decode("latin-1")
        for name in ("traceparent", "tracestate")
        if name.encode() in headers
    }
    return TraceContextTextMapPropagator().extract(given)
