"""A gate on the client's side: calls are decided about before they leave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mcp import MCPError
from mcp_types import INVALID_REQUEST

from ...errors import HumanNeeded
from .calls import ToolCall, shown

if TYPE_CHECKING:
    from ...guarding import Guard
    from ...state import State

DENIED = "This call was stopped by the host's policy."


class GatedClient:
    """
    A client whose calls of tools pass a guard; everything else is the client's own.

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
        self._client, self._guard, self._tools, self._state = client, guard, tools, state
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
        call = ToolCall(tool=name, arguments=arguments or {})
        if (self._tools is None or name in self._tools) and await self._stopped(call):
            raise MCPError(INVALID_REQUEST, self._message)
        return await self._client.call_tool(name, arguments, *args, **kwargs)

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
        """Give what else the client has."""
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
