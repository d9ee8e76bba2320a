"""How a step of the flow is done: three shapes of provider, two colours of caller."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from . import context
from .current import Current
from .deadlines import bounded, left, until
from .errors import NoAnswer, Reason, SetupError
from .steps import OVERDUE, Apart, AskProvider, RunCurrent, Step
from .tracing.carrying import leaves

if TYPE_CHECKING:
    from .answers import Reply
    from .plugins import Call
    from .questions import Ask
    from .runtime import Runtime
    from .telemetry import Telemetry


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
            return _taken(step)
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
            return await _current(step)
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
            if lane.shape == "answer":
                provider: Any = lane.provider
                return provider.answer(ask, step.call)
            return self._sync(step, ask)
        except (NoAnswer, SetupError):
            raise
        except Exception as bug:  # noqa: BLE001 - a stranger's plug-in may raise anything
            raise self._strange(step, bug) from None

    def _sync(self, step: AskProvider, ask: Ask) -> object:
        lane, call = step.lane, step.call
        provider: Any = lane.provider
        if lane.shape == "async":
            apart = _apart(call)
            return self._runtime.wait(lambda: provider.answer(ask, apart), left(call.deadline))
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
            return await self._async(step, ask)
        except (NoAnswer, SetupError):
            raise
        except asyncio.CancelledError as bug:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise self._strange(step, bug) from None  # the provider's own, not the host's
        except Exception as bug:  # noqa: BLE001 - a stranger's plug-in may raise anything
            raise self._strange(step, bug) from None

    async def _masked(self, step: AskProvider) -> Ask:
        """Mask here what is short; a long text is searched beside the loop."""
        if step.lane.mask is None or step.masked or len(step.ask.text) <= SHORT:
            return _leaving(step)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._runtime.pool(), _leaving, step)
        return await bounded(work, step.call.deadline)

    def masked_sync(self, step: AskProvider) -> AskProvider:
        """
        Give *step* as it may leave, before it goes together with others.

        Raises:
            NoAnswer: The mask failed, or what it gave is too long: nothing may be sent.

        """
        if step.lane.mask is None:
            return step
        try:
            return msgspec.structs.replace(step, ask=_leaving(step), masked=True)
        except NoAnswer:
            raise
        except Exception as bug:  # noqa: BLE001 - a mask may raise anything
            raise self._strange(step, bug) from None

    async def masked(self, step: AskProvider) -> AskProvider:
        """As `masked_sync`; a long text is searched beside the loop."""
        if step.lane.mask is None:
            return step
        try:
            return msgspec.structs.replace(step, ask=await self._masked(step), masked=True)
        except NoAnswer:
            raise
        except Exception as bug:  # noqa: BLE001 - a mask may raise anything
            raise self._strange(step, bug) from None

    async def _async(self, step: AskProvider, ask: Ask) -> object:
        lane, call = step.lane, step.call
        provider: Any = lane.provider
        if lane.shape == "exchange":
            return await self._exchange(step, ask)
        if lane.shape == "async":
            return await bounded(provider.answer(ask, call), call.deadline)
        if not lane.blocking:
            return provider.answer(ask, call)
        loop = asyncio.get_running_loop()
        # in a copy of this context: its nested asks are of the same session
        answer = partial(contextvars.copy_context().run, provider.answer, ask, _apart(call))
        work = loop.run_in_executor(self._runtime.pool(), answer)
        return await bounded(work, call.deadline)

    async def _exchange(self, step: AskProvider, ask: Ask) -> Reply:
        provider: Any = step.lane.provider
        end = until(provider.timeout, step.call.deadline)
        here = self._runtime.on_loop()
        places = here.places(step.lane.name)
        await _placed(places, end)
        try:
            client = await here.client()
            exchange = provider.exchange(ask, step.call)
            return await self._runtime.send_async(exchange, client, end, provider.attempts)
        finally:
            places.release()

    def _strange(self, step: AskProvider, bug: BaseException) -> NoAnswer:
        """A stranger's plug-in may raise anything: its bug, told by its type alone."""
        self._telemetry.provider_bug(step.lane.name, bug)
        return NoAnswer(Reason.PROVIDER_ERROR)


def _leaving(step: AskProvider) -> Ask:
    """Give the ask as it may leave for the provider; every ask passes here, shared or not."""
    return step.ask if step.masked or step.lane.mask is None else step.lane.masked(step.ask)


def _apart(call: Call) -> Call:
    """For a provider on another thread: the host's own path runs on the caller's, or not at all."""
    return call if call.current is None else msgspec.structs.replace(call, current=None)


def _taken(step: RunCurrent) -> object:
    """
    Run the host's own path for a sync caller.

    Raises:
        SetupError: A plain `def` returned a coroutine, which a provider's answer is not.

    """
    assert isinstance(step.call.current, Current)
    value = step.call.current.take()
    if step.alone or not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()
    fix = "Declare it `async def`, or annotate that it returns an Awaitable"
    raise SetupError.of(step.call.point, "the function under this point returned a coroutine", fix)


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


async def _current(step: RunCurrent) -> object:
    assert isinstance(step.call.current, Current)
    value = step.call.current.take()
    if not inspect.isawaitable(value):
        return value
    if step.call.deadline is None:
        return await value
    scope = asyncio.timeout(step.call.deadline - time.monotonic())
    try:
        async with scope:
            return await value
    except TimeoutError:
        if not scope.expired():
            raise
        return OVERDUE
