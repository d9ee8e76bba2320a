"""What the decisions of one turn share: answers that are known, batches that are open."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ..answers import Reply
from ..current import looked
from ..forks import Lock
from ..steps import AskProvider
from .batches import Batch
from .dividing import unpaid
from .sharing import alike

if TYPE_CHECKING:
    from ..asking import Asking
    from ..questions import Question
    from ..resilience import Lane

Key: TypeAlias = "tuple[str, str | None, Lane, str]"
Known: TypeAlias = "tuple[Mapping[str, Question], Reply, str]"


def nothing() -> None:
    """Do nothing."""


class Sharing:
    """What the decisions of one turn share: what was answered, and the open batches."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[Key, list[Known]] = {}
        self._loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Open] = (
            weakref.WeakKeyDictionary()
        )

    def passes(self) -> None:
        """Learn that a decision does not ask now, or has asked: a promise is kept by it."""

    def sync(self, step: AskProvider, asking: Asking) -> object:
        """Ask on this thread, and remember what is answered."""
        if not step.call.depth:
            step.sent.keeper = self
        return asking.single_sync(step)

    async def async_(
        self, step: AskProvider, asking: Asking, joins: Callable[[], object] = nothing
    ) -> object:
        """
        Ask in this task or in a call that others share, and remember what is answered.

        Args:
            step: What to ask.
            asking: Performs it.
            joins: Called before anything is awaited that others need not wait for.

        """
        if not step.call.depth:
            step.sent.keeper = self
        if not rides(step):
            joins()
            return await asking.single(step)
        masked = await asking.masked(step)  # each by itself: its mask may fail, or lengthen it
        joins()
        return await self.here().batch(masked, asking).ask(masked)

    def known(self, step: AskProvider) -> Reply | None:
        """Give what this very ask was answered before in this turn; nested asks are their own."""
        if step.call.depth:
            return None
        known = self.recall(step)
        if known is None:
            step.sent.keeper = self  # of what a cache knows too: it may outlast the cache's entry
        return known

    def recall(self, step: AskProvider) -> Reply | None:
        """As `known`, for an ask that is not nested."""
        asked = step.ask.questions
        for questions, reply, form in self._known.get(_key(step), ()):
            if alike(questions, asked):
                step.sent.cached, step.sent.form = True, form
                return unpaid(reply)
        return None

    def remember(self, step: AskProvider, reply: Reply) -> None:
        """Keep a usable reply for the rest of the turn; not one that is made of a caller's path."""
        if looked(step.call):
            return
        asked = step.ask.questions
        with self._lock:
            known = self._known.setdefault(_key(step), [])
            if not any(alike(questions, asked) for questions, _, _ in known):
                known.append((asked, unpaid(reply), step.sent.form))

    def here(self) -> Open:
        """Give the open batches of the running loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            return self._loops.setdefault(loop, Open())


def _key(step: AskProvider) -> Key:
    assert step.point is not None
    return step.point.name, step.call.subject, step.lane, step.ask.text


def rides(step: AskProvider) -> bool:
    """Whether *step* may share a call with others."""
    frame = None if step.point is None else step.point.share
    if frame is None or frame.alone or step.call.depth or step.call.asking:
        return False
    lane = step.lane
    asks = lane.deliberates or lane.hears_current  # a shared call has no `current` of its own
    return not asks and getattr(lane.provider, "shares", True) is True


def together(step: AskProvider) -> tuple[object, ...]:
    """Whom *step* may share a call with: the same provider, group, list and subject."""
    assert step.point is not None
    assert step.point.share is not None
    return step.lane, step.point.share.group, step.point.share.lists, step.call.subject


class Open:
    """The open batches of one loop, and how many promised asks have not come yet."""

    def __init__(self) -> None:
        self.promised = 0
        self._batches: dict[object, Batch] = {}

    def batch(self, step: AskProvider, asking: Asking) -> Batch:
        """Give the batch that *step* may join; open one if there is none."""
        key = together(step)
        if key not in self._batches:
            gone = lambda: self._batches.pop(key, None)  # noqa: E731 - said once
            self._batches[key] = Batch(asking, self._is_held, gone)
        return self._batches[key]

    def _is_held(self) -> bool:
        return self.promised > 0
