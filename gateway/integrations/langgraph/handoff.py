"""Hand-offs of a prebuilt supervisor, decided in place of its model's tool call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import signature
from typing import Any, cast

from ...gateway import Gateway
from ...points import DecisionPoint
from .. import needs
from ..words import WHO
from .turns import Handoffs, handing_tools

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.callbacks import CallbackManagerForLLMRun
    from langchain_core.language_models import BaseChatModel, LanguageModelInput
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langchain_core.messages.utils import convert_to_messages
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.prompt_values import PromptValue
    from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
    from langchain_core.tools import BaseTool
    from pydantic import ConfigDict, Field, PrivateAttr
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing


class HandoffModel(BaseChatModel):
    """
    A supervisor's model whose hand-offs are decided by a point; for all else it is *current*.

    For `create_supervisor(model=…)` and `create_react_agent`, which bind their hand-off tools to
    it. Where a user spoke last, the planned provider chooses among those tools' agents and
    `stay`; an agent that it chose is handed over to without a call of *current*.

    Args:
        gateway: Decides who decides.
        point: Suffix of the point's variables, or a declaration.
        current: The supervisor's model of today.
        question: What is asked; the options are the agents, described by their tools.

    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    current: Any = Field(exclude=True)
    tools: tuple[BaseTool, ...] = ()
    _handoffs: Handoffs = PrivateAttr()

    def __init__(
        self,
        gateway: Gateway,
        point: str | DecisionPoint,
        *,
        current: BaseChatModel,
        question: str = WHO,
    ) -> None:
        super().__init__(current=current, profile=current.profile)  # type: ignore[call-arg]
        self._handoffs = Handoffs(gateway, point, question)

    @property
    def model_name(self) -> str | None:
        """Of *current*: the supervisor looks at it."""
        return getattr(self.current, "model_name", None)

    @property
    def _llm_type(self) -> str:
        return "pointsman-handoff"

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: Any = None,  # noqa: ANN401 - the model's own
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's own
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind *tools* to *current*; those that hand off are the options."""
        given = {"tool_choice": tool_choice, "parallel_tool_calls": parallel_tool_calls}
        kwargs |= {name: one for name, one in given.items() if one is not None}
        if not _takes(self.current.bind_tools, "parallel_tool_calls"):
            kwargs.pop("parallel_tool_calls", None)
        binding = self.current.bind_tools(tools, **kwargs)
        handing = () if tool_choice else handing_tools(tools)
        if isinstance(binding, RunnableBinding) and binding.bound is self.current:
            return binding.model_copy(update={"bound": self.model_copy(update={"tools": handing})})
        return self.model_copy(update={"current": binding, "tools": handing})

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:  # noqa: ANN401
        """As *current* does."""
        return cast("Runnable[Any, Any]", self.current.with_structured_output(schema, **kwargs))

    def invoke(
        self,
        input: LanguageModelInput,  # noqa: A002 - as the base says
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's own
    ) -> AIMessage:
        """Give the hand-off that was decided on, else what *current* says."""

        def run() -> Any:  # noqa: ANN401
            return self.current.invoke(input, config, **kwargs)

        return cast("AIMessage", self._handoffs.decided(self.tools, _messages(input), run))

    async def ainvoke(
        self,
        input: LanguageModelInput,  # noqa: A002 - as the base says
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's own
    ) -> AIMessage:
        """As `invoke`."""

        def run() -> Any:  # noqa: ANN401
            return self.current.ainvoke(input, config, **kwargs)

        said = await self._handoffs.decided_async(self.tools, _messages(input), run)
        return cast("AIMessage", said)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's own
    ) -> ChatResult:
        said = self.invoke(messages, stop=stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=said)])


class HandoffMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    As `HandoffModel`, for an agent of `create_agent` that has tools to hand off with.

    Args:
        gateway: Decides who decides.
        point: Suffix of the point's variables, or a declaration.
        question: What is asked; the options are the agents, described by their tools.

    """

    def __init__(
        self, gateway: Gateway, point: str | DecisionPoint, *, question: str = WHO
    ) -> None:
        super().__init__()
        self._handoffs = Handoffs(gateway, point, question)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        """Give the hand-off that was decided on, else what the model says."""
        tools = handing_tools(request.tools)
        said = self._handoffs.decided(tools, request.messages, lambda: handler(request))
        return cast("ModelResponse[Any] | AIMessage", said)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """As `wrap_model_call`."""
        tools = handing_tools(request.tools)
        said = await self._handoffs.decided_async(tools, request.messages, lambda: handler(request))
        return cast("ModelResponse[Any] | AIMessage", said)


def _messages(given: LanguageModelInput) -> Sequence[BaseMessage]:
    if isinstance(given, PromptValue):
        return given.to_messages()
    return [HumanMessage(given)] if isinstance(given, str) else convert_to_messages(given)


def _takes(function: Callable[..., Any], name: str) -> bool:
    return name in signature(function).parameters
