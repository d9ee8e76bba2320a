"""What every integration promises: its examples, its page, and nothing told to the log."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "agent_framework.exceptions", reason="runs in its own environment: make frameworks"
)

from agent_framework import Agent

from faulty import Server
from frameworks.agent_framework.desks import Words
from pointsman import Guard
from pointsman.gateway.integrations.agent_framework import GuardMiddleware
from promises import (
    KEY,
    asked,
    decides,
    example_runs,
    hosted,
    page_of,
    page_runs,
    ran,
    telemetry_tells_nothing,
)

FOLDER = "agent_framework"


def test_the_example_does_what_it_did_and_a_variable_alone_switches_it() -> None:
    today = example_runs(FOLDER, "today.py")
    assert "calls of the language model: 2" in today
    assert example_runs(FOLDER, "switched.py") == today
    switched = example_runs(FOLDER, "switched.py", {"DECISION_ROUTER_PROVIDER": "local"})
    assert "calls of the language model: 0" in switched
    assert switched.splitlines()[:2] == today.splitlines()[:2]


def test_the_approval_example_asks_a_person_and_resumes() -> None:
    said = example_runs(FOLDER, "approval.py")
    assert "a person is asked, refunded so far: []" in said
    assert "500 were refunded" in said


def test_the_approval_example_is_ruled_on_by_a_provider() -> None:
    with Server() as server:
        server.does(decides(said=True))
        said = example_runs(FOLDER, "approval.py", hosted(server.url, "REFUND_GATE"))
        assert len(asked(server)) == 1
    assert "500 were refunded" not in said
    assert "not allowed" in said


def test_the_page_runs() -> None:
    page_runs(page_of("agent-framework"))


def test_neither_words_nor_keys_reach_the_log() -> None:
    with Server() as server:
        server.does(decides("tech"))
        variables = {**hosted(server.url, "ROUTER"), "DECISION_LOG": "json"}
        told = ran(FOLDER, "switched.py", variables)
        assert len(asked(server)) == 2
    assert '"event"' in told.err
    for secret in (KEY, "invoice", "broken", "Which team"):
        assert secret not in told.err


def test_telemetry_tells_neither_what_was_said_nor_a_key() -> None:
    """frameworks §7: spans, events, metrics and the log of a run inside of the Agent Framework."""

    async def run(guard: Guard, said: str) -> None:
        await Agent(client=Words("hello"), middleware=[GuardMiddleware(input=guard)]).run(said)

    telemetry_tells_nothing(run)
