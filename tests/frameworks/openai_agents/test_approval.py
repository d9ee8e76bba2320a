"""Tool approval: a decision stands over a resumed run, whatever the variables say by then."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="runs in its own environment: make frameworks")

from agents import (
    Agent,
    RunContextWrapper,
    Runner,
    RunState,
    UserError,
    function_tool,
    set_tracing_disabled,
)
from agents.testing import ScriptedModel, assistant_message, function_call

from pointsman import (
    Gateway,
    Guard,
    Held,
    NoAnswer,
    Predicate,
    Reason,
    SetupError,
    scripted,
)
from pointsman.gateway.integrations import openai_agents as pm
from telling import Offers, Teller

set_tracing_disabled(disabled=True)

Gateways = Callable[..., Gateway]
YES, NO = True, False
RISKY = Predicate("Should a person approve this refund?")


class Desk:
    """An app with one tool, as each process makes it anew."""

    def __init__(self, needs: Any) -> None:
        self.paid: list[int] = []

        @function_tool(needs_approval=needs)
        def refund(amount: int) -> str:
            self.paid.append(amount)
            return "refunded"

        self.agent = Agent[Any](name="Desk", tools=[refund])

    def says(self, *steps: Any) -> None:
        self.agent.model = ScriptedModel(list(steps))

    async def asked(self, amount: int = 7, call_id: str = "c1") -> Any:
        self.says([function_call("refund", {"amount": amount}, call_id=call_id)])
        return await Runner.run(self.agent, "I want my money back")

    async def resumed(self, written: str, verdict: str | None) -> Any:
        """Go on from what another process wrote down."""
        self.says([assistant_message("done")])
        state = await RunState.from_string(self.agent, written)
        for item in state.get_interruptions():
            if verdict == "approve":
                state.approve(item)
            elif verdict == "reject":
                state.reject(item)
        return await Runner.run(self.agent, state)


def approving(gateway: Gateway, **given: Any) -> Any:
    given = {"on_undecided": "block", **given}
    return pm.needs_approval(Guard(gateway, "APPROVAL", RISKY, **given), tool="refund")


def run(gateway: Gateway, coroutine: Any) -> Any:
    async def inside() -> Any:
        with gateway.session("conv-42"):
            return await coroutine

    return asyncio.run(inside())


@pytest.mark.parametrize("risky", [True, False])
def test_a_call_that_the_provider_finds_risky_waits_for_a_person(
    gateway_of: Gateways, *, risky: bool
) -> None:
    gateway, provider = gateway_of(), scripted(risky)
    desk = Desk(approving(gateway))

    with gateway.override({"APPROVAL": provider}):
        desk.says(
            [function_call("refund", {"amount": 7}, call_id="c1")], [assistant_message("done")]
        )
        result = run(gateway, Runner.run(desk.agent, "I want my money back"))

    assert desk.paid == ([] if risky else [7])
    assert [one.tool_name for one in result.interruptions] == (["refund"] if risky else [])
    assert provider.asked[0].state == {"tool": "refund", "arguments": {"amount": 7}}


@pytest.mark.parametrize(("current", "waits"), [(lambda _: True, True), (lambda _: False, False)])
def test_approval_falls_back_to_todays_rule(
    gateway_of: Gateways, current: Any, *, waits: bool
) -> None:
    gateway = gateway_of()
    desk = Desk(approving(gateway, on_undecided=None, current=current))
    with gateway.override({"APPROVAL": scripted(Reason.TRANSPORT)}):
        desk.says(
            [function_call("refund", {"amount": 7}, call_id="c1")], [assistant_message("done")]
        )
        result = run(gateway, Runner.run(desk.agent, "I want my money back"))
    assert bool(result.interruptions) is waits


@pytest.mark.parametrize("line", [{"decision": Held(0.5)}, Reason.TIMEOUT])
@pytest.mark.parametrize("fallback", ["true", "false"])
def test_where_nobody_decides_a_person_does(gateway_of: Gateways, line: Any, fallback: str) -> None:
    """`on_undecided="human"` is the SDK's own interruption, not an error."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": fallback})
    desk = Desk(approving(gateway, on_undecided="human"))

    with gateway.override({"APPROVAL": scripted(line)}):
        result = run(gateway, desk.asked())

    assert len(result.interruptions) == 1
    assert not desk.paid


def test_without_fallback_the_providers_fault_ends_the_run(gateway_of: Gateways) -> None:
    """Around a tool the SDK wraps all errors in its own; the tool does not run."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    desk = Desk(approving(gateway, on_undecided=None, current=lambda _: False))

    with (
        gateway.override({"APPROVAL": scripted(Reason.TIMEOUT)}),
        pytest.raises(UserError) as caught,
    ):
        run(gateway, desk.asked())

    assert isinstance(caught.value.__cause__, NoAnswer)
    assert not desk.paid


# --- resume: another process, other variables ----------------------------------------------


def process(gateway_of: Gateways, journal: Path, *, says: bool | None) -> tuple[Gateway, Desk]:
    """One process: the variables of its day, and the journal that all share."""
    environ = {"DECISION_JOURNAL": f"sqlite:///{journal}"}
    plugins = []
    if says is not None:
        environ["DECISION_APPROVAL_PROVIDER"] = "teller"
        plugins = [Offers(Teller(lambda _, __: Held(0.99 if says else 0.01)))]
    gateway = gateway_of(environ, plugins=plugins)
    guard = Guard(gateway, "APPROVAL", RISKY, current=lambda _: False)
    return gateway, Desk(pm.needs_approval(guard, tool="refund"))


@pytest.mark.parametrize("later", [False, None], ids=["flipped", "back to current"])
def test_a_run_that_is_made_again_asks_for_no_less_than_before(
    gateway_of: Gateways, tmp_path: Path, *, later: bool | None
) -> None:
    """
    Frameworks §6.1: a durable engine makes the run again from its input, in another process.

    The model's call comes back as it was, and no approval would be needed by now.
    """
    first, desk = process(gateway_of, tmp_path / "journal.db", says=True)
    assert len(run(first, desk.asked()).interruptions) == 1
    first.close()

    second, desk = process(gateway_of, tmp_path / "journal.db", says=later)
    desk.says([function_call("refund", {"amount": 7}, call_id="c1")], [assistant_message("done")])
    result = run(second, Runner.run(desk.agent, "I want my money back"))

    assert not desk.paid
    assert len(result.interruptions) == 1


@pytest.mark.parametrize("verdict", ["reject", None], ids=["rejected", "not yet decided"])
def test_a_run_resumed_from_its_state_is_not_asked_about_at_all(
    gateway_of: Gateways, verdict: str | None
) -> None:
    """Frameworks §6.1: what waits and what a person refused, the SDK keeps in its own state."""
    first, second, provider = gateway_of(), gateway_of(), scripted(NO)
    desk = Desk(approving(first))
    with first.override({"APPROVAL": scripted(YES)}):
        written = run(first, desk.asked()).to_state().to_string()

    desk = Desk(approving(second))
    with second.override({"APPROVAL": provider}):
        result = run(second, desk.resumed(written, verdict))

    assert not desk.paid
    assert not provider.asked
    assert len(result.interruptions) == (0 if verdict else 1)


def test_an_approved_call_runs_once_after_the_flip(gateway_of: Gateways, tmp_path: Path) -> None:
    first, desk = process(gateway_of, tmp_path / "journal.db", says=True)
    written = run(first, desk.asked()).to_state().to_string()
    first.close()

    second, desk = process(gateway_of, tmp_path / "journal.db", says=False)
    result = run(second, desk.resumed(written, "approve"))

    assert desk.paid == [7]
    assert result.final_output == "done"


def test_the_state_holds_plain_data_and_nothing_of_the_gateway(
    gateway_of: Gateways, tmp_path: Path
) -> None:
    """Frameworks §6.5."""
    gateway, desk = process(gateway_of, tmp_path / "journal.db", says=True)

    written = run(gateway, desk.asked()).to_state().to_string()

    assert "pointsman" not in json.dumps(json.loads(written))


def test_other_arguments_are_another_question(gateway_of: Gateways) -> None:
    """An id that a model uses again does not carry an old decision over."""
    gateway = gateway_of()
    provider = scripted(YES, NO)
    desk = Desk(approving(gateway))

    with gateway.override({"APPROVAL": provider}):
        assert run(gateway, desk.asked(amount=7000)).interruptions
        desk.says(
            [function_call("refund", {"amount": 7}, call_id="c1")], [assistant_message("done")]
        )
        run(gateway, Runner.run(desk.agent, "I want my money back"))

    assert desk.paid == [7]
    assert len(provider.asked) == 2


def test_an_approval_needs_a_subject(gateway_of: Gateways) -> None:
    """Whose decision would stand? The tool does not run."""
    gateway = gateway_of()
    desk = Desk(approving(gateway))

    with (
        gateway.override({"APPROVAL": scripted(NO)}),
        pytest.raises(UserError, match="session") as caught,
    ):
        asyncio.run(desk.asked())

    assert isinstance(caught.value.__cause__, SetupError)
    assert not desk.paid


def test_the_subject_may_come_from_the_users_own_context(gateway_of: Gateways) -> None:
    teller = Teller(lambda _, __: Held(0.99))
    gateway = gateway_of({"DECISION_PROVIDER": "teller"}, plugins=[Offers(teller)])
    guard = Guard(gateway, "APPROVAL", RISKY, on_undecided="block")
    desk = Desk(pm.needs_approval(guard, tool="refund", session=str))

    desk.says([function_call("refund", {"amount": 7}, call_id="c1")])
    asyncio.run(Runner.run(desk.agent, "hello", context="conv-42"))

    assert [call.subject for call in teller.calls] == ["conv-42"]


# --- the user's own function ---------------------------------------------------------------


@pytest.mark.parametrize("planned", [True, False])
def test_a_users_own_rule_is_switched_and_stands(gateway_of: Gateways, *, planned: bool) -> None:
    gateway = gateway_of()

    @gateway.point("APPROVAL", RISKY, lens=pm.NEEDS_APPROVAL, once=pm.once_per_call)
    async def risky(_ctx: RunContextWrapper[Any], params: dict[str, Any], _call_id: str) -> bool:
        return int(params["amount"]) > 100

    desk = Desk(risky)
    with gateway.override({"APPROVAL": scripted(YES)} if planned else {}):
        waiting = run(gateway, desk.asked(amount=7 if planned else 700))
    assert len(waiting.interruptions) == 1

    with gateway.override({"APPROVAL": scripted(NO)}):
        again = run(gateway, desk.asked(amount=7 if planned else 700))
    assert len(again.interruptions) == 1
    assert not desk.paid
