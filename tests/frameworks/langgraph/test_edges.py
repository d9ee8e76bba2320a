"""Edges and nodes of a graph: who decides, about what, for whom, and how often."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import pickle
import threading
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest

pytest.importorskip("langgraph", reason="runs in its own environment: make frameworks")

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from faulty import Server
from pointsman import (
    Choice,
    Chosen,
    Gateway,
    Guard,
    HumanNeeded,
    Predicate,
    Reason,
    Recorder,
    scripted,
)
from pointsman.gateway.integrations.langgraph import (
    COMMAND,
    EDGE,
    FAN_OUT,
    conversation,
    fan_out,
    per_task,
    rejection,
    showing,
)
from promises import WAYS, decides, failing, hosted
from telling import Teller, telling

Gateways = Callable[..., Gateway]
Team = Literal["billing", "tech"]
TEAM = Choice("Which team takes it?", {"billing": "Amounts", "tech": "Faults"})
MODULE = Gateway.from_env({"DECISION_LOG": "off"})
SAID = {"messages": [("user", "hello"), ("assistant", "hi"), ("user", "my router is dead")]}


@MODULE.point("PICKLED", TEAM, lens=EDGE)
def pickled(_: MessagesState) -> Team:
    return "billing"


def graph_of(edge: Any, saver: Any = None) -> Any:
    """A graph of one decision and two places to go."""

    def at(name: str) -> Any:
        return lambda _: {"messages": [AIMessage(name)]}

    graph = StateGraph(MessagesState)
    graph.add_node("billing", at("billing"))
    graph.add_node("tech", at("tech"))
    graph.add_conditional_edges(START, edge)
    return graph.compile(checkpointer=saver)


def gone(state: Any) -> list[str]:
    """Where a graph went, in order of names: branches run side by side."""
    said = (one.text for one in state["messages"] if isinstance(one, AIMessage))
    return sorted(one for one in said if one != "hi")


def routed(gateway: Gateway, **given: Any) -> Any:
    @gateway.point("ROUTER", TEAM, lens=EDGE, **given)
    def route(_: MessagesState) -> Team:
        return "billing"

    return route


def routed_async(gateway: Gateway) -> Any:
    @gateway.point("ROUTER", TEAM, lens=EDGE)
    async def route(_: MessagesState) -> Team:
        return "billing"

    return route


BOTH = pytest.mark.parametrize("of", [routed, routed_async])


# --- a conditional edge ------------------------------------------------------------------


@BOTH
def test_an_edge_switches_by_environment_alone(
    server: Server, gateway_of: Gateways, of: Any
) -> None:
    server.does(decides("tech"))
    today, switched = gateway_of(), gateway_of(hosted(server.url, "ROUTER"))

    assert gone(asyncio.run(graph_of(of(today)).ainvoke(SAID))) == ["billing"]
    assert gone(asyncio.run(graph_of(of(switched)).ainvoke(SAID))) == ["tech"]
    if of is routed:
        assert gone(graph_of(of(today)).invoke(SAID)) == ["billing"]
        assert gone(graph_of(of(switched)).invoke(SAID)) == ["tech"]


@BOTH
@pytest.mark.parametrize("way", WAYS)
def test_an_edge_falls_back_to_todays_function_once(
    server: Server, gateway_of: Gateways, way: str, of: Any
) -> None:
    recorder = Recorder()
    gateway = gateway_of(failing(server, way, "ROUTER", "tech"), observers=[recorder])

    assert gone(asyncio.run(graph_of(of(gateway)).ainvoke(SAID))) == ["billing"]
    (record,) = recorder.records
    assert [one.provider for one in record.attempts] == ["jev", "current"]
    assert record.attempts[0].reason is not Reason.OK


def test_deciders_are_shown_what_a_user_said_last_and_whose_run_it_is(
    thread: dict[str, Any],
) -> None:
    """The subject is the run's `thread_id`, also in a worker thread under `ainvoke`."""
    teller = Teller()
    graph = graph_of(routed(telling(teller)), InMemorySaver())

    graph.invoke(SAID, thread)
    asyncio.run(graph.ainvoke(SAID, {"configurable": {"thread_id": "customer-8"}}))

    assert [one.state for one in teller.asked] == ["my router is dead"] * 2
    assert [one.subject for one in teller.calls] == ["customer-7", "customer-8"]


def test_a_session_is_the_subject_where_a_run_has_no_thread() -> None:
    """frameworks §6.4: the context is kept in LangGraph's worker thread."""
    teller = Teller()
    gateway = telling(teller)
    seen: list[int] = []

    def state(_: MessagesState) -> str:
        seen.append(threading.get_ident())
        return "dead"

    @gateway.point("ROUTER", TEAM, lens=msgspec.structs.replace(EDGE, state=state))
    def route(_: MessagesState) -> Team:
        return "tech"

    async def run() -> None:
        async with gateway.session("ana"):
            assert gone(await graph_of(route).ainvoke(SAID)) == ["billing"]

    asyncio.run(run())
    assert [one.subject for one in teller.calls] == ["ana"]
    assert seen != [threading.get_ident()]


def test_a_wrapped_edge_is_the_function_that_it_was(gateway_of: Gateways) -> None:
    """frameworks §6.8: LangGraph reads the targets off the annotation, and the colour."""
    drawn = graph_of(routed(gateway_of({"DECISION_ROUTER_PROVIDER": "local"}))).get_graph()

    assert {one.target for one in drawn.edges if one.source == START} == {"billing", "tech"}
    assert inspect.iscoroutinefunction(routed_async(gateway_of()))
    assert not inspect.iscoroutinefunction(routed(gateway_of()))
    assert pickle.loads(pickle.dumps(pickled)) is pickled


def test_a_state_without_words_of_a_user_leaves_it_to_todays_function() -> None:
    """A message of an image alone has no text that a decider could be shown."""
    teller = Teller()
    image = {"type": "image", "url": "https://example.org/router.png"}
    said = {"messages": [HumanMessage([image])]}

    assert gone(graph_of(routed(telling(teller))).invoke(said)) == ["billing"]
    assert gone(graph_of(routed(telling(teller))).invoke({"messages": []})) == ["billing"]
    assert not teller.asked


def test_deciders_can_be_shown_the_conversation_or_chosen_keys() -> None:
    teller = Teller()
    gateway = telling(teller)
    lens = msgspec.structs.replace(EDGE, state=conversation)
    call = {"name": "look", "args": {"at": "router"}, "id": "1"}

    @gateway.point("TALK", TEAM, lens=lens)
    def talk(_: MessagesState) -> Team:
        return "billing"

    @gateway.point("KEYS", TEAM, lens=showing(EDGE, "plan", "region"))
    def keys(_: dict[str, Any]) -> Team:
        return "billing"

    talk({"messages": [HumanMessage("hello"), AIMessage("hi", tool_calls=[call])]})
    keys({"plan": "gold", "region": "north", "card": "4111"})

    assert teller.asked[0].state == [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": "hi",
            "tool_calls": [{"name": "look", "args": {"at": "router"}}],
        },
    ]
    assert teller.asked[1].state == {"plan": "gold", "region": "north"}


# --- a node that returns a command -------------------------------------------------------


def commanded(gateway: Gateway, *, colour: str) -> Any:
    if colour == "async":

        @gateway.point("SUPERVISOR", TEAM, lens=COMMAND)
        async def supervise(_: MessagesState) -> Command[Team]:
            return Command(goto="billing", update={"messages": [AIMessage("noted")]})

        return supervise

    @gateway.point("SUPERVISOR", TEAM, lens=COMMAND)
    def supervise_sync(_: MessagesState) -> Command[Team]:
        return Command(goto="billing", update={"messages": [AIMessage("noted")]})

    return supervise_sync


def supervised(node: Any, saver: Any = None) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("supervisor", node)
    graph.add_node("billing", lambda _: {"messages": [AIMessage("billing")]})
    graph.add_node("tech", lambda _: {"messages": [AIMessage("tech")]})
    graph.add_edge(START, "supervisor")
    return graph.compile(checkpointer=saver)


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_node_that_commands_switches_and_falls_back(
    server: Server, gateway_of: Gateways, colour: str
) -> None:
    server.does(decides("tech"))
    switched = gateway_of(hosted(server.url, "SUPERVISOR"))
    recorder = Recorder()

    async def run(gateway: Gateway) -> list[str]:
        return gone(await supervised(commanded(gateway, colour=colour)).ainvoke(SAID))

    assert asyncio.run(run(switched)) == ["tech"]
    assert asyncio.run(run(gateway_of(observers=[recorder]))) == ["billing", "noted"]
    assert [one.outcome for one in recorder.records] == ["billing"]
    failed = gateway_of(failing(server, "500", "SUPERVISOR", "tech"))
    assert asyncio.run(run(failed)) == ["billing", "noted"]


# --- several targets ---------------------------------------------------------------------


def fanned(gateway: Gateway, *, to: Any = None, colour: str = "sync") -> Any:
    wrapped: Any
    if colour == "async":

        @gateway.point("INTENTS", TEAM, lens=FAN_OUT)
        async def intents(_: MessagesState) -> list[Team]:
            return ["billing"]

        wrapped = intents
    else:

        @gateway.point("INTENTS", TEAM, lens=FAN_OUT)
        def intents_sync(_: MessagesState) -> list[Team]:
            return ["billing"]

        wrapped = intents_sync
    return fan_out(gateway, least=0.2, to=to)(wrapped)


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_under_current_a_fan_out_reads_nothing_of_the_state(
    gateway_of: Gateways, colour: str
) -> None:
    """What the function returns comes back as the very object; a provider is shown the state."""
    gateway = gateway_of()
    edge, touched, state = fanned(gateway, colour=colour), [], HumanMessage("my bill")

    class Noting(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            touched.append(key)
            return super().get(key, default)

    def gone_to() -> Any:
        given = Noting(messages=[state])
        return edge(given) if colour == "sync" else asyncio.run(edge(given))

    assert gone_to() == ["billing"]
    assert touched == []
    with gateway.override({"INTENTS": scripted("tech")}):
        assert gone_to() == ["tech"]
    assert touched == ["messages"]


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_an_edge_goes_to_all_that_is_likely_enough(gateway_of: Gateways, colour: str) -> None:
    gateway = gateway_of()
    edge = fanned(gateway, colour=colour)
    graph = graph_of(edge)

    def ran(spread: dict[str, float]) -> list[str]:
        said = Chosen(max(spread, key=spread.__getitem__), spread, 0.9)
        with gateway.override({"INTENTS": scripted(said)}):
            return gone(asyncio.run(graph.ainvoke(SAID)))

    assert ran({"tech": 0.7, "billing": 0.3}) == ["billing", "tech"]
    assert ran({"tech": 0.9, "billing": 0.1}) == ["tech"]
    assert ran({"tech": 0.8, "billing": 0.2}) == ["billing", "tech"]  # just enough
    with gateway.override({"INTENTS": scripted(Reason.TIMEOUT)}):
        assert gone(asyncio.run(graph.ainvoke(SAID))) == ["billing"]
    assert gone(asyncio.run(graph.ainvoke(SAID))) == ["billing"]
    assert edge.__annotations__ == edge.__wrapped__.__annotations__
    assert inspect.iscoroutinefunction(edge) == (colour == "async")


def test_an_edge_can_send_each_target_a_state_of_its_own(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    def to(option: str, state: Any) -> Send:
        return Send(option, {"messages": state["messages"][-1:]})

    spread = {"tech": 0.6, "billing": 0.4}
    with gateway.override({"INTENTS": scripted(Chosen("tech", spread, 0.9))}):
        assert gone(graph_of(fanned(gateway, to=to)).invoke(SAID)) == ["billing", "tech"]


def test_several_predicates_are_one_decision_of_several_targets(gateway_of: Gateways) -> None:
    """A predicate for each target is asked in one go; any that nobody is sure of leaves all."""
    asked = {"billing": Predicate("Is it about money?"), "tech": Predicate("Is it a fault?")}
    gateway = gateway_of()

    @gateway.point(
        "INTENTS",
        asked,
        lens=EDGE,
        write=lambda held: [name for name, one in held.items() if one],
    )
    def intents(_: MessagesState) -> list[Team]:
        return ["billing"]

    provider = scripted({"billing": True, "tech": True})
    with gateway.override({"INTENTS": provider}):
        assert gone(graph_of(intents).invoke(SAID)) == ["billing", "tech"]
    assert len(provider.asked) == 1


class Unread(dict[str, Any]):
    """A state that tells who looks into it."""

    def __init__(self) -> None:
        super().__init__(messages=[HumanMessage("dead")])
        self.looked: list[object] = []

    def get(self, key: str, default: Any = None) -> Any:
        self.looked.append(key)
        return super().get(key, default)


@pytest.mark.parametrize(
    "of", [routed, routed_async, fanned, lambda one: fanned(one, colour="async")]
)
def test_nothing_of_the_state_is_read_where_todays_function_decides(
    gateway_of: Gateways, of: Any
) -> None:
    state = Unread()
    gone_to = of(gateway_of())(state)
    gone_to = asyncio.run(gone_to) if inspect.iscoroutine(gone_to) else gone_to
    assert gone_to in ("billing", ["billing"])
    assert not state.looked


# --- resumed -----------------------------------------------------------------------------


class Case(TypedDict, total=False):
    """A state without messages."""

    text: str
    team: str


def interrupted(gateway: Gateway, **given: Any) -> tuple[Any, list[str]]:
    """A node that decides, and asks a person afterwards."""
    decided: list[str] = []

    @gateway.point("ROUTER", TEAM, lens=showing(EDGE, "text"), **given)
    def route(_: Case) -> Team:
        return "billing"

    def node(state: Case) -> Case:
        team = route(state)
        decided.append(team)
        interrupt({"to": team})
        return {"team": team}

    graph = StateGraph(Case)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile(checkpointer=InMemorySaver()), decided


def resumed(gateway: Gateway, thread: dict[str, Any], **given: Any) -> list[str]:
    """What a node decided at first and when it was resumed; the provider changes its mind."""
    graph, decided = interrupted(gateway, **given)
    with gateway.override({"ROUTER": scripted("billing")}):
        graph.invoke({"text": "my router is dead"}, thread)
    with gateway.override({"ROUTER": scripted("tech")}):
        assert graph.invoke(Command(resume="yes"), thread)["team"] == decided[-1]
    return decided


def test_a_node_that_is_interrupted_decides_anew_on_resume(
    gateway_of: Gateways, thread: dict[str, Any]
) -> None:
    """frameworks §6.1, without the cure: a person approved of what is not done."""
    assert resumed(gateway_of(), thread) == ["billing", "tech"]


def test_a_decision_stands_for_its_task_over_a_resume(
    gateway_of: Gateways, thread: dict[str, Any]
) -> None:
    """frameworks §6.1, with it."""
    once = per_task(showing(EDGE, "text"))
    assert resumed(gateway_of(), thread, once=once) == ["billing", "billing"]


def test_the_next_turn_of_a_thread_is_another_task(
    gateway_of: Gateways, thread: dict[str, Any]
) -> None:
    gateway = gateway_of()
    graph, decided = interrupted(gateway, once=per_task(showing(EDGE, "text")))
    with gateway.override({"ROUTER": scripted("billing", "tech")}):
        for _ in range(2):
            graph.invoke({"text": "my router is dead"}, thread)
            graph.invoke(Command(resume="yes"), thread)
    assert decided == ["billing", "billing", "tech", "tech"]


def test_outside_of_a_graph_nothing_is_remembered(gateway_of: Gateways) -> None:
    """The wrapped function can be called by hand, in a test or a notebook."""
    gateway = gateway_of()
    route = routed(gateway, once=per_task(EDGE))
    with gateway.override({"ROUTER": scripted("billing", "tech")}):
        said = {"messages": [HumanMessage("dead")]}
        assert [route(said), route(said)] == ["billing", "tech"]


@pytest.mark.parametrize("provider", [{}, {"DECISION_ROUTER_PROVIDER": "local"}])
def test_a_decision_without_words_is_todays_and_is_not_remembered(
    gateway_of: Gateways, thread: dict[str, Any], provider: dict[str, str]
) -> None:
    """A graph that ran without any variable runs with `once` too."""
    route = routed(gateway_of(provider), once=per_task(EDGE))
    graph = StateGraph(Case)
    graph.add_node("node", lambda state: {"team": route(state)})
    graph.add_edge(START, "node")
    app = graph.compile(checkpointer=InMemorySaver())
    assert app.invoke({"text": "my router is dead"}, thread)["team"] == "billing"


@pytest.mark.parametrize("first", ["provider", "today"])
def test_a_fan_out_stands_though_its_provider_is_switched_by_the_resume(
    gateway_of: Gateways, thread: dict[str, Any], first: str
) -> None:
    """frameworks §6.1: the same targets come back, each with its state."""
    gateway = gateway_of()
    gone_to: list[list[tuple[str, Any]]] = []

    @fan_out(gateway, least=0.2, to=lambda option, state: Send(option, {"of": state["text"]}))
    @gateway.point(
        "INTENTS", TEAM, lens=showing(FAN_OUT, "text"), once=per_task(showing(FAN_OUT, "text"))
    )
    def intents(state: Case) -> list[Send]:
        return [Send("billing", {"of": state["text"]})]

    def node(state: Case) -> Case:
        gone_to.append([(one.node, one.arg) for one in intents(state)])
        interrupt("go on?")
        return {}

    graph = StateGraph(Case)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    app = graph.compile(checkpointer=InMemorySaver())
    spread = {"tech": 0.6, "billing": 0.4}
    switched = {"INTENTS": scripted(Chosen("tech", spread, 0.9))}
    for given, on in (({"text": "dead"}, "provider"), (Command(resume="yes"), "today")):
        with gateway.override(switched if on == first else {}):
            app.invoke(given, thread)

    both = [("tech", {"of": "dead"}), ("billing", {"of": "dead"})]
    assert gone_to == [both if first == "provider" else both[1:]] * 2


# --- what LangGraph gives a function besides ---------------------------------------------


@dataclasses.dataclass
class Desk:
    """A state that is no mapping."""

    messages: Annotated[list[AnyMessage], add_messages]


class Model(BaseModel):
    """One that checks itself."""

    messages: Annotated[list[AnyMessage], add_messages]


@pytest.mark.parametrize("schema", [MessagesState, Desk, Model])
def test_a_state_may_have_any_form_that_langgraph_takes(schema: Any, thread: Any) -> None:
    teller = Teller()

    @telling(teller).point("ROUTER", TEAM, lens=EDGE)
    def route(_: Any) -> Team:
        return "tech"

    graph = StateGraph(schema)
    for name in ("billing", "tech"):
        graph.add_node(name, lambda _: {})
    graph.add_conditional_edges(START, route)
    graph.compile().invoke(SAID, thread)

    assert [one.state for one in teller.asked] == ["my router is dead"]


def test_a_wrapped_node_is_still_given_its_runtime_and_config(
    gateway_of: Gateways, thread: Any
) -> None:
    """frameworks §6.8: LangGraph looks for them in the signature."""
    seen: list[Any] = []

    @gateway_of().point("SUPERVISOR", TEAM, lens=COMMAND)
    def supervise(
        _: MessagesState, config: RunnableConfig, runtime: Runtime[None]
    ) -> Command[Team]:
        seen.extend([config["configurable"]["thread_id"], runtime.execution_info])
        return Command(goto="tech")

    assert gone(supervised(supervise, InMemorySaver()).invoke(SAID, thread)) == ["tech"]
    assert seen[0] == "customer-7"
    assert seen[1] is not None


@pytest.mark.parametrize(
    ("answer", "done"), [({"type": "approve"}, "paid"), ({"type": "reject"}, "not paid")]
)
def test_a_node_of_your_own_can_leave_it_to_a_person(
    gateway_of: Gateways, thread: Any, answer: Any, done: str
) -> None:
    gateway = gateway_of()
    refund = Guard(gateway, "REFUND", Predicate("Is it too much?"), on_undecided="human")

    def node(state: Case) -> Case:
        try:
            blocked = refund.rule_sync(state["text"]).blocked
        except HumanNeeded as needed:
            blocked = rejection(needed, {"type": "refund", "text": state["text"]}) is not None
        return {"team": "not paid" if blocked else "paid"}

    graph = StateGraph(Case)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    app = graph.compile(checkpointer=InMemorySaver())
    app.invoke({"text": "900 euros"}, thread)
    (asked,) = app.get_state(thread).interrupts
    assert asked.value["point"] == "REFUND"
    assert app.invoke(Command(resume=answer), thread)["team"] == done


class Router:
    """An object with attributes of the names that states have too."""

    messages = (HumanMessage("not this"),)
    text = "not this"

    def route(self, _: Any) -> Team:
        return "billing"

    async def route_async(self, _: Any) -> Team:
        return "billing"


@dataclasses.dataclass
class RouterOfData(Router):
    """One that looks like a state itself."""


@pytest.mark.parametrize("of", [Router, RouterOfData])
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_method_is_shown_the_graphs_state_and_not_its_object(of: Any, colour: str) -> None:
    teller = Teller()
    gateway = telling(teller)
    name = "route" if colour == "sync" else "route_async"
    words = gateway.point("ROUTER", TEAM, lens=EDGE)(getattr(of, name))
    keys = gateway.point("KEYS", TEAM, lens=showing(EDGE, "text"))(getattr(of, name))

    class Wrapped(of):  # type: ignore[misc]
        by_words, by_keys = words, keys

    asyncio.run(graph_of(Wrapped().by_words).ainvoke(SAID))
    gone_to = Wrapped().by_keys({"text": "dead"})
    if inspect.iscoroutine(gone_to):
        asyncio.run(gone_to)
    assert [one.state for one in teller.asked] == ["my router is dead", "dead"]


def test_a_method_whose_state_has_no_words_is_todays_to_answer() -> None:
    teller = Teller()
    words = telling(teller).point("ROUTER", TEAM, lens=EDGE)(Router.route)
    assert words(Router(), {"messages": []}) == "billing"
    assert words(RouterOfData(), {"messages": []}) == "billing"
    assert words(Router(), {"text": "dead"}) == "billing"
    assert not teller.asked
