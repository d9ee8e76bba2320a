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
GRACE = 0.1  # seconds that a member has to stop in once its time is up …
PART = 0.25  # … and at most this share of what is left to the caller's deadline
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
        due: When the caller has to have its answer; None: it waits.

    """

    __slots__ = ("due", "end", "last", "limit", "name")

    def __init__(
        self,
        name: str,
        end: float | None,
        last: float | None,
        limit: str,
        due: float | None = None,
    ) -> None:
        self.name, self.end, self.last, self.limit, self.due = name, end, last, limit, due

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
            outer = cls(CALLER, waits, waits, CALLER, begun + left)
        scope = outer.inner(name, seconds)
        if scope.end is None or not held:
            return scope
        end = scope.end - held * max(0.0, scope.end - begun)
        return cls(name, end, scope.last, scope.limit, scope.due)

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
            return Scope(name, outer, self.last, self.limit, self.due)
        last = own if self.last is None else min(own, self.last)
        return Scope(name, own, last, name, self.due)

    def grace(self, most: float = GRACE) -> float:
        """Give the seconds that somebody has to stop in: the caller's answer is not lost to it."""
        return most if self.due is None else min(most, PART * max(0.0, self.due - _now()))

    @property
    def left(self) -> float | None:
        """Seconds until it ends, at least 0; None: it never does."""
        return None if self.end is None else max(0.0, self.end - _now())

    @property
    def expired(self) -> bool:
        """Whether it has ended."""
        return self.end is not None and _now() >= self.end

    def within(self, call: Call, behind: float = BEHIND) -> Call:
        """
        Give *call* as it is passed on from here.

        What it asks ends *behind* seconds later than this scope, should this one not have ended it.
        """
        if self.end is None:
            return call
        ends = time.monotonic() + max(0.0, self.end - _now()) + behind
        return msgspec.structs.replace(call, deadline=ends)
