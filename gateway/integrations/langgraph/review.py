"""A person's review, through LangGraph's own `interrupt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

from .. import needs

try:
    from langchain.agents.middleware.human_in_the_loop import ApproveDecision, RejectDecision
    from langgraph.types import interrupt
    from pydantic import Discriminator
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...errors import HumanNeeded

# the framework takes a union where its types say a class
_REVIEWED = cast("type[Any]", Annotated[ApproveDecision | RejectDecision, Discriminator("type")])


def rejection(needed: HumanNeeded, shown: Mapping[str, Any]) -> str | None:
    """
    Interrupt the run until a person has decided, as `HumanInTheLoopMiddleware` does per call.

    They answer `Command(resume={"type": "approve"})` or `{"type": "reject", "message": …}`.

    Returns:
        None if they approve; else what they say, which may be nothing.

    """
    value = {**shown, "point": needed.point, "decision": needed.id}
    answer = interrupt(value, response_schema=_REVIEWED)
    return None if answer["type"] == "approve" else str(answer.get("message", ""))
