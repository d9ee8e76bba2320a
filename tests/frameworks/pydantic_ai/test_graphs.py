"""Steps of a graph, and judges of an evaluation."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest

pytest.importorskip("pydantic_ai", reason="runs in its own environment: make frameworks")

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext
from pydantic_graph import (
    BaseNode,
    End,
    GraphBuilder,
    GraphRunContext,
    StepContext,
    TypeExpression,
)

from faulty import Server
from pointsman import Choice, Gateway, Predicate, Reason, Recorder, Score, SetupError, scripted
from pointsman.gateway.integrations.pydantic_ai import NODE, STEP
from pointsman.gateway.integrations.pydantic_ai.judging import PointsmanEvaluator
from promises import WAYS, decides, failing, hosted

Gateways = Callable[..., Gateway]
YES, NO = True, False
Team = Literal["billing", "tech"]
WHO = Choice("Who takes it?", {"billing": "Amounts", "tech": "Faults"})
GATEWAY = Gateway.from_env({"DECISION_LOG": "off"})


@GATEWAY.point("STEP", WHO, lens=STEP)
async def pick(ctx: StepContext[None, None, str]) -> Team:
    """Today's own decision."""
    return "billing" if "invoice" in ctx.inputs else "tech"


def graph() -> Any:
    builder = GraphBuilder(input_type=str, output_type=str)
    step = builder.step(pick)

    @builder.step
    async def billing(_ctx: StepContext[None, None, Any]) -> str:
        return "to billing"

    @builder.step
    async def tech(_ctx: StepContext[None, None, Any]) -> str:
        return "to tech"

    ways = builder.decision()
    ways = ways.branch(builder.match(TypeExpression[Literal["billing"]]).to(billing))
    ways = ways.branch(builder.match(TypeExpression[Literal["tech"]]).to(tech))
    builder.add(
        builder.edge_from(builder.start_node).to(step),
        builder.edge_from(step).to(ways),
        builder.edge_from(billing, tech).to(builder.end_node),
    )
    return builder.build()


@pytest.mark.parametrize("line", [None, "billing", "tech", Reason.TIMEOUT])
def test_a_graphs_step_is_switched(line: Any) -> None:
    provider = scripted(line)
    with GATEWAY.override({} if line is None else {"STEP": provider}):
        said = asyncio.run(graph().run(inputs="my router is dead"))

    assert said == ("to billing" if line == "billing" else "to tech")
    assert [ask.text for ask in provider.asked] == ([] if line is None else ["my router is dead"])


def test_a_step_keeps_its_colour_its_annotations_and_its_place() -> None:
    """Frameworks §6.8: the framework reads them."""
    assert inspect.iscoroutinefunction(pick)
    assert get_type_hints(pick)["return"] == Team
    assert pickle.loads(pickle.dumps(pick)) is pick


@dataclass
class Billing(BaseNode[None, None, str]):
    """To billing."""

    async def run(self, ctx: GraphRunContext[None]) -> End[str]:
        return End("to billing")


@dataclass
class Pick(BaseNode[None, None, str]):
    """Today's own decision is the node that it returns."""

    message: str

    @GATEWAY.point("NODE", WHO, lens=NODE, write=lambda team: NEXT[team])
    async def run(self, ctx: GraphRunContext[None]) -> Billing | End[str]:
        return End("to tech")


NEXT: dict[str, Any] = {"billing": Billing(), "tech": End("to tech")}


@pytest.mark.parametrize("line", [None, "billing", Reason.TIMEOUT])
def test_a_graphs_node_is_switched(line: Any) -> None:
    """Its ways are read from the annotation, which stays (frameworks §6.8)."""
    builder = GraphBuilder(input_type=Pick, output_type=str)
    builder.add(
        builder.node(Pick), builder.node(Billing), builder.edge_from(builder.start_node).to(Pick)
    )
    provider = scripted(line)

    with GATEWAY.override({} if line is None else {"NODE": provider}):
        said = asyncio.run(builder.build().run(inputs=Pick("my router is dead")))

    assert said == ("to billing" if line == "billing" else "to tech")
    shown = [] if line is None else [{"message": "my router is dead"}]
    assert [ask.state for ask in provider.asked] == shown


# --- judges --------------------------------------------------------------------------------

GOOD = Predicate("Is the answer right?")


@dataclass
class Today(Evaluator[Any, Any, Any]):
    """Today's judge, with a reason."""

    verdict: Any = False

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> EvaluationReason:
        return EvaluationReason(self.verdict, f"because of {ctx.output}")


def judged(evaluator: Evaluator[Any, Any, Any], metadata: Any = None) -> Any:
    given = Case(inputs="2+2", expected_output="4", metadata=metadata)
    dataset = Dataset(name="d", cases=[given], evaluators=[evaluator])

    async def task(_inputs: str) -> str:
        return "5"

    (case,) = asyncio.run(dataset.evaluate(task, progress=False)).cases
    assert not case.evaluator_failures
    (result,) = [*case.assertions.values(), *case.scores.values(), *case.labels.values()]
    return result


@pytest.mark.parametrize("planned", [True, False])
def test_a_judge_switches_by_the_environment_alone(
    gateway_of: Gateways, server: Server, *, planned: bool
) -> None:
    """A provider's verdict comes without a reason: nobody makes one up."""
    server.does(decides(said=True))
    gateway = gateway_of(hosted(server.url, "JUDGE") if planned else {})

    result = judged(PointsmanEvaluator(gateway, "JUDGE", GOOD, current=Today()))

    assert (result.name, result.value) == ("judge", planned)
    assert result.reason == (None if planned else "because of 5")


@pytest.mark.parametrize("way", WAYS)
def test_where_the_provider_fails_todays_judge_judges(
    gateway_of: Gateways, server: Server, way: str
) -> None:
    recorder = Recorder()
    gateway = gateway_of(failing(server, way, "JUDGE", said=True), observers=[recorder])

    result = judged(PointsmanEvaluator(gateway, "JUDGE", GOOD, current=Today()))

    assert (result.value, result.reason) == (False, "because of 5")
    assert [(one.provider, one.outcome) for one in recorder.records] == [("current", False)]


@pytest.mark.parametrize(
    ("question", "says", "value"),
    [
        (Score("How good?", low=0, high=10), 7.5, 7.5),
        (Choice("Which?", {"good": "Right", "bad": "Wrong"}), "bad", "bad"),
    ],
)
def test_a_verdict_is_a_number_or_a_label(
    gateway_of: Gateways, question: Any, says: Any, value: Any
) -> None:
    gateway, provider = gateway_of(), scripted(says)
    with gateway.override({"JUDGE": provider}):
        result = judged(PointsmanEvaluator(gateway, "JUDGE", question, current=Today(0.5)))
    assert result.value == value
    assert provider.asked[0].state == {"input": "2+2", "output": "5", "expected": "4"}


CATALOGUE = {
    "JUDGE_LLM_JUDGE": {"question": "2+2", "answer": "5", "evidence": ["it is 4"]},
    "JUDGE_MATHS": {"question": "2+2", "answer": "5", "evidence": ["it is 4"]},
    "JUDGE_VCTN": {"answer": "5"},
    "JUDGE_ALUC": {"answer": "5", "evidence": ["it is 4"]},
    "JUDGE_RQLT": {"question": "2+2", "answer": "5"},
    "JUDGE_CSI": {"text": "2+2"},
}


@pytest.mark.parametrize("behind", [None, Today(1.0)], ids=["alone", "behind"])
@pytest.mark.parametrize(("name", "state"), CATALOGUE.items())
def test_a_judge_of_the_catalogue_is_shown_a_case_in_its_own_fields(
    gateway_of: Gateways, name: str, state: Any, behind: Any
) -> None:
    gateway, provider = gateway_of(), scripted(Reason.REFUSED)
    evaluator = PointsmanEvaluator(gateway, name, current=behind)

    with gateway.override({name: provider}):
        assert judged(evaluator, metadata={"evidence": ["it is 4"]}) is not None

    assert provider.asked[0].state == state


def test_a_case_that_fits_no_question_is_todays_judges(gateway_of: Gateways) -> None:
    """One fallback, and the report shows its verdict and its reason."""
    gateway, provider = gateway_of(), scripted(YES)
    evaluator = PointsmanEvaluator(
        gateway, "JUDGE", GOOD, current=Today(), state=lambda _: {"output": object()}
    )

    with gateway.override({"JUDGE": provider}):
        result = judged(evaluator)

    assert (result.value, result.reason) == (False, "because of 5")
    assert not provider.asked


def test_under_current_no_state_is_built(gateway_of: Gateways) -> None:
    gateway, built = gateway_of(), []

    def state(ctx: Any) -> Any:
        built.append(ctx)
        return "a state"

    evaluator = PointsmanEvaluator(gateway, "JUDGE", GOOD, current=Today(), state=state)
    assert judged(evaluator).reason == "because of 5"
    assert not built
    with gateway.override({"JUDGE": scripted(YES)}):
        judged(evaluator)
    assert len(built) == 1


def test_a_file_of_a_dataset_cannot_be_read_back(gateway_of: Gateways, tmp_path: Path) -> None:
    """Not cured: a file holds no gateway; the evaluator is added by the program that reads it."""
    evaluator = PointsmanEvaluator(gateway_of(), "JUDGE", GOOD, current=Today())
    kept = Dataset[str, str, Any](name="d", cases=[Case(inputs="2+2")])
    whole = Dataset[str, str, Any](name="d", cases=kept.cases, evaluators=[evaluator])
    whole.to_file(tmp_path / "whole.json")
    kept.to_file(tmp_path / "kept.json")

    with pytest.raises(ValueError, match="PointsmanEvaluator"):
        Dataset[str, str, Any].from_file(
            tmp_path / "whole.json", custom_evaluator_types=[PointsmanEvaluator]
        )
    read = Dataset[str, str, Any].from_file(tmp_path / "kept.json")
    read.add_evaluator(evaluator)
    assert len(read.evaluators) == 1


def test_a_judge_with_nothing_behind_it_is_a_setup_error(gateway_of: Gateways) -> None:
    evaluator = PointsmanEvaluator(gateway_of(), "JUDGE", GOOD)
    dataset = Dataset(name="d", cases=[Case(inputs="2+2")], evaluators=[evaluator])

    async def task(_inputs: str) -> str:
        return "5"

    (case,) = asyncio.run(dataset.evaluate(task, progress=False)).cases
    (failure,) = case.evaluator_failures
    assert failure.error_type == SetupError.__name__


def test_a_report_and_a_file_hold_the_point_and_nothing_of_the_gateway(
    gateway_of: Gateways,
) -> None:
    evaluator = PointsmanEvaluator(gateway_of(), "JUDGE", GOOD, current=Today())

    spec = evaluator.as_spec()

    assert (spec.name, spec.arguments) == ("PointsmanEvaluator", ("JUDGE",))
    dataset = Dataset(name="d", cases=[Case(inputs="2+2")], evaluators=[evaluator])
    written = json.dumps(dataset.model_dump(mode="json"))
    assert "JUDGE" in written
    assert "Gateway" not in written
