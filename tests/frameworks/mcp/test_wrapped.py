"""A rule of a middleware's own, wrapped where it stands; and the session that a call is of."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import pickle
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")

import fastmcp
import uvicorn
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer
from mcp_types import INVALID_REQUEST

from faulty import Server
from pointsman import Gateway, Lens, Predicate, Reason, scripted
from pointsman.gateway.integrations.mcp import TOOL_CALL, session_of
from promises import WAYS, decides, failing, hosted

POINT = "TOOL_RULE"
YES = True
HARM = Predicate("Does this call do harm?")
MODULE = Gateway.from_env({"DECISION_LOG": "off"})


@MODULE.point(POINT, HARM, lens=TOOL_CALL)
async def risky(ctx: Any) -> bool:
    """Decide today."""
    return bool(ctx.params["arguments"]["amount"] > 100)


def ruled(gateway: Gateway, lens: Lens = TOOL_CALL) -> Callable[[Any], Any]:
    @gateway.point(POINT, HARM, lens=lens)
    async def rule(ctx: Any) -> bool:
        return bool(ctx.params["arguments"]["amount"] > 100)

    return rule


def shop_of(rule: Callable[[Any], Any]) -> MCPServer[Any]:
    async def gate(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call" and await rule(ctx):
            raise MCPError(INVALID_REQUEST, "stopped")
        return await call_next(ctx)

    server: MCPServer[Any] = MCPServer("shop", log_level="CRITICAL", middleware=[gate])

    @server.tool()
    async def pay(amount: float) -> str:
        return f"paid {amount:g}"

    return server


async def pays(target: Any, *amounts: float, **given: Any) -> list[str]:
    said: list[str] = []
    async with Client(target, **given) as client:
        for amount in amounts:
            try:
                result = await client.call_tool("pay", {"amount": amount})
                said.append(result.content[0].text)  # type: ignore[union-attr]
            except MCPError as error:
                said.append(str(error))
    return said


def test_a_wrapped_rule_switches_by_environment_alone(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    server.does(decides(YES))
    today = shop_of(ruled(gateway_of()))
    switched = shop_of(ruled(gateway_of(hosted(server.url, POINT))))

    assert asyncio.run(pays(today, 5, 500)) == ["paid 5", "stopped"]
    assert asyncio.run(pays(switched, 5, 500)) == ["stopped", "stopped"]


@pytest.mark.parametrize("way", WAYS)
def test_a_wrapped_rule_decides_itself_where_the_provider_fails(
    way: str, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    shop = shop_of(ruled(gateway_of(failing(server, way, POINT, YES))))

    assert asyncio.run(pays(shop, 5, 500)) == ["paid 5", "stopped"]


def test_while_current_decides_no_state_is_built(gateway_of: Callable[..., Gateway]) -> None:
    """Zero-touch: neither what would be shown nor the subject is read off the call."""

    gateway, touched = gateway_of(), []

    def noting(*_: Any) -> str:
        touched.append(1)
        return "hello"

    shop = shop_of(ruled(gateway, Lens(state=noting, session=noting)))

    assert asyncio.run(pays(shop, 5, 500)) == ["paid 5", "stopped"]
    assert touched == []
    with gateway.override({POINT: scripted(YES)}):
        asyncio.run(pays(shop, 5))
    assert touched == [1, 1]


def test_a_wrapped_rule_keeps_colour_annotations_and_pickling() -> None:
    """frameworks §6.8."""
    assert inspect.iscoroutinefunction(risky)
    assert risky.__annotations__ == {"ctx": "Any", "return": "bool"}
    assert risky.__doc__ == "Decide today."
    assert pickle.loads(pickle.dumps(risky)) is risky


def test_the_lens_reads_the_context_of_fastmcp_as_well(gateway_of: Callable[..., Gateway]) -> None:
    gateway, says = gateway_of(), scripted(YES, Reason.TIMEOUT)

    @gateway.point(POINT, HARM, lens=TOOL_CALL)
    async def rule(context: Any) -> bool:
        return bool(context.message.arguments["amount"] > 100)

    class Ruled(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            if await rule(context):
                raise ToolError("stopped")
            return await call_next(context)

    server = fastmcp.FastMCP("shop", middleware=[Ruled()])

    @server.tool
    async def pay(amount: float) -> str:
        return f"paid {amount:g}"

    async def call() -> None:
        async with fastmcp.Client(server) as client:
            with pytest.raises(ToolError, match="stopped"):
                await client.call_tool("pay", {"amount": 5})
            assert (await client.call_tool("pay", {"amount": 6})).data == "paid 6"

    with gateway.override({POINT: says}):
        asyncio.run(call())

    assert [ask.state for ask in says.asked] == [
        {"tool": "pay", "arguments": {"amount": 5}},
        {"tool": "pay", "arguments": {"amount": 6}},
    ]


@contextlib.asynccontextmanager
async def over_http(server: MCPServer[Any]) -> AsyncIterator[str]:
    """Serve on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        app = server.streamable_http_app()
        running = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        serving = asyncio.create_task(running.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            await serving


def test_over_http_a_call_is_about_its_session_where_the_protocol_has_one() -> None:
    """Before 2026-07-28 it outlives a request; since then there is none."""
    seen: list[str | None] = []

    async def rule(ctx: Any) -> bool:
        seen.append(session_of(ctx))
        return False

    async def both() -> None:
        async with over_http(shop_of(rule)) as url:
            await pays(url, 1, 2, mode="legacy")
            await pays(url, 3, mode="legacy")
            await pays(url, 4)

    asyncio.run(both())

    first, again, other, modern = seen
    assert first
    assert first == again
    assert other
    assert other != first
    assert modern is None
