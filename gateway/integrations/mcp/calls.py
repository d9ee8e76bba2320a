"""A call of a tool, as it arrives at a server or leaves a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ...lens import Lens

HEADER = "mcp-session-id"


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """
    One call of a tool.

    Attributes:
        tool: Its name, as the client wrote it.
        arguments: As the client wrote them, before the tool's own schema is applied.

    """

    tool: str
    arguments: Mapping[str, Any]


def shown(call: ToolCall) -> dict[str, Any]:
    """Give what deciders are shown of *call*: name and arguments, as state and nothing else."""
    return {"tool": call.tool, "arguments": dict(call.arguments)}


def read(name: object, arguments: object) -> ToolCall | None:
    """Read a call from what a client sent; None: it is none, and no server would run it."""
    if arguments is None:
        arguments = {}
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return None
    return ToolCall(tool=name, arguments=cast("Mapping[str, Any]", arguments))


def called(context: Any) -> ToolCall | None:  # noqa: ANN401 - of either server's middleware
    """Read the call from the context of a middleware; None: the message calls no tool."""
    if context.method != "tools/call":
        return None
    if (message := getattr(context, "message", None)) is not None:  # FastMCP's
        return read(message.name, message.arguments)
    params = context.params or {}
    return read(params.get("name"), params.get("arguments"))


def session_of(context: Any) -> str | None:  # noqa: ANN401 - of either server's middleware
    """
    Name the session of a middleware's context; None where the transport has none.

    Only HTTP before the protocol of 2026-07-28 has sessions that outlive a request.
    """
    if (fast := getattr(context, "fastmcp_context", None)) is not None:
        context = fast.request_context
    headers = getattr(getattr(context, "request", None), "headers", None)
    return None if headers is None else headers.get(HEADER)


def _state(context: Any, *_: Any, **__: Any) -> dict[str, Any]:  # noqa: ANN401 - the call's own
    call = called(context)
    return {} if call is None else shown(call)


def _session(context: Any, *_: Any, **__: Any) -> str | None:  # noqa: ANN401 - the call's own
    return session_of(context)


TOOL_CALL = Lens(state=_state, session=_session, blocks=True)
"""
For a function of a middleware's context that decides about a call of a tool.

Of a truth: true stops the call.
"""
