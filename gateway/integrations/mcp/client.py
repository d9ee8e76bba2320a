"""A gate on the client's side: calls are decided about before they leave."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Collection, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mcp import MCPError
from mcp_types import INVALID_REQUEST

from ...errors import HumanNeeded
from ..named import Named
from .calls import ToolCall, shown

if TYPE_CHECKING:
    from ...guarding import Guard
    from ...state import State

DENIED = "This call was stopped by the host's policy."
PASSED = frozenset(
    {
        "adopt",
        "cancel",
        "client_info",
        "close",
        "complete",
        "complete_mcp",
        "discover",
        "discover_result",
        "generate_name",
        "get_prompt",
        "get_prompt_mcp",
        "get_skill",
        "get_skill_mcp",
        "initialize",
        "initialize_result",
        "instructions",
        "is_connected",
        "list_prompts",
        "list_prompts_mcp",
        "list_resource_templates",
        "list_resource_templates_mcp",
        "list_resources",
        "list_resources_mcp",
        "list_skill_resources",
        "list_skills",
        "list_skills_mcp",
        "listen",
        "log_level",
        "mode",
        "name",
        "ping",
        "prior_discover",
        "progress",
        "protocol_version",
        "read_resource",
        "read_resource_mcp",
        "read_skill",
        "read_timeout_seconds",
        "send_ping",
        "send_progress_notification",
        "send_roots_list_changed",
        "server_capabilities",
        "server_info",
        "set_elicitation_callback",
        "set_logging_level",
        "set_roots",
        "set_sampling_callback",
        "subscribe_resource",
        "unsubscribe_resource",
        "validate_tool_result",
    }
)
"""What of the three clients calls no tool."""


class GatedClient:
    """
    A client whose calls of tools pass a guard, those of its `session` and of a `new` one as well.

    What calls no tool is the client's own. Whatever else it has is refused, as `send_request` is:
    a call could leave by it unseen.

    Args:
        client: An `mcp.Client`, a `ClientSession`, or FastMCP's client.
        guard: Decides; what it blocks does not leave.
        tools: Names of the tools that are decided about; None: all.
        state: The call → what deciders are shown; absent: its name and arguments.
        subject: The call → who it is about; absent: the gateway's session.
        call_id: The call → the id that the model gave it, unique within the subject, so that a
            repeated call is not decided twice; absent: each call is decided on its own.
        person: Asks a person where one must decide: True lets the call leave. Absent:
            `HumanNeeded` reaches the caller.
        message: Of the error that a stopped call ends with.

    Raises:
        SetupError: *tools* is a text, or names none.

    """

    def __init__(  # noqa: PLR0913 - each an independent choice
        self,
        client: Any,  # noqa: ANN401 - three libraries' classes without a common base
        guard: Guard,
        *,
        tools: Collection[str] | None = None,
        state: Callable[[ToolCall], State] = shown,
        subject: Callable[[ToolCall], str | None] | None = None,
        call_id: Callable[[ToolCall], str | None] | None = None,
        person: Callable[[HumanNeeded, ToolCall], Awaitable[bool]] | None = None,
        message: str = DENIED,
    ) -> None:
        self._client, self._guard, self._state = client, guard, state
        self._tools = Named(guard, tools, "mcp")
        self._subject, self._call_id = subject, call_id
        self._person, self._message = person, message

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *args: Any,  # noqa: ANN401 - the client's own
        **kwargs: Any,  # noqa: ANN401 - the client's own
    ) -> Any:  # noqa: ANN401 - the client's own result
        """
        Call a tool, unless the guard blocks.

        Raises:
            MCPError: It does.
            HumanNeeded: A person must decide, and nobody says how to ask one.

        """
        return await self._call(self._client.call_tool, name, arguments, *args, **kwargs)

    async def call_tool_mcp(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *args: Any,  # noqa: ANN401 - the client's own
        **kwargs: Any,  # noqa: ANN401 - the client's own
    ) -> Any:  # noqa: ANN401 - the client's own result
        """As `call_tool`, with the result as FastMCP's client was sent it."""
        return await self._call(self._client.call_tool_mcp, name, arguments, *args, **kwargs)

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the client's own
        """List the tools, as the client does; the log tells of names that are none of them."""
        return self._listed(await self._client.list_tools(*args, **kwargs))

    async def list_tools_mcp(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """As `list_tools`, a page at a time, of FastMCP's client."""
        return self._listed(await self._client.list_tools_mcp(*args, **kwargs))

    @property
    def session(self) -> GatedClient:
        """The client's session, behind the same guard."""
        return self._around(self._client.session)

    def new(self) -> GatedClient:
        """Make a new client of FastMCP's, behind the same guard."""
        return self._around(self._client.new())

    def _around(self, client: Any) -> GatedClient:  # noqa: ANN401 - as at first
        other = copy.copy(self)
        other._client = client  # noqa: SLF001 - its own class
        return other

    async def _call(
        self,
        does: Callable[..., Awaitable[Any]],
        name: str,
        arguments: Mapping[str, Any] | None,
        *args: Any,  # noqa: ANN401 - the client's own
        **kwargs: Any,  # noqa: ANN401 - the client's own
    ) -> Any:  # noqa: ANN401 - the client's own result
        arguments = copy.deepcopy(arguments)  # what is ruled on is what is sent
        call = ToolCall(tool=name, arguments=arguments or {})
        if name in self._tools and await self._stopped(call):
            raise MCPError(INVALID_REQUEST, self._message)
        return await does(name, arguments, *args, **kwargs)

    def _listed(self, result: Any) -> Any:  # noqa: ANN401 - of three clients
        tools = result if isinstance(result, list) else result.tools
        last = getattr(result, "next_cursor", None) is None
        self._tools.listed((one.name for one in tools), last=last)
        return result

    async def _stopped(self, call: ToolCall) -> bool:
        known = self._call_id(call) if self._call_id is not None else None
        try:
            ruling = await self._guard.rule(
                self._state(call),
                subject=self._subject(call) if self._subject is not None else None,
                once=None if known is None else (known, dict(call.arguments)),
            )
        except HumanNeeded as need:
            if self._person is None:
                raise
            return await self._person(need, call) is not True
        return ruling.blocked

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the client's own
        """Give what else the client has and calls no tool."""
        if name not in PASSED:
            problem = (
                f"a call of a tool could leave by {name!r} unseen; take the client that you gave"
            )
            raise AttributeError(problem, name=name, obj=self)
        return getattr(self._client, name)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.__aexit__(kind, error, trace)
