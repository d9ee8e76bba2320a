"""A model of our own for these tests, since the framework ships none, and how agents are run."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)

SESSION = "conversation-7"


class Words(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[type-arg]
    """A chat client that replies as told, the last reply again, and keeps what it was shown."""

    def __init__(self, *replies: str | Content, **given: Any) -> None:
        super().__init__(**given)
        self.replies = list(replies)
        self.shown: list[list[str]] = []

    def _inner_get_response(  # type: ignore[override]
        self, *, messages: Sequence[Message], stream: bool, **_: Any
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        self.shown.append([one.text for one in messages])
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if stream:
            return ResponseStream(_pieces(reply), finalizer=ChatResponse.from_updates)
        return _whole(reply)


async def _whole(reply: str | Content) -> ChatResponse:
    return ChatResponse(messages=[Message("assistant", [reply])])


async def _pieces(reply: str | Content) -> AsyncIterator[ChatResponseUpdate]:
    parts = reply.split(" ") if isinstance(reply, str) else [reply]
    for part in parts:
        yield ChatResponseUpdate(contents=[_content(part)], role="assistant")


def _content(part: str | Content) -> Content:
    return Content.from_text(f"{part} ") if isinstance(part, str) else part


def calls(name: str, call_id: str = "c1", **arguments: Any) -> Content:
    """What a model says that calls a tool."""
    return Content.from_function_call(call_id=call_id, name=name, arguments=json.dumps(arguments))


class Bank:
    """A tool that must not run unasked, and what it did."""

    def __init__(self, approval_mode: Any = "never_require") -> None:
        self.refunded: list[int] = []

        @tool(approval_mode=approval_mode)
        def refund(amount: int) -> str:
            """Refund an amount."""
            self.refunded.append(amount)
            return f"refunded {amount}"

        self.refund = refund


def resumed(session: AgentSession) -> AgentSession:
    """Give the session as another process finds it: plain JSON and back."""
    plain: Mapping[str, Any] = json.loads(json.dumps(session.to_dict()))
    return AgentSession.from_dict(dict(plain))


async def streamed(agent: Agent, said: str, session: AgentSession | None = None) -> list[str]:
    """Run and give what was streamed, piece by piece."""
    stream = agent.run(said, session=session, stream=True)
    pieces = [update.text async for update in stream]
    await stream.get_final_response()
    return pieces


def answered(request: Content, *, approved: bool) -> list[Message]:
    """Answer a request for approval, as a person did."""
    return [Message("user", [request.to_function_approval_response(approved)])]
