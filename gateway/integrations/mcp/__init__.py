"""
Model Context Protocol: gates for calls of tools, and Pointsman itself as a server.

`ToolGate` stands in `MCPServer(middleware=[…])`, `GatedClient` around a client; the gate of FastMCP
is `pointsman.gateway.integrations.mcp.fast.FastToolGate`, the server `….mcp.serving.server`.
"""

from __future__ import annotations

from .. import needs

try:
    import mcp.server.context  # noqa: F401 - of the version that has middleware
except ImportError as missing:
    raise needs("mcp", "MCP") from missing

from .calls import TOOL_CALL, ToolCall, session_of, shown
from .client import GatedClient
from .gate import DENIED, ToolGate

__all__ = ["DENIED", "TOOL_CALL", "GatedClient", "ToolCall", "ToolGate", "session_of", "shown"]
