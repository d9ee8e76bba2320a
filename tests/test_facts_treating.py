"""Parameters of a transaction that are facts: one equality, and what each treatment needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pointsman import Gateway, scripted
from pointsman import decision_points as dp
from pointsman.decision_points import Candidate, Parameters
from pointsman.decision_points.facts import FactStore, key_of
from pointsman.decision_points.facts.treating import Clearing, Treated, treated

Gateways = Callable[..., Gateway]

POINT = "TRANSACTION_PARAMETER_RECONCILIATION"

# --- one equality of values --------------------------------------------------------------


def asked(gateway: Gateway, kind: str, told: object, *found: Candidate) -> tuple[Any, str]:
    """What comes of *told* about one field for which *found* was extracted, and what was shown."""
    state = {
        "current_user_message": "that one",
        "parameter_schema": {"amount": {"type": kind}, "day": {"type": "string"}},
        "known_arguments": {"day": "monday", "amount": "9"},
    }
    decider = scripted(told)
    with gateway.override({POINT: decider}):
        made = gateway.ask_sync(
            POINT, state, current=lambda: Parameters({}, several={"amount": found})
        )
    return made.value, decider.asked[0].text


SAME = {
    "digits": ("number", "1100", 1100),
    "zeros": ("number", "1.10", 1.1),
    "case and blanks": ("string", "São  Paulo", " são paulo"),
    "yes": ("boolean", "yes", True),
    "no type": ("", {"a": 1}, {"a": 1.0}),
}


@pytest.mark.parametrize(("kind", "one", "other"), SAME.values(), ids=SAME)
def test_candidates_that_are_equal_in_canonical_form_are_one(
    gateway_of: Gateways, kind: str, one: object, other: object
) -> None:
    """RF-16: the same equality as facts have, by the type that the schema names."""
    told = {"amount": "resolved", "day": "preserve"}
    first, second = Candidate(one, "current"), Candidate(other, "history:1")

    made, shown = asked(gateway_of(), kind, told, first, second)

    assert made.values == {"amount": one, "day": "monday"}
    assert made.candidates == {"amount": first}
    assert not made.several
    assert "tied_candidates" not in shown


DIFFERENT = {
    "numbers": ("number", "11", 12),
    "a number that may be read two ways": ("number", "1.234", 1234),
    "texts": ("string", "Radio", "Camera"),
    "text and digits of a text": ("string", "007", 7),
}


@pytest.mark.parametrize(("kind", "one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_candidates_that_differ_are_a_tie_and_nobody_may_pick_one(
    gateway_of: Gateways, kind: str, one: object, other: object
) -> None:
    """RF-32, RF-39: both are shown, `resolved` is not offered, the known value may be kept."""
    found = Candidate(one, "current"), Candidate(other, "history:1")
    keep = {"amount": "preserve", "day": "preserve"}

    made, shown = asked(gateway_of(), kind, {"amount": "unresolved", "day": "preserve"}, *found)
    kept, _ = asked(gateway_of(), kind, keep, *found)
    picked, _ = asked(gateway_of(), kind, {"amount": "resolved", "day": "preserve"}, *found)

    assert made.unresolved == ("amount",)
    assert made.values == {"day": "monday"}
    assert made.several == {"amount": found}
    assert str(one) in shown
    assert str(other) in shown
    assert kept.values == {"amount": "9", "day": "monday"}
    assert picked == Parameters({}, several={"amount": found})  # current's own stands


def test_a_tie_in_a_plain_dict_is_a_list_of_candidates_that_say_their_source(
    gateway_of: Gateways,
) -> None:
    """A list of values is still one candidate."""
    state = {
        "current_user_message": "those",
        "parameter_schema": {"items": {"type": "array"}, "amount": {"type": "number"}},
    }
    amounts = [{"value": "1", "source": "current"}, {"value": 1, "source": "history:1"}]
    plain = {"candidates": {"items": ["a", "b"], "amount": amounts}}

    with (gateway := gateway_of()).override({POINT: scripted("resolved")}):
        made: Mapping[str, Any] = gateway.ask_sync(POINT, state, current=lambda: plain).value

    assert made["values"] == {"items": ["a", "b"], "amount": "1"}


def test_an_empty_candidate_is_none_beside_another(gateway_of: Gateways) -> None:
    told = {"amount": "resolved", "day": "preserve"}

    made, _ = asked(gateway_of(), "number", told, Candidate(None, "state"), Candidate(5, "current"))

    assert made.values == {"amount": 5, "day": "monday"}


def test_what_current_decided_is_told_by_the_same_equality() -> None:
    """A host stores what it extracted in the field's own type: that is still its candidate."""
    hybrid = dp.TRANSACTION_PARAMETER_RECONCILIATION.hybrid
    assert hybrid is not None
    assert hybrid.outcome is not None
    found = {"amount": Candidate("1100.0"), "sure": Candidate("yes"), "day": Candidate("monday")}
    known = {"amount": 9, "sure": False, "day": "friday"}
    stored = {"amount": 1100, "sure": True, "day": "friday"}

    told = hybrid.outcome(Parameters(found, known, stored))

    assert told == {"amount": "resolved", "sure": "resolved", "day": "preserve"}


# --- treatments --------------------------------------------------------------------------

REGISTRY = {
    "schema": 1,
    "order": ["signed", "customer", "notes"],
    "sources": {
        "contract": {"level": "signed"},
        "customer": {"level": "customer"},
        "branch": {"level": "customer"},
        "notes": {"level": "notes"},
    },
}
POLICY = {
    "schema": 1,
    "keys": ["authority"],
    "attributes": {
        "amount": {"type": "number"},
        "city": {"type": "text"},
        "day": {"type": "date"},
    },
}
KEYS = {name: key_of("default", "order:1", name) for name in ("amount", "city", "day")}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FactStore]:
    with FactStore(tmp_path / "facts.db", policy=POLICY, registry=REGISTRY) as opened:
        yield opened


def parameters(**fields: tuple[str, Any]) -> Parameters:
    """What the point gave: field → what was decided, and the value that it was about."""
    of: dict[str, dict[str, Any]] = {
        kind: {name: value for name, (said, value) in fields.items() if said == kind}
        for kind in ("resolved", "preserve", "clear", "unresolved")
    }
    return Parameters(
        {name: Candidate(value, "current") for name, value in of["resolved"].items()},
        known={**of["preserve"], **of["clear"]},
        values={**of["resolved"], **of["preserve"]},
        clear_fields=tuple(of["clear"]),
        unresolved=tuple(of["unresolved"]),
        fields=tuple(fields),
    )


def written(store: FactStore) -> int:
    return len(list(store.export()))


def whys(done: Treated) -> dict[str, str]:
    return {one.field: one.why for one in done.treatments}


def test_a_resolved_parameter_becomes_an_assertion_of_its_listed_candidate(
    store: FactStore,
) -> None:
    """RF-39: with the source that it was found in; what is no fact stays as it was."""
    given = parameters(amount=("resolved", "1100"), city=("resolved", "Rome"), pin=("resolved", 1))

    done = treated(store, KEYS | {"day": KEYS["day"]}, given, source="customer", writer="bot")

    assert done.parameters.values == {"pin": 1, "amount": 1100, "city": "Rome"}
    assert whys(done) == {"amount": "", "city": "", "day": "undecided"}
    reading = store.get(KEYS["amount"])
    assert reading.value == 1100
    (entry,) = store.history(KEYS["amount"])
    assert entry.id == done.treatments[0].assertion
    assert entry.entry.assertion.source_ref == "current"  # type: ignore[union-attr]
    assert entry.entry.assertion.writer == "bot"  # type: ignore[union-attr]


def test_nothing_is_resolved_that_was_not_listed(store: FactStore) -> None:
    """RF-39, RF-35: no value that no extraction gave; no value that cannot be read as one."""
    invented = Parameters({}, values={"amount": 5}, fields=("amount",))
    several = {"amount": (Candidate(1, "current"), Candidate(2, "history:1"))}
    tied = Parameters({}, several=several, fields=("amount",))
    unreadable = parameters(amount=("resolved", "N/A"), day=("resolved", "03/04/2026"))
    before = written(store)

    for given, why in (
        (invented, {"amount": "not_listed"}),
        (tied, {"amount": "tie"}),
        (unreadable, {"amount": "not_a_value", "day": "ambiguous_value"}),
    ):
        done = treated(store, {name: KEYS[name] for name in why}, given, source="customer")
        assert whys(done) == why
        assert done.parameters.values == {}
        assert set(done.parameters.unresolved) == set(why)
    assert written(store) == before


def test_a_candidate_that_does_not_hold_leaves_its_parameter_unresolved(store: FactStore) -> None:
    """RF-39: a better source says otherwise, or one as good: then there is a dispute."""
    store.assert_("order:1", "amount", "900", source="contract")
    store.assert_("order:1", "city", "Milan", source="branch")
    given = parameters(amount=("resolved", "1100"), city=("resolved", "Rome"))

    done = treated(
        store, {name: KEYS[name] for name in ("amount", "city")}, given, source="customer"
    )

    assert whys(done) == {"amount": "outranked", "city": "disputed"}
    assert done.parameters.unresolved == ("amount", "city")
    assert done.treatments[1].dispute == store.get(KEYS["city"]).outcome.dispute != ""
    assert store.get(KEYS["amount"]).value == 900
    assert all(one.assertion for one in done.treatments)  # what was said is kept


def test_a_candidate_against_which_a_person_decided_does_not_hold(store: FactStore) -> None:
    """RF-39, RF-52: it is as good as the other by the rules, and was not chosen."""
    store.assert_("order:1", "city", "Rome", source="customer")
    store.assert_("order:1", "city", "Milan", source="branch")
    (dispute,) = store.disputes.list()
    milan = next(one for one in dispute.candidates if one.sources == ("branch",))
    store.disputes.resolve(dispute.id, milan.id, by="maria", party="person")

    done = treated(
        store, {"city": KEYS["city"]}, parameters(city=("resolved", "Rome")), source="customer"
    )

    assert whys(done) == {"city": "outranked"}
    assert store.get(KEYS["city"]).value == "Milan"


def test_preserve_needs_a_live_value_and_adds_nothing(store: FactStore) -> None:
    """RF-39: none, a disputed one, or another than the decision was about: unresolved."""
    store.assert_("order:1", "amount", "1.10", source="customer")
    before = written(store)
    city = {"city": KEYS["city"]}

    kept = treated(
        store, {"amount": KEYS["amount"]}, parameters(amount=("preserve", 1.1)), source="customer"
    )
    moved = treated(
        store, {"amount": KEYS["amount"]}, parameters(amount=("preserve", "2")), source="customer"
    )
    none = treated(store, city, parameters(city=("preserve", "Rome")), source="customer")
    after = written(store)
    store.assert_("order:1", "city", "Rome", source="customer")
    store.assert_("order:1", "city", "Milan", source="branch")
    disputed = treated(store, city, parameters(city=("preserve", "Rome")), source="customer")

    assert kept.parameters.values == {"amount": store.get(KEYS["amount"]).value}
    assert (whys(kept), whys(moved)) == ({"amount": ""}, {"amount": "moved"})
    assert (whys(none), whys(disputed)) == ({"city": "no_value"}, {"city": "disputed"})
    assert after == before


def test_clear_needs_that_somebody_says_so_and_becomes_that(store: FactStore) -> None:
    """RF-39: explicit evidence that it ended, or that there is none; never silence."""
    store.assert_("order:1", "amount", "5", source="customer", observed_at="2026-01-01")
    given = parameters(amount=("clear", "5"))
    of = {"amount": KEYS["amount"]}
    before = written(store)

    silent = treated(store, of, given, source="customer")
    unchanged = written(store) == before
    weak = treated(store, of, given, source="notes", clearings={"amount": Clearing(kind="deny")})
    said = Clearing(source="contract", source_ref="clause 4")
    done = treated(store, of, given, source="customer", clearings={"amount": said})

    assert whys(silent) == {"amount": "no_evidence"}
    assert unchanged
    assert whys(weak) == {"amount": "outranked"}
    assert done.parameters.clear_fields == ("amount",)
    assert done.parameters.unresolved == ()
    assert store.get(KEYS["amount"]).status == "ended"
    assert store.history(KEYS["amount"])[-1].entry.assertion.source_ref == "clause 4"  # type: ignore[union-attr]


def test_one_failure_leaves_the_others_standing_unless_all_depend_on_each(
    store: FactStore,
) -> None:
    """RF-39: with `all_or_none` nothing is written where a need fails, and nothing has a value."""
    given = parameters(amount=("resolved", "5"), city=("resolved", "N/A"))
    of = {name: KEYS[name] for name in ("amount", "city")}
    before = written(store)

    together = treated(store, of, given, source="customer", all_or_none=True)
    untouched = written(store) == before
    apart = treated(store, of, given, source="customer")

    assert whys(together) == {"amount": "all_or_none", "city": "not_a_value"}
    assert together.parameters.values == {}
    assert untouched
    assert whys(apart) == {"amount": "", "city": "not_a_value"}
    assert apart.parameters.values == {"amount": store.get(KEYS["amount"]).value}


def test_what_shows_only_afterwards_withholds_all_as_well(store: FactStore) -> None:
    """RF-39: what was said is kept; no parameter has a value."""
    store.assert_("order:1", "city", "Milan", source="contract")
    given = parameters(amount=("resolved", "5"), city=("resolved", "Rome"))
    of = {name: KEYS[name] for name in ("amount", "city")}

    done = treated(store, of, given, source="customer", all_or_none=True)

    assert whys(done) == {"amount": "all_or_none", "city": "outranked"}
    assert done.parameters.values == {}
    assert store.get(KEYS["amount"]).value == 5


def test_a_stale_value_is_not_preserved(store: FactStore) -> None:
    """RF-39, RF-66: it rests on what no longer holds."""
    store.assert_("order:1", "city", "Rome", source="customer")
    used = (store.get(KEYS["city"]).as_input(),)
    store.assert_(
        "order:1", "amount", "5", source="customer", evidence="derived", derived_from=used
    )
    store.assert_("order:1", "city", "Milan", source="contract")

    done = treated(
        store, {"amount": KEYS["amount"]}, parameters(amount=("preserve", 5)), source="customer"
    )

    assert whys(done) == {"amount": "stale"}


def test_a_finer_value_of_another_source_is_the_same_said_more_precisely(
    store: FactStore,
) -> None:
    """RF-39, RF-84: the month that was said holds, as the day that is known."""
    store.assert_("order:1", "day", "2026-11-14", source="branch")

    done = treated(
        store, {"day": KEYS["day"]}, parameters(day=("resolved", "2026-11")), source="customer"
    )

    assert whys(done) == {"day": ""}
    assert done.parameters.values == {"day": store.get(KEYS["day"]).value}
