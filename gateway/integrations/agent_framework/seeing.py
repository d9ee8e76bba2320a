"""What deciders are shown of a conversation, and whose it is; nothing of the framework's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    AgentSession,
    Content,
    Message,
    ResponseStream,
)
from pydantic_core import to_jsonable_python

from ...errors import DeclarationError
from .. import rails

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...points import DecisionPoint
    from ...state import State

_SILENT = frozenset(
    {"text_reasoning", "usage", "function_approval_request", "function_approval_response"}
)


def shown(messages: Sequence[Message]) -> State:
    """
    Show a conversation: messages, oldest first; a single one of a user as its text.

    A call is the assistant's words, its result the tool's. What is no text leaves its kind in
    brackets, `[uri]`, so that nobody takes the rest for the whole.
    """
    said = [one for message in messages if (one := _as_data(message))["content"]]
    alone = len(said) == 1 and said[0]["role"] == "user"
    return said[0]["content"] if alone else said


def rail_state(point: DecisionPoint, messages: Sequence[Message]) -> State:
    """Show an input to a guardrail: what users said last and the rest, to one that reads `text`."""
    if "text" not in point.reads:
        return shown(messages)
    said = [one for message in messages if (one := _as_data(message))["content"]]
    return rails.input_state(point, said)


def user_spoke_last(messages: Sequence[Message]) -> bool:
    """Whether the newest message is a user's words: only then is there something new to route."""
    return bool(messages) and _is_user(messages[-1]) and bool(words(messages[-1]))


def last_user_text(messages: Sequence[Message]) -> str:
    """
    Give what a user said last.

    Raises:
        DeclarationError: A user said nothing in them.

    """
    for message in reversed(messages):
        if _is_user(message) and (said := words(message)):
            return said
    raise DeclarationError("no message is a user's; pass `ask=` to say what deciders are shown")


def words(message: Message) -> str:
    """Give what a message says, in words."""
    return "\n".join(_part(one) for one in message.contents if one.type not in _SILENT)


def session_id(session: AgentSession | None) -> str | None:
    """Give the subject of a session, if there is one."""
    return None if session is None else session.session_id


def call_of(name: str | None, arguments: object) -> dict[str, Any]:
    """
    Show a tool call: which tool, with which arguments, as plain JSON.

    The framework gives a middleware what it has made of them, dates and enums among it, and a
    rule the JSON that the model wrote; sessions are kept as JSON.
    """
    plain = {} if arguments is None else to_jsonable_python(arguments)
    return {"tool": name or "", "arguments": plain}


class SessionMiddleware(AgentMiddleware):
    """
    Binds the id of the agent's session to all decisions of a run, with `gateway.session`.

    For the seams to which the framework tells no session: rules of approval, and functions that
    tools call. It belongs first in `middleware`; a run without a session is left alone.

    Args:
        gateway: Whose decisions.

    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def process(
        self, context: AgentContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run what is inside in the session; a stream, whenever something is drawn from it."""
        subject = session_id(context.session)
        if subject is None:
            await call_next()
            return
        with self._gateway.session(subject):
            await call_next()
        if isinstance(context.result, ResponseStream):
            context.result.with_pull_context_manager(lambda: self._gateway.session(subject))


def _is_user(message: Message) -> bool:
    return str(message.role) == "user"


def _as_data(message: Message) -> dict[str, str]:
    said = {"role": str(message.role), "content": words(message)}
    return {**said, "name": message.author_name} if message.author_name else said


def _part(part: Content) -> str:
    if part.type == "text":
        return part.text or ""
    if part.type == "function_call":
        return f"{part.name}({part.arguments or ''})"
    if part.type == "function_result":
        return str(part.result)
    return f"[{part.type}]"
