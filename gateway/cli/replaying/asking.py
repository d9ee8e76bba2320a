"""Asks one provider about many states: bounded, and resumable at any moment."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from ...errors import NoAnswer, Reason, SetupError
from .. import screen
from .ending import heard
from .items import TURNED_AWAY, UNASKED, Rows
from .limits import Pace, Purse

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...records import Attempt
    from .items import Item, Source
    from .writing import Writing

Stopped: TypeAlias = Literal["", "cost", "down", "fault", "signal"]
"""
Why a run ended early: what it may cost, a provider that does not answer, a fault that is raised,
a signal.
"""

T = TypeVar("T")

AGAIN = 1.0  # seconds until a provider that is left alone is tried once more
PATIENCE = 120.0  # seconds; its breaker lets a probe through every thirty


class Tally(msgspec.Struct):
    """
    What came.

    Attributes:
        asked: Rows that were asked about.
        believed: Those whose answer would have decided.
        reasons: Why others would not have, and how many.
        compared: Valid answers beside something that was decided.
        same: Those of them that say the same.
        stopped: Why it ended early; empty: it did not.

    """

    asked: int = 0
    believed: int = 0
    reasons: Counter[str] = msgspec.field(default_factory=Counter[str])
    compared: int = 0
    same: int = 0
    stopped: Stopped = ""

    def count(self, item: Item, attempt: Attempt, outcome: object) -> None:
        """Count one answer."""
        self.asked += 1
        if attempt.reason is Reason.OK:
            self.believed += 1
        else:
            self.reasons[attempt.reason.value] += 1
        if outcome is not None and item.beside is not None:
            self.compared += 1
            self.same += outcome == item.beside


class Asking:
    """
    One run. However it ends, what is under way is waited for and written, as it was paid for.

    Args:
        gateway: Asks, with whoever answers put in the place of the planned one.
        writing: Where answers go.
        pace: Rows a second.
        purse: What it may cost.
        patience: Seconds that a provider may be left alone by its breaker.

    Attributes:
        tally: What came so far.
        signal: The number of the signal that ended it; 0: none did.

    """

    def __init__(
        self,
        gateway: Gateway,
        writing: Writing,
        pace: Pace,
        purse: Purse,
        patience: float = PATIENCE,
    ) -> None:
        self._gateway, self._writing, self._pace, self._purse = gateway, writing, pace, purse
        self._patience = patience
        self._rows = Rows()
        self._askers: set[asyncio.Task[Any]] = set()
        self._idle: set[asyncio.Task[Any]] = set()
        self._fault: Exception | None = None
        self.tally = Tally()
        self.signal = 0

    async def run(
        self, states: Source, concurrency: int, advance: Callable[[object], None]
    ) -> None:
        """
        Ask about *states*, so many at once; *advance* is told of each answer that is written.

        Raises:
            SetupError: The provider turns the key away, or the journal cannot be written.

        """
        items = states.items()
        try:
            if states.late:
                await self._writing.write(states.late)
            with heard(self):
                await self._together(items, concurrency, advance)
        finally:
            try:
                await self._writing.drained()
            finally:
                await self._gateway.aclose()
        if self._fault is not None:
            raise self._fault

    def soon(self, by: int) -> None:
        """Ask about nothing more, because of the signal *by*; what is under way is waited for."""
        self.signal = by
        self._stop("signal")
        if waits := len(self._askers - self._idle):
            answers = "one answer" if waits == 1 else f"{waits:,} answers"
            screen.note(f"Waiting for {answers} under way; Ctrl-C again ends at once.")

    def now(self) -> None:
        """Wait for no answer any more, and for the journal no longer than it takes."""
        self._writing.hurry()
        for one in self._askers:
            one.cancel()

    def _stop(self, why: Stopped) -> None:
        """Let nobody begin: those who wait to ask are sent home."""
        self.tally.stopped = self.tally.stopped or why
        for one in self._idle:
            one.cancel()

    async def _together(
        self, items: Iterator[Item], concurrency: int, advance: Callable[[object], None]
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                asker = group.create_task(self._work(items, advance))
                self._askers.add(asker)
                asker.add_done_callback(self._askers.discard)

    async def _work(self, items: Iterator[Item], advance: Callable[[object], None]) -> None:
        try:
            await self._one_by_one(items, advance)
        except Exception as fault:  # noqa: BLE001 - raised once the answers under way are kept
            self._fault = self._fault or fault
            self._stop("fault")

    async def _one_by_one(self, items: Iterator[Item], advance: Callable[[object], None]) -> None:
        for item in items:
            attempt = await self._answered(item)
            if attempt is None:
                return
            await self._keep(item, attempt)
            advance(item)
            await asyncio.sleep(0)  # a provider in this process never waits: let Ctrl-C through

    async def _answered(self, item: Item) -> Attempt | None:
        """Ask, with patience; None where it was not asked, and the run is to end."""
        if not await self._idly(self._purse.leave()):
            self._stop("cost")
            return None
        attempt: Attempt | None = None
        try:
            attempt = await self._patiently(item)
        finally:
            await self._purse.ended(attempt)
        return attempt

    async def _patiently(self, item: Item) -> Attempt | None:
        until = time.monotonic() + self._patience
        while not self.tally.stopped:
            await self._idly(self._pace.turn())
            attempt = await attempted(self._gateway, item)
            if attempt.reason not in UNASKED:
                return attempt
            if attempt.reason in TURNED_AWAY:
                raise _turned_away(attempt)
            if attempt.reason is Reason.OVER_BUDGET:
                self._stop("cost")
            elif time.monotonic() >= until:
                self._stop("down")
            else:
                await self._idly(asyncio.sleep(AGAIN))
        return None

    async def _idly(self, waiting: Awaitable[T]) -> T:
        """Wait for what is of no use once the run ends."""
        asker = asyncio.current_task()
        assert asker is not None
        self._idle.add(asker)
        try:
            return await waiting
        finally:
            self._idle.discard(asker)

    async def _keep(self, item: Item, attempt: Attempt) -> None:
        row = self._rows.of(item, attempt)
        await self._writing.write((*item.rows, row))
        self.tally.count(item, attempt, row.shadow.outcome)


async def attempted(gateway: Gateway, item: Item) -> Attempt:
    """Give the attempt of the provider that is asked; nobody is asked after it."""
    try:
        decision = await gateway.ask(item.point, item.ask, current=_nothing)
    except NoAnswer as none:
        return none.attempts[0]
    return decision.attempts[0]


def _nothing() -> None:
    """Stand where a fallback would decide: it would cost, and is not what is asked for."""


def _turned_away(attempt: Attempt) -> SetupError:
    problem = f"{attempt.provider} turns the ask away ({attempt.reason.value})"
    fix = "See to its key or its purse; what was answered is kept, and the same command goes on"
    return SetupError.of("--provider", problem, fix)
