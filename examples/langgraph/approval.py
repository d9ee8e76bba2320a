"""
A refund that a person may have to approve, over two processes.

The first run asks who decides and stops where a person is needed; a later one, with
`DESK_ANSWER=approve` or `reject`, goes on where it stopped. What was decided stands, even
where the variables say something else by then: set `DECISION_JOURNAL=sqlite:///journal.db`, or
it is forgotten with the first process. Both keep their checkpoints in `DESK_FOLDER`.

Needs `pip install 'pointsman[langgraph,journal,local]' langgraph-checkpoint-sqlite`.
"""

from __future__ import annotations

import os
from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolCallRequest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from pointsman import Gateway, Predicate
from pointsman.gateway.integrations.langgraph import approval_when

gateway = Gateway.from_env()
CALLS = [{"name": "refund", "args": {"euros": 900}, "id": "call_1"}]
THREAD = {"configurable": {"thread_id": "customer-1"}}
refunded: list[int] = []


class Model(GenericFakeChatModel):
    """LangChain's own double, which tools can be bound to."""

    def bind_tools(self, *_: object, **__: object) -> Runnable:
        """Say what it was told, whatever the tools."""
        return self


def refund(euros: int) -> str:
    """Pay money back."""
    refunded.append(euros)
    return f"{euros} paid back"


@approval_when(gateway, "REFUND", Predicate("Is this a large refund, above 500 euros?"))
def needs_a_person(request: ToolCallRequest) -> bool:
    """Decide as today."""
    return bool(request.tool_call["args"]["euros"] > 500)  # noqa: PLR2004 - the house's rule


def main() -> None:
    """Run until a person is needed, or go on with what they answered."""
    answer = os.environ.get("DESK_ANSWER")
    replies = (
        [AIMessage("Done.")] if answer else [AIMessage("", tool_calls=CALLS), AIMessage("Done.")]
    )
    when = {"allowed_decisions": ["approve", "reject"], "when": needs_a_person}
    file = Path(os.environ.get("DESK_FOLDER", ".")) / "checkpoints.db"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        agent = create_agent(
            Model(messages=iter(replies)),
            [refund],
            middleware=[HumanInTheLoopMiddleware({"refund": when})],
            checkpointer=saver,
        )
        said = {"messages": [("user", "please pay my invoice back")]}
        given = Command(resume={"decisions": [{"type": answer}]}) if answer else said
        agent.invoke(given, THREAD)
        if agent.get_state(THREAD).interrupts:
            print("waiting for a person")
    print(f"refunded: {refunded}")
    gateway.close()


if __name__ == "__main__":
    main()
