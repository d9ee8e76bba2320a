"""A server that does not send back what it was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context
    from mcp_types import CallToolResult, InputRequiredResult


class Discreet(MCPServer[Any]):
    """A server whose errors name the arguments that are wrong, and repeat none of them."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """
        Call a tool.

        Raises:
            ToolError: It failed, or the arguments are not what it takes.

        """
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            problem = _wrong(error.__cause__)
        raise ToolError(f"Error executing tool {name}: {problem}")


def _wrong(error: ValidationError) -> str:
    """Name the arguments that *error* is about: the first of a path; the rest is the client's."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    said = {str(one["loc"][0]): one["type"] for one in faults if one["loc"]}
    named = [
        f"`{name}` {'is missing' if kind == 'missing' else 'is not what it should be'}"
        for name, kind in said.items()
    ]
    return "; ".join(named) or "the arguments do not fit each other"
