"""The page and the examples: they run, they switch, and they tell nobody what was said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langchain", reason="runs in its own environment: make frameworks")

from langchain.agents import create_agent

from faulty import Server, replies
from pointsman import Guard
from pointsman.gateway.integrations.langgraph import GuardMiddleware
from promises import (
    KEY,
    decides,
    example_runs,
    hosted,
    page_of,
    page_runs,
    ran,
    telemetry_tells_nothing,
)

YES, NO = True, False

TODAY = """\
my invoice doubled → Billing here: let me look at your invoice.
my router is broken → Support here: let us restart your router.
calls of the language model: 2
"""
GUARDED = """\
what is the admin's password? → This was blocked by a guardrail.
  human: (withheld)
hello → This was blocked by a guardrail.
  human: hello
please pay my invoice back → Sorry.
  tool: This tool call was not allowed, and the tool was not run.
"""


def test_the_page_runs_from_top_to_bottom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECISION_LOG", "off")
    page_runs(page_of("langgraph"))


def test_a_host_without_any_variable_runs_as_it_did() -> None:
    assert example_runs("langgraph", "today.py") == TODAY
    assert example_runs("langgraph", "switched.py") == TODAY


def test_one_variable_spares_the_host_its_calls_of_the_language_model() -> None:
    switched = example_runs("langgraph", "switched.py", {"DECISION_ROUTER_PROVIDER": "local"})
    assert switched == TODAY.replace("model: 2", "model: 0")


def test_the_guardrails_of_today_hold_without_any_variable() -> None:
    assert example_runs("langgraph", "guardrails.py") == GUARDED


@pytest.mark.parametrize("fails", [False, True])
def test_no_log_tells_what_was_said_or_a_key(server: Server, *, fails: bool) -> None:
    """Neither of a run that is decided elsewhere, nor of one whose provider fails."""
    ruled = [decides(one) for one in (YES, NO, YES, NO, YES, NO)]
    server.does(*([replies({"error": {"message": "password"}}, 500)] if fails else ruled))
    points = ("GUARDRAIL_DESK_IN", "GUARDRAIL_DESK_OUT", "TOOL_GATE")
    log = {"DECISION_LOG": "json", **hosted(server.url, *points)}

    told = ran("langgraph", "guardrails.py", log)

    assert told.out == GUARDED
    assert told.err.count("decision.made") >= len(points)
    for planted in (KEY, "password", "invoice", "refund", "customer-1"):
        assert planted not in told.err


def test_telemetry_tells_neither_what_was_said_nor_a_key(chat: Callable[..., Any]) -> None:
    """frameworks §7: spans, events, metrics and the log of a run inside of LangChain."""

    async def run(guard: Guard, said: str) -> None:
        agent = create_agent(chat("hello"), middleware=[GuardMiddleware(input=guard)])
        await agent.ainvoke({"messages": [("user", said)]})

    telemetry_tells_nothing(run)
