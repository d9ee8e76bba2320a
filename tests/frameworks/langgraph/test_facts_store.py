"""`FactsStore`: a graph's store in which what agents put down is asserted, never overwritten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph", reason="runs in its own environment: make frameworks")

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from pointsman.decision_points.facts import FactStore, Refused
from pointsman.decision_points.facts.agents.langgraph import FactsStore

POLICY = {
    "schema": 1,
    "entities": {"book": "isbn"},
    "attributes": {"price": {"type": "number"}, "note": {}},
}
REGISTRY = {
    "schema": 1,
    "order": ["signed", "chat"],
    "sources": {
        "contract": {"level": "signed"},
        "annex": {"level": "signed"},
        "talk": {"level": "chat"},
    },
}
ACME, BEN = ("customers", "acme"), ("customers", "ben")


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[FactStore]:
    with FactStore(tmp_path / "facts.db", policy=POLICY, registry=REGISTRY) as made:
        yield made


def by(facts: FactStore, source: str) -> FactsStore:
    return FactsStore(facts, source=source, writer="agent-1")


def value_of(item: Item | None) -> dict[str, Any]:
    assert item is not None
    return item.value


def test_what_is_put_is_got(facts: FactStore) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    store = by(facts, "contract")

    store.put(ACME, "price", {"value": "100"})

    item = store.get(ACME, "price")
    assert item is not None
    assert (item.namespace, item.key) == (ACME, "price")
    assert (item.value["status"], item.value["value"]) == ("resolved", "100")
    assert before < item.created_at <= item.updated_at
    assert store.get(ACME, "nothing") is None


def test_a_second_writer_overwrites_nothing(facts: FactStore) -> None:
    """The order of sources decides, whoever came last."""
    by(facts, "contract").put(ACME, "price", {"value": "100"})
    by(facts, "talk").put(ACME, "price", {"value": "90"})

    assert value_of(by(facts, "talk").get(ACME, "price"))["value"] == "100"


def test_a_disputed_fact_says_so_and_never_one_value(facts: FactStore) -> None:
    """RF-61: in get, in search, and in the text for a prompt."""
    by(facts, "contract").put(ACME, "price", {"value": "100"})
    store = by(facts, "annex")
    store.put(ACME, "price", {"value": "120"})

    (found,) = store.search(("customers",))
    for item in (store.get(ACME, "price"), found):
        told = value_of(item)
        assert (told["status"], told["value"]) == ("disputed", None)
        assert sorted(one["value"] for one in told["candidates"]) == ["100", "120"]
        assert all(one in told["text"] for one in ("100", "120", "contract", "annex"))


def test_the_source_is_the_hosts(facts: FactStore) -> None:
    """RF-09: what stands beside the value can name none, and a rank counts for nothing."""
    by(facts, "contract").put(ACME, "price", {"value": "100"})
    store = by(facts, "talk")

    with pytest.raises(Refused, match="bad_statement"):
        store.put(ACME, "price", {"value": "90", "source": "contract"})
    with pytest.raises(Refused, match="bad_statement"):
        store.put(ACME, "price", {"value": "90", "evidence": "human"})
    store.put(ACME, "price", {"value": "90", "rank": 1})

    assert value_of(store.get(ACME, "price"))["value"] == "100"


def test_to_delete_is_to_take_back_what_one_said_oneself(facts: FactStore) -> None:
    """RF-47: others' statements stay; and what is put again counts again."""
    contract, talk = by(facts, "contract"), by(facts, "talk")
    contract.put(ACME, "price", {"value": "100"})
    talk.put(ACME, "price", {"value": "90"})

    contract.delete(ACME, "price")
    assert value_of(talk.get(ACME, "price"))["value"] == "90"
    contract.put(ACME, "price", {"value": "100"})
    assert value_of(talk.get(ACME, "price"))["value"] == "100"
    contract.delete(ACME, "price")
    assert value_of(talk.get(ACME, "price"))["value"] == "90"


def test_a_search_finds_by_prefix_by_filter_and_by_words(facts: FactStore) -> None:
    store = by(facts, "contract")
    for who, price in ((ACME, "100"), (BEN, "30")):
        store.put(who, "price", {"value": price})
    store.put(("suppliers", "acme"), "note", {"value": "pays late"})

    def found(*args: Any, **given: Any) -> list[tuple[str, ...]]:
        return [(*one.namespace, one.key) for one in store.search(*args, **given)]

    acme, ben, note = (*ACME, "price"), (*BEN, "price"), ("suppliers", "acme", "note")
    assert found(()) == [acme, ben, note]
    assert found(("Customers",)) == [acme, ben]
    assert found(("custom",)) == []
    assert found(("customers",), limit=1, offset=1) == [ben]
    assert found((), filter={"value": {"$gt": 50}}) == [acme]
    assert found((), filter={"status": {"$ne": "resolved"}}) == []
    assert found((), filter={"value": "30"}) == [ben]
    assert found((), query="who pays late?")[0] == note
    assert found((), query="zebra") == []
    with pytest.raises(ValueError, match="operator"):
        found((), filter={"value": {"$near": 1}})


def test_namespaces_are_listed_as_other_stores_do(facts: FactStore) -> None:
    store = by(facts, "contract")
    for one in (ACME, BEN, ("suppliers", "acme")):
        store.put(one, "price", {"value": "1"})

    assert store.list_namespaces() == [ACME, BEN, ("suppliers", "acme")]
    assert store.list_namespaces(prefix=("customers",), limit=1, offset=1) == [BEN]
    assert store.list_namespaces(suffix=("acme",)) == [ACME, ("suppliers", "acme")]
    assert store.list_namespaces(prefix=("*", "acme")) == [ACME, ("suppliers", "acme")]
    assert store.list_namespaces(max_depth=1) == [("customers",), ("suppliers",)]


def test_one_entity_has_one_namespace_however_it_is_written(facts: FactStore) -> None:
    """RF-02: an ISBN of ten digits is that of thirteen; qualifiers stand in the key."""
    store = by(facts, "contract")

    store.put(("Book", "0-306-40615-2"), "price?region=EU", {"value": "20"})

    item = store.get(("book", "9780306406157"), "price?region=eu")
    assert value_of(item)["value"] == "20"
    assert item is not None
    assert (item.namespace, item.key) == (("book", "9780306406157"), "price?region=eu")
    assert store.get(("book", "9780306406157"), "price") is None


def test_a_batch_is_done_in_its_order_sync_and_async(facts: FactStore) -> None:
    ops = [
        PutOp(ACME, "price", {"value": "100"}),
        GetOp(ACME, "price"),
        SearchOp(("customers",)),
        ListNamespacesOp((MatchCondition("prefix", ("customers",)),)),
        PutOp(ACME, "price", None),
        GetOp(ACME, "price"),
    ]
    store = by(facts, "contract")

    for done in (store.batch(ops), asyncio.run(store.abatch(ops))):
        _, got, found, listed, _, gone = done
        assert isinstance(got, Item)
        assert got.value["value"] == "100"
        assert isinstance(found, list)
        assert len(found) == 1
        assert listed == [ACME]
        assert isinstance(gone, Item)
        assert gone.value["status"] == "absent"


@pytest.mark.parametrize(
    ("namespace", "key", "value", "code"),
    [
        (("customers:acme",), "price", {"value": "1"}, "bad_key"),
        (("book", "123"), "price", {"value": "1"}, "bad_key"),
        (ACME, "", {"value": "1"}, "bad_key"),
        (ACME, "price", {"price": "1"}, "bad_statement"),
        (ACME, "price", {"value": "N/A"}, "not_a_value"),
    ],
)
def test_what_is_no_statement_is_refused(
    facts: FactStore, namespace: tuple[str, ...], key: str, value: dict[str, Any], code: str
) -> None:
    with pytest.raises(Refused, match=code):
        by(facts, "contract").put(namespace, key, value)


def test_there_is_no_time_to_live(facts: FactStore) -> None:
    """LangGraph says so itself, where a store has none."""
    with pytest.raises(NotImplementedError):
        by(facts, "contract").put(ACME, "price", {"value": "1"}, ttl=5)


def test_a_node_of_a_graph_reads_and_writes_it(facts: FactStore) -> None:
    """As `compile(store=…)` hands it on."""

    def node(_: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        store.put(ACME, "price", {"value": "90", "observed_at": "2026-03-02T09:03Z"})
        return {"messages": [("assistant", value_of(store.get(ACME, "price"))["text"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("read", node)
    graph.add_edge(START, "read")
    by(facts, "contract").put(ACME, "price", {"value": "100"})

    said = graph.compile(store=by(facts, "talk")).invoke({"messages": [("user", "price?")]})

    assert "100" in said["messages"][-1].text


def test_an_item_holds_no_text_of_others_that_steers(facts: FactStore) -> None:
    """RF-81: as the tools do it: one line, nothing unseen, not without end."""
    by(facts, "contract").put(
        ACME, "note", {"value": "a\nb\u200bc\u2028d\u2066e\ufe0f" + "x" * 9000}
    )

    found = value_of(by(facts, "talk").get(ACME, "note"))["value"]
    assert found.isprintable()
    assert len(found) == 4000
    assert "\ufe0f" not in found
    (hit,) = by(facts, "talk").search(ACME, filter={"value": found})
    assert hit.value["value"] == found


def test_what_cannot_be_counted_or_is_no_key_is_refused(facts: FactStore) -> None:
    """RF-10: with a code, not with a traceback."""
    store = by(facts, "contract")

    with pytest.raises(Refused, match="bad_key"):
        store.put(ACME, "note", {"value": "x", "derived_from": [{}]})
    with pytest.raises(Refused, match="bad_count"):
        store.search(ACME, limit=-1)
    with pytest.raises(Refused, match="bad_count"):
        store.list_namespaces(offset=-1)
