"""`PointsmanSelector` in LlamaIndex's own routers, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="runs in its own environment: make frameworks")

from llama_index.core import MockEmbedding, Settings
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import CustomQueryEngine, RouterQueryEngine
from llama_index.core.retrievers import BaseRetriever, RouterRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.tools.types import ToolMetadata

from faulty import Server
from pointsman import Call, Gateway, NoAnswer, Reason, Recorder, Reply, scripted
from pointsman.gateway.integrations.llama_index import PointsmanSelector
from pointsman.gateway.integrations.llama_index import selector as module
from promises import asked, decides, failing_ways, hosted

Gateways = Callable[..., Gateway]

Settings.llm, Settings.embed_model = MockLLM(), MockEmbedding(embed_dim=8)

QUERY = "why is my invoice so high?"


class Words(BaseSelector):
    """The selector of today: always the same ones; counts its calls, each twin apart."""

    def __init__(self, *picks: int) -> None:
        self.picks = picks or (0,)
        self.calls = {"sync": 0, "async": 0}
        self.given: SelectorResult | None = None

    def _picked(self) -> SelectorResult:
        one = [SingleSelection(index=index, reason="today") for index in self.picks]
        self.given = SelectorResult(selections=one)
        return self.given

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        self.calls["sync"] += 1
        return self._picked()

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        self.calls["async"] += 1
        return self._picked()

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: Any) -> None:
        pass


class Pages(CustomQueryEngine):
    name: str

    def custom_query(self, query_str: str) -> str:
        return self.name


class Shelf(BaseRetriever):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=self.name), score=1.0)]


ABOUT = {"billing": "Invoices\nand payments", "technical": "Faults"}


def engine(selector: BaseSelector) -> Any:
    tools = [
        QueryEngineTool.from_defaults(Pages(name=name), name=name, description=about)
        for name, about in ABOUT.items()
    ]
    return RouterQueryEngine(selector=selector, query_engine_tools=tools)


def retriever(selector: BaseSelector) -> Any:
    tools = [
        RetrieverTool.from_defaults(Shelf(name), name=name, description=about)
        for name, about in ABOUT.items()
    ]
    return RouterRetriever(selector=selector, retriever_tools=tools)


def queried(selector: BaseSelector) -> str:
    return str(engine(selector).query(QUERY))


def aqueried(selector: BaseSelector) -> str:
    return str(asyncio.run(engine(selector).aquery(QUERY)))


def retrieved(selector: BaseSelector) -> str:
    return str(retriever(selector).retrieve(QUERY)[0].node.text)


def aretrieved(selector: BaseSelector) -> str:
    return str(asyncio.run(retriever(selector).aretrieve(QUERY))[0].node.text)


ROUTERS = pytest.mark.parametrize("router", [queried, aqueried, retrieved, aretrieved])
TWINS = pytest.mark.parametrize("router", [queried, aqueried])


def wrapped(gateway: Gateway, *picks: int) -> tuple[PointsmanSelector, Words]:
    words = Words(*picks)
    return PointsmanSelector(gateway, "SOURCE", current=words), words


@ROUTERS
def test_a_router_switches_by_a_variable_alone(
    router: Any, server: Server, gateway_of: Gateways
) -> None:
    server.does(decides("technical"))
    today, _ = wrapped(gateway_of())
    switched, words = wrapped(gateway_of(hosted(server.url, "SOURCE")))

    assert router(today) == "billing"
    assert router(switched) == "technical"
    assert words.calls == {"sync": 0, "async": 0}
    (body,) = asked(server)
    assert body["input"] == QUERY
    (question,) = body["questions"]
    assert [one["value"] for one in question["choices"]] == list(ABOUT)
    assert [one["description"] for one in question["choices"]] == list(ABOUT.values())


@ROUTERS
def test_a_failing_provider_leaves_the_router_to_today_s_selector(
    router: Any, server: Server, gateway_of: Gateways
) -> None:
    for way, variables in failing_ways(server, "SOURCE", "technical"):
        selector, words = wrapped(gateway_of(variables))
        assert router(selector) == "billing", way
        assert sum(words.calls.values()) == 1


def test_each_twin_runs_today_s_own(gateway_of: Gateways) -> None:
    """frameworks §6.11: neither is bridged to the other."""
    for router, twin in ((queried, "sync"), (aqueried, "async")):
        gateway = gateway_of()
        selector, words = wrapped(gateway)
        with gateway.override({"SOURCE": scripted(Reason.TIMEOUT)}):
            router(selector)
        assert words.calls == {"sync": 0, "async": 0} | {twin: 1}


def test_where_the_plan_is_current_nothing_is_touched(
    gateway_of: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Today's own result comes back, and no question is asked about what cannot be asked."""
    gateway, touched, named = gateway_of(), [], module.options

    def naming(choices: Sequence[ToolMetadata]) -> list[str]:
        touched.append("options")
        return named(choices)

    monkeypatch.setattr(module, "options", naming)
    selector, words = wrapped(gateway)
    choices: Any = [ToolMetadata(description="only one")]

    class Noting(QueryBundle):
        def __getattribute__(self, name: str) -> Any:
            touched.append(name)
            return super().__getattribute__(name)

    noting = Noting("where is it?")
    touched.clear()

    assert selector.select(choices, noting) is words.given
    assert asyncio.run(selector.aselect(choices, noting)) is words.given
    assert "query_str" not in touched
    assert "options" not in touched
    with gateway.override({"SOURCE": scripted("a")}):
        selector.select(choices, noting)
    assert "query_str" in touched
    assert "options" in touched


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("a", "b"), ["a", "b"]),
        (("a", "a"), ["1", "2"]),
        (("a", None), ["1", "2"]),
        ((" ", "b"), ["1", "2"]),
    ],
)
def test_choices_go_by_name_where_each_has_one_of_its_own(
    names: Any, expected: list[str], gateway_of: Gateways
) -> None:
    """`QueryEngineTool` gives all of them the same name unless it is told one."""
    gateway, says = gateway_of(), scripted(expected[1])
    selector, _ = wrapped(gateway)
    choices = [ToolMetadata(description=f"about {name}", name=name) for name in names]

    with gateway.override({"SOURCE": says}):
        result = selector.select(choices, QUERY)

    assert result.ind == 1
    (ask,) = says.asked
    (question,) = ask.questions.values()
    assert question.options == {
        one: f"about {name}" for one, name in zip(expected, names, strict=True)
    }


@pytest.mark.parametrize("count", [1, 300])
def test_what_is_no_choice_is_left_to_today(count: int, gateway_of: Gateways) -> None:
    recorder, says = Recorder(), scripted("1")
    gateway = gateway_of(observers=[recorder])
    selector, words = wrapped(gateway)

    with gateway.override({"SOURCE": says}):
        result = selector.select([f"about {one}" for one in range(count)], QUERY)

    assert result is words.given
    assert says.asked == []
    assert [record.reason for record in recorder.records] == [Reason.UNSUPPORTED]


@pytest.mark.parametrize(
    "query", [QueryBundle("see this", image_path="bill.png"), QueryBundle(" ")], ids=repr
)
def test_a_query_of_more_than_words_or_of_none_is_left_to_today(
    query: QueryBundle, gateway_of: Gateways
) -> None:
    """A provider cannot decide about what it does not see."""
    recorder, says = Recorder(), scripted("technical")
    gateway = gateway_of(observers=[recorder])
    selector, words = wrapped(gateway)
    choices = [ToolMetadata(description=about, name=name) for name, about in ABOUT.items()]

    with gateway.override({"SOURCE": says}):
        assert selector.select(choices, query) is words.given
    assert says.asked == []
    assert [record.reason for record in recorder.records] == [Reason.UNSUPPORTED]


@pytest.mark.parametrize(
    ("picks", "outcome"), [((1,), "technical"), ((0, 1), None), ((-1,), None), ((2,), None)]
)
def test_what_today_selected_is_read_for_the_record(
    picks: tuple[int, ...], outcome: str | None, gateway_of: Gateways
) -> None:
    """Several at once are no word of the point; the host still gets them."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    selector, words = wrapped(gateway, *picks)
    choices = [ToolMetadata(description=about, name=name) for name, about in ABOUT.items()]

    with gateway.override({"SOURCE": scripted(Reason.TIMEOUT)}):
        assert selector.select(choices, QUERY) is words.given
    assert [record.outcome for record in recorder.records] == [outcome]


def test_the_reason_is_a_fixed_sentence(gateway_of: Gateways) -> None:
    """LlamaIndex logs it: no provider's own words get there."""
    gateway = gateway_of()
    selector = PointsmanSelector(gateway, "SOURCE", current=Words(), reason="ours")

    with gateway.override({"SOURCE": scripted("technical")}):
        response = engine(selector).query(QUERY)
    assert response.metadata["selector_result"].reason == "ours"


@TWINS
def test_the_subject_is_the_session_that_is_bound(router: Any, gateway_of: Gateways) -> None:
    """Selectors are given no context (frameworks §5)."""
    gateway, subjects = gateway_of(), []
    says = scripted("technical")

    class Watching:
        name, limits, model = "watching", says.limits, says.model

        def answer(self, ask: Any, call: Call) -> Reply:
            subjects.append(call.subject)
            return says.answer(ask, call)

    selector, _ = wrapped(gateway)
    with gateway.override({"SOURCE": Watching()}), gateway.session("conversation-7"):
        router(selector)
    assert subjects == ["conversation-7"]


@TWINS
def test_without_a_fallback_the_router_ends_in_no_answer(router: Any, gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    selector, words = wrapped(gateway)

    with gateway.override({"SOURCE": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        router(selector)
    assert words.calls == {"sync": 0, "async": 0}


def test_the_prompts_of_today_s_selector_can_still_be_set(gateway_of: Gateways) -> None:
    today = LLMSingleSelector.from_defaults(llm=MockLLM())
    selector = PointsmanSelector(gateway_of(), "SOURCE", current=today)
    (name,) = selector.get_prompts()
    template = today.get_prompts()["prompt"]

    assert name == "current:prompt"
    selector.update_prompts({name: template})


def test_a_selector_takes_part_in_a_running_loop(gateway_of: Gateways) -> None:
    """frameworks §6.3: the sync twin under a loop starts none of its own."""
    gateway = gateway_of()
    selector, _ = wrapped(gateway)

    async def run() -> str:
        return queried(selector)

    with gateway.override({"SOURCE": scripted("technical")}):
        assert asyncio.run(run()) == "technical"
