"""What a run may cost, in calls and in US dollars: set aside before an arm begins, then settled."""

from __future__ import annotations

import asyncio
from typing import Literal

import msgspec

from .rows import Part

Over = Literal["", "cost", "calls"]


class Held(msgspec.Struct, frozen=True, eq=False):
    """
    What is set aside for one arm on one item.

    Attributes:
        arm: Which.
        calls: The most that it makes.
        usd: US dollars that it is expected to cost at most.

    """

    arm: str
    calls: int
    usd: float


class Ledger:
    """
    What was spent, and what is set aside.

    Calls are set aside at their most, so that their limit is never passed. Money is set aside at
    the dearest item of the same arm so far; an arm that has not cost anything yet is begun on one
    item at a time, at its most calls and the dearest call so far, and the very first arm of a run
    alone. So the limit is passed by no more than what items cost beyond that. What nobody tells
    the price of is not counted.

    Args:
        calls: Calls of this run; None: no limit.
        usd: US dollars of this run; None: no limit.

    Attributes:
        over: Which limit kept something from being begun.

    """

    def __init__(self, calls: int | None, usd: float | None) -> None:
        self._limit, self._usd = calls, usd
        self._changed = asyncio.Condition()
        self._held: list[Held] = []
        self._calls, self._spent, self._call = 0, 0.0, 0.0
        self._dearest: dict[str, float] = {}
        self.over: Over = ""

    async def leave(self, arm: str, most: int) -> Held | None:
        """Wait until *arm* may begin, of *most* calls; None where it may not any more."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._held or not self._lacks(arm, most))
            if lacks := self._lacks(arm, most):
                self.over = self.over or lacks
                return None
            held = Held(arm, most, self._price(arm, most))
            self._held.append(held)
            return held

    async def ended(self, held: Held, cost: Part | None, *, whole: bool) -> None:
        """Settle: what it cost, None of it where nothing was asked; *whole*: it has its result."""
        async with self._changed:
            self._held.remove(held)
            if cost is not None and cost.calls:
                self._calls += cost.calls
                self._spent += cost.usd
                priced = cost.calls - cost.unpriced
                self._call = max(self._call, cost.usd / priced if priced else 0.0)
            if cost is not None and whole:
                self._dearest[held.arm] = max(self._dearest.get(held.arm, 0.0), cost.usd)
            self._changed.notify_all()

    def _lacks(self, arm: str, most: int) -> Over:
        calls = self._calls + most + sum(one.calls for one in self._held)
        if self._limit is not None and calls > self._limit:
            return "calls"
        return "" if self._usd is None or self._affords(self._usd, arm, most) else "cost"

    def _affords(self, limit: float, arm: str, most: int) -> bool:
        if arm not in self._dearest and any(one.arm not in self._dearest for one in self._held):
            return False
        expected = self._spent + self._price(arm, most) + sum(one.usd for one in self._held)
        return expected <= limit and limit > 0

    def _price(self, arm: str, most: int) -> float:
        return self._dearest.get(arm, self._call * most)
