"""Many words about one fact: the fold says what comparing each two says, at the cost of sorting."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import combinations
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from facts_strategies import KEY, SOURCES, STRANGER, assertions, policies, read_by, registries
from pointsman.decision_points.facts.assertions import (
    Assertion,
    Recorded,
    Value,
    When,
    recorded,
)
from pointsman.decision_points.facts.folding import beats, fold, rules_of
from pointsman.decision_points.facts.folding import said as said_as
from pointsman.decision_points.facts.outcomes import Outcome
from pointsman.decision_points.facts.policy import Policy
from pointsman.decision_points.facts.registry import Registry
from pointsman.decision_points.facts.values import all_within, normaliser, within

MINUTE = 60_000_000
NOW = 130 * MINUTE
ONE_EACH = (*SOURCES, STRANGER, "stranger 2", "stranger 3", "stranger 4")

laws = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@laws
@given(policies(dissent="show", corroboration=None), registries(), st.data())
def test_all_at_once_says_what_each_two_say(
    policy: Policy, registry: Registry, data: st.DataObject
) -> None:
    """RF-24, RF-37: unbeaten is what none beats, and each witness beats what lost to it so."""
    rules = rules_of(KEY.attribute, policy, registry)
    assert rules is not None
    these = [
        recorded(read_by(policy, data.draw(assertions(source=source, valid_to=None))))
        for source in ONE_EACH[: data.draw(st.integers(2, len(ONE_EACH)))]
    ]
    outcome = fold(KEY, these, policy, registry, NOW)
    if len({said_as(one, policy) for one in these}) == 1:
        return
    best = {one.id for one in these if not any(beats(other, one, rules, NOW) for other in these)}
    assert set(outcome.trace.unbeaten) == best
    by_id = {one.id: one for one in these}
    for witness in outcome.trace.beaten:
        found = beats(by_id[witness.to], by_id[witness.lost], rules, NOW)
        assert found == witness.on


NEAR: dict[str, tuple[dict[str, Any], list[str]]] = {
    "number": ({"tolerance": "1"}, ["1", "1.5", "2", "2.5", "-1", "0"]),
    "percent": (
        {"type": "number", "tolerance": "30%"},
        ["-12", "-10", "-8", "0", "8", "10", "12"],
    ),
    "more than all": (
        {"type": "number", "tolerance": "150%"},
        ["-10", "-4", "-1", "0", "1", "3", "10"],
    ),
    "money": (
        {"tolerance": "2%"},
        ["BRL 100", "BRL 101", "BRL 103", "USD 100", "BRL 100 per month", "BRL -100"],
    ),
    "date": (
        {"tolerance": "1d"},
        ["2026-11", "2026-11-14", "2026-11-15", "2026-11-16", "2026-11-14T10:00Z"],
    ),
    "time": ({"tolerance": "9h"}, ["00:30", "08:00", "09:31", "16:00", "17:29", "23:30"]),
}


@pytest.mark.parametrize("kind", NEAR)
def test_within_all_at_once_is_within_each_two(kind: str) -> None:
    """RF-83: for every few of some values, on both sides of zero and of midnight."""
    table, raws = NEAR[kind]
    policy = Policy.of({"attributes": {KEY.attribute: {"type": kind, **table}}})
    attribute = policy.attribute(KEY.attribute)
    assert attribute is not None
    values = [normaliser(attribute, policy).read(raw) for raw in raws]
    answers = set[bool]()
    for several in (some for size in (2, 3, 4) for some in combinations(values, size)):
        expected = all(within(a, b, attribute) for a, b in combinations(several, 2))
        assert all_within(several, attribute) == expected, several
        answers.add(expected)
    assert answers == {True, False}


REGISTRY = Registry.of(
    {
        "order": ["erp", "crm"],
        "sources": {"sap": {"level": "erp"}, "mail": {"level": "crm"}},
    }
)


def instant(at: int) -> When:
    return When(at, at)


def says(source: str, raw: str, **fields: Any) -> Recorded:
    number = raw.isdecimal()
    value = Value("number" if number else "text", raw) if raw else None
    said: dict[str, Any] = {
        "key": KEY,
        "raw": raw,
        "value": value,
        "confidence": 0.9,
        "source": source,
    }
    return recorded(Assertion(**{**said, **fields}))


def series(many: int) -> list[Recorded]:
    return [says("sap", str(at + 1), valid_from=instant(at)) for at in range(many)]


def alternating(many: int) -> list[Recorded]:
    return [says("sap", f"v{at % 2}", valid_from=instant(at)) for at in range(many)]


def two_series(many: int) -> list[Recorded]:
    others = (says("mail", f"v{at}", valid_from=instant(at)) for at in range(many))
    return [*(says("sap", "w", valid_from=instant(at)) for at in range(many)), *others]


def days(many: int) -> list[Recorded]:
    return [says("sap", f"v{at % 2}", valid_from=When(at, at + 10 * MINUTE)) for at in range(many)]


def strangers(many: int) -> list[Recorded]:
    return [says(f"s{at}", f"v{at % 2}", observed_at=instant(at)) for at in range(many)]


def nearly_sure(many: int) -> list[Recorded]:
    return [says("sap", f"v{at % 2}", confidence=0.5 + at / many / 10) for at in range(many)]


def near(many: int) -> list[Recorded]:
    return [says(f"s{at}", str(1_000_000 + at)) for at in range(many)]


def corrected(many: int) -> list[Recorded]:
    return [says("sap", f"v{at}", observed_at=instant(at)) for at in range(many)]


def denied(many: int) -> list[Recorded]:
    of_all = (says("mail", "", kind="deny", source_ref=str(at)) for at in range(many))
    return [*(says("sap", f"v{at}") for at in range(many)), *of_all]


OVER_TIME = {"type": "text", "change": "over_time"}
CROWDS: dict[str, tuple[Callable[[int], list[Recorded]], dict[str, Any], str]] = {
    "series": (series, {"type": "number", "change": "over_time"}, "succession"),
    "alternating": (alternating, OVER_TIME, "succession"),
    "guard": (two_series, {**OVER_TIME, "dissent": "guard"}, "dissent"),
    "overlapping": (days, OVER_TIME, "self_contradiction"),
    "strangers": (strangers, OVER_TIME, "tie"),
    "margin": (nearly_sure, {"keys": ["confidence"], "margin": 0.5}, "self_contradiction"),
    "tolerance": (near, {"type": "number", "tolerance": "1%"}, "tolerance"),
    "corrections": (corrected, OVER_TIME, "correction"),
    "denials": (denied, {"cardinality": "many"}, "authority"),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_twice_as_many_words_cost_about_twice(crowd: str) -> None:
    """RF-80: counted in calls of functions; comparing each with each would cost four times."""
    make, declared, expected = CROWDS[crowd]
    policy = Policy.of({"attributes": {KEY.attribute: declared}})
    costs = list[int]()
    for many in (400, 800):
        these = make(many)
        fold(KEY, these[:10], policy, REGISTRY, NOW)
        calls, outcome = counted(partial(fold, KEY, these, policy, REGISTRY, NOW))
        assert (outcome.decided_by or outcome.reason) == expected
        costs.append(calls)
    assert costs[1] < 2.6 * costs[0], costs


def counted(work: Callable[[], Outcome]) -> tuple[int, Outcome]:
    """Do some work and give how many functions it called, and what it gave."""
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = work()
    finally:
        sys.setprofile(before)
    return calls, found
