"""One provider, or the host's own path, asked past every plan: what is made of it."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .answers import Answer
from .attempting import attempt
from .cases import Case
from .chance import new_id
from .current import Current
from .deadlines import bounded
from .directory import DIRECT
from .engine import drive_async
from .errors import NoAnswer, Reason
from .questions import Outcome, Question, Value, may_answer, principal
from .records import Attempt
from .returns import reader
from .settings import CURRENT, Plan
from .steps import AskProvider, Step
from .strangers import is_made_up

if TYPE_CHECKING:
    from .plugins import Call
    from .questions import Ask
    from .resilience import Lane
    from .tracing.attempts import Asked
    from .wiring import Wiring

T = TypeVar("T")


class Span:
    """The span of one who is heard, below that of whoever hears; none where nothing is traced."""

    def __init__(self, wiring: Wiring, lane: Lane, point: str) -> None:
        self._tracing, self._lane, self._point = wiring.tracing, lane, point
        self._asked: Asked | None = None

    async def over(self, work: Awaitable[T]) -> T:
        """Do the work within it."""
        if self._tracing is None:
            return await work
        self._asked = self._tracing.heard(self._lane, self._point)
        with self._asked:
            return await work

    def ends(self, attempt: Attempt | None) -> None:
        """Say how it ended; what was never sent has no span."""
        if self._asked is not None:
            self._asked.settle(attempt)


async def heard(wiring: Wiring, lane: Lane, ask: Ask, call: Call) -> Attempt:
    """Ask *lane*, past turns and caches too: whoever deliberates wants each answer anew."""
    case, span = _case(wiring, lane, ask, call), Span(wiring, lane, call.point)

    async def perform(step: Step) -> object:
        assert isinstance(step, AskProvider)
        return await span.over(wiring.asking.alone(step))

    try:
        await drive_async(attempt(case, lane, case.plan.gate), perform)
    finally:
        span.ends(case.attempts[-1] if case.attempts else None)
    return case.attempts[-1]


def _case(wiring: Wiring, lane: Lane, ask: Ask, call: Call) -> Case:
    plan = Plan(
        point=call.point,
        provider=lane.name,
        gate=wiring.own_gate(lane),
        fallback=False,
        deadline=None,
        share=0.0,
        why={},
    )
    return Case(
        point=DIRECT,
        plan=plan,
        ask=ask,
        call=call,
        planned=None,
        behind=None,
        own_gate=None,
        read=_nothing,
        write=_nothing,
        id=new_id(),
        begun=time.perf_counter(),
        attempts=[],
        language=wiring.settings.globals.language,
    )


def _nothing(_: object) -> None:
    """Nobody is told of it as of a decision, so that nothing is read or written."""


async def heard_current(ask: Ask, call: Call) -> Attempt:
    """Take what the host's own path says, which is run at most once; None of it: `unsupported`."""
    begun, reason = time.perf_counter(), Reason.OK
    answers: Mapping[str, Answer] = {}
    try:
        answers = _said(ask.questions, call.current, await _value(call))
    except NoAnswer as fault:
        reason = fault.reason
    except Exception:  # noqa: BLE001 - the host's own; it surfaces where the host is asked
        reason = Reason.PROVIDER_ERROR
    except asyncio.CancelledError as error:
        if not is_made_up(error):
            raise
        reason = Reason.PROVIDER_ERROR
    late = call.deadline is not None and time.monotonic() > call.deadline
    seconds = time.perf_counter() - begun
    return Attempt(provider=CURRENT, reason=reason, answers=answers, seconds=seconds, late=late)


async def _value(call: Call) -> Any:  # noqa: ANN401 - the host's own
    """Run it; who hears may leave early, but the fallback still waits for what was begun."""
    if call.current is None:
        raise NoAnswer(Reason.UNSUPPORTED)
    value = call.current()
    if not inspect.isawaitable(value):
        return value
    return await bounded(asyncio.shield(value), call.deadline)


def _said(questions: Mapping[str, Question], current: object, value: object) -> dict[str, Answer]:
    """
    Read the host's value into answers.

    Raises:
        NoAnswer: `malformed` where it is no word of the point's, `undeclared_option` where it is
            none of this ask's.

    """
    read = current.read if isinstance(current, Current) else None
    outcome: Outcome = (read or reader(questions))(value)
    named = _named(questions, outcome)
    if all(one is None for one in named.values()):
        raise NoAnswer(Reason.MALFORMED)
    for name, one in named.items():
        if one is not None and not may_answer(questions[name], one):
            raise NoAnswer(Reason.UNDECLARED_OPTION)
    return {name: Answer(value=one, source="current") for name, one in named.items()}


def _named(questions: Mapping[str, Question], outcome: Outcome) -> dict[str, Value | None]:
    if isinstance(outcome, Mapping):
        return {name: outcome.get(name) for name in questions}
    main = principal(questions)
    return {name: outcome if name == main or len(questions) == 1 else None for name in questions}
