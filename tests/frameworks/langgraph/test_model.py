"""`PointsmanDecisionModel`: LangChain's own middleware, switched by a variable."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

pytest.importorskip(
    "langchain_core.decisions", reason="runs in its own environment: make frameworks"
)

from langchain.agents import create_agent
from langchain.agents.middleware import AutoModeMiddleware, ModelChoice, ModelRouterMiddleware
from langchain_core.decisions import (
    BaseDecisionModel,
    Box,
    Choice,
    ChoiceAnswer,
    ClassifierResponse,
    Noul,
    NoulAnswer,
    NoulCriteria,
    Score,
    ScoreAnswer,
)
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from faulty import Server
from pointsman import Chosen, Gateway, Held, Reason, Recorder, Scored, scripted
from pointsman.gateway.integrations.langgraph import PointsmanDecisionModel
from promises import WAYS, decides, failing, hosted
from telling import Teller, telling

Gateways = Callable[..., Gateway]
Chats = Callable[..., Any]
COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])

TEAM = Choice(instructions="Which team?", criteria={"billing": "Amounts", "tech": {"of": "faults"}})
URGENT = Noul(instructions="Is it urgent?", criteria=NoulCriteria(true="Now", false="Later"))
ANGER = Score(instructions={"ask": "How angry?"}, criteria=["calm", "cross", "furious"])
ALL = {"team": TEAM, "urgent": URGENT, "anger": ANGER}


class Today(BaseDecisionModel):
    """A decision model of today, that says what it is made to say."""

    model: str = "today-1"
    asked: list[Any] = Field(default_factory=list)
    probability: float = 0.1

    @property
    def _provider(self) -> str:
        return "today"

    def _classify(self, state: Any, questions: Mapping[str, Any]) -> ClassifierResponse:
        self.asked.append((state, dict(questions)))
        answers = {name: self._answer(one) for name, one in questions.items()}
        return ClassifierResponse(model=self.model, answers=answers)

    def _answer(self, question: Any) -> Any:
        if isinstance(question, Choice):
            first = next(iter(question.criteria))
            spread = {first: 1.0}
            return ChoiceAnswer(type="choice", choice=first, probabilities=spread, confidence=1.0)
        if isinstance(question, Noul):
            return NoulAnswer(type="noul", noul=self.probability)
        return ScoreAnswer(type="score", score=0.0, legend={}, probabilities={}, confidence=1.0)


def made(gateway: Gateway, **given: Any) -> tuple[PointsmanDecisionModel, Today]:
    today = Today(**given)
    return PointsmanDecisionModel(gateway, "CLASSIFIER", current=today), today


def classified(model: Any, state: Any, questions: Any, colour: str) -> ClassifierResponse:
    request = {"state": state, "questions": questions}
    if colour == "sync":
        return model.invoke(request)  # type: ignore[no-any-return]
    return asyncio.run(model.ainvoke(request))  # type: ignore[no-any-return]


@COLOURS
def test_under_current_neither_state_nor_questions_are_translated(
    gateway_of: Gateways, colour: str
) -> None:
    """Today's own answer comes back; a provider would be shown what is noted here."""
    gateway, touched = gateway_of(), []
    model, _ = made(gateway)

    class Noting(dict[str, Any]):
        def items(self) -> Any:
            touched.append("items")
            return super().items()

    def answered() -> Any:
        questions = {"team": TEAM}
        if colour == "sync":
            return model._classify(Noting(text="hello"), questions)
        return asyncio.run(model._aclassify(Noting(text="hello"), questions))

    assert answered().answers["team"].choice == "billing"
    assert touched == []
    with gateway.override({"CLASSIFIER": scripted("tech")}):
        assert answered().answers["team"].choice == "tech"
    assert touched


@COLOURS
def test_a_providers_distribution_comes_back_as_it_was_given(
    gateway_of: Gateways, colour: str
) -> None:
    gateway = gateway_of()
    model, today = made(gateway)
    said = {
        "team": Chosen("tech", {"tech": 0.9, "billing": 0.1}, 0.8),
        "urgent": Held(0.93),
        "anger": Scored(1.9, (0.0, 0.1, 0.9), 0.85),
    }
    with gateway.override({"CLASSIFIER": scripted(said)}):
        response = classified(model, "my router is dead", ALL, colour)

    team, urgent, anger = (response.answers[name] for name in ALL)
    assert team == ChoiceAnswer(
        type="choice", choice="tech", probabilities={"billing": 0.1, "tech": 0.9}, confidence=0.8
    )
    assert urgent == NoulAnswer(type="noul", noul=0.93)
    assert isinstance(anger, ScoreAnswer)
    assert (anger.score, anger.probabilities) == (1.9, {0: 0.0, 1: 0.1, 2: 0.9})
    assert anger.legend == {0: "calm", 1: "cross", 2: "furious"}
    assert not today.asked


@pytest.mark.parametrize(("probability", "outcome"), [(0.5, True), (0.49, False)])
def test_what_today_says_is_recorded_as_langchain_reads_it(
    gateway_of: Gateways, probability: float, outcome: object
) -> None:
    """Its own middleware takes one half for a yes."""
    recorder = Recorder()
    model, _ = made(gateway_of(observers=[recorder]), probability=probability)
    classified(model, "my router is dead", {"urgent": URGENT}, "sync")
    assert [one.outcome for one in recorder.records] == [outcome]


@COLOURS
def test_where_one_question_is_undecided_today_answers_the_whole_request_once(
    gateway_of: Gateways, colour: str
) -> None:
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    model, today = made(gateway)
    said = {"team": "tech", "urgent": Held(0.51), "anger": 2}
    with gateway.override({"CLASSIFIER": scripted(said)}):
        response = classified(model, "my router is dead", ALL, colour)

    assert [one[1] for one in today.asked] == [ALL]
    assert response == today._classify("", ALL)
    (record,) = recorder.records
    assert record.attempts[0].reason is Reason.LOW_CONFIDENCE
    assert record.outcome == {"team": "billing", "urgent": False, "anger": 0.0}


@COLOURS
@pytest.mark.parametrize("way", WAYS)
def test_a_decision_model_falls_back_to_todays(
    server: Server, gateway_of: Gateways, way: str, colour: str
) -> None:
    """frameworks §6.11: each twin is switched and falls back by itself, without the other."""
    model, today = made(gateway_of(failing(server, way, "CLASSIFIER", "tech")))
    assert classified(model, "dead", {"team": TEAM}, colour).choices["team"].choice == "billing"
    assert len(today.asked) == 1


@pytest.mark.parametrize(
    ("state", "questions"),
    [
        ("dead", {"where": Box(instructions="Where is the router?"), "team": TEAM}),
        ("dead", {"team": Choice(instructions="Which?", criteria={"only": None})}),
        ({"shot": {"type": "image", "base64": "AA=="}}, {"team": TEAM}),
        (HumanMessage([{"type": "image", "base64": "AA=="}]), {"team": TEAM}),
    ],
    ids=["box", "one label", "image", "message with an image"],
)
def test_what_cannot_be_asked_of_others_is_asked_of_today(state: Any, questions: Any) -> None:
    """An image would not be seen by them, and an answer would look like any other."""
    teller = Teller()
    model, today = made(telling(teller))
    classified(model, state, questions, "sync")
    assert len(today.asked) == 1
    assert not teller.asked


def test_messages_and_structures_are_shown_as_data() -> None:
    teller = Teller()
    model, _ = made(telling(teller))
    nested = {"messages": [HumanMessage("hello"), AIMessage("hi")], "plan": "gold"}
    classified(model, nested, {"team": TEAM}, "sync")
    classified(model, HumanMessage("my router is dead"), {"team": TEAM}, "sync")
    assert [one.state for one in teller.asked] == [
        {
            "messages": [
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": "hi"},
            ],
            "plan": "gold",
        },
        "my router is dead",
    ]


@COLOURS
def test_nothing_is_read_or_changed_where_todays_model_decides(
    gateway_of: Gateways, colour: str
) -> None:
    looked: list[str] = []

    class Unread(dict[str, Any]):
        """A state that tells who looks into it."""

        def items(self) -> Any:
            looked.append("items")
            return super().items()

    model, today = made(gateway_of())
    state = Unread(what="secret")
    response = classified(model, state, ALL, colour)

    assert today.asked[0][0] is state
    assert not looked
    assert response.model == "today-1"


@COLOURS
def test_the_model_router_routes_by_variable_alone(
    server: Server, gateway_of: Gateways, chat: Chats, thread: Any, colour: str
) -> None:
    """The middleware is LangChain's own, unchanged."""
    server.does(decides("strong"))

    def ended(gateway: Gateway) -> str:
        choices = {
            "fast": ModelChoice(model=chat("fast says"), criteria="Simple"),
            "strong": ModelChoice(model=chat("strong says"), criteria="Hard"),
        }
        classifier, _ = made(gateway)
        router = ModelRouterMiddleware(choices=choices, instructions="?", classifier=classifier)
        agent = create_agent(chat(), middleware=[router], checkpointer=InMemorySaver())
        said = {"messages": [("user", "prove it")]}
        if colour == "sync":
            return str(agent.invoke(said, thread)["messages"][-1].text)
        return str(asyncio.run(agent.ainvoke(said, thread))["messages"][-1].text)

    assert ended(gateway_of()) == "fast says"
    assert ended(gateway_of(hosted(server.url, "CLASSIFIER"))) == "strong says"


@COLOURS
@pytest.mark.parametrize(("probability", "status"), [(0.45, "success"), (0.8, "error")])
def test_auto_mode_applies_its_own_threshold_to_the_raw_probability(
    chat: Chats, thread: Any, probability: float, status: str, colour: str
) -> None:
    """LangChain blocks from 0.5; the gateway's gate only says whether to believe the provider."""
    teller = Teller(lambda *_: Held(probability))
    gateway = telling(teller, {"DECISION_CLASSIFIER_MIN_CONFIDENCE": "0.5"})
    classifier, today = made(gateway, probability=1 - probability)
    auto = AutoModeMiddleware(tools=["look"], classifier=classifier)
    call = {"name": "look", "args": {"at": "safe"}, "id": "1"}

    def look(at: str) -> str:
        """Look something up."""
        return at

    model = chat(AIMessage("", tool_calls=[call]), "done")
    agent = create_agent(model, [look], middleware=[auto], checkpointer=InMemorySaver())
    said = {"messages": [("user", "look")]}
    run = (
        agent.invoke(said, thread) if colour == "sync" else asyncio.run(agent.ainvoke(said, thread))
    )

    assert [one.status for one in run["messages"] if isinstance(one, ToolMessage)] == [status]
    assert [one.subject for one in teller.calls] == ["customer-7"]
    assert not today.asked


def test_each_twin_is_answered_where_it_was_asked(gateway_of: Gateways) -> None:
    """frameworks §6.11: neither is bridged to the other, by LangChain's pool or by ours."""
    twins: list[tuple[str, int]] = []

    class Twins(Today):
        def _classify(self, state: Any, questions: Mapping[str, Any]) -> ClassifierResponse:
            twins.append(("sync", threading.get_ident()))
            return super()._classify(state, questions)

        async def _aclassify(self, state: Any, questions: Mapping[str, Any]) -> ClassifierResponse:
            twins.append(("async", threading.get_ident()))
            return super()._classify(state, questions)

    model = PointsmanDecisionModel(gateway_of(), "CLASSIFIER", current=Twins())
    for colour in ("sync", "async"):
        classified(model, "dead", {"team": TEAM}, colour)

    assert twins == [("sync", threading.get_ident()), ("async", threading.get_ident())]


def test_langchains_stock_double_cannot_be_given_tools(chat: Chats) -> None:
    """frameworks §6.10: it lacks `bind_tools`, so that these tests bring a double that has it."""

    def look(at: str) -> str:
        """Look something up."""
        return at

    def ended(model: Any) -> str:
        agent = create_agent(model, [look])
        return str(agent.invoke({"messages": [("user", "look")]})["messages"][-1].text)

    with pytest.raises(NotImplementedError):
        ended(GenericFakeChatModel(messages=iter([AIMessage("done")])))
    assert ended(chat("done")) == "done"
