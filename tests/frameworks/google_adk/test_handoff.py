"""Hand-offs of an ADK agent, made in the model's place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="runs in its own environment: make frameworks")

from google.adk.apps import App, ResumabilityConfig
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from faulty import Server
from frameworks.google_adk.desks import SESSION, USER, Desk, Llm, Watching, agent, call, texts
from pointsman import Choice, Gateway, NoAnswer, Reason, Recorder, scripted
from pointsman.gateway.integrations.google_adk import Handoff, handoffs
from promises import WAYS, asked, decides, failing, hosted

Gateways = Callable[..., Gateway]


class Team:
    """An agent with two others that it may hand over to, and a tool."""

    def __init__(self, gateway: Gateway, question: Choice | None = None) -> None:
        self.llm = Llm(lines=["the desk keeps it"])
        self.billing = Llm(lines=["billing here"])
        subs = [
            agent(self.billing, name="billing", description="Invoices,\n  payments"),
            agent(Llm(lines=["technical here"]), name="technical", description="Faults"),
        ]
        self.hand = Handoff(gateway, "HANDOFF", question)
        self.root = agent(
            self.llm,
            sub_agents=subs,
            tools=[self.look_up],
            before_model_callback=self.hand.before_model_callback,
            after_model_callback=self.hand.after_model_callback,
        )

    def look_up(self, what: str) -> str:
        """Look something up."""
        return what

    async def heard(self, *messages: str) -> list[str]:
        desk = await Desk(self.root).begun()
        return [texts(await desk.said(one))[-1] for one in messages]


def test_a_hand_off_switches_by_a_variable_alone(server: Server, gateway_of: Gateways) -> None:
    """frameworks §5, ADK: pre-empted before the model, which is not called."""
    server.does(decides("billing"))
    today, switched = Team(gateway_of()), Team(gateway_of(hosted(server.url, "HANDOFF")))

    assert asyncio.run(today.heard("my invoice")) == ["the desk keeps it"]
    assert asyncio.run(switched.heard("my invoice")) == ["billing here"]
    assert (today.llm.calls, switched.llm.calls) == (1, 0)
    (body,) = asked(server)
    (question,) = body["questions"]
    offered = {one["value"]: one["description"] for one in question["choices"]}
    assert list(offered) == ["billing", "technical", "desk"]
    assert offered["billing"] == "Invoices, payments"


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_leaves_the_hand_off_to_the_model(
    way: str, server: Server, gateway_of: Gateways
) -> None:
    team = Team(gateway_of(failing(server, way, "HANDOFF", "billing")))

    assert asyncio.run(team.heard("my invoice")) == ["the desk keeps it"]
    assert team.llm.calls == 1


@pytest.mark.parametrize("said", ["desk", "billing"])
def test_the_agent_may_keep_the_conversation(said: str, gateway_of: Gateways) -> None:
    gateway = gateway_of()
    team = Team(gateway)

    with gateway.override({"HANDOFF": scripted(said)}):
        heard = asyncio.run(team.heard("hello"))
    assert heard == ["the desk keeps it" if said == "desk" else "billing here"]


def test_an_option_that_is_no_agent_here_is_never_handed_over_to(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    team = Team(gateway, Choice("Who?", {"billing": "Money", "legal": "Not of this team"}))

    with gateway.override({"HANDOFF": scripted("legal")}):
        assert asyncio.run(team.heard("hello")) == ["the desk keeps it"]


def test_only_a_user_s_message_is_asked_about(gateway_of: Gateways) -> None:
    """frameworks §6.9: after a tool's result the same words would be read again, for ever."""
    gateway, says = gateway_of(), scripted("desk")
    team = Team(gateway)
    team.llm.lines = [call("look_up", what="x"), call("look_up", what="y"), "done"]

    with gateway.override({"HANDOFF": says}):
        assert asyncio.run(team.heard("hello")) == ["done"]
    assert [ask.text for ask in says.asked] == ["hello"]


def test_who_took_over_keeps_the_next_turn(gateway_of: Gateways) -> None:
    """ADK goes on with the agent that spoke last: it has nobody to hand over to."""
    gateway, says = gateway_of(), scripted("billing")
    team = Team(gateway)

    with gateway.override({"HANDOFF": says}):
        assert asyncio.run(team.heard("my invoice", "and?")) == ["billing here"] * 2
    assert len(says.asked) == 1


def test_a_hand_off_is_about_adk_s_session(gateway_of: Gateways) -> None:
    recorder, watching = Recorder(), Watching("billing")
    gateway = gateway_of(observers=[recorder])

    with gateway.override({"HANDOFF": watching}):
        asyncio.run(Team(gateway).heard("my invoice"))
    assert watching.subjects == [SESSION]
    assert [record.outcome for record in recorder.records] == ["billing"]


def many(gateway: Gateway, question: Choice | None = None) -> Any:
    """An agent with more others than a choice may have options."""
    hand = Handoff(gateway, "HANDOFF", question)
    return agent(
        Llm(lines=["the desk keeps it"]),
        sub_agents=[agent(Llm(lines=[f"a{at}"]), name=f"a{at}") for at in range(300)],
        before_model_callback=hand.before_model_callback,
        after_model_callback=hand.after_model_callback,
    )


async def heard(root: Any, said: Any = "hello") -> list[str]:
    return texts(await (await Desk(root).begun()).said(said))


def test_more_agents_than_a_choice_may_have_are_left_to_the_model(gateway_of: Gateways) -> None:
    """Whoever would decide: no exception of ours ends a run that went well without us."""
    recorder, says = Recorder(), scripted("a1")

    assert asyncio.run(heard(many(gateway_of()))) == ["the desk keeps it"]
    gateway = gateway_of(observers=[recorder])
    assert asyncio.run(heard(many(gateway))) == ["the desk keeps it"]
    with gateway.override({"HANDOFF": says}):
        assert asyncio.run(heard(many(gateway))) == ["the desk keeps it"]
    assert says.asked == []
    assert [record.reason for record in recorder.records][1:] == [Reason.UNSUPPORTED]


def test_a_message_of_more_than_words_is_left_to_the_model(gateway_of: Gateways) -> None:
    gateway, says = gateway_of(), scripted("billing")
    picture = types.Part.from_bytes(data=b"x", mime_type="image/png")
    content = types.Content(role="user", parts=[types.Part(text="see this"), picture])

    with gateway.override({"HANDOFF": says}):
        assert asyncio.run(heard(Team(gateway).root, content)) == ["the desk keeps it"]
    assert says.asked == []


def test_what_a_callback_wrote_into_the_state_is_no_message(gateway_of: Gateways) -> None:
    """ADK makes an event of it, which comes after the user's."""
    gateway, says = gateway_of(), scripted("billing")
    team = Team(gateway)

    def noting(callback_context: Any) -> None:
        callback_context.state["seen"] = True

    team.root.before_agent_callback = noting

    with gateway.override({"HANDOFF": says}):
        assert asyncio.run(team.heard("my invoice")) == ["billing here"]
    assert len(says.asked) == 1


def test_where_the_plan_is_current_nothing_is_touched(
    gateway_of: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway, touched = gateway_of(), []
    whom = handoffs._whom
    monkeypatch.setattr(handoffs, "_whom", lambda agent: touched.append(1) or whom(agent))
    team = Team(gateway)

    asyncio.run(team.heard("my invoice"))
    assert touched == []
    with gateway.override({"HANDOFF": scripted("billing")}):
        asyncio.run(team.heard("my invoice"))
    assert touched == [1]


@pytest.mark.parametrize("question", [None, Choice("Who?", ["billing", "desk"])])
def test_the_point_is_declared_like_any_other(
    question: Choice | None, server: Server, gateway_of: Gateways
) -> None:
    gateway = gateway_of(hosted(server.url, "HANDOFF"))
    Handoff(gateway, "HANDOFF", question)

    assert gateway.check() == ()


def test_without_a_fallback_the_run_ends_in_no_answer(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})

    with gateway.override({"HANDOFF": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        asyncio.run(Team(gateway).heard("my invoice"))


NONE = Choice("Who?", {"billing": "Money", "none": "Nobody else"}, "none")


@pytest.mark.parametrize(
    ("line", "question", "outcome"),
    [
        ("hello", None, "desk"),
        ("hello", NONE, "none"),
        (call("transfer_to_agent", agent_name="billing"), NONE, "billing"),
    ],
)
def test_what_the_model_did_is_recorded_where_it_went_on(
    line: Any, question: Choice | None, outcome: str, gateway_of: Gateways
) -> None:
    """So that a shadow or a split can be compared with it; once, whatever else is called."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    team = Team(gateway, question)
    team.llm.lines = [line]

    with gateway.override({"HANDOFF": scripted(Reason.TIMEOUT)}):
        asyncio.run(team.heard("my invoice"))
    asked, told = recorder.records
    assert asked.id == told.id
    assert (told.provider, told.outcome) == ("current", outcome)


def test_models_that_never_answer_do_not_pile_up(
    gateway_of: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handoffs, "OPEN", 2)
    gateway = gateway_of()
    team = Team(gateway)
    team.llm.lines = []  # raises

    async def run() -> None:
        for _ in range(4):
            with pytest.raises(IndexError):
                await team.heard("my invoice")

    with gateway.override({"HANDOFF": scripted(Reason.TIMEOUT)}):
        asyncio.run(run())
    assert len(team.hand._open) == 2


class Losing(InMemorySessionService):
    """Loses the connection before it keeps the first thing that an agent says."""

    lost = False

    async def append_event(self, session: Any, event: Any) -> Any:
        if event.author != "user" and not self.lost:
            self.lost = True
            raise ConnectionError
        return await super().append_event(session, event)


@pytest.mark.parametrize("decided", [True, False])
def test_a_hand_off_stays_where_an_invocation_is_resumed(
    gateway_of: Gateways, *, decided: bool
) -> None:
    """frameworks §6.1: ADK asks the agent again; where only the model decided, anew."""
    gateway, flipped = gateway_of(), scripted("technical")
    team = Team(gateway)
    app = App(
        name="desk",
        root_agent=team.root,
        resumability_config=ResumabilityConfig(is_resumable=True),
    )
    service = Losing()
    runner = Runner(app=app, session_service=service)
    who = {"user_id": USER, "session_id": SESSION}

    async def run() -> list[str]:
        await service.create_session(app_name="desk", **who)
        first = gateway.override({"HANDOFF": scripted("billing")}) if decided else nullcontext()
        said = types.UserContent("my invoice")
        with first, pytest.raises(ConnectionError):
            _ = [one async for one in runner.run_async(**who, new_message=said)]
        session = await service.get_session(app_name="desk", **who)
        assert session is not None
        invocation = session.events[0].invocation_id
        with gateway.override({"HANDOFF": flipped}):
            return texts([e async for e in runner.run_async(**who, invocation_id=invocation)])

    assert asyncio.run(run())[-1] == ("billing here" if decided else "technical here")
    assert len(flipped.asked) == (0 if decided else 1)
