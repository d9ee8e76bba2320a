"""Workflows: decided once for all edges, kept over a checkpoint; speakers; loops."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from typing import Any

import pytest

pytest.importorskip(
    "agent_framework.exceptions", reason="runs in its own environment: make frameworks"
)

from typing import Never

from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    AgentResponse,
    AgentSession,
    Case,
    Default,
    Executor,
    FileCheckpointStorage,
    WorkflowBuilder,
    WorkflowContext,
    executor,
    handler,
)
from agent_framework.orchestrations import GroupChatBuilder, GroupChatState

from faulty import Server, waits
from frameworks.agent_framework.desks import SESSION, Words
from pointsman import Choice, Gateway, Guard, Lens, Predicate, Reason, Recorder, scripted
from pointsman.gateway.integrations.agent_framework import (
    LOOP,
    SPEAKER,
    PerMessage,
    Router,
    SessionMiddleware,
    speakers,
)
from promises import WAYS, asked, decides, failing, hosted

POINT = "ROUTER"
TEAM = Choice("Which team?", {"billing": "Amounts", "tech": "Faults"})
YES, NO = True, False


def quiet(**variables: str) -> Gateway:
    return Gateway.from_env({"DECISION_LOG": "off", "DECISION_INBOX": "off", **variables})


GATEWAY = quiet()


@GATEWAY.point(POINT, TEAM)
def route(message: str) -> str:
    """Decide as today."""
    return "billing" if "invoice" in message else "tech"


@GATEWAY.point(POINT, TEAM)
async def route_async(message: str) -> str:
    """Decide as today, awaited."""
    return route.__wrapped__(message)  # type: ignore[attr-defined,no-any-return]


class Team(Executor):
    """A team that takes what comes, and says so."""

    @handler
    async def take(self, given: Any, ctx: WorkflowContext[Never, str]) -> None:
        """Take it."""
        message = given["message"] if isinstance(given, dict) else given
        await ctx.yield_output(f"{self.id}: {message}")


def switch(decided: Any, **given: Any) -> Any:
    router = Router(decided)
    billing, tech = Team(id="billing"), Team(id="tech")
    cases = [Case(router.to("billing"), billing), Default(tech)]
    builder = WorkflowBuilder(start_executor=router, name="desk", **given)
    return builder.add_switch_case_edge_group(router, cases).build()


def outputs(workflow: Any, message: str) -> list[str]:
    found: list[str] = asyncio.run(workflow.run(message)).get_outputs()
    return found


# --- one decision for all branches -----------------------------------------------------------


@pytest.mark.parametrize("decided", [route, route_async])
def test_a_switch_is_decided_once_upstream(decided: Any) -> None:
    """frameworks §6.2: a predicate on each edge asks once for each edge."""
    with GATEWAY.collect() as made, GATEWAY.override({POINT: scripted("tech")}):
        assert outputs(switch(decided), "my invoice") == ["tech: my invoice"]
    assert len(made) == 1
    assert outputs(switch(decided), "my invoice") == ["billing: my invoice"]


def fanned(condition: Any) -> Any:
    @executor(id="start")
    async def start(message: str, ctx: WorkflowContext[str]) -> None:
        await ctx.send_message(message)

    builder = WorkflowBuilder(start_executor=start)
    for name in ("billing", "tech"):
        builder = builder.add_edge(start, Team(id=name), condition=condition(name))
    return builder.build()


@pytest.mark.parametrize("decided", [route, route_async])
def test_edges_share_one_decision_about_a_message(decided: Any) -> None:
    with GATEWAY.collect() as made, GATEWAY.override({POINT: scripted("tech")}):
        assert outputs(fanned(PerMessage(decided)), "my invoice") == ["tech: my invoice"]
    assert len(made) == 1


def test_without_that_each_edge_asks() -> None:
    """Why it is needed."""

    def condition(name: str) -> Any:
        return lambda message: route(message) == name

    with GATEWAY.collect() as made, GATEWAY.override({POINT: scripted("tech")}):
        outputs(fanned(condition), "my invoice")
    assert len(made) == 2


def test_the_next_turn_is_decided_anew_though_the_words_are_the_same_object() -> None:
    branches = PerMessage(route)
    workflow, said = fanned(branches), "my invoice"
    with GATEWAY.override({POINT: scripted("tech")}):
        assert outputs(workflow, said) == ["tech: my invoice"]
    with GATEWAY.override({POINT: scripted("billing")}):
        assert outputs(workflow, said) == ["billing: my invoice"]


def slowly(said: list[str]) -> Any:
    async def decide(message: str) -> str:
        mine = f"{message} {len(said)}"
        said.append(mine)
        await asyncio.sleep(0)
        return mine

    return decide


def test_edges_that_are_evaluated_side_by_side_share_one_decision() -> None:
    said: list[str] = []
    branches = PerMessage(slowly(said))

    async def run() -> list[bool]:
        return list(await asyncio.gather(*(branches("my cable 0")("my cable") for _ in range(3))))

    assert asyncio.run(run()) == [True, True, True]
    assert said == ["my cable 0"]


def test_two_conversations_that_say_the_same_do_not_share_a_decision() -> None:
    """A short text is often one object in the whole process."""
    gateway, said = quiet(), []
    wrapped = gateway.point(POINT, Choice("Which?", {"yes 0": "a", "yes 1": "b"}))(slowly(said))
    branches = PerMessage(wrapped)
    first, second = branches("yes 0"), branches("yes 1")

    async def run() -> list[bool]:
        found = []
        for name, edge in (("ana", first), ("ben", second), ("ana", second), ("ben", first)):
            async with gateway.session(name):
                found.append(await edge("yes"))
        return found

    assert asyncio.run(run()) == [True, True, False, False]


def test_a_workflow_that_is_resumed_takes_the_branch_that_was_decided(tmp_path: Any) -> None:
    """frameworks §6.1, §6.5: the decision travels as plain data, and is not asked for again."""
    storage = FileCheckpointStorage(tmp_path)

    async def run() -> list[str]:
        with GATEWAY.override({POINT: scripted("tech")}):
            await switch(route, checkpoint_storage=storage).run("my invoice")
        points = await storage.list_checkpoints(workflow_name="desk")
        sent = next(one for one in points if "router" in one.messages)
        with GATEWAY.override({POINT: scripted("billing")}), GATEWAY.collect() as made:
            resumed = switch(route, checkpoint_storage=storage)
            found = await resumed.run(checkpoint_id=sent.checkpoint_id)
        assert made == []
        return list(found.get_outputs())

    assert asyncio.run(run()) == ["tech: my invoice"]


@pytest.mark.parametrize("says", [True, False])
def test_a_person_is_asked_by_the_frameworks_own_request(tmp_path: Any, *, says: bool) -> None:
    """The request is plain data too: the workflow that is answered is another object."""
    storage = FileCheckpointStorage(tmp_path)
    rail = Guard(quiet(), "ESCALATE", Predicate("Is this for a person?"), on_undecided="human")

    async def blocked(message: str) -> bool:
        return (await rail.rule(message)).blocked

    def build() -> Any:
        router = Router(blocked)
        cases = [Case(router.to(YES), Team(id="people")), Default(Team(id="agent"))]
        builder = WorkflowBuilder(start_executor=router, name="desk", checkpoint_storage=storage)
        return builder.add_switch_case_edge_group(router, cases).build()

    async def run() -> list[str]:
        (request,) = (await build().run("help me")).get_request_info_events()
        assert request.data == {"point": "ESCALATE", "message": "help me"}
        kept = await storage.list_checkpoints(workflow_name="desk")
        waiting = next(one for one in kept if one.pending_request_info_events)
        given = {"checkpoint_id": waiting.checkpoint_id, "responses": {request.request_id: says}}
        return list((await build().run(**given)).get_outputs())

    assert asyncio.run(run()) == [f"{'people' if says else 'agent'}: help me"]


def test_a_wrapped_function_keeps_what_it_is() -> None:
    """frameworks §6.8: colour, annotations, and pickling by reference."""
    assert inspect.iscoroutinefunction(route_async)
    assert not inspect.iscoroutinefunction(route)
    assert inspect.signature(route) == inspect.signature(route.__wrapped__)  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(route)) is route


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_failing_provider_falls_back_to_the_function(way: str, colour: str) -> None:
    with Server() as server:
        gateway = quiet(**failing(server, way, POINT, "tech"))
        function = (route if colour == "sync" else route_async).__wrapped__  # type: ignore[attr-defined]
        decided = gateway.point(POINT, TEAM)(function)
        assert outputs(switch(decided), "my invoice") == ["billing: my invoice"]


def test_a_condition_of_a_case_holds_the_loop_until_its_deadline() -> None:
    """frameworks §6.3: it is sync, and called on the loop; then the function of today decides."""
    recorder = Recorder()
    with Server() as server:
        server.does(waits(decides("tech")))
        bound = {f"DECISION_{POINT}_DEADLINE_SECONDS": "0.4", **hosted(server.url, POINT)}
        gateway = Gateway.from_env({"DECISION_LOG": "off", **bound}, observers=[recorder])
        decided = gateway.point(POINT, TEAM)(route.__wrapped__)  # type: ignore[attr-defined]

        @executor(id="start")
        async def start(message: str, ctx: WorkflowContext[str]) -> None:
            await ctx.send_message(message)

        cases = [Case(lambda said: decided(said) == "billing", Team(id="billing"))]
        builder = WorkflowBuilder(start_executor=start)
        builder = builder.add_switch_case_edge_group(start, [*cases, Default(Team(id="tech"))])

        async def run() -> list[str]:
            running = asyncio.create_task(builder.build().run("my invoice"))
            await server.reached()  # this task goes on only when the condition has given up
            server.let_go()
            return list((await running).get_outputs())

        assert asyncio.run(run()) == ["billing: my invoice"]
    (record,) = recorder.records
    assert [one.reason for one in record.attempts] == [Reason.TIMEOUT, Reason.OK]


# --- who speaks next -------------------------------------------------------------------------


class Chat:
    """A group chat of two agents for one round, and who spoke in it."""

    def __init__(self, gateway: Gateway, current: Any) -> None:
        select = gateway.point("SPEAKER", speakers, lens=SPEAKER)(current)
        self.models = {name: Words(f"{name} here") for name in ("billing", "tech")}
        agents = [
            Agent(client=model, name=name, description=f"Knows {name}")
            for name, model in self.models.items()
        ]
        builder = GroupChatBuilder(participants=agents, selection_func=select, max_rounds=1)
        self._workflow = builder.build()

    def spoke(self) -> list[str]:
        """Run it, and name who spoke."""
        asyncio.run(self._workflow.run("my cable"))
        return [name for name, model in self.models.items() if model.shown]


def first(state: GroupChatState) -> str:
    """Select as today."""
    return next(iter(state.participants))


async def first_async(state: GroupChatState) -> str:
    """Select as today, awaited."""
    return first(state)


@pytest.mark.parametrize("current", [first, first_async])
def test_the_speaker_is_chosen_among_the_participants(current: Any) -> None:
    with Server() as server:
        server.does(decides("tech"))
        assert Chat(quiet(**hosted(server.url, "SPEAKER")), current).spoke() == ["tech"]
        (body,) = asked(server)
    options = body["questions"][0]["choices"]
    assert [one["value"] for one in options] == ["billing", "tech"]
    assert "my cable" in str(body["input"])


def test_today_the_function_selects() -> None:
    assert Chat(quiet(), first).spoke() == ["billing"]


# --- loops -----------------------------------------------------------------------------------


def looping(gateway: Gateway, *, colour: str = "sync") -> Agent:
    def goes_on(*, last_result: AgentResponse, **_: Any) -> bool | tuple[bool, str | None]:
        return ("done" not in last_result.text), "go on"

    async def goes_on_async(**given: Any) -> bool | tuple[bool, str | None]:
        return goes_on(**given)

    current = goes_on if colour == "sync" else goes_on_async
    judge = gateway.point("JUDGE", Predicate("Is the answer incomplete?"), lens=LOOP)(current)
    model = Words("one", "two", "done", "more")
    return Agent(client=model, middleware=[AgentLoopMiddleware(judge, max_iterations=5)])


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_the_judge_of_a_loop_is_a_decision(colour: str) -> None:
    gateway = quiet()
    agent = looping(gateway, colour=colour)
    assert "done" in asyncio.run(agent.run("count")).text
    with gateway.override({"JUDGE": scripted(NO)}):
        assert asyncio.run(looping(gateway, colour=colour).run("count")).text == "one"


class Kept(Recorder):
    """Keeps what was decided beside each shadow."""

    def __init__(self) -> None:
        super().__init__()
        self.beside: list[Any] = []

    def shadowed(self, shadow: Any) -> None:
        """Take one."""
        self.beside.append(shadow.beside)


def test_the_judge_sees_request_and_answer_and_a_shadow_is_compared() -> None:
    with Server() as server:
        server.does(decides(said=True))
        variables = {**hosted(server.url), "DECISION_JUDGE_SHADOW": "jev"}
        kept = Kept()
        with Gateway.from_env({"DECISION_LOG": "off", **variables}, observers=[kept]) as gateway:
            session = AgentSession(session_id=SESSION)
            asyncio.run(looping(gateway).run("count", session=session))
        bodies = asked(server)
    assert kept.beside == [True, True, False]  # with or without words beside the truth
    assert len(bodies) == 3
    assert "count" in str(bodies[0]["input"])
    assert "one" in str(bodies[0]["input"])


# --- the session -----------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_the_session_is_bound_for_seams_that_are_told_none(*, stream: bool) -> None:
    """frameworks §6.4: also for what is drawn from a stream, later, by whoever reads it."""
    gateway = quiet()
    subjects: list[str | None] = []

    class Spy:
        name = "spy"
        limits = scripted(YES).limits

        def answer(self, ask: Any, call: Any) -> Any:
            subjects.append(call.subject)
            return scripted(NO).answer(ask, call)

    def told(**_: Any) -> bool:
        return False

    unbound = Lens(state=LOOP.state, read=LOOP.read, write=bool)  # as a seam that tells no session
    plain = gateway.point("JUDGE", Predicate("Incomplete?"), lens=unbound)(told)
    middleware = [SessionMiddleware(gateway), AgentLoopMiddleware(plain)]
    agent = Agent(client=Words("one"), middleware=middleware)
    session = AgentSession(session_id=SESSION)

    async def run() -> None:
        if not stream:
            await agent.run("count", session=session)
            return
        async for _ in agent.run("count", session=session, stream=True):
            pass

    with gateway.override({"JUDGE": Spy()}):
        asyncio.run(run())
    assert subjects == [SESSION]
