"""The tools of facts through the command `pointsman mcp`: a real process, and the real client."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")
pytest.importorskip("typer", reason="the command needs the extra `cli`")
pytest.importorskip("babel", reason="facts need the extra `facts`")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

POLICY = 'schema = 1\n[attributes.price]\ntype = "number"\n'
REGISTRY = """
schema = 1
order = ["signed", "chat"]
[sources.contract]
level = "signed"
[sources.annex]
level = "signed"
"""
FACT = {"entity": "acme", "attribute": "price"}


def called(
    folder: Path, source: str, *calls: tuple[str, dict[str, Any]]
) -> tuple[dict[str, Any], list[Any], str]:
    """Start the command in *folder* for one source; its tools, results and standard error."""
    steers = ("DECISION_", "JEV_", "LOCAL_", "CURRENT_", "AI_GATEWAY_", "FACTS_")
    environ = {name: one for name, one in os.environ.items() if not name.startswith(steers)}
    given = {"FACTS_SOURCE": source} if source else {}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "pointsman", "mcp"], cwd=folder, env=environ | given
    )

    async def talk(errlog: Any) -> tuple[dict[str, Any], list[Any]]:
        async with Client(stdio_client(command, errlog=errlog)) as client:
            tools = {one.name: one for one in (await client.list_tools()).tools}
            return tools, [await client.call_tool(*one) for one in calls]

    with (folder / "stderr").open("w+") as errlog:
        tools, results = asyncio.run(talk(errlog))
        errlog.seek(0)
        return tools, results, errlog.read()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose `.env` says what facts there are."""
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "registry.toml").write_text(REGISTRY)
    (tmp_path / ".env").write_text("FACTS_POLICY=policy.toml\nFACTS_REGISTRY=registry.toml\n")
    return tmp_path


def test_two_agents_disagree_and_both_are_told(project: Path) -> None:
    """RF-61: each writes under the source that its host names; the second sees the dispute."""
    _, (first,), _ = called(project, "contract", ("assert_fact", {**FACT, "value": "100"}))
    tools, (second, found, explained, listed), _ = called(
        project,
        "annex",
        ("assert_fact", {**FACT, "value": "120"}),
        ("get_fact", FACT),
        ("explain_fact", FACT),
        ("list_disputes", {}),
    )

    assert {"assert_fact", "get_fact", "explain_fact", "list_disputes"} <= set(tools)
    assert first.structured_content["value"] == "100"
    assert second.structured_content["status"] == "disputed"
    assert found.structured_content["value"] is None
    assert "contract" in found.structured_content["text"]
    assert "disputed" in explained.structured_content["sentence"]
    assert len(listed.structured_content["disputes"]) == 1


def test_a_model_cannot_say_whose_word_it_is(project: Path) -> None:
    """RF-09: the schema has no place for it, and what is sent all the same is not read."""
    posing = {**FACT, "value": "1", "source": "contract", "rank": 1}

    tools, (told, found), _ = called(
        project, "stranger", ("assert_fact", posing), ("get_fact", FACT)
    )

    assert not {"source", "writer", "rank"} & set(tools["assert_fact"].input_schema["properties"])
    sources = [one["sources"] for one in found.structured_content["candidates"]]
    assert told.is_error or sources in ([], [["stranger"]])


def test_what_is_refused_can_be_mended(project: Path) -> None:
    """RF-10: with its code and the fix, as data."""
    _, (told,), _ = called(project, "contract", ("assert_fact", {**FACT, "value": "n/a"}))

    assert told.structured_content["refused"] == "not_a_value"
    assert not told.is_error


def test_without_a_source_the_operator_is_told_and_the_client_is_not(project: Path) -> None:
    _, (told, found), log = called(
        project, "", ("assert_fact", {**FACT, "value": "100"}), ("get_fact", FACT)
    )

    assert told.is_error
    assert "operator" in told.content[0].text
    assert "mcp.tool_failed" in log
    assert found.structured_content["status"] == "absent"
