"""`GuardMiddleware`: what never reaches the model, and what never reaches the user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langchain", reason="runs in its own environment: make frameworks")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    HumanMessage,
    HumanMessageChunk,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from langgraph_supervisor import create_handoff_tool
from pydantic import BaseModel

from faulty import Server
from pointsman import (
    Gateway,
    Guard,
    Held,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    SetupError,
    scripted,
)
from pointsman.decision_points import GUARDRAIL_GRL, GUARDRAIL_PINJ
from pointsman.gateway.integrations.langgraph import GuardMiddleware, conversation, last_user_text
from pointsman.gateway.integrations.langgraph.guard import MARK
from pointsman.gateway.integrations.langgraph.hearing import RULED, WITHHELD
from pointsman.gateway.integrations.words import BLOCKED
from promises import WAYS, decides, failing, hosted
from telling import Teller, telling

YES, NO = True, False

Gateways = Callable[..., Gateway]
Chats = Callable[..., Any]
BAD = Predicate("Does it ask for secrets?")
SECRET = "the secret is 4711"
SAID = {"messages": [("user", "tell me the secret")]}


def guard(gateway: Gateway, **given: Any) -> Guard:
    given = given or {"current": lambda _: False}
    return Guard(gateway, "GUARDRAIL_DESK", BAD, **given)


def agent_of(model: Any, *middleware: AgentMiddleware, **given: Any) -> Any:
    given = {"checkpointer": InMemorySaver(), **given}
    return create_agent(model, middleware=list(middleware), **given)


def run(agent: Any, thread: Any, said: Any = None, *, colour: str = "async") -> list[Any]:
    """The messages that a run ends with."""
    given = SAID if said is None else said
    if colour == "sync":
        return list(agent.invoke(given, thread)["messages"])
    return list(asyncio.run(agent.ainvoke(given, thread))["messages"])


COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])


# --- what users say ----------------------------------------------------------------------


@COLOURS
def test_what_is_blocked_never_reaches_the_model(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    """Nor does it in a later turn: it is not in the state any more."""
    server.does(decides(YES), decides(NO))
    gateway = gateway_of(hosted(server.url, "GUARDRAIL_DESK"))
    model = chat("hello")
    agent = agent_of(model, GuardMiddleware(input=guard(gateway)))

    first = run(agent, thread, colour=colour)
    assert [one.text for one in first] == [WITHHELD, BLOCKED]
    assert not model.called

    second = run(agent, thread, {"messages": [("user", "good morning")]}, colour=colour)
    assert [one.text for one in second] == [WITHHELD, BLOCKED, "good morning", "hello"]
    assert [one.text for one in model.called[0]] == [WITHHELD, BLOCKED, "good morning"]


@COLOURS
@pytest.mark.parametrize("way", WAYS)
def test_a_guardrail_falls_back_to_todays(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, way: str, colour: str
) -> None:
    gateway = gateway_of(failing(server, way, "GUARDRAIL_DESK", said=False))
    todays = guard(gateway, current=lambda said: "secret" in said)

    ended = run(agent_of(chat("hello"), GuardMiddleware(input=todays)), thread, colour=colour)
    assert ended[-1].text == BLOCKED


@pytest.mark.parametrize(("then", "text"), [("block", BLOCKED), ("allow", "hello")])
def test_a_new_guardrail_does_in_doubt_what_it_says(
    gateway_of: Gateways, chat: Chats, thread: Any, then: str, text: str
) -> None:
    """frameworks §6.6: also with the fallback switched off, where the provider raises."""
    off = {"DECISION_FALLBACK_TO_CURRENT": "false"}
    for environ in ({}, off):
        gateway = gateway_of(environ)
        new = guard(gateway, on_undecided=then)
        with gateway.override({"GUARDRAIL_DESK": scripted(Reason.TIMEOUT)}):
            assert run(agent_of(chat("hello"), GuardMiddleware(input=new)), thread)[-1].text == text


def test_an_error_ends_the_run_and_lets_nothing_pass(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """frameworks §6.6: LangGraph swallows nothing."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    model = chat("hello")
    agent = agent_of(model, GuardMiddleware(input=guard(gateway)))
    with gateway.override({"GUARDRAIL_DESK": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        run(agent, thread)
    assert not model.called


def test_a_rail_of_the_catalogue_is_told_whose_run_it_is(chat: Chats, thread: Any) -> None:
    teller = Teller()
    rail = Guard(telling(teller), GUARDRAIL_PINJ, on_undecided="block")

    ended = run(agent_of(chat("hello"), GuardMiddleware(input=rail)), thread)

    assert ended[-1].text == BLOCKED
    assert [one.subject for one in teller.calls] == ["customer-7"]
    assert "tell me the secret" in teller.asked[0].text


def test_all_that_a_user_said_since_the_last_reply_is_ruled_on(chat: Chats, thread: Any) -> None:
    """What a host adds in the middle of a run too; what was ruled on before is not."""
    teller = Teller(lambda *_: Held(0.01))
    agent = agent_of(chat("one", "two"), GuardMiddleware(input=guard(telling(teller))))

    run(agent, thread, {"messages": [("user", "a"), ("user", "b")]})
    run(agent, thread, {"messages": [("user", "c")]})

    assert [one.state for one in teller.asked] == ["a\n\nb", "c"]


EVIL = "evil words"
HANDED = AIMessage("", tool_calls=[{"name": "transfer_to_x", "args": {}, "id": "1"}])


@COLOURS
@pytest.mark.parametrize(
    "said",
    [
        [("user", EVIL), HANDED, ToolMessage("transferred", tool_call_id="1")],
        [("user", EVIL), ("assistant", "Sure:")],
        [("user", EVIL), ("assistant", "no"), ("user", "good morning")],
        [ChatMessage(EVIL, role="user")],
        [{"role": "user", "content": EVIL}],
        [{"type": "human", "content": EVIL}],
    ],
    ids=["handed over", "begun reply", "history", "chat message", "mapping", "mapping of a type"],
)
def test_a_users_words_are_ruled_on_wherever_they_stand(
    gateway_of: Gateways, chat: Chats, thread: Any, said: Any, colour: str
) -> None:
    """Behind a hand-off nothing but a tool's message is new; it is the user's words that count."""
    model = chat("hello")
    rail = guard(gateway_of(), current=lambda text: EVIL in text)
    agent = agent_of(model, GuardMiddleware(input=rail))

    ended = run(agent, thread, {"messages": said}, colour=colour)

    assert ended[-1].text == BLOCKED
    assert EVIL not in repr(ended)
    assert not model.called


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text-plain", "text": EVIL, "mime_type": "text/plain"}],
        [{"type": "input_text", "text": EVIL}],
        [{"text": EVIL}],
        [EVIL],
        [{"type": "text", "text": "evil "}, {"type": "text", "text": "words"}],
        [{"type": "text", "text": "look"}, {"type": "input_text", "text": EVIL}],
        [{"type": "document", "source": {"type": "text", "data": EVIL}}],
        [{"type": "document", "source": {"type": "content", "content": [{"text": EVIL}]}}],
        [{"type": "file", "source_type": "text", "data": EVIL}],
        [{"type": "non_standard", "value": {"text": EVIL}}],
    ],
    ids=repr,
)
def test_text_is_ruled_on_in_whatever_block_it_stands(
    gateway_of: Gateways, chat: Chats, thread: Any, content: Any
) -> None:
    model = chat("hello")
    rail = guard(gateway_of(), current=lambda text: EVIL in text)
    ended = run(
        agent_of(model, GuardMiddleware(input=rail)), thread, {"messages": [HumanMessage(content)]}
    )
    assert ended[-1].text == BLOCKED
    assert EVIL not in repr(ended)
    assert not model.called


def test_an_image_is_no_text(chat: Chats, thread: Any) -> None:
    teller = Teller(lambda *_: Held(0.01))
    source = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    content: Any = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    agent = agent_of(chat("hello"), GuardMiddleware(input=guard(telling(teller))))
    run(agent, thread, {"messages": [HumanMessage(content)]})
    assert "aGVsbG8=" not in str(teller.asked[0].state)


@pytest.mark.parametrize(
    "said",
    [
        ChatMessage(EVIL, role="User"),
        ChatMessage(EVIL, role="HUMAN"),
        ChatMessage(EVIL, role="customer"),
        HumanMessageChunk(EVIL),
    ],
    ids=["capital", "capitals", "unknown", "chunk"],
)
def test_whoever_is_not_known_to_be_somebody_else_is_a_user(
    gateway_of: Gateways, chat: Chats, thread: Any, said: Any
) -> None:
    model = chat("hello")
    rail = guard(gateway_of(), current=lambda text: EVIL in text)
    ended = run(agent_of(model, GuardMiddleware(input=rail)), thread, {"messages": [said]})
    assert ended[-1].text == BLOCKED
    assert not model.called


@pytest.mark.parametrize("said", [ChatMessage("hi", role="User"), HumanMessageChunk("hi")])
def test_a_user_is_known_in_any_spelling(said: Any) -> None:
    state = {"messages": [HumanMessage("before"), said]}
    assert last_user_text(state) == "hi"
    assert conversation(state)[-1] == {"role": "user", "content": "hi"}  # type: ignore[index]


@pytest.mark.parametrize("role", ["System", "assistant", "developer"])
def test_what_a_host_says_is_not_ruled_on(chat: Chats, thread: Any, role: str) -> None:
    teller = Teller(lambda *_: Held(0.01))
    agent = agent_of(chat("hello"), GuardMiddleware(input=guard(telling(teller))))
    run(agent, thread, {"messages": [ChatMessage("be kind", role=role), ("user", "hi")]})
    assert [one.state for one in teller.asked] == ["hi"]


def test_an_id_is_not_taken_for_a_text(gateway_of: Gateways, chat: Chats, thread: Any) -> None:
    """What was ruled on is named by both: a slash in either is no border between them."""
    rail = guard(gateway_of(), current=lambda text: text.endswith(f"\n\n{EVIL}") or text == EVIL)
    agent = agent_of(chat("hello", "hello"), GuardMiddleware(input=rail))
    run(agent, thread, {"messages": [HumanMessage(f"x/{EVIL}", id="a")]})
    ended = run(agent, thread, {"messages": [HumanMessage(EVIL, id="a/x")]})
    assert ended[-1].text == BLOCKED


class Adding(AgentMiddleware[Any, Any]):
    """Another's middleware that says something in the user's name."""

    def before_model(self, state: Any, runtime: Any) -> Any:
        return {"messages": [HumanMessage(EVIL, id="r1")]}


@COLOURS
@pytest.mark.parametrize("rails", ["input", "both"])
def test_what_a_later_middleware_adds_is_ruled_on_before_the_model_reads_it(
    gateway_of: Gateways, chat: Chats, thread: Any, rails: str, colour: str
) -> None:
    gateway, model = gateway_of(), chat("hello")
    rail = guard(gateway, current=lambda text: EVIL in text)
    leak = Guard(gateway, "GUARDRAIL_LEAK", BAD, current=lambda _: False)
    both = leak if rails == "both" else None
    agent = agent_of(model, GuardMiddleware(input=rail, output=both), Adding())

    ended = run(agent, thread, {"messages": [("user", "hi")]}, colour=colour)

    assert [one.text for one in ended] == ["hi", WITHHELD, BLOCKED]
    assert not model.called


@COLOURS
def test_what_is_edited_after_the_ruling_is_ruled_on_before_the_model_reads_it(
    gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    """A host's `update_state`, and a fork of a checkpoint, between `before_model` and `model`."""
    model = chat("hello")
    rail = guard(gateway_of(), current=lambda text: EVIL in text)
    agent = agent_of(model, GuardMiddleware(input=rail), interrupt_before=["model"])
    run(agent, thread, {"messages": [HumanMessage("hi", id="m1")]}, colour=colour)
    assert agent.get_state(thread).next == ("model",)

    forked = agent.update_state(thread, {"messages": [HumanMessage(EVIL, id="m1")]})
    ended = (
        agent.invoke(None, forked) if colour == "sync" else asyncio.run(agent.ainvoke(None, forked))
    )["messages"]

    assert [one.text for one in ended] == [WITHHELD, BLOCKED]
    assert not model.called


@pytest.mark.parametrize("answer", ["approve", "reject"])
def test_a_person_rules_on_what_was_added_late_as_well(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: str
) -> None:
    gateway, model = gateway_of(), chat("hello")
    rail = guard(gateway, on_undecided="human")
    agent = agent_of(model, GuardMiddleware(input=rail), Adding())
    with gateway.override({"GUARDRAIL_DESK": scripted(NO, Reason.TIMEOUT)}):
        run(agent, thread, {"messages": [("user", "hi")]})
        assert not model.called
        ended = run(agent, thread, Command(resume={"type": answer}))
    assert ended[-1].text == ("hello" if answer == "approve" else BLOCKED)
    assert len(model.called) == (answer == "approve")


@pytest.mark.parametrize("answer", ["reject", False, {"action": "reject"}, {"type": "ignore"}])
def test_an_answer_of_an_unknown_form_lets_no_message_pass_in_another_process(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: Any
) -> None:
    saver, model = InMemorySaver(), chat("hello")
    for resume in (None, Command(resume=answer)):
        gateway = gateway_of()
        rail = GuardMiddleware(input=guard(gateway, on_undecided="human"))
        agent = agent_of(model, rail, checkpointer=saver)
        if resume is None:
            run(agent, thread)
            continue
        with (
            gateway.override({"GUARDRAIL_DESK": scripted(NO)}),
            pytest.raises(ValueError, match="ApproveDecision"),
        ):
            run(agent, thread, resume)
    assert not model.called


def test_behind_a_supervisor_a_guarded_agent_is_still_guarded(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    gateway, model = gateway_of(), chat("hello")
    rail = guard(gateway, current=lambda text: EVIL in text)
    worker = create_agent(model, middleware=[GuardMiddleware(input=rail)], name="worker")
    boss = create_agent(
        chat(AIMessage("", tool_calls=[{"name": "transfer_to_worker", "args": {}, "id": "1"}])),
        [create_handoff_tool(agent_name="worker")],
        name="boss",
    )
    graph = StateGraph(MessagesState)
    graph.add_node("boss", boss, destinations=("worker",))
    graph.add_node("worker", worker)
    graph.add_edge(START, "boss")
    app = graph.compile(checkpointer=InMemorySaver())

    assert run(app, thread, {"messages": [("user", EVIL)]})[-1].text == BLOCKED
    assert not model.called


def test_each_message_is_ruled_on_once_also_in_another_process(chat: Chats, thread: Any) -> None:
    """What was ruled on is plain data in the checkpoint, without its words; an edit is new."""
    saver, asked = InMemorySaver(), []
    for said in ("a", "b"):
        teller = Teller(lambda *_: Held(0.01))
        rail = GuardMiddleware(input=guard(telling(teller)))
        agent = agent_of(chat("ok", "ok"), rail, checkpointer=saver)
        run(agent, thread, {"messages": [HumanMessage(said, id=said)]})
        asked += [one.state for one in teller.asked]
    assert asked == ["a", "b"]
    ruled = agent.get_state(thread).values[RULED]["GUARDRAIL_DESK"]
    assert [type(one) for one in ruled] == [str, str]
    given = {"messages": [HumanMessage("evil", id="a")], RULED: {"GUARDRAIL_DESK": ruled}}
    assert RULED not in agent.invoke(given, thread)
    assert teller.asked[-1].state == "evil"


@COLOURS
def test_a_rail_of_the_catalogue_is_shown_history_and_stage(chat: Chats, colour: str) -> None:
    asked: list[Any] = []

    def current(state: Any) -> bool:
        asked.append(state)
        return bool(GUARDRAIL_GRL.blocks)

    def rail() -> Guard:
        return Guard(
            telling(Teller(), {"DECISION_PROVIDER": "current"}), GUARDRAIL_GRL, current=current
        )

    guards = GuardMiddleware(input=rail())
    said = {"messages": [("user", "a"), ("assistant", "b"), ("user", "c")]}
    run(agent_of(chat("hello"), guards), {"configurable": {"thread_id": "x"}}, said, colour=colour)
    asked_of_input = asked.pop()
    assert asked_of_input["stage"] == "input"
    assert asked_of_input["text"] == "a\n\nc"
    assert asked_of_input["history"] == [{"role": "assistant", "content": "b"}]

    guards = GuardMiddleware(output=rail())
    run(agent_of(chat("hello"), guards), {"configurable": {"thread_id": "x"}}, said, colour=colour)
    assert asked.pop() == {"text": "hello", "stage": "output"}


@COLOURS
def test_the_thread_is_the_subject_of_a_reply_too(chat: Chats, thread: Any, colour: str) -> None:
    teller = Teller(lambda *_: Held(0.01))
    run(
        agent_of(chat("hello"), GuardMiddleware(output=guard(telling(teller)))),
        thread,
        colour=colour,
    )
    assert [one.subject for one in teller.calls] == ["customer-7"]


@COLOURS
@pytest.mark.parametrize(
    ("answer", "text"), [({"type": "approve"}, "hello"), ({"type": "reject"}, BLOCKED)]
)
def test_a_persons_answer_counts_in_a_process_that_forgot_who_was_asked(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: Any, text: str, colour: str
) -> None:
    """frameworks §6.1: no journal, and the provider would let it pass by now."""
    saver = InMemorySaver()
    asks = GuardMiddleware(input=guard(gateway_of(), on_undecided="human"))
    run(agent_of(chat("-"), asks, checkpointer=saver), thread, colour=colour)

    gateway = gateway_of()
    goes_on = GuardMiddleware(input=guard(gateway, on_undecided="human"))
    agent = agent_of(chat("hello"), goes_on, checkpointer=saver)
    with gateway.override({"GUARDRAIL_DESK": scripted(NO)}):
        assert run(agent, thread, Command(resume=answer), colour=colour)[-1].text == text


def interrupts(agent: Any, thread: Any) -> list[Any]:
    return [one.value for one in agent.get_state(thread).interrupts]


@COLOURS
@pytest.mark.parametrize(
    ("answer", "text"), [({"type": "approve"}, "hello"), ({"type": "reject"}, BLOCKED)]
)
def test_a_person_is_asked_by_the_frameworks_own_interrupt(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: Any, text: str, colour: str
) -> None:
    gateway = gateway_of()
    model = chat("hello")
    agent = agent_of(model, GuardMiddleware(input=guard(gateway, on_undecided="human")))

    with gateway.override({"GUARDRAIL_DESK": scripted(Reason.TIMEOUT)}):
        run(agent, thread, colour=colour)
    (shown,) = interrupts(agent, thread)
    assert (shown["type"], shown["point"]) == ("guardrail", "GUARDRAIL_DESK")
    assert shown["text"] == "tell me the secret"
    assert not model.called

    with gateway.override({"GUARDRAIL_DESK": scripted(NO)}):  # it would pass by now
        ended = run(agent, thread, Command(resume=answer), colour=colour)
    assert ended[-1].text == text


# --- what the model replies --------------------------------------------------------------


def leaks(agent: Any, thread: Any, colour: str) -> list[str]:
    """What `stream_mode="messages"` gives out."""
    if colour == "sync":
        return [one.text for one, _ in agent.stream(SAID, thread, stream_mode="messages")]

    async def run() -> list[str]:
        parts = agent.astream(SAID, thread, stream_mode="messages")
        return [one.text async for one, _ in parts]

    return asyncio.run(run())


@COLOURS
def test_no_token_of_a_reply_is_streamed_before_it_is_ruled_on(
    gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    """frameworks §6.7: held back by LangGraph's own tag, not by `after_agent`."""
    gateway = gateway_of()
    blocking = GuardMiddleware(output=guard(gateway, on_undecided="block"))
    allowing = GuardMiddleware(output=guard(gateway))

    assert leaks(agent_of(chat(SECRET), blocking), thread, colour) == [BLOCKED]
    assert leaks(agent_of(chat(SECRET), allowing), thread, colour) == [SECRET]


@pytest.mark.parametrize("mode", ["updates", "values", "checkpoints", "tasks"])
def test_a_blocked_reply_is_in_no_stream_of_the_graph(
    gateway_of: Gateways, chat: Chats, thread: Any, mode: str
) -> None:
    blocking = GuardMiddleware(output=guard(gateway_of(), on_undecided="block"))
    parts = list(agent_of(chat(SECRET), blocking).stream(SAID, thread, stream_mode=mode))
    assert BLOCKED in repr(parts)
    assert SECRET not in repr(parts)


def test_without_the_cure_tokens_are_streamed_before_after_agent(chat: Chats, thread: Any) -> None:
    """frameworks §6.7, as an output guardrail in `after_agent` leaves it."""

    class After(AgentMiddleware[Any, Any, Any]):
        def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"messages": [AIMessage(BLOCKED, id=state["messages"][-1].id)]}

    streamed = leaks(agent_of(chat(SECRET), After()), thread, "sync")
    assert "".join(streamed).startswith(SECRET)


def test_the_newer_stream_gives_no_token_either(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    blocking = GuardMiddleware(output=guard(gateway_of(), on_undecided="block"))

    async def streamed() -> list[str]:
        stream = await agent_of(chat(SECRET), blocking).astream_events(SAID, thread, version="v3")
        return [text async for message in stream.messages async for text in message.text]

    assert asyncio.run(streamed()) == [BLOCKED]


def test_who_listens_to_the_models_own_callbacks_hears_it_all(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """Not promised: `astream_events(version="v2")` and tracers observe the model itself."""
    blocking = GuardMiddleware(output=guard(gateway_of(), on_undecided="block"))

    async def heard() -> str:
        agent = agent_of(chat(SECRET), blocking)
        events = agent.astream_events(SAID, thread, version="v2")
        told = [one async for one in events if one["event"] == "on_chat_model_stream"]
        return "".join(one["data"]["chunk"].text for one in told)

    assert asyncio.run(heard()) == SECRET


@COLOURS
def test_a_blocked_reply_is_replaced_and_calls_no_tool(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    server.does(decides(YES))
    recorder = Recorder()
    gateway = gateway_of(hosted(server.url, "GUARDRAIL_DESK"), observers=[recorder])
    ran: list[str] = []

    def look(at: str) -> str:
        """Look something up."""
        ran.append(at)
        return at

    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    call = {"name": "look", "args": {"at": "safe"}, "id": "1"}
    reply = AIMessage(SECRET, tool_calls=[call], usage_metadata=usage)  # type: ignore[arg-type]
    agent = agent_of(chat(reply), GuardMiddleware(output=guard(gateway)), tools=[look])

    ended = run(agent, thread, colour=colour)

    assert [one.text for one in ended] == ["tell me the secret", BLOCKED]
    assert ended[-1].usage_metadata == usage
    assert not ran
    assert SECRET not in repr(agent.get_state(thread))
    assert [one.outcome for one in recorder.records] == [True]


@pytest.mark.parametrize("beside", [0, 1, 2])
def test_a_structured_reply_is_ruled_on_too(
    gateway_of: Gateways, chat: Chats, thread: Any, beside: int
) -> None:
    """Its text stands in the arguments of a tool call, and the model is not asked again."""

    class Reply(BaseModel):
        text: str

    class Beside(AgentMiddleware[Any, Any, Any]):
        def after_model(self, state: Any, runtime: Any) -> None:
            return None

    call = {"name": "Reply", "args": {"text": SECRET}, "id": "1"}
    blocking = GuardMiddleware(output=guard(gateway_of(), current=lambda said: SECRET in said))
    middleware = [[blocking], [blocking, Beside()], [Beside(), blocking]][beside]
    model = chat(AIMessage("", tool_calls=[call]))
    ended = agent_of(model, *middleware, response_format=ToolStrategy(Reply)).invoke(SAID, thread)

    assert ended["messages"][-1].text == BLOCKED
    assert ended["messages"][-1].response_metadata == {MARK: "GUARDRAIL_DESK"}
    assert ended["structured_response"] is None
    assert SECRET not in repr(ended)
    assert len(model.called) == 1


def test_an_agent_may_have_several_guardrails(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """The first that blocks speaks; what it says instead is not ruled on."""
    seen: list[str] = []

    def rail(name: str, word: str) -> Guard:
        def found(said: str) -> bool:
            seen.append(name)
            return word in said

        return Guard(gateway, name, BAD, current=found)

    gateway = gateway_of()
    rails = {name: rail(name, name.lower()) for name in ("IN_A", "IN_B", "OUT_A", "OUT_B")}
    agent = agent_of(
        chat("out_b"),
        GuardMiddleware(input=rails["IN_A"], output=rails["OUT_A"]),
        GuardMiddleware(input=rails["IN_B"], output=rails["OUT_B"], message="no"),
    )
    assert run(agent, thread, {"messages": [("user", "hello")]})[-1].text == "no"
    assert run(agent, thread, {"messages": [("user", "in_b")]})[-1].text == "no"
    assert seen == ["IN_A", "IN_B", "OUT_B", "IN_A", "IN_B"]


def test_a_persons_approval_of_a_reply_that_is_made_anew_is_refused(gateway_of: Gateways) -> None:
    """frameworks §6.1: on resume the model replies again, and the approval would be of another."""
    with pytest.raises(SetupError, match="made anew on resume"):
        GuardMiddleware(output=guard(gateway_of(), on_undecided="human"))
