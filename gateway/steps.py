"""The steps that a decision's flow asks for: whoever drives it knows how they are done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from .answers import Reply
from .plugins import Call
from .points import DecisionPoint
from .questions import Ask
from .resilience import Lane

if TYPE_CHECKING:
    from .caching import Slot


class Keeps(Protocol):
    """Keeps replies that turned out to be usable."""

    def remember(self, step: AskProvider, reply: Reply) -> None:
        """Keep the *reply* to *step*."""
        ...


class Sent(msgspec.Struct, gc=False):
    """
    How an ask left; whoever performs it says so.

    Attributes:
        begun: When, on `time.perf_counter`.
        form: `single`, or `shared:<digest of the question set>`.
        cached: It was answered before, or for another decision, and cost nothing.
        counted: Another decision has told the breaker of this very failure.
        keeper: Who is told the reply if acceptance finds it usable.

    """

    begun: float = 0.0
    form: str = "single"
    cached: bool = False
    counted: bool = False
    keeper: Keeps | None = None


class AskProvider(msgspec.Struct, frozen=True, gc=False):
    """
    Ask *lane*'s provider; the answer is a `Reply`, or `NoAnswer` is thrown back.

    Attributes:
        lane: Whom.
        ask: What.
        call: In which circumstances.
        point: For which decision point; None where several points share the ask.
        sent: Filled in by whoever performs it.
        masked: The ask has passed the lane's mask already.
        slot: Its place in the cache; None where its point has none.

    """

    lane: Lane
    ask: Ask
    call: Call
    point: DecisionPoint | None = None
    sent: Sent = msgspec.field(default_factory=Sent)
    masked: bool = False
    slot: Slot | None = None


OVERDUE: Any = object()
"""Sent back for an async path of the host's that was cancelled at the deadline."""


class RunCurrent(msgspec.Struct, frozen=True, gc=False):
    """
    Run what the host runs today; what it raises is thrown back untouched.

    Attributes:
        call: Its circumstances.
        alone: No provider was to be asked.

    """

    call: Call
    alone: bool = False


def no_more(_: object) -> float:
    """Nothing is waited for longer than it was said to be."""
    return 0.0


class Apart(msgspec.Struct, frozen=True, gc=False):
    """
    Do work that waits for a disk or a database: never on a loop's own thread, nor for long.

    Attributes:
        begin: Begins it on a thread of its own; what it gives, or raises, is sent back.
        seconds: How long it is waited for; `TimeoutError` is thrown back then.
        more: Says how many seconds more it is waited for after that; none, if it says so.

    """

    begin: Callable[[], Future[Any]]
    seconds: float
    more: Callable[[Any], float] = no_more

    def sync(self) -> object:
        """Wait for it on the caller's own thread."""
        future, seconds = self.begin(), self.seconds
        try:
            while not wait([future], seconds).done:
                if (seconds := self.more(future)) <= 0:
                    raise TimeoutError
            return future.result()
        finally:
            future.cancel()  # if it is still to begin

    async def async_(self) -> object:
        """Wait for it in the caller's own task."""
        future, seconds = self.begin(), self.seconds
        waited = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait([waited], timeout=seconds))[0]:
                if (seconds := self.more(future)) <= 0:
                    raise TimeoutError
            return waited.result()
        finally:
            waited.cancel()


Step: TypeAlias = AskProvider | RunCurrent | Apart
