"""The gate on the client's side, around the official client and FastMCP's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")

import fastmcp
from mcp import Client, ClientSession, MCPError
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolRequest, CallToolRequestParams

from faulty import Server
from pointsman import Gateway, Guard, HumanNeeded, Predicate, Reason, SetupError, scripted
from pointsman.gateway.integrations.mcp import GatedClient, ToolCall
from pointsman.gateway.integrations.mcp.client import PASSED
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


def test_what_was_ruled_on_is_what_is_sent(far: Far, gateway_of: Callable[..., Gateway]) -> None:
    """A host that goes on writing into the arguments changes neither."""
    given = {"amount": 1.0}

    async def ruled(state: Any) -> bool:
        blocks = bool(state["arguments"]["amount"] > 1)
        given["amount"] = 1_000_000.0  # while the guard is still at it
        return blocks

    async def call() -> None:
        guard = Guard(gateway_of(), POINT, HARM, current=ruled)
        async with GatedClient(far.client(), guard) as client:
            await client.call_tool("send", given)

    asyncio.run(call())

    assert far.sent == [1.0]


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


# --- every door --------------------------------------------------------------------------


async def _by_session(client: Any) -> Any:
    return await client.session.call_tool("send", {"amount": 1})


async def _unparsed(client: Any) -> Any:
    return await client.call_tool_mcp("send", {"amount": 1})


async def _by_another(client: Any) -> Any:
    async with client.new() as other:
        return await other.call_tool("send", {"amount": 1})


@pytest.mark.parametrize(
    ("kind", "door"),
    [
        ("mcp", _by_session),
        ("fastmcp", _by_session),
        ("fastmcp", _unparsed),
        ("fastmcp", _by_another),
    ],
)
def test_no_call_leaves_by_another_door(
    kind: str, door: Callable[[Any], Any], gateway_of: Callable[..., Gateway]
) -> None:
    """The client's session, FastMCP's other way to call, and a client made of this one."""
    far, guard = Far(kind), Guard(gateway_of(), POINT, HARM, on_undecided="block")

    async def call() -> None:
        async with GatedClient(far.client(), guard) as client:
            with guard.gateway.override({POINT: scripted(NO, YES)}):
                await door(client)
                with pytest.raises(MCPError, match="stopped by the host"):
                    await door(client)

    asyncio.run(call())

    assert far.sent == [1]


def test_requests_of_any_kind_are_refused(far: Far, gateway_of: Callable[..., Gateway]) -> None:
    """A call could be among them; so could what is not public, and the server in the process."""
    guard = Guard(gateway_of(), POINT, HARM, on_undecided="block")
    request = CallToolRequest(params=CallToolRequestParams(name="send", arguments={"amount": 1}))

    async def call() -> None:
        async with GatedClient(far.client(), guard) as client:
            with pytest.raises(AttributeError, match="could leave by 'send_request' unseen"):
                await client.session.send_request(request, object)
            for name in ("server", "transport", "_session", "_session_state", "_dispatcher"):
                assert not hasattr(client, name)
                assert not hasattr(client.session, name)

    asyncio.run(call())


GATED = {"call_tool", "call_tool_mcp", "list_tools", "list_tools_mcp", "new", "session"}
REFUSED = {"dispatch_input_request", "send_discover", "send_notification", "send_request"}
SETTINGS = {
    "elicitation_callback",
    "extensions",
    "input_required_max_rounds",
    "list_roots_callback",
    "logging_callback",
    "message_handler",
    "raise_exceptions",
    "sampling_callback",
    "sampling_capabilities",
}


@pytest.mark.parametrize("kind", [Client, ClientSession, fastmcp.Client])
def test_whatever_a_client_has_is_gated_passed_or_refused_by_decision(kind: type) -> None:
    """A name that a newer version adds is refused until it is looked at here."""
    public = {name for name in dir(kind) if not name.startswith("_")}

    assert public <= GATED | PASSED | REFUSED | SETTINGS
    assert not PASSED & (GATED | REFUSED | SETTINGS)


# --- names -------------------------------------------------------------------------------


@pytest.mark.parametrize(("tools", "told"), [("send", "is a text"), ([], "names no tool")])
def test_names_that_guard_nothing_are_refused(
    tools: Any, told: str, far: Far, gateway_of: Callable[..., Gateway]
) -> None:
    guard = Guard(gateway_of(), POINT, HARM, on_undecided="block")

    with pytest.raises(SetupError, match=told):
        GatedClient(far.client(), guard, tools=tools)


def test_a_name_that_no_tool_has_is_told_when_the_tools_are_listed(
    far: Far, gateway_of: Callable[..., Gateway], capsys: pytest.CaptureFixture[str]
) -> None:
    guard = Guard(gateway_of({"DECISION_LOG": "json"}), POINT, HARM, on_undecided="allow")

    far.calls(guard, 1, tools=["send"])
    assert "mcp.tool_unknown" not in capsys.readouterr().err
    far.calls(guard, 1, tools=["send", "sned"])

    told = capsys.readouterr().err
    assert told.count('"mcp.tool_unknown"') == 1
    assert '"tools":["sned"]' in told
