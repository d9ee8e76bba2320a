"""How a step of the flow is done: three shapes of provider, two colours of caller."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from .current import Current
from .engine import OVERDUE, AskProvider, RunCurrent, Step
from .errors import NoAnswer, Reason, SetupError

if TYPE_CHECKING:
    from .answers import Reply
    from .plugins import Call
    from .runtime import Runtime
    from .telemetry import Telemetry


class Asking:
    """Performs the steps of one gateway's flows."""

    def __init__(self, runtime: Runtime, telemetry: Telemetry) -> None:
        self._runtime = runtime
        self._telemetry = telemetry

    def sync(self, step: Step) -> object:
        """Do *step* on the caller's own thread."""
        if type(step) is RunCurrent:
            return _taken(step)
        assert type(step) is AskProvider
        lane = step.lane
        try:
            if lane.shape == "answer":
                provider: Any = lane.provider
                return provider.answer(step.ask, step.call)
            return self._sync(step)
        except (NoAnswer, SetupError):
            raise
        except Exception as bug:  # noqa: BLE001 - a stranger's plug-in may raise anything
            raise self._strange(step, bug) from None

    def _sync(self, step: AskProvider) -> object:
        lane, ask, call = step.lane, step.ask, step.call
        provider: Any = lane.provider
        if lane.shape == "async":
            apart = _apart(call)
            return self._runtime.wait(lambda: provider.answer(ask, apart), _left(call.deadline))
        client = self._runtime.sync_client()
        until = _until(provider.timeout, call.deadline)
        return self._runtime.send_sync(
            provider.exchange(ask, call), client, until, provider.attempts
        )

    async def async_(self, step: Step) -> object:
        """Do *step* in the caller's own task."""
        if type(step) is RunCurrent:
            return await _current(step)
        assert type(step) is AskProvider
        try:
            return await self._async(step)
        except (NoAnswer, SetupError):
            raise
        except asyncio.CancelledError as bug:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise self._strange(step, bug) from None  # the provider's own, not the host's
        except Exception as bug:  # noqa: BLE001 - a stranger's plug-in may raise anything
            raise self._strange(step, bug) from None

    async def _async(self, step: AskProvider) -> object:
        lane, ask, call = step.lane, step.ask, step.call
        provider: Any = lane.provider
        if lane.shape == "exchange":
            return await self._exchange(step)
        if lane.shape == "async":
            return await _bounded(provider.answer(ask, call), call.deadline)
        if not lane.blocking:
            return provider.answer(ask, call)
        loop = asyncio.get_running_loop()
        # in a copy of this context: its nested asks are of the same session
        answer = partial(contextvars.copy_context().run, provider.answer, ask, _apart(call))
        work = loop.run_in_executor(self._runtime.pool(), answer)
        return await _bounded(work, call.deadline)

    async def _exchange(self, step: AskProvider) -> Reply:
        provider: Any = step.lane.provider
        until = _until(provider.timeout, step.call.deadline)
        here = self._runtime.on_loop()
        places = here.places(step.lane.name)
        await _placed(places, until)
        try:
            shard = await here.lend()
            try:
                exchange = provider.exchange(step.ask, step.call)
                return await self._runtime.send_async(
                    exchange, shard.client, until, provider.attempts
                )
            finally:
                shard.busy -= 1
        finally:
            places.release()

    def _strange(self, step: AskProvider, bug: BaseException) -> NoAnswer:
        """A stranger's plug-in may raise anything: its bug, told by its type alone."""
        self._telemetry.provider_bug(step.lane.name, bug)
        return NoAnswer(Reason.PROVIDER_ERROR)


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


async def _placed(places: asyncio.Semaphore, until: float) -> None:
    """
    Wait for a place in front of the pool.

    Raises:
        NoAnswer: `skipped`: nothing was sent, and our own crowd is no failure of the provider.

    """
    try:
        await _bounded(places.acquire(), until if places.locked() else None)
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


async def _bounded(awaitable: Any, until: float | None) -> Any:  # noqa: ANN401 - passes through
    """
    Await, but not beyond *until*.

    Raises:
        NoAnswer: `timeout`; what was awaited is cancelled.

    """
    if until is None:
        return await awaitable
    scope = asyncio.timeout(until - time.monotonic())
    try:
        async with scope:
            return await awaitable
    except TimeoutError:
        if not scope.expired():
            raise
        raise NoAnswer(Reason.TIMEOUT) from None


def _until(timeout: float, deadline: float | None) -> float:
    own = time.monotonic() + timeout
    return own if deadline is None else min(own, deadline)


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())
