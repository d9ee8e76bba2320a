"""A case through the engine, to a decision that is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import context
from .cases import Case
from .current import Current
from .engine import Flow, drive_async, drive_sync
from .errors import HumanNeeded
from .inbox.asking import ended
from .recording import recorded
from .records import Decision
from .settings import CURRENT
from .standing.standing import flowing
from .wiring import Wiring

D = TypeVar("D", bound="Decision[Any] | None")


def run_sync(wiring: Wiring, flow: Callable[[Case], Flow[D]], case: Case) -> D:
    """Run *flow* on this thread, and tell how it ended."""
    if case.untouched:
        return drive_sync(flow(case), wiring.asking.sync)
    try:
        flows, perform, tracing = _flowing(wiring, flow, case), wiring.asking.sync, wiring.tracing
        end = tracing.sync(case, flows, perform) if tracing else drive_sync(flows, perform)
    except BaseException:
        wiring.keeper.decided(wiring, case, recorded(case, ""))
        raise
    finally:
        _close(case)
    _tell(wiring, case, end)
    return handed(case, end)


async def run_async(wiring: Wiring, flow: Callable[[Case], Flow[D]], case: Case) -> D:
    """Run *flow* in this task, and tell how it ended."""
    if case.untouched:
        return await drive_async(flow(case), wiring.asking.async_)
    context.running_loop()
    try:
        flows, perform, tracing = _flowing(wiring, flow, case), wiring.asking.async_, wiring.tracing
        driven = tracing.async_(case, flows, perform) if tracing else drive_async(flows, perform)
        end = await driven
    except BaseException:
        wiring.keeper.decided(wiring, case, recorded(case, ""))
        raise
    finally:
        _close(case)
    _tell(wiring, case, end)
    return handed(case, end)


def _flowing(wiring: Wiring, flow: Callable[[Case], Flow[D]], case: Case) -> Flow[D]:
    """Begin *flow*; what it, or what stood, leaves to a person waits for one."""
    begun = flow(case) if case.once is None else flowing(wiring, flow, case)
    inbox = wiring.keeper.inbox
    if inbox is None or case.call.trial:  # nobody acts on what is on trial
        return begun
    case.inbox = inbox
    wants = case.point.on_undecided == "human" or case.once is not None
    return ended(case, begun) if wants else begun


def handed(case: Case, end: D) -> D:
    """
    Hand a decision that is told to the host.

    Raises:
        HumanNeeded: Nobody decided, and its point wants a person then.

    """
    if end is not None and end.undecided and case.point.on_undecided == "human":
        raise HumanNeeded(case.point.name, end.record.id, end.attempts)
    return end


def _tell(wiring: Wiring, case: Case, end: Decision[Any] | None) -> None:
    if end is not None:
        if not case.stands:
            wiring.keeper.decided(wiring, case, end.record, end.value)
        for collector in context.collectors(wiring.gateway):
            collector.append(end)
    elif not case.stands and (case.attempts or wiring.keeper.watched):  # in vain: current goes on
        wiring.keeper.consulted(recorded(case, CURRENT))


def _close(case: Case) -> None:
    if isinstance(case.call.current, Current):
        case.call.current.close()
