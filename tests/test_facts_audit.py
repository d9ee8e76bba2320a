"""Who was right where a person knew better, and what is proposed because of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pointsman.decision_points.facts import FactStore
from pointsman.decision_points.facts.assertions import Value
from pointsman.decision_points.facts.auditing import Audit, Tally
from pointsman.decision_points.facts.auditing.agreements import Pairs
from pointsman.decision_points.facts.auditing.tallies import Counts, Place, best_first, swaps
from pointsman.decision_points.facts.registry import Registry

REGISTRY = {
    "schema": 1,
    "order": ["site", "crm", "chat"],
    "sources": {
        "official": {"level": "site"},
        "mirror": {"level": "site", "copies": "official"},
        "salesforce": {"level": "crm"},
        "zoho": {"level": "crm"},
        "slack": {"level": "chat"},
    },
}
POLICY = {
    "schema": 1,
    "keys": ["authority", "recency"],
    "attributes": {
        "city": {"type": "text"},
        "price": {"type": "number", "change": "over_time"},
        "tags": {"type": "text", "cardinality": "many"},
    },
}

HOUR = 3_600_000_000  # microseconds


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FactStore]:
    ticks = iter(range(1_000 * HOUR, 9_000 * HOUR, 1_000_000))
    with FactStore(
        tmp_path / "facts.db", policy=POLICY, registry=REGISTRY, clock=lambda: next(ticks)
    ) as opened:
        yield opened


def clash(store: FactStore, entity: str, right: str = "salesforce", wrong: str = "zoho") -> None:
    """Two sources of one level disagree, and a person finds *right* to be right."""
    store.assert_(entity, "city", "Rome", source=right, writer="reader-1")
    store.assert_(entity, "city", "Milan", source=wrong, writer="reader-2")
    (dispute,) = store.disputes.list()
    chosen = next(one for one in dispute.candidates if one.sources == (right,))
    store.disputes.resolve(dispute.id, chosen.id, by="maria", party="person", reason="asked them")


def tally(audit: Audit, source: str, attribute: str = "city") -> tuple[int, int]:
    """Right and wrong of a source, whoever read it."""
    found = [one for one in audit.sources if (one.source, one.attribute) == (source, attribute)]
    return (found[0].right, found[0].wrong) if found else (0, 0)


def test_resolved_disputes_say_who_was_right(store: FactStore) -> None:
    """RF-21: per source, attribute and writer, with an interval."""
    for at in range(4):
        clash(store, f"c{at}")
    clash(store, "other", right="zoho", wrong="salesforce")

    audit = store.audit()

    assert (audit.facts, audit.resolutions, audit.confirmations) == (5, 5, 0)
    assert tally(audit, "salesforce") == (4, 1)
    assert tally(audit, "zoho") == (1, 4)
    by_writer = {(one.source, one.writer): (one.right, one.wrong) for one in audit.writers}
    assert by_writer["salesforce", "reader-1"] == (4, 0)
    assert by_writer["salesforce", "reader-2"] == (0, 1)
    one = next(one for one in audit.sources if one.source == "salesforce")
    assert one.share == pytest.approx(0.8)
    assert (one.low, one.high) == pytest.approx((0.3755, 0.9638), abs=1e-4)  # Wilson's, 4 of 5
    assert audit.order("city") == ("salesforce", "zoho")


def test_what_a_person_confirms_counts_and_persons_who_contradict_each_other_do_not(
    store: FactStore,
) -> None:
    """RF-21: human confirmations; a coarser word for the same thing is no mistake."""
    for entity in ("a", "b"):
        store.assert_(entity, "city", "Rome", source="salesforce")
        store.assert_(entity, "city", "rome ", source="slack")
        store.assert_(entity, "city", "Milan", source="official")
        store.assert_(entity, "city", "Rome", source="maria", evidence="human")
    store.assert_("b", "city", "Milan", source="joão", evidence="human")

    audit = store.audit()

    assert audit.confirmations == 1
    assert tally(audit, "salesforce") == (1, 0)
    assert tally(audit, "slack") == (1, 0)
    assert tally(audit, "official") == (0, 1)
    assert tally(audit, "maria") == (0, 0)


def test_what_was_withdrawn_or_resolved_by_an_agent_is_no_measure(store: FactStore) -> None:
    """RF-21, RF-49: an agent that settles disputes would be audited by itself."""
    clash(store, "a")
    settled = store.get("a", "city").outcome.dispute
    before = store.audit()
    store.disputes.withdraw(settled, by="maria", party="person", reason="wrong customer")
    store.assert_("b", "city", "Rome", source="salesforce")
    store.assert_("b", "city", "Milan", source="zoho")
    dispute = next(one for one in store.disputes.list() if one.key.entity == "b")
    store.disputes.resolve(dispute.id, dispute.candidates[0].id, by="breaker", party="agent")

    assert before.resolutions == 1
    assert store.audit().resolutions == 0
    assert store.audit(agents=True).resolutions == 1


def test_of_what_is_known_twice_the_resolution_counts_and_of_two_the_one_that_holds(
    store: FactStore,
) -> None:
    """RF-21, RF-55: a person overrides an agent; a source is judged once by each fact."""
    store.assert_("a", "city", "Rome", source="salesforce")
    store.assert_("a", "city", "Milan", source="zoho")
    (dispute,) = store.disputes.list()
    rome, milan = sorted(dispute.candidates, key=lambda one: one.sources)
    store.disputes.resolve(dispute.id, milan.id, by="breaker", party="agent")
    store.disputes.resolve(dispute.id, rome.id, by="maria", party="person")
    store.assert_("a", "city", "Milan", source="joão", evidence="human")

    audit = store.audit(agents=True)

    assert (audit.resolutions, audit.confirmations) == (1, 1)
    assert (tally(audit, "salesforce"), tally(audit, "zoho")) == ((1, 0), (0, 1))


def test_what_was_merely_older_was_not_wrong(store: FactStore) -> None:
    """RF-21, RF-31: a price that ended is no mistake; nor is what its own source mended."""
    store.assert_("a", "price", "100", source="salesforce", valid_from="2026-01-01")
    store.assert_("a", "price", "110", source="zoho", valid_from="2026-02-01")
    store.assert_("a", "price", "120", source="zoho", valid_from="2026-06-01")
    store.assert_("a", "price", "120", source="maria", evidence="human", observed_at="2026-06-03")
    store.assert_("a", "price", "130", source="slack", observed_at="2026-07-01")
    store.assert_("b", "city", "Milan", source="zoho", observed_at="2026-01-01")
    store.assert_("b", "city", "Rome", source="zoho", observed_at="2026-02-01")
    store.assert_("b", "city", "Rome", source="maria", evidence="human", observed_at="2026-03-01")

    audit = store.audit()

    assert tally(audit, "zoho", "price") == (1, 0)
    assert tally(audit, "salesforce", "price") == (0, 0)
    assert tally(audit, "slack", "price") == (0, 0)  # that was later than what is known
    assert tally(audit, "zoho") == (1, 0)


def test_a_flood_counts_as_one(store: FactStore) -> None:
    """RF-80: and who says two things at once about one fact was wrong once."""
    for minute in range(20):
        at = f"2026-01-01T10:{minute:02}:00Z"
        store.assert_("a", "city", "Milan", source="slack", observed_at=at)
    store.assert_("a", "city", "Turin", source="zoho")
    store.assert_("a", "city", "Rome", source="zoho")
    store.assert_("a", "city", "Rome", source="salesforce")
    store.assert_("a", "city", "Turin", source="salesforce")
    store.assert_("a", "city", "Rome", source="maria", evidence="human")

    audit = store.audit()

    assert tally(audit, "slack") == (0, 1)
    assert tally(audit, "zoho") == (0, 1)
    assert tally(audit, "salesforce") == (0, 1)


def test_a_swap_is_proposed_where_the_intervals_are_apart_and_nothing_is_edited(
    store: FactStore,
) -> None:
    """RF-21: the lower source's interval lies above the higher one's."""

    def check(some: range) -> None:
        for at in some:
            store.assert_(f"c{at}", "city", "Milan", source="official")
            store.assert_(f"c{at}", "city", "Rome", source="slack")
            store.assert_(f"c{at}", "city", "Rome", source="maria", evidence="human")

    check(range(2))
    few = store.audit().swaps
    check(range(2, 12))
    before = store.get("c0", "city").outcome.registry

    (swap,) = store.audit().swaps

    assert few == ()
    assert (swap.attribute, swap.above.source, swap.below.source) == ("city", "official", "slack")
    assert swap.below.low > swap.above.high
    assert swap.gap > 0
    assert store.get("c0", "city").outcome.registry == before


def tallies(attribute: str, **right: int) -> list[Tally]:
    """Of twenty facts each."""
    return [Tally.of(Place(one, attribute), n, 20 - n, 0.05) for one, n in right.items()]


def test_only_who_ranks_below_and_is_right_more_often_is_proposed() -> None:
    """RF-21, RF-18: not where the order is right, and not between levels that are not ranked."""
    partial = Registry.of({**REGISTRY, "order": [], "above": [["site", "chat"]], "levels": ["crm"]})

    ranked = swaps(tallies("city", official=1, salesforce=19, slack=19), partial)
    right = swaps(tallies("city", official=19, salesforce=1, slack=1), partial)
    apart = swaps([*tallies("city", official=1), *tallies("price", slack=19)], partial)

    assert [(one.above.source, one.below.source) for one in ranked] == [("official", "slack")]
    assert right == ()
    assert apart == ()


def pairs(*facts: dict[str, str]) -> Pairs:
    counted = Pairs(Registry.of(REGISTRY), 0.05)
    for said in facts:
        counted.count({source: Value("text", text) for source, text in said.items()})
    return counted


def test_high_agreement_that_nobody_declared_is_reported() -> None:
    """RF-19: only where others say otherwise, and not between sources that are one voice."""
    contested = {"official": "a", "mirror": "a", "zoho": "b", "slack": "b", "salesforce": "c"}
    agreed = dict.fromkeys(contested, "a")

    found = pairs(*[contested] * 40, *[agreed] * 400).high()
    none = pairs(*[agreed] * 400, *[contested] * 3).high()

    assert [(one.one, one.other) for one in found] == [("slack", "zoho")]
    assert (found[0].facts, found[0].same) == (40, 40)
    assert found[0].low > 0.9
    assert none == ()


def test_an_agreement_changes_nothing(store: FactStore) -> None:
    """RF-19: reported, never acted on: two undeclared copies are still two voices."""
    for at in range(45):
        store.assert_(f"c{at}", "city", "Rome", source="salesforce")
        store.assert_(f"c{at}", "city", "Rome", source="zoho")
        store.assert_(f"c{at}", "city", "Milan", source="slack")

    (found,) = store.audit().agreements

    assert (found.one, found.other) == ("salesforce", "zoho")
    assert store.get("c0", "city").outcome.candidates[0].voices == 2


def test_sets_and_undeclared_attributes_are_looked_at_and_not_judged(store: FactStore) -> None:
    seen: list[int] = []
    store.assert_("a", "tags", "x", source="zoho")
    store.assert_("a", "colour", "red", source="zoho")
    store.assert_("a", "colour", "blue", source="maria", evidence="human")

    audit = store.audit(progress=seen.append)

    assert audit.facts == 2
    assert audit.sources == ()
    assert seen == []  # told every thousand facts


def test_the_best_first_is_who_is_right_in_at_least_so_much() -> None:
    """Three of three is less than ninety-five of a hundred."""
    counts = Counts(0.05)
    told: list[tuple[str, int, int]] = [("few", 3, 0), ("many", 95, 5), ("bad", 1, 9)]
    for source, right, wrong in told:
        for at in range(right + wrong):
            counts.count(Place(source, "city"), right=at < right)

    assert best_first(counts.sources(), "city") == ("many", "few", "bad")
    assert best_first(counts.sources(), "price") == ()
