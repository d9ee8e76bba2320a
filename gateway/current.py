"""`current`: the host's own path, run at most once in a decision."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .errors import NoAnswer, Reason

if TYPE_CHECKING:
    from .plugins import Call
    from .questions import Outcome

_NOT_RUN: Any = object()
_TOO_LATE = NoAnswer(Reason.CANCELLED)  # for a provider that asks when the fallback has taken it


class Current:
    """
    What the host runs today, with the arguments of this call.

    Calling it is for providers that need its value: the first call runs it, and the
    fallback reuses the result. A coroutine then becomes a task that the decision owns.

    Attributes:
        read: Its value → outcome in the point's vocabulary; None where it cannot be read.

    """

    __slots__ = ("_args", "_error", "_function", "_kwargs", "_lock", "_value", "read")

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self._function, self._args, self._kwargs = function, args, kwargs or {}
        self.read: Callable[[Any], Outcome] | None = None
        self._value = _NOT_RUN
        self._error: BaseException | None = None
        self._lock = threading.Lock()  # a provider given up may still be running in its thread

    def __call__(self) -> Any:  # noqa: ANN401 - the host's own value
        """Run it, or give what it gave before; an awaitable where the host is async."""
        with self._lock:
            if self._error is _TOO_LATE:
                raise NoAnswer(Reason.CANCELLED)  # a new one: a traceback grows with each raise
            if self._error is not None:
                raise self._error
            if self._value is _NOT_RUN:
                try:
                    value = self._function(*self._args, **self._kwargs)
                except BaseException as error:
                    self._error = error
                    raise
                self._value = asyncio.ensure_future(value) if inspect.isawaitable(value) else value
            return self._value

    def run_first(self) -> bool:
        """
        Run it here and now, for whoever asks for its value on another thread later.

        What it raises is kept for whoever asks. False: its value is for this thread alone, since
        a plain `def` returned what has to be awaited.
        """
        with self._lock:
            if not self.has_run:
                try:
                    self._value = self._function(*self._args, **self._kwargs)
                except Exception as error:  # noqa: BLE001 - the host's own, raised where it is asked
                    self._error = error
            return not inspect.isawaitable(self._value)

    def take(self) -> Any:  # noqa: ANN401 - the host's own value
        """Run it for the fallback, on the caller's own thread or task, unless it has run."""
        with self._lock:
            first = self._value is _NOT_RUN and self._error is None
            if first:
                self._error = _TOO_LATE
        return self._function(*self._args, **self._kwargs) if first else self()

    @property
    def has_run(self) -> bool:
        """Whether it was run, or is to be run by nobody any more."""
        return self._value is not _NOT_RUN or self._error is not None

    def close(self) -> None:
        """End what a provider began and nobody waits for any more."""
        if self._value is _NOT_RUN:
            return
        if asyncio.isfuture(self._value):
            self._value.cancel()
        elif inspect.iscoroutine(self._value):  # of a plain `def`, run first for another thread
            self._value.close()


def looked(call: Call) -> bool:
    """Whether a provider looked at what this caller's host does, which is no one else's."""
    current = call.current
    return isinstance(current, Current) and current.has_run


def path(function: Callable[[], Any] | None) -> Current | None:
    """Make a host's own path of a *function* without arguments; None if there is none."""
    return None if function is None else Current(function)
