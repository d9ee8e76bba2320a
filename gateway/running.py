"""How the host's own path is run: on the caller's own thread or task, at most once."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from . import context
from .current import Current
from .errors import SetupError
from .steps import OVERDUE, RunCurrent

if TYPE_CHECKING:
    from .plugins import Call

T = TypeVar("T")


def apart(call: Call) -> Call:
    """For a provider on another thread: the host's own path runs on the caller's, or not at all."""
    return call if call.current is None else msgspec.structs.replace(call, current=None)


def after_current(call: Call) -> Call:
    """Run the host's own path here, first, so that what it said can be read on another thread."""
    current = call.current
    return call if isinstance(current, Current) and current.run_first() else apart(call)


def run_sync(step: RunCurrent) -> object:
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


async def run_async(step: RunCurrent) -> object:
    """Run it in the caller's own task; `OVERDUE`: it was cancelled at the deadline."""
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


async def nesting(owner: object, call: Call, work: Coroutine[Any, Any, T]) -> T:
    """Do *work*, in which what *owner* decides is nested in *call*, whether or not it is told."""
    with context.entered(owner, call):
        return await work


def nesting_sync(owner: object, call: Call, work: Callable[[], T]) -> T:
    """As `nesting`, on this thread."""
    with context.entered(owner, call):
        return work()
