"""`GuardMiddleware`: guardrails of what users say, and of what an agent replies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    AgentResponse,
    AgentResponseUpdate,
    Content,
    Message,
    ResponseStream,
)

from .. import rails
from ..words import BLOCKED
from .seeing import rail_state, session_id, words

if TYPE_CHECKING:
    from ...guarding import Guard


class GuardMiddleware(AgentMiddleware):
    """
    Blocks what a user says before the agent reads it, and a reply before anybody does.

    A reply is held back until it is ruled on: with *output*, a stream gives it whole, when all
    of it is there, not token by token. What was replied stays in the session's history, which
    is written inside the run.

    Where a guard wants a person, `HumanNeeded` reaches the caller of the run.

    Args:
        input: Rules on the newest words of a user.
        output: Rules on the text of the reply; tool calls are for `ApprovalMiddleware`.
        message: What the user reads in place of what was blocked.

    """

    def __init__(
        self,
        *,
        input: Guard | None = None,  # noqa: A002 - the shared word of all integrations
        output: Guard | None = None,
        message: str = BLOCKED,
    ) -> None:
        self._input, self._output, self._message = input, output, message

    async def process(
        self, context: AgentContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run the agent unless its input is blocked, and give its reply unless that is."""
        if await self._blocks_input(context):
            context.result = self._instead(context)
            return
        await call_next()
        if self._output is None or context.result is None:
            return
        if isinstance(context.result, ResponseStream):
            context.result = self._held(context, context.result)
        else:
            context.result = await self._let(context, context.result)

    async def _blocks_input(self, context: AgentContext) -> bool:
        if self._input is None or not any(words(one) for one in context.messages):
            return False  # a resumed run: a person's approval is no words
        state = rail_state(self._input.point, context.messages)
        return (await self._input.rule(state, subject=session_id(context.session))).blocked

    def _held(
        self,
        context: AgentContext,
        stream: ResponseStream[AgentResponseUpdate, AgentResponse[Any]],
    ) -> ResponseStream[AgentResponseUpdate, AgentResponse[Any]]:
        """
        Let *stream* give nothing before its reply is ruled on.

        A stream of its own: what middleware further out hangs on it sees what is let only.
        """

        async def ruled(response: AgentResponse[Any]) -> AgentResponse[Any] | None:
            let = await self._let(context, response)
            return None if let is response else let  # a reply that passes keeps its own updates

        async def pieces() -> AsyncIterator[AgentResponseUpdate]:
            async for update in stream:
                yield update

        stream.buffer_updates(result_to_updates=_as_updates).with_result_transform(ruled)
        return ResponseStream(pieces(), finalizer=lambda _: stream.get_final_response())

    async def _let(self, context: AgentContext, response: AgentResponse[Any]) -> AgentResponse[Any]:
        assert self._output is not None
        if not response.text:
            return response
        state = rails.output_state(self._output.point, response.text)
        ruling = await self._output.rule(state, subject=session_id(context.session))
        return self._replaced(response) if ruling.blocked else response

    def _replaced(self, response: AgentResponse[Any]) -> AgentResponse[Any]:
        """Keep the id, and the tokens, which were paid; no text, no calls, no value."""
        return AgentResponse(
            messages=[self._said()],
            response_id=response.response_id,
            agent_id=response.agent_id,
            usage_details=response.usage_details,
        )

    def _instead(
        self, context: AgentContext
    ) -> AgentResponse[Any] | ResponseStream[AgentResponseUpdate, AgentResponse[Any]]:
        response: AgentResponse[Any] = AgentResponse(messages=[self._said()])
        if not context.stream:
            return response
        return ResponseStream(_each(_as_updates(response)), finalizer=AgentResponse.from_updates)

    def _said(self) -> Message:
        return Message("assistant", [Content.from_text(self._message)])


def _as_updates(response: AgentResponse[Any]) -> list[AgentResponseUpdate]:
    return [
        AgentResponseUpdate(
            contents=message.contents, role=message.role, message_id=message.message_id
        )
        for message in response.messages
    ]


async def _each(updates: Sequence[AgentResponseUpdate]) -> AsyncIterator[AgentResponseUpdate]:
    for update in updates:
        yield update
