"""A refund that no model talks its way into: a rail rules on each call, and a person in doubt."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Sequence

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from pointsman import Gateway, Guard, Predicate
from pointsman.gateway.integrations.agent_framework import ApprovalMiddleware

gateway = Gateway.from_env({"DECISION_INBOX": "off", **os.environ})  # the framework asks the person
RISKY = Predicate("Would this call move money that nobody agreed to?")
guard = Guard(gateway, "REFUND_GATE", RISKY, on_undecided="human")
refunded: list[int] = []


class Model(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Stands in for the language model: it calls the tool, then says what came of it."""

    def _inner_get_response(
        self, *, messages: Sequence[Message], **_: object
    ) -> Awaitable[ChatResponse]:
        said = [one for message in messages for one in message.contents]
        results = [str(one.result) for one in said if one.type == "function_result"]
        call = Content.from_function_call(call_id="1", name="refund", arguments='{"amount": 500}')

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", results or [call])])

        return whole()


@tool(approval_mode="never_require")
def refund(amount: int) -> str:
    """Refund an amount."""
    refunded.append(amount)
    return f"{amount} were refunded"


desk = Agent(client=Model(), tools=[refund], middleware=[ApprovalMiddleware(guard)])


async def main() -> None:
    """Let a customer ask; whoever must decide is asked, and the run goes on later."""
    session = AgentSession(session_id="customer-7")
    response = await desk.run("I want my 500 back", session=session)
    for request in response.user_input_requests:
        print(f"a person is asked, refunded so far: {refunded}")
        kept = json.dumps(session.to_dict())  # the person may take their time
        answer = Message("user", [request.to_function_approval_response(approved=True)])
        later = AgentSession.from_dict(json.loads(kept))
        response = await desk.run([answer], session=later)
    print(response.text)


if __name__ == "__main__":
    asyncio.run(main())
