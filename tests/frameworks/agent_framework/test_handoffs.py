"""Hand-offs: decided in front of the model, which is not called for them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip(
    "agent_framework.exceptions", reason="runs in its own environment: make frameworks"
)

from agent_framework import Agent, InMemoryCheckpointStorage, Message
from agent_framework.orchestrations import HandoffBuilder

from faulty import Server
from frameworks.agent_framework.desks import Words, calls
from pointsman import Gateway, Recorder, scripted
from pointsman.gateway.integrations.agent_framework import STAY, HandoffMiddleware
from promises import WAYS, asked, decides, failing, hosted

POINT = "HANDOFF"
NAMES = ("triage", "billing", "tech")


def quiet(observers: Any = (), **variables: str) -> Gateway:
    return Gateway.from_env(
        {"DECISION_LOG": "off", "DECISION_INBOX": "off", **variables}, observers=observers
    )


class Desk:
    """A hand-off workflow of three agents, the first of which hears users first."""

    def __init__(
        self,
        gateway: Gateway,
        middleware: HandoffMiddleware | None = None,
        names: Sequence[str] = NAMES,
        *,
        storage: InMemoryCheckpointStorage | None = None,
        clients: Mapping[str, Words] | None = None,
        **says: Any,
    ) -> None:
        middleware = middleware or HandoffMiddleware(gateway, POINT)
        self.models = {name: Words(*says.get(name, (f"{name} here",))) for name in names}
        self.models |= clients or {}
        agents = [
            Agent(
                client=self.models[name],
                id=name,
                name=name,
                description=f"Knows about {name}",
                middleware=[middleware],
                require_per_service_call_history_persistence=True,
            )
            for name in names
        ]
        builder = HandoffBuilder(name="desk", participants=agents, checkpoint_storage=storage)
        self.workflow = builder.with_start_agent(agents[0]).build()

    def said(self, message: str | Message, *, stream: bool = False) -> str:
        """Give what users read, after all hand-offs."""

        async def run() -> list[str]:
            if stream:
                events = [event async for event in self.workflow.run(message, stream=True)]
            else:
                events = list(await self.workflow.run(message))
            return [event.data.text for event in events if event.type == "output"]

        return "".join(asyncio.run(run())).strip()

    @property
    def calls(self) -> dict[str, int]:
        """How often each model was called."""
        return {name: len(model.shown) for name, model in self.models.items()}


@pytest.mark.parametrize("stream", [False, True])
def test_the_provider_hands_over_without_a_call_of_the_model(*, stream: bool) -> None:
    gateway = quiet()
    desk = Desk(gateway)
    with gateway.override({POINT: scripted("billing")}):
        assert desk.said("my invoice", stream=stream) == "billing here"
    assert desk.calls == {"triage": 0, "billing": 1, "tech": 0}


@pytest.mark.parametrize("stream", [False, True])
def test_today_the_model_decides_and_nothing_is_shown_to_anybody(*, stream: bool) -> None:
    gateway = quiet()
    desk = Desk(gateway, triage=(calls("handoff_to_tech"),))
    assert desk.said("my cable", stream=stream) == "tech here"
    assert desk.calls == {"triage": 1, "billing": 0, "tech": 1}


def test_staying_lets_the_agent_go_on() -> None:
    gateway = quiet()
    desk = Desk(gateway)
    with gateway.override({POINT: scripted(STAY)}):
        assert desk.said("hi") == "triage here"


def test_the_agent_that_was_handed_over_to_is_not_asked_about_the_same_words() -> None:
    """frameworks §6.9: two agents would hand the same message to and fro."""

    class ToAndFro:
        name = "to-and-fro"

        def __init__(self) -> None:
            self.limits = scripted(STAY).limits
            self.asked = 0

        def answer(self, ask: Any, call: Any) -> Any:
            self.asked += 1
            (question,) = ask.questions.values()
            other = next(one for one in ("billing", "triage") if one in question.options)
            return scripted(other).answer(ask, call)

    gateway, provider = quiet(), ToAndFro()
    desk = Desk(gateway)
    with gateway.override({POINT: provider}):
        assert desk.said("my invoice") == "billing here"
    assert provider.asked == 1


@pytest.mark.parametrize("ends", ["dies", "ends"])
def test_what_one_conversation_was_handed_over_is_nothing_to_another(ends: str) -> None:
    """Neither one that died on the way, nor one that came to its end with the same message."""
    gateway = quiet()
    middleware = HandoffMiddleware(gateway, POINT)
    said = "my invoice" if ends == "dies" else Message("user", ["my invoice"])

    async def dies(desk: Desk) -> None:
        async for _ in desk.workflow.run(said, stream=True):
            if middleware._handed:
                break

    with gateway.override({POINT: scripted("billing")}):
        desk = Desk(gateway, middleware)
        asyncio.run(dies(desk)) if ends == "dies" else desk.said(said)
    assert "invoice" not in repr(middleware._handed)

    other = Desk(gateway, middleware, names=["billing", "tech"])
    with gateway.override({POINT: scripted("tech")}):
        assert other.said(said) == "tech here"


def test_an_agent_that_is_called_as_staying_is_leaves_it_to_the_model() -> None:
    gateway, provider = quiet(), scripted(STAY)
    desk = Desk(gateway, names=["triage", STAY], triage=(calls(f"handoff_to_{STAY}"),))
    with gateway.override({POINT: provider}):
        assert desk.said("hold on") == f"{STAY} here"
    (asked_of_the_other,) = provider.asked
    assert "triage" in repr(asked_of_the_other.questions)


def test_what_the_model_chose_is_told_beside_a_shadow() -> None:
    """Shadows and splits compare with what the host did, streamed or not."""
    with Server() as server:
        server.does(decides("billing"))
        for stream in (False, True):
            kept = Kept()
            variables = {**hosted(server.url), f"DECISION_{POINT}_SHADOW": "jev"}
            with quiet([kept], **variables) as gateway:
                desk = Desk(gateway, triage=(calls("handoff_to_tech"),))
                assert desk.said("my cable", stream=stream) == "tech here"
            assert ("tech", "billing") in kept.beside


class Kept(Recorder):
    """Keeps shadows too: what was decided, and what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.beside: list[tuple[Any, Any]] = []

    def shadowed(self, shadow: Any) -> None:
        """Take one."""
        self.beside.append((shadow.beside, shadow.outcome))


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_leaves_it_to_the_model(way: str) -> None:
    with Server() as server:
        gateway = quiet(**failing(server, way, POINT, "billing"))
        desk = Desk(gateway, triage=(calls("handoff_to_tech"),))
        assert desk.said("my cable") == "tech here"


def test_a_variable_alone_switches_and_options_are_the_hand_offs() -> None:
    with Server() as server:
        server.does(decides("billing"))
        desk = Desk(quiet(**hosted(server.url, POINT)))
        assert desk.said("my invoice") == "billing here"
        (body,) = asked(server)
    options = [one["value"] for one in body["questions"][0]["choices"]]
    assert options == ["billing", "tech", STAY]
    assert body["input"] == "my invoice"


def test_the_session_of_the_agent_is_the_subject() -> None:
    subjects: list[str | None] = []

    class Spy:
        name = "spy"
        limits = scripted("billing").limits

        def answer(self, ask: Any, call: Any) -> Any:
            subjects.append(call.subject)
            return scripted("billing").answer(ask, call)

    gateway = quiet()
    desk = Desk(gateway)
    with gateway.override({POINT: Spy()}):
        desk.said("my invoice")
    assert len(subjects) == 1
    assert subjects[0]


def test_a_participants_conversation_is_no_state_where_current_decides() -> None:
    """Zero touch: nothing is looked at, so that nothing can go wrong."""
    gateway = quiet()
    middleware = HandoffMiddleware(gateway, POINT)
    touched: list[str] = []

    class Noting:
        def __getattr__(self, name: str) -> Any:
            touched.append(name)
            raise AttributeError(name)

    gone: list[int] = []

    async def call_next() -> None:
        gone.append(1)

    noting: Any = Noting()
    asyncio.run(middleware.process(noting, call_next))
    assert (gone, touched) == ([1], [])
    with gateway.override({POINT: scripted("billing")}), pytest.raises(AttributeError):
        asyncio.run(middleware.process(noting, call_next))
    assert touched


class Down(Words):
    """A model whose service cannot be reached."""

    def _inner_get_response(self, **_: Any) -> Any:
        raise ConnectionError


@pytest.mark.parametrize("its_id", ["message-1", None])
def test_a_hand_off_stays_where_a_workflow_is_run_again_from_its_checkpoint(
    its_id: str | None,
) -> None:
    """frameworks §6.1: told by the message's id, where it brings one, and the agent's session."""
    gateway, flipped, kept = quiet(), scripted("tech"), InMemoryCheckpointStorage()

    async def run() -> str:
        said = Message("user", ["my invoice"], message_id=its_id)
        desk = Desk(gateway, storage=kept, clients={"billing": Down()})
        with gateway.override({POINT: scripted("billing")}), pytest.raises(ConnectionError):
            await desk.workflow.run(said)
        first = (await kept.list_checkpoints(workflow_name="desk"))[0].checkpoint_id
        resumed = Desk(gateway, storage=kept).workflow
        with gateway.override({POINT: flipped}):
            events = list(await resumed.run(checkpoint_id=first))
        return "".join(one.data.text for one in events if one.type == "output").strip()

    assert asyncio.run(run()) == ("billing here" if its_id else "tech here")
    assert len(flipped.asked) == (0 if its_id else 1)
