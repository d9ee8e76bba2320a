"""Letting one provider write: what is known before, what it wrote, what it cost."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from . import running
from .answers import Reply
from .asking import SHORT
from .attempting import billed, entering
from .deadlines import bounded, until
from .errors import NoAnswer, Reason
from .heard import Span
from .records import Attempt
from .writers import Draft, Written, legible, receipt

if TYPE_CHECKING:
    from .plugins import Call
    from .resilience import Lane
    from .wiring import Wiring

Told = Callable[[Written], None]
"""Is told what is written so far, each time that there is more of it."""


class Drafting:
    """
    One draft on its way through a lane.

    Args:
        wiring: Whose breakers and purses count.
        lane: Who writes.
        told: Is told of parts, where the writer gives any.

    """

    def __init__(self, wiring: Wiring, lane: Lane, told: Told | None) -> None:
        self._asking, self._lane, self._told = wiring.asking, lane, told
        self._wiring = wiring
        self._last: Written | None = None

    async def written(self, draft: Draft, call: Call) -> Written:
        """
        Give what was written; the lane learns how it ended and what it cost.

        Raises:
            NoAnswer: Nothing was, or nothing that may be taken for it.

        """
        lane, begun = self._lane, time.perf_counter()
        probe = lane.admit(draft, call)
        span = Span(self._wiring, lane, call.point)
        reason, operator, reply = Reason.CANCELLED, False, None
        try:
            given = entering(lane, call) if lane.deliberates else call
            made = self._performed(draft, given)
            if given.asking:
                made = running.nesting(self._wiring.gateway, given, made)
            wrote = await span.over(made)
            reason, reply = Reason.OK, receipt(wrote)
        except NoAnswer as fault:
            reason, operator = fault.reason, fault.operator
            reply = fault.reply = billed(fault.reply) or self._seen
            raise
        finally:
            reply = self._seen if reply is None else reply
            lane.saw(reason, probe=probe, operator=operator)
            lane.paid(reply)
            span.ends(_attempt(lane, reason, reply, begun))
        return wrote

    @property
    def _seen(self) -> Reply | None:
        """What was written before it was given up has its price too."""
        return None if self._last is None else receipt(self._last)

    async def _performed(self, draft: Draft, call: Call) -> Written:
        lane, asking, provider = self._lane, self._asking, self._lane.provider
        writer: Any = provider
        with asking.stranger(lane):
            shown = await self._shown(draft, call)
            made: Any = writer.write(shown, call)
            if inspect.isgenerator(made):
                seconds = getattr(writer, "write_timeout", None) or writer.timeout
                end = until(seconds, call.deadline)
                return legible(await asking.exchanged(lane, partial(_same, made), end))
            if not hasattr(made, "__anext__"):
                return legible(await bounded(made, call.deadline))
        return await bounded(self._streamed(made), call.deadline)

    async def _shown(self, draft: Draft, call: Call) -> Draft:
        """Mask here what is short; a long text is searched beside the loop."""
        if self._lane.mask is None or len(draft.text) <= SHORT:
            return self._lane.shown(draft)
        return await self._asking.beside(partial(self._lane.shown, draft), call.deadline)

    async def _streamed(self, parts: AsyncIterator[object]) -> Written:
        """
        Take part after part; each replaces the former.

        Raises:
            NoAnswer: `malformed`: there was none.

        """
        try:
            while (part := await self._next(parts)) is not None:
                self._last = part
                if self._told is not None:
                    self._told(part)
        finally:
            await self._closed(parts)
        if self._last is None:
            raise NoAnswer(Reason.MALFORMED)
        return self._last

    async def _next(self, parts: AsyncIterator[object]) -> Written | None:
        with self._asking.stranger(self._lane):
            try:
                return legible(await anext(parts))
            except StopAsyncIteration:
                return None

    async def _closed(self, parts: Any) -> None:  # noqa: ANN401 - any asynchronous iterator
        """Close it; what it raises then is told, and covers up nothing."""
        close = getattr(parts, "aclose", None)
        if close is not None:
            with contextlib.suppress(NoAnswer), self._asking.stranger(self._lane):
                await close()


def _same(made: Any) -> Any:  # noqa: ANN401 - an exchange, of whatever a stranger makes
    return made


def _attempt(lane: Lane, reason: Reason, reply: Reply | None, begun: float) -> Attempt:
    return Attempt(
        provider=lane.name,
        model=(reply.model if reply else "") or lane.model,
        reason=reason,
        seconds=time.perf_counter() - begun,
        usage=reply.usage if reply else None,
        request_id=reply.request_id if reply else None,
    )
