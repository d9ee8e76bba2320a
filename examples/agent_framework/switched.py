"""The same help desk, where `DECISION_ROUTER_PROVIDER` says who decides on the team."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Literal, Never

from agent_framework import (
    Agent,
    BaseChatClient,
    Case,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    Default,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    WorkflowBuilder,
    WorkflowContext,
    executor,
)

from pointsman import Choice, Gateway

PROMPT = "Which team takes this message: billing or tech? Answer with one word."
SAID = ["my invoice doubled", "my router is broken"]
gateway = Gateway.from_env()
BILLING = "My invoice, amounts, payments, refunds"
TECH = "My router or internet is broken, outages, faults"
TEAM = Choice("Which team takes this message?", {"billing": BILLING, "tech": TECH})


class Model(FunctionInvocationLayer, BaseChatClient):
    """Stands in for the language model, so that this runs anywhere."""

    calls = 0

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, **_: object
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        Model.calls += 1
        team = "billing" if "invoice" in messages[-1].text else "tech"

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [team])])

        async def pieces() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(contents=[Content.from_text(team)], role="assistant")

        return ResponseStream(pieces(), finalizer=ChatResponse.from_updates) if stream else whole()


triager = Agent(client=Model(), instructions=PROMPT)


@gateway.point("ROUTER", TEAM)
async def route(message: str) -> Literal["billing", "tech"]:
    """Ask the model."""
    reply = await triager.run(message)
    return "tech" if reply.text == "tech" else "billing"


@executor(id="triage")
async def triage(message: str, ctx: WorkflowContext[dict[str, str]]) -> None:
    """Decide once, so that every branch reads the same."""
    await ctx.send_message({"team": await route(message), "message": message})


@executor(id="billing")
async def billing(_: dict[str, str], ctx: WorkflowContext[Never, str]) -> None:
    """Answer for the accounts department."""
    await ctx.yield_output("Billing here: let me look at your invoice.")


@executor(id="tech")
async def tech(_: dict[str, str], ctx: WorkflowContext[Never, str]) -> None:
    """Answer for the engineers."""
    await ctx.yield_output("Support here: let us restart your router.")


branches = [Case(lambda routed: routed["team"] == "billing", billing), Default(tech)]
builder = WorkflowBuilder(start_executor=triage)
desk = builder.add_switch_case_edge_group(triage, branches).build()


async def main() -> None:
    """Let two customers speak."""
    for said in SAID:
        (answered,) = (await desk.run(said)).get_outputs()
        print(f"{said} → {answered}")
    print(f"calls of the language model: {Model.calls}")


if __name__ == "__main__":
    asyncio.run(main())
