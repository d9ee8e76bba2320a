"""The gate on the client's side, around the official client and FastMCP's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")

import fastmcp
from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer

from faulty import Server
from pointsman import Gateway, Guard, HumanNeeded, Predicate, Reason, scripted
from pointsman.gateway.integrations.mcp import GatedClient, ToolCall
from promises import decides, hosted

POINT = "TOOL_LEAVES"
YES, NO = True, False
HARM = Predicate("Does this call do harm?")


class Far:
    """A server elsewhere, and the official or FastMCP's client of it."""

    def __init__(self, kind: str) -> None:
        self.sent: list[float] = []
        if kind == "mcp":
            server: MCPServer[Any] = MCPServer("far", log_level="CRITICAL")
            server.add_tool(self.send, name="send")
            self.client: Callable[[], Any] = lambda: Client(server)
        else:
            other = fastmcp.FastMCP("far")
            other.tool(self.send, name="send")
            self.client = lambda: fastmcp.Client(other)

    async def send(self, amount: float) -> str:
        self.sent.append(amount)
        return "sent"

    def calls(self, guard: Guard, *amounts: float, **given: Any) -> list[str]:
        """Send *amounts* through the gate; give what came of each."""

        async def call() -> list[str]:
            said: list[str] = []
            async with GatedClient(self.client(), guard, **given) as client:
                assert [one.name for one in await self._tools(client)] == ["send"]
                for amount in amounts:
                    try:
                        result = await client.call_tool("send", {"amount": amount})
                        said.append(result.content[0].text)
                    except (MCPError, HumanNeeded) as error:
                        said.append(type(error).__name__)
            return said

        return asyncio.run(call())

    async def _tools(self, client: Any) -> list[Any]:
        listed = await client.list_tools()
        return listed if isinstance(listed, list) else listed.tools


@pytest.fixture(params=["mcp", "fastmcp"])
def far(request: pytest.FixtureRequest) -> Far:
    return Far(request.param)


def test_what_is_blocked_does_not_leave(
    far: Far, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """Switched by environment alone."""
    server.does(decides(YES), decides(NO))
    today = Guard(gateway_of(), POINT, HARM, current=lambda _: False)
    switched = Guard(gateway_of(hosted(server.url, POINT)), POINT, HARM, current=lambda _: False)

    assert far.calls(today, 1) == ["sent"]
    assert far.calls(switched, 2, 3) == ["MCPError", "sent"]
    assert far.sent == [1, 3]


def test_where_nobody_decides_the_host_is_told_or_its_person_asked(
    far: Far, gateway_of: Callable[..., Gateway]
) -> None:
    guard = Guard(gateway_of(), POINT, HARM, on_undecided="human")

    async def person(need: HumanNeeded, call: ToolCall) -> bool:
        return need.point == POINT and call.arguments["amount"] < 10

    assert far.calls(guard, 1) == ["HumanNeeded"]
    assert far.calls(guard, 2, 20, person=person) == ["sent", "MCPError"]
    assert far.sent == [2]


def test_a_call_with_an_id_of_the_models_is_decided_once(
    far: Far, gateway_of: Callable[..., Gateway]
) -> None:
    """frameworks §6.1: a host that resumes asks again; other arguments are another question."""
    gateway = gateway_of()
    guard = Guard(gateway, POINT, HARM, on_undecided="block")
    says = scripted(YES, NO, NO)

    with gateway.override({POINT: says}), gateway.session("s"):
        told = far.calls(guard, 1, 1, 2, call_id=lambda _: "toolu_1")

    assert told == ["MCPError", "MCPError", "sent"]
    assert len(says.asked) == 2


def test_tools_that_are_not_named_leave_unasked(
    far: Far, gateway_of: Callable[..., Gateway]
) -> None:
    gateway = gateway_of()
    guard = Guard(gateway, POINT, HARM, on_undecided="block")

    with gateway.override({POINT: scripted(Reason.TIMEOUT)}):
        assert far.calls(guard, 1, tools=["other"]) == ["sent"]
        assert far.calls(guard, 2, subject=lambda _: "customer-7") == ["MCPError"]
