"""What assertions come to, rule by rule."""

from __future__ import annotations

import gc
from typing import Any

import msgspec
import pytest

from pointsman.decision_points.facts.assertions import (
    Assertion,
    Input,
    Recorded,
    Value,
    When,
    recorded,
)
from pointsman.decision_points.facts.entries import (
    AnyEntry,
    Asserted,
    Dismissed,
    Erased,
    Quarantined,
    Receipt,
    Retracted,
    Stored,
    Withdrawn,
)
from pointsman.decision_points.facts.folding import Living, beats, due, fold, living, rules_of
from pointsman.decision_points.facts.folding import said as read_as
from pointsman.decision_points.facts.keys import FactKey
from pointsman.decision_points.facts.outcomes import Outcome, candidate_id
from pointsman.decision_points.facts.policy import Policy
from pointsman.decision_points.facts.registry import Registry
from pointsman.decision_points.facts.values import normaliser

KEY = FactKey("default", "acme", "price")
DAY = 86_400_000_000  # microseconds
MINUTE = 60_000_000
NOW = 400 * DAY

REGISTRY = Registry.of(
    {
        "above": [["signed", "erp"], ["erp", "crm"]],
        "levels": ["partner"],
        "sources": {
            "contract": {"level": "signed"},
            "annex": {"level": "signed"},
            "sap": {"level": "erp"},
            "legacy": {"level": "erp", "copies": ["sap"]},
            "crm": {"level": "crm"},
            "mail": {"level": "crm"},
            "chat": {"level": "crm"},
            "partner": {"level": "partner"},
        },
        "actors": {"maria": {"may_correct": ["sap"]}},
    }
)


def policy(**attribute: Any) -> Policy:
    places = {"milan": "lombardy", "bergamo": "lombardy"}
    return Policy.of({"attributes": {"price": attribute}, "hierarchies": {"places": places}})


def says(source: str, value: str | None, **fields: Any) -> Recorded:
    """What a source says, as text, surely; times in days."""
    for name in ("observed_at", "valid_from", "valid_to"):
        if isinstance(fields.get(name), int | float):
            at = round(fields[name] * DAY)
            fields[name] = When(at, at)
    spoken = None if value is None else Value("text", value)
    given = {"key": KEY, "value": spoken, "raw": value or "", "source": source, "confidence": 0.9}
    return recorded(Assertion(**{**given, **fields}))


def folded(*these: Recorded, at: int = NOW, **attribute: Any) -> Outcome:
    return fold(KEY, these, policy(**attribute), REGISTRY, at)


def standing(outcome: Outcome) -> tuple[str, str | None, str]:
    text = None if outcome.value is None else outcome.value.text
    return outcome.status, text, outcome.decided_by or outcome.reason


CASES: dict[str, tuple[tuple[Recorded, ...], dict[str, Any], tuple[str, str | None, str]]] = {
    "RF-25 one value whatever is missing": (
        (says("partner", "x", confidence=None), says("nobody", "x", confidence=None)),
        {},
        ("resolved", "x", "unanimous"),
    ),
    "RF-26 authority": (
        (says("contract", "x", confidence=0.1), says("sap", "y")),
        {},
        ("resolved", "x", "authority"),
    ),
    "RF-09 unknown source is below all": (
        (says("nobody", "x"), says("chat", "y")),
        {},
        ("resolved", "y", "authority"),
    ),
    "RF-18 unranked levels end the comparison": (
        (says("partner", "x", confidence=0.1), says("crm", "y", confidence=0.95)),
        {},
        ("disputed", None, "unranked"),
    ),
    "RF-27 higher band": (
        (says("crm", "x", confidence=0.9), says("mail", "y", confidence=0.7)),
        {},
        ("resolved", "x", "confidence"),
    ),
    "RF-27 one band is one confidence": (
        (says("crm", "x", confidence=0.84), says("mail", "y", confidence=0.6)),
        {},
        ("disputed", None, "tie"),
    ),
    "RF-27 missing gives no verdict and recency is not asked": (
        (
            says("crm", "x", confidence=None, observed_at=1),
            says("mail", "y", confidence=0.7, observed_at=9),
        ),
        {"change": "over_time"},
        ("disputed", None, "confidence_missing"),
    ),
    "RF-27 nor of two that both miss it": (
        (
            says("crm", "x", confidence=None, observed_at=1),
            says("mail", "y", confidence=None, observed_at=9),
        ),
        {"change": "over_time"},
        ("disputed", None, "confidence_missing"),
    ),
    "RF-27 margin as the last key": (
        (says("crm", "x", confidence=0.9), says("mail", "y", confidence=0.65)),
        {"margin": 0.2},
        ("resolved", "x", "confidence"),
    ),
    "RF-27 a margin is as it is written": (  # 0.9 - 0.7 > 0.2 for binary floats
        (says("crm", "x", confidence=0.9), says("mail", "y", confidence=0.7)),
        {"margin": 0.2},
        ("disputed", None, "tie"),
    ),
    "RF-27 beyond a margin as it is written": (
        (says("crm", "x", confidence=0.9), says("mail", "y", confidence=0.69)),
        {"margin": 0.2},
        ("resolved", "x", "confidence"),
    ),
    "RF-29 recency only for what changes": (
        (says("crm", "x", observed_at=1), says("mail", "y", observed_at=9)),
        {},
        ("disputed", None, "tie"),
    ),
    "RF-29 the newer observation": (
        (says("crm", "x", observed_at=1), says("mail", "y", observed_at=9)),
        {"change": "over_time"},
        ("resolved", "y", "recency"),
    ),
    "RF-29 both need a time": (
        (says("crm", "x"), says("mail", "y", observed_at=9)),
        {"change": "over_time"},
        ("disputed", None, "tie"),
    ),
    "RF-42 within the skew is the same time": (
        (
            says("crm", "x", observed_at=When(0, 0)),
            says("mail", "y", observed_at=When(5 * MINUTE, 5 * MINUTE)),
        ),
        {"change": "over_time"},
        ("disputed", None, "tie"),
    ),
    "RF-42 beyond it is later": (
        (
            says("crm", "x", observed_at=When(0, 0)),
            says("mail", "y", observed_at=When(5 * MINUTE + 1, 5 * MINUTE + 1)),
        ),
        {"change": "over_time"},
        ("resolved", "y", "recency"),
    ),
    "RF-43 dated ahead is no time": (
        (says("crm", "x", observed_at=1), says("mail", "y", observed_at=401)),
        {"change": "over_time"},
        ("disputed", None, "tie"),
    ),
    "RF-44 days that overlap": (
        (
            says("crm", "x", observed_at=When(DAY, 2 * DAY)),
            says("mail", "y", observed_at=1.5),
        ),
        {"change": "over_time"},
        ("disputed", None, "tie"),
    ),
    "RF-44 days that do not": (
        (
            says("crm", "x", observed_at=When(DAY, 2 * DAY)),
            says("mail", "y", observed_at=When(3 * DAY, 4 * DAY)),
        ),
        {"change": "over_time"},
        ("resolved", "y", "recency"),
    ),
    "RF-31 the next start closes": (
        (says("crm", "x", valid_from=10), says("mail", "y", valid_from=20)),
        {"change": "over_time", "keys": ["authority"]},
        ("resolved", "y", "succession"),
    ),
    "RF-31 a day and the next": (
        (
            says("crm", "x", valid_from=When(DAY, 2 * DAY)),
            says("mail", "y", valid_from=When(2 * DAY, 3 * DAY)),
        ),
        {"change": "over_time"},
        ("resolved", "y", "succession"),
    ),
    "RF-31 also where neither has a confidence": (
        (
            says("crm", "x", valid_from=10, confidence=None),
            says("mail", "y", valid_from=20, confidence=None),
        ),
        {"change": "over_time"},
        ("resolved", "y", "succession"),
    ),
    "RF-31 a lower start does not close": (
        (says("sap", "x", valid_from=10), says("mail", "y", valid_from=20)),
        {"change": "over_time"},
        ("resolved", "x", "authority"),
    ),
    "RF-31 nor a lower level's behind a missing confidence": (
        (
            says("sap", "x", valid_from=10, confidence=None),
            says("mail", "y", valid_from=20, confidence=None),
        ),
        {"change": "over_time", "keys": ["confidence", "authority"]},
        ("disputed", None, "confidence_missing"),
    ),
    "RF-13 own later word": (
        (says("sap", "x", observed_at=1), says("sap", "y", observed_at=2)),
        {},
        ("resolved", "y", "correction"),
    ),
    "RF-13 before anything else": (
        (says("sap", "x", observed_at=1), says("sap", "y", observed_at=2, confidence=0.1)),
        {},
        ("resolved", "y", "correction"),
    ),
    "RF-13 at one time it contradicts itself": (
        (says("sap", "x", observed_at=1), says("sap", "y", observed_at=1)),
        {},
        ("disputed", None, "self_contradiction"),
    ),
    "RF-13 other starts are succession": (
        (
            says("sap", "x", observed_at=2, valid_from=9),
            says("sap", "y", observed_at=1, valid_from=10),
        ),
        {"change": "over_time"},
        ("resolved", "y", "succession"),
    ),
    "RF-13 read again, what is announced stays announced": (
        (
            says("sap", "x", observed_at=1),
            says("sap", "y", observed_at=2, valid_from=9),
            says("sap", "x", observed_at=3),
        ),
        {"change": "over_time"},
        ("resolved", "y", "recency"),
    ),
    "RF-13 and where no key decides either, it says two things": (
        (
            says("sap", "y", observed_at=2, valid_from=9),
            says("sap", "x", observed_at=3, confidence=None),
        ),
        {"change": "over_time"},
        ("disputed", None, "self_contradiction"),
    ),
    "RF-13 what had begun is corrected": (
        (
            says("sap", "y", observed_at=2, valid_from=9),
            says("sap", "x", observed_at=9),
        ),
        {"change": "over_time"},
        ("resolved", "x", "correction"),
    ),
    "RF-13 of what never changes, whenever it was to hold": (
        (
            says("sap", "y", observed_at=2, valid_from=9),
            says("sap", "x", observed_at=3),
        ),
        {},
        ("resolved", "x", "correction"),
    ),
    "RF-43 dated ahead corrects nothing": (
        (says("sap", "x", observed_at=1), says("sap", "y", observed_at=401)),
        {},
        ("disputed", None, "self_contradiction"),
    ),
    "RF-43 nor is it corrected": (
        (says("sap", "x", observed_at=401), says("sap", "y", observed_at=402)),
        {},
        ("disputed", None, "self_contradiction"),
    ),
    "RF-11 absence is below explicit of one tier": (
        (says("crm", "x", evidence="absence"), says("mail", "y", confidence=0.1)),
        {},
        ("resolved", "y", "evidence"),
    ),
    "RF-11 not above its own tier": (
        (says("sap", "x", evidence="absence"), says("mail", "y")),
        {},
        ("resolved", "x", "authority"),
    ),
    "RF-24 evidence before authority": (
        (says("contract", "x", evidence="inferred"), says("crm", "y")),
        {"keys": ["evidence", "authority"]},
        ("resolved", "y", "evidence"),
    ),
    "RF-32 no coin": (
        (says("contract", "x"), says("annex", "y")),
        {},
        ("disputed", None, "tie"),
    ),
    "RF-36 derived is no more than its weakest input": (
        (
            says("contract", "x", derived_from=(Input(KEY, "0", ("chat",)),), evidence="derived"),
            says("sap", "y"),
        ),
        {},
        ("resolved", "y", "authority"),
    ),
    "RF-10 nobody knows": (
        (says("contract", None, kind="unknown"), says("crm", "y")),
        {},
        ("absent", None, "authority"),
    ),
    "RF-60 it ended": (
        (says("contract", None, kind="ended"), says("crm", "y")),
        {},
        ("ended", None, "authority"),
    ),
    "RF-60 nothing yet": ((says("sap", "x", valid_from=500),), {}, ("not_yet", None, "")),
    "RF-60 no more": ((says("sap", "x", valid_to=3),), {}, ("ended", None, "")),
    "RF-60 nothing at all": ((), {}, ("absent", None, "")),
    "RF-85 the most specific represents": (
        (says("crm", "lombardy"), says("mail", "milan")),
        {"type": "text", "hierarchy": "places"},
        ("resolved", "milan", "compatible"),
    ),
    "RF-85 siblings conflict": (
        (says("crm", "lombardy"), says("mail", "milan"), says("chat", "bergamo")),
        {"type": "text", "hierarchy": "places"},
        ("disputed", None, "tie"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_rule_decides_as_declared(case: str) -> None:
    these, attribute, expected = CASES[case]
    assert standing(folded(*these, **attribute)) == expected
    assert standing(folded(*reversed(these), **attribute)) == expected


def typed(policy_: Policy, source: str, raw: str, **fields: Any) -> Recorded:
    attribute = policy_.attribute("price")
    assert attribute is not None
    reader = normaliser(attribute, policy_)
    given = {"value": reader.read(raw), "raw": raw, "normaliser": reader.id, "confidence": 0.9}
    return recorded(Assertion(**{"key": KEY, "source": source, **given, **fields}))


@pytest.mark.parametrize(
    ("raws", "expected"),
    [
        (("100", "108"), ("resolved", "100", "tolerance")),
        (("100", "108", "116"), ("disputed", None, "tie")),
    ],
)
def test_tolerance_is_of_all_pairs_at_the_end(
    raws: tuple[str, ...], expected: tuple[str, str | None, str]
) -> None:
    """RF-83: 100 ~ 108 ~ 116, but 100 and 116 are too far apart."""
    near = policy(type="number", tolerance="8")
    three = [
        typed(near, name, raw) for name, raw in zip(("crm", "mail", "chat"), raws, strict=False)
    ]
    assert standing(fold(KEY, three, near, REGISTRY, NOW)) == expected


def test_finer_date_represents() -> None:
    """RF-84: a month against a day in it."""
    dated = policy(type="date")
    two = [typed(dated, "crm", "2026-11"), typed(dated, "mail", "2026-11-14")]
    outcome = fold(KEY, two, dated, REGISTRY, NOW)
    assert standing(outcome) == ("resolved", "2026-11-14", "compatible")


@pytest.mark.parametrize(
    ("raws", "expected"),
    [
        (("13:00Z", "13:05:30Z", ""), ("resolved", "2026-11-14T13:00Z", "tolerance")),
        (("13:00Z", "13:25:30Z", ""), ("disputed", None, "tie")),
    ],
)
def test_coarser_date_is_in_nobodys_way(
    raws: tuple[str, ...], expected: tuple[str, str | None, str]
) -> None:
    """RF-83, RF-84: beside two near minutes their day says nothing else, and represents neither."""
    near = policy(type="date", tolerance="10m")
    three = [
        typed(near, name, f"2026-11-14T{raw}" if raw else "2026-11-14")
        for name, raw in zip(("crm", "mail", "chat"), raws, strict=True)
    ]
    assert standing(fold(KEY, three, near, REGISTRY, NOW)) == expected
    assert standing(fold(KEY, three[::-1], near, REGISTRY, NOW)) == expected


def test_unreadable_corrector_replaces_nothing() -> None:
    """RF-15, RF-14: it is left out altogether."""
    ten = says("sap", "10", normaliser="text@0")
    bad = says("sap", "ten", normaliser="text@0", corrects=ten.id)
    outcome = folded(ten, bad, type="number")
    assert standing(outcome) == ("resolved", "10", "unanimous")
    assert outcome.trace.notes == (f"unreadable:{bad.id}",)
    good = says("sap", "12", normaliser="text@0", corrects=ten.id)
    assert standing(folded(ten, good, type="number")) == ("resolved", "12", "correction")
    denial = says("sap", "ten", kind="deny", normaliser="text@0", corrects=ten.id)
    held = folded(ten, denial, type="number", cardinality="many")
    assert held.members == (Value("number", "10"),)


def test_raw_is_read_again_under_another_normaliser() -> None:
    """RF-15, RF-46: what the policy of now cannot read is left out and flagged."""
    two = [
        recorded(msgspec.structs.replace(says("crm", text).assertion, normaliser="text@0"))
        for text in ("12", "a dozen")
    ]
    number = policy(type="number")
    outcome = fold(KEY, two, number, REGISTRY, NOW)
    assert standing(outcome) == ("resolved", "12", "unanimous")
    assert outcome.trace.notes == (f"unreadable:{two[1].id}",)
    assert read_as(two[0], number) == Value("number", "12")
    assert read_as(two[1], number) is None


def test_undeclared_attribute_shows_everything_and_retires_nothing() -> None:
    """RF-03."""
    two = (says("sap", "x", observed_at=1), says("sap", "y", observed_at=2))
    outcome = fold(KEY, two, Policy.of({}), REGISTRY, NOW)
    assert outcome.status == "unreconciled"
    assert {one.value.text for one in outcome.candidates} == {"x", "y"}
    assert len(outcome.trace.unbeaten) == len(two)


def test_other_attribute_never_matters() -> None:
    """RF-06: nor another qualifier, nor another namespace, whoever hands them in."""
    mine = says("crm", "x")
    others = [
        says("contract", "y", key=FactKey("default", "acme", "term")),
        says("contract", "y", key=FactKey("default", "acme", "price", (("region", "br"),))),
        says("contract", "y", key=FactKey("tenant", "acme", "price")),
    ]
    assert folded(mine, *others) == folded(mine)


def test_members_of_a_set_are_said_one_by_one() -> None:
    """RF-04: two members never conflict; to assert and deny one does."""
    two = (says("crm", "ana"), says("mail", "bob"))
    both = folded(*two, cardinality="many")
    assert both.members == (Value("text", "ana"), Value("text", "bob"))
    assert (both.status, both.decided_by) == ("resolved", "unanimous")
    denied = folded(*two, says("sap", "ana", kind="deny"), cardinality="many")
    assert denied.members == (Value("text", "bob"),)
    open_ = folded(*two, says("chat", "ana", kind="deny"), cardinality="many")
    assert (open_.status, open_.reason, open_.members) == (
        "disputed",
        "denied",
        (Value("text", "bob"),),
    )
    assert {one.value for one in open_.candidates} == {Value("text", "ana"), Value("deny", "ana")}
    none = folded(*two, says("sap", None, kind="deny"), cardinality="many")
    assert (none.status, none.members) == ("resolved", ())


def test_member_of_a_set_is_corrected_into_another() -> None:
    """RF-13, RF-14: what a correction names is another member, and by who may it is gone."""
    blue = says("sap", "blue")
    green = says("sap", "green", corrects=blue.id)
    outcome = folded(blue, green, cardinality="many")
    assert outcome.members == (Value("text", "green"),)
    assert outcome.decided_by == "correction"
    assert [(one.lost, one.to, one.on) for one in outcome.trace.beaten] == [
        (blue.id, green.id, "correction")
    ]
    other = says("mail", "green", corrects=blue.id)
    refused = folded(blue, other, cardinality="many")
    assert refused.members == (Value("text", "blue"), Value("text", "green"))
    assert f"not_allowed:{other.id}" in refused.trace.notes
    denial = says("sap", None, kind="deny", corrects=blue.id)
    assert folded(blue, denial, cardinality="many").status == "absent"


@pytest.mark.parametrize("span", [{"valid_from": 500}, {"valid_to": 300}])
def test_member_of_another_time_changes_nothing_today(span: dict[str, Any]) -> None:
    """RF-04: of a set, what begins later or is over is not denied, and not there."""
    none = says("sap", None, kind="deny")
    before = folded(none, cardinality="many")
    after = folded(none, says("crm", "blue", **span), cardinality="many")
    assert before.status == "absent"
    assert (after.status, after.members) == (before.status, before.members)


def test_denials_of_a_whole_set_that_differ_in_nothing_are_all_told() -> None:
    """RF-37, RF-80: each has its place in what is left, and in what is beaten."""
    said = [says("crm", "ana"), says("mail", None, kind="deny")]
    again = says("mail", None, kind="deny", source_ref="page 2")
    open_ = folded(*said, again, cardinality="many")
    (denied,) = [one for one in open_.candidates if one.value.form == "deny"]
    assert denied.assertions == tuple(sorted((said[1].id, again.id)))
    assert set(open_.trace.unbeaten) == {said[0].id, said[1].id, again.id}
    decided = folded(says("sap", "ana"), *said[1:], again, cardinality="many")
    assert {one.lost for one in decided.trace.beaten} == {said[1].id, again.id}


def test_new_denial_of_a_whole_set_is_new_to_a_receipt() -> None:
    """RF-71: also one that differs from another in its id alone."""
    said = (says("sap", "ana"), says("legacy", None, kind="deny"))
    many = policy(cardinality="many")
    before = fold(KEY, said, many, REGISTRY, NOW)
    assert before.status == "disputed"
    level = {**REGISTRY.plain()["sources"], "sap": {"level": "crm"}}
    lower = Registry.of({**REGISTRY.plain(), "sources": level})
    upon = tuple(one.id for one in said)
    given = receipt(before, Value("text", "ana"), upon=upon)
    held = fold(KEY, Living(assertions=said, receipts=(given,)), many, lower, NOW)
    assert held.members == (Value("text", "ana"),)
    more = (*said, says("legacy", None, kind="deny", source_ref="page 2"))
    anew = fold(KEY, Living(assertions=more, receipts=(given,)), many, lower, NOW)
    assert anew.members == ()


def test_one_receipt_settles_one_member() -> None:
    """RF-04, RF-53: what is left stays in dispute."""
    these = tuple(
        says(source, name, kind=kind)
        for name in ("ana", "bob")
        for source, kind in (("crm", "value"), ("mail", "deny"))
    )
    many = policy(cardinality="many")
    first = fold(KEY, these, many, REGISTRY, NOW)
    ana = receipt(first, Value("text", "ana"))
    there = Living(assertions=these, receipts=(ana,))
    second = fold(KEY, there, many, REGISTRY, NOW)
    assert (second.status, second.members) == ("disputed", (Value("text", "ana"),))
    bob = receipt(second, Value("deny", "bob"))
    last = fold(KEY, msgspec.structs.replace(there, receipts=(ana, bob)), many, REGISTRY, NOW)
    assert (last.status, last.members) == ("resolved", (Value("text", "ana"),))
    assert last.decided_by == "resolution"


CORROBORATED = (says("crm", "x"), says("mail", "x"), says("chat", "x"))


def test_copies_are_one_voice_and_voices_decide_only_if_told() -> None:
    """RF-19, RF-33."""
    two = (says("sap", "x"), says("legacy", "x"))
    assert folded(*two).candidates[0].voices == 1
    against = says("annex", "y")
    lone = (*CORROBORATED, says("mail", "y", writer="second"))
    assert standing(folded(*lone))[0] == "disputed"
    assert standing(folded(*lone, corroboration={"lead": 2})) == ("resolved", "x", "corroboration")
    assert standing(folded(*lone, corroboration={"lead": 3}))[0] == "disputed"
    assert standing(folded(*lone, corroboration={"share": 0.75})) == (
        "resolved",
        "x",
        "corroboration",
    )
    assert folded(against, *two).trace.dissent == ((candidate_id(KEY, Value("text", "x")), 1),)


def test_echo_is_no_voice_of_its_own() -> None:
    """RF-36: what was derived from a source's word is that source's word."""
    echo = says("mail", "x", derived_from=(Input(KEY, "0", ("crm",)),))
    assert folded(says("crm", "x"), echo).candidates[0].voices == 1
    assert folded(says("crm", "x"), says("mail", "x")).candidates[0].voices == 2


def test_guard_disputes_what_half_of_the_others_contradict() -> None:
    """RF-33: the winner and what speaks against it are the candidates."""
    two = (says("contract", "x"), says("crm", "y"))
    assert standing(folded(*two, dissent="guard")) == ("disputed", None, "dissent")
    backed = (*two, says("mail", "x"), says("chat", "x"))
    assert standing(folded(*backed, dissent="guard")) == ("resolved", "x", "authority")
    past = (says("crm", "x", valid_from=9), says("mail", "y", valid_from=8))
    followed = folded(*past, dissent="guard", change="over_time")
    assert standing(followed) == ("resolved", "x", "succession")
    assert followed.trace.dissent == ()  # RF-31: what held before does not contradict


def test_correction_by_name_needs_leave() -> None:
    """RF-14: of its own source, or by who may correct that source."""
    wrong = says("sap", "x")
    for who, expected in (("sap", "y"), ("maria", "y"), ("mail", "x")):
        outcome = folded(wrong, says(who, "y", corrects=wrong.id))
        assert outcome.value == Value("text", expected), who
    refused = says("mail", "y", corrects=wrong.id)
    assert f"not_allowed:{refused.id}" in folded(wrong, refused).trace.notes


def test_reading_again_confirms_and_does_not_make_newer() -> None:
    """RF-30, RF-62: the first observation counts, or the last where the policy says so."""
    again = (says("crm", "x", observed_at=1), says("crm", "x", observed_at=9))
    other = says("mail", "y", observed_at=5)
    assert standing(folded(*again, other, change="over_time")) == ("resolved", "y", "recency")
    confirmed = folded(*again, other, change="over_time", basis="confirmed")
    assert standing(confirmed) == ("resolved", "x", "recency")
    assert confirmed.last_confirmed == 9 * DAY


def test_trace_names_witness_and_runner_up() -> None:
    """RF-37, RF-46: each that is beaten has one witness; the closest loser is the runner-up."""
    best, close, far = (
        says("crm", "x"),
        says("mail", "y", confidence=0.7),
        says("nobody", "z"),
    )
    outcome = folded(best, close, far)
    assert outcome.decided_by == "confidence"
    assert outcome.trace.runner_up == close.id
    found = {one.lost: (one.to, one.on) for one in outcome.trace.beaten}
    assert found == {close.id: (best.id, "confidence"), far.id: (best.id, "authority")}
    assert outcome.trace.notes == (f"unknown_source:{far.id}",)
    rules = rules_of("price", policy(), REGISTRY)
    assert rules is not None
    assert beats(best, close, rules, NOW) == "confidence"
    assert beats(close, best, rules, NOW) is None


def test_dispute_says_why_each_pair_is_undecided() -> None:
    """RF-32, RF-37: all candidates, and a reason for each two."""
    three = (says("crm", "x"), says("mail", "y"), says("partner", "z"))
    outcome = folded(*three)
    assert (outcome.status, outcome.value, outcome.reason) == ("disputed", None, "unranked")
    ids = {text: candidate_id(KEY, Value("text", text)) for text in "xyz"}
    reasons = {frozenset(pair): why for why, *pair in outcome.trace.ties}
    assert reasons == {
        frozenset((ids["x"], ids["y"])): "tie",
        frozenset((ids["x"], ids["z"])): "unranked",
        frozenset((ids["y"], ids["z"])): "unranked",
    }
    assert (outcome.policy, outcome.registry) == (policy().version, REGISTRY.version)  # RF-20


def receipt(outcome: Outcome, chosen: Value, **fields: Any) -> Receipt:
    given = {
        "key": KEY,
        "dispute": outcome.dispute,
        "seen": tuple(sorted(one.id for one in outcome.candidates)),
        "choice": candidate_id(KEY, chosen),
        "resolver": "maria",
        "party": "person",
        "at": NOW,
    }
    return Receipt(**{**given, **fields})


X, Y, Z = (Value("text", text) for text in "xyz")
TIED = (says("crm", "x"), says("mail", "y"))


def resolved(*receipts: Receipt, more: tuple[Recorded, ...] = (), at: int = NOW) -> Outcome:
    there = Living(assertions=(*TIED, *more), receipts=receipts)
    return fold(KEY, there, policy(), REGISTRY, at)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ((), "resolution"),
        ((says("chat", "x"),), "resolution"),
        ((says("chat", "y"),), "resolution"),
        ((says("chat", "z", confidence=0.2),), "resolution"),
        ((says("chat", "z"),), "tie"),
        ((says("sap", "y"),), "authority"),
    ],
    ids=["alone", "confirmed", "other again", "lower", "new evidence", "decided"],
)
def test_resolution_binds_to_what_it_saw(more: tuple[Recorded, ...], expected: str) -> None:
    """RF-53."""
    before = resolved()
    outcome = resolved(receipt(before, X), more=more)
    assert standing(outcome)[2] == expected
    if expected == "resolution":
        assert (outcome.value, outcome.dispute) == (X, before.dispute)
        assert outcome.receipt == receipt(before, X).id


def test_resolution_holds_until_it_ends_and_while_somebody_says_so() -> None:
    """RF-53: `until`, and a value that nobody says is none (RF-35)."""
    ends = receipt(resolved(), X, until=NOW + DAY)
    assert resolved(ends).value == X
    assert resolved(ends, at=NOW + DAY).status == "disputed"
    there = Living(assertions=TIED, receipts=(ends,))
    assert due(there, policy(), REGISTRY, NOW) == NOW + DAY
    assert resolved(receipt(resolved(), Z)).status == "disputed"
    own = says("maria", "z")
    assert resolved(receipt(resolved(), Z), more=(own,)).value == Z  # a new assertion of her own


def test_two_resolutions_at_once() -> None:
    """RF-55, RF-77: a person before an agent; of a kind, neither, and never the later one."""
    person, agent = receipt(resolved(), X), receipt(resolved(), Y, party="agent", at=NOW + 1)
    assert resolved(person, agent).value == resolved(agent, person).value == X
    other = receipt(resolved(), Y, resolver="jonas", at=NOW + 1)
    both = resolved(person, other)
    assert both.status == "disputed"
    assert both.trace.notes == tuple(
        sorted(f"resolutions_differ:{one.id}" for one in (person, other))
    )
    over = receipt(resolved(), Y, resolver="jonas", overrides=(person.id,))
    assert resolved(person, over).value == Y
    bold = receipt(resolved(), Y, party="agent", overrides=(person.id,))
    assert resolved(person, bold).value == X


def logged(*entries: AnyEntry) -> list[Stored]:
    return [
        Stored(position=at, id=one.id, recorded_at=at * DAY, entry=one)
        for at, one in enumerate(entries, 1)
    ]


def lives(*entries: AnyEntry, known_at: int | None = None) -> Living:
    return living(logged(*entries), REGISTRY, known_at=known_at)


SAP = says("sap", "x")
SAID = Asserted(assertion=SAP.assertion)


@pytest.mark.parametrize(
    ("by", "counts"), [("sap", True), ("maria", True), ("mail", False), ("", False)]
)
def test_retraction_counts_by_who_may(by: str, counts: bool) -> None:  # noqa: FBT001 - a table
    """RF-47."""
    back = Retracted(key=KEY, target=SAP.id, by=by, reason="wrong")
    found = lives(SAID, back)
    assert bool(found.assertions) != counts
    assert (f"not_allowed:{back.id}" in found.notes) != counts
    assert lives(SAID, back, known_at=DAY).assertions  # as was known before


def test_long_chain_of_retractions_is_followed() -> None:
    """RF-47: each takes back the one before; the last but one decides."""
    chain: list[Retracted] = []
    for _ in range(2_001):
        target = chain[-1].id if chain else SAP.id
        chain.append(Retracted(key=KEY, target=target, by="sap", reason="again"))
    assert not lives(SAID, *chain).assertions
    assert lives(SAID, *chain[:-1]).assertions


def test_quarantine_hides_a_span_and_is_lifted() -> None:
    """RF-22: of a source or a writer, of what was recorded in a span."""
    quarantine = Quarantined(source="sap", by="maria", at=NOW)
    assert not lives(SAID, quarantine).assertions
    assert lives(SAID, quarantine).notes == (f"quarantined:{SAP.id}",)
    assert lives(SAID, quarantine, Quarantined(lifts=quarantine.id, by="maria", at=NOW)).assertions
    others: tuple[dict[str, Any], ...] = (
        {"source": "crm"},
        {"since": 2 * DAY},
        {"until": DAY},
        {"writer": "bot"},
    )
    for fields in others:
        kept = msgspec.structs.replace(quarantine, **fields)
        assert lives(SAID, kept).assertions, fields


def test_erased_content_is_gone_for_every_time() -> None:
    """RF-48."""
    erased = Erased(key=KEY, target=SAP.id, by="maria", reason="asked to")
    for known_at in (None, DAY):
        found = lives(SAID, erased, known_at=known_at)
        assert (found.assertions, found.redacted) == ((), (SAP.id,))
    assert fold(KEY, found, policy(), REGISTRY, NOW).trace.notes == (f"redacted:{SAP.id}",)


def test_withdrawn_receipt_and_dismissal_are_as_never_given() -> None:
    """RF-49."""
    given = receipt(resolved(), X)
    aside = Dismissed(key=KEY, dispute="d", by="maria", party="person", reason="scope", at=NOW)
    there = lives(SAID, given, aside)
    assert (there.receipts, there.dismissed) == ((given,), ("d",))
    backs = [
        Withdrawn(key=KEY, target=one.id, by="maria", reason="", at=NOW) for one in (given, aside)
    ]
    gone = lives(SAID, given, aside, *backs)
    assert (gone.receipts, gone.dismissed) == ((), ())


def test_same_entry_twice_counts_once_and_from_the_first_time() -> None:
    """RF-08, RF-77: two stores that both hold it."""
    later = [msgspec.structs.replace(one, recorded_at=9 * DAY) for one in logged(SAID)]
    for union in ([*logged(SAID), *later], [*later, *logged(SAID)]):
        found = living(union, REGISTRY, known_at=DAY)
        assert found.assertions == (msgspec.structs.replace(SAP, recorded_at=DAY),)


def test_future_is_due() -> None:
    """RF-43: starts, ends, and observations that are dated ahead."""
    these = (
        says("crm", "x", valid_from=500, valid_to=600),
        says("mail", "y", observed_at=550),
    )
    there = Living(assertions=these)
    moments, at = [], NOW
    while (following := due(there, policy(), REGISTRY, at)) is not None:
        moments.append(following)
        at = following
    assert moments == [500 * DAY, 550 * DAY - 5 * MINUTE, 600 * DAY]


@pytest.mark.parametrize("said", ["same", "other"])
def test_flood_of_one_source_is_folded_and_displaces_nothing(said: str) -> None:
    """RF-80: ten thousand words of one source, equal or not, against one that is above."""
    flood = [
        says("crm", said if said == "same" else f"{said} {n}", writer=f"bot {n}")
        for n in range(10_000)
    ]
    outcome = folded(says("sap", "x"), *flood)
    assert standing(outcome) == ("resolved", "x", "authority")
    assert {voices for _, voices in outcome.trace.dissent} == {1}


def test_rules_of_what_is_long_unused_are_let_go() -> None:
    """RF-80: a process that meets many registries keeps some dozens, not all of their sources."""
    declared = policy()
    versions = set[str]()
    for skew in range(1, 101):
        registry = Registry.of({"skew": f"{skew}s", "sources": {"sap": {}}})
        assert fold(KEY, (SAP,), declared, registry, NOW).value == X
        versions.add(registry.version)
    gc.collect()
    kept = [one for one in gc.get_objects() if type(one) is Registry and one.version in versions]
    assert 0 < len(kept) < len(versions) / 2
