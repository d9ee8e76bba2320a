"""One request while it is served, and what it is answered with."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, Self

import msgspec

from .bodies import Gone, Headers, Receive

PATIENCE = 0.05  # seconds; whoever is answered sooner is not watched, which costs a task


class Visit:
    """
    One request.

    Attributes:
        headers: Name in lower case → value; of several, the last.
        path: That was asked for, unquoted.
        begun: When its head was complete, on `time.perf_counter`.
        end: When its decision has to be made, on `time.monotonic`.
        decision: Id of the decision that it led to; empty: none yet.
        cost: US dollars that it cost, as far as is known.
        unbilled: Somebody was asked, and what that cost is not known: it was cut off.
        key: Id of the key that it came with.

    """

    __slots__ = ("begun", "cost", "decision", "end", "headers", "key", "path", "unbilled")

    def __init__(self, headers: Headers, end: float, path: str) -> None:
        self.headers = headers
        self.path = path
        self.begun = time.perf_counter()
        self.end = end
        self.decision = ""
        self.cost = 0.0
        self.unbilled = False
        self.key: str | None = None


class Response(msgspec.Struct, frozen=True):
    """
    What a request is answered with.

    Attributes:
        status: As HTTP has it.
        content: Its body.
        decision: Id of the decision.
        provider: Who decided; empty if nobody did.
        reason: Of the closed list; empty where nothing was decided.
        kind: Its content type.

    """

    status: int
    content: bytes
    decision: str = ""
    provider: str = ""
    reason: str = ""
    kind: str = "application/json"


class Watch:
    """
    Cancels what is done for a client that has hung up, so that nobody is asked in vain.

    Raises `Gone` where it did. Watching takes a task, so it begins only once the answer is late.

    Args:
        receive: Where the hanging up is heard.

    """

    __slots__ = ("_gone", "_receive", "_task", "_timer", "_watching")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._gone = False
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        task: Any = asyncio.current_task()
        self._task: asyncio.Task[Any] = task
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._begin)
        return self

    def _begin(self) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._task.cancel()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        if self._gone and isinstance(error, asyncio.CancelledError):
            self._task.uncancel()
            raise Gone from None
