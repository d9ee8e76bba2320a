"""The same help desk, where `DECISION_ROUTER_PROVIDER` says who decides on the team."""

from __future__ import annotations

from typing import Literal

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from pointsman import Choice, Gateway
from pointsman.gateway.integrations.langgraph import EDGE

PROMPT = "Which team takes this message: billing or tech? Answer with one word."
SAID = ["my invoice doubled", "my router is broken"]
gateway = Gateway.from_env()
BILLING = "My invoice, amounts, payments, refunds"
TECH = "My router or internet is broken, outages, faults"
TEAM = Choice("Which team takes this message?", {"billing": BILLING, "tech": TECH})
model = GenericFakeChatModel(messages=iter([AIMessage("billing"), AIMessage("tech")]))


@gateway.point("ROUTER", TEAM, lens=EDGE)
def route(state: MessagesState) -> Literal["billing", "tech"]:
    """Ask the model."""
    reply = model.invoke([("system", PROMPT), *state["messages"]])
    return "tech" if reply.text == "tech" else "billing"


def billing(_: MessagesState) -> dict[str, list[AIMessage]]:
    """Answer for the accounts department."""
    return {"messages": [AIMessage("Billing here: let me look at your invoice.")]}


def tech(_: MessagesState) -> dict[str, list[AIMessage]]:
    """Answer for the engineers."""
    return {"messages": [AIMessage("Support here: let us restart your router.")]}


graph = StateGraph(MessagesState)
graph.add_node(billing)
graph.add_node(tech)
graph.add_conditional_edges(START, route)
desk = graph.compile(checkpointer=InMemorySaver())

if __name__ == "__main__":
    for customer, said in enumerate(SAID):
        thread = {"configurable": {"thread_id": f"customer-{customer}"}}
        answered = desk.invoke({"messages": [("user", said)]}, thread)
        print(f"{said} → {answered['messages'][-1].text}")
    print(f"calls of the language model: {len(SAID) - len(list(model.messages))}")
