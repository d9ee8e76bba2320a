"""Hand-offs: decided in place of the model's tool call, or hidden from the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("agents", reason="runs in its own environment: make frameworks")

from agents import (
    Agent,
    ModelSettings,
    RunConfig,
    RunContextWrapper,
    Runner,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.testing import ScriptedModel, assistant_message, function_call
from pydantic import BaseModel

from pointsman import (
    Chosen,
    Gateway,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    SetupError,
    scripted,
)
from pointsman.gateway.integrations import openai_agents as pm
from telling import AsyncTeller, Offers, Teller

set_tracing_disabled(disabled=True)

Gateways = Callable[..., Gateway]
YES, NO = True, False
COLOURS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])

BY_MODEL = [function_call("transfer_to_tech", {}, call_id="c1")]


class Desk:
    """A triage agent that hands off to two others; its model would choose Tech."""

    def __init__(self, gateway: Gateway, *steps: Any, **given: Any) -> None:
        self.llm = ScriptedModel(list(steps) or [BY_MODEL])
        self.model = pm.RoutedModel(self.llm, gateway, "HANDOFF")
        billing = self._agent("Billing", "Invoices, amounts and refunds")
        tech = self._agent("Tech", "Faults and outages")
        given = {"handoffs": [billing, tech], **given}
        self.triage = Agent[Any](name="Triage", model=self.model, **given)

    def _agent(self, name: str, what: str) -> Agent[Any]:
        model = ScriptedModel([[assistant_message(f"{name} here")]])
        return Agent(name=name, handoff_description=what, model=model)

    async def run(
        self, given: Any = "my invoice doubled", *, streams: bool = False, **options: Any
    ) -> Any:
        if not streams:
            return await Runner.run(self.triage, given, **options)
        result = Runner.run_streamed(self.triage, given, **options)
        self.events = [event async for event in result.stream_events()]
        return result


@COLOURS
@pytest.mark.parametrize("planned", [True, False])
def test_the_hand_off_switches_by_the_environment_alone(
    gateway_of: Gateways, *, planned: bool, streams: bool
) -> None:
    """The provider's choice costs no call of the model; without it the model chooses."""
    environ = {"DECISION_HANDOFF_PROVIDER": "teller"} if planned else {}
    gateway = gateway_of(environ, plugins=[Offers(Teller())])  # it says the first option
    desk = Desk(gateway)

    result = asyncio.run(desk.run(streams=streams))

    assert result.final_output == ("Billing here" if planned else "Tech here")
    assert result.last_agent.name == ("Billing" if planned else "Tech")
    assert len(desk.llm.calls) == (0 if planned else 1)
    assert result.context_wrapper.usage.requests == (1 if planned else 2)


def test_a_streamed_hand_off_is_told_as_the_models_own_is(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    told = []
    for said in ("Billing", pm.STAY):
        desk = Desk(gateway)
        with gateway.override({"HANDOFF": scripted(said)}):
            asyncio.run(desk.run(streams=True))
        names = [one.name for one in desk.events if one.type == "run_item_stream_event"]
        told.append(names)

    assert told[0] == told[1] == ["handoff_requested", "handoff_occured", "message_output_created"]


@COLOURS
@pytest.mark.parametrize(
    "line",
    [Reason.TRANSPORT, ValueError("bug"), "Sales", {"agent": Chosen("Billing", None, 0.4)}],
)
def test_where_the_provider_is_not_believed_the_model_chooses(
    gateway_of: Gateways, line: Any, *, streams: bool
) -> None:
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    desk = Desk(gateway)

    with gateway.override({"HANDOFF": scripted(line)}):
        result = asyncio.run(desk.run(streams=streams))

    assert result.last_agent.name == "Tech"
    assert len(desk.llm.calls) == 1
    completed = {one.id: one for one in recorder.records}  # told again, when the model has chosen
    assert [(one.provider, one.outcome) for one in completed.values()] == [("current", "Tech")]


@COLOURS
def test_who_is_told_to_stay_lets_the_model_go_on(gateway_of: Gateways, *, streams: bool) -> None:
    gateway = gateway_of()
    desk = Desk(gateway, [assistant_message("I can help myself")])

    with gateway.override({"HANDOFF": scripted(pm.STAY)}):
        result = asyncio.run(desk.run(streams=streams))

    assert result.final_output == "I can help myself"


def test_without_fallback_the_run_fails(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    desk = Desk(gateway)

    with gateway.override({"HANDOFF": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        asyncio.run(desk.run())


class Reasoned(BaseModel):
    """What a hand-off wants to be told."""

    reason: str


def test_the_options_are_the_hand_offs_of_the_call(gateway_of: Gateways) -> None:
    """A hidden one is no option, nor is one whose arguments only a model can write."""
    gateway, provider = gateway_of(), scripted(pm.STAY)

    def noted(ctx: RunContextWrapper[Any], reason: Any) -> None:
        """Nothing to note."""

    shown = [Agent(name="Sales", handoff_description="Offers")]
    hidden = handoff(Agent[Any](name="Legal"), is_enabled=False)
    argued = [
        handoff(Agent[Any](name=f"Escalation {n}"), on_handoff=noted, input_type=given)
        for n, given in enumerate((str, list[str], Reasoned))
    ]
    desk = Desk(gateway, [assistant_message("hi")], handoffs=[*shown, hidden, *argued])

    with gateway.override({"HANDOFF": provider}):
        asyncio.run(desk.run())

    (question,) = provider.asked[0].questions.values()
    assert list(question.options) == ["Sales", pm.STAY]
    assert "Offers" in question.options["Sales"]
    assert provider.asked[0].text == "my invoice doubled"


def test_nobody_is_asked_where_the_user_has_not_just_spoken(gateway_of: Gateways) -> None:
    """Frameworks §6.9: after a tool's result the same words would be routed again."""
    gateway, provider = gateway_of(), scripted(pm.STAY, "Billing")

    @function_tool
    def look() -> str:
        return "shipped"

    steps = [[function_call("look", {}, call_id="c0")], [assistant_message("it is shipped")]]
    desk = Desk(gateway, *steps, tools=[look])

    with gateway.override({"HANDOFF": provider}):
        result = asyncio.run(desk.run())

    assert result.final_output == "it is shipped"
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    "settings", [ModelSettings(tool_choice="none"), ModelSettings(tool_choice="look")]
)
def test_nobody_is_asked_where_the_settings_have_chosen(
    gateway_of: Gateways, settings: ModelSettings
) -> None:
    gateway, provider = gateway_of(), scripted("Billing")
    desk = Desk(gateway, [assistant_message("hi")], model_settings=settings)

    with gateway.override({"HANDOFF": provider}):
        asyncio.run(desk.run())

    assert not provider.asked


def test_nobody_is_asked_where_two_ways_have_one_name(gateway_of: Gateways) -> None:
    """The choice would not say which; the model knows them apart by their tools."""
    gateway, provider = gateway_of(), scripted("Billing")
    billing = Agent[Any](name="Billing")
    ways = [handoff(billing, tool_name_override=name) for name in ("to_billing", "to_refunds")]
    desk = Desk(gateway, [assistant_message("hi")], handoffs=ways)

    with gateway.override({"HANDOFF": provider}):
        asyncio.run(desk.run())

    assert not provider.asked


@COLOURS
@pytest.mark.parametrize(
    "kept",
    [
        {"conversation_id": "conv_1"},
        {"previous_response_id": "resp_1"},
        {"auto_previous_response_id": True},
    ],
    ids=lambda kept: next(iter(kept)),
)
def test_nobody_is_asked_where_the_server_keeps_the_conversation(
    gateway_of: Gateways, kept: Any, *, streams: bool
) -> None:
    """It never saw the call, and the next agent is sent only what it is thought to lack."""
    gateway, provider = gateway_of(), scripted("Billing")
    desk = Desk(gateway)

    with gateway.override({"HANDOFF": provider}):
        result = asyncio.run(desk.run(streams=streams, **kept))

    assert not provider.asked
    assert result.final_output == "Tech here"


@pytest.mark.parametrize("kept", ["conversation_id", "previous_response_id"])
def test_what_the_call_itself_says_counts_where_no_runner_is_near(
    gateway_of: Gateways, kept: str
) -> None:
    """A durable engine calls the model by itself, in an activity."""
    gateway, provider = gateway_of(), scripted("Billing")
    desk = Desk(gateway)
    given = {"input": "hi", "model_settings": ModelSettings(), "tools": []}
    rest: Any = dict.fromkeys(("system_instructions", "output_schema", "tracing", "prompt"))
    server: Any = dict.fromkeys(("previous_response_id", "conversation_id"))
    to = [handoff(one) for one in desk.triage.handoffs if isinstance(one, Agent)]

    async def called(**said: Any) -> Any:
        return await desk.model.get_response(handoffs=to, **given, **rest, **{**server, **said})

    with gateway.override({"HANDOFF": provider}):
        asyncio.run(called(**{kept: "id_1"}))
        assert not provider.asked
        asyncio.run(called())
    assert len(provider.asked) == 1


@COLOURS
def test_nobody_is_asked_where_the_sdk_hides_its_runner_behind_a_timeout(
    gateway_of: Gateways, *, streams: bool
) -> None:
    """Whether the server keeps the conversation could not be told there."""
    gateway, provider = gateway_of(), scripted("Billing")
    desk = Desk(gateway, model_settings=ModelSettings(timeout=60))

    with gateway.override({"HANDOFF": provider}):
        result = asyncio.run(desk.run(streams=streams, auto_previous_response_id=True))

    assert not provider.asked
    assert result.final_output == "Tech here"


def test_a_runs_own_model_goes_past_the_point(gateway_of: Gateways) -> None:
    """Not cured: `RunConfig(model=…)` takes the place of every agent's model."""
    gateway, provider = gateway_of(), scripted("Billing")
    desk, other = Desk(gateway), ScriptedModel([[assistant_message("hi")]])

    with gateway.override({"HANDOFF": provider}):
        result = asyncio.run(desk.run(run_config=RunConfig(model=other)))

    assert result.final_output == "hi"
    assert not provider.asked


def test_the_name_of_a_model_is_no_model(gateway_of: Gateways) -> None:
    """It is told at once, and not in the middle of a run."""
    name: Any = "gpt-5"
    with pytest.raises(SetupError, match="get_model"):
        pm.RoutedModel(name, gateway_of(), "HANDOFF")


def test_under_current_the_call_is_not_even_looked_at(gateway_of: Gateways) -> None:
    """No state, no question: the wrapped model gets what it always got."""
    gateway, touched = gateway_of(), []
    desk = Desk(gateway)

    class Noting(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            touched.append(key)
            raise KeyError(key)

        get = __getitem__

    given: Any = [Noting(role="user")]

    def asked() -> None:
        asyncio.run(
            desk.model.get_response(
                None,
                given,
                ModelSettings(),
                [],
                None,
                given,
                None,  # type: ignore[arg-type]
                previous_response_id=None,
                conversation_id=None,
                prompt=None,
            )
        )

    asked()
    assert (len(desk.llm.calls), touched) == (1, [])
    with gateway.override({"HANDOFF": scripted("stay")}), pytest.raises(KeyError):
        asked()
    assert touched


def test_a_hand_off_decided_can_be_sent_to_a_model_again(gateway_of: Gateways) -> None:
    """A later turn carries the call and its output; no id is made up that a server would seek."""
    gateway = gateway_of()
    desk = Desk(gateway)

    with gateway.override({"HANDOFF": scripted("Billing")}):
        result = asyncio.run(desk.run())

    items = result.to_input_list()
    call, output = (one for one in items if one.get("type", "").startswith("function_call"))
    assert call["call_id"] == output["call_id"]
    assert call["name"] == "transfer_to_billing"
    assert "id" not in call


def test_the_subject_of_the_session_is_told(gateway_of: Gateways) -> None:
    teller = Teller()
    gateway = gateway_of({"DECISION_PROVIDER": "teller"}, plugins=[Offers(teller)])

    async def run() -> None:
        with gateway.session("conv-42"):
            await Desk(gateway).run()

    asyncio.run(run())
    assert [call.subject for call in teller.calls] == ["conv-42"]


@COLOURS
def test_a_shadow_is_compared_with_what_the_model_chose(
    gateway_of: Gateways, *, streams: bool
) -> None:
    recorder = Recorder()
    teller = Teller()
    environ = {"DECISION_HANDOFF_SHADOW": "teller"}
    gateway = gateway_of(environ, plugins=[Offers(teller)], observers=[recorder])

    result = asyncio.run(Desk(gateway).run(streams=streams))
    gateway.close()

    assert result.last_agent.name == "Tech"
    completed = {one.id: one for one in recorder.records}  # told again, when the model has chosen
    assert [(one.provider, one.outcome) for one in completed.values()] == [("current", "Tech")]
    assert len(teller.asked) == 1


# --- soft: hidden from the model -----------------------------------------------------------

MAY = Predicate("May this conversation go to a person?")


def test_a_hand_off_that_is_not_enabled_is_hidden_from_the_model(gateway_of: Gateways) -> None:
    gateway, provider = gateway_of(), scripted(NO)

    @gateway.point("TO_PERSON", MAY, lens=pm.ENABLED)
    async def may(_ctx: RunContextWrapper[Any], _agent: Any) -> bool:
        return True

    llm = ScriptedModel([[assistant_message("hi")], [assistant_message("hi")]])
    person = handoff(Agent[Any](name="Person"), is_enabled=may)
    desk = Agent[Any](name="Desk", model=llm, handoffs=[person])

    asyncio.run(Runner.run(desk, "hello"))
    with gateway.override({"TO_PERSON": provider}):
        asyncio.run(Runner.run(desk, "hello"))

    assert [len(call.handoffs) for call in llm.calls] == [1, 0]
    assert {ask.text for ask in provider.asked} == {"hello"}


def test_one_question_for_all_hand_offs_is_asked_once(gateway_of: Gateways) -> None:
    """Frameworks §6.2: a predicate for each hand-off multiplies calls; `RoutedModel` asks once."""
    gateway, each, once = gateway_of(), scripted(YES), scripted("Billing")

    @gateway.point("MAY", MAY, lens=pm.ENABLED)
    async def may(_ctx: RunContextWrapper[Any], _agent: Any) -> bool:
        return True

    to = [handoff(Agent[Any](name=name), is_enabled=may) for name in ("Billing", "Tech")]
    llm = ScriptedModel([[assistant_message("hi")]])
    with gateway.override({"MAY": each}):
        asyncio.run(Runner.run(Agent[Any](name="Desk", model=llm, handoffs=to), "hello"))
    with gateway.override({"HANDOFF": once}):
        asyncio.run(Desk(gateway).run())

    assert len(each.asked) >= 2
    assert len(once.asked) == 1


def test_the_wrapped_model_is_closed_and_advises_on_retries(gateway_of: Gateways) -> None:
    class Closing(ScriptedModel):
        closed = False

        async def close(self) -> None:
            self.closed = True

    llm = Closing()
    model = pm.RoutedModel(llm, gateway_of(), "HANDOFF")
    asyncio.run(model.close())
    assert llm.closed
    assert RunConfig(model=model).model is model


def test_who_leaves_a_stream_early_closes_the_models(gateway_of: Gateways) -> None:
    """Nothing outlives its owner: no connection of the wrapped model stays open."""
    closed = asyncio.Event()

    class Endless(ScriptedModel):
        async def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            try:
                while True:
                    yield object()
            finally:
                closed.set()

    async def run() -> None:
        model = pm.RoutedModel(Endless(), gateway_of(), "HANDOFF")
        given = {"input": "hi", "model_settings": ModelSettings(), "tools": [], "handoffs": []}
        rest = dict.fromkeys(("system_instructions", "output_schema", "tracing"))
        server = dict.fromkeys(("previous_response_id", "conversation_id", "prompt"))
        stream = model.stream_response(**given, **rest, **server)
        await anext(aiter(stream))
        assert not closed.is_set()
        await stream.aclose()  # type: ignore[attr-defined]
        assert closed.is_set()  # by then, and not when somebody clears up

    asyncio.run(run())


def test_a_run_that_is_cancelled_cancels_the_question(gateway_of: Gateways) -> None:
    """And neither the model nor current is asked instead."""

    async def run() -> None:
        teller = AsyncTeller()
        teller.gate.clear()
        gateway = gateway_of({"DECISION_PROVIDER": "teller"}, plugins=[Offers(teller)])
        desk = Desk(gateway)
        running = asyncio.create_task(desk.run())
        await teller.begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

        assert teller.cancelled == 1
        assert not desk.llm.calls

    asyncio.run(run())


def again(gateway: Gateway, given: Any, *, streams: bool) -> tuple[str, int]:
    """Whom a run goes to that fails, and is made again under another provider; who was asked."""
    flipped = scripted("Tech")

    async def run() -> str:
        broken = Desk(gateway)
        billing: Any = broken.triage.handoffs[0]
        billing.model = ScriptedModel([ConnectionError()])
        with gateway.override({"HANDOFF": scripted("Billing")}), pytest.raises(ConnectionError):
            await broken.run(given, streams=streams)
        with gateway.override({"HANDOFF": flipped}):
            return str((await Desk(gateway).run(given, streams=streams)).last_agent.name)

    return asyncio.run(run()), len(flipped.asked)


def message(**given: str) -> list[Any]:
    return [{"role": "user", "content": "my invoice doubled", **given}]


@COLOURS
def test_a_hand_off_stays_where_a_run_is_made_again_from_a_message_with_an_id(
    gateway_of: Gateways, *, streams: bool
) -> None:
    """frameworks §6.1: a subject and an id of the message say that it is the same one."""
    gateway = gateway_of()
    with gateway.session("customer-7"):
        assert again(gateway, message(id="m1"), streams=streams) == ("Billing", 0)
        assert again(gateway, message(id="m2"), streams=streams) == ("Billing", 0)
        assert again(gateway, message(), streams=streams) == ("Tech", 1)
    assert again(gateway, message(id="m1"), streams=streams) == ("Tech", 1)


def test_a_run_that_is_resumed_from_its_state_asks_nobody_who_takes_over(
    gateway_of: Gateways,
) -> None:
    """frameworks §6.1: the SDK keeps which agent it was handed to, without an id."""
    gateway, flipped = gateway_of(), scripted("Tech")

    @function_tool(needs_approval=True)
    def refund() -> str:
        return "refunded"

    async def run() -> str:
        desk = Desk(gateway)
        billing: Any = desk.triage.handoffs[0]
        billing.tools = [refund]
        billing.model = ScriptedModel(
            [[function_call("refund", {}, call_id="c2")], [assistant_message("Billing here")]]
        )
        with gateway.override({"HANDOFF": scripted("Billing")}):
            state = (await desk.run()).to_state()
        state.approve(state.get_interruptions()[0])
        with gateway.override({"HANDOFF": flipped}):
            return str((await Runner.run(desk.triage, state)).last_agent.name)

    assert asyncio.run(run()) == "Billing"
    assert flipped.asked == []
