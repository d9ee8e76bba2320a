"""One decision as it is traced: its own span, and one for each attempt below it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from opentelemetry.context import get_current
from opentelemetry.trace import SpanKind, set_span_in_context

from ..recording import recorded
from ..settings import CURRENT
from ..steps import OVERDUE, Apart, AskProvider, RunCurrent, Step
from . import attributes, names
from .attempts import Asked, Ran, Within, ended_as, error_type, failed_as

if TYPE_CHECKING:
    from ..cases import Case
    from ..records import Attempt, Decision, Record
    from .tracing import Tracing

NANO = 1_000_000_000


class Traced:
    """
    The spans of one decision.

    Attributes:
        end: What it came to; None: `current` carries on, or it failed.

    """

    def __init__(self, tracing: Tracing, case: Case) -> None:
        self._tracing, self._case = tracing, case
        self.end: Decision[Any] | None = None
        self._asked: Asked | None = None  # whose verdict is still to come
        self._seen = 0  # attempts that have their spans
        before = get_current()
        started = tracing.safe(attributes.of_case, case, content=tracing.content) or {}
        name = f"{names.DECIDE} {tracing.meters.named(case.point.name)}"
        self._span = tracing.begun(name, before, SpanKind.INTERNAL, started)
        self._around = set_span_in_context(self._span, before)
        self._within = Within(self._around)

    def sync(self, perform: Callable[[Step], object]) -> Callable[[Step], object]:
        """Trace each step that is performed."""

        def performed(step: Step) -> object:
            with self._attempt(step) as attempt:
                return _overdue(attempt, perform(step))

        return performed

    def async_(
        self, perform: Callable[[Step], Awaitable[object]]
    ) -> Callable[[Step], Awaitable[object]]:
        """As `sync`."""

        async def performed(step: Step) -> object:
            with self._attempt(step) as attempt:
                return _overdue(attempt, await perform(step))

        return performed

    def _attempt(self, step: Step) -> Asked | Ran | nullcontext[None]:
        self._settle()
        if type(step) is Apart:
            return nullcontext()
        if type(step) is RunCurrent:
            return Ran(self._tracing, self._case.point.name, self._around)
        assert type(step) is AskProvider
        at, point = len(self._case.attempts), self._case.point.name
        self._asked = Asked(self._tracing, step.lane, at, point, self._around)
        return self._asked

    def _settle(self) -> None:
        """Close the span of what was asked last; what was never sent gets one afterwards."""
        attempts, asked = self._case.attempts, self._asked
        for at in range(self._seen, len(attempts)):
            if asked is not None and at == asked.at:
                asked.settle(attempts[at])
                self._asked = None
            elif attempts[at].provider != CURRENT:
                self._tracing.safe(self._unasked, attempts[at])
        self._seen = len(attempts)

    def _unasked(self, attempt: Attempt) -> None:
        now = time.time_ns()
        started = attributes.of_unasked(attempt, self._case.point.name)
        span = self._tracing.begun(
            f"ask {attempt.provider}",
            self._around,
            SpanKind.INTERNAL,
            started,
            start=now - int(attempt.seconds * NANO),
        )
        ended_as(span, attempt, content=self._tracing.content)
        span.end(now)

    def __enter__(self) -> Self:
        self._within.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._within.__exit__(kind, error, trace)
        self._settle()
        if self._asked is not None:  # nothing was written down of it: a bug, which surfaces
            self._asked.settle(None)
        if self.end is not None:
            record = self.end.record
        else:
            record = recorded(self._case, CURRENT if error is None else "")
        self._tracing.safe(self._told, record, error)
        self._tracing.safe(self._span.end)
        self._tracing.ended(self._case, self._span)

    def _told(self, record: Record, error: BaseException | None) -> None:
        failed_as(self._span, error)
        if not self._case.stands:
            self._tracing.meters.decided(record, error_type(error))
        if not self._span.is_recording():
            return
        content = self._tracing.content
        self._span.set_attributes(attributes.of_record(self._case, record, content=content))
        if self._case.stands:  # what was judged is told already
            return
        for found in attributes.evaluations(self._case.point, record, content=content):
            self._span.add_event(names.EVALUATED, found)


def _overdue(attempt: Asked | Ran | None, given: object) -> object:
    if isinstance(attempt, Ran):
        attempt.overdue = given is OVERDUE
    return given
