"""
The flow of a decision, from question to record: plan → ask → accept → fall back once → record.

It is a generator without I/O. It yields what has to be done, `AskProvider` or `RunCurrent`,
and is driven by `drive_sync` or `drive_async`, which know how. Read it top to bottom.

What comes before: `making` puts a call together into a `Case`. How one provider is asked:
`attempting`. Around it: `deciding` drives it, lets what stands be given again (`standing`), puts
what nobody decides to a person (`inbox`) and tells how it ended (`keeping`).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeAlias, TypeVar

import msgspec

from .acceptance import Verdict
from .attempting import attempt
from .calculators import Unfit
from .cases import Case, Supplied
from .errors import NoAnswer, NothingToAsk, Reason, SetupError
from .inbox.asking import escalated
from .recording import attempt_of, held, outcome_of, recorded, unfit
from .records import Attempt, Decision
from .resilience import Lane
from .settings import CURRENT
from .steps import OVERDUE, RunCurrent, Sent, Step

T = TypeVar("T")
UNFIT = Verdict(Reason.UNSUPPORTED)
Flow: TypeAlias = Generator[Step, Any, T]


def decide(case: Case) -> Flow[Decision[Any]]:
    """Ask the planned provider; where it is not believed, `current` decides, once."""
    if case.supply is not None and case.planned is not None:
        try:
            yield from _supply(case, case.supply)
        except NothingToAsk:
            return _of_host(case)
    decision = yield from consult(case)
    if decision is not None:
        return decision
    if case.hosted is not None:
        return _of_host(case)
    if case.call.current is not None:
        return (yield from _host(case))
    behind = None if case.ask is None else case.behind
    if behind is not None and behind is not case.planned and case.own_gate is not None:
        verdict = yield from attempt(case, behind, case.own_gate)
        if verdict.accepted and (decided := _decided(case, behind.name, verdict)) is not None:
            return decided
    return (yield from escalated(case)) or _undecided(case)


def consult(case: Case) -> Flow[Decision[Any] | None]:
    """
    Ask the planned provider only, and a person where it says so; None: `current` carries on.

    Raises:
        NoAnswer: It is not believed, and the plan has no fallback. A nested plan is `current`
            in any case.

    """
    if case.planned is None:
        return None
    if case.ask is None:
        verdict = _unaskable(case, case.planned)
    else:
        verdict = yield from attempt(case, case.planned, case.plan.gate)
    if verdict.reason is Reason.OK:
        if (decided := _decided(case, case.planned.name, verdict)) is not None:
            return decided
        verdict = UNFIT
    if (said := (yield from escalated(case))) is not None:
        return said
    if not (case.plan.fallback or case.closes) and verdict.reason is not Reason.NESTED:
        raise NoAnswer(verdict.reason, point=case.point.name, attempts=case.attempts)
    return None


def _supply(case: Case, supply: Callable[[Any], Supplied]) -> Flow[None]:
    """
    Run the host's own path for what the provider chooses among; once, also for the fallback.

    Raises:
        NothingToAsk: It leaves nothing to choose.

    """
    value = yield from _run(case)
    case.hosted = value, case.attempts.pop()
    case.call = msgspec.structs.replace(case.call, current=None)  # it has run
    try:
        case.supplied = supply(value)
        case.ask = case.supplied.ask
    except (NothingToAsk, SetupError):
        raise
    except Exception:  # noqa: BLE001 - the host's value, in whatever shape, is still its answer
        case.ask = None


def _unaskable(case: Case, lane: Lane) -> Verdict:
    """What this call brought cannot be asked: too many options, a state that is no JSON."""
    verdict = Verdict(Reason.UNSUPPORTED)
    sent = Sent(time.perf_counter())
    case.attempts.append(attempt_of(lane, case.plan.gate, verdict, None, case.call, sent))
    return verdict


def _host(case: Case) -> Flow[Decision[Any]]:
    value = yield from _run(case)
    return Decision(value, recorded(case, CURRENT, case.read(value)))


def _run(case: Case) -> Flow[Any]:
    """Run the host's own path; its exceptions pass through, wrapped in nothing."""
    begun = time.perf_counter()
    reason = Reason.CANCELLED
    try:
        value = yield RunCurrent(case.call, alone=case.planned is None and case.once is None)
        reason = Reason.TIMEOUT if value is OVERDUE else Reason.OK
    except NoAnswer as fault:  # the host's own, of another decision
        reason = fault.reason
        raise
    except Exception:
        reason = Reason.PROVIDER_ERROR
        raise
    finally:
        late = case.call.deadline is not None and time.monotonic() > case.call.deadline
        seconds = time.perf_counter() - begun
        case.attempts.append(Attempt(provider=CURRENT, reason=reason, seconds=seconds, late=late))
    if value is OVERDUE:
        raise NoAnswer(reason, point=case.point.name, attempts=case.attempts)
    return value


def _of_host(case: Case) -> Decision[Any]:
    """Take what the host's own path has given already."""
    assert case.hosted is not None
    value, attempt = case.hosted
    case.attempts.append(attempt)
    return Decision(value, recorded(case, CURRENT, case.read(value)))


def _decided(case: Case, provider: str, verdict: Verdict) -> Decision[Any] | None:
    """Take what was answered; None: the point's own functions can make no answer of it."""
    outcome = outcome_of(verdict.answers)
    try:
        if case.rule is not None:
            outcome = held(case, outcome)
        if case.supplied is not None:
            value = case.supplied.write(outcome, verdict.confidence)
        else:
            value = case.write(outcome)
    except Unfit:
        unfit(case)
        return None
    return Decision(value, recorded(case, provider, outcome, verdict))


def _undecided(case: Case) -> Decision[Any]:
    own = next(iter(case.point.questions.values()))
    outcome = case.point.in_doubt(own if case.ask is None else case.ask.questions)
    value = None if outcome is None else case.write(outcome)
    return Decision(value, recorded(case, "", outcome, undecided=True))


def drive_sync(flow: Flow[T], perform: Callable[[Step], object]) -> T:
    """Drive *flow* on the caller's own thread."""
    given: object = None
    fault: BaseException | None = None
    while True:
        try:
            step = flow.send(given) if fault is None else flow.throw(fault)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        given = fault = None
        try:
            given = perform(step)
        except StopIteration:  # cannot be thrown into a generator; the host's own, untouched
            flow.close()
            raise
        except BaseException as error:  # noqa: BLE001 - the flow says what it means
            fault = error


async def drive_async(flow: Flow[T], perform: Callable[[Step], Awaitable[object]]) -> T:
    """Drive *flow* in the caller's own task."""
    given: object = None
    fault: BaseException | None = None
    while True:
        try:
            step = flow.send(given) if fault is None else flow.throw(fault)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        given = fault = None
        try:
            given = await perform(step)
        except BaseException as error:  # noqa: BLE001 - the flow says what it means
            fault = error
