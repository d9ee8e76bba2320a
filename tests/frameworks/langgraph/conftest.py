"""Doubles that the tests of LangChain and LangGraph share; imported without them too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

THREAD = {"configurable": {"thread_id": "customer-7"}}


@pytest.fixture
def thread() -> dict[str, Any]:
    """The run of a customer whom decisions are to stick to."""
    return THREAD


@pytest.fixture
def chat() -> Callable[..., Any]:
    """Make a chat model that replies as told and says how often it was called."""
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from pydantic import Field

    class Chat(GenericFakeChatModel):
        """LangChain's own double, which tools can be bound to (frameworks §6.10)."""

        called: list[Any] = Field(default_factory=list)

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self.bind(tools=[{"name": one.name} for one in tools], **kwargs)

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            self.called.append(messages)
            kwargs.pop("tools", None)
            return super()._generate(messages, *args, **kwargs)

    def make(*replies: Any) -> Chat:
        said = (AIMessage(one) if isinstance(one, str) else one for one in replies)
        return Chat(messages=iter(list(said)))

    return make
