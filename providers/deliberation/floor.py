"""
The floor: everything that is said in a deliberation is said here.

A turn is reserved for, asked within its deadlines, settled, and written down the moment it ends.
It fails alone: how it ended is told by its `ending`, never by an exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Self

import msgspec

from ...gateway.errors import Reason
from ...gateway.plugins import Call
from .allowance import Allowance
from .hearing import NEARLY, UNASKED, Heard, ended, judged, let_go, listen
from .scopes import Scope
from .turns import Turn, Wanted, digest

__all__ = ["NEARLY", "Floor"]

if TYPE_CHECKING:
    from ...gateway.plugins import Voices
    from .transcript import Transcript


class Floor:
    """
    Where the members of one deliberation speak.

    Use it as a context where it can be: at its end it lets go of members that would not stop.

    Attributes:
        scope: The whole deliberation's.
        allowance: What it may use.
        transcript: What happened.

    Args:
        voices: Who reaches the members: the gateway, or a replay.
        call: The one that the deliberation answers; passed on to the members.
        scope: The whole deliberation's.
        allowance: What it may use.
        transcript: Where it is written down.

    """

    def __init__(
        self,
        voices: Voices,
        call: Call,
        scope: Scope,
        allowance: Allowance,
        transcript: Transcript,
    ) -> None:
        self._voices, self._call = voices, call
        self.scope, self.allowance, self.transcript = scope, allowance, transcript
        self._strays: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.clear()

    @property
    def elapsed(self) -> float:
        """Seconds since the deliberation began, as its transcript has them."""
        return self.transcript.elapsed

    def can_write(self, provider: str) -> bool:
        """Whether a member of this provider can be asked to write."""
        return self._voices.can_write(provider)

    async def turn(
        self, wanted: Wanted, seconds: float | None = None, within: Scope | None = None
    ) -> Turn:
        """
        Give one member its turn.

        Args:
            wanted: What is wanted of it.
            seconds: Its own limit; None: that of *within*.
            within: The scope around it, a round's for example; None: the whole deliberation's.

        Raises:
            CancelledError: The caller gave up; the turn is written down as cancelled.
            Mismatch: The transcript holds this turn, and it was shown something else.

        """
        shown = wanted.shown
        blank = self._blank(wanted, digest(shown))
        if (known := self.transcript.ended(blank)) is not None:
            self._recall(wanted, known)
            return known
        scope = (within or self.scope).inner("turn", seconds, closing=wanted.closing)
        try:
            turn = await self._taken(wanted, scope, blank)
        except asyncio.CancelledError:
            self._written(blank, shown)
            raise
        return self._written(turn, shown)

    async def together(
        self,
        wanted: Sequence[Wanted],
        seconds: float | None = None,
        within: Scope | None = None,
    ) -> list[Turn]:
        """
        Give several members their turns at once; the turns are in the order of *wanted*.

        Raises:
            CancelledError: The caller gave up.
            Mismatch: As in `turn`.

        """
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self.turn(one, seconds, within)) for one in wanted]
        except BaseExceptionGroup as several:  # ours are one at a time: a mismatch, or a bug
            raise several.exceptions[0] from None
        return [task.result() for task in tasks]

    async def clear(self) -> None:
        """Let go of members that would not stop when their time was up."""
        await let_go(tuple(self._strays), self.scope.grace())

    def _blank(self, wanted: Wanted, prompt: str) -> Turn:
        """Begin the record of a turn: until it has ended otherwise, it was given up."""
        return Turn(
            member=wanted.member.name,
            role=wanted.member.role.name,
            provider=wanted.member.provider,
            kind=wanted.kind,
            round=wanted.round,
            attempt=wanted.attempt,
            tag=wanted.tag,
            ending="cancelled",
            reason=Reason.CANCELLED,
            begun=round(self.elapsed, 6),
            prompt=prompt,
        )

    def _written(self, turn: Turn, shown: str) -> Turn:
        took = round(self.elapsed - turn.begun, 6)
        turn = msgspec.structs.replace(turn, seconds=max(0.0, took))
        self.transcript.turn(turn, shown)
        return turn

    def _recall(self, wanted: Wanted, known: Turn) -> None:
        """Count what a turn used that ended before the deliberation was resumed."""
        if UNASKED not in known.notes:
            self.allowance.recall(wanted.characters, wanted.written, known.usage)

    async def _taken(self, wanted: Wanted, scope: Scope, blank: Turn) -> Turn:
        """Ask, if there is time and something to spend."""
        if scope.expired:
            return ended(blank, Reason.TIMEOUT, UNASKED, f"limit:{scope.limit}")
        taken = self.allowance.take(wanted.characters, wanted.written, closing=wanted.closing)
        if taken is None:
            return ended(blank, Reason.OVER_BUDGET, UNASKED)
        heard = Heard()
        try:
            await self._asked(wanted, scope, heard)
        finally:
            self.allowance.settle(taken, heard.usage)
        return judged(wanted, scope, blank, heard)

    async def _asked(self, wanted: Wanted, scope: Scope, heard: Heard) -> None:
        """Ask in a task of its own, so that nobody who will not stop holds up the others."""
        call = scope.within(self._call)
        if wanted.sample:
            call = msgspec.structs.replace(call, sample=wanted.sample)
        task = asyncio.create_task(listen(self._voices, wanted, call, heard))
        try:
            await asyncio.wait({task}, timeout=scope.left)
        finally:
            if not task.done():
                heard.overdue = True
                self._strays.add(task)
                task.add_done_callback(self._strays.discard)
                await let_go({task}, scope.grace())
        if heard.at is not None and scope.end is not None and heard.at > scope.end:
            heard.overdue = True  # the loop was blocked when its time was up
        if task.done() and not task.cancelled():
            task.result()  # the operator's fault, if it is one
        elif not task.done():
            task.add_done_callback(partial(self._late, wanted, heard))

    def _late(self, wanted: Wanted, heard: Heard, task: asyncio.Task[None]) -> None:
        """Write down that a member has stopped at last, where that may still be written."""
        if not task.cancelled():
            task.exception()  # nobody is left to be told of it
        if not self.transcript.closed:
            told = {"turn": wanted.key, "answered": heard.answered}
            self.transcript.entry("late", told, key=wanted.key)
