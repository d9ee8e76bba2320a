"""The examples and the page of this framework are run as a reader would run them."""

from __future__ import annotations

import pytest

pytest.importorskip("llama_index.core", reason="runs in its own environment: make frameworks")

from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from faulty import Server
from fences import ROOT, changes
from pointsman import Guard
from pointsman.gateway.integrations.llama_index import approved
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

FOLDER = "llama_index"


def test_the_switched_example_does_what_todays_does() -> None:
    """Without a variable nothing changes."""
    assert example_runs(FOLDER, "switched.py") == example_runs(FOLDER, "today.py")


def test_the_switched_example_switches_by_the_environment_alone() -> None:
    """Today's sorter knows one word; the embedded provider reads the rest."""
    before = example_runs(FOLDER, "switched.py").splitlines()
    after = example_runs(FOLDER, "switched.py", {"DECISION_SOURCE_PROVIDER": "local"}).splitlines()

    assert before[-1] == "technical: How is a payment refunded that I made twice?"
    assert after == [*before[:-1], "billing: How is a payment refunded that I made twice?"]


def test_neither_what_was_said_nor_a_key_is_logged(server: Server) -> None:
    server.does(decides("billing"))
    run = ran(FOLDER, "switched.py", {**hosted(server.url, "SOURCE"), "DECISION_LOG": "json"})

    assert '"point":"SOURCE"' in run.err
    assert len(server.seen) == 3
    for planted in (KEY, "invoice", "router has a fault", "Which source"):
        assert planted not in run.err


def test_the_rejected_refund_of_the_example_is_not_paid() -> None:
    """frameworks §6.1, over a workflow that was written down."""
    printed = "Do you approve this call? Answer yes or no.\nnot paid\n"
    assert example_runs(FOLDER, "approval.py") == printed


def test_the_change_is_small_and_shown_whole() -> None:
    folder = ROOT / "examples" / FOLDER
    lines = changes(folder / "today.py", folder / "switched.py")

    assert sum(line.startswith("+") for line in lines) <= 12
    assert "\n".join(lines) in page_of("llama-index").read_text("utf-8")


def test_the_page_runs_from_top_to_bottom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECISION_LOG", "off")
    page_runs(page_of("llama-index"))


def test_telemetry_tells_neither_what_was_said_nor_a_key() -> None:
    """frameworks §7: spans, events, metrics and the log of a run inside of a workflow."""

    async def run(guard: Guard, said: str) -> None:
        class Desk(Workflow):
            @step
            async def pay(self, ctx: Context, ev: StartEvent) -> StopEvent:
                return StopEvent(result=await approved(ctx, guard, {"why": ev.said}, call="1"))

        assert await Desk().run(said=said)

    telemetry_tells_nothing(run)
