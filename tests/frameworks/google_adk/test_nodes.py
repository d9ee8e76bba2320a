"""Function nodes of an ADK workflow as decision points."""

# ruff: noqa: ARG001 - ADK passes nodes their arguments by name
from __future__ import annotations

import asyncio
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="runs in its own environment: make frameworks")

from google.adk.agents import Context
from google.adk.events import Event, RequestInput
from google.adk.workflow import START, FunctionNode, Workflow
from google.genai import types
from pydantic import BaseModel

from faulty import Server
from frameworks.google_adk.desks import SESSION, Desk, Watching
from pointsman import Choice, Gateway, HumanNeeded, Reason, Recorder, SetupError, scripted
from pointsman.gateway.integrations.google_adk import ROUTE, check_routes, person_needed
from promises import WAYS, asked, decides, failing, hosted

Gateways = Callable[..., Gateway]

TEAM = Choice("Which team?", {"billing": "Invoices", "technical": "Faults"})
MODULE = Gateway.from_env({"DECISION_LOG": "off"})


@MODULE.point("TEAM", TEAM, lens=ROUTE)
def pickled(ctx: Context, node_input: str) -> Event:
    """Decide today."""
    return Event(route="billing" if "invoice" in node_input else "technical")


def billing(node_input: Any) -> str:
    return "billing desk"


def technical(node_input: Any) -> str:
    return "technical desk"


def sync_node(gateway: Gateway) -> Any:
    @gateway.point("TEAM", TEAM, lens=ROUTE)
    def pick(ctx: Context, node_input: str) -> Event:
        return Event(route="billing" if "invoice" in node_input else "technical")

    return pick


def async_node(gateway: Gateway) -> Any:
    @gateway.point("TEAM", TEAM, lens=ROUTE)
    async def pick(ctx: Context, node_input: str) -> Event:
        return Event(route="billing" if "invoice" in node_input else "technical")

    return pick


BOTH = pytest.mark.parametrize("node", [sync_node, async_node])


def root(pick: Any) -> Workflow:
    return Workflow(
        name="root", edges=[(START, pick, {"billing": billing, "technical": technical})]
    )


async def routed(pick: Any, text: str = "my invoice") -> str:
    events = await (await Desk(root(pick)).begun()).said(text)
    return str(events[-1].output)


@BOTH
def test_a_node_switches_by_a_variable_alone(
    node: Any, server: Server, gateway_of: Gateways
) -> None:
    server.does(decides("technical"))

    assert asyncio.run(routed(node(gateway_of()))) == "billing desk"
    switched = gateway_of(hosted(server.url, "TEAM"))
    assert asyncio.run(routed(node(switched))) == "technical desk"
    assert [one["input"] for one in asked(server)] == ["my invoice"]


@BOTH
@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_leaves_the_node_to_its_function(
    way: str, node: Any, server: Server, gateway_of: Gateways
) -> None:
    gateway = gateway_of(failing(server, way, "TEAM", "technical"))

    assert asyncio.run(routed(node(gateway))) == "billing desk"


@BOTH
def test_a_node_is_about_adk_s_session(node: Any, gateway_of: Gateways) -> None:
    """No plugin is needed: the node is given ADK's context."""
    gateway, watching = gateway_of(), Watching("technical")

    with gateway.override({"TEAM": watching}):
        asyncio.run(routed(node(gateway)))
    assert watching.subjects == [SESSION]


@BOTH
def test_a_node_s_own_route_is_read_for_the_record(node: Any, gateway_of: Gateways) -> None:
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])

    with gateway.override({"TEAM": scripted(Reason.TIMEOUT)}):
        asyncio.run(routed(node(gateway)))
    assert [record.outcome for record in recorder.records] == ["billing"]


def test_where_the_plan_is_current_nothing_is_touched(gateway_of: Gateways) -> None:
    gateway, touched = gateway_of(), []

    def noting(**_: Any) -> str:
        touched.append(1)
        return "my invoice"

    lens = type(ROUTE)(state=noting, session=noting, read=ROUTE.read, write=ROUTE.write)

    @gateway.point("TEAM", TEAM, lens=lens)
    def pick(ctx: Context, node_input: str) -> Event:
        return Event(route="billing")

    assert asyncio.run(routed(pick)) == "billing desk"
    assert touched == []
    with gateway.override({"TEAM": scripted("technical")}):
        assert asyncio.run(routed(pick)) == "technical desk"
    assert touched == [1, 1], "by then both are"


PICTURE = types.Part.from_bytes(data=b"\xff", mime_type="image/png")


class Note(BaseModel):
    said: types.Content


@pytest.mark.parametrize(
    "given",
    [
        types.Content(parts=[PICTURE]),
        types.Content(parts=[types.Part(text="see the picture"), PICTURE]),
        [types.Content(parts=[PICTURE])],
        {"seen": PICTURE},
        Note(said=types.Content(parts=[PICTURE])),
        b"\xff",
        types.Content(parts=[]),
        types.Content(parts=[types.Part(text="hm", thought=True)]),
        " ",
        None,
    ],
    ids=repr,
)
def test_input_of_more_than_words_or_of_none_is_left_to_the_node(
    given: Any, gateway_of: Gateways
) -> None:
    """A provider cannot decide about what it does not see."""
    recorder, says = Recorder(), scripted("technical")
    gateway = gateway_of(observers=[recorder])

    @gateway.point("TEAM", TEAM, lens=ROUTE)
    def pick(node_input: Any) -> Event:
        return Event(route="billing")

    with gateway.override({"TEAM": says}):
        assert pick(node_input=given).actions.route == "billing"
    assert says.asked == []
    assert [record.reason for record in recorder.records] == [Reason.UNSUPPORTED]


def test_a_node_is_shown_content_as_text_and_parameters_by_name(gateway_of: Gateways) -> None:
    gateway, says = gateway_of(), scripted("technical")

    @gateway.point("TEAM", TEAM, lens=ROUTE)
    def raw(node_input: Any) -> Event:
        return Event(route="billing")

    @gateway.point("TEAM_OF_TWO", TEAM, lens=ROUTE)
    def two(ctx: Context, text: str, tries: int) -> Event:
        return Event(route="billing")

    content = types.Content(
        parts=[types.Part(text="a thought", thought=True), types.Part(text="my invoice")]
    )
    with gateway.override({"TEAM": says, "TEAM_OF_TWO": says}), gateway.session("s"):
        raw(node_input=content)
        two(ctx=None, text="help", tries=3)  # type: ignore[arg-type]
    assert [ask.state for ask in says.asked] == [
        "my invoice",
        {"ctx": None, "text": "help", "tries": 3},
    ]


def test_what_adk_reads_of_a_node_is_kept() -> None:
    """frameworks §6.8: ADK reads its name, colour, parameters and annotations."""
    node = FunctionNode(func=pickled)

    assert node.name == "pickled"
    assert node.description == "Decide today."
    assert str(inspect.signature(pickled)) == "(ctx: 'Context', node_input: 'str') -> 'Event'"
    assert not inspect.iscoroutinefunction(pickled)
    assert inspect.iscoroutinefunction(async_node(MODULE))
    assert pickle.loads(pickle.dumps(pickled)) is pickled


def test_every_answer_has_an_edge_and_every_edge_an_answer(gateway_of: Gateways) -> None:
    """frameworks §6.8: ADK checks labels of classifier nodes only; a branch would just end."""
    pick = sync_node(gateway_of())
    check_routes(root(pick), pick)
    check_routes(Workflow(name="all", edges=[(START, pick, billing)]), pick)
    check_routes(Workflow(name="rest", edges=[(START, pick, {"__DEFAULT__": billing})]), pick)
    wrong = Workflow(name="wrong", edges=[(START, pick, {"billing": billing, "legal": technical})])

    with pytest.raises(SetupError) as raised:
        check_routes(wrong, pick)

    assert [fault.problem for fault in raised.value.faults] == [
        "no answer takes the edge 'legal'",
        "the answer 'technical' has no edge",
    ]


# --- a person -----------------------------------------------------------------------------


def human_node(gateway: Gateway) -> FunctionNode:
    """A node that lets a person pick the team where nobody else did."""

    async def pick(ctx: Context, node_input: str) -> Event | RequestInput:
        if (said := ctx.resume_inputs.get("TEAM")) is not None:
            return Event(route=said["team"])
        try:
            decision = await gateway.ask(
                "TEAM", node_input, subject=ctx.session.id, on_undecided="human"
            )
        except HumanNeeded as needed:
            return person_needed(needed, "Which team?")
        return Event(route=decision.value)

    return FunctionNode(func=pick, rerun_on_resume=True)


def test_a_person_decides_where_nobody_else_does(gateway_of: Gateways) -> None:
    """HumanNeeded becomes ADK's own interrupt, and the run goes on with the answer."""
    gateway = gateway_of()
    gateway.asks("TEAM", TEAM)

    async def run() -> tuple[Any, Any]:
        desk = await Desk(root(human_node(gateway))).begun()
        events = await desk.said("my invoice")
        (request,) = [one for event in events for one in event.get_function_calls()]
        said = types.FunctionResponse(
            id=request.id, name=request.name, response={"team": "technical"}
        )
        part = types.Part(function_response=said)
        after = await desk.said(types.Content(role="user", parts=[part]))
        return request, after[-1].output

    with gateway.override({"TEAM": scripted(Reason.TIMEOUT)}):
        request, output = asyncio.run(run())
    assert request.args["message"] == "Which team?"
    assert output == "technical desk"
