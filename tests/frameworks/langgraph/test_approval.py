"""Tool approvals: what runs, what a person decides, and what stands when a run is resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langchain", reason="runs in its own environment: make frameworks")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send, interrupt

from faulty import Server, hangs
from pointsman import Gateway, Guard, NoAnswer, Predicate, Reason, Recorder, SetupError, scripted
from pointsman.gateway.integrations.langgraph import (
    TOOL_CALL,
    ApprovalMiddleware,
    approval_when,
)
from pointsman.gateway.integrations.langgraph.approval import ALONE
from pointsman.gateway.integrations.words import REFUSED
from promises import WAYS, decides, failing, hosted, ran
from telling import AsyncTeller, Teller, telling

YES, NO = True, False

Gateways = Callable[..., Gateway]
Chats = Callable[..., Any]
RISKY = Predicate("Does this tool call do what the user did not ask for?")
SAID = {"messages": [("user", "delete the old file")]}
COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])
REJECT = {"type": "reject", "message": "not that one"}


class Disk:
    """A tool that does harm, and an agent that calls it."""

    def __init__(self, chat: Chats, *middleware: AgentMiddleware, **given: Any) -> None:
        self.deleted: list[str] = []

        def delete(path: str) -> str:
            """Delete a file."""
            self.deleted.append(path)
            return "deleted"

        def look(path: str) -> str:
            """Look at a file."""
            return f"seen {path}"

        replies = given.pop("replies", [calling({"path": "/old"}), "done"])
        self.model = chat(*replies)
        self.saver = given.pop("saver", None) or InMemorySaver()
        saver = None if given.pop("unsaved", False) else self.saver
        tools = [given.pop("tool", delete), look]
        self.agent = create_agent(
            self.model, tools, middleware=list(middleware), checkpointer=saver
        )

    def run(self, thread: Any, said: Any = None, *, colour: str = "async") -> list[Any]:
        given = SAID if said is None else said
        if colour == "sync":
            return list(self.agent.invoke(given, thread)["messages"])
        return list(asyncio.run(self.agent.ainvoke(given, thread))["messages"])

    def pending(self, thread: Any) -> list[Any]:
        return [one.value for one in self.agent.get_state(thread).interrupts]


def calling(*args: dict[str, Any], name: str = "delete", call_id: str = "call_1") -> AIMessage:
    calls = [
        {"name": name, "args": one, "id": f"{call_id}{at or ''}"} for at, one in enumerate(args)
    ]
    return AIMessage("", tool_calls=calls)


def told(messages: list[Any]) -> list[tuple[str, str]]:
    return [(one.status, one.text) for one in messages if isinstance(one, ToolMessage)]


def guard(gateway: Gateway, **given: Any) -> Guard:
    return Guard(gateway, "TOOL_GATE", RISKY, **(given or {"current": lambda _: False}))


# --- the middleware ----------------------------------------------------------------------


@COLOURS
def test_a_blocked_tool_does_not_run_and_the_model_is_told(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    server.does(decides(YES))
    switched = gateway_of(hosted(server.url, "TOOL_GATE"))
    for gateway, status in ((gateway_of(), "success"), (switched, "error")):
        disk = Disk(chat, ApprovalMiddleware(guard(gateway)))
        ended = disk.run(thread, colour=colour)
        assert told(ended) == [(status, "deleted" if status == "success" else REFUSED)]
        assert disk.deleted == (["/old"] if status == "success" else [])
        assert ended[-1].text == "done"


@COLOURS
@pytest.mark.parametrize("way", WAYS)
def test_an_approval_falls_back_to_todays(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, way: str, colour: str
) -> None:
    gateway = gateway_of(failing(server, way, "TOOL_GATE", said=False))
    todays = guard(gateway, current=lambda state: state["arguments"]["path"] == "/old")
    disk = Disk(chat, ApprovalMiddleware(todays))
    assert told(disk.run(thread, colour=colour)) == [("error", REFUSED)]


def test_deciders_are_shown_the_call_and_what_the_user_asked_for(chat: Chats, thread: Any) -> None:
    teller = Teller()
    only = ApprovalMiddleware(guard(telling(teller)), tools=["delete"])
    disk = Disk(
        chat,
        only,
        replies=[
            calling({"path": "/a"}, name="look"),
            calling({"path": "/old"}, call_id="c2"),
            "done",
        ],
    )

    disk.run(thread)

    (asked,), (call,) = teller.asked, teller.calls
    assert asked.state == {
        "tool": "delete",
        "arguments": {"path": "/old"},
        "user": "delete the old file",
    }
    assert call.subject == "customer-7"


@COLOURS
@pytest.mark.parametrize("answer", [{"type": "approve"}, REJECT])
def test_a_person_decides_by_the_frameworks_own_interrupt(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: Any, colour: str
) -> None:
    """The provider would allow it by the time of the resume: it stays the person's to decide."""
    gateway = gateway_of()
    disk = Disk(chat, ApprovalMiddleware(guard(gateway, on_undecided="human")))
    with gateway.override({"TOOL_GATE": scripted(Reason.TIMEOUT)}):
        disk.run(thread, colour=colour)
    (shown,) = disk.pending(thread)
    assert not disk.deleted
    assert {name: shown[name] for name in ("type", "tool_call_id", "name", "args")} == {
        "type": "tool_approval",
        "tool_call_id": "call_1",
        "name": "delete",
        "args": {"path": "/old"},
    }

    with gateway.override({"TOOL_GATE": scripted(NO)}):
        ended = disk.run(thread, Command(resume=answer), colour=colour)

    approved = answer is not REJECT
    assert told(ended) == [("success", "deleted") if approved else ("error", "not that one")]
    assert disk.deleted == (["/old"] if approved else [])


def test_an_answer_that_is_none_can_be_given_again(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """LangGraph checks a person's answer before it is kept."""
    disk = Disk(chat, ApprovalMiddleware(guard(gateway_of(), on_undecided="human")))
    disk.run(thread)
    with pytest.raises(ValueError, match="type"):
        disk.run(thread, Command(resume={"type": "perhaps"}))
    assert told(disk.run(thread, Command(resume=REJECT))) == [("error", "not that one")]


def test_each_call_of_a_message_is_ruled_on_by_itself(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """Also where a model gives two calls one id: other arguments are another question."""
    gateway = gateway_of()
    reply = calling({"path": "/old"}, {"path": "/new"})
    reply.tool_calls[1]["id"] = reply.tool_calls[0]["id"]
    asked = guard(gateway, current=lambda state: state["arguments"]["path"] == "/new")
    disk = Disk(chat, ApprovalMiddleware(asked), replies=[reply, "done"])
    disk.run(thread)
    assert disk.deleted == ["/old"]


def test_a_ruling_does_not_stand_for_a_later_call_of_the_same_id(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """Models count their calls from 1 in every turn."""
    gateway = gateway_of()
    replies = [calling({"path": "/old"}), "done", calling({"path": "/old"}), "done"]
    disk = Disk(chat, ApprovalMiddleware(guard(gateway)), replies=replies)
    with gateway.override({"TOOL_GATE": scripted(NO, YES)}):
        disk.run(thread)
        disk.run(thread)
    assert disk.deleted == ["/old"]


def test_calls_side_by_side_are_reviewed_one_by_one(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """As in LangChain's own per-call mode: answers are keyed by the interrupt's id."""
    replies = [calling({"path": "/old"}, {"path": "/new"}), "done"]
    human = ApprovalMiddleware(guard(gateway_of(), on_undecided="human"))
    disk = Disk(chat, human, replies=replies)
    disk.run(thread)
    waiting = disk.agent.get_state(thread).interrupts
    assert sorted(one.value["args"]["path"] for one in waiting) == ["/new", "/old"]

    approve = {"type": "approve"}
    answers = {one.id: REJECT if "/old" in str(one.value) else approve for one in waiting}
    disk.run(thread, Command(resume=answers))
    assert disk.deleted == ["/new"]


def test_a_tool_does_not_run_where_the_ruling_fails(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """frameworks §6.6: with the fallback switched off the run ends; nothing is swallowed."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    disk = Disk(chat, ApprovalMiddleware(guard(gateway)))
    with gateway.override({"TOOL_GATE": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        disk.run(thread)
    assert disk.deleted == []


# --- what a person said comes first ------------------------------------------------------


@COLOURS
@pytest.mark.parametrize("answer", [{"type": "approve"}, REJECT])
def test_a_persons_answer_counts_in_a_process_that_forgot_who_was_asked(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: Any, colour: str
) -> None:
    """frameworks §6.1: no journal, and the provider would let it pass by now."""
    asks = Disk(chat, ApprovalMiddleware(guard(gateway_of(), on_undecided="human")))
    asks.run(thread, colour=colour)

    gateway = gateway_of()
    human = ApprovalMiddleware(guard(gateway, on_undecided="human"))
    goes_on = Disk(chat, human, saver=asks.saver, replies=["done"])
    with gateway.override({"TOOL_GATE": scripted(NO)}):
        ended = goes_on.run(thread, Command(resume=answer), colour=colour)

    approved = answer is not REJECT
    assert told(ended) == [("success", "deleted") if approved else ("error", "not that one")]
    assert goes_on.deleted == (["/old"] if approved else [])


@COLOURS
@pytest.mark.parametrize(
    "answer",
    ["reject", False, [{"type": "reject"}], {"type": "accept"}, {"action": "reject"}],
    ids=repr,
)
def test_an_answer_of_an_unknown_form_lets_nothing_run_in_another_process(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: Any, colour: str
) -> None:
    """frameworks §6.1: LangGraph refuses it, as in one process, and it can be given again."""
    asks = Disk(chat, ApprovalMiddleware(guard(gateway_of(), on_undecided="human")))
    asks.run(thread, colour=colour)

    gateway = gateway_of()
    human = ApprovalMiddleware(guard(gateway, on_undecided="human"))
    goes_on = Disk(chat, human, saver=asks.saver, replies=["done"])
    with gateway.override({"TOOL_GATE": scripted(NO)}):
        with pytest.raises(ValueError, match="ApproveDecision"):
            goes_on.run(thread, Command(resume=answer), colour=colour)
        ended = goes_on.run(thread, Command(resume=REJECT), colour=colour)
    assert told(ended) == [("error", "not that one")]
    assert goes_on.deleted == []


def test_an_answer_counts_once_in_a_graph_within_a_graph(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """LangGraph shows it to later tasks of the inner graph too: they ask nobody for it."""
    saver, first = InMemorySaver(), calling({"path": "/old"})
    for resume in (None, Command(resume={"type": "approve"})):
        gateway = gateway_of()
        human = ApprovalMiddleware(guard(gateway, on_undecided="human"))
        later = [calling({"path": "/new"}, call_id="c2"), "done"]
        disk = Disk(chat, human, replies=later if resume else [first], unsaved=True)
        outer = StateGraph(MessagesState)
        outer.add_node("agent", disk.agent)
        outer.add_edge(START, "agent")
        app = outer.compile(checkpointer=saver)
        with gateway.override({"TOOL_GATE": scripted(NO if resume else Reason.TIMEOUT)}):
            ended = app.invoke(resume or SAID, thread)
    assert "__interrupt__" not in ended
    assert disk.deleted == ["/old", "/new"]


def asking_tool(got: list[Any]) -> Callable[[str], str]:
    def delete(path: str) -> str:
        """Delete a file, once it is known why."""
        got.append(interrupt({"why": path}))
        return "deleted"

    return delete


def test_a_tool_that_asks_by_itself_gets_its_own_answer(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """Also where each step is another process, without a journal; it never gets ours."""
    saver, got = InMemorySaver(), []
    resumes = (None, Command(resume={"type": "approve"}), Command(resume={"type": "old"}))
    for replies, resume in zip(
        ([calling({"path": "/old"})], ["-"], ["done"]), resumes, strict=True
    ):
        gateway = gateway_of()
        human = ApprovalMiddleware(guard(gateway, on_undecided="human"))
        disk = Disk(chat, human, saver=saver, replies=replies, tool=asking_tool(got))
        with gateway.override({"TOOL_GATE": scripted(NO if resume else Reason.TIMEOUT)}):
            disk.run(thread, resume)
    assert got == [{"type": "old"}]


def test_a_persons_answer_stays_theirs_when_the_task_is_run_again(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """The process that took it has a ruling by then, which would need nobody."""
    got: list[Any] = []
    asks = Disk(chat, ApprovalMiddleware(guard(gateway_of(), on_undecided="human")))
    asks.run(thread)

    gateway = gateway_of()
    human = ApprovalMiddleware(guard(gateway, on_undecided="human"))
    goes_on = Disk(chat, human, saver=asks.saver, replies=["done"], tool=asking_tool(got))
    with gateway.override({"TOOL_GATE": scripted(NO)}):
        for answer in ({"type": "approve"}, {"type": "old"}):
            goes_on.run(thread, Command(resume=answer))
    assert got == [{"type": "old"}]


@pytest.mark.parametrize("answer", [REJECT, {"type": "old"}])
def test_where_nobody_was_needed_the_tools_own_question_stays_its_own(
    gateway_of: Gateways, chat: Chats, thread: Any, answer: Any
) -> None:
    gateway, got = gateway_of(), []
    human = ApprovalMiddleware(guard(gateway, on_undecided="human"))
    disk = Disk(chat, human, tool=asking_tool(got))
    with gateway.override({"TOOL_GATE": scripted(NO)}):
        disk.run(thread)
        disk.run(thread, Command(resume=answer))
    assert got == [answer]


def test_a_persons_no_counts_though_the_task_runs_a_third_time(
    gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """Two rails: the second asks a person as well, and the first is ruled on again for it."""
    saver = InMemorySaver()
    for at, resume in enumerate((None, {"type": "approve"}, REJECT)):
        gateway = gateway_of()
        rails = [
            ApprovalMiddleware(Guard(gateway, name, RISKY, on_undecided="human"))
            for name in ("FIRST", "SECOND")
        ]
        replies = ["done"] if at else [calling({"path": "/old"})]
        disk = Disk(chat, *rails, saver=saver, replies=replies)
        said = scripted(NO if at else Reason.TIMEOUT)
        with gateway.override({"FIRST": said, "SECOND": said}):
            ended = disk.run(thread, resume and Command(resume=resume))
        assert disk.deleted == []
    assert told(ended) == [("error", "not that one")]


# --- which tools -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tools", "told"), [("delete", r"tools=\['delete'\]"), ([], "names no tool")]
)
def test_names_that_guard_nothing_are_refused(gateway_of: Gateways, tools: Any, told: str) -> None:
    """Each letter of a text would be a name, and its tool would run unruled."""
    with pytest.raises(SetupError, match=told):
        ApprovalMiddleware(guard(gateway_of()), tools=tools)


def test_a_name_that_no_tool_has_is_told_at_first_use(
    gateway_of: Gateways, chat: Chats, thread: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    gateway = gateway_of({"DECISION_LOG": "json"})
    wrong = ApprovalMiddleware(guard(gateway), tools=["delete", "delte"])
    twice = [calling({"path": "/old"}), calling({"path": "/new"}, call_id="c2"), "done"]
    Disk(chat, wrong, replies=twice).run(thread)
    told = capfd.readouterr().err
    assert told.count('"langgraph.tool_unknown"') == 1
    assert '"tools":["delte"]' in told


# --- the framework's own `when` ----------------------------------------------------------


def asking(when: Callable[..., bool], mode: str) -> Any:
    on = {"delete": {"allowed_decisions": ["approve", "reject"], "when": when}}
    return HumanInTheLoopMiddleware(on, interrupt_mode=mode)  # type: ignore[arg-type]


def flipped(gateway: Gateway, disk: Disk, thread: Any, mode: str) -> list[str]:
    """A person rejects a call, and by the resume the provider needs no person any more."""
    with gateway.override({"APPROVAL": scripted(YES)}):
        disk.run(thread)
    assert disk.pending(thread)
    answer = {"decisions": [{"type": "reject"}]} if mode == "batched" else {"type": "reject"}
    with gateway.override({"APPROVAL": scripted(NO)}):
        disk.run(thread, Command(resume=answer))
    return disk.deleted


MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])


@MODES
def test_without_the_cure_a_rejected_tool_runs(
    gateway_of: Gateways, chat: Chats, thread: Any, mode: str
) -> None:
    """frameworks §6.1: LangChain asks `when` again on resume."""
    gateway = gateway_of()
    when = gateway.point("APPROVAL", RISKY, lens=TOOL_CALL)(lambda _: True)
    assert flipped(gateway, Disk(chat, asking(when, mode)), thread, mode) == ["/old"]


@MODES
def test_a_rejected_tool_does_not_run_whatever_the_provider_says_by_then(
    gateway_of: Gateways, chat: Chats, thread: Any, mode: str
) -> None:
    """frameworks §6.1, with it."""
    gateway = gateway_of()
    when = approval_when(gateway, "APPROVAL", RISKY)(lambda _: True)
    assert flipped(gateway, Disk(chat, asking(when, mode)), thread, mode) == []


def test_todays_answer_stands_too(gateway_of: Gateways, chat: Chats, thread: Any) -> None:
    """`current` may be a coin, a clock or a model: what it said is what was reviewed."""
    said = [True, False]
    gateway = gateway_of()
    when = approval_when(gateway, "APPROVAL", RISKY)(lambda _: said.pop(0))
    disk = Disk(chat, asking(when, "batched"))
    disk.run(thread)
    disk.run(thread, Command(resume={"decisions": [{"type": "reject"}]}))
    assert disk.deleted == []
    assert said == [False]


def test_a_run_without_a_thread_needs_no_subject(gateway_of: Gateways, chat: Chats) -> None:
    """It cannot be resumed, so that nothing has to stand."""
    disk = Disk(chat, ApprovalMiddleware(guard(gateway_of())), unsaved=True)
    assert told(disk.run(None)) == [("success", "deleted")]


# --- over processes ----------------------------------------------------------------------


@pytest.mark.parametrize("journal", ["sqlite:///{folder}/journal.db", ""])
def test_a_rejection_stands_in_another_process(server: Server, tmp_path: Any, journal: str) -> None:
    """
    Checkpoints and rulings are in files, the provider says no by then, and the state is plain.

    frameworks §6.1 and §6.5: without a journal a ruling is forgotten with its process, and the
    person's decision, which is in the checkpoint, counts by itself.
    """
    server.does(decides(NO))
    places = {
        "DESK_FOLDER": str(tmp_path),
        "DECISION_JOURNAL": journal.format(folder=tmp_path),
        "LANGGRAPH_STRICT_MSGPACK": "true",
    }
    asks = ran("langgraph", "approval.py", places)
    assert asks.out == "waiting for a person\nrefunded: []\n"

    switched = {**places, **hosted(server.url, "REFUND"), "DESK_ANSWER": "reject"}
    goes_on = ran("langgraph", "approval.py", switched)
    assert goes_on.out == "refunded: []\n"
    assert "msgpack" not in asks.err + goes_on.err


def test_a_tool_node_without_an_agent_takes_the_same_rulings(
    gateway_of: Gateways, thread: Any
) -> None:
    """`ToolNode` of plain LangGraph has the same seam."""
    ran_with: list[str] = []

    def delete(path: str) -> str:
        """Delete a file."""
        ran_with.append(path)
        return "deleted"

    approval = ApprovalMiddleware(guard(gateway_of(), current=lambda _: True))
    graph = StateGraph(MessagesState)
    tools = ToolNode(
        [delete], wrap_tool_call=approval.wrap_tool_call, awrap_tool_call=approval.awrap_tool_call
    )
    graph.add_node("tools", tools)
    graph.add_edge(START, "tools")
    app = graph.compile(checkpointer=InMemorySaver())
    said = {"messages": [("user", "delete it"), calling({"path": "/old"})]}

    assert told(app.invoke(said, thread)["messages"]) == [("error", REFUSED)]
    assert ran_with == []


def alone(gateway: Gateway, ran_with: list[str], **given: Any) -> Any:
    def delete(path: str) -> str:
        """Delete a file."""
        ran_with.append(path)
        return "deleted"

    approval = ApprovalMiddleware(guard(gateway, **given))
    tools = ToolNode(
        [delete], wrap_tool_call=approval.wrap_tool_call, awrap_tool_call=approval.awrap_tool_call
    )
    graph = StateGraph(MessagesState)
    graph.add_node("tools", tools)
    graph.add_edge(START, "tools")
    return graph.compile(checkpointer=InMemorySaver())


@COLOURS
def test_calls_that_share_a_task_are_not_left_to_a_person(
    gateway_of: Gateways, thread: Any, colour: str
) -> None:
    """LangGraph counts interrupts of a task: an approval could be taken for another call's."""
    ran_with: list[str] = []
    app = alone(gateway_of(), ran_with, on_undecided="human")

    def run(given: Any) -> Any:
        return (
            app.invoke(given, thread)
            if colour == "sync"
            else asyncio.run(app.ainvoke(given, thread))
        )

    several = calling({"path": "/a"}, {"path": "/b"}, {"path": "/c"})
    ended = run({"messages": [("user", "delete them"), several]})
    assert told(ended["messages"]) == [("error", ALONE)] * 3

    asked = run({"messages": [calling({"path": "/a"}, call_id="again")]})
    (waiting,) = asked["__interrupt__"]
    assert waiting.value["args"] == {"path": "/a"}
    run(Command(resume={"type": "approve"}))
    assert ran_with == ["/a"]


SENT = {
    "a whole state": lambda state: [Send("tools", state)],
    "a list of calls": lambda state: [Send("tools", state["messages"][-1].tool_calls)],
    "each call": lambda state: [Send("tools", [one]) for one in state["messages"][-1].tool_calls],
}


@pytest.mark.parametrize("node", ["function", "ToolNode"])
@pytest.mark.parametrize("what", SENT)
def test_only_a_call_that_was_sent_alone_is_left_to_a_person(
    gateway_of: Gateways, thread: Any, what: str, node: str
) -> None:
    """A node that is sent a state calls the tools of its message side by side."""
    ran_with: list[str] = []
    inner = alone(gateway_of(), ran_with, on_undecided="human").builder.nodes["tools"].runnable

    def calls(given: Any) -> Any:
        return inner.invoke(given)

    graph = StateGraph(MessagesState)
    graph.add_node("tools", calls if node == "function" else inner)
    graph.add_conditional_edges(START, SENT[what], ["tools"])
    app = graph.compile(checkpointer=InMemorySaver())

    several = calling({"path": "/a"}, {"path": "/b"})
    ended = app.invoke({"messages": [("user", "delete them"), several]}, thread)

    waiting = ended.get("__interrupt__", [])
    if what != "each call":
        assert not waiting
        assert told(ended["messages"]) == [("error", ALONE)] * 2
        return
    approve = {"type": "approve"}
    answers = {one.id: approve if one.value["args"]["path"] == "/a" else REJECT for one in waiting}
    app.invoke(Command(resume=answers), thread)
    assert ran_with == ["/a"]


def test_when_may_be_a_method(gateway_of: Gateways, chat: Chats, thread: Any) -> None:
    gateway = gateway_of()

    class Rules:
        @approval_when(gateway, "APPROVAL", RISKY)
        def needs(self, request: Any) -> bool:
            return False

    disk = Disk(chat, asking(Rules().needs, "batched"))
    provider = scripted(YES)
    with gateway.override({"APPROVAL": provider}):
        disk.run(thread)
    assert disk.pending(thread)
    assert provider.asked[0].state["tool"] == "delete"


# --- a sync seam on a running loop -------------------------------------------------------


def test_when_is_answered_on_the_loop_by_a_provider_of_any_shape(chat: Chats, thread: Any) -> None:
    """frameworks §6.3: LangChain calls `when` on the loop, where `asyncio.run` would raise."""

    async def run() -> list[Any]:
        teller = AsyncTeller()
        when = approval_when(telling(teller), "APPROVAL", RISKY)(lambda _: False)
        disk = Disk(chat, asking(when, "batched"))
        await disk.agent.ainvoke(SAID, thread)
        assert [one.subject for one in teller.calls] == ["customer-7"]
        return disk.pending(thread)

    assert len(asyncio.run(run())) == 1


def test_a_deadline_bounds_how_long_the_loop_is_held(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any
) -> None:
    """frameworks §6.3: everything on the loop waits for `when`; then today's answer counts."""
    server.does(hangs())
    recorder = Recorder()
    bound = {"DECISION_APPROVAL_DEADLINE_SECONDS": "0.5", **hosted(server.url, "APPROVAL")}
    gateway = gateway_of(bound, observers=[recorder])
    when = approval_when(gateway, "APPROVAL", RISKY)(lambda _: True)
    disk = Disk(chat, asking(when, "batched"))

    disk.run(thread)

    assert len(disk.pending(thread)) == 1
    (record,) = recorder.records
    assert [one.reason for one in record.attempts] == [Reason.TIMEOUT, Reason.OK]
