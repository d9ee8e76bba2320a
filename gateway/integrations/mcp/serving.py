"""Pointsman as an MCP server: clients decide through it, and see who decides what."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec
from mcp import MCPError
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from ...errors import DeclarationError, HumanNeeded, NoAnswer, PointsmanError, SetupError
from ...points import find, suffix_of
from ...settings import CURRENT
from .discreet import Discreet
from .telling import explained, near, told

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mcp.server.mcpserver import MCPServer

    from ...gateway import Gateway
    from ...points import DecisionPoint
    from ...records import Decision

ABOUT = (
    "Decides at declared decision points. Ask `points` what can be decided, `explain` what a "
    "point reads and may answer, and `decide` for a decision about a state."
)
NOT_SET_UP = "the gateway is not set up for this; its operator must act"
FAILED = "the tool failed"
UNKNOWN_NAME = 128  # characters; what is longer names no point and is not repeated
OWN = ("points", "explain", "decide")
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is taken from a client.

    Attributes:
        characters: Longest state, written as JSON.
        seconds: For one decision; what is left undecided then ends as its point says.
        subject: Longest subject, in characters.

    """

    characters: int = 200_000
    seconds: float = 30.0
    subject: int = 256


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """
    What `decide` gives.

    Attributes:
        point: The decision point.
        decision: Id of the decision.
        value: What was decided: an option, a truth, a number; question → value for several.
        provider: Who decided; empty if nobody did.
        confidence: How sure, in [0, 1].
        reason: `ok`, or why the first who was asked was not believed.
        undecided: Nobody decided, and the value is the point's own outcome in doubt.

    """

    point: str
    decision: str
    value: Any
    provider: str
    confidence: float
    reason: str
    undecided: bool


class Tools:
    """
    The tools that every client is offered.

    Args:
        gateway: Decides; a provider stands in where a host has no path of its own.
        limits: What is taken from a client.

    """

    def __init__(self, gateway: Gateway, limits: Limits) -> None:
        self._gateway, self._limits = gateway, limits

    async def decide(self, point: str, state: Any, subject: str | None = None) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        """
        Decide what a decision point asks about a state.

        Args:
            point: Name of the decision point, as `points` lists it.
            state: What is decided about: a text, a list of messages, or an object with the
                fields that `explain` says the point reads.
            subject: Who it is about, such as a session's id; the same subject stays with the
                same decider where traffic is split.

        """
        asked = self._point(point)
        self._take(asked, state, subject)
        prepared = self._gateway.prepared(asked, state, subject=subject)
        prepared.before(time.monotonic() + self._limits.seconds)
        decision: Decision[Any] = await prepared.made()
        record = decision.record
        made = Decided(
            point=record.point,
            decision=record.id,
            value=record.outcome,
            provider=record.provider,
            confidence=round(record.confidence, 4),
            reason=record.reason.value,
            undecided=record.undecided,
        )
        return msgspec.to_builtins(made)  # type: ignore[no-any-return]

    def points(self) -> dict[str, Any]:
        """
        List the decision points: what each asks, who decides it, and which variable says so.

        `current` is what a program runs today; no program is wrapped here, so the provider that
        the reply names under `current` stands in.
        """
        every = [told(one, self._gateway.plan(one)) for one in self._gateway.points.values()]
        stands_in = self._gateway.provider(CURRENT).name if self._gateway.stands_in else ""
        return {"points": msgspec.to_builtins(every), "current": stands_in}

    def explain(self, point: str) -> dict[str, Any]:
        """
        Explain one decision point: its questions, answers, deciders and variables.

        Args:
            point: Name of the decision point, as `points` lists it.

        """
        asked = self._point(point)
        language = self._gateway.settings.globals.language
        said = explained(asked, self._gateway.plan(asked), language)
        return msgspec.to_builtins(said)  # type: ignore[no-any-return]

    def _point(self, name: str) -> DecisionPoint:
        """
        Find a point.

        Raises:
            ToolError: There is none of this name.

        """
        there = self._gateway.points
        if len(name) > UNKNOWN_NAME:
            raise ToolError("a point's name is shorter; `points` lists them")
        wanted = suffix_of(name)
        try:
            found = find(wanted, there)
        except SetupError:  # nearly another's name
            found = None
        if found is not None and found.name in there:  # a client's own names would never end
            return found
        hint = f"; did you mean {one}?" if (one := near(wanted, there)) else ";"
        raise ToolError(f"there is no decision point {name!r}{hint} `points` lists them")

    def _take(self, point: DecisionPoint, state: object, subject: str | None) -> None:
        """
        Refuse what is too large, or is nothing that *point* reads.

        Raises:
            ToolError: With what is wrong, and nothing of the state.

        """
        if subject is not None and len(subject) > self._limits.subject:
            raise ToolError(f"a subject has at most {self._limits.subject} characters")
        size = len(state) if isinstance(state, str) else len(msgspec.json.encode(state))
        if size > self._limits.characters:
            raise ToolError(f"a state has at most {self._limits.characters} characters")
        if not point.reads or not isinstance(state, dict):
            return
        if not any(name in state for name in point.reads):
            raise ToolError(f"{point.name} reads {', '.join(point.reads)}; the state has none")


def server(
    gateway: Gateway,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    *,
    limits: Limits | None = None,
) -> MCPServer[Any]:
    """
    Make the server.

    Args:
        gateway: Decides; made with `stand_in=True`.
        tools: Name → a typed function with a docstring: what plug-ins offer besides.
        limits: What is taken from a client.

    Raises:
        SetupError: A plug-in's tool has a name that is taken, or is none.

    """
    made = Discreet(
        "pointsman", version=version("pointsman"), instructions=ABOUT, log_level="ERROR"
    )
    own = Tools(gateway, limits or Limits())
    _add(gateway, made, "points", own.points, READ_ONLY)
    _add(gateway, made, "explain", own.explain, READ_ONLY)
    _add(gateway, made, "decide", own.decide)
    for name, function in (tools or {}).items():
        if name in OWN:
            raise SetupError.of(name, "the server has this tool itself", "Name the plug-in's apart")
        try:
            _add(gateway, made, name, function)
        except Exception as error:
            problem = f"this plug-in's tool cannot be offered ({type(error).__name__})"
            fix = "Let it be a typed function with a docstring, or leave it out of DECISION_PLUGINS"
            raise SetupError.of(name, problem, fix) from error
    return made


def _add(
    gateway: Gateway,
    made: MCPServer[Any],
    name: str,
    function: Callable[..., Any],
    annotations: ToolAnnotations | None = None,
) -> None:
    careful, about = _careful(gateway, name, function), inspect.getdoc(function)
    made.add_tool(careful, name=name, description=about, annotations=annotations)


def _careful(gateway: Gateway, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let only what a client may read leave *function*; all else is told to the log by its type."""

    def said(error: Exception) -> Exception:
        if isinstance(error, ToolError | MCPError):  # meant for the client
            return error
        if isinstance(error, NoAnswer | HumanNeeded | DeclarationError):
            return ToolError(str(error))
        fields = {"tool": name, "error": type(error).__name__}
        gateway.tell("error", "mcp.tool_failed", fields)
        return ToolError(NOT_SET_UP if isinstance(error, PointsmanError) else FAILED)

    @functools.wraps(function)
    async def asynchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        try:
            given: Awaitable[Any] = function(*args, **kwargs)
            return await given
        except Exception as error:  # noqa: BLE001 - its text must not leave
            raise said(error) from None

    @functools.wraps(function)
    def synchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - its text must not leave
            raise said(error) from None

    return asynchronous if inspect.iscoroutinefunction(function) else synchronous
