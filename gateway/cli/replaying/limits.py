"""What bounds a replay: rows a second, and what it may cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...records import Attempt


class Pace:
    """
    Lets one row go at a time, never more than so many a second: nothing is saved up.

    Args:
        rate: Rows a second; None: as fast as they are answered.
        clock: Seconds, rising.
        sleep: Waits so many seconds.

    """

    def __init__(
        self,
        rate: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._between = 0.0 if rate is None else 1.0 / rate
        self._clock, self._sleep = clock, sleep
        self._lock = asyncio.Lock()
        self._free = clock()

    async def turn(self) -> None:
        """Wait for leave to ask about the next row."""
        if not self._between:
            return
        async with self._lock:
            while (left := self._free - self._clock()) > 0:
                await self._sleep(left)
            self._free = self._clock() + self._between


class Purse:
    """
    What may be spent, and what was.

    With a limit asks go one by one until it is known what one costs. From then on an ask goes
    out only where those under way and itself, at the mean cost so far, stay within the limit.
    So it is exceeded by no more than what answers under way cost beyond the mean. Where nobody
    tells what an answer costs, the limit cannot hold.

    Args:
        limit: US dollars; None: no limit.

    Attributes:
        spent: US dollars, as far as they are known.
        unknown: Answers whose cost nobody told.

    """

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._changed = asyncio.Condition()
        self._under_way = self._priced = 0
        self.spent = 0.0
        self.unknown = 0

    async def leave(self) -> bool:
        """Wait until an ask may go out; False where none may any more."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits or not self._under_way)
            fits = self._fits
            self._under_way += fits
            return fits

    async def ended(self, attempt: Attempt | None) -> None:
        """Count an ask that has ended; None where none was sent."""
        usage = None if attempt is None else attempt.usage
        async with self._changed:
            self._under_way -= 1
            if usage is not None and usage.cost_usd is not None:
                self._priced += 1
                self.spent += usage.cost_usd
            elif attempt is not None and attempt.answers:
                self.unknown += 1
            self._changed.notify_all()

    @property
    def _fits(self) -> bool:
        if self._limit is None:
            return True
        if not self._priced and not self.unknown:
            return not self._under_way and self._limit > 0
        mean = self.spent / (self._priced or 1)
        return self.spent + mean * (self._under_way + 1) <= self._limit
