"""
The four points that a debate decides about itself, against the tables of the specification.

Ids such as DD-34, AM-21, FV-03 or E10 are those of its rules, readings, vectors and rows.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from pointsman import DecisionPoint, DeclarationError, Gateway, Held, Reason, Refused, scripted
from pointsman.decision_points import (
    CONVERGENCE,
    COUNCIL,
    DEBATE_ESCALATION,
    DEBATE_LANE,
    convergence_of,
    council_of,
    escalation_of,
    lane_of,
)
from pointsman.decision_points.convergence import EQUAL, WEIGHTED, agreement
from pointsman.decision_points.convergence.convergence import ruled_convergence
from pointsman.decision_points.convergence.council import RULINGS, ruled_council
from pointsman.decision_points.convergence.escalation import ROUTES, ruled_escalation
from pointsman.decision_points.convergence.lane import LANES, ruled_lane
from trialling import Kept, offering

Gateways = Callable[..., Gateway]
State = dict[str, Any]

POINTS = {one.name: one for one in (DEBATE_LANE, CONVERGENCE, DEBATE_ESCALATION, COUNCIL)}
steady = settings(derandomize=True, deadline=None)

TRUTHS = ("same_recommendation", "same_premises", "same_risks", "same_timing")


# --- CONVERGENCE: the formula ------------------------------------------------------------

SETS: Mapping[float, Sequence[Sequence[str]]] = {
    1.0: (["churn", "cash"],) * 3,
    0.5: (["churn", "cash"], ["churn", "cash"], ["churn"]),  # Jaccard 1, 1/2, 1/2
    0.0: (["churn"], ["cash"], ["legal"]),
}
WORDS: Mapping[float, str] = {1.0: "AAA", 0.5: "AAB", 0.0: "ABC"}
"""Level of agreement → what three roles say."""


def positions(rec: float, prem: float, risk: float, time: float) -> list[State]:
    """Three positions that agree on each criterion as much as is said."""
    columns = (WORDS[rec], SETS[prem], SETS[risk], WORDS[time])
    names = ("recommendation", "premises", "risks", "timing")
    return [
        {"label": f"role {at}", **dict(zip(names, row, strict=True))}
        for at, row in enumerate(zip(*columns, strict=True))
    ]


def checked(held: Sequence[State], expected: int | None = None, **rule: Any) -> State:
    """The state of a checkpoint."""
    return {
        "question": "Invest now?",
        "options": ["A", "B", "C"],
        "round": 1,
        "expected": len(held) if expected is None else expected,
        "positions": list(held),
        "rule": rule,
    }


VECTORS = {
    "FV-01": ((1, 1, 1, 1), 100, 100, "CONVERGED", "CONVERGED"),
    "FV-02": ((1, 0.5, 0, 1), 62.5, 62.5, "DIVERGED", "DIVERGED"),
    "FV-03": ((0, 1, 1, 1), 70, 75, "DIVERGED", "DIVERGED"),
    "FV-04": ((1, 1, 0.5, 0), 67.5, 62.5, "DIVERGED", "DIVERGED"),
    "FV-05": ((1, 0.5, 0.5, 1), 75, 75, "CONVERGED", "CONVERGED"),
    "FV-05b": ((1, 0.5, 0.5, 0.5), 65, 62.5, "DIVERGED", "DIVERGED"),
    "FV-05c": ((0.5, 1, 1, 0.5), 75, 75, "DIVERGED", "DIVERGED"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_score_is_the_weighted_share_of_agreement_points(name: str) -> None:
    """FV-01 to FV-05c, DD-34, DD-35, AM-20: equal weights are the plain ratio."""
    levels, weighted, plain, first, second = VECTORS[name]
    held = positions(*levels)

    by_weight = convergence_of(checked(held, weights=WEIGHTED))
    equally = convergence_of(checked(held, weights=EQUAL))

    assert by_weight["score"] == pytest.approx(weighted, abs=1e-9)
    assert equally["score"] == pytest.approx(plain, abs=1e-9)
    assert (by_weight["verdict"], equally["verdict"]) == (first, second)
    assert tuple(by_weight["criteria"].values()) == levels
    assert equally == convergence_of(checked(held))  # the default


@pytest.mark.parametrize(
    ("agreed", "score", "verdict"),
    [
        ((1, 1, 1, 0), 75, "CONVERGED"),
        ((1, 1, 0, 0), 50, "DIVERGED"),
        ((1, 0, 0, 0), 25, "DIVERGED"),
    ],
)
def test_seventy_of_a_hundred_means_three_of_four_points(
    agreed: tuple[float, ...], score: float, verdict: str
) -> None:
    """DD-34, DD-35, DD-36, DD-37: truths alone give 0, 25, 50, 75 or 100."""
    found = convergence_of(checked(positions(*agreed), agreement="unanimous"))

    assert (found["score"], found["verdict"]) == (score, verdict)
    assert found["agreed"] == [
        name for name, one in zip(found["criteria"], agreed, strict=True) if one
    ]
    assert sorted([*found["agreed"], *found["open"]]) == sorted(found["criteria"])


@pytest.mark.parametrize("threshold", [75, 75.0000000001])
def test_a_threshold_that_is_met_is_met(threshold: float) -> None:
    """DD-36, AM-07: the bound itself converges, unrounded, within 1e-9."""
    held = positions(1, 0.5, 0.5, 1)

    assert convergence_of(checked(held, threshold=threshold))["verdict"] == "CONVERGED"
    assert convergence_of(checked(held, threshold=75.00001))["verdict"] == "DIVERGED"


def test_a_product_that_falls_short_by_a_rounding_meets_its_bound() -> None:
    """AM-07: 0.7 · 100 is computed as 69.99999999999999 or 70.0, as the machine likes."""
    held = positions(1, 1, 1, 0)
    weights = (0.1, 0.2, 0.4, 0.3)

    found = convergence_of(checked(held, weights=weights))

    assert found["score"] == pytest.approx(70, abs=1e-9)
    assert found["verdict"] == "CONVERGED"


@pytest.mark.parametrize("round_", [1, 2, 3, 7])
def test_the_verdict_is_the_same_in_every_round(round_: int) -> None:
    """DD-38, AM-08, AM-09: what follows in the last round is the debate's to say."""
    for held in (positions(1, 1, 1, 1), positions(0, 0, 0, 0)):
        later = {**checked(held), "round": round_}
        assert convergence_of(later) == convergence_of(checked(held))


def test_a_role_without_an_answer_is_left_out_of_the_formula() -> None:
    """DD-39, AM-25: two of three agree on everything; who was asked is told beside it."""
    held = positions(1, 1, 1, 1)[:2]

    found = convergence_of(checked(held, expected=3))

    assert (found["score"], found["verdict"]) == (100, "CONVERGED")
    assert (found["responded"], found["expected"]) == (2, 3)


# --- CONVERGENCE: one criterion ----------------------------------------------------------

VOTES = {
    "AAAAA": (1, 1, 1, 1),
    "AAAAB": (0.8, 0.6, 0, 0.5),
    "AAABB": (0.6, 0.4, 0, 0.5),
    "AAB": (2 / 3, 1 / 3, 0, 0.5),
    "AB": (0.5, 0, 0, 0),
    "AABB": (0.5, 1 / 3, 0, 0),
    "AABC": (0.5, 1 / 6, 0, 0),
}


@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize(
    ("how", "column"), [("plurality", 0), ("pairwise", 1), ("unanimous", 2), ("trilevel", 3)]
)
def test_votes_on_one_criterion_become_one_number(votes: str, how: str, column: int) -> None:
    """FV-06, AM-22: plurality share, pairs, unanimity and three levels; each by its setting."""
    held = [
        {**one, "recommendation": vote} for vote, one in zip(votes, _alike(len(votes)), strict=True)
    ]

    found = convergence_of(checked(held, agreement=how))

    assert found["criteria"]["recommendation"] == pytest.approx(VOTES[votes][column], abs=1e-9)


def _alike(size: int) -> list[State]:
    return [{"label": f"role {at}", "recommendation": "A"} for at in range(size)]


RISKS = (["churn", "cac", "legal"], ["churn", "cac", "team"], ["churn", "legal", "team", "fx"])


def test_sets_agree_by_their_mean_jaccard() -> None:
    """FV-07, AM-23: 0.5, 0.4, 0.4; their mean is partly the same, and raw where pairs count."""
    held = [{**one, "risks": risks} for one, risks in zip(_alike(3), RISKS, strict=True)]

    def level(how: str) -> float:
        return convergence_of(checked(held, agreement=how))["criteria"]["risks"]

    pairs = [agreement.jaccard(RISKS[a], RISKS[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert pairs == pytest.approx([0.5, 0.4, 0.4], abs=1e-9)
    assert agreement.likeness(RISKS) == pytest.approx(0.433333333333, abs=1e-9)
    assert level("pairwise") == pytest.approx(0.433333333333, abs=1e-9)
    assert (level("trilevel"), level("plurality"), level("unanimous")) == (0.5, 0.5, 0)


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [("abcd", "abcde", 1), ("ab", "abcde", 0.5), ("abc", "abcdefgh", 0), ("", "", 1), ("", "a", 0)],
    ids=["0.8", "0.4", "0.375", "none at all", "none and one"],
)
def test_the_bounds_of_jaccard_are_met_from_above(first: str, second: str, level: float) -> None:
    """AM-23: from 0.8 on the same, from 0.4 on partly."""
    held = [
        {**one, "premises": list(said)}
        for one, said in zip(_alike(2), (first, second), strict=True)
    ]

    assert convergence_of(checked(held))["criteria"]["premises"] == level


def test_words_are_compared_in_one_written_form() -> None:
    """AM-16: case, blanks and the width of letters are no difference."""
    held = [
        {
            "label": "a",
            "recommendation": "Invest  now",
            "premises": ["LTV > 3 CAC"],
            "timing": "Q1",
        },
        {
            "label": "b",
            "recommendation": "invest\tNOW ",
            "premises": ["ltv >  3 cac"],
            "timing": "\uff511",
        },
    ]

    assert convergence_of(checked(held))["score"] == 100


def test_a_criterion_is_settled_from_where_sets_count_as_the_same() -> None:
    """AM-23: on the raw scale, too, so that a later round does not reopen it."""
    said = ("abcd", "abcde")
    held = [{**one, "risks": list(risks)} for one, risks in zip(_alike(2), said, strict=True)]

    found = convergence_of(checked(held, agreement="pairwise"))

    assert found["criteria"]["risks"] == pytest.approx(0.8)
    assert found["open"] == []


# --- CONVERGENCE: what no score overrules ------------------------------------------------


def test_hollow_convergence_is_none() -> None:
    """AM-21, FV-03: everything is the same but the advice."""
    for weights, score in ((WEIGHTED, 70), (EQUAL, 75)):
        found = convergence_of(checked(positions(0, 1, 1, 1), weights=weights))
        assert found["score"] == pytest.approx(score, abs=1e-9)
        assert (found["verdict"], found["hollow"]) == ("DIVERGED", True)
        assert found["open"] == ["recommendation"]


@pytest.mark.parametrize(
    ("gate", "levels", "verdict", "hollow"),
    [
        (True, (0.5, 1, 1, 0.5), "DIVERGED", True),
        ("partial", (0.5, 1, 1, 0.5), "CONVERGED", False),
        ("partial", (0, 1, 1, 1), "DIVERGED", True),
        (False, (0, 1, 1, 1), "CONVERGED", True),
        (False, (1, 1, 1, 1), "CONVERGED", False),
        (True, (1, 0, 0, 0), "DIVERGED", False),
    ],
)
def test_the_recommendation_gate_has_three_settings(
    gate: object, levels: tuple[float, ...], verdict: str, *, hollow: bool
) -> None:
    """AM-21, FV-05c: all the same by default; the larger part; or no gate, which is told."""
    found = convergence_of(checked(positions(*levels), same_recommendation=gate))

    assert (found["verdict"], found["hollow"]) == (verdict, hollow)


@pytest.mark.parametrize(
    ("answered", "expected", "rule", "quorate"),
    [
        (0, 3, {}, False),
        (1, 1, {}, False),
        (1, 2, {}, False),
        (1, 3, {}, False),
        (2, 2, {}, True),
        (2, 4, {}, True),
        (2, 5, {}, False),
        (3, 5, {}, True),
        (2, 3, {"quorum": 3}, False),
        (2, 5, {"quorum_share": 0.4}, True),
        (3, 4, {"quorum_share": 1}, False),
    ],
)
def test_without_a_quorum_nobody_has_agreed(
    answered: int, expected: int, rule: State, *, quorate: bool
) -> None:
    """AM-24, AM-25: at least two, and at least half; one survivor is no 100 %, none no 0/0."""
    found = convergence_of(checked(_alike(answered), expected, **rule))

    assert (found["score"], found["verdict"]) == (
        (100, "CONVERGED") if quorate else (None, "NO_QUORUM")
    )
    assert (found["responded"], found["expected"]) == (answered, expected)
    assert not (answered < 2 and found["agreed"])


def test_a_partial_answer_counts_for_the_recommendation_alone() -> None:
    """AM-26: what it did not come to say is no difference, and no agreement either."""
    one, two, cut = positions(1, 1, 1, 1)
    cut = {"label": cut["label"], "recommendation": "A", "partial": True}

    whole = convergence_of(checked([one, two, cut]))
    lonely = convergence_of(checked([one, {**cut, "label": "x"}, cut]))
    against = convergence_of(checked([one, two, {**cut, "recommendation": "B"}]))

    assert (whole["score"], whole["responded"]) == (100, 3)
    assert lonely["criteria"] == {"recommendation": 1, "premises": 0, "risks": 0, "timing": 0}
    assert (lonely["verdict"], lonely["open"]) == ("DIVERGED", ["premises", "risks", "timing"])
    assert (against["criteria"]["recommendation"], against["verdict"]) == (0.5, "DIVERGED")


# --- DEBATE_ESCALATION -------------------------------------------------------------------

CALM: State = {
    "convergence": 90,
    "applies": True,
    "quorum": True,
    "confidence": 90,
    "value": 0,
    "currency": "BRL",
    "irreversible": False,
    "critical_divergence": False,
    "out_of_scope": False,
    "catastrophic": False,
    "breaker": "",
}

TABLE: Mapping[str, tuple[float | None, float, State, str, list[str]]] = {
    "E01": (100, 85, {}, "EMIT", []),
    "E02": (70, 70, {}, "EMIT", []),
    "E03": (69.99, 95, {}, "COUNCIL", ["conv<70"]),
    "E04": (80, 69.99, {}, "COUNCIL", ["conf<70"]),
    "E05": (80, 50, {}, "COUNCIL", ["conf<70"]),
    "E06": (80, 49.99, {}, "HUMAN", ["conf<50"]),
    "E07": (60, 55, {}, "COUNCIL", ["conv<70", "conf<70"]),
    "E08": (60, 45, {}, "HUMAN", ["conf<50"]),
    "E09": (90, 90, {"value": 100_000}, "EMIT", []),
    "E10": (90, 90, {"value": 100_000.01}, "COUNCIL", ["value"]),
    "E11": (90, 45, {"value": 500_000}, "HUMAN", ["conf<50"]),
    "E12": (90, 65, {"value": 500_000}, "COUNCIL", ["conf<70", "value"]),
    "E13": (90, 65, {"value": 1_000}, "COUNCIL", ["conf<70"]),
    "E14": (90, 90, {"irreversible": True}, "COUNCIL", ["irreversible"]),
    "E15": (90, 90, {"critical_divergence": True}, "COUNCIL", ["critical"]),
    "E16": (90, 90, {"out_of_scope": True}, "HUMAN", ["scope"]),
    "E17": (90, 90, {"catastrophic": True}, "HUMAN", ["catastrophic"]),
    "E18": (90, 90, {"breaker": "max_iterations"}, "HUMAN", ["max_iterations"]),
    "E19": (40, 80, {"breaker": "max_rounds"}, "COUNCIL", ["conv<70"]),
    "E20": (40, 80, {"breaker": "loop"}, "COUNCIL", ["conv<70", "loop"]),
    "E21": (40, 60, {"breaker": "timeout_total"}, "COUNCIL", ["conv<70", "conf<70"]),
    "E22": (40, 48, {"breaker": "timeout_total"}, "HUMAN", ["conf<50"]),
    "E23": (None, 80, {"quorum": False, "breaker": "no_quorum"}, "COUNCIL", ["no_quorum"]),
}


def stated(convergence: float | None = 90, confidence: float = 90, **told: Any) -> State:
    """A synthesis that is to be routed."""
    return {**CALM, "convergence": convergence, "confidence": confidence, **told}


@pytest.mark.parametrize("row", TABLE)
def test_the_escalation_table(row: str) -> None:
    """E01 to E23; DD-52, DD-53, DD-54, DD-58: the impasse is the loop's alone."""
    convergence, confidence, told, route, reasons = TABLE[row]

    found = escalation_of(stated(convergence, confidence, **told))

    assert (found["route"], found["reasons"]) == (route, reasons)
    assert found["impasse"] is (row == "E20")


@pytest.mark.parametrize(
    ("told", "route", "reasons"),
    [
        ({}, "COUNCIL", ["diverged"]),
        ({"convergence": 69}, "COUNCIL", ["conv<70"]),
        ({"confidence": 60}, "COUNCIL", ["diverged", "conf<70"]),
        ({"confidence": 45}, "HUMAN", ["conf<50"]),
        ({"breaker": "max_rounds"}, "COUNCIL", ["diverged"]),
        ({"applies": False}, "EMIT", []),
        ({"convergence": None, "quorum": False}, "COUNCIL", ["no_quorum"]),
    ],
)
@pytest.mark.parametrize("optional", ["always", "emit_with_caveats", "ask"])
def test_dd_33_a_score_does_not_make_up_for_a_verdict(
    told: State, route: str, reasons: list[str], optional: str
) -> None:
    """DD-33, AM-21: who did not agree goes to the council at least, however high the score."""
    state = {**stated(75), "diverged": True, "rule": {"optional_council": optional}, **told}

    found = escalation_of(state)

    assert (found["route"], found["reasons"]) == (route, reasons)


@pytest.mark.parametrize("confidence", [70, 85, 100])
def test_am_01_a_trigger_is_mandatory_however_sure_the_answer_is(confidence: float) -> None:
    """AM-01, DD-52: convergence 60 goes to the council; DD-54 asks only where nothing fired."""
    assert escalation_of(stated(60, confidence))["route"] == "COUNCIL"
    assert escalation_of(stated(70, confidence))["route"] == "EMIT"


def test_am_02_a_person_goes_before_the_council() -> None:
    """AM-02, DD-53, DD-55, DD-57: 45 with 500 k is a person's; a council may advise."""
    state = stated(90, 45, value=500_000)

    assert escalation_of(state)["route"] == "HUMAN"
    assert "advisory_council" not in escalation_of(state)["notes"]
    advised = escalation_of({**state, "rule": {"council_before_human": True}})
    assert (advised["route"], advised["notes"]) == ("HUMAN", ["advisory_council"])


def test_am_03_the_value_is_a_trigger_of_its_own_and_strictly_above() -> None:
    """AM-03, DD-23, DD-52."""
    assert escalation_of(stated(value=100_000))["route"] == "EMIT"
    assert escalation_of(stated(value=100_000.01))["reasons"] == ["value"]
    assert escalation_of(stated(value=100_000, rule={"value_bound": 99_999}))["reasons"] == [
        "value"
    ]


@pytest.mark.parametrize(
    ("choice", "route", "reasons"),
    [
        ("always", "COUNCIL", ["conf<70"]),
        ("emit_with_caveats", "EMIT_WITH_CAVEATS", ["conf<70"]),
        ("ask", "HUMAN", ["conf<70", "ask"]),
    ],
)
def test_am_04_a_middling_confidence_alone_is_optional(
    choice: str, route: str, reasons: list[str]
) -> None:
    """AM-04, DD-55, DD-56: nothing is optional below 50, nor where anything else fired."""
    rule = {"optional_council": choice}

    middling = escalation_of(stated(90, 65, value=1_000, rule=rule))

    assert (middling["route"], middling["reasons"]) == (route, reasons)
    assert escalation_of(stated(90, 65, value=100_001, rule=rule))["route"] == "COUNCIL"
    assert escalation_of(stated(60, 65, rule=rule))["route"] == "COUNCIL"
    assert escalation_of(stated(90, 45, rule=rule))["route"] == "HUMAN"
    assert escalation_of(stated(90, 70, rule=rule))["route"] == "EMIT"


def test_am_05_the_bounds_are_settings_and_reasons_name_them() -> None:
    """AM-05: 70 by default, 80 where it is so ruled."""
    rule = {"emit": 80, "human": 60, "convergence": 90.5}

    assert escalation_of(stated(90.5, 80, rule=rule))["route"] == "EMIT"
    assert escalation_of(stated(90, 79, rule=rule))["reasons"] == ["conv<90.5", "conf<80"]
    assert escalation_of(stated(90, 59, rule=rule))["reasons"] == ["conf<60"]


@pytest.mark.parametrize(
    ("confidence", "route"),
    [
        (69.5, "COUNCIL"),
        (70 - 1e-10, "EMIT"),
        (0.7 * 100, "EMIT"),
        (69.999999, "COUNCIL"),
        (50 - 1e-10, "COUNCIL"),
        (49.5, "HUMAN"),
    ],
)
def test_am_07_the_bands_have_no_gaps(confidence: float, route: str) -> None:
    """AM-07: half-open, unrounded, within 1e-9."""
    assert escalation_of(stated(90, confidence))["route"] == route


def test_am_10_a_debate_out_of_time_is_routed_by_its_numbers_or_goes_to_a_person() -> None:
    """AM-10: `on_total_timeout` is `route` by default."""
    state = stated(90, 90, breaker="timeout_total")

    assert escalation_of(state)["route"] == "EMIT"
    late = escalation_of({**state, "rule": {"on_total_timeout": "human"}})
    assert (late["route"], late["reasons"]) == ("HUMAN", ["timeout_total"])


def test_dd_42_and_dd_58_who_stands_still_is_at_an_impasse() -> None:
    """DD-42, DD-58: the council decides whether a person must; no other breaker says so."""
    for breaker in ("loop", "max_refinements"):
        found = escalation_of(stated(80, 80, breaker=breaker))
        assert (found["route"], found["reasons"], found["impasse"]) == ("COUNCIL", [breaker], True)
    for breaker in ("", "max_rounds", "max_iterations", "timeout_total", "budget", "no_quorum"):
        assert not escalation_of(stated(80, 80, breaker=breaker))["impasse"]


@pytest.mark.parametrize("told", [{"quorum": False}, {"breaker": "no_quorum"}])
def test_am_24_without_a_quorum_the_council_is_asked(told: State) -> None:
    """AM-24, E23: whatever the numbers say, and whichever of the two says it."""
    for convergence in (None, 100):
        found = escalation_of(stated(convergence, 100, **told))
        assert (found["route"], found["reasons"]) == ("COUNCIL", ["no_quorum"])


@pytest.mark.parametrize(
    ("told", "reasons", "notes"),
    [
        ({"value": None}, [], ["value_unknown"]),
        ({"value": 5e6, "currency": "USD"}, [], ["value_unknown", "other_currency"]),
        ({"value": 5e6, "currency": ""}, [], ["value_unknown", "other_currency"]),
        ({"value": 5e6, "currency": "USD", "rule": {"currency": "USD"}}, ["value"], []),
        ({"value": 5e6}, ["value"], []),
        ({"value": 5.0}, [], []),
    ],
    ids=["unknown", "dollars", "no currency", "a bound in dollars", "reais", "little"],
)
def test_am_33_an_amount_is_never_converted_in_silence(
    told: State, reasons: list[str], notes: list[str]
) -> None:
    """AM-33: unknown triggers nothing by itself, and is told."""
    found = escalation_of(stated(**told))

    assert (found["reasons"], found["notes"]) == (reasons, notes)


@pytest.mark.parametrize(
    ("divergence", "is_critical"),
    [
        ({"criterion": "recommendation", "type": "data"}, True),
        ({"criterion": "recommendation", "type": "risk"}, True),
        ({"criterion": "recommendation", "type": "style"}, False),
        ({"criterion": "premises", "type": "data"}, False),
        ({"criterion": "timing", "critical": True}, True),
    ],
)
def test_am_35_which_divergence_is_critical(divergence: State, *, is_critical: bool) -> None:
    """AM-35: data or risk on the recommendation, or called so by a role or a policy."""
    harmless = {"criterion": "timing", "type": "taste"}

    found = escalation_of(stated(divergences=[harmless, divergence]))

    assert found["reasons"] == (["critical"] if is_critical else [])


def test_am_37_without_rounds_there_is_no_convergence_to_lack() -> None:
    """AM-37: not applicable triggers nothing and is told; undefined goes to the council."""
    alone = escalation_of(stated(None, 90, applies=False))
    undefined = escalation_of(stated(None, 90))

    assert (alone["route"], alone["notes"]) == ("EMIT", ["not_applicable"])
    assert (undefined["route"], undefined["reasons"]) == ("COUNCIL", ["conv_undefined"])


# --- COUNCIL -----------------------------------------------------------------------------

NOTHING = {"weak_premise": False, "unmitigated_risk": False, "ignored_alternative": False}
NAMES = ("premises", "evidence", "logic", "alternatives", "conflicts")
TOTALS = {85: (17,) * 5, 75: (18, 15, 16, 12, 14), 65: (13,) * 5, 45: (9,) * 5}
"""The critic's total → its five scores."""


def heard(base: float, resolution: str, total: int, *found: str, **told: Any) -> State:
    """What a council of three found."""
    return {
        "question": "Invest now?",
        "base": base,
        "critic": dict(zip(NAMES, TOTALS[total], strict=True)),
        "advocate": {**NOTHING, **dict.fromkeys(found, True)},
        "resolution": resolution,
        **told,
    }


@pytest.mark.parametrize(
    ("state", "score", "route"),
    [
        (heard(60, "strong", 85), 80, "EMIT"),
        (heard(60, "partial", 65, "weak_premise"), 50, "HUMAN"),
        (heard(70, "unresolved", 45, *NOTHING), 10, "HUMAN"),
        (heard(55, "partial", 75, "ignored_alternative"), 60, "EMIT_WITH_CAVEATS"),
        (heard(95, "strong", 85), 100, "EMIT"),
        (heard(10, "unresolved", 45), 0, "HUMAN"),
    ],
)
def test_fv_09_the_arithmetic_of_the_council(state: State, score: float, route: str) -> None:
    """FV-09, DD-63, AM-06: from 60 on it is given, below 70 with caveats; held within 0–100."""
    found = council_of(state)

    assert found["score"] == pytest.approx(score, abs=1e-9)
    assert found["route"] == route
    assert min(100, max(0, sum(found["parts"].values()))) == pytest.approx(score, abs=1e-9)


def test_fv_09_the_critics_total_and_its_adjustments() -> None:
    """FV-09: 18+15+16+12+14 = 75 approves; −5 and −3 make it 67, to be revised."""
    plain = council_of(heard(60, "resolved", 75))
    adjusted = council_of(heard(60, "resolved", 75, adjustments=[-5, -3]))

    assert (plain["critic"], plain["critic_verdict"], plain["score"]) == (75, "approve", 60)
    assert (adjusted["critic"], adjusted["critic_verdict"], adjusted["score"]) == (67, "revise", 50)
    assert council_of(heard(60, "resolved", 45))["critic_verdict"] == "reject"


@pytest.mark.parametrize(
    ("base", "route"),
    [(59.5, "HUMAN"), (60 - 1e-10, "EMIT_WITH_CAVEATS"), (69.5, "EMIT_WITH_CAVEATS"), (70, "EMIT")],
)
def test_dd_63_and_am_06_where_the_council_lets_it_stand(base: float, route: str) -> None:
    """DD-63, AM-06, AM-07; the plain reading, from 60 on without caveats, is a setting."""
    state = heard(base, "resolved", 85)

    assert council_of(state)["route"] == route
    plainly = council_of({**state, "rule": {"emit": 60}})["route"]
    assert plainly == ("HUMAN" if route == "HUMAN" else "EMIT")


# --- DEBATE_LANE -------------------------------------------------------------------------


def asked(roles: int, *, critical: bool) -> State:
    """A question before anybody is asked."""
    return {"question": "Invest now?", "options": ["A", "B"], "roles": roles, "critical": critical}


@pytest.mark.parametrize(
    ("roles", "critical", "lane", "reasons"),
    [
        (1, False, "SIMPLE", ["roles"]),
        (2, False, "DEBATE", ["roles"]),
        (5, False, "DEBATE", ["roles"]),
        (1, True, "COUNCIL", ["critical"]),
        (5, True, "COUNCIL", ["critical"]),
    ],
)
def test_am_31_which_lane_a_question_takes(
    roles: int, lane: str, reasons: list[str], *, critical: bool
) -> None:
    """AM-31, DD-01."""
    assert lane_of(asked(roles, critical=critical)) == {"lane": lane, "reasons": reasons}


@pytest.mark.parametrize("said", LANES)
@pytest.mark.parametrize("roles", [1, 2])
def test_am_32_one_role_cannot_debate_and_critical_stays_critical(said: str, roles: int) -> None:
    """AM-31, AM-32: whoever says so."""
    free = ruled_lane(asked(roles, critical=False), said)

    assert free == ("SIMPLE" if (said, roles) == ("DEBATE", 1) else said)
    assert ruled_lane(asked(roles, critical=True), said) == "COUNCIL"


# --- states that lack something ----------------------------------------------------------

_HELD = checked(positions(1, 1, 1, 1))
_COUNCIL = heard(60, "strong", 85)

FAULTS: Mapping[str, tuple[Callable[[Any], Any], State, str]] = {
    "no roles": (lane_of, {"question": "?", "critical": False}, "DEBATE_LANE: .*`roles`"),
    "nobody": (lane_of, asked(0, critical=False), "DEBATE_LANE: .*`\\$.roles`"),
    "a number for a flag": (lane_of, {**asked(1, critical=False), "critical": 1}, "critical"),
    "no positions": (convergence_of, {"expected": 2}, "CONVERGENCE: .*`positions`"),
    "no recommendation": (
        convergence_of,
        checked([{"label": "a", "recommendation": ""}], 2),
        "recommendation",
    ),
    "two of a label": (convergence_of, checked([_HELD["positions"][0]] * 2), "label"),
    "more than asked": (convergence_of, checked(_HELD["positions"], 2), "expected"),
    "an unknown rule": (convergence_of, checked(_HELD["positions"], treshold=1), "treshold"),
    "three weights": (convergence_of, checked(_HELD["positions"], weights=(1, 1, 1)), "weights"),
    "no weight": (convergence_of, checked(_HELD["positions"], weights=(0, 0, 0, 0)), "weights"),
    "a weight below": (
        convergence_of,
        checked(_HELD["positions"], weights=(1, 1, 1, -1)),
        "weights",
    ),
    "an infinite weight": (
        convergence_of,
        checked(_HELD["positions"], weights=(math.inf, 1, 1, 1)),
        "weights",
    ),
    "a quorum of one": (convergence_of, checked(_HELD["positions"], quorum=1), "quorum"),
    "an unknown agreement": (
        convergence_of,
        checked(_HELD["positions"], agreement="x"),
        "agreement",
    ),
    "no flag": (
        escalation_of,
        {name: one for name, one in CALM.items() if name != "irreversible"},
        "DEBATE_ESCALATION: .*`irreversible`",
    ),
    "not a number": (escalation_of, stated(90, math.nan), "confidence"),
    "an infinite value": (escalation_of, stated(value=math.inf), "value"),
    "more than all": (escalation_of, stated(100.1), "convergence"),
    "an unknown breaker": (escalation_of, stated(breaker="fuse"), "breaker"),
    "bounds that cross": (escalation_of, stated(rule={"human": 80}), "human"),
    "a misspelt rule": (escalation_of, stated(rule={"emti": 80}), "emti"),
    "four criteria": (
        council_of,
        {**_COUNCIL, "critic": dict.fromkeys("abcd", 20)},
        "COUNCIL: .*critic",
    ),
    "too many points": (council_of, {**_COUNCIL, "critic": dict.fromkeys("abcde", 21)}, "critic"),
    "no advocate": (council_of, {**_COUNCIL, "advocate": {}}, "advocate"),
    "an unknown resolution": (council_of, {**_COUNCIL, "resolution": "fine"}, "resolution"),
    "caveats above": (council_of, {**_COUNCIL, "rule": {"caveats": 80}}, "rule"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_state_or_a_rule_lacks_is_named(fault: str) -> None:
    """And its values are not repeated: they may be anybody's words."""
    decide, state, named = FAULTS[fault]

    with pytest.raises(DeclarationError, match=named) as e:
        decide(state)

    assert "fuse" not in str(e.value)
    assert "Invest" not in str(e.value)


def test_a_state_may_be_any_mapping() -> None:
    frozen = MappingProxyType(
        {**_HELD, "positions": tuple(map(MappingProxyType, _HELD["positions"]))}
    )

    assert convergence_of(frozen) == convergence_of(_HELD)
    assert lane_of(MappingProxyType(asked(2, critical=False)))["lane"] == "DEBATE"


# --- laws --------------------------------------------------------------------------------

some_words = st.sampled_from(["a", "b", "c", "A "])
some_sets = st.lists(st.sampled_from("abcde"), max_size=4)
some_positions = st.lists(
    st.fixed_dictionaries(
        {
            "recommendation": some_words,
            "premises": some_sets,
            "risks": some_sets,
            "timing": some_words,
            "partial": st.booleans(),
        }
    ),
    max_size=6,
).map(lambda held: [{"label": str(at), **one} for at, one in enumerate(held)])
some_rules = st.fixed_dictionaries(
    {
        "weights": st.sampled_from([EQUAL, WEIGHTED, (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 1.0, 1.0)]),
        "threshold": st.sampled_from([0.0, 50.0, 70.0, 100.0]),
        "agreement": st.sampled_from(["trilevel", "unanimous", "pairwise", "plurality"]),
        "same_recommendation": st.sampled_from([True, "partial", False]),
    }
)
some_checks = st.builds(
    lambda held, more, rule: checked(held, max(1, len(held) + more), **rule),
    some_positions,
    st.integers(0, 6),
    some_rules,
)
some_truths = st.fixed_dictionaries(dict.fromkeys(TRUTHS, st.booleans()))
some_scores = st.one_of(st.floats(0, 100), st.sampled_from([49.99, 50.0, 69.99, 70.0]))
some_syntheses = st.fixed_dictionaries(
    {
        "convergence": st.none() | some_scores,
        "applies": st.booleans(),
        "quorum": st.booleans(),
        "confidence": some_scores,
        "value": st.none() | st.floats(0, 1e6),
        "currency": st.sampled_from(["BRL", "USD"]),
        "irreversible": st.booleans(),
        "critical_divergence": st.booleans(),
        "out_of_scope": st.booleans(),
        "catastrophic": st.booleans(),
        "breaker": st.sampled_from(["", "loop", "max_rounds", "max_iterations", "timeout_total"]),
        "rule": st.fixed_dictionaries(
            {
                "optional_council": st.sampled_from(["always", "emit_with_caveats", "ask"]),
                "on_total_timeout": st.sampled_from(["route", "human"]),
            }
        ),
    }
)
some_councils = st.builds(
    lambda base, resolution, total, found: heard(base, resolution, total, *found),
    some_scores,
    st.sampled_from(["strong", "partial", "resolved", "unresolved"]),
    st.sampled_from(sorted(TOTALS)),
    st.sets(st.sampled_from(sorted(NOTHING))),
)


def told(point: DecisionPoint, state: State, outcome: Any) -> Any:
    """The value of a point where a provider gave *outcome*."""
    assert point.current is not None
    assert point.after is not None
    return point.current.write(state, point.after(state, outcome))


@steady
@drawn(some_checks, st.randoms(use_true_random=False))
def test_the_order_of_the_positions_changes_nothing(state: State, chance: Any) -> None:
    """BR-25: bit for bit; a sum of floats would depend on it."""
    shuffled = [*state["positions"]]
    chance.shuffle(shuffled)

    assert convergence_of({**state, "positions": shuffled}) == convergence_of(state)


def test_sets_are_compared_in_any_order_to_the_last_bit() -> None:
    """BR-25, AM-23: a plain sum of these three would depend on it."""
    sets = [set("bcefg"), set("egh"), set("abdg")]

    assert len({agreement.likeness(order) for order in itertools.permutations(sets)}) == 1


@steady
@drawn(some_checks, some_truths)
def test_am_21_no_judgement_joins_recommendations_that_differ(state: State, truths: State) -> None:
    """AM-21: neither the truth itself, nor the verdict, whatever else was judged the same."""
    found = told(CONVERGENCE, state, truths)
    calculated = convergence_of(state)
    written = {agreement.written(one["recommendation"]) for one in state["positions"]}
    partial = state["rule"]["same_recommendation"] == "partial"

    if len(written) > 1 and not partial:
        ruled: Any = ruled_convergence(state, truths)
        assert ruled["same_recommendation"] is False
        assert found["verdict"] != "CONVERGED" or calculated["verdict"] == "CONVERGED"
    if found["verdict"] == "CONVERGED" and state["rule"]["same_recommendation"] is True:
        assert len(written) == 1


@pytest.mark.parametrize(
    ("gate", "levels", "score", "verdict"),
    [
        (False, (0, 0, 0, 0), 75, "DIVERGED"),
        (False, (0, 1, 1, 1), 75, "CONVERGED"),
        (True, (0.5, 0, 0, 0), 75, "DIVERGED"),
        ("partial", (0.5, 0, 0, 0), 87.5, "CONVERGED"),
        ("partial", (0, 0, 0, 0), 75, "DIVERGED"),
        (True, (1, 0, 0, 0), 100, "CONVERGED"),
    ],
)
def test_am_21_a_judge_who_agrees_with_everything_gets_no_further_than_the_words(
    gate: object, levels: tuple[float, ...], score: float, verdict: str
) -> None:
    """AM-21, FV-05c: without the gate, too; a part of the recommendations counts as a part."""
    state = checked(positions(*levels), same_recommendation=gate)

    found = told(CONVERGENCE, state, dict.fromkeys(TRUTHS, True))

    assert (found["score"], found["verdict"]) == (score, verdict)


@steady
@drawn(some_checks, some_truths)
def test_am_24_no_judgement_makes_a_quorum(state: State, truths: State) -> None:
    """AM-24: quorum and what was expected are counted, whoever judges."""
    found, calculated = told(CONVERGENCE, state, truths), convergence_of(state)

    assert (found["verdict"] == "NO_QUORUM") == (calculated["verdict"] == "NO_QUORUM")
    assert (found["responded"], found["expected"]) == (
        calculated["responded"],
        calculated["expected"],
    )


@steady
@drawn(some_checks, some_truths)
def test_a_judgement_may_always_send_a_debate_on(state: State, truths: State) -> None:
    """AM-21: one denied recommendation diverges, whatever the rest."""
    found = told(CONVERGENCE, state, {**truths, "same_recommendation": False})

    if state["rule"]["same_recommendation"] is not False:
        assert found["verdict"] != "CONVERGED"


@steady
@drawn(some_checks, some_truths)
def test_a_rule_applied_twice_is_applied_once(state: State, truths: State) -> None:
    once = ruled_convergence(state, truths)

    assert ruled_convergence(state, once) == once


@steady
@drawn(some_syntheses, st.sampled_from(ROUTES))
def test_an_escalation_is_never_less_protective_than_the_rules(state: State, said: str) -> None:
    calculated, found = escalation_of(state), told(DEBATE_ESCALATION, state, said)

    assert ROUTES.index(found["route"]) == min(map(ROUTES.index, (calculated["route"], said)))
    assert ("judged" in found["reasons"]) == (found["route"] != calculated["route"])
    assert found["impasse"] == calculated["impasse"]
    assert ruled_escalation(state, found["route"]) == found["route"]


@steady
@drawn(
    some_syntheses,
    st.sampled_from(["irreversible", "critical_divergence", "out_of_scope", "catastrophic"]),
)
def test_a_flag_never_makes_an_escalation_less_protective(state: State, flag: str) -> None:
    """Where `ask` asks a person whether there shall be a council, a flag says that there shall."""
    calm, grave = (escalation_of({**state, flag: one}) for one in (False, True))

    asks = "ask" in calm["reasons"]
    assert ROUTES.index(grave["route"]) <= ROUTES.index("COUNCIL" if asks else calm["route"])


@steady
@drawn(some_syntheses, some_scores)
def test_more_confidence_never_makes_an_escalation_more_protective(
    state: State, other: float
) -> None:
    low, high = sorted((state["confidence"], other))
    less, more = (escalation_of({**state, "confidence": one}) for one in (low, high))
    ask = state["rule"]["optional_council"] == "ask"

    assert ask or ROUTES.index(less["route"]) <= ROUTES.index(more["route"])


@steady
@drawn(some_councils, st.sampled_from(RULINGS))
def test_a_council_is_never_less_protective_than_its_score(state: State, said: str) -> None:
    calculated, found = council_of(state), told(COUNCIL, state, said)

    assert RULINGS.index(found["route"]) == min(map(RULINGS.index, (calculated["route"], said)))
    assert {**found, "route": ""} == {**calculated, "route": ""}
    assert ruled_council(state, found["route"]) == found["route"]


@steady
@drawn(some_checks)
def test_the_calculator_reads_its_own_value_in_the_points_words(state: State) -> None:
    """What a shadow is compared with: a criterion holds where it is settled."""
    assert CONVERGENCE.current is not None
    value = convergence_of(state)

    outcome = CONVERGENCE.current.read(value)

    assert isinstance(outcome, Mapping)
    assert [name for name in TRUTHS if outcome[name]] == [f"same_{one}" for one in value["agreed"]]


def test_the_lane_and_the_routes_are_read_back_as_they_were_written() -> None:
    for point, state, decide in (
        (DEBATE_LANE, asked(2, critical=False), lane_of),
        (DEBATE_ESCALATION, stated(60, 90), escalation_of),
        (COUNCIL, _COUNCIL, council_of),
    ):
        assert point.current is not None
        value = decide(state)
        assert point.current.write(state, point.current.read(value)) == value


# --- asked through a gateway -------------------------------------------------------------

STATES: Mapping[str, State] = {
    "DEBATE_LANE": asked(2, critical=False),
    "CONVERGENCE": checked(positions(0, 1, 1, 1), threshold=60),
    "DEBATE_ESCALATION": stated(60, 90, rule={"emit": 70}),
    "COUNCIL": {**_COUNCIL, "rule": {"emit": 75}},
}
CALCULATED: Mapping[str, Any] = {
    "DEBATE_LANE": lane_of(STATES["DEBATE_LANE"]),
    "CONVERGENCE": convergence_of(STATES["CONVERGENCE"]),
    "DEBATE_ESCALATION": escalation_of(STATES["DEBATE_ESCALATION"]),
    "COUNCIL": council_of(STATES["COUNCIL"]),
}
SAID: Mapping[str, tuple[Any, Any, State]] = {
    "DEBATE_LANE": ("SIMPLE", "SIMPLE", {"lane": "SIMPLE", "reasons": ["judged"]}),
    "CONVERGENCE": (
        dict.fromkeys(TRUTHS, True),
        {**dict.fromkeys(TRUTHS, True), "same_recommendation": False},
        {"score": 75.0, "verdict": "DIVERGED", "hollow": True, "open": ["recommendation"]},
    ),
    "DEBATE_ESCALATION": (
        "HUMAN",
        "HUMAN",
        {"route": "HUMAN", "reasons": ["conv<70", "judged"], "impasse": False},
    ),
    "COUNCIL": ("EMIT_WITH_CAVEATS", "EMIT_WITH_CAVEATS", {"score": 80.0}),
}
"""Point → what a provider says, what counts of it, what the value then holds."""

each = pytest.mark.parametrize("name", POINTS)


@each
def test_a_point_decides_by_itself_where_nothing_is_configured(
    gateway_of: Gateways, name: str
) -> None:
    """AM-31: the calculator is what runs today; nobody is asked, for sync and async callers."""
    gateway = gateway_of()
    made = gateway.ask_sync(name, STATES[name])

    async def asynchronous() -> Any:
        async with Gateway.from_env({"DECISION_LOG": "off"}) as other:
            return (await other.ask(name, STATES[name])).value

    assert (made.value, made.provider) == (CALCULATED[name], "current")
    assert asyncio.run(asynchronous()) == CALCULATED[name]


@each
def test_the_global_provider_is_not_inherited(name: str) -> None:
    """Else a committee would be asked whether its own debate has converged."""
    nova = scripted(SAID[name][0])

    with offering({"DECISION_PROVIDER": "nova"}, nova=nova) as gateway:
        made = gateway.ask_sync(name, STATES[name])

    assert POINTS[name].internal
    assert (made.value, made.provider, nova.asked) == (CALCULATED[name], "current", [])


@each
def test_a_provider_that_is_named_decides_and_is_ruled(name: str) -> None:
    """Its answers are kept as it gave them; the outcome is the ruled one; the rule stays here."""
    said, ruled, holds = SAID[name]
    nova = scripted(said)

    with offering({f"DECISION_{name}_PROVIDER": "nova"}, nova=nova) as gateway:
        made = gateway.ask_sync(name, STATES[name])

    assert made.provider == "nova"
    assert {key: made.value[key] for key in holds} == holds
    assert made.record.outcome == ruled
    given = {key: one.value for key, one in made.record.answers.items()}
    assert given == (said if isinstance(said, dict) else dict.fromkeys(given, said))
    (ask,) = nova.asked
    assert STATES[name].keys() <= {*POINTS[name].reads, *POINTS[name].brings}
    assert json.loads(ask.text) == {
        key: one for key, one in json.loads(json.dumps(STATES[name])).items() if key != "rule"
    }


@pytest.mark.parametrize("language", ["en", "pt"])
@each
def test_a_point_asks_in_both_languages(name: str, language: str) -> None:
    """With the options and names of its own words, whatever the language."""
    nova = scripted(SAID[name][0])
    environ = {f"DECISION_{name}_PROVIDER": "nova", "DECISION_LANGUAGE": language}

    with offering(environ, nova=nova) as gateway:
        assert gateway.ask_sync(name, STATES[name]).provider == "nova"

    assert nova.asked[0].questions == POINTS[name].questions[language]


@pytest.mark.parametrize("wrong", [Reason.TIMEOUT, Reason.REFUSED, Refused(), RuntimeError()])
@each
def test_where_a_provider_fails_the_calculator_decides(name: str, wrong: Any) -> None:
    nova = scripted(wrong)

    with offering({f"DECISION_{name}_PROVIDER": "nova"}, nova=nova) as gateway:
        made = gateway.ask_sync(name, STATES[name])

    assert len(nova.asked) == 1
    assert (made.value, made.provider) == (CALCULATED[name], "current")


@pytest.mark.parametrize("unsure", TRUTHS)
def test_the_confidence_of_a_verdict_is_the_least_of_the_four(unsure: str) -> None:
    """D.1: one doubtful truth is enough for the words themselves to be compared."""
    state = checked(positions(1, 0, 0, 0))
    sure = dict.fromkeys(TRUTHS, Held(0.95))

    def decided(least: float) -> Any:
        nova = scripted({**sure, unsure: Held(least)})
        with offering({"DECISION_CONVERGENCE_PROVIDER": "nova"}, nova=nova) as gateway:
            return gateway.ask_sync("CONVERGENCE", state)

    believed, doubted = decided(0.75), decided(0.65)

    assert (believed.provider, believed.confidence) == ("nova", 0.75)
    assert (believed.value["score"], believed.value["verdict"]) == (100, "CONVERGED")
    assert (doubted.provider, doubted.value["score"]) == ("current", 25)
    assert doubted.attempts[0].reason is Reason.LOW_CONFIDENCE


def test_a_provider_may_find_that_differently_worded_positions_have_converged() -> None:
    """D.1: what the words cannot show, where the recommendation is the same as written."""
    nova = scripted(True)  # noqa: FBT003 - of all four questions

    with offering({"DECISION_CONVERGENCE_PROVIDER": "nova"}, nova=nova) as gateway:
        made = gateway.ask_sync("CONVERGENCE", checked(positions(1, 0, 0, 0)))

    assert (made.value["score"], made.value["verdict"]) == (100, "CONVERGED")


@each
def test_a_shadow_is_asked_and_changes_nothing(name: str, tmp_path: Any) -> None:
    """D.1: both are kept, in the point's words; what the shadow said is ruled as it would be."""
    kept, nova = Kept(tmp_path), scripted(SAID[name][0])
    environ = {**kept.variables, f"DECISION_{name}_SHADOW": "nova"}

    with offering(environ, nova=nova) as gateway:
        made = gateway.ask_sync(name, STATES[name])

    assert (made.value, made.provider) == (CALCULATED[name], "current")
    assert "rule" not in json.loads(nova.asked[0].text)
    (trail,) = kept.trails()
    assert [one.shadow.outcome for one in trail.shadows] == [SAID[name][1]]
    own = POINTS[name].current
    assert own is not None
    assert trail.decision.record.outcome == own.read(CALCULATED[name])


def test_a_host_s_own_path_comes_before_the_calculator(gateway_of: Gateways) -> None:
    mine = {"lane": "COUNCIL", "reasons": ["mine"]}

    made = gateway_of().ask_sync("DEBATE_LANE", STATES["DEBATE_LANE"], current=lambda: mine)

    assert made.value is mine


@pytest.mark.parametrize("provider", ["current", "nova"])
def test_a_state_that_lacks_something_is_told_whoever_decides(provider: str) -> None:
    """The programmer's error, no failure of a provider that something else may answer for."""
    nova = scripted("EMIT")
    state = {name: one for name, one in CALM.items() if name != "irreversible"}

    with (
        offering({"DECISION_DEBATE_ESCALATION_PROVIDER": provider}, nova=nova) as gateway,
        pytest.raises(DeclarationError, match="irreversible"),
    ):
        gateway.ask_sync("DEBATE_ESCALATION", state)


@each
def test_in_doubt_the_most_protective_is_done(name: str) -> None:
    """A debate goes on, and a person or a council decides."""
    doubts = {
        "DEBATE_LANE": "COUNCIL",
        "CONVERGENCE": dict.fromkeys(TRUTHS, False),
        "DEBATE_ESCALATION": "HUMAN",
        "COUNCIL": "HUMAN",
    }

    assert POINTS[name].safe == doubts[name]
