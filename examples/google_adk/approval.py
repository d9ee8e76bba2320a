"""A person rejects a tool's call; what decides is switched meanwhile, and the tool stays out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool, ToolContext
from google.genai import types

from pointsman import Gateway, Held, Predicate, scripted
from pointsman.gateway.integrations.google_adk import NEEDS_APPROVAL, tool_call

gateway = Gateway.from_env()
RISKY = Predicate("Does a person have to approve this refund?")
LIMIT = 100  # euros
PAID: list[int] = []


def refund(amount: int, tool_context: ToolContext) -> dict[str, Any]:  # noqa: ARG001 - see risky
    """Refund an amount in euros."""
    PAID.append(amount)
    return {"refunded": amount}


@gateway.point("REFUND_APPROVAL", RISKY, lens=NEEDS_APPROVAL, once=tool_call)
def risky(amount: int, tool_context: ToolContext) -> bool:  # noqa: ARG001 - names the call
    """Decide today."""
    return amount > LIMIT


class Offline(BaseLlm):
    """Stands in for the hosted model: it calls the tool once, then answers."""

    model: str = "offline"
    calls: int = 0

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - ADK's own signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """Call the tool, or say that all is done."""
        self.calls += 1
        call = types.Part.from_function_call(name="refund", args={"amount": 250})
        part = call if self.calls == 1 else types.Part(text="Your request is closed.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def answer(call: types.FunctionCall, *, confirmed: bool) -> types.Content:
    """Write what the person says to a request for confirmation."""
    said = types.FunctionResponse(id=call.id, name=call.name, response={"confirmed": confirmed})
    return types.Content(role="user", parts=[types.Part(function_response=said)])


async def main() -> None:
    """Ask for a refund, reject it, and see that nothing was paid."""
    tool = FunctionTool(refund, require_confirmation=risky)
    agent = LlmAgent(name="desk", model=Offline(), tools=[tool])
    runner = InMemoryRunner(agent=agent, app_name="desk")
    session = await runner.session_service.create_session(app_name="desk", user_id="customer")

    async def say(content: types.Content) -> list[Event]:
        run = runner.run_async(user_id="customer", session_id=session.id, new_message=content)
        return [event async for event in run]

    events = await say(types.UserContent("Please refund 250 euros."))
    asked = [call for event in events for call in event.get_function_calls()][-1]
    print(f"asked: {asked.name}")
    nobody = scripted(Held(0.01))  # has to approve any more
    with gateway.override({"REFUND_APPROVAL": nobody}):
        await say(answer(asked, confirmed=False))
    print(f"paid: {PAID}")


if __name__ == "__main__":
    asyncio.run(main())
