"""What would change under other rules: told before, without writing, and true afterwards."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Mapping
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.decision_points.facts import FactKey, FactStore
from pointsman.decision_points.facts.entries import Party, Quarantined
from pointsman.decision_points.facts.whatif import WhatIf

REGISTRY: dict[str, Any] = {
    "schema": 1,
    "order": ["signed", "erp", "chat"],
    "sources": {
        "contract": {"level": "signed"},
        "annex": {"level": "signed"},
        "sap": {"level": "erp"},
        "slack": {"level": "chat"},
        "teams": {"level": "chat"},
    },
}
REVERSED = {**REGISTRY, "order": ["chat", "erp", "signed"]}
RANKED = {
    **REGISTRY,
    "order": ["first", *REGISTRY["order"]],
    "sources": {**REGISTRY["sources"], "contract": {"level": "first"}},
}
POLICY: dict[str, Any] = {
    "schema": 1,
    "keys": ["authority", "confidence"],
    "attributes": {"price": {"type": "number"}, "total": {"type": "number"}},
}
TOLERANT = {
    **POLICY,
    "attributes": {"price": {"type": "number", "tolerance": "5"}, "total": {"type": "number"}},
}

START, SECOND = 1_790_000_000_000_000, 1_000_000


def opened(path: Path) -> FactStore:
    ticks = iter(range(START, START + 100_000 * SECOND, SECOND))
    return FactStore(path, policy=POLICY, registry=REGISTRY, clock=lambda: next(ticks))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FactStore]:
    with opened(tmp_path / "facts.db") as one:
        yield one


def filled(store: FactStore) -> None:
    """One fact that authority decides, one in dispute, one that all agree about."""
    store.assert_("a", "price", "100", source="contract")
    store.assert_("a", "price", "90", source="slack")
    store.assert_("b", "price", "100", source="contract")
    store.assert_("b", "price", "103", source="annex")
    store.assert_("c", "price", "7", source="sap")
    store.assert_("c", "price", "7.0", source="slack")


def rows(found: WhatIf) -> dict[str, tuple[str, str, str]]:
    return {
        one.key.entity: (one.transition, one.before.decided_by, one.after.decided_by)
        for one in found.rows
    }


def test_every_fact_that_would_change_is_told_with_what_decides(store: FactStore) -> None:
    """RF-70: per fact before and after, counts by transition, disputes opened and closed."""
    filled(store)

    other_order = store.what_if(registry=REVERSED)
    tolerant = store.what_if(policy=TOLERANT)

    assert (other_order.facts, other_order.changed) == (3, 1)
    assert rows(other_order) == {"a": ("resolved → resolved", "authority", "authority")}
    (row,) = other_order.rows
    assert row.before.value is not None
    assert row.after.value is not None
    assert (row.before.value.text, row.after.value.text) == ("100", "90")
    assert rows(tolerant) == {"b": ("disputed → resolved", "", "tolerance")}
    assert tolerant.transitions == {"disputed → resolved": 1}
    assert tolerant.attributes == {"price": 1}
    assert (tolerant.opened, tolerant.closed, tolerant.revised) == (0, 1, 0)
    assert tolerant.policy.before != tolerant.policy.after
    assert tolerant.registry.before == tolerant.registry.after


def test_nothing_is_written(store: FactStore) -> None:
    """RF-70: the log, and what is worked out from it, are the same as before."""
    filled(store)
    before = list(store.export())

    store.what_if(policy=TOLERANT, registry=REVERSED)

    assert list(store.export()) == before
    assert not store.verify().differences


def test_the_same_rules_change_nothing(store: FactStore) -> None:
    filled(store)

    found = store.what_if(policy=POLICY, registry=REGISTRY)

    assert (found.facts, found.changed, found.redecided, found.rows) == (3, 0, 0, ())


def test_the_list_is_capped_and_the_rest_is_counted(store: FactStore) -> None:
    """RF-72: memory grows with what is listed; how many are left out is said."""
    for at in range(7):
        store.assert_(f"e{at}", "price", "1", source="contract")
        store.assert_(f"e{at}", "price", "2", source="slack")

    found = store.what_if(registry=REVERSED, rows=3)

    assert (found.changed, len(found.rows), found.left_out) == (7, 3, 4)
    assert [one.key.entity for one in found.rows] == ["e0", "e1", "e2"]


def emptied(_done: int) -> None:
    """Empty the caches, which have bounds that so few facts do not reach."""
    for one in gc.get_objects():
        if isinstance(one, _lru_cache_wrapper) and one.__module__.startswith("pointsman."):
            one.cache_clear()


@pytest.mark.slow
def test_what_it_needs_of_memory_does_not_grow_with_the_facts(tmp_path: Path) -> None:
    """RF-72: four times as many facts are folded in as much memory."""
    peaks: list[int] = []
    for facts in (1_000, 4_000):
        with opened(tmp_path / f"{facts}.db") as store:
            said = (
                store.entry(f"e{at}", "price", value, source=source)
                for at in range(facts)
                for value, source in (("100", "contract"), ("90", "slack"))
            )
            assert store.ledger.load(said).new == 2 * facts
        with opened(tmp_path / f"{facts}.db") as store:
            tracemalloc.start()
            found = store.what_if(registry=REVERSED, rows=10, progress=emptied)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert (found.changed, found.left_out) == (facts, facts - 10)

    assert peaks[1] < 1.5 * peaks[0], peaks


def test_some_facts_can_be_asked_about_alone(store: FactStore) -> None:
    filled(store)

    found = store.what_if(registry=REVERSED, keys=[FactKey("default", "c", "price")])

    assert (found.facts, found.changed) == (1, 0)


def test_dependents_are_counted_through_others_too(store: FactStore) -> None:
    """RF-70, RF-66: once each, however many ways lead there."""
    filled(store)
    price = store.get("a", "price").as_input()
    store.assert_("a", "total", "200", source="sap", evidence="derived", derived_from=(price,))
    total = store.get("a", "total").as_input()
    other = store.get("c", "price").as_input()
    for entity in ("x", "y"):
        given_ = (total, price, other)
        store.assert_(entity, "total", "1", source="sap", evidence="derived", derived_from=given_)

    assert store.what_if(registry=REVERSED).dependents == 3
    assert store.what_if(policy=TOLERANT).dependents == 0


def test_with_resolutions_both_rules_are_scored_by_them(store: FactStore) -> None:
    """RF-70: right, wrong and coverage, of the rules alone: without what the person decided."""
    party: Party
    for entity, right, party in (
        ("a", "100", "person"),
        ("b", "100", "person"),
        ("c", "90", "person"),
        ("d", "90", "agent"),
    ):
        store.assert_(entity, "price", "100", source="contract")
        store.assert_(entity, "price", "90", source="annex")
        (dispute,) = store.disputes.list()
        chosen = next(one for one in dispute.candidates if one.value.text == right)
        store.disputes.resolve(dispute.id, chosen.id, by="maria", party=party)

    found = store.what_if(registry=RANKED)

    assert found.before is not None
    assert found.after is not None
    assert (found.before.checked, found.before.coverage) == (3, 0)
    assert found.before.right_when_decided is None
    assert (found.after.right, found.after.wrong, found.after.undecided) == (2, 1, 0)
    assert found.after.right_when_decided == pytest.approx(2 / 3)
    # what a person decided survives; an agent's word yields to the rules
    assert rows(found) == {"d": ("resolved → resolved", "resolution", "authority")}
    assert found.overruled == 1


def test_rules_are_not_scored_by_a_value_that_the_person_brought_in(store: FactStore) -> None:
    """RF-70: both candidates were wrong; what the rules say without her is wrong as well."""
    store.assert_("a", "price", "100", source="contract")
    store.assert_("a", "price", "90", source="annex")
    (dispute,) = store.disputes.list()
    store.disputes.resolve(dispute.id, by="maria", party="person", value="95", source="call")
    ranked = {
        **REGISTRY,
        "order": ["first", *REGISTRY["order"]],
        "sources": {
            **REGISTRY["sources"],
            "contract": {"level": "first"},
            "call": {"level": "first"},
        },
    }

    found = store.what_if(registry=ranked)

    assert store.get("a", "price").value == 95
    assert found.after is not None
    assert (found.after.right, found.after.wrong, found.after.undecided) == (0, 1, 0)


def test_what_a_person_decided_survives_other_rules_that_leave_the_same_choice(
    store: FactStore,
) -> None:
    """RF-71: it binds to the candidates that were seen, not to the rules of then."""
    filled(store)
    (dispute,) = store.disputes.list()
    chosen = next(one for one in dispute.candidates if one.value.text == "103")
    store.disputes.resolve(dispute.id, chosen.id, by="maria", party="person")

    found = store.what_if(policy={**POLICY, "keys": ["confidence"]}, registry=REVERSED)
    store.adopt(registry=REVERSED, by="maria", reason="tried")

    assert "b" not in rows(found)
    assert found.overruled == 0
    assert store.get("b", "price").value == 103
    assert store.get("b", "price").outcome.decided_by == "resolution"


def test_a_persons_word_outlives_the_rules_that_made_it_needed(store: FactStore) -> None:
    """RF-71, RF-53: also where the new ones would decide; a new word is new evidence, though."""
    store.assert_("a", "price", "100", source="contract")
    store.assert_("a", "price", "90", source="annex")
    (dispute,) = store.disputes.list()
    chosen = next(one for one in dispute.candidates if one.value.text == "90")
    store.disputes.resolve(dispute.id, chosen.id, by="maria", party="person")

    store.adopt(registry=RANKED, by="maria", reason="tried")
    upheld = store.get("a", "price")
    store.assert_("a", "price", "100", source="contract", source_ref="page 3")

    assert (upheld.value, upheld.outcome.decided_by) == (90, "resolution")
    assert {one.value.text for one in upheld.outcome.candidates} == {"90", "100"}
    assert store.get("a", "price").value == 100
    assert store.get("a", "price").outcome.decided_by == "authority"


def test_rules_that_read_otherwise_are_scored_by_the_same_words(store: FactStore) -> None:
    """RF-70, RF-69: by what was written; an attribute that is no longer declared is left open."""
    noted = {**POLICY["attributes"], "note": {"type": "text"}}
    store.adopt(policy={**POLICY, "attributes": noted}, by="maria", reason="declared")
    store.assert_("a", "note", "Yes", source="contract", confidence=0.9)
    store.assert_("a", "note", "No", source="annex", confidence=0.95)
    (dispute,) = store.disputes.list()
    yes = next(one for one in dispute.candidates if one.sources == ("contract",))
    store.disputes.resolve(dispute.id, yes.id, by="maria", party="person")
    exact = {"note": {"type": "text", "case": "keep", "edges": [0.92]}}

    other = store.what_if(policy={**POLICY, "attributes": exact})
    gone = store.what_if(policy=POLICY)

    assert other.before is not None
    assert other.after is not None
    assert gone.after is not None
    assert (other.before.checked, other.before.undecided) == (1, 1)
    assert (other.after.checked, other.after.wrong) == (1, 1)
    assert (gone.after.checked, gone.after.undecided) == (1, 1)


def test_without_resolutions_nothing_is_scored(store: FactStore) -> None:
    filled(store)

    assert store.what_if(registry=REVERSED).before is None


def outcomes(store: FactStore) -> Mapping[FactKey, str]:
    return {one.key: one.outcome.hash for one in store.facts()}


def test_a_quarantine_is_told_before_and_can_be_lifted(store: FactStore) -> None:
    """RF-22: as if it had never been said; every fact whose outcome moves; reversible."""
    filled(store)
    store.assert_("d", "price", "1", source="contract", writer="bot")
    before = outcomes(store)

    told = store.what_if(quarantine=Quarantined(source="contract", by="maria", at=START))
    by_writer = store.what_if(quarantine=Quarantined(writer="bot", by="maria", at=START))
    id_ = store.quarantine(source="contract", by="maria", reason="read badly").id
    during = outcomes(store)
    lifting = store.what_if(quarantine=Quarantined(lifts=id_, by="maria", at=START))
    store.lift(id_, by="maria", reason="read again")

    assert rows(told) == {
        "a": ("resolved → resolved", "authority", "unanimous"),
        "b": ("disputed → resolved", "", "unanimous"),
        "d": ("resolved → absent", "unanimous", ""),
    }
    assert set(rows(by_writer)) == {"d"}
    assert {key.entity for key in before if before[key] != during.get(key)} == {"a", "b", "d"}
    assert set(rows(lifting)) == {"a", "b", "d"}
    assert outcomes(store) == before


def test_adopting_does_what_was_told_and_going_back_undoes_it(store: FactStore) -> None:
    """RF-71, RF-49: changes carry the cause `policy`; the log grows, the state is as before."""
    filled(store)
    before, length = outcomes(store), len(list(store.export()))
    told = store.what_if(policy=TOLERANT, registry=REVERSED)
    cursor = max(one.position for one in store.subscribe()) + 1

    store.adopt(policy=TOLERANT, registry=REVERSED, by="maria", reason="tried")
    moved = {key for key, one in outcomes(store).items() if one != before[key]}
    decided = [one for one in store.subscribe(cursor) if one.kind == "decided"]
    store.adopt(policy=POLICY, registry=REGISTRY, by="maria", reason="no better")

    assert moved == {one.key for one in told.rows}
    assert {one.key for one in decided} == moved
    assert {one.cause for one in decided} == {"policy"}
    assert outcomes(store) == before
    assert len(list(store.export())) == length + 2


def test_a_disputed_fact_is_looked_at_once_when_rules_change(store: FactStore) -> None:
    """RF-71: disputes on their way are evaluated anew, and closed where the rules decide now."""
    filled(store)
    (dispute,) = store.disputes.list()

    store.adopt(policy=TOLERANT, by="maria", reason="tried")

    assert store.disputes.list() == ()
    assert store.disputes.get(dispute.id).state == "auto_closed"
    assert not store.verify().differences


def test_a_normaliser_that_changes_is_a_change_of_policy(store: FactStore) -> None:
    """RF-69: stored text is read anew, told before, and the assertions stay as they are."""
    store.assert_("a", "note", "Yes", source="contract")
    store.assert_("a", "note", "yes", source="annex")
    folded = {**POLICY, "attributes": {**POLICY["attributes"], "note": {"type": "text"}}}
    exact = {**POLICY, "attributes": {"note": {"type": "text", "case": "keep"}}}
    store.adopt(policy=folded, by="maria", reason="declared")
    ids = [one.id for one in store.history("a", "note")]

    found = store.what_if(policy=exact)

    assert rows(found) == {"a": ("resolved → disputed", "unanimous", "")}
    store.adopt(policy=exact, by="maria", reason="case counts")
    assert store.get("a", "note").status == "disputed"
    assert [one.id for one in store.history("a", "note")] == ids


def test_entities_that_would_be_named_otherwise_are_noted(store: FactStore) -> None:
    filled(store)

    found = store.what_if(policy={**POLICY, "entities": {"book": "isbn"}})

    assert len(found.notes) == 1
    assert store.what_if(registry=REVERSED).notes == ()


sources = st.sampled_from(sorted(REGISTRY["sources"]))
claims = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        sources,
        st.sampled_from(["100", "103", "90"]),
        st.sampled_from([None, 0.3, 0.9]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(claims, st.sampled_from([POLICY, TOLERANT]), st.sampled_from([REGISTRY, REVERSED]))
def test_what_is_told_is_what_adoption_does(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[str, str, str, float | None]],
    policy: dict[str, Any],
    registry: dict[str, Any],
) -> None:
    """RF-70, RF-71: for whatever was said, every fact that moves is listed, and no other."""
    with opened(tmp_path_factory.mktemp("facts") / "facts.db") as store:
        for entity, source, value, confidence in said:
            store.assert_(entity, "price", value, source=source, confidence=confidence)
        before = outcomes(store)
        told = store.what_if(policy=policy, registry=registry)

        store.adopt(policy=policy, registry=registry, by="maria", reason="tried")

        after = {one.key: one.outcome for one in store.facts()}
        assert {key for key, one in after.items() if one.hash != before[key]} == {
            one.key for one in told.rows
        }
        for one in told.rows:
            assert (one.after.status, one.after.value) == (
                after[one.key].status,
                after[one.key].value,
            )
            assert one.after.decided_by == after[one.key].decided_by
