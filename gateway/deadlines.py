"""Waiting, but not beyond a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from .errors import NoAnswer, Reason

T = TypeVar("T")


async def bounded(awaitable: Awaitable[T], until: float | None) -> T:
    """
    Await, but not beyond *until*, on `time.monotonic`; None: as long as it takes.

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


def until(timeout: float, deadline: float | None) -> float:
    """Give the moment that is *timeout* seconds from now, or *deadline* if that is earlier."""
    own = time.monotonic() + timeout
    return own if deadline is None else min(own, deadline)


def left(deadline: float | None) -> float | None:
    """Give the seconds until *deadline*, at least 0; None: no deadline."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())
