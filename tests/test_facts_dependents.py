"""Facts that rest on other facts: what goes stale, what clears it, what a change reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.decision_points.facts import FactStore, NotResolved
from pointsman.decision_points.facts.assertions import Input
from pointsman.decision_points.facts.dependents.circles import circles
from pointsman.decision_points.facts.dependents.staleness import stale
from pointsman.decision_points.facts.keys import FactKey
from pointsman.decision_points.facts.store import Written


def fact(name: str) -> FactKey:
    return FactKey("default", name, "price")


A, B, C, D = (fact(name) for name in "abcd")

# --- a pure function of what is known ----------------------------------------------------


class Known(msgspec.Struct):
    """
    Facts by hand: an outcome is the names of its assertions, the roots' hash is set directly.

    Attributes:
        now: Fact → hash of its outcome.
        said: Fact → derived assertion → what it was derived from.
        others: Facts that say the same without them.

    """

    now: dict[FactKey, str]
    said: Mapping[FactKey, Mapping[str, tuple[Input, ...]]] = {}
    others: set[FactKey] = msgspec.field(default_factory=set[FactKey])

    def derived(self, key: FactKey) -> Mapping[str, tuple[Input, ...]]:
        return self.said.get(key, {})

    def hash(self, key: FactKey) -> str:
        return self.now[key]

    def without(self, key: FactKey, ids: frozenset[str]) -> str:
        rest = set(self.derived(key)) - ids
        return self.now[key] if rest or key in self.others else "absent"

    def settled(self, key: FactKey) -> bool | None:
        return None


def chain(length: int, first: str) -> Known:
    """Each fact derived from the one before; the first was read as *first* and is `now`."""
    keys = [fact(f"n{at}") for at in range(length)]
    said = {
        key: {f"a{at}": (Input(before, first if at == 0 else "now"),)}
        for at, (before, key) in enumerate(pairwise(keys))
    }
    return Known(dict.fromkeys(keys, "now"), said)


def test_what_changed_makes_everything_that_rests_on_it_stale_however_far() -> None:
    """RF-66: transitively; a chain may be longer than Python's own stack."""
    length = 5_000

    before, after = (stale([fact(f"n{length - 1}")], chain(length, one)) for one in ("now", "old"))

    assert not any(before.values())
    assert sum(after.values()) == length - 1
    assert not after[fact("n0")]


def test_a_fact_that_stands_on_another_full_justification_is_not_stale() -> None:
    """RF-66: a second derivation, or somebody who says the same by himself."""
    two = {"one": (Input(A, "old"),), "two": (Input(B, "now"),)}
    both = {"one": (Input(A, "now"), Input(B, "old"))}
    now = dict.fromkeys((A, B, C), "now")

    assert not stale([C], Known(now, {C: two}))[C]
    assert stale([C], Known(now, {C: both}))[C]
    assert not stale([C], Known(now, {C: both}, {C}))[C]


def test_a_circle_ends_and_does_not_hold_itself_up() -> None:
    """RF-66: cycle-safe. It stands on what is outside or not at all, from wherever one asks."""
    now = dict.fromkeys((A, B, C, D), "now")
    ring = {C: {"c": (Input(B, "now"),)}, D: {"d": (Input(C, "now"),)}}
    both = {"outside": (Input(A, "now"),), "ring": (Input(D, "now"),)}
    lost = {**both, "outside": (Input(A, "old"),)}

    for asked in (B, C, D):
        assert not any(stale([asked], Known(now, {**ring, B: both})).values())
        assert stale([asked], Known(now, {**ring, B: lost})) == {
            A: False,
            B: True,
            C: True,
            D: True,
        }


names = st.integers(0, 7)
graphs = st.dictionaries(names, st.lists(names, max_size=3), max_size=8)


@given(graphs)
def test_circles_come_each_after_what_they_lead_to(graph: Mapping[int, list[int]]) -> None:
    """Every node once; two share a circle if and only if each leads to the other."""

    def reach(node: int) -> set[int]:
        seen = {node}
        todo = [node]
        while todo:
            for other in graph.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    found = list(circles(graph, lambda node: graph.get(node, ())))
    place = {node: at for at, circle in enumerate(found) for node in circle}

    assert sum(map(len, found)) == len(place)
    assert set(place) == {node for one in graph for node in reach(one)}
    for one, at in place.items():
        for other in reach(one):
            assert place[other] <= at
            assert (place[other] == at) == (one in reach(other))


edges = st.dictionaries(
    names, st.lists(st.tuples(names, st.sampled_from(["now", "old"])), max_size=3), max_size=8
)


@given(edges, st.sets(names), st.permutations(range(8)))
def test_the_answer_is_the_same_wherever_one_begins(
    graph: Mapping[int, list[tuple[int, str]]], others: set[int], order: list[int]
) -> None:
    """All at once, one by one, in any order: staleness depends on the set alone."""
    said = {
        fact(str(one)): {
            f"{one}-{at}": (Input(fact(str(other)), used),)
            for at, (other, used) in enumerate(inputs)
        }
        for one, inputs in graph.items()
    }
    known = Known(
        {fact(str(one)): "now" for one in range(8)}, said, {fact(str(one)) for one in others}
    )

    at_once = stale([fact(str(one)) for one in range(8)], known)

    assert at_once == stale([fact(str(one)) for one in order], known)
    assert at_once == {
        fact(str(one)): stale([fact(str(one))], known)[fact(str(one))] for one in range(8)
    }


@pytest.mark.parametrize("stale_input", [True, False])
def test_what_is_settled_is_not_worked_out_again(stale_input: bool) -> None:  # noqa: FBT001
    class Settled(Known):
        def settled(self, key: FactKey) -> bool | None:
            return stale_input if key == A else None

    known = Settled(
        {A: "now", B: "now"}, {B: {"b": (Input(A, "now"),)}, A: {"a": (Input(C, "x"),)}}
    )

    assert stale([B], known) == {A: stale_input, B: stale_input}


# --- through a store ---------------------------------------------------------------------

REGISTRY = {
    "schema": 1,
    "order": ["signed", "erp", "chat"],
    "sources": {
        "contract": {"level": "signed"},
        "annex": {"level": "signed"},
        "sap": {"level": "erp"},
        "slack": {"level": "chat"},
    },
    "actors": {"maria": {"may_correct": ["*"]}},
}
POLICY = {
    "schema": 1,
    "keys": ["authority"],
    "attributes": {"price": {"type": "number"}, "total": {"type": "number"}},
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FactStore]:
    ticks = iter(range(1_790_000_000_000_000, 1_800_000_000_000_000, 1_000_000))
    with FactStore(
        tmp_path / "facts.db", policy=POLICY, registry=REGISTRY, clock=lambda: next(ticks)
    ) as opened:
        yield opened


def derive(store: FactStore, entity: str, value: str, *inputs: tuple[str, str]) -> Written:
    """Assert a total that was worked out from facts as they are now, in place of the one before."""
    read = [store.get(*one) for one in inputs]
    return store.assert_(
        entity,
        "total",
        value,
        source="sap",
        evidence="derived",
        observed_at=read[0].valid_at,
        derived_from=tuple(one.as_input() for one in read),
    )


def flags(store: FactStore, *entities: str) -> list[str]:
    """Staleness of totals by the log; what was projected must be the same."""
    read = [store.get(one, "total").stale for one in entities]
    with store.view() as view:
        rows = [view.current(FactKey("default", one, "total")) for one in entities]
    assert read == ["" if row is None else row.stale for row in rows]
    assert not store.verify().differences
    return read


PRICE = ("a", "price")


def three(store: FactStore) -> str:
    """A price, a total of it, and a total of that total; gives the id of the price."""
    first = store.assert_("a", "price", "100", source="sap")
    derive(store, "b", "200", PRICE)
    derive(store, "c", "400", ("b", "total"))
    return first.id


def test_an_overturned_fact_flags_what_was_derived_from_it_and_keeps_it(store: FactStore) -> None:
    """RF-66: transitively; kept, not deleted; deriving it anew clears it, and what rests on it."""
    three(store)
    fresh = flags(store, "b", "c")
    store.assert_("a", "price", "120", source="contract")
    stale_now = flags(store, "b", "c")
    value = store.get("c", "total").value
    derive(store, "b", "240", PRICE)
    half = flags(store, "b", "c")
    derive(store, "c", "480", ("b", "total"))

    assert fresh == ["", ""]
    assert stale_now == ["input_changed", "input_changed"]
    assert value == 400
    assert half == ["", "input_changed"]
    assert flags(store, "b", "c") == ["", ""]
    store.assert_("a", "price", "130", source="annex")
    with pytest.raises(NotResolved, match="b/total"):
        store.require("b", "total")


def test_the_same_value_from_somebody_else_changes_nothing(store: FactStore) -> None:
    """RF-66: what counts is what the fact comes to, not who says so."""
    three(store)
    store.assert_("a", "price", "100.0", source="contract")

    assert flags(store, "b", "c") == ["", ""]


def test_a_change_that_is_taken_back_clears_what_it_flagged(store: FactStore) -> None:
    """RF-66, RF-47: staleness is a function of what is live, not of what happened."""
    three(store)
    wrong = store.assert_("a", "price", "120", source="contract")
    flagged = flags(store, "b", "c")
    store.retract(wrong.id, by="contract", reason="another customer")

    assert flagged == ["input_changed", "input_changed"]
    assert flags(store, "b", "c") == ["", ""]


def test_a_dispute_a_retraction_and_an_erasure_of_the_input_flag_too(store: FactStore) -> None:
    """RF-66, RF-48: whatever makes the outcome another."""
    id_ = three(store)
    store.assert_("d", "price", "1", source="contract")
    derive(store, "e", "2", ("d", "price"))
    store.assert_("d", "price", "2", source="annex")
    disputed = flags(store, "e")
    store.retract(id_, by="sap", reason="not ours")
    retracted = flags(store, "b", "c")
    again = store.assert_("f", "price", "1", source="sap")
    derive(store, "g", "2", ("f", "price"))
    store.erase(again.id, by="maria", reason="asked to")

    assert disputed == ["input_changed"]
    assert retracted == ["input_changed", "input_changed"]
    assert flags(store, "g") == ["input_changed"]


def test_another_full_justification_keeps_a_fact_fresh(store: FactStore) -> None:
    """RF-66: somebody says the same by himself, or it was derived in two ways."""
    three(store)
    store.assert_("b", "total", "200", source="slack")
    store.assert_("a", "price", "120", source="contract")

    assert flags(store, "b", "c") == ["", ""]
    store.assert_("b", "total", "210", source="slack", observed_at="2026-01-02")
    assert store.get("b", "total").value == 200
    assert flags(store, "b") == ["input_changed"]


def test_what_was_derived_from_silence_is_stale_when_somebody_speaks(store: FactStore) -> None:
    """RF-66: that nobody said anything is an outcome, too."""
    derive(store, "b", "0", PRICE)
    fresh = flags(store, "b")
    store.assert_("a", "price", "100", source="sap")

    assert fresh == [""]
    assert flags(store, "b") == ["input_changed"]


def test_facts_in_a_circle_are_told_and_end(store: FactStore) -> None:
    """RF-66: cycle-safe, in reads and in what is projected."""
    three(store)
    derive(store, "b", "200", ("c", "total"))
    before = flags(store, "b", "c")
    store.assert_("a", "price", "120", source="contract")
    after = flags(store, "b", "c")
    derive(store, "b", "240", PRICE)

    assert before == ["", ""]
    assert after == ["input_changed", "input_changed"]  # nothing outside says so any more
    assert flags(store, "b", "c") == ["", "input_changed"]


def test_as_it_was_known_then_it_was_fresh_then(store: FactStore) -> None:
    """RF-41, RF-66: a read of the past knows nothing of what came later."""
    three(store)
    before = store.get("c", "total").known_at
    store.assert_("a", "price", "120", source="contract")

    assert store.get("c", "total", known_at=before).stale == ""
    assert store.get("c", "total").stale == "input_changed"


def test_an_alias_takes_what_rests_on_a_fact_along(store: FactStore) -> None:
    """RF-02, RF-66: an input is found under the name that it has since."""
    three(store)
    store.alias("a", "acme", by="maria")
    fresh = flags(store, "b", "c")
    store.assert_("acme", "price", "120", source="contract")

    found = store.impact("acme", "price")

    assert fresh == ["", ""]
    assert flags(store, "b", "c") == ["input_changed", "input_changed"]
    assert [(one.key.entity, one.of.entity) for one in found.facts] == [("b", "acme"), ("c", "b")]
    assert all(one.overturned for one in found.facts)


def test_an_event_names_every_fact_that_went_stale(store: FactStore) -> None:
    """RF-64, RF-66: once, with what caused it."""
    three(store)
    store.assert_("a", "price", "120", source="contract")

    (event,) = [one for one in store.subscribe() if one.kind == "dependents_stale"]

    assert event.key == FactKey("default", "a", "price")
    assert event.ids == ("b/total", "c/total")


# --- decisions ---------------------------------------------------------------------------


def test_impact_lists_decisions_and_facts_that_rest_on_what_was_overturned(
    store: FactStore,
) -> None:
    """RF-67: also through what was derived; each says whether what it used still stands."""
    three(store)
    store.get("a", "price", decision="d-price")
    store.get("c", "total", decision="d-total")
    before = store.impact(store.get(*PRICE).key)
    store.assert_("a", "price", "120", source="contract")
    store.get("a", "price", decision="d-later")

    found = store.impact(store.get(*PRICE).key)

    assert before.overturned == ()
    assert {one.decision for one in before.decisions} == {"d-price", "d-total"}
    assert not any(one.overturned for one in before.facts)
    assert [one.decision for one in found.overturned] == ["d-price", "d-total"]
    assert [one.decision for one in found.decisions] == ["d-price", "d-total", "d-later"]
    assert [(one.key.entity, one.of.entity) for one in found.facts] == [("b", "a"), ("c", "b")]
    assert all(one.overturned for one in found.facts)


def test_a_decision_stays_overturned_when_the_fact_was_derived_anew(store: FactStore) -> None:
    """RF-67: it used what the fact was then."""
    three(store)
    store.get("b", "total", decision="old")
    store.assert_("a", "price", "120", source="contract")
    derive(store, "b", "240", PRICE)
    store.get("b", "total", decision="new")

    found = store.impact(store.get(*PRICE).key)

    assert {one.decision: one.overturned for one in found.decisions} == {"old": True, "new": False}
    assert {one.key.entity: one.overturned for one in found.facts} == {"b": False, "c": True}


def test_what_another_fact_overturned_is_not_told_of_this_one(store: FactStore) -> None:
    """RF-67: it rests on both; only the one that changed is to blame."""
    store.assert_("a", "price", "100", source="sap")
    store.assert_("d", "price", "5", source="sap")
    derive(store, "b", "105", PRICE, ("d", "price"))
    store.get("b", "total", decision="used")
    store.assert_("d", "price", "6", source="contract")

    here, there = store.impact("a", "price"), store.impact("d", "price")

    assert flags(store, "b") == ["input_changed"]
    assert [one.overturned for one in here.facts] == [False]
    assert here.overturned == ()
    assert [one.decision for one in there.overturned] == ["used"]


def test_impact_can_be_asked_since_a_time(store: FactStore) -> None:
    """RF-67: what was used and derived before is left out."""
    three(store)
    store.get("c", "total", decision="early")
    since = store.get("c", "total").known_at
    store.assert_("a", "price", "120", source="contract")
    store.get("c", "total", decision="late")

    found = store.impact(store.get(*PRICE).key, since=since)

    assert [one.decision for one in found.decisions] == ["late"]
    assert found.facts == ()


def test_reading_for_a_decision_again_tells_no_other_decision(store: FactStore) -> None:
    """RF-67, RF-08."""
    three(store)
    for _ in range(3):
        store.get("a", "price", decision="d")

    assert {one.decision for one in store.impact(store.get(*PRICE).key).decisions} == {"d"}


steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from("abc"), st.sampled_from(["1", "2"])),
        st.tuples(st.just("derive"), st.sampled_from("abc"), st.sampled_from("abc")),
    ),
    max_size=10,
)


@settings(max_examples=30, deadline=None)
@given(steps)
def test_what_is_projected_is_what_the_log_says(
    tmp_path_factory: pytest.TempPathFactory, done: list[tuple[str, str, str]]
) -> None:
    """RF-66, RF-73: step by step or rebuilt, circles and self-reference included."""
    ticks = iter(range(1_790_000_000_000_000, 1_800_000_000_000_000, 1_000_000))
    with FactStore(
        tmp_path_factory.mktemp("facts") / "facts.db",
        policy=POLICY,
        registry=REGISTRY,
        clock=lambda: next(ticks),
    ) as store:
        for at, (what, entity, other) in enumerate(done):
            if what == "say":
                store.assert_(entity, "total", other, source=("sap", "contract")[at % 2])
            else:
                derive(store, entity, str(at), (other, "total"))
        flags(store, "a", "b", "c")
