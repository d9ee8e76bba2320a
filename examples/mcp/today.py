"""A shop's MCP server as it is today: a rule of its own stops calls of tools before they run."""

import asyncio
from typing import Any

from mcp import Client, MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp_types import INVALID_REQUEST

Context = ServerRequestContext[Any, Any]
MOST = 100.0  # that is paid back without a colleague
CALLS = [
    ("order", {"number": 17}),
    ("refund", {"number": 17, "amount": 40.0}),
    ("refund", {"number": 17, "amount": 900.0}),
]


async def risky(ctx: Context) -> bool:
    """Say whether a call pays out more than the shop allows."""
    call = ctx.params or {}
    return bool(call["name"] == "refund" and call["arguments"]["amount"] > MOST)


async def gate(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Let no risky call through."""
    if ctx.method == "tools/call" and await risky(ctx):
        raise MCPError(INVALID_REQUEST, "stopped: ask a colleague")
    return await call_next(ctx)


server = MCPServer("shop", log_level="ERROR", middleware=[gate])


@server.tool()
def order(number: int) -> str:
    """Look an order up."""
    return f"order {number}: delivered"


@server.tool()
def refund(number: int, amount: float) -> str:
    """Pay back what was paid for an order."""
    return f"order {number}: {amount:.2f} paid back"


async def main() -> None:
    """Call the tools as an agent does."""
    async with Client(server) as client:
        for name, arguments in CALLS:
            try:
                result = await client.call_tool(name, arguments)
                print(f"{name}: {result.structured_content['result']}")
            except MCPError as stopped:
                print(f"{name}: {stopped}")


asyncio.run(main())
