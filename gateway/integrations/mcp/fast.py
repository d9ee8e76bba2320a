"""The same choke point for a FastMCP server: `server.add_middleware(FastToolGate(guard))`."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import needs

try:
    from fastmcp.exceptions import ToolError
    from fastmcp.server.dependencies import bind_request_context
    from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
    from fastmcp.tools.base import InputRequiredToolResult, ToolResult
except ImportError as missing:
    raise needs("fastmcp", "FastMCP") from missing

from mcp import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .calls import called
from .gate import MALFORMED, Gate, can_ask, carried, own
from .rounds import Round, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    import mcp_types
    from fastmcp.server.context import Context
    from fastmcp.tools.base import Tool

    from .calls import ToolCall
    from .gate import Verdict


class FastToolGate(Gate, Middleware):
    """
    A middleware of FastMCP; it sees calls within the process too, and those of mounted servers.

    A call that is stopped ends as `ToolError`, which the model is shown. Where a person must
    decide, the one behind the client is asked if the client can; else the call is stopped.
    """

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """
        Let a call of a tool through, or stop it.

        Raises:
            ToolError: It is stopped, or is no call.

        """
        call = called(context)
        if call is None:
            raise ToolError(MALFORMED)
        if call.tool not in self._tools:
            return await call_next(context)
        turn = opened(context.message.request_state, context.message.input_responses)
        try:
            verdict = await self._ruled(context, call, turn)
        except MCPError as error:
            raise ToolError(error.message) from error
        if isinstance(verdict, InputRequiredToolResult):
            return verdict
        if verdict == "stop":
            raise ToolError(self._message)
        with _without_ours(context, turn):
            return _carried(await call_next(context), turn)

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Take note of the tools that there are, to tell of names that are none of them."""
        tools = await call_next(context)
        self._tools.listed((one.name for one in tools), last=True)
        return tools

    async def _ruled(
        self, context: MiddlewareContext[Any], call: ToolCall, turn: Round
    ) -> Verdict | InputRequiredToolResult:
        verdict = await self._judged(context, call, turn)
        if verdict != "person":
            return verdict
        fast = context.fastmcp_context
        if fast is None or not _reachable(fast):
            return "stop"
        if fast.session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return InputRequiredToolResult(self._required(call, turn))
        return await self._asked(fast.session, call, fast.request_id)


def _reachable(fast: Context) -> bool:
    """Whether there is a client, and a person behind it who can be asked."""
    if fast.request_context is None or fast.is_background_task:
        return False
    return can_ask(fast.session)


def _without_ours(
    context: MiddlewareContext[Any], turn: Round
) -> contextlib.AbstractContextManager[Any]:
    """Let the tool find its own state and answers in the request, and not ours."""
    fast = context.fastmcp_context
    request = None if fast is None else fast.request_context
    if request is None:
        return contextlib.nullcontext()
    sdk = request._srctx  # noqa: SLF001 - the only place that tools read their rounds from
    return bind_request_context(replace(sdk, params=own(sdk.params or {}, turn)))


def _carried(result: ToolResult, turn: Round) -> ToolResult:
    if not isinstance(result, InputRequiredToolResult):
        return result
    return InputRequiredToolResult(carried(result.input_required, turn))  # type: ignore[arg-type]
