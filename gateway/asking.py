"""How a step of the flow is done: three shapes of provider, two colours of caller."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from . import context, running
from .deadlines import bounded, left, until
from .errors import NoAnswer, Reason
from .running import after_current, apart
from .steps import Apart, AskProvider, RunCurrent, Step
from .strangers import Stranger
from .tracing.carrying import leaves

if TYPE_CHECKING:
    from .answers import Reply
    from .http import Exchange
    from .questions import Ask
    from .resilience import Lane
    from .runtime import Runtime
    from .telemetry import Telemetry

T = TypeVar("T")

SHORT = 1_000  # characters; a mask that looks for numbers takes milliseconds for more


class Shares(Protocol):
    """What a turn does with the asks of its decisions."""

    def passes(self) -> None:
        """Learn that a decision does not ask now."""
        ...

    def known(self, step: AskProvider) -> Reply | None:
        """Give what this very ask was answered before in the turn."""
        ...

    def sync(self, step: AskProvider, asking: Asking) -> object:
        """Ask on this thread."""
        ...

    async def async_(self, step: AskProvider, asking: Asking) -> object:
        """Ask in this task, or in a call that others share."""
        ...


class Asking:
    """
    Performs the steps of one gateway's flows.

    Args:
        runtime: What is open.
        telemetry: Is told of a plug-in's bugs.
        owner: The gateway, whose turns count.

    """

    def __init__(self, runtime: Runtime, telemetry: Telemetry, owner: object) -> None:
        self._runtime = runtime
        self._telemetry = telemetry
        self._owner = owner

    def known(self, step: AskProvider) -> Reply | None:
        """Give what is known without asking: said before in this turn, or kept in a cache."""
        turn = context.turn(self._owner)
        reply = None if turn is None else turn.known(step)
        return step.slot.recall(step.sent) if reply is None and step.slot is not None else reply

    def sync(self, step: Step) -> object:
        """Do *step* on the caller's own thread."""
        if type(step) is RunCurrent:
            return running.run_sync(step)
        if type(step) is Apart:
            return step.sync()
        assert type(step) is AskProvider
        turn = context.turn(self._owner)
        return self.single_sync(step) if turn is None else turn.sync(step, self)

    async def async_(self, step: Step) -> object:
        """Do *step* in the caller's own task."""
        turn = context.turn(self._owner)
        if type(step) is RunCurrent:
            if turn is not None:
                turn.passes()
            return await running.run_async(step)
        if type(step) is Apart:
            return await step.async_()
        assert type(step) is AskProvider
        return await (self.single(step) if turn is None else turn.async_(step, self))

    def single_sync(self, step: AskProvider) -> object:
        """Ask on this thread; of a point with a cache, what is asked already is not sent again."""
        if step.slot is None:
            return self.alone_sync(step)
        return step.slot.flights.ask_sync(step, self)

    async def single(self, step: AskProvider) -> object:
        """As `single_sync`, in this task."""
        if step.slot is None:
            return await self.alone(step)
        return await step.slot.flights.ask(step, self)

    def alone_sync(self, step: AskProvider) -> object:
        """Ask on this thread, whatever else the turn asks."""
        lane = step.lane
        try:
            ask = _leaving(step)
            leaves(lane, ask)
            if step.call.asking:
                work = partial(self._sync, step, ask)
                return running.nesting_sync(self._owner, step.call, work)
            if lane.shape == "answer":
                provider: Any = lane.provider
                return provider.answer(ask, step.call)
            return self._sync(step, ask)
        except BaseException as error:  # `with` would cost every ask a microsecond
            self.stranger(lane).judge(error)
            raise

    def _sync(self, step: AskProvider, ask: Ask) -> object:
        lane, call = step.lane, step.call
        provider: Any = lane.provider
        if lane.shape == "answer":
            return provider.answer(ask, call)
        if lane.shape == "async":
            away = after_current(call) if lane.hears_current else apart(call)
            return self._runtime.wait(lambda: provider.answer(ask, away), left(call.deadline))
        client = self._runtime.sync_client()
        end = until(provider.timeout, call.deadline)
        return self._runtime.send_sync(provider.exchange(ask, call), client, end, provider.attempts)

    def started(self, step: AskProvider) -> asyncio.Task[object]:
        """Ask in a task that belongs to the gateway: it ends when the gateway is closed."""
        task = asyncio.get_running_loop().create_task(self.alone(step))
        self._runtime.on_loop().own(task)
        return task

    async def alone(self, step: AskProvider) -> object:
        """Ask in this task, whatever else the turn asks."""
        try:
            ask = await self._masked(step)
            leaves(step.lane, ask)
            made, call = self._async(step, ask), step.call
            return await (running.nesting(self._owner, call, made) if call.asking else made)
        except BaseException as error:
            self.stranger(step.lane).judge(error)
            raise

    async def _masked(self, step: AskProvider) -> Ask:
        """Mask here what is short; a long text is searched beside the loop."""
        if step.lane.mask is None or step.masked or len(step.ask.text) <= SHORT:
            return _leaving(step)
        return await self.beside(partial(_leaving, step), step.call.deadline)

    def masked_sync(self, step: AskProvider) -> AskProvider:
        """
        Give *step* as it may leave, before it goes together with others.

        Raises:
            NoAnswer: The mask failed, or what it gave is too long: nothing may be sent.

        """
        if step.lane.mask is None:
            return step
        with self.stranger(step.lane):
            return msgspec.structs.replace(step, ask=_leaving(step), masked=True)

    async def masked(self, step: AskProvider) -> AskProvider:
        """As `masked_sync`; a long text is searched beside the loop."""
        if step.lane.mask is None:
            return step
        with self.stranger(step.lane):
            return msgspec.structs.replace(step, ask=await self._masked(step), masked=True)

    async def _async(self, step: AskProvider, ask: Ask) -> object:
        lane, call = step.lane, step.call
        provider: Any = lane.provider
        if lane.shape == "exchange":
            exchange = partial(provider.exchange, ask, call)
            return await self.exchanged(lane, exchange, until(provider.timeout, call.deadline))
        if lane.shape == "async":
            return await bounded(provider.answer(ask, call), call.deadline)
        if not lane.blocking:
            return provider.answer(ask, call)
        # in a copy of this context: its nested asks are of the same session
        answer = partial(contextvars.copy_context().run, provider.answer, ask, apart(call))
        return await self.beside(answer, call.deadline)

    async def exchanged(self, lane: Lane, exchange: Callable[[], Exchange[T]], end: float) -> T:
        """
        Drive an exchange of *lane*'s provider, once there is a place in front of the pool.

        Args:
            lane: Whose.
            exchange: Begins it.
            end: On `time.monotonic`; all attempts, and the wait for a place, end before it.

        Raises:
            NoAnswer: `skipped` where there is none in time; `timeout`, `transport`, or what the
                exchange raises.

        """
        provider: Any = lane.provider
        here = self._runtime.on_loop()
        places = here.places(lane.name)
        await _placed(places, end)
        try:
            client = await here.client()
            return await self._runtime.send_async(exchange(), client, end, provider.attempts)
        finally:
            places.release()

    def beside(self, work: Callable[[], T], deadline: float | None) -> Awaitable[T]:
        """Do what takes long beside the loop, but not beyond *deadline*."""
        running = asyncio.get_running_loop().run_in_executor(self._runtime.pool(), work)
        return bounded(running, deadline)

    def stranger(self, lane: Lane) -> Stranger:
        """Do within what is in the hands of *lane*'s plug-in."""
        return Stranger(self._telemetry, lane.name)


def _leaving(step: AskProvider) -> Ask:
    """Give the ask as it may leave for the provider; every ask passes here, shared or not."""
    return step.ask if step.masked or step.lane.mask is None else step.lane.masked(step.ask)


async def _placed(places: asyncio.Semaphore, end: float) -> None:
    """
    Wait for a place in front of the pool.

    Raises:
        NoAnswer: `skipped`: nothing was sent, and our own crowd is no failure of the provider.

    """
    try:
        await bounded(places.acquire(), end if places.locked() else None)
    except NoAnswer:
        raise NoAnswer(Reason.SKIPPED) from None
