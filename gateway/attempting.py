"""Asking one provider: what is known before, what it said, whether it is believed."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from .acceptance import Verdict, accept
from .answers import Reply, served_as, sound
from .cases import Case
from .errors import NoAnswer, Reason
from .gates import Gate
from .plugins import Call
from .recording import attempt_of
from .register import Served
from .resilience import DEEPEST, Lane
from .steps import AskProvider, Sent, Step

if TYPE_CHECKING:
    from .caching import Slot

USABLE = (Reason.OK, Reason.LOW_CONFIDENCE)  # what a turn remembers: a valid answer stays one


def attempt(case: Case, lane: Lane, gate: Gate) -> Generator[Step, Any, Verdict]:
    """Ask one provider and hold its answer against the gate; the attempt is kept either way."""
    assert case.ask is not None
    call, sent = case.call, Sent(time.perf_counter())
    if call.deadline is not None and lane is case.planned:
        call = _sliced(call, case)
    within = entering(lane, call) if lane.deliberates else call
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
        case.escalated = case.escalated or _plain(fault.escalates)
        reply = billed(fault.reply)
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


def _plain(said: object) -> Mapping[str, Any] | None:
    """Keep what a provider says of a person's part in it as plain JSON, whatever it is made of."""
    if not isinstance(said, Mapping):
        return None
    try:
        return msgspec.json.decode(msgspec.json.encode(said), type=dict[str, Any])
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return {}  # a person is wanted nonetheless


def billed(reply: object) -> Reply | None:
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


def entering(lane: Lane, call: Call) -> Call:
    """Tell those whom a deliberating provider asks that it has been entered."""
    return msgspec.structs.replace(call, asking=(*call.asking, lane.name))
