"""
What a decision costs inside each agent framework, in CPU microseconds added to a bare call.

python benchmarks/inside.py NAME [--rounds N]

Run with the Python of an environment that has the framework: the bare and the wrapped function are
called in turn within a node, step or tool of its own, on its loop and in its context. Exits 1
when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from fixed import Fixed
from local_api import request, served, variables
from overhead import (
    QUESTION,
    Waiting,
    _forget,
    added,
    added_async,
    cpu,
    cpu_async,
    route,
    route_async,
    shown,
)

from pointsman import Gateway

PROVIDERS = ("current", "fixed", "waiting", "jev")
TIMES = {"current": 5000, "jev": 200}
LOGS = {"fixed": "json", "waiting": "json"}  # an event for each decision, which nobody reads
CURRENT, IN_PROCESS, BRIDGE, HTTP = 5.0, 30.0, 120.0, 80.0  # bars

Here = Callable[[], Awaitable[None]]


class Measured:
    """The costs that were measured, where a framework calls it."""

    def __init__(self, base: str, rounds: int) -> None:
        self._base = base
        self._rounds = rounds
        self._cost: dict[str, tuple[float, float]] = {}

    @property
    def rows(self) -> list[tuple[str, float, float]]:
        """What was measured, cost and bar."""
        if not self._cost:
            return []
        current, fixed, waiting, jev = (self._cost[one] for one in PROVIDERS)
        return [
            ("current path, sync", current[0], CURRENT),
            ("current path, async", current[1], CURRENT),
            ("in-process + event, sync", fixed[0], IN_PROCESS),
            ("in-process + event, async", fixed[1], IN_PROCESS),
            ("async-shaped plug-in + event, async", waiting[1], IN_PROCESS),
            ("bridge to async-shaped plug-in, sync", waiting[0] - fixed[0], BRIDGE),
            ("over HTTP, sync", jev[0], HTTP),
            ("over HTTP, async", jev[1], HTTP),
        ]

    async def __call__(self) -> None:
        """Measure here."""
        with open(os.devnull, "w", encoding="utf-8") as void, contextlib.redirect_stderr(void):  # noqa: PTH123, ASYNC230
            for provider in PROVIDERS:
                self._cost[provider] = await self._measured(provider)

    async def _measured(self, provider: str) -> tuple[float, float]:
        import httpx

        chosen = {**variables(self._base), "DECISION_PROVIDER": provider}
        chosen["DECISION_LOG"] = LOGS.get(provider, "off")
        watching = [] if provider == "current" else [_forget]
        held = Gateway.from_env(chosen, plugins=[Fixed(), Waiting()], observers=watching)
        decided = held.point("TEAM", QUESTION)(route)
        awaited = held.point("TEAM_ASYNC", QUESTION)(route_async)
        assert held.decide_sync(decided, "my invoice").provider == provider
        assert (await held.decide(awaited, "my invoice")).provider == provider
        given, times = request(self._base), TIMES.get(provider, 500)
        with httpx.Client() as client:
            bare = (lambda: client.post(**given).json()) if provider == "jev" else _today
            sync = self._sync(bare, lambda: decided("my invoice"), times)
        async with httpx.AsyncClient() as waiting:
            bare_async = (lambda: waiting.post(**given)) if provider == "jev" else _today_async
            both = sync, await self._async(bare_async, lambda: awaited("my invoice"), times)
        await held.aclose()
        return both

    def _sync(self, bare: Callable[[], Any], decided: Callable[[], str], times: int) -> float:
        return added(lambda: cpu(bare, times), lambda: cpu(decided, times), self._rounds)

    async def _async(
        self, bare: Callable[[], Awaitable[Any]], decided: Callable[[], Awaitable[str]], times: int
    ) -> float:
        return await added_async(
            lambda: cpu_async(bare, times), lambda: cpu_async(decided, times), self._rounds
        )


def _today() -> str:
    return route("my invoice")


def _today_async() -> Awaitable[str]:
    return route_async("my invoice")


async def agent_framework(here: Here) -> None:
    from agent_framework import WorkflowBuilder, WorkflowContext, executor

    async def node(message: str, ctx: WorkflowContext[str, str]) -> None:
        await here()
        await ctx.yield_output(message)

    # annotations are strings here, and its names are not the module's
    node.__annotations__ = {"message": str, "ctx": WorkflowContext[str, str], "return": None}
    await WorkflowBuilder(start_executor=executor(node, id="node")).build().run("go")


async def langgraph(here: Here) -> None:
    from langgraph.graph import START, StateGraph

    async def node(_: dict[str, str]) -> dict[str, str]:
        await here()
        return {}

    graph = StateGraph(dict)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    await graph.compile().ainvoke({"said": "go"})


async def pydantic_ai(here: Here) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = Agent(TestModel())

    @agent.tool_plain
    async def node() -> str:
        await here()
        return "done"

    await agent.run("go")


async def openai_agents(here: Here) -> None:
    from agents import Agent, Runner, function_tool, set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message, function_call

    set_tracing_disabled(disabled=True)

    @function_tool
    async def node() -> str:
        await here()
        return "done"

    model = ScriptedModel([[function_call("node", {}, call_id="1")], [assistant_message("done")]])
    await Runner.run(Agent(name="Desk", model=model, tools=[node]), "go")


async def llama_index(here: Here) -> None:
    from workflows import Workflow, step
    from workflows.events import StartEvent, StopEvent

    async def node(self: Workflow, ev: StartEvent) -> StopEvent:  # noqa: ARG001 - a method
        await here()
        return StopEvent(result=ev.get("said"))

    # annotations are strings here, and its names are not the module's
    node.__annotations__ = {"self": Workflow, "ev": StartEvent, "return": StopEvent}
    node.__qualname__ = "Desk.node"
    await type("Desk", (Workflow,), {"node": step(node)})(timeout=600).run(said="go")


async def mcp(here: Here) -> None:
    from mcp import Client
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("desk")

    @server.tool()
    async def node() -> str:
        await here()
        return "done"

    async with Client(server) as client:
        await client.call_tool("node", {})


async def crewai(here: Here) -> None:
    os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("OTEL_SDK_DISABLED", "true")
    from crewai.flow.flow import Flow, start

    class Desk(Flow):  # type: ignore[type-arg,misc]
        @start()  # type: ignore[misc]
        async def node(self) -> str:
            await here()
            return "done"

    await Desk().kickoff_async()


async def google_adk(here: Here) -> None:
    from google.adk.runners import InMemoryRunner
    from google.adk.workflow import START, Workflow
    from google.genai import types

    async def node(node_input: str) -> str:
        await here()
        return node_input

    runner = InMemoryRunner(node=Workflow(name="desk", edges=[(START, node)]))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    said = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=said):
        pass


FRAMEWORKS = {
    one.__name__: one
    for one in (
        langgraph,
        pydantic_ai,
        openai_agents,
        mcp,
        crewai,
        google_adk,
        llama_index,
        agent_framework,
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("name", choices=FRAMEWORKS)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    # some frameworks draw what they do
    with served() as base, contextlib.redirect_stdout(sys.stderr):
        measured = Measured(base, given.rounds)
        asyncio.run(FRAMEWORKS[given.name](measured))
    missed = shown(f"CPU µs added, inside {given.name}", measured.rows)
    return int(missed or not measured.rows)


if __name__ == "__main__":
    sys.exit(main())
