"""Hand-offs of the prebuilt supervisor, decided without a call of its model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langgraph_supervisor", reason="runs in its own environment: make frameworks")

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph_supervisor import create_handoff_tool, create_supervisor

from faulty import Server
from pointsman import Gateway, NoAnswer, Reason, Recorder, scripted
from pointsman.gateway.integrations.langgraph import HandoffMiddleware, HandoffModel
from promises import WAYS, decides, failing, hosted
from telling import Teller, telling

Gateways = Callable[..., Gateway]
Chats = Callable[..., Any]
SAID = {"messages": [("user", "my router is dead")]}
COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])

pytestmark = pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10")


def worker(name: str) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("say", lambda _: {"messages": [AIMessage(f"{name} here")]})
    graph.add_edge(START, "say")
    return graph.compile(name=name)


def to(agent: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": f"transfer_to_{agent}", "args": {}, "id": "llm_1"}])


def supervised(model: Any, **given: Any) -> Any:
    graph = create_supervisor([worker("billing"), worker("tech")], model=model, **given)
    return graph.compile(checkpointer=InMemorySaver())


def run(app: Any, thread: Any, colour: str = "async") -> list[str]:
    """Which workers answered, in order."""
    state = app.invoke(SAID, thread) if colour == "sync" else asyncio.run(app.ainvoke(SAID, thread))
    return [one.text.split()[0] for one in state["messages"] if one.text.endswith("here")]


@COLOURS
@pytest.mark.parametrize("given", [{}, {"include_agent_name": "inline", "prompt": "You lead."}])
def test_a_supervisor_hands_over_by_variable_alone(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, colour: str, given: Any
) -> None:
    """Then its model is called only to end, once the worker is back: a user has not spoken."""
    server.does(decides("tech"))

    def went(gateway: Gateway) -> tuple[list[str], int]:
        model = chat(to("billing"), "done")
        wrapped = HandoffModel(gateway, "SUPERVISOR", current=model)
        return run(supervised(wrapped, **given), thread, colour), len(model.called)

    assert went(gateway_of()) == (["billing"], 2)

    switched = gateway_of(hosted(server.url, "SUPERVISOR"))
    model = chat("done")
    app = supervised(HandoffModel(switched, "SUPERVISOR", current=model), **given)
    assert run(app, thread, colour) == ["tech"]
    assert len(model.called) == 1
    assert len(server.seen) == 1


@COLOURS
@pytest.mark.parametrize("way", WAYS)
def test_the_supervisors_model_carries_on_where_nobody_is_sure(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, way: str, colour: str
) -> None:
    recorder = Recorder()
    gateway = gateway_of(failing(server, way, "SUPERVISOR", "tech"), observers=[recorder])
    model = HandoffModel(gateway, "SUPERVISOR", current=chat(to("billing"), "done"))
    assert run(supervised(model), thread, colour) == ["billing"]
    assert [one.outcome for one in recorder.records] == ["billing"]


def test_to_stay_leaves_the_words_to_the_model(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    gateway = gateway_of()
    model = chat("I can answer that.")
    app = supervised(HandoffModel(gateway, "SUPERVISOR", current=model))
    with gateway.override({"SUPERVISOR": scripted("stay")}):
        assert app.invoke(SAID, thread)["messages"][-1].text == "I can answer that."


def test_a_supervisor_decides_about_each_message_of_a_user_once(chat: Chats, thread: Any) -> None:
    """frameworks §6.9: back from a worker, the same words would send it there again, for ever."""
    teller = Teller()
    model = HandoffModel(telling(teller), "SUPERVISOR", current=chat("done", "done"))
    app = supervised(model)

    assert run(app, thread) == ["billing"]
    assert run(app, thread) == ["billing", "billing"]
    assert [one.state for one in teller.asked] == ["my router is dead"] * 2
    assert [one.subject for one in teller.calls] == ["customer-7"] * 2
    (question,) = teller.asked[0].questions.values()
    assert list(question.options) == ["billing", "tech", "stay"]  # type: ignore[union-attr]


def test_the_model_is_bound_and_called_as_it_is_without_us(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """Parallel calls are switched off where the model itself can be told so, and only there."""
    bound: list[Any] = []
    model = chat(to("billing"), "done")

    class Telling(type(model)):  # type: ignore[misc]
        model_name: str = "m"

        def bind_tools(self, tools: Any, *, parallel_tool_calls: Any = None, **given: Any) -> Any:
            bound.append(parallel_tool_calls)
            return self.bind(tools=[{"name": one.name} for one in tools])

    told = Telling(messages=iter([to("billing"), AIMessage("done")]))
    app = supervised(HandoffModel(gateway_of(), "SUPERVISOR", current=told))
    assert run(app, thread) == ["billing"]
    assert bound == [False]


def test_tokens_of_the_model_are_streamed_once(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """The wrapper is no model call of its own: nothing is counted or streamed twice."""
    app = supervised(HandoffModel(gateway_of(), "SUPERVISOR", current=chat("one two")))
    parts = app.stream(SAID, thread, stream_mode="messages", subgraphs=True)
    assert "".join(one.text for _, (one, _) in parts) == "one two"


@tool
def transfer_to_tech(problem: str) -> str:
    """Hand over to the engineers, with a description."""
    return problem


transfer_to_tech.metadata = {"__handoff_destination": "tech"}


@tool
def transfer_to_savings() -> str:
    """Move the money to the savings account."""
    return "moved"


def test_a_tool_that_only_sounds_like_a_handoff_is_the_models(
    gateway_of: Gateways, chat: Chats
) -> None:
    """A hand-off tool says so in its metadata, by which supervisor and swarm know it."""
    gateway, provider = gateway_of(), scripted("savings")
    model: Any = HandoffModel(gateway, "SUPERVISOR", current=chat("done"))
    with gateway.override({"SUPERVISOR": provider}):
        assert model.bind_tools([transfer_to_savings]).invoke("save it").text == "done"
    assert not provider.asked


def test_a_handoff_that_needs_words_is_the_models(gateway_of: Gateways, chat: Chats) -> None:
    gateway = gateway_of()
    model = chat("done")
    bound: Any = HandoffModel(gateway, "SUPERVISOR", current=model).bind_tools([transfer_to_tech])
    with gateway.override({"SUPERVISOR": scripted("tech")}):
        assert bound.invoke([HumanMessage("dead")]).text == "done"


@COLOURS
def test_an_agent_with_handoff_tools_is_switched_by_a_middleware(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    """Not the prebuilt supervisor: `create_agent`, as newer code writes it."""
    server.does(decides("tech"))
    tools = [create_handoff_tool(agent_name=name) for name in ("billing", "tech")]

    def went(gateway: Gateway, *replies: Any) -> list[str]:
        middleware = [HandoffMiddleware(gateway, "SUPERVISOR")]
        supervisor = create_agent(chat(*replies), tools, middleware=middleware, name="supervisor")
        graph = StateGraph(MessagesState)
        graph.add_node("supervisor", supervisor, destinations=("billing", "tech"))
        graph.add_node("billing", worker("billing"))
        graph.add_node("tech", worker("tech"))
        graph.add_edge(START, "supervisor")
        return run(graph.compile(checkpointer=InMemorySaver()), thread, colour)

    assert went(gateway_of(), to("billing")) == ["billing"]
    assert went(gateway_of(hosted(server.url, "SUPERVISOR"))) == ["tech"]


def test_without_a_fallback_a_failing_provider_ends_the_run(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    app = supervised(HandoffModel(gateway, "SUPERVISOR", current=chat("done")))
    with (
        gateway.override({"SUPERVISOR": scripted(Reason.TIMEOUT)}),
        pytest.raises(NoAnswer),
    ):
        run(app, thread)


def test_a_user_is_one_in_whatever_form_a_message_says_so(
    gateway_of: Gateways, chat: Chats
) -> None:
    gateway = gateway_of()
    bound: Any = HandoffModel(gateway, "SUPERVISOR", current=chat("done")).bind_tools(
        [create_handoff_tool(agent_name="tech")]
    )
    for said in (ChatMessage("dead", role="user"), {"role": "user", "content": "dead"}):
        with gateway.override({"SUPERVISOR": scripted("tech")}):
            assert bound.invoke([said]).tool_calls[0]["name"] == "transfer_to_tech"


def failing_once(gateway: Gateway, name: str, model: Any, saver: Any) -> Any:
    """A supervised team whose agent *name* fails the first time, and whose run can be resumed."""
    failed: list[int] = []

    def say(_: Any) -> Any:
        if not failed:
            failed.append(1)
            raise ConnectionError
        return {"messages": [AIMessage(f"{name} here")]}

    graph = StateGraph(MessagesState)
    graph.add_node("say", say)
    graph.add_edge(START, "say")
    other = worker("tech" if name == "billing" else "billing")
    wrapped = HandoffModel(gateway, "SUPERVISOR", current=model)
    supervisor = create_supervisor([graph.compile(name=name), other], model=wrapped)
    return supervisor.compile(checkpointer=saver)


def before_the_decision(app: Any, thread: Any) -> Any:
    """The checkpoint with the user's message, of which the supervisor has seen nothing yet."""
    states = [one for one in app.get_state_history(thread) if one.next == ("supervisor",)]
    return next(one for one in reversed(states) if len(one.values["messages"]) == 1).config


@COLOURS
def test_a_hand_off_stays_where_a_failed_run_is_made_again(
    gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    """frameworks §6.1: the supervisor's turn is run again from the checkpoint before it."""
    gateway, flipped = gateway_of(), scripted("tech")
    app = failing_once(gateway, "billing", chat("done", "done"), InMemorySaver())

    with gateway.override({"SUPERVISOR": scripted("billing")}), pytest.raises(ConnectionError):
        run(app, thread, colour)
    again = before_the_decision(app, thread)
    with gateway.override({"SUPERVISOR": flipped}):
        assert ran_again(app, again, colour) == ["billing"]
    assert flipped.asked == []
    with gateway.override({"SUPERVISOR": flipped}):  # the user says it anew: another question
        assert run(app, thread, colour)[-1] == "tech"


def ran_again(app: Any, config: Any, colour: str) -> list[str]:
    end = app.invoke(None, config) if colour == "sync" else asyncio.run(app.ainvoke(None, config))
    return [one.text.split()[0] for one in end["messages"] if one.text.endswith("here")]


@COLOURS
def test_what_the_model_says_is_never_remembered(
    gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    """frameworks §6.1: only to whom it was handed; who stayed is asked for words again."""
    gateway = gateway_of()
    model = HandoffModel(gateway, "SUPERVISOR", current=chat("first words", "other words"))
    app = supervised(model)
    with gateway.override({"SUPERVISOR": scripted(Reason.TIMEOUT)}):
        run(app, thread, colour)
        again = before_the_decision(app, thread)
        end = app.invoke(None, again)
    assert end["messages"][-1].text == "other words"


def test_where_only_the_model_decides_nothing_is_remembered(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """frameworks §6.1: nobody looks at it then; a provider that comes later decides."""
    gateway = gateway_of()
    app = failing_once(gateway, "billing", chat(to("billing"), "done"), InMemorySaver())
    with pytest.raises(ConnectionError):
        run(app, thread)
    assert gateway.untouched("SUPERVISOR")
    again = before_the_decision(app, thread)
    with gateway.override({"SUPERVISOR": scripted("tech")}):
        assert ran_again(app, again, "sync") == ["tech"]


def test_each_agent_that_is_asked_about_a_message_has_a_hand_off_of_its_own(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """frameworks §6.1: the same message, options and point, but another agent."""
    gateway, provider = gateway_of(), scripted("stay")
    tools = [create_handoff_tool(agent_name=name) for name in ("billing", "tech")]
    graph = StateGraph(MessagesState)
    for name in ("first", "second"):
        middleware = [HandoffMiddleware(gateway, "SUPERVISOR")]
        graph.add_node(name, create_agent(chat("a", "b"), tools, middleware=middleware, name=name))
        graph.add_edge(START, name)
    app = graph.compile(checkpointer=InMemorySaver())

    with gateway.override({"SUPERVISOR": provider}):
        app.invoke(SAID, thread)
        (first,) = [one for one in app.get_state_history(thread) if len(one.next) == 2]
        app.invoke(None, first.config)
    assert len(provider.asked) == 2
