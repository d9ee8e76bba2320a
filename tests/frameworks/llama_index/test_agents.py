"""Tools of LlamaIndex's agents: approved by a guard, or by a person."""

import asyncio  # no postponed annotations: agents look for `Context` itself among a tool's
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="runs in its own environment: make frameworks")

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from workflows import Context
from workflows.events import HumanResponseEvent

from pointsman import Gateway, Guard, Predicate, Reason, scripted
from pointsman.gateway.integrations.llama_index import PersonNeeded, approved

Gateways = Callable[..., Gateway]

RISKY = Predicate("Is this refund against the rules?")
YES, NO = True, False


def says(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    """LlamaIndex's double calls the tool once, then repeats what it gave."""
    if any(message.role == "tool" for message in messages):
        block: Any = TextBlock(text=f"done: {messages[-1].content}")
    else:
        call = {"order": "7", "amount": 250}
        block = ToolCallBlock(tool_call_id="c1", tool_name="refund", tool_kwargs=call)
    return ChatMessage(role="assistant", blocks=[block])


def desk(gateway: Gateway, paid: list[int], **given: Any) -> AgentWorkflow:
    guard = Guard(gateway, "REFUND", RISKY, **given)

    async def refund(ctx: Context, order: str, amount: int) -> str:
        """Refund an order."""
        call = {"order": order, "amount": amount}
        if not await approved(ctx, guard, call, call=f"refund of order {order}"):
            return "not approved"
        paid.append(amount)
        return "paid"

    llm = MockFunctionCallingLLM(response_generator=says)
    return AgentWorkflow(agents=[FunctionAgent(name="desk", tools=[refund], llm=llm)])


async def heard(gateway: Gateway, workflow: AgentWorkflow, response: str = "") -> str:
    """Run it; by the time that a person answers, a provider would allow everything."""
    async with gateway.session("conversation-7"):
        handler = workflow.run(user_msg="please refund order 7")
        async for event in handler.stream_events():
            if isinstance(event, PersonNeeded):
                said = HumanResponseEvent(waiter=event.waiter, response=response)
                with gateway.override({"REFUND": scripted(NO)}):
                    handler.ctx.send_event(said)
                    return str(await handler)
        return str(await handler)


@pytest.mark.parametrize(("answer", "expected"), [(NO, [250]), (YES, [])])
def test_a_tool_asks_its_guard(answer: Any, expected: list[int], gateway_of: Gateways) -> None:
    gateway, paid = gateway_of(), []
    workflow = desk(gateway, paid, on_undecided="block")

    with gateway.override({"REFUND": scripted(answer)}):
        heard_of = asyncio.run(heard(gateway, workflow))
    assert paid == expected
    assert heard_of == f"done: {'paid' if expected else 'not approved'}"


@pytest.mark.parametrize(("response", "expected"), [("yes", [250]), ("no", [])])
def test_a_tool_asks_a_person_where_nobody_decides(
    response: str, expected: list[int], gateway_of: Gateways
) -> None:
    """frameworks §6.1: the tool is run again from its first line when they have answered."""
    gateway, paid = gateway_of(), []
    workflow = desk(gateway, paid, on_undecided="human")

    with gateway.override({"REFUND": scripted(Reason.TIMEOUT)}):
        asyncio.run(heard(gateway, workflow, response))
    assert paid == expected


def test_what_agents_swallow_lets_nothing_through(gateway_of: Gateways) -> None:
    """frameworks §6.6: an agent turns a tool's exception into its output; it has not run."""
    gateway, paid = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"}), []
    workflow = desk(gateway, paid, current=lambda _: False)

    with gateway.override({"REFUND": scripted(Reason.TIMEOUT)}):
        said = asyncio.run(heard(gateway, workflow))
    assert "no answer that may be believed" in said
    assert paid == []
