"""Hand-offs of a prebuilt supervisor, decided in place of its model's tool call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import signature
from typing import Any, cast
from uuid import uuid4

import msgspec

from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Choice
from .. import needs
from ..words import STAY, WHO, takes_over
from .seeing import is_user, last_user_text, thread

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

_DESTINATION = "__handoff_destination"  # how supervisor and swarm mark their hand-off tools


class _Turn(msgspec.Struct, frozen=True):
    """One call of a supervisor's model, where a user spoke last."""

    question: str
    tools: Sequence[Any]
    messages: Sequence[BaseMessage]
    run: Callable[[], Any]  # the model itself; an awaitable where the call is async

    def options(self) -> dict[str, str]:
        return {_agent_of(tool): tool.description for tool in self.tools}

    def handing(self, agent: str) -> AIMessage | None:
        """Write the model's tool call for it; None: it has none."""
        for tool in self.tools:
            if _agent_of(tool) == agent:
                call = {"name": tool.name, "args": {}, "id": f"call_{uuid4().hex}"}
                return AIMessage("", tool_calls=[call])
        return None

    def agent(self, value: object) -> str:
        """Say to whom the model handed over."""
        said = value.result if isinstance(value, ModelResponse) else [value]
        calls = [one for message in said for one in getattr(message, "tool_calls", ())]
        names = {tool.name: _agent_of(tool) for tool in self.tools}
        return next((names[one["name"]] for one in calls if one["name"] in names), STAY)


class _Said(msgspec.Struct, frozen=True):
    """What came of a turn: what the model gave, or to whom a provider hands over."""

    agent: str
    given: Any = None


def _asked(turn: _Turn) -> Choice:
    return takes_over(turn.question).offering(turn.options())


def _run(turn: _Turn) -> _Said:
    given = turn.run()
    return _Said(turn.agent(given), given)


async def _run_async(turn: _Turn) -> _Said:
    given = await turn.run()
    return _Said(turn.agent(given), given)


_LENS = Lens(
    state=lambda turn: last_user_text(turn.messages),
    session=thread,
    read=lambda said: said.agent,
    write=_Said,
)


class _Handoffs:
    """The decision that a model wrapper and a middleware share."""

    def __init__(self, gateway: Gateway, point: str | DecisionPoint, question: str) -> None:
        wrap = gateway.point(point, _asked, lens=_LENS)
        self._at_once: Callable[[_Turn], _Said] = wrap(_run)
        self._awaited: Callable[[_Turn], Awaitable[_Said]] = wrap(_run_async)
        self._question = question

    def decided(
        self, tools: Sequence[Any], messages: Sequence[BaseMessage], run: Callable[[], Any]
    ) -> Any:  # noqa: ANN401 - the model's, or a tool call
        """Give the tool call that was decided on, else what the model says."""
        if (turn := self._turn(tools, messages, run)) is None:
            return run()
        said = self._at_once(turn)
        if said.given is not None:
            return said.given
        handing = turn.handing(said.agent)
        return run() if handing is None else handing

    async def decided_async(
        self, tools: Sequence[Any], messages: Sequence[BaseMessage], run: Callable[[], Any]
    ) -> Any:  # noqa: ANN401 - the model's, or a tool call
        """As `decided`."""
        if (turn := self._turn(tools, messages, run)) is None:
            return await run()
        said = await self._awaited(turn)
        if said.given is not None:
            return said.given
        handing = turn.handing(said.agent)
        return await run() if handing is None else handing

    def _turn(
        self, tools: Sequence[Any], messages: Sequence[BaseMessage], run: Callable[[], Any]
    ) -> _Turn | None:
        """None: no user spoke last, so that it would be decided about the same words again."""
        if not tools or not messages or not is_user(messages[-1]):
            return None
        return _Turn(self._question, tools, messages, run)


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
    _handoffs: _Handoffs = PrivateAttr()

    def __init__(
        self,
        gateway: Gateway,
        point: str | DecisionPoint,
        *,
        current: BaseChatModel,
        question: str = WHO,
    ) -> None:
        super().__init__(current=current, profile=current.profile)  # type: ignore[call-arg]
        self._handoffs = _Handoffs(gateway, point, question)

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
        handing = () if tool_choice else _handing(tools)
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
        self._handoffs = _Handoffs(gateway, point, question)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        """Give the hand-off that was decided on, else what the model says."""
        tools = _handing(request.tools)
        said = self._handoffs.decided(tools, request.messages, lambda: handler(request))
        return cast("ModelResponse[Any] | AIMessage", said)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """As `wrap_model_call`."""
        tools = _handing(request.tools)
        said = await self._handoffs.decided_async(tools, request.messages, lambda: handler(request))
        return cast("ModelResponse[Any] | AIMessage", said)


def _handing(tools: Sequence[Any]) -> tuple[BaseTool, ...]:
    """
    Select the tools that are marked to hand off; one that needs arguments is the model's to call.

    In order of names: the prebuilt supervisor keeps them in a set, each process in its own order.
    """
    plain = (one for one in tools if isinstance(one, BaseTool) and not one.args)
    return tuple(sorted(filter(_agent_of, plain), key=_agent_of))


def _agent_of(tool: BaseTool) -> str:
    return str((tool.metadata or {}).get(_DESTINATION) or "")


def _messages(given: LanguageModelInput) -> Sequence[BaseMessage]:
    if isinstance(given, PromptValue):
        return given.to_messages()
    return [HumanMessage(given)] if isinstance(given, str) else convert_to_messages(given)


def _takes(function: Callable[..., Any], name: str) -> bool:
    return name in signature(function).parameters
