"""`PointsmanEvaluator`: a judge of LlamaIndex, sync and async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="runs in its own environment: make frameworks")

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.schema import NodeWithScore, TextNode

from faulty import Server
from pointsman import DecisionPoint, Gateway, Held, Predicate, Reason, Recorder, Score, scripted
from pointsman.gateway.integrations.llama_index import PointsmanEvaluator
from promises import asked, decides, failing_ways, hosted
from telling import Teller, telling

Gateways = Callable[..., Gateway]

GROUNDED = Predicate("Is the response grounded in the contexts?")
GIVEN: dict[str, Any] = {"query": "how high?", "response": "9 euros", "contexts": ["It is 9."]}
YES, NO = True, False


class Today(BaseEvaluator):
    """The evaluator of today: passes nothing, and says why."""

    def __init__(self) -> None:
        self.given: list[EvaluationResult] = []

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: Any) -> None:
        pass

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        feedback = f"today {sorted(kwargs)}"
        self.given.append(EvaluationResult(passing=False, score=0.2, feedback=feedback))
        return self.given[-1]


def evaluated(evaluator: BaseEvaluator, **given: Any) -> EvaluationResult:
    return evaluator.evaluate(**GIVEN, **given)


def aevaluated(evaluator: BaseEvaluator, **given: Any) -> EvaluationResult:
    return asyncio.run(evaluator.aevaluate(**GIVEN, **given))


TWINS = pytest.mark.parametrize("judge", [evaluated, aevaluated])


def wrapped(gateway: Gateway) -> tuple[PointsmanEvaluator, Today]:
    today = Today()
    return PointsmanEvaluator(gateway, "GROUNDED", GROUNDED, current=today), today


@TWINS
def test_a_judge_switches_by_a_variable_alone(
    judge: Any, server: Server, gateway_of: Gateways
) -> None:
    """frameworks §6.11: both twins, each decided in its own colour."""
    server.does(decides(YES))
    before, today = wrapped(gateway_of())
    after, _ = wrapped(gateway_of(hosted(server.url, "GROUNDED")))

    assert judge(before) is today.given[0]
    result = judge(after)
    assert (result.passing, result.score, result.feedback) == (True, 1.0, None)
    assert (result.query, result.response, result.contexts) == tuple(GIVEN.values())
    (body,) = asked(server)
    for said in ("how high?", "9 euros", "It is 9."):
        assert said in str(body["input"])


@TWINS
def test_a_failing_provider_leaves_the_judgement_to_today(
    judge: Any, server: Server, gateway_of: Gateways
) -> None:
    """frameworks §6.11: the sync twin as well as the async one."""
    recorder = Recorder()
    for way, variables in failing_ways(server, "GROUNDED", YES):
        evaluator, today = wrapped(gateway_of(variables, observers=[recorder]))
        assert judge(evaluator, extra=1) is today.given[0], way
        assert today.given[0].feedback == "today ['extra']"
    assert [record.outcome for record in recorder.records] == [False] * 4


def test_each_twin_is_decided_where_it_was_asked() -> None:
    """frameworks §6.11: neither is bridged to the other."""
    threads: list[int] = []

    def says(*_: Any) -> Held:
        threads.append(threading.get_ident())
        return Held(0.9)

    evaluator, today = wrapped(telling(Teller(says)))
    assert [judge(evaluator).passing for judge in (evaluated, aevaluated)] == [True, True]
    assert threads == [threading.get_ident()] * 2
    assert today.given == []


def test_the_sync_form_is_decided_under_a_running_loop(gateway_of: Gateways) -> None:
    """frameworks §6.3: LlamaIndex's own sync form starts a loop of its own."""
    gateway = gateway_of()
    evaluator, _ = wrapped(gateway)

    async def run() -> EvaluationResult:
        return evaluated(evaluator)

    with gateway.override({"GROUNDED": scripted(YES)}):
        assert asyncio.run(run()).passing is True


def test_a_response_of_llamaindex_is_judged_with_its_sources(gateway_of: Gateways) -> None:
    from llama_index.core.base.response.schema import Response

    gateway, says = gateway_of(), scripted(NO)
    evaluator, _ = wrapped(gateway)
    source = NodeWithScore(node=TextNode(text="It is 9."))
    response = Response(response="9 euros", source_nodes=[source])

    with gateway.override({"GROUNDED": says}):
        result = evaluator.evaluate_response(response=response)
    assert (result.passing, result.score) == (False, 0.0)
    (ask,) = says.asked
    assert ask.state == {"response": "9 euros", "contexts": ["It is 9."]}


def test_the_raised_reason_of_today_is_its_own(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    class Broken(Today):
        async def aevaluate(self, *_: Any, **__: Any) -> EvaluationResult:
            raise KeyError("today's own")

    evaluator = PointsmanEvaluator(gateway, "GROUNDED", GROUNDED, current=Broken())
    with (
        gateway.override({"GROUNDED": scripted(Reason.TIMEOUT)}),
        pytest.raises(KeyError, match="today's own"),
    ):
        aevaluated(evaluator)


ASKED = {"question": "how high?", "answer": "9 euros", "evidence": ["It is 9."]}
JUDGES: dict[str, tuple[tuple[str, ...], Any, tuple[Any, ...]]] = {
    "JUDGE_LLM_JUDGE": (("question", "answer", "evidence"), 0.8, (True, 0.8, None)),
    "JUDGE_RQLT": (("question", "answer"), 6.0, (False, 6.0, None)),
    "JUDGE_VCTN": (("answer",), YES, (True, 1.0, None)),
    "JUDGE_ALUC": (("answer", "evidence"), YES, (False, 0.0, None)),
    "JUDGE_CSI": (
        ("text",),
        {"sentiment": "NEGATIVE", "satisfaction": 2.5},
        (None, 2.5, "NEGATIVE"),
    ),
}


@TWINS
@pytest.mark.parametrize(("name", "given"), JUDGES.items())
def test_a_judge_of_the_catalogue_judges_a_case_in_its_own_fields(
    judge: Any, name: str, given: Any, gateway_of: Gateways
) -> None:
    """Of `JUDGE_ALUC` *true* does not pass; a score passes from its host's minimum."""
    fields, line, result = given
    gateway, says = gateway_of(), scripted(line)
    evaluator = PointsmanEvaluator(gateway, name, current=Today())

    with gateway.override({name: says}):
        said = judge(evaluator)

    assert (said.passing, said.score, said.feedback) == result
    assert (said.query, said.response, said.contexts) == tuple(GIVEN.values())
    known = {**ASKED, "text": "how high?"}
    assert says.asked[0].state == {one: known[one] for one in fields}


OUTCOMES = {
    "JUDGE_LLM_JUDGE": 0.2,
    "JUDGE_VCTN": False,
    "JUDGE_ALUC": True,
    "JUDGE_CSI": {"sentiment": None, "satisfaction": 0.2},
}


@pytest.mark.parametrize(("name", "outcome"), OUTCOMES.items())
def test_today_stands_behind_a_judge_of_the_catalogue_in_its_own_words(
    name: str, outcome: Any, gateway_of: Gateways
) -> None:
    recorder, today = Recorder(), Today()
    gateway = gateway_of(observers=[recorder])
    evaluator = PointsmanEvaluator(gateway, name, current=today)

    with gateway.override({name: scripted(Reason.TIMEOUT)}):
        assert evaluated(evaluator) is today.given[0]

    assert recorder.records[0].outcome == outcome


def test_a_point_may_read_what_llamaindex_calls_it(gateway_of: Gateways) -> None:
    gateway, says = gateway_of(), scripted(3.0)
    right = Score("How right is it?", ("wrong", "partly", "right"), low=1, high=5)
    reads = ("query", "response", "contexts", "expected")
    point = DecisionPoint(name="RIGHT", questions={"en": {"right": right}}, reads=reads)

    with gateway.override({"RIGHT": says}):
        said = evaluated(PointsmanEvaluator(gateway, point, current=Today()), reference="9")

    assert (said.passing, said.score) == (None, 3.0)
    assert says.asked[0].state == {**GIVEN, "expected": "9"}
