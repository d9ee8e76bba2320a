"""A supervisor's turn: to whom it hands over, decided by a point, or what its model says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Never
from uuid import uuid4

import msgspec

from ...errors import DeclarationError
from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Ask, Choice
from ...wrapping import QUESTION
from .. import needs
from ..words import STAY, takes_over
from .seeing import configured, is_user, last_user_text, thread

try:
    from langchain.agents.middleware import ModelResponse
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.tools import BaseTool
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

    def __deepcopy__(self, memo: object) -> Never:
        """Let only the agent be remembered: what the model said is no decision."""
        raise TypeError


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


class Handoffs:
    """The decision that a model wrapper and a middleware share."""

    def __init__(self, gateway: Gateway, point: str | DecisionPoint, question: str) -> None:
        self._gateway, self._point = gateway, point
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
        given = self._remembered(turn, _run)
        said = self._gateway.ask_sync(**given).value if given else self._at_once(turn)
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
        given = self._remembered(turn, _run_async)
        if given:
            said = (await self._gateway.ask(**given)).value
        else:
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

    def _remembered(self, turn: _Turn, run: Callable[[_Turn], Any]) -> dict[str, Any]:
        """
        Say how a turn is decided once, for the message and the agent that it is; else nothing.

        What only the model decides does not stand. A wrapped function that is declared `once`
        would look at each call, also then.
        """
        subject, message = thread(), turn.messages[-1].id
        if not subject or not message or self._gateway.left_to_current(self._point):
            return {}
        try:
            said, question = last_user_text(turn.messages), _asked(turn)
            ask = Ask(said, {QUESTION: question})
        except DeclarationError:  # the wrapped function records it
            return {}
        call = f"{message}/{_asking()}"
        return {
            "point": self._point,
            "ask": ask,
            "current": partial(run, turn),
            "read": _LENS.read,
            "write": _LENS.write,
            "subject": subject,
            "once": (call, {"options": turn.options(), "said": said}),
        }


def handing_tools(tools: Sequence[Any]) -> tuple[BaseTool, ...]:
    """
    Select the tools that are marked to hand off; one that needs arguments is the model's to call.

    In order of names: the prebuilt supervisor keeps them in a set, each process in its own order.
    """
    plain = (one for one in tools if isinstance(one, BaseTool) and not one.args)
    return tuple(sorted(filter(_agent_of, plain), key=_agent_of))


def _asking() -> str:
    """Name the agent that asks, by its nodes; their tasks are others after a fork."""
    path = str(configured().get("checkpoint_ns", "")).split("|")
    return "/".join(one.partition(":")[0] for one in path)


def _agent_of(tool: BaseTool) -> str:
    return str((tool.metadata or {}).get(_DESTINATION) or "")
