"""
Deadlines that nest: a turn within a round within a debate within the caller's own.

Moments are those of the running loop's clock, in seconds.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from ...gateway.plugins import Call

CALLER = "caller"
GRACE = 0.1  # seconds that a member has to stop in once its time is up
BEHIND = 1.0  # seconds after a scope at which what was asked in it would give up by itself
CLOSING = 0.05  # seconds before the caller's deadline, to put an answer together …
SHARE = 0.1  # … and at most this share of the time that is left


def _now() -> float:
    return asyncio.get_running_loop().time()


class Scope:
    """
    A stretch of time that ends no later than the one around it.

    Attributes:
        name: What it is for: `turn`, `round`, `total`.
        end: When it ends; None: never.
        last: When it ends for what closes a deliberation: later than `end` by the slice that was
            held back for that; None: never.
        limit: The name of the scope that set `end`; empty where nothing did.

    """

    __slots__ = ("end", "last", "limit", "name")

    def __init__(self, name: str, end: float | None, last: float | None, limit: str) -> None:
        self.name, self.end, self.last, self.limit = name, end, last, limit

    @classmethod
    def opened(
        cls, name: str, seconds: float | None, call: Call | None = None, *, held: float = 0.0
    ) -> Scope:
        """
        Open the outermost scope, now; it ends a moment before the caller's deadline does.

        Args:
            name: What it is for.
            seconds: How long it lasts; None: as long as the caller waits.
            call: The caller's, whose deadline ends it at the latest.
            held: Share of it, in [0, 1), that is held back for closing turns.

        """
        begun = _now()
        outer = cls("", None, None, "")
        if call is not None and call.deadline is not None:
            left = call.deadline - time.monotonic()  # the caller's clock is another one
            waits = begun + left - min(CLOSING, max(0.0, left) * SHARE)
            outer = cls(CALLER, waits, waits, CALLER)
        scope = outer.inner(name, seconds)
        if scope.end is None or not held:
            return scope
        return cls(name, scope.end - held * max(0.0, scope.end - begun), scope.last, scope.limit)

    def inner(self, name: str, seconds: float | None = None, *, closing: bool = False) -> Scope:
        """
        Open a scope within this one, now.

        Args:
            name: What it is for.
            seconds: How long it lasts at most; None: as long as this one.
            closing: It may use what was held back.

        """
        outer = self.last if closing else self.end
        own = None if seconds is None else _now() + seconds
        if own is None or (outer is not None and outer <= own):
            return Scope(name, outer, self.last, self.limit)
        last = own if self.last is None else min(own, self.last)
        return Scope(name, own, last, name)

    @property
    def left(self) -> float | None:
        """Seconds until it ends, at least 0; None: it never does."""
        return None if self.end is None else max(0.0, self.end - _now())

    @property
    def expired(self) -> bool:
        """Whether it has ended."""
        return self.end is not None and _now() >= self.end

    def within(self, call: Call) -> Call:
        """
        Give *call* as it is passed on from here.

        What it asks ends a little later than this scope, should this one not have ended it.
        """
        if self.end is None:
            return call
        ends = time.monotonic() + max(0.0, self.end - _now()) + BEHIND
        return msgspec.structs.replace(call, deadline=ends)
