"""Routers of flows: the decision below `@router`, in both colours."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest

pytest.importorskip("crewai", reason="runs in its own environment: make frameworks")

from crewai.flow import ConversationConfig
from crewai.flow.flow import Flow, listen, router, start
from crewai.flow.persistence import SQLiteFlowPersistence, persist

from faulty import Server
from pointsman import Choice, Gateway, Lens, Reason, scripted
from pointsman.gateway.integrations.crewai import ROUTER, TURN
from promises import WAYS, asked, decides, failing, hosted

POINT = "ROUTER"
TEAMS = Choice("Which team takes it?", {"billing": "Amounts", "tech": "Faults"})
MODULE = Gateway.from_env({"DECISION_LOG": "off"})
Colour = Literal["sync", "async"]
colours = pytest.mark.parametrize("colour", ["sync", "async"])


@MODULE.point(POINT, TEAMS, lens=ROUTER)
def route(_: Any, text: str) -> Literal["billing", "tech"]:
    """Decide today."""
    return "billing" if "invoice" in text else "tech"


def desk_of(gateway: Gateway, colour: Colour, lens: Lens = ROUTER, **given: Any) -> type[Flow]:
    """Make a flow whose router decides by a word."""

    class Desk(Flow):
        @start()
        def arrive(self) -> str:
            return str(self.state["text"])

        if colour == "sync":

            @router(arrive)
            @gateway.point(POINT, TEAMS, lens=lens, **given)
            def pick(self, text: str) -> Literal["billing", "tech"]:
                return "billing" if "invoice" in text else "tech"

        else:

            @router(arrive)
            @gateway.point(POINT, TEAMS, lens=lens, **given)
            async def pick(self, text: str) -> Literal["billing", "tech"]:
                return "billing" if "invoice" in text else "tech"

        @listen("billing")
        def bill(self) -> str:
            return "to billing"

        @listen("tech")
        def repair(self) -> str:
            return "to tech"

    return Desk


def sends(desk: type[Flow], colour: Colour, text: str = "my invoice", **inputs: Any) -> Any:
    """Run the flow; the async colour on a running loop."""
    flow = desk(suppress_flow_events=True)
    given = {"text": text, **inputs}
    if colour == "sync":
        return flow.kickoff(inputs=given)
    return asyncio.run(flow.kickoff_async(inputs=given))


@colours
def test_a_router_switches_by_environment_alone(
    colour: Colour, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    server.does(decides("tech"))

    assert sends(desk_of(gateway_of(), colour), colour) == "to billing"
    assert sends(desk_of(gateway_of(hosted(server.url, POINT)), colour), colour) == "to tech"
    assert [body["input"] for body in asked(server)] == ["my invoice"]


@colours
@pytest.mark.parametrize("way", WAYS)
def test_a_router_decides_itself_where_the_provider_fails(
    colour: Colour, way: str, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    gateway = gateway_of(failing(server, way, POINT, "tech"))

    assert sends(desk_of(gateway, colour), colour) == "to billing"


def test_a_sync_router_on_a_running_loop_is_asked_in_a_thread_that_keeps_its_context(
    gateway_of: Callable[..., Gateway],
) -> None:
    """frameworks §6.3, §6.4: CrewAI moves it off the loop, with a copy of the context."""
    gateway = gateway_of()

    async def run() -> Any:
        with gateway.collect() as decisions, gateway.override({POINT: scripted("tech")}):
            flow = desk_of(gateway, "sync")(suppress_flow_events=True)
            said = await flow.kickoff_async(inputs={"text": "my invoice"})
        return said, [one.value for one in decisions]

    assert asyncio.run(run()) == ("to tech", ["tech"])


@colours
def test_the_labels_are_found_through_the_decorator(
    colour: Colour, gateway_of: Callable[..., Gateway]
) -> None:
    """frameworks §6.8: CrewAI reads what a router may emit off its return annotation."""
    desk: Any = desk_of(gateway_of(), colour)

    definition = desk.pick.__flow_method_definition__
    assert definition.emit == ["billing", "tech"]


def test_a_wrapped_router_keeps_colour_annotations_and_pickling(
    gateway_of: Callable[..., Gateway],
) -> None:
    assert get_type_hints(route)["return"] == Literal["billing", "tech"]
    assert not inspect.iscoroutinefunction(route)
    assert inspect.iscoroutinefunction(desk_of(gateway_of(), "async").pick.unwrap())
    assert pickle.loads(pickle.dumps(route)) is route


@colours
def test_while_current_decides_no_state_is_built(
    colour: Colour, gateway_of: Callable[..., Gateway]
) -> None:
    """Zero-touch: neither the state nor the subject is read off the flow."""

    gateway, touched = gateway_of(), []

    def noting(*_: Any) -> str:
        touched.append(1)
        return "hello"

    desk = desk_of(gateway, colour, Lens(state=noting, session=noting))

    assert sends(desk, colour) == "to billing"
    assert touched == []
    with gateway.override({POINT: scripted("tech")}):
        sends(desk, colour)
    assert touched == [1, 1]


@colours
def test_the_subject_is_the_flows_id(colour: Colour, gateway_of: Callable[..., Gateway]) -> None:
    """So that a conversation stays with one arm of a split."""
    calls = Calls()
    gateway = gateway_of({f"DECISION_{POINT}_PROVIDER": "calls"}, plugins=[calls])
    desk = desk_of(gateway, colour)

    sends(desk, colour, id="conversation-7")
    sends(desk, colour, id="conversation-7")

    assert calls.subjects == ["conversation-7", "conversation-7"]


def test_a_router_without_a_result_to_route_by_shows_the_flows_state(
    gateway_of: Callable[..., Gateway],
) -> None:
    """But not its id."""
    gateway, says = gateway_of(), scripted("tech")

    class Desk(Flow):
        @start()
        def arrive(self) -> None:
            self.state["words"] = "my invoice"

        @router(arrive)
        @gateway.point(POINT, TEAMS, lens=ROUTER)
        def pick(self) -> Literal["billing", "tech"]:
            return "billing"

        @listen("tech")
        def repair(self) -> str:
            return "to tech"

    with gateway.override({POINT: says}):
        assert sends(Desk, "sync", "hello") == "to tech"

    assert says.asked[0].state == {"text": "hello", "words": "my invoice"}


def test_a_decision_stands_over_a_flow_that_is_restored(
    gateway_of: Callable[..., Gateway], tmp_path: Path
) -> None:
    """frameworks §6.1, §6.5: plain data in the state, and the same answer after a restart."""
    journal = {"DECISION_JOURNAL": f"sqlite:///{tmp_path}/journal.db"}
    kept = SQLiteFlowPersistence(str(tmp_path / "flows.db"))

    def restarted(says: Any, **inputs: Any) -> tuple[Any, Any]:
        gateway = gateway_of(journal)
        desk = persist(kept)(desk_of(gateway, "sync", once=lambda _, text: ("route", text)))
        flow = desk(suppress_flow_events=True)
        with gateway.override({POINT: says}):
            return flow.kickoff(inputs=inputs), flow.state

    first, state = restarted(scripted("tech"), text="my invoice")
    assert first == "to tech"
    json.dumps(dict(state))  # plain data, or it fails

    flipped = scripted("billing")
    again, _ = restarted(flipped, text="my invoice", id=state["id"])
    assert again == "to tech"
    assert flipped.asked == []

    other, _ = restarted(flipped, text="another invoice", id=state["id"])
    assert other == "to billing"


def test_a_conversations_turn_is_routed_by_an_override(
    gateway_of: Callable[..., Gateway],
) -> None:
    """The message and its history are shown; what the system is told is not."""
    gateway, says = gateway_of(), scripted("tech", Reason.TIMEOUT)

    @ConversationConfig(system_prompt="be kind")
    class Talk(Flow):
        conversational = True

        @gateway.point(POINT, TEAMS, lens=TURN)
        def route_turn(self, context: dict[str, Any]) -> Literal["billing", "tech"]:
            return "billing"

        @listen("billing")
        def bill(self) -> str:
            return "to billing"

        @listen("tech")
        def repair(self) -> str:
            return "to tech"

    talk: Any = Talk(suppress_flow_events=True)
    assert talk.handle_turn("my line is dead", session_id="s-1") == "to billing"
    with gateway.override({POINT: says}):
        assert talk.handle_turn("it is still dead", session_id="s-1") == "to tech"
        assert talk.handle_turn("and now?", session_id="s-1") == "to billing"

    state: Any = says.asked[0].state
    assert state["message"] == "it is still dead"
    assert state["history"][0]["content"] == "my line is dead"
    assert "be kind" not in says.asked[0].text


class Calls:
    """A plug-in whose provider remembers whom it was asked about."""

    name = "calls"

    def __init__(self) -> None:
        from pointsman import Limits

        self.limits = Limits()
        self.subjects: list[str | None] = []

    def answer(self, ask: Any, call: Any) -> Any:
        from pointsman import Chosen, Reply

        self.subjects.append(call.subject)
        return Reply({name: Chosen("tech", None, 0.99) for name in ask.questions})

    from pointsman import hookimpl as _hookimpl

    @_hookimpl
    def pointsman_providers(self) -> list[Any]:
        from pointsman import Offer

        return [Offer("calls", lambda: lambda _: self)]
