"""A shop's MCP server as it is today: a rule of its own stops calls of tools before they run."""

import asyncio
from typing import Any

from mcp import Client, MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp_types import INVALID_REQUEST

Context = ServerRequestContext[Any, Any]
MOST = 100.0  # that is paid back without a colleague
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("order", {"number": 17}),
    ("refund", {"number": 17, "amount": 40.0}),
    ("refund", {"number": 17, "amount": 900.0}),
]


async def who(ctx: Context) -> str:
    """Say who sees to a call: the shop, or a colleague where it pays out more than MOST."""
    call = ctx.params or {}
    return "colleague" if call["arguments"].get("amount", 0) > MOST else "shop"


async def gate(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Let no call through that a colleague has to see to."""
    if ctx.method == "tools/call" and await who(ctx) == "colleague":
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
