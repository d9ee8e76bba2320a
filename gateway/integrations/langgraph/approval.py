"""Whether a tool may be called: a middleware, and the `when` of LangChain's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import DeclarationError, HumanNeeded
from ...lens import Lens
from .. import needs
from .review import rejection
from .seeing import last_user_text, messages_of, thread

try:
    from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.types import Command
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...guarding import Guard
    from ...points import DecisionPoint
    from ...questions import Question

F = TypeVar("F", bound=Callable[..., Any])

MESSAGE = "This tool call was not allowed, and the tool was not run."


def _called(request: ToolCallRequest) -> dict[str, Any]:
    """Show the tool, what it is called with, and what a user asked for."""
    call = request.tool_call
    shown: dict[str, Any] = {"tool": call["name"], "arguments": call["args"]}
    try:
        return {**shown, "user": last_user_text(request.state)}
    except DeclarationError:  # a graph that no user speaks to
        return shown


TOOL_CALL = Lens(state=_called, session=thread)
"""A function of one `ToolCallRequest`, such as the `when` of `HumanInTheLoopMiddleware`."""


def per_call(request: ToolCallRequest) -> tuple[str, object] | None:
    """
    Name a tool call: by its message and its id, for models repeat ids in a conversation.

    Nothing is remembered where the run has no `thread_id`: it cannot be resumed.
    """
    call = request.tool_call
    if not thread():
        return None
    return f"{_message(request)}/{call['id']}", {"name": call["name"], "args": call["args"]}


def _message(request: ToolCallRequest) -> str:
    for message in reversed(messages_of(request.state)):
        if isinstance(message, AIMessage) and any(
            one["id"] == request.tool_call["id"] for one in message.tool_calls
        ):
            return message.id or ""
    return ""


def approval_when(
    gateway: Gateway,
    point: str | DecisionPoint,
    question: Question | None = None,
) -> Callable[[F], F]:
    """
    Wrap the `when` of `HumanInTheLoopMiddleware`: whether a person must approve a tool call.

    LangChain asks it again when the run is resumed; if the answer were another one by then,
    the tool would run although a person rejected it. Here it stands, for the same call.
    """
    return gateway.point(point, question, lens=TOOL_CALL, once=per_call)


class ApprovalMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Rules on tool calls before they run; a blocked one is answered by an error message.

    Where *guard* wants a person, the run is interrupted as `HumanInTheLoopMiddleware` does for
    each call, and resumed by `{"type": "approve"}` or `{"type": "reject"}`. A ruling stands
    over resumes, also in another process where a journal is kept.

    Args:
        guard: Rules on `TOOL_CALL`'s state: tool, arguments, and what the user asked for.
        tools: Names of the tools that it rules on; absent: all.
        message: What the model reads in place of the tool's result.

    """

    def __init__(
        self, guard: Guard, *, tools: Collection[str] | None = None, message: str = MESSAGE
    ) -> None:
        super().__init__()
        self._guard, self._message = guard, message
        self._tools = None if tools is None else frozenset(tools)

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
        try:
            ruling = self._guard.rule_sync(
                _called(request), subject=thread(), once=per_call(request)
            )
        except HumanNeeded as needed:
            return _reviewed(needed, request, self._message) or handler(request)
        return _refused(request, self._message) if ruling.blocked else handler(request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """As `wrap_tool_call`."""
        if not self._rules(request):
            return await handler(request)
        try:
            ruling = await self._guard.rule(
                _called(request), subject=thread(), once=per_call(request)
            )
        except HumanNeeded as needed:
            return _reviewed(needed, request, self._message) or await handler(request)
        return _refused(request, self._message) if ruling.blocked else await handler(request)

    def _rules(self, request: ToolCallRequest) -> bool:
        return self._tools is None or request.tool_call["name"] in self._tools


def _reviewed(needed: HumanNeeded, request: ToolCallRequest, message: str) -> ToolMessage | None:
    call = request.tool_call
    shown = {
        "type": "tool_approval",
        "tool_call_id": call["id"],
        "name": call["name"],
        "args": call["args"],
        "description": (request.tool and request.tool.description) or "",
    }
    said = rejection(needed, shown)
    return None if said is None else _refused(request, said or message)


def _refused(request: ToolCallRequest, message: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(message, tool_call_id=call["id"], name=call["name"], status="error")
