"""`PointsmanClassifier` in ADK's own `ClassifierNode`."""

# ruff: noqa: ARG001 - ADK passes nodes their arguments by name
from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="runs in its own environment: make frameworks")

from google.adk.labs.classifiers import Binary, Choice, ClassifierNode, Score
from google.adk.workflow import START, Workflow
from google.genai import types

from faulty import Server
from frameworks.google_adk.desks import SESSION, Desk, Watching, Words
from pointsman import (
    Ask,
    Chosen,
    Gateway,
    Held,
    NoAnswer,
    Reason,
    Recorder,
    Scored,
    scripted,
)
from pointsman import Choice as OwnChoice
from pointsman.gateway.integrations.google_adk import PointsmanClassifier, PointsmanPlugin
from pointsman.gateway.integrations.google_adk import classifier as module
from promises import WAYS, asked, decides, failing, hosted

Gateways = Callable[..., Gateway]

TEAM = Choice(
    instructions="Which team?", criteria={"billing": "Invoices", "technical": {"about": "Faults"}}
)
INVOICE = "my invoice doubled"


def billing(node_input: Any) -> str:
    return "billing desk"


def technical(node_input: Any) -> str:
    return "technical desk"


def workflow(gateway: Gateway, words: Words, **given: Any) -> Workflow:
    classifier = PointsmanClassifier(gateway, "TEAM", current=words)
    node = ClassifierNode(name="pick", classifier=classifier, question=TEAM, **given)
    edges = (START, node, {"billing": billing, "technical": technical})
    return Workflow(name="root", edges=[edges])


async def routed(gateway: Gateway, words: Words, text: str = INVOICE) -> str:
    """Which desk the message came to."""
    desk = await Desk(workflow(gateway, words), plugins=[PointsmanPlugin(gateway)]).begun()
    events = await desk.said(text)
    return str(events[-1].output)


def test_the_node_switches_by_a_variable_alone(server: Server, gateway_of: Gateways) -> None:
    """frameworks §5, ADK: route (native)."""
    server.does(decides("technical"))
    words = Words()

    assert asyncio.run(routed(gateway_of(), words)) == "billing desk"
    assert asyncio.run(routed(gateway_of(hosted(server.url, "TEAM")), words)) == "technical desk"
    assert words.calls == 1
    (body,) = asked(server)
    assert body["input"] == INVOICE


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_leaves_the_node_to_the_classifier_of_today(
    way: str, server: Server, gateway_of: Gateways
) -> None:
    words = Words()
    gateway = gateway_of(failing(server, way, "TEAM", "technical"))

    assert asyncio.run(routed(gateway, words)) == "billing desk"
    assert words.calls == 1


def test_the_raw_distribution_reaches_the_node(gateway_of: Gateways) -> None:
    """frameworks §2: native consumers apply thresholds of their own."""
    gateway = gateway_of()

    async def answered() -> Any:
        root = workflow(gateway, Words(), answer_key="why")
        desk = await Desk(root, plugins=[PointsmanPlugin(gateway)]).begun()
        await desk.said(INVOICE)
        return (await desk.session()).state["why"]

    sure = Chosen("technical", {"technical": 0.8, "billing": 0.2}, 0.9)
    with gateway.override({"TEAM": scripted(sure)}):
        assert asyncio.run(answered()) == {
            "type": "choice",
            "choice": "technical",
            "probabilities": {"billing": 0.2, "technical": 0.8},
            "confidence": 0.9,
        }


@pytest.mark.parametrize(("threshold", "desk"), [(0.5, "billing desk"), (0.99, "technical desk")])
def test_the_node_applies_its_own_threshold_to_a_truth(
    threshold: float, desk: str, gateway_of: Gateways
) -> None:
    """The gateway's gate decides only who answers; ADK's threshold decides what follows."""
    gateway = gateway_of()

    async def run() -> str:
        node = ClassifierNode(
            name="pick",
            classifier=PointsmanClassifier(gateway, "PAYS", current=Words()),
            question=Binary(instructions="Is it about money?"),
            threshold=threshold,
        )
        root = Workflow(name="root", edges=[(START, node, {True: billing, False: technical})])
        events = await (await Desk(root).begun()).said(INVOICE)
        return str(events[-1].output)

    with gateway.override({"PAYS": scripted(Held(0.9))}):
        assert asyncio.run(run()) == desk


QUESTIONS = {
    "team": TEAM,
    "angry": Binary(criteria="The customer is angry"),
    "urgency": Score(criteria=["can wait", "today", "now"]),
}


def test_questions_are_asked_together_and_answered_in_their_own_types(
    gateway_of: Gateways,
) -> None:
    gateway, words = gateway_of(), Words()
    classifier = PointsmanClassifier(gateway, "TRIAGE", current=words)
    says = scripted(
        {"team": "billing", "angry": Held(0.2), "urgency": Scored(1.5, [0.0, 0.5, 0.5], 0.8)},
        confidence=0.9,
    )

    with gateway.override({"TRIAGE": says}):
        response = asyncio.run(classifier.classify(input={"text": INVOICE}, questions=QUESTIONS))

    assert words.calls == 0
    assert response.answers["team"].choice == "billing"
    assert response.answers["team"].probabilities == {}, "none was given, so none is made up"
    assert response.answers["angry"].probability == 0.2
    assert response.answers["urgency"].score == 1.5
    assert response.answers["urgency"].probabilities == {0: 0.0, 1: 0.5, 2: 0.5}
    assert response.model_version == "scripted-1"
    (ask,) = says.asked
    assert ask.questions["team"].options == {
        "billing": "Invoices",
        "technical": '{"about": "Faults"}',
    }
    assert ask.questions["angry"].true == "The customer is angry"


def test_one_undecided_question_leaves_the_whole_batch_to_today_once(gateway_of: Gateways) -> None:
    """frameworks §4: fall back for the whole batch once; the answer is today's own object."""
    recorder, words = Recorder(), Words()
    gateway = gateway_of(observers=[recorder])
    classifier = PointsmanClassifier(gateway, "TRIAGE", current=words)
    unsure = {"team": "technical", "angry": Held(0.51), "urgency": Scored(2.0, None, 0.9)}

    with gateway.override({"TRIAGE": scripted(unsure)}):
        response = asyncio.run(classifier.classify(input=INVOICE, questions=QUESTIONS))

    assert words.calls == 1
    assert response is words.given
    (record,) = recorder.records
    assert record.provider == "current"
    assert record.outcome == {"team": "billing", "angry": True, "urgency": 0.0}
    assert record.reason == Reason.LOW_CONFIDENCE


def test_where_the_plan_is_current_nothing_is_touched(
    gateway_of: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No state is built and no question: only today's classifier looks at them."""
    touched: list[str] = []

    def noted(name: str) -> None:
        does = getattr(module, name)

        def noting(*given: Any) -> Any:
            touched.append(name)
            return does(*given)

        monkeypatch.setattr(module, name, noting)

    noted("readable")
    noted("_question")
    words, gateway = Words(), gateway_of()
    classifier = PointsmanClassifier(gateway, "TEAM", current=words)

    def answered() -> Any:
        return asyncio.run(classifier.classify(input=INVOICE, questions={"team": TEAM}))

    assert answered() is words.given
    assert touched == []
    with gateway.override({"TEAM": scripted("billing")}):
        answered()
    assert sorted(touched) == ["_question", "readable"]


PICTURE = types.Content(parts=[types.Part.from_bytes(data=b"x", mime_type="image/png")])


@pytest.mark.parametrize(
    ("shown", "question"),
    [
        (PICTURE, TEAM),
        ([PICTURE], TEAM),
        (types.Content(parts=[]), TEAM),
        ("", TEAM),
        (INVOICE, Choice(criteria={str(label): None for label in range(300)})),
    ],
    ids=["a picture", "among others", "nothing", "no words", "too many labels"],
)
def test_what_a_provider_cannot_be_asked_is_left_to_today(
    shown: Any, question: Choice, gateway_of: Gateways
) -> None:
    recorder, words, says = Recorder(), Words(), scripted("technical")
    gateway = gateway_of(observers=[recorder])
    classifier = PointsmanClassifier(gateway, "TEAM", current=words)

    with gateway.override({"TEAM": says}):
        response = asyncio.run(classifier.classify(input=shown, questions={"team": question}))

    assert response is words.given
    assert says.asked == []
    assert [record.reason for record in recorder.records] == [Reason.UNSUPPORTED]


def test_without_a_fallback_the_node_ends_with_no_answer(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    classifier = PointsmanClassifier(gateway, "TEAM", current=Words())

    with gateway.override({"TEAM": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        asyncio.run(classifier.classify(input=INVOICE, questions={"team": TEAM}))


AFTER = Ask("after", {"team": OwnChoice("Which?", ["billing", "technical"])})


def test_the_plugin_binds_adk_s_session_and_lets_go_of_it(gateway_of: Gateways) -> None:
    """`classify` is given no context; without the plugin there is no subject."""
    gateway, watching = gateway_of(), Watching("technical")

    async def run() -> None:
        desk = await Desk(workflow(gateway, Words()), plugins=[PointsmanPlugin(gateway)]).begun()
        await desk.said(INVOICE)
        await gateway.ask("TEAM", AFTER, current=lambda: "billing")
        bare = await Desk(workflow(gateway, Words())).begun()
        await bare.said(INVOICE)

    with gateway.override({"TEAM": watching}):
        asyncio.run(run())

    assert watching.subjects == [SESSION, None, None]


def test_the_plugin_lets_go_of_the_session_of_a_run_that_fails(gateway_of: Gateways) -> None:
    gateway, watching = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"}), Watching("technical")

    async def run() -> None:
        desk = await Desk(workflow(gateway, Words()), plugins=[PointsmanPlugin(gateway)]).begun()
        with gateway.override({"TEAM": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
            await desk.said(INVOICE)
        with gateway.override({"TEAM": watching}):
            await gateway.ask("TEAM", AFTER, current=lambda: "billing")

    asyncio.run(run())

    assert watching.subjects == [None]


def test_the_plugin_keeps_nothing_of_a_run_that_is_cancelled(gateway_of: Gateways) -> None:
    """ADK tells a plugin of every other end."""
    gateway, watching = gateway_of(), Watching("technical")
    plugin, begun = PointsmanPlugin(gateway), asyncio.Event()

    class Waits(Words):
        async def classify(self, **_: Any) -> Any:
            begun.set()
            await asyncio.Event().wait()

    async def cancelled() -> None:
        desk = await Desk(workflow(gateway, Waits()), plugins=[plugin]).begun()
        run = asyncio.create_task(desk.said(INVOICE))
        await begun.wait()
        assert len(plugin._sessions) == 1
        run.cancel()
        await asyncio.wait([run])

    async def run() -> None:
        await cancelled()
        gc.collect()
        assert plugin._sessions == {}
        with gateway.override({"TEAM": watching}):
            await gateway.ask("TEAM", AFTER, current=lambda: "billing")

    asyncio.run(run())

    assert watching.subjects == [None]


def test_concurrent_runs_keep_their_sessions_apart(gateway_of: Gateways) -> None:
    gateway, watching = gateway_of(), Watching("technical")

    async def run() -> None:
        desk = Desk(workflow(gateway, Words()), plugins=[PointsmanPlugin(gateway)])
        names = [f"conversation-{number}" for number in range(5)]
        for name in names:
            await desk.begun(name)
        await asyncio.gather(*(desk.said(INVOICE, session=name) for name in names))

    with gateway.override({"TEAM": watching}):
        asyncio.run(run())

    assert sorted(watching.subjects) == [f"conversation-{number}" for number in range(5)]


def test_adk_still_checks_the_labels_against_the_edges(gateway_of: Gateways) -> None:
    """frameworks §6.8: the classifier does not hide what the node reads of its question."""
    node = ClassifierNode(
        name="pick",
        classifier=PointsmanClassifier(gateway_of(), "TEAM", current=Words()),
        question=TEAM,
    )

    with pytest.raises(ValueError, match=r"no edge for routes \['technical'\]"):
        Workflow(name="root", edges=[(START, node, {"billing": billing})])
