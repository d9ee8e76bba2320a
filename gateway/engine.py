"""
The flow of a decision, from question to record: plan → ask → accept → fall back once → record.

It is a generator without I/O. It yields what has to be done, `AskProvider` or `RunCurrent`,
and is driven by `drive_sync` or `drive_async`, which know how. Read it top to bottom.

What comes before: `making` puts a call together into a `Case`. Around it: `deciding` drives it,
lets what stands be given again (`standing`) and tells how it ended (`keeping`).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from .acceptance import Verdict, accept
from .answers import Reply, served_as, sound
from .cases import Case, Supplied
from .errors import NoAnswer, NothingToAsk, Reason, SetupError
from .gates import Gate
from .plugins import Call
from .recording import attempt_of, outcome_of, recorded
from .records import Attempt, Decision
from .register import Served
from .resilience import DEEPEST, Lane
from .settings import CURRENT
from .steps import OVERDUE, AskProvider, RunCurrent, Sent, Step

if TYPE_CHECKING:
    from .caching import Slot

T = TypeVar("T")
Flow: TypeAlias = Generator[Step, Any, T]


USABLE = (Reason.OK, Reason.LOW_CONFIDENCE)  # what a turn remembers: a valid answer stays one


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
        verdict = yield from _attempt(case, behind, case.own_gate)
        if verdict.accepted:
            return _decided(case, behind.name, verdict)
    return _undecided(case)


def consult(case: Case) -> Flow[Decision[Any] | None]:
    """
    Ask the planned provider only; None means that `current` carries on.

    Raises:
        NoAnswer: It is not believed, and the plan has no fallback. A nested plan is `current`
            in any case.

    """
    if case.planned is None:
        return None
    if case.ask is None:
        verdict = _unaskable(case, case.planned)
    else:
        verdict = yield from _attempt(case, case.planned, case.plan.gate)
    if verdict.reason is Reason.OK:
        return _decided(case, case.planned.name, verdict)
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


def _attempt(case: Case, lane: Lane, gate: Gate) -> Flow[Verdict]:
    """Ask one provider and hold its answer against the gate; the attempt is kept either way."""
    assert case.ask is not None
    call, sent = case.call, Sent(time.perf_counter())
    if call.deadline is not None and lane is case.planned:
        call = _sliced(call, case)
    within = _entered(lane, call) if lane.deliberates else call
    reply: Reply | None = None
    verdict = Verdict(Reason.CANCELLED)
    entered = probe = operator = False
    slot = _slot(case, lane)
    step = AskProvider(lane, case.ask, within, case.point, sent, slot=slot)
    judge = accept if slot is None else slot.accept
    try:
        reply = _known(case, step)
        if reply is None:
            probe = lane.enter(case.ask, call)
            entered = True
            reply = sound((yield step))
        verdict = judge(case.ask, reply, _certified(case, lane, gate, reply, sent))
        if sent.keeper is not None and verdict.reason in USABLE:
            sent.keeper.remember(step, reply)
    except NoAnswer as fault:
        operator, verdict = fault.operator, Verdict(fault.reason)
        reply = _billed(fault.reply)
    finally:
        if entered:
            _learned(case, step, reply, verdict.reason, probe=probe, operator=operator)
        case.attempts.append(attempt_of(lane, gate, verdict, reply, call, sent))
    return verdict


def _learned(
    case: Case,
    step: AskProvider,
    reply: Reply | None,
    reason: Reason,
    *,
    probe: bool,
    operator: bool,
) -> None:
    """Tell the lane and the cache how an ask ended that was let through."""
    lane, sent = step.lane, step.sent
    told = sent.counted or sent.cached  # what is known or told already says nothing of a provider
    lane.saw(Reason.SKIPPED if told else reason, probe=probe, operator=operator and not told)
    lane.paid(None if sent.cached else reply)
    if case.cache is not None and not sent.cached:
        case.cache.learn(step, reply, ok=reason is Reason.OK)


def _slot(case: Case, lane: Lane) -> Slot | None:
    """Name the place of this ask in the cache, if its point has one."""
    seconds = case.plan.cache_seconds
    if case.cache is None or seconds is None or case.ask is None:
        return None
    return case.cache.slot(lane, case.point.name, case.ask, seconds)


def _known(case: Case, step: AskProvider) -> Reply | None:
    """
    Give what is known already: it needs no breaker, no budget, no time, and nothing is sent.

    What may not be asked within another decision is not answered there from memory either.
    """
    call = step.call
    if case.known is None or call.depth > DEEPEST or (call.depth and step.lane.deliberates):
        return None
    return case.known(step)


def _certified(case: Case, lane: Lane, gate: Gate, reply: Reply, sent: Sent) -> Gate:
    """Let certificates that match the served model set the thresholds of their questions."""
    if case.register is None or case.ask is None or lane is not case.planned:
        return gate
    model = served_as(reply.model or lane.model, reply.source)
    served = Served(case.language, sent.form, lane.name, model)
    return case.register.gate(gate, case.point, case.ask, served)


def _billed(reply: object) -> Reply | None:
    """Keep of what came with a fault what is sound; the fault is told already."""
    try:
        return None if reply is None else sound(reply)
    except NoAnswer:
        return None


def _sliced(call: Call, case: Case) -> Call:
    """Leave the fallback its share of the deadline, unless it has run already."""
    if call.deadline is not None and case.plan.fallback and case.hosted is None:
        now = time.monotonic()
        until = now + (call.deadline - now) * (1.0 - case.plan.share)
        call = msgspec.structs.replace(call, deadline=until)
    return call


def _entered(lane: Lane, call: Call) -> Call:
    """Tell those whom a deliberating provider asks that it has been entered."""
    return msgspec.structs.replace(call, asking=(*call.asking, lane.name))


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


def _decided(case: Case, provider: str, verdict: Verdict) -> Decision[Any]:
    outcome = outcome_of(verdict.answers)
    if case.supplied is not None:
        value = case.supplied.write(outcome, verdict.confidence)
    else:
        value = case.write(outcome)
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
