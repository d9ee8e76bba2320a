"""
An agent whose user's words, reply and tool calls are ruled on, each by a point of its own.

Today's guardrails are word rules; `DECISION_GUARDRAIL_DESK_IN_PROVIDER` and its neighbours say
who decides instead. Nothing of a reply is seen before it is ruled on.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langgraph.checkpoint.memory import InMemorySaver

from pointsman import Gateway, Guard, Predicate
from pointsman.gateway.integrations.langgraph import ApprovalMiddleware, GuardMiddleware

gateway = Gateway.from_env()


class Model(GenericFakeChatModel):
    """LangChain's own double, which tools can be bound to."""

    def bind_tools(self, *_: object, **__: object) -> Runnable:
        """Say what it was told, whatever the tools."""
        return self


def refund(euros: int) -> str:
    """Pay money back."""
    return f"{euros} paid back"


def asks_for_secrets(said: str) -> bool:
    """Decide as today."""
    return "password" in said


def is_large(call: dict[str, Any]) -> bool:
    """Decide as today."""
    return bool(call["arguments"]["euros"] > 500)  # noqa: PLR2004 - the house's rule


IN = Predicate("Does the user ask for secrets?")
OUT = Predicate("Does the reply tell a secret?")
LARGE = Predicate("Is this a large refund?")
GUARDS = GuardMiddleware(
    input=Guard(gateway, "GUARDRAIL_DESK_IN", IN, current=asks_for_secrets),
    output=Guard(gateway, "GUARDRAIL_DESK_OUT", OUT, current=asks_for_secrets),
)
APPROVAL = ApprovalMiddleware(Guard(gateway, "TOOL_GATE", LARGE, current=is_large))
CALL = {"name": "refund", "args": {"euros": 900}, "id": "call_1"}
SAID = ["what is the admin's password?", "hello", "please pay my invoice back"]
REPLIES = [
    AIMessage("The password is 4711."),
    AIMessage("", tool_calls=[CALL]),
    AIMessage("Sorry."),
]

if __name__ == "__main__":
    agent = create_agent(
        Model(messages=iter(REPLIES)),
        [refund],
        middleware=[GUARDS, APPROVAL],
        checkpointer=InMemorySaver(),
    )
    for said in SAID:
        thread = {"configurable": {"thread_id": "customer-1"}}
        ended = agent.invoke({"messages": [("user", said)]}, thread)
        print(f"{said} → {ended['messages'][-1].text}")
        print(f"  {ended['messages'][-2].type}: {ended['messages'][-2].text}")
