"""Tools of an ADK agent: who approves their calls, over a pause, a restart and a switch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="runs in its own environment: make frameworks")

from google.adk.sessions import DatabaseSessionService, InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import FunctionTool, ToolContext

from faulty import Server
from frameworks.google_adk.desks import NO, YES, Desk, Llm, agent, asks, call, confirming, results
from pointsman import (
    DeclarationError,
    Gateway,
    Guard,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    SetupError,
    scripted,
)
from pointsman.gateway.integrations.google_adk import (
    NEEDS_APPROVAL,
    PointsmanPlugin,
    confirmation,
    tool_call,
    tool_guardrail,
)
from promises import WAYS, asked, decides, failing, hosted
from trialling import Kept

Gateways = Callable[..., Gateway]

RISKY = Predicate("Does a person have to approve this refund?")
REJECTED = {"error": "This tool call is rejected."}
PENDING = {"error": "This tool call requires confirmation, please approve or reject."}


class Till:
    """A tool that pays out, and remembers what it paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def refund(self, amount: int, tool_context: ToolContext) -> dict[str, Any]:
        """Refund an amount."""
        self.paid.append(amount)
        return {"refunded": amount}

    def pay(self, amount: int) -> dict[str, Any]:
        """Pay an amount."""
        return self.refund(amount, None)  # type: ignore[arg-type]


def predicate(gateway: Gateway, **given: Any) -> Callable[..., Any]:
    """The user's own, as in a host's code; today large amounts need a person."""

    @gateway.point("APPROVAL", RISKY, lens=NEEDS_APPROVAL, **{"once": tool_call, **given})
    async def risky(amount: int, tool_context: ToolContext) -> bool:  # noqa: ARG001 - names the call
        return amount > 100

    return risky


def llm(*amounts: int, its_id: str | None = None) -> Llm:
    return Llm(
        lines=[*(call("refund", its_id=its_id, amount=amount) for amount in amounts), "done"]
    )


async def paused(desk: Desk) -> Any:
    """Run until a person is asked."""
    events = await desk.said("please refund me")
    (request,) = asks(events)
    return request


# --- frameworks §6.1: a rejected call stays out -------------------------------------------


def refunding(till: Till, required: Any, **given: Any) -> Any:
    tool = FunctionTool(till.refund, require_confirmation=required)
    return agent(llm(250), tools=[tool], **given)


async def rejected_after_a_flip(gateway: Gateway, till: Till, required: Any) -> list[Any]:
    """A person rejects; by then nobody would have to approve any more."""
    desk = await Desk(refunding(till, required)).begun()
    with gateway.override({"APPROVAL": scripted(YES)}):
        request = await paused(desk)
    with gateway.override({"APPROVAL": scripted(NO)}):
        return results(await desk.said(confirming(request, confirmed=False)))


def test_a_rejected_tool_does_not_run_after_a_switch(gateway_of: Gateways) -> None:
    """frameworks §6.1."""
    gateway, till = gateway_of(), Till()

    given = asyncio.run(rejected_after_a_flip(gateway, till, predicate(gateway)))

    assert till.paid == []
    assert given == [REJECTED]


def test_without_the_cure_it_does(gateway_of: Gateways) -> None:
    """frameworks §6.1: what `once=` is for; ADK itself asks the predicate again."""
    gateway, till = gateway_of(), Till()

    asyncio.run(rejected_after_a_flip(gateway, till, predicate(gateway, once=None)))

    assert till.paid == [250]


def test_what_today_decided_stands_as_well(gateway_of: Gateways) -> None:
    """A person rejects what today's rule put before them; then a provider is switched on."""
    gateway, till = gateway_of(), Till()

    async def run() -> list[Any]:
        desk = await Desk(refunding(till, predicate(gateway))).begun()
        request = await paused(desk)
        with gateway.override({"APPROVAL": scripted(NO)}):
            return results(await desk.said(confirming(request, confirmed=False)))

    assert asyncio.run(run()) == [REJECTED]
    assert till.paid == []


def test_one_decision_however_often_adk_asks(gateway_of: Gateways) -> None:
    """It asks once before the pause and three times after it."""
    gateway, till, says = gateway_of(), Till(), scripted(YES)

    async def run() -> list[Any]:
        desk = await Desk(refunding(till, predicate(gateway))).begun()
        request = await paused(desk)
        return results(await desk.said(confirming(request, confirmed=True)))

    with gateway.override({"APPROVAL": says}):
        assert asyncio.run(run()) == [{"refunded": 250}]
    assert till.paid == [250]
    (ask,) = says.asked
    assert ask.state == {"amount": 250}


def test_a_call_s_id_used_again_is_another_call(gateway_of: Gateways) -> None:
    """A model may name its calls alike in each turn; the second is decided anew."""
    gateway, till, says = gateway_of(), Till(), scripted(NO, YES)
    root = agent(
        llm(250, its_id="call_0"),
        tools=[FunctionTool(till.refund, require_confirmation=predicate(gateway))],
    )

    async def run() -> int:
        desk = await Desk(root).begun()
        await desk.said("please refund me")
        root.model.calls = 0
        return len(asks(await desk.said("and again")))

    with gateway.override({"APPROVAL": says}):
        assert asyncio.run(run()) == 1
    assert till.paid == [250]
    assert len(says.asked) == 2


class Renumbering(InMemorySessionService):
    """Gives its events ids of its own when they are read, as a hosted service may."""

    async def get_session(self, **given: Any) -> Any:
        session = await super().get_session(**given)
        for at, event in enumerate(session.events if session else ()):
            event.id = f"numbered-{at}"
        return session


def test_a_rejected_tool_stays_out_where_events_are_numbered_anew(gateway_of: Gateways) -> None:
    """frameworks §6.1: a call goes by its invocation, which every service keeps."""
    gateway, till = gateway_of(), Till()

    async def run() -> list[Any]:
        root = refunding(till, predicate(gateway))
        desk = await Desk(root, service=Renumbering()).begun()
        with gateway.override({"APPROVAL": scripted(YES)}):
            request = await paused(desk)
        with gateway.override({"APPROVAL": scripted(NO)}):
            return results(await desk.said(confirming(request, confirmed=False)))

    assert asyncio.run(run()) == [REJECTED]
    assert till.paid == []


def test_a_call_s_id_used_again_in_one_run_is_another_call(gateway_of: Gateways) -> None:
    """The same arguments, too: what a first call was allowed is not allowed again."""
    gateway, till, says = gateway_of(), Till(), scripted(NO, YES)
    tool = FunctionTool(till.refund, require_confirmation=predicate(gateway))
    root = agent(llm(250, 250, its_id="call_0"), tools=[tool])

    async def run() -> int:
        return len(asks(await (await Desk(root).begun()).said("please refund me twice")))

    with gateway.override({"APPROVAL": says}):
        assert asyncio.run(run()) == 1
    assert till.paid == [250]


def test_a_call_s_id_used_again_while_a_person_is_asked_is_another_call(
    gateway_of: Gateways,
) -> None:
    """
    frameworks §6.1: what is rejected then is the call that the person was asked about.

    With other arguments ADK itself refuses to go on.
    """
    gateway, till = gateway_of(), Till()
    tool = FunctionTool(till.refund, require_confirmation=predicate(gateway))
    model = Llm(lines=[*(call("refund", its_id="call_0", amount=250) for _ in range(2)), "done"])

    async def run() -> list[Any]:
        desk = await Desk(agent(model, tools=[tool])).begun()
        with gateway.override({"APPROVAL": scripted(YES)}):
            request = await paused(desk)
        with gateway.override({"APPROVAL": scripted(NO)}):
            await desk.said("and once more")
            return results(await desk.said(confirming(request, confirmed=False)))

    assert asyncio.run(run()) == [REJECTED]
    assert till.paid == [250], "the second, which nobody had to approve"


@pytest.mark.parametrize("service", ["memory", "sqlite", "database"])
def test_a_call_is_named_alike_before_and_after_it_is_read_back(
    service: str, tmp_path: Path, gateway_of: Gateways
) -> None:
    """frameworks §6.1: of each service that ADK brings and that runs without a network."""
    gateway, till, named = gateway_of(), Till(), []
    path, memory = tmp_path / "adk.db", InMemorySessionService()

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Any]:
        if service == "database":
            async with DatabaseSessionService(db_url=f"sqlite+aiosqlite:///{path}") as database:
                yield database
        else:
            yield memory if service == "memory" else SqliteSessionService(str(path))

    def noting(**given: Any) -> Any:
        named.append(tool_call(**given))
        return named[-1]

    async def run() -> None:
        required = predicate(gateway, once=noting)
        async with opened() as sessions:
            first = await Desk(refunding(till, required), service=sessions).begun()
            request = await paused(first)
        tool = FunctionTool(till.refund, require_confirmation=required)
        async with opened() as sessions:
            second = Desk(agent(Llm(lines=["done"]), tools=[tool]), service=sessions)
            await second.said(confirming(request, confirmed=True))

    asyncio.run(run())

    assert till.paid == [250]
    assert len(named) > 1
    assert [one for one in named if one != named[0]] == []


def test_the_decision_stands_in_another_process(tmp_path: Path, gateway_of: Gateways) -> None:
    """Session and decision come back from their databases: another gateway, another runner."""
    kept, till = Kept(tmp_path), Till()
    url = f"sqlite+aiosqlite:///{tmp_path / 'adk.db'}"

    async def before(gateway: Gateway) -> Any:
        async with DatabaseSessionService(db_url=url) as service:
            desk = Desk(refunding(till, predicate(gateway)), service=service)
            return await paused(await desk.begun())

    async def after(gateway: Gateway, request: Any) -> list[Any]:
        tool = FunctionTool(till.refund, require_confirmation=predicate(gateway))
        async with DatabaseSessionService(db_url=url) as service:
            desk = Desk(agent(Llm(lines=["done"]), tools=[tool]), service=service)
            return results(await desk.said(confirming(request, confirmed=False)))

    first = gateway_of(kept.variables)
    with first.override({"APPROVAL": scripted(YES)}):
        request = asyncio.run(before(first))
    first.close()
    second = gateway_of(kept.variables)
    with second.override({"APPROVAL": scripted(NO)}):
        given = asyncio.run(after(second, request))

    assert given == [REJECTED]
    assert till.paid == []


# --- the predicate is a point like any other ----------------------------------------------


def test_the_predicate_switches_by_a_variable_alone(server: Server, gateway_of: Gateways) -> None:
    server.does(decides(NO))
    till = Till()

    async def pauses(gateway: Gateway) -> bool:
        desk = await Desk(refunding(till, predicate(gateway))).begun()
        return bool(asks(await desk.said("please refund me")))

    assert asyncio.run(pauses(gateway_of()))
    assert not asyncio.run(pauses(gateway_of(hosted(server.url, "APPROVAL"))))
    assert till.paid == [250]
    assert len(asked(server)) == 1


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_leaves_the_predicate_to_today(
    way: str, server: Server, gateway_of: Gateways
) -> None:
    gateway, till = gateway_of(failing(server, way, "APPROVAL", said=False)), Till()

    async def run() -> bool:
        desk = await Desk(refunding(till, predicate(gateway))).begun()
        return bool(asks(await desk.said("please refund me")))

    assert asyncio.run(run())
    assert till.paid == []


def test_a_predicate_without_the_tool_s_context_is_refused(gateway_of: Gateways) -> None:
    """It could not tell one call from another; the tool does not run."""
    gateway, till = gateway_of(), Till()

    @gateway.point("APPROVAL", RISKY, lens=NEEDS_APPROVAL, once=tool_call)
    def risky(amount: int) -> bool:
        return amount > 100

    tool = FunctionTool(till.pay, require_confirmation=risky)
    root = agent(Llm(lines=[call("pay", amount=5)]), tools=[tool])

    async def run() -> None:
        await (await Desk(root).begun()).said("pay me")

    with pytest.raises(SetupError, match="tool_context: ToolContext"):
        asyncio.run(run())
    assert till.paid == []


class Kind(Enum):
    FULL = "full"


def test_arguments_of_any_type_are_shown_and_remembered() -> None:
    """ADK makes them of the tool's annotations; what JSON has no word for goes by its type."""
    given = {"kind": Kind.FULL, "on": date(2026, 1, 31), "rest": object()}

    shown = {"kind": "full", "on": "2026-01-31", "rest": "object"}
    assert NEEDS_APPROVAL.state(**given) == shown


class Order:
    """What JSON cannot say, so that two of them are shown alike."""


def test_a_call_whose_arguments_are_shown_alike_is_not_taken_for_another(
    gateway_of: Gateways,
) -> None:
    """An object's type says nothing of what it holds: no decision could stand, and none is made."""
    gateway, till, says = gateway_of(), Till(), scripted(NO)

    def replacing(tool: Any, args: dict[str, Any], tool_context: Any) -> None:  # noqa: ARG001 - ADK passes them by name
        args["order"] = Order()

    gate = tool_guardrail(guard(gateway, on_undecided="block"))
    model = Llm(lines=[call("pay", amount=250), "done"])
    root = agent(model, tools=[till.pay], before_tool_callback=[replacing, gate])

    async def run() -> None:
        await (await Desk(root).begun()).said("pay me")

    with gateway.override({"APPROVAL": says}), pytest.raises(DeclarationError, match="Order"):
        asyncio.run(run())
    assert till.paid == []


# --- new guardrails -----------------------------------------------------------------------


def guard(gateway: Gateway, **given: Any) -> Guard:
    return Guard(gateway, "APPROVAL", RISKY, **given)


@pytest.mark.parametrize(("provider", "asked_for"), [(True, 1), (False, 0), (Reason.TIMEOUT, 1)])
def test_a_guard_s_confirmation_is_required_where_it_blocks(
    provider: Any, asked_for: int, gateway_of: Gateways
) -> None:
    gateway, till = gateway_of(), Till()
    required = confirmation(guard(gateway, on_undecided="block"))

    async def run() -> int:
        desk = await Desk(refunding(till, required)).begun()
        return len(asks(await desk.said("please refund me")))

    with gateway.override({"APPROVAL": scripted(provider)}):
        assert asyncio.run(run()) == asked_for
    assert till.paid == [] if asked_for else [250]


@pytest.mark.parametrize(("confirmed", "paid"), [(True, [250]), (False, [])])
def test_where_nobody_decides_adk_asks_a_person(
    confirmed: bool,  # noqa: FBT001 - a table
    paid: list[int],
    gateway_of: Gateways,
) -> None:
    """HumanNeeded becomes ADK's own confirmation; a late provider changes nothing."""
    gateway, till = gateway_of(), Till()
    required = confirmation(guard(gateway, on_undecided="human"))

    async def run() -> None:
        desk = await Desk(refunding(till, required)).begun()
        with gateway.override({"APPROVAL": scripted(Reason.TIMEOUT)}):
            request = await paused(desk)
        with gateway.override({"APPROVAL": scripted(NO)}):
            await desk.said(confirming(request, confirmed=confirmed))

    asyncio.run(run())

    assert till.paid == paid


def gated(till: Till, gateway: Gateway, **given: Any) -> Any:
    """An agent whose every tool is gated; this one takes no context."""
    gate = tool_guardrail(guard(gateway, **given), message="Not this one.")
    model = Llm(lines=[call("pay", amount=250), "done"])
    return agent(model, tools=[till.pay], before_tool_callback=gate)


def test_a_blocked_tool_call_is_answered_in_the_tool_s_place(gateway_of: Gateways) -> None:
    gateway, till, says = gateway_of(), Till(), scripted(YES)

    async def run() -> list[Any]:
        desk = await Desk(gated(till, gateway, on_undecided="block")).begun()
        return results(await desk.said("pay me"))

    with gateway.override({"APPROVAL": says}):
        assert asyncio.run(run()) == [{"error": "Not this one."}]
    assert till.paid == []
    assert says.asked[0].state == {"tool": "pay", "arguments": {"amount": 250}}


@pytest.mark.parametrize(("outcome", "paid"), [("block", []), ("allow", [250])])
@pytest.mark.parametrize("fallback", ["true", "false"])
def test_where_nobody_decides_the_gate_does_what_it_was_told(
    outcome: Any, paid: list[int], fallback: str, gateway_of: Gateways
) -> None:
    """frameworks §6.6: never open by an exception that somebody swallows."""
    gateway, till = gateway_of({"DECISION_FALLBACK_TO_CURRENT": fallback}), Till()

    async def run() -> None:
        await (await Desk(gated(till, gateway, on_undecided=outcome)).begun()).said("pay me")

    with gateway.override({"APPROVAL": scripted(Reason.TIMEOUT)}):
        asyncio.run(run())
    assert till.paid == paid


def test_a_gate_without_a_fallback_ends_the_run_and_not_in_a_call(gateway_of: Gateways) -> None:
    """frameworks §6.6: with a `current` and no fallback the fault is the host's to see."""
    gateway, till = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"}), Till()

    async def run() -> None:
        root = gated(till, gateway, current=lambda _: False)
        await (await Desk(root).begun()).said("pay me")

    with gateway.override({"APPROVAL": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        asyncio.run(run())
    assert till.paid == []


@pytest.mark.parametrize(("confirmed", "paid"), [(True, [250]), (False, [])])
def test_the_gate_asks_a_person_where_nobody_decides(
    confirmed: bool,  # noqa: FBT001 - a table
    paid: list[int],
    gateway_of: Gateways,
) -> None:
    """Any tool can be confirmed so, not only one that declares it; a flip changes nothing."""
    gateway, till = gateway_of(), Till()

    async def run() -> list[Any]:
        desk = await Desk(gated(till, gateway, on_undecided="human")).begun()
        with gateway.override({"APPROVAL": scripted(Reason.TIMEOUT)}):
            events = await desk.said("pay me")
        (request,) = asks(events)
        with gateway.override({"APPROVAL": scripted(NO)}):
            given = results(await desk.said(confirming(request, confirmed=confirmed)))
        return [*results(events), *given]

    given = asyncio.run(run())

    assert till.paid == paid
    assert given == [PENDING, {"refunded": 250} if confirmed else REJECTED]


def test_the_gate_is_about_adk_s_session(gateway_of: Gateways) -> None:
    """A decision that stands needs a subject: without one this would be a SetupError."""
    recorder = Recorder()
    gateway, till = gateway_of(observers=[recorder]), Till()
    plugin = PointsmanPlugin(gateway, tools=guard(gateway, on_undecided="block"))
    root = agent(Llm(lines=[call("pay", amount=250), "done"]), tools=[till.pay])

    async def run() -> None:
        desk = await Desk(root, plugins=[plugin]).begun()
        await desk.said("pay me")
        again = await desk.begun("another")
        root.model.calls = 0
        await again.said("pay me", session="another")

    with gateway.override({"APPROVAL": scripted(NO, YES)}):
        asyncio.run(run())

    assert till.paid == [250]
    assert len({record.id for record in recorder.records}) == 2
