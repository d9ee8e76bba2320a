"""Decisions in workflows: one for all branches, and who speaks next."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_framework import Executor, WorkflowContext, handler, response_handler

from ... import context
from ...errors import HumanNeeded
from ...lens import Lens
from ...questions import Choice
from .seeing import shown

if TYPE_CHECKING:
    from agent_framework.orchestrations import GroupChatState

Condition: TypeAlias = Callable[[Any], Any]

LATEST = 64  # messages whose decisions are kept while their edges are evaluated


class Router(Executor):
    """
    Decides once, upstream, what all its edges branch on.

    It sends `{"route": …, "message": …}` to its targets: the decision travels with the message,
    so that each edge reads it and none asks again, and a workflow that is resumed from a
    checkpoint takes the branch that was decided. Where *route* raises `HumanNeeded`, the workflow
    asks a person by the framework's own `request_info`, whose answer is a truth.

    Args:
        route: Message → option, sync or async: your function, wrapped by `gateway.point`.
        id: Of the executor.

    """

    def __init__(self, route: Callable[[Any], Any], *, id: str = "router") -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self._route = route

    @handler
    async def decide(self, message: Any, ctx: WorkflowContext[dict[str, Any]]) -> None:  # noqa: ANN401 - the host's own
        """Decide where *message* goes, and send it on with that."""
        try:
            chosen = self._route(message)
            if inspect.isawaitable(chosen):
                chosen = await chosen
        except HumanNeeded as needed:
            await ctx.request_info({"point": needed.point, "message": message}, bool)
            return
        await ctx.send_message({"route": chosen, "message": message})

    @response_handler
    async def answered(
        self,
        original_request: dict[str, Any],
        response: bool,  # noqa: FBT001 - as the framework calls it
        ctx: WorkflowContext[dict[str, Any]],
    ) -> None:
        """Send on what a person said: only yes-or-no questions are left to one."""
        await ctx.send_message({"route": response, "message": original_request["message"]})

    @staticmethod
    def to(option: object) -> Callable[[Any], bool]:
        """Give the condition of the edge for *option*."""
        return lambda routed: bool(routed["route"] == option)


class PerMessage:
    """
    Lets all edges that look at one message share one decision, where no `Router` can stand.

    `add_edge(a, b, condition=branches("b"))`: of a wrapped function that is async, the condition
    is async. A `Case` takes sync conditions only, which hold up the loop while a provider is
    asked: use a `Router` there.

    Args:
        route: Message → option: your function, wrapped by `gateway.point`.

    """

    def __init__(self, route: Callable[[Any], Any]) -> None:
        self._route = route
        self._gateway = getattr(route, "__pointsman__", (None,))[0]
        self._latest: dict[tuple[int, str | None], _Shared] = {}

    def __call__(self, option: object) -> Condition:
        """Give the condition of the edge for *option*."""
        edge = object()
        if inspect.iscoroutinefunction(self._route):

            async def awaited(message: Any) -> bool:  # noqa: ANN401 - the host's own
                return bool(await self._shared(message, edge).awaited(self._route) == option)

            return awaited

        def at_once(message: Any) -> bool:  # noqa: ANN401 - the host's own
            return bool(self._shared(message, edge).at_once(self._route) == option)

        return at_once

    def _shared(self, message: object, edge: object) -> _Shared:
        """Find the decision; one that this edge has seen already was of an earlier turn."""
        subject = None if self._gateway is None else context.subject(self._gateway)
        key = id(message), subject
        found = self._latest.get(key)  # which keeps its message: no other has its id
        if found is None or edge in found.seen:
            self._latest.pop(key, None)
            while len(self._latest) >= LATEST:
                self._latest.pop(next(iter(self._latest)))
            found = self._latest[key] = _Shared(message)
        found.seen.add(edge)
        return found


class _Shared:
    """One decision about one message, and the edges that have looked at it."""

    def __init__(self, message: object) -> None:
        self.message = message
        self.seen: set[object] = set()
        self._lock = asyncio.Lock()
        self._values: list[Any] = []

    async def awaited(self, route: Callable[[Any], Awaitable[Any]]) -> Any:  # noqa: ANN401 - the host's own
        async with self._lock:  # whoever comes first may be cancelled: the next one asks
            if not self._values:
                self._values.append(await route(self.message))
        return self._values[0]

    def at_once(self, route: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - the host's own
        if not self._values:
            self._values.append(route(self.message))
        return self._values[0]


def speakers(state: GroupChatState) -> Choice:
    """Ask who speaks next, among the participants of a group chat, by name and description."""
    return Choice("Who should speak next?", dict(state.participants))


def _heard(state: GroupChatState) -> Any:  # noqa: ANN401 - a state is any JSON
    return shown(state.conversation)


SPEAKER = Lens(state=_heard)
"""A `selection_func` of `GroupChatBuilder`; `speakers` is its question."""
