"""The examples and the page: run as a reader runs them."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")

from mcp import Client
from mcp.server.mcpserver import MCPServer

from pointsman import Guard
from pointsman.gateway.integrations.mcp import ToolGate
from promises import example_runs, page_of, page_runs, telemetry_tells_nothing

TODAY = """\
order: order 17: delivered
refund: order 17: 40.00 paid back
refund: stopped: ask a colleague
"""
SWITCHED = """\
order: order 17: delivered
refund: stopped: ask a colleague
refund: stopped: ask a colleague
"""


def test_the_example_does_the_same_until_a_variable_names_another_decider() -> None:
    local = {"DECISION_TOOL_GATE_PROVIDER": "local"}

    assert example_runs("mcp", "today.py") == TODAY
    assert example_runs("mcp", "switched.py") == TODAY
    assert example_runs("mcp", "switched.py", local) == SWITCHED


def test_the_example_of_an_approval_asks_its_person() -> None:
    told = example_runs("mcp", "approval.py").splitlines()

    assert [line for line in told if line.startswith("->")] == [
        "-> notes.tmp is gone",
        "-> This call was stopped by the server's policy.",
    ]


def test_every_snippet_of_the_page_runs() -> None:
    page_runs(page_of("mcp"))


def test_telemetry_tells_neither_what_was_said_nor_a_key() -> None:
    """frameworks §7: spans, events, metrics and the log of a run inside of a server."""

    async def run(guard: Guard, said: str) -> None:
        server = MCPServer("desk", log_level="CRITICAL", middleware=[ToolGate(guard)])

        @server.tool()
        def note(text: str) -> str:
            return str(len(text))

        async with Client(server) as client:
            assert not (await client.call_tool("note", {"text": said})).is_error

    telemetry_tells_nothing(run)
