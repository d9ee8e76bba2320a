"""The example and the page of this framework are run as a reader would run them."""

from __future__ import annotations

import pytest

pytest.importorskip("agents", reason="runs in its own environment: make frameworks")

from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message

from fences import ROOT, changes
from pointsman import Guard
from pointsman.gateway.integrations.openai_agents import input_guardrail
from promises import example_runs, page_of, page_runs, ran, telemetry_tells_nothing

FOLDER = "openai_agents"
MONEY = "'My last invoice was charged twice, I want my money back'"


def test_the_switched_example_does_what_todays_does() -> None:
    """Without a variable nothing changes."""
    assert example_runs(FOLDER, "switched.py") == example_runs(FOLDER, "today.py")


def test_the_switched_example_switches_by_the_environment_alone() -> None:
    """The language model sent billing's customers to the technicians."""
    before = example_runs(FOLDER, "switched.py")
    after = example_runs(FOLDER, "switched.py", {"DECISION_HANDOFF_PROVIDER": "local"})

    assert f"{MONEY}: Tech" in before
    assert f"{MONEY}: Billing: a person must approve" in after


def test_the_example_logs_nothing_that_was_said() -> None:
    run = ran(FOLDER, "switched.py", {"DECISION_PROVIDER": "local", "DECISION_LOG": "json"})

    assert "HANDOFF" in run.err
    assert "invoice" not in run.err


def test_the_change_is_small_and_shown_whole() -> None:
    folder = ROOT / "examples" / FOLDER
    lines = changes(folder / "today.py", folder / "switched.py")

    assert sum(line.startswith("+") for line in lines) <= 12
    assert "\n".join(lines) in page_of("openai-agents").read_text("utf-8")


def test_the_page_runs_from_top_to_bottom() -> None:
    page_runs(page_of("openai-agents"))


def test_telemetry_tells_neither_what_was_said_nor_a_key() -> None:
    """frameworks §7: spans, events, metrics and the log of a run inside of the SDK."""

    set_tracing_disabled(disabled=True)  # it would send the run to OpenAI

    async def run(guard: Guard, said: str) -> None:
        model = ScriptedModel([[assistant_message("hello")]])
        agent = Agent(name="Desk", model=model, input_guardrails=[input_guardrail(guard)])
        await Runner.run(agent, said)

    telemetry_tells_nothing(run)
