"""Threads of a gateway's own: one with a loop, and those for work that may never end."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Executor, Future
from typing import Any, Generic, TypeVar, cast

from .errors import NoAnswer, Reason

T = TypeVar("T")


class Outcome(Generic[T]):
    """What a coroutine came to; a `SystemExit` in it must end the caller, not the loop thread."""

    def __init__(self, value: T | None = None, stopped: BaseException | None = None) -> None:
        self._value = value
        self._stopped = stopped

    def taken(self) -> T:
        """Give the value, or raise what stopped it."""
        if self._stopped is not None:
            raise self._stopped
        return cast("T", self._value)


async def _contained(make: Callable[[], Coroutine[Any, Any, T]]) -> Outcome[T]:
    try:
        return Outcome(await make())
    except (SystemExit, KeyboardInterrupt) as stopped:
        return Outcome(stopped=stopped)


class Daemons(Executor):
    """A thread for each piece of work, which ends with the process if the work does not end."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:  # noqa: ANN401
        """Begin *fn* on a thread of its own."""
        future: Future[T] = Future()
        given = (future, fn, args, kwargs)
        threading.Thread(target=worked, args=given, name="pointsman-trial", daemon=True).start()
        return future


def worked(future: Future[Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> None:  # noqa: ANN401
    """Do a piece of work, unless nobody waits for it any more."""
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)


class LoopThread:
    """One event loop on a thread of its own, for sync callers of async providers."""

    def __init__(self, name: str = "pointsman-loop") -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._runner:  # its end awaits what is cancelled, and joins the executor's threads
            self._loop.run_forever()

    def wait(self, make: Callable[[], Coroutine[Any, Any, T]], seconds: float | None) -> T:
        """
        Wait for the coroutine; a caller that gives up, or is interrupted, cancels it.

        Raises:
            NoAnswer: `timeout`, or `cancelled` where the gateway is closed meanwhile.

        """
        if threading.current_thread() is self._thread:  # a provider asks on: we must not wait here
            with contextlib.closing(LoopThread()) as other:
                return other.wait(make, seconds)
        future: Future[Outcome[T]] = asyncio.run_coroutine_threadsafe(_contained(make), self._loop)
        try:
            return future.result(seconds).taken()
        except TimeoutError:
            if future.done():
                raise  # the provider's own
            raise NoAnswer(Reason.TIMEOUT) from None
        except CancelledError:
            raise NoAnswer(Reason.CANCELLED) from None
        finally:
            future.cancel()

    def soon(self, function: Callable[[T], None], given: T) -> None:
        """Call *function* with what is *given* on the loop's thread, and do not wait."""
        self._loop.call_soon_threadsafe(function, given)

    @property
    def alive(self) -> bool:
        """Whether the loop still runs; a `SystemExit` in a task of a provider's own ends it."""
        return self._thread.is_alive()

    def close(self, seconds: float | None = None) -> None:
        """Stop the loop and join the thread; of what hangs, at most *seconds*."""
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(seconds)
