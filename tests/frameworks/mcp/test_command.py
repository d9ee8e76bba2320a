"""The command `pointsman mcp`: a real process, and the official client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")
pytest.importorskip("typer", reason="the command needs the extra `cli`")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from faulty import PATIENCE, Server
from promises import KEY, decides, hosted

RAIL = "GUARDRAIL_PINJ"
YES = True
CANARY = "kx3-canary-of-a-state"
COMMAND = [sys.executable, "-m", "pointsman", "mcp"]
PLUGIN = '''
import pointsman as pm

def double(number: int) -> int:
    """Double a number."""
    print("a plug-in that prints")
    return 2 * number

@pm.hookimpl
def pointsman_tools():
    return {"double": double}
'''


def environ(**given: str) -> dict[str, str]:
    steers = ("DECISION_", "JEV_", "LOCAL_", "CURRENT_", "AI_GATEWAY_")
    inherited = {name: one for name, one in os.environ.items() if not name.startswith(steers)}
    return {**inherited, **given}


def over_stdio(
    folder: Path, *calls: tuple[str, dict[str, Any]], arguments: tuple[str, ...] = (), **env: str
) -> tuple[list[str], list[Any], str]:
    """Start the command as an MCP client does; give its tools, results and standard error."""
    command = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *arguments], cwd=folder, env=environ(**env)
    )

    async def talk(errlog: Any) -> tuple[list[str], list[Any]]:
        async with Client(stdio_client(command, errlog=errlog)) as client:
            tools = [one.name for one in (await client.list_tools()).tools]
            return tools, [await client.call_tool(*one) for one in calls]

    with (folder / "stderr").open("w+") as errlog:
        tools, results = asyncio.run(talk(errlog))
        errlog.seek(0)
        return tools, results, errlog.read()


def test_an_mcp_client_decides_through_the_command(tmp_path: Path, server: Server) -> None:
    """Its log goes to standard error; neither state nor key stands there."""
    server.does(decides(YES))

    tools, (result,), told = over_stdio(
        tmp_path,
        ("decide", {"point": RAIL, "state": CANARY}),
        **hosted(server.url, RAIL),
    )

    assert tools[:3] == ["points", "explain", "decide"]
    assert "get_fact" in tools
    assert result.structured_content["provider"] == "jev"
    assert result.structured_content["value"] is True
    assert '"decision.made"' in told
    assert CANARY not in told
    assert KEY not in told


def test_it_keeps_what_is_decided_beside_the_project_and_reads_its_env_file(
    tmp_path: Path,
) -> None:
    """As the other sub-commands do."""
    (tmp_path / ".env").write_text("DECISION_ROUTER_MIN_CONFIDENCE=0.42\nDECISION_LOG=off\n")

    _, (explained, decided), told = over_stdio(
        tmp_path,
        ("explain", {"point": "ROUTER"}),
        ("decide", {"point": RAIL, "state": "hello"}),
    )

    assert explained.structured_content["believed_from"] == 0.42
    assert explained.structured_content["why"]["minimum"] == "DECISION_ROUTER_MIN_CONFIDENCE"
    assert told == ""
    assert (tmp_path / ".pointsman" / "journal.db").exists()
    assert decided.structured_content["decision"] in kept_in(tmp_path)


def kept_in(folder: Path) -> str:
    """Export what the journal of a project has."""
    show = [sys.executable, "-m", "pointsman", "journal", "export", "-"]
    run = subprocess.run(
        show, cwd=folder, env=environ(), capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_plug_ins_tools_are_served_and_what_it_prints_spoils_nothing(tmp_path: Path) -> None:
    (tmp_path / "doubling.py").write_text(PLUGIN)
    info = tmp_path / "doubling-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: doubling\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pointsman]\ndoubling = doubling\n")

    tools, (result,), told = over_stdio(
        tmp_path, ("double", {"number": 4}), PYTHONPATH=str(tmp_path), PYTHONUNBUFFERED="1"
    )

    assert "double" in tools
    assert result.structured_content == {"result": 8}
    assert "a plug-in that prints" in told


def test_a_programs_own_points_are_served(tmp_path: Path) -> None:
    """Its functions are not run for strangers: a provider stands in."""
    program = """
from pointsman import Choice, Gateway

gateway = Gateway.from_env()

@gateway.point("CREW", Choice("Who takes it?", ["night", "day"]))
def crew(message: str) -> str:
    raise AssertionError("run for a stranger")
"""
    (tmp_path / "program.py").write_text(program)

    _, results, _ = over_stdio(
        tmp_path,
        ("explain", {"point": "CREW"}),
        ("decide", {"point": "CREW", "state": "it is dark"}),
        arguments=("--app", "program:gateway"),
        CURRENT_PROVIDER="local",
        LOCAL_MIN_CONFIDENCE="0",
    )

    explained, decided = (one.structured_content for one in results)
    assert explained["questions"]["decision"]["answers"] == {"night": "", "day": ""}
    assert decided["value"] in ("night", "day")
    assert decided["provider"] == "local"


def said(process: subprocess.Popen[str], number: int, method: str, **params: Any) -> Any:
    """Send one request over standard input, and read its reply."""
    assert process.stdin is not None
    assert process.stdout is not None
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["result"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_though_its_client_is_still_there_and_what_was_decided_is_kept(
    tmp_path: Path, number: signal.Signals
) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(COMMAND, cwd=tmp_path, env=environ(), text=True, **pipes) as process:
        try:
            who = {"name": "test", "version": "1"}
            given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
            said(process, 1, "initialize", **given)
            arguments = {"point": RAIL, "state": "hello"}
            made = said(process, 2, "tools/call", name="decide", arguments=arguments)
            process.send_signal(number)
            assert process.wait(PATIENCE) == 128 + number
        finally:
            process.kill()

    assert made["structuredContent"]["decision"] in kept_in(tmp_path)


@contextmanager
def over_http(folder: Path, **env: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [*COMMAND, "--http", "127.0.0.1:0"]
    with subprocess.Popen(
        command, cwd=folder, env=environ(**env), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
            assert found, line + process.stderr.read()
            yield found[0], process
        finally:
            process.kill()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_serves_over_http_on_this_machine_and_ends_when_told(tmp_path: Path, mode: Any) -> None:
    with over_http(tmp_path, DECISION_LOG="off") as (url, process):

        async def talk() -> Any:
            async with Client(url, mode=mode) as client:
                return await client.call_tool("decide", {"point": RAIL, "state": "hello"})

        result = asyncio.run(talk())
        process.send_signal(signal.SIGTERM)
        process.wait(30)

    assert result.structured_content["point"] == RAIL


def test_a_page_of_the_web_cannot_reach_it_by_a_name_of_its_own(tmp_path: Path) -> None:
    """DNS rebinding: the request's `Host` must be this machine's."""
    import httpx

    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    with over_http(tmp_path, DECISION_LOG="off") as (url, _):
        reply = httpx.post(url, content=body, headers={**headers, "host": "evil.example"})

    assert reply.status_code == 421


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("0.0.0.0:8000", "asks for no key"),
        ("example.org:8000", "asks for no key"),
        ("127.0.0.1", "no address"),
        ("127.0.0.1:x", "no address"),
        ("127.0.0.1:8000/mcp", "no address"),
    ],
)
def test_an_address_that_others_reach_or_that_is_none_is_refused(
    tmp_path: Path, address: str, told: str
) -> None:
    run = subprocess.run(
        [*COMMAND, "--http", address],
        cwd=tmp_path,
        env=environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert run.returncode == 2
    assert told in run.stderr
    assert run.stdout == ""


def test_wrong_variables_end_it_before_a_client_is_answered(tmp_path: Path) -> None:
    run = subprocess.run(
        COMMAND,
        cwd=tmp_path,
        env=environ(DECISION_ROUTER_PROVIDER="nobody-we-know"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert run.returncode == 2
    assert "nobody-we-know" in run.stderr
    assert run.stdout == ""


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("sys.argv = ['pointsman', 'mcp']; from pointsman.gateway.cli import main; main()", "cli,"),
        ("import pointsman.gateway.integrations.mcp", ""),
    ],
)
def test_without_the_library_the_extra_is_named(tmp_path: Path, program: str, told: str) -> None:
    """The command asks for what it needs besides."""
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['mcp'] = None; {program}"],
        cwd=tmp_path,
        env=environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert run.returncode != 0
    assert f"pointsman[{told}mcp" in run.stderr
    assert run.stdout == ""
