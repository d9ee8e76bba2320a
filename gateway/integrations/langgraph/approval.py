"""Whether a tool may be called: a middleware, and the `when` of LangChain's own."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...errors import DeclarationError, HumanNeeded
from ...lens import Lens
from .. import needs
from ..named import Named
from ..words import REFUSED
from .review import Reviews, now
from .seeing import configured, last_user_text, messages_of, thread

try:
    from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.config import get_config
    from langgraph.types import Command
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...guarding import Guard, Ruling
    from ...points import DecisionPoint
    from ...questions import Question

F = TypeVar("F", bound=Callable[..., Any])

ALONE = "A person must decide on this call. Make it again, as the only call of a message."
_SENT, _SENDS = "__pregel_push", "__pregel_tasks"  # LangGraph's: how a task is sent, and with what
_READ = "__pregel_read"
_ONE_CALL = "tool_call_with_context"  # what an agent sends: one call, and the state besides


def _called(*args: object) -> dict[str, Any]:
    """Show the tool, what it is called with, and what a user asked for."""
    request = _requested(args)
    call = request.tool_call
    shown: dict[str, Any] = {"tool": call["name"], "arguments": call["args"]}
    try:
        return {**shown, "user": last_user_text(request.state)}
    except DeclarationError:  # a graph that no user speaks to
        return shown


def _requested(args: tuple[object, ...]) -> ToolCallRequest:
    """Find the request: the object of a method stands before it."""
    return cast("ToolCallRequest", args[-1])


TOOL_CALL = Lens(state=_called, session=thread, blocks=True)
"""
A function of one `ToolCallRequest`, such as the `when` of `HumanInTheLoopMiddleware`.

Of a truth: true stops the call, until a person approves it.
"""


def per_call(*args: object) -> tuple[str, object] | None:
    """
    Name a tool call: by its message and its id, for models repeat ids in a conversation.

    Nothing is remembered where the run has no `thread_id`: it cannot be resumed.

    Args:
        *args: Of a function of one `ToolCallRequest`, or of a method.

    """
    request = _requested(args)
    call = request.tool_call
    if not thread():
        return None
    return f"{_message(request)}/{call['id']}", {"name": call["name"], "args": call["args"]}


def _message(request: ToolCallRequest) -> str:
    calling = _calling(request)
    return (calling and calling.id) or ""


def _calling(request: ToolCallRequest) -> AIMessage | None:
    """Find the message that makes the call."""
    for message in reversed(messages_of(request.state)):
        if isinstance(message, AIMessage) and any(
            one["id"] == request.tool_call["id"] for one in message.tool_calls
        ):
            return message
    return None


def approval_when(
    gateway: Gateway,
    point: str | DecisionPoint,
    question: Question | None = None,
) -> Callable[[F], F]:
    """
    Wrap the `when` of `HumanInTheLoopMiddleware`: whether a person must approve a tool call.

    LangChain asks it again when the run is resumed; if the answer were another one by then,
    the tool would run although a person rejected it. Here it stands, for the same call; and
    where it is not known what was answered, a run that is resumed with a person's decision
    needs that person.
    """
    name = point if isinstance(point, str) else point.name

    def decorate(function: F) -> F:
        reviews = Reviews(name)
        decided = gateway.point(point, question, lens=TOOL_CALL, once=per_call)(function)

        @functools.wraps(decided)
        def when(*args: Any) -> Any:  # noqa: ANN401 - the host's own
            since, call = now(), _key(per_call(*args))
            decision = gateway.decide_sync(decided, *args)
            if decision.value or not reviews.due(decision.record, since, call):
                return decision.value
            reviews.note(call)
            return True

        return cast("F", when)

    return decorate


class ApprovalMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Rules on tool calls before they run; a blocked one is answered by an error message.

    Where *guard* wants a person, the run is interrupted as `HumanInTheLoopMiddleware` does for
    each call, and resumed by `{"type": "approve"}` or `{"type": "reject"}`. A ruling stands
    over resumes, also in another process where a journal is kept.

    A `ToolNode` without an agent runs all calls of a message in one task, where LangGraph cannot
    tell whose answer is whose: a call that needs a person is refused there unless it is alone,
    or was sent alone.

    Args:
        guard: Rules on `TOOL_CALL`'s state: tool, arguments, and what the user asked for.
        tools: Names of the tools that it rules on; absent: all.
        message: What the model reads in place of the tool's result.

    Raises:
        SetupError: *tools* is a text, or names none.

    """

    def __init__(
        self, guard: Guard, *, tools: Collection[str] | None = None, message: str = REFUSED
    ) -> None:
        super().__init__()
        self._guard, self._message = guard, message
        self._tools, self._reviews = Named(guard, tools, "langgraph"), Reviews.of(guard)

    @property
    def name(self) -> str:
        """Of its point, so that an agent may have several."""
        return f"{type(self).__name__}-{self._guard.point.name}"

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool unless it is blocked."""
        if not self._rules(request):
            return handler(request)
        since, once = now(), per_call(request)
        try:
            ruling = self._guard.rule_sync(_called(request), subject=thread(), once=once)
        except HumanNeeded as needed:
            return self._reviewed(needed.id, request, once) or handler(request)
        return self._ended(ruling, since, request, once) or handler(request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """As `wrap_tool_call`."""
        if not self._rules(request):
            return await handler(request)
        since, once = now(), per_call(request)
        try:
            ruling = await self._guard.rule(_called(request), subject=thread(), once=once)
        except HumanNeeded as needed:
            return self._reviewed(needed.id, request, once) or await handler(request)
        return self._ended(ruling, since, request, once) or await handler(request)

    def _rules(self, request: ToolCallRequest) -> bool:
        bound = (one.name for one in getattr(request.runtime, "tools", ()))
        return self._tools.rules(request.tool_call["name"], bound)

    def _ended(
        self,
        ruling: Ruling,
        since: float,
        request: ToolCallRequest,
        once: tuple[str, object] | None,
    ) -> ToolMessage | None:
        """Give what the model reads; None: the tool runs."""
        if ruling.blocked:
            return _refused(request, self._message)
        record = ruling.decision.record
        if self._reviews and self._reviews.due(record, since, _key(once)):
            return self._reviewed(record.id, request, once)
        return None

    def _reviewed(
        self, decision: str, request: ToolCallRequest, once: tuple[str, object] | None
    ) -> ToolMessage | None:
        assert self._reviews is not None
        if _crowded(request):
            return _refused(request, ALONE)
        call = request.tool_call
        shown = {
            "type": "tool_approval",
            "tool_call_id": call["id"],
            "name": call["name"],
            "args": call["args"],
            "description": (request.tool and request.tool.description) or "",
        }
        said = self._reviews.rejection(decision, _key(once), shown)
        return None if said is None else _refused(request, said or self._message)


def _key(once: tuple[str, object] | None) -> str | None:
    return None if once is None else repr(once)


def _crowded(request: ToolCallRequest) -> bool:
    """Whether other calls run in the same task: LangGraph counts its interrupts in any order."""
    calling = _calling(request)
    if calling is not None and len(calling.tool_calls) == 1:
        return False
    sent = _sent()
    if isinstance(sent, Mapping):
        return cast("Mapping[str, Any]", sent).get("__type") != _ONE_CALL
    calls: list[Any] = sent if isinstance(sent, list) else []
    return [isinstance(one, Mapping) and one.get("type") for one in calls] != ["tool_call"]


def _sent() -> object:
    """Find what this task was sent: a whole state may have several calls; None: nothing."""
    path = get_config().get("metadata", {}).get("langgraph_path") or ()
    read = configured().get(_READ)
    match tuple(path):
        case (first, int(at), *_) if first == _SENT and read is not None:
            return read(_SENDS)[at].arg
        case _:
            return None


def _refused(request: ToolCallRequest, message: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(message, tool_call_id=call["id"], name=call["name"], status="error")
