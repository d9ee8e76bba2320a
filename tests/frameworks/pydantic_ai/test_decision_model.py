"""The gateway as a decision model: who answers, what comes back, and who takes over in doubt."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Literal

import pytest

pytest.importorskip("pydantic_ai", reason="runs in its own environment: make frameworks")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel, Field
from pydantic_ai import Agent, BinaryContent, models
from pydantic_ai.models.decision import (
    ChoiceAnswer,
    DecisionHandOff,
    DecisionModel,
    DecisionModelSettings,
    DecisionRequest,
    DecisionResponse,
    NoulAnswer,
)
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.test import TestModel

from faulty import Server, replies
from pointsman import (
    Choice,
    Chosen,
    Gateway,
    Held,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    Reply,
    Score,
    Scored,
    SetupError,
    Usage,
    scripted,
)
from pointsman.gateway.integrations.pydantic_ai import PointsmanDecisionModel
from promises import WAYS, asked, decides, failing, hosted
from telling import Offers, Teller

Gateways = Callable[..., Gateway]
Team = Literal["billing", "tech"]
YES, NO = True, False


class Counted(TestModel):
    """Today's language model; counts its calls."""

    calls = 0

    async def request(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return await super().request(*args, **kwargs)


class Today(DecisionModel[None]):
    """Today's own decision model: it says no to everything."""

    requests = 0
    model_name, system, base_url = "today", "today", None

    async def request(self, *args: Any, **kwargs: Any) -> Any:
        self.requests += 1
        return await super().request(*args, **kwargs)

    async def decide(
        self, request: DecisionRequest, model_settings: DecisionModelSettings
    ) -> DecisionResponse:
        self.decided = request
        answers: Any = dict.fromkeys(request.questions, NoulAnswer(noul=0.1))
        return DecisionResponse(answers=answers, model_name="today-1")


class Desk:
    """An agent whose output is decided, with a language model behind."""

    def __init__(self, gateway: Gateway, output: Any = Team) -> None:
        self.llm = Counted()
        decider = PointsmanDecisionModel(gateway, "TRIAGE")
        model = FallbackModel(decider, self.llm, fallback_on=DecisionHandOff)
        self.agent: Agent[None, Any] = Agent(
            model, output_type=output, instructions="Which of these applies?"
        )

    def run(self, text: Any = "my router is dead") -> Any:
        return asyncio.run(self.agent.run(text))


@pytest.mark.parametrize("planned", [True, False])
def test_the_output_switches_by_the_environment_alone(
    gateway_of: Gateways, server: Server, *, planned: bool
) -> None:
    """The provider's answer costs no call of the language model."""
    server.does(decides("tech"))
    gateway = gateway_of(hosted(server.url, "TRIAGE") if planned else {})
    desk = Desk(gateway)

    result = desk.run()

    assert result.output == ("tech" if planned else "billing")
    assert desk.llm.calls == (0 if planned else 1)
    if planned:
        (body,) = asked(server)
        assert body["input"] == "my router is dead"
        assert result.response.model_name == "typesafe-ai/jev-1.13.0"


@pytest.mark.parametrize("way", WAYS)
def test_a_real_server_that_fails_leaves_the_step_to_the_language_model(
    gateway_of: Gateways, server: Server, way: str
) -> None:
    """One fallback; the gateway's own record says `current`."""
    recorder = Recorder()
    gateway = gateway_of(failing(server, way, "TRIAGE", said="tech"), observers=[recorder])
    desk = Desk(gateway)

    assert desk.run().output == "billing"

    assert desk.llm.calls == 1
    completed = {one.id: one for one in recorder.records}
    (record,) = completed.values()
    assert (record.variant, record.provider, record.fallback) == ("jev", "current", True)


def test_without_fallback_the_run_fails_and_the_language_model_is_not_asked(
    gateway_of: Gateways,
) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    desk = Desk(gateway)

    with gateway.override({"TRIAGE": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        desk.run()

    assert desk.llm.calls == 0


# --- types are questions -------------------------------------------------------------------


class Mood(enum.Enum):
    CALM = "calm"
    ANGRY = "angry"


class Handling(BaseModel):
    """How a message is handled."""

    team: Team = Field(description="Which team?")
    angry: bool = Field(description="Is the customer angry?")
    urgent: float = Field(ge=0, le=1, description="Is it urgent?")


TYPED = {
    "literal": (Team, Chosen("tech", {"billing": 0.2, "tech": 0.8}, 0.8), "tech", Choice),
    "enum": (Mood, Chosen("angry", {"calm": 0.1, "angry": 0.9}, 0.9), Mood.ANGRY, Choice),
    "bool": (bool, Held(0.9), True, Predicate),
}


@pytest.mark.parametrize(("output", "says", "value", "kind"), TYPED.values(), ids=TYPED)
def test_an_output_type_is_a_question(
    gateway_of: Gateways, output: Any, says: Any, value: object, kind: type
) -> None:
    gateway, provider = gateway_of(), scripted({"response": says})
    desk = Desk(gateway, output)

    with gateway.override({"TRIAGE": provider}):
        assert desk.run().output == value

    assert isinstance(provider.asked[0].questions["response"], kind)


def test_what_comes_back_is_the_providers_own_distribution(gateway_of: Gateways) -> None:
    """The framework's thresholds apply to it afterwards: a number stays that number."""
    gateway = gateway_of()
    spread = {"billing": 0.25, "tech": 0.75}
    says = {"team": Chosen("tech", spread, 0.8), "angry": Held(0.2), "urgent": Held(0.84)}
    desk = Desk(gateway, Handling)

    with gateway.override({"TRIAGE": scripted(says)}):
        result = desk.run()

    assert result.output == Handling(team="tech", angry=False, urgent=0.84)
    details = result.response.provider_details
    assert details["probabilities"]["team"] == spread
    assert details["confidence"]["team"] == 0.8


def test_the_frameworks_own_threshold_applies_to_what_the_provider_said(
    gateway_of: Gateways,
) -> None:
    """0.8 is believed by the gateway, and is no yes for an agent that wants 0.9."""
    gateway = gateway_of()
    desk = Desk(gateway, bool)
    desk.agent.model_settings = DecisionModelSettings(decision_boolean_threshold=0.9)

    with gateway.override({"TRIAGE": scripted({"response": Held(0.8)})}):
        assert desk.run().output is False


def test_a_rubric_is_a_score(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    levels: Any = {"anyOf": [{"const": n, "description": f"level {n}"} for n in range(3)]}

    class Rated(BaseModel):
        level: int = Field(description="How bad is it?", json_schema_extra=levels)

    provider = scripted({"level": Scored(1.7, (0.05, 0.2, 0.75), 0.9)})
    desk = Desk(gateway, Rated)

    with gateway.override({"TRIAGE": provider}):
        result = desk.run()

    (question,) = provider.asked[0].questions.values()
    assert isinstance(question, Score)
    assert result.output.level == 2
    assert result.response.provider_details["scores"] == {"level": 1.7}


def test_if_one_question_is_undecided_the_whole_batch_is_currents(gateway_of: Gateways) -> None:
    """Once, and for all of them: no output is half the provider's."""
    gateway = gateway_of()
    says = {"team": Chosen("tech", None, 0.99), "angry": Held(0.5), "urgent": Held(0.9)}
    provider, desk = scripted(says), Desk(gateway, Handling)

    with gateway.override({"TRIAGE": provider}):
        assert desk.run().output.team == "billing"

    assert (len(provider.asked), desk.llm.calls) == (1, 1)


class Refund(BaseModel):
    """Pay money back."""

    big: bool = Field(description="Is it much?")


class Answer(BaseModel):
    """Answer a question."""

    tone: Literal["warm", "dry"] = Field(description="In which tone?")


def test_what_a_route_that_is_not_taken_would_need_may_be_unsure(gateway_of: Gateways) -> None:
    """Its fields are asked along with the route, and count only where it is taken."""
    gateway = gateway_of()
    says = {
        "route": Chosen("Answer", None, 0.9),
        "Refund.big": Held(0.5),
        "Answer.tone": Chosen("warm", None, 0.9),
    }
    desk = Desk(gateway, [Refund, Answer])

    with gateway.override({"TRIAGE": scripted(says)}):
        assert desk.run().output == Answer(tone="warm")
    with gateway.override({"TRIAGE": scripted({**says, "route": Chosen("Refund", None, 0.9)})}):
        desk.run()

    assert desk.llm.calls == 1  # for the second: its own field is unsure


def test_a_prompt_with_an_image_is_the_language_models(gateway_of: Gateways) -> None:
    """It cannot be shown, and the rest of a prompt is not the prompt."""
    gateway, provider = gateway_of(), scripted("tech")
    desk = Desk(gateway)

    with gateway.override({"TRIAGE": provider}):
        result = desk.run(["what is this?", BinaryContent(b"png", media_type="image/png")])

    assert result.output == "billing"
    assert not provider.asked


class Untold(BaseModel):
    ok: bool = Field(description="Is it?")


class Untold2(BaseModel):
    ok: bool = Field(description="Is it?")


MANY = Literal[tuple(f"option {n}" for n in range(256))]  # type: ignore[valid-type]
NO_QUESTIONS = {
    "text": (str, "success (no tool calls)"),
    "number": (int, 0),
    "text or typed": ([Untold, str], "success (no tool calls)"),
    "union that says nothing": ([Untold, Untold2], Untold(ok=False)),
    "too many options": (MANY, "option 0"),
}


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize(("output", "value"), NO_QUESTIONS.values(), ids=NO_QUESTIONS)
def test_an_output_that_is_no_question_is_the_language_models(
    gateway_of: Gateways, output: Any, value: Any, *, planned: bool, streams: bool
) -> None:
    """Switched or not, such an agent runs as today, and nobody else is asked."""
    gateway, provider = gateway_of(), scripted("tech")
    desk = Desk(gateway, output)

    async def run() -> Any:
        if not streams:
            return (await desk.agent.run("my router is dead")).output
        async with desk.agent.run_stream("my router is dead") as stream:
            return await stream.get_output()

    with gateway.override({"TRIAGE": provider} if planned else {}):
        assert asyncio.run(run()) == value
    assert not provider.asked


def test_an_output_that_is_no_question_is_todays_decision_models_own(gateway_of: Gateways) -> None:
    """What it may be asked is its own affair."""

    class Wider(Today):
        max_choice_options = None

        async def decide(self, request: DecisionRequest, _settings: Any) -> DecisionResponse:
            chosen = ChoiceAnswer(choice="option 7", confidence=1.0, probabilities={"option 7": 1})
            return DecisionResponse(
                answers=dict.fromkeys(request.questions, chosen), model_name="today-1"
            )

    gateway, provider, today = gateway_of(), scripted("tech"), Wider()
    model = PointsmanDecisionModel(gateway, "ANGRY", current=today)
    agent: Agent[None, Any] = Agent(model, output_type=MANY, instructions="Which?")

    with gateway.override({"ANGRY": provider}):
        assert asyncio.run(agent.run("the seventh")).output == "option 7"

    assert today.requests == 1
    assert not provider.asked


@pytest.mark.parametrize(("held", "urgent"), [(0.84, 0.84), (0.6, 0.0), (0.1, 0.1)])
def test_a_bounded_number_near_the_middle_is_currents(
    gateway_of: Gateways, held: float, urgent: float
) -> None:
    """It is asked as a yes or no, whose confidence is how far from the middle it lies."""

    class Urgency(BaseModel):
        urgent: float = Field(ge=0, le=1, description="How urgent is it?")

    gateway = gateway_of()
    with gateway.override({"TRIAGE": scripted({"urgent": Held(held)})}):
        assert Desk(gateway, Urgency).run().output == Urgency(urgent=urgent)

    sure = gateway_of({"DECISION_TRIAGE_MIN_CONFIDENCE": "0.5"})
    with sure.override({"TRIAGE": scripted({"urgent": Held(held)})}):
        assert Desk(sure, Urgency).run().output == Urgency(urgent=held)


class Counts(Teller):
    """A provider that says what an answer cost."""

    def told(self, ask: Any, call: Any) -> Reply:
        reply = super().told(ask, call)
        return Reply(reply.answers, usage=Usage(input_tokens=11, output_tokens=3))


def test_the_runs_usage_is_what_the_provider_counted(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_TRIAGE_PROVIDER": "teller"}, plugins=[Offers(Counts())])

    usage = Desk(gateway).run().usage

    assert (usage.input_tokens, usage.output_tokens) == (11, 3)


def test_a_conversation_is_shown_with_its_history(gateway_of: Gateways) -> None:
    gateway, provider = gateway_of(), scripted("tech")
    desk = Desk(gateway)
    before = desk.run("hello").all_messages()

    with gateway.override({"TRIAGE": provider}):
        asyncio.run(desk.agent.run("my router is dead", message_history=before))

    state = provider.asked[0].state
    assert state["text"] == "my router is dead"
    assert {"user": "hello"} in state["history"]


def test_a_streamed_run_gets_the_whole_answer_at_once(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    desk = Desk(gateway)

    async def run() -> Any:
        async with desk.agent.run_stream("my router is dead") as stream:
            return await stream.get_output()

    assert asyncio.run(run()) == "billing"
    with gateway.override({"TRIAGE": scripted("tech")}):
        assert asyncio.run(run()) == "tech"


def test_the_sync_form_decides_too(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    desk = Desk(gateway)

    with gateway.override({"TRIAGE": scripted("tech")}):
        assert desk.agent.run_sync("my router is dead").output == "tech"


# --- current -------------------------------------------------------------------------------


def test_under_current_nothing_of_the_call_is_read(gateway_of: Gateways) -> None:
    """Not even the framework's own state and questions are made."""
    model = PointsmanDecisionModel(gateway_of(), "TRIAGE")
    untouchable: Any = None

    with pytest.raises(DecisionHandOff, match="TRIAGE"):
        asyncio.run(model.request(untouchable, untouchable, untouchable))


@pytest.mark.parametrize("line", [None, Reason.REFUSED, {"response": Held(0.99)}])
def test_todays_own_decision_model_may_be_current(gateway_of: Gateways, line: Any) -> None:
    recorder, today = Recorder(), Today()
    gateway = gateway_of(observers=[recorder] if line is not None else [])
    model = PointsmanDecisionModel(gateway, "ANGRY", current=today)
    agent = Agent(model, output_type=bool, instructions="Is it angry?")

    planned = nullcontext() if line is None else gateway.override({"ANGRY": scripted(line)})
    with planned:
        result = asyncio.run(agent.run("my router is dead"))

    assert result.output is isinstance(line, dict)
    assert today.requests == (1 if line is None else 0)  # untouched, the whole request is its own
    completed = {one.id: (one.provider, one.outcome) for one in recorder.records}
    expected = {None: [], Reason.REFUSED: [("current", False)]}
    told = [("scripted", True)] if isinstance(line, dict) else expected[line]
    assert list(completed.values()) == told


def test_a_language_model_stands_behind_and_is_no_current(gateway_of: Gateways) -> None:
    """It is told at once, and not when the first provider fails."""
    llm: Any = TestModel()
    with pytest.raises(SetupError, match="FallbackModel"):
        PointsmanDecisionModel(gateway_of(), "TRIAGE", current=llm)


def test_a_shadow_is_compared_with_todays_own_decision_model(gateway_of: Gateways) -> None:
    recorder, teller = Recorder(), Teller()
    environ = {"DECISION_ANGRY_SHADOW": "teller"}
    gateway = gateway_of(environ, plugins=[Offers(teller)], observers=[recorder])
    model = PointsmanDecisionModel(gateway, "ANGRY", current=Today())
    agent = Agent(model, output_type=bool, instructions="Is it angry?")

    assert asyncio.run(agent.run("my router is dead")).output is False
    gateway.close()

    assert len(teller.asked) == 1
    completed = {one.id: one.outcome for one in recorder.records}
    assert list(completed.values()) == [False]


def test_where_nothing_stands_behind_the_hand_off_says_what_to_do(gateway_of: Gateways) -> None:
    agent = Agent(
        PointsmanDecisionModel(gateway_of(), "TRIAGE"), output_type=Team, instructions="Which team?"
    )

    with pytest.raises(DecisionHandOff, match="FallbackModel"):
        asyncio.run(agent.run("my router is dead"))


# --- surroundings --------------------------------------------------------------------------


def test_the_session_is_the_subject(gateway_of: Gateways) -> None:
    """Inside a model there is no run context: the session's contextvar reaches it."""
    teller = Teller()
    gateway = gateway_of({"DECISION_PROVIDER": "teller"}, plugins=[Offers(teller)])

    with gateway.session("conv-42"):
        Desk(gateway).run()

    assert [call.subject for call in teller.calls] == ["conv-42"]


def test_the_hosts_test_gate_refuses_a_planned_provider_and_not_current(
    gateway_of: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frameworks §6.10: `ALLOW_MODEL_REQUESTS=False` counts a decision model as a real one."""
    monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", NO)
    gateway = gateway_of()
    desk = Desk(gateway)

    assert desk.run().output == "billing"
    with gateway.override({"TRIAGE": scripted("tech")}):
        with pytest.raises(RuntimeError, match="ALLOW_MODEL_REQUESTS"):
            desk.run()
        with models.override_allow_model_requests(YES):
            assert desk.run().output == "tech"


def test_the_frameworks_own_spans_stay_whole(gateway_of: Gateways) -> None:
    """Frameworks §7: `decide` stands under the request, named after the point."""
    exporter = InMemorySpanExporter()
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(exporter))
    gateway = gateway_of()
    desk = Desk(gateway)
    desk.agent.instrument = InstrumentationSettings(tracer_provider=tracing)

    with gateway.override({"TRIAGE": scripted("tech")}):
        assert desk.run().output == "tech"

    spans = {span.name: span for span in exporter.get_finished_spans()}
    decide = spans["decide TRIAGE"]
    assert decide.parent is not None
    assert decide.parent.span_id in {span.context.span_id for span in spans.values()}


def test_the_gateways_own_span_stands_under_the_frameworks(gateway_of: Gateways) -> None:
    """Frameworks §7: both are called `decide TRIAGE`; theirs is the parent."""
    exporter = InMemorySpanExporter()
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(exporter))
    gateway = gateway_of()
    gateway.instrument(tracer_provider=tracing)
    desk = Desk(gateway)
    desk.agent.instrument = InstrumentationSettings(tracer_provider=tracing)

    with gateway.override({"TRIAGE": scripted("tech")}):
        assert desk.run().output == "tech"

    ours, theirs = (one for one in exporter.get_finished_spans() if one.name == "decide TRIAGE")
    assert ours.parent is not None
    assert ours.parent.span_id == theirs.context.span_id


def test_no_prompt_and_no_key_reaches_the_log(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    server.does(replies(b"oops", 500))
    environ = {**hosted(server.url, "TRIAGE"), "DECISION_LOG": "json"}
    with Gateway.from_env(environ) as gateway:
        assert Desk(gateway).run("zq7-prompt my card is 4111").output == "billing"

    written = capfd.readouterr()
    assert "TRIAGE" in written.err
    assert "zq7" not in written.out + written.err  # the planted key begins so too
