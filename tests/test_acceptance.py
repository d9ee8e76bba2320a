"""When an answer is believed: one reason for each fault, and bounds where they stand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import (
    Ask,
    Choice,
    Chosen,
    Held,
    Predicate,
    Reason,
    Refused,
    Reply,
    Score,
    Scored,
    When,
)
from pointsman.gateway.acceptance import Verdict, accept
from pointsman.gateway.confidence import choice_confidence, score_confidence
from pointsman.gateway.gates import Gate, Scale

NAN, INF = math.nan, math.inf
GATE = Gate(0.7)
TEAM = Choice("Which team?", ["billing", "tech", "none"], "none")
SAFE = Predicate("Is it safe?")
MOOD = Score("How happy?", ["low", "mid", "high"])
ASKS = {
    "team": Ask("s", {"team": TEAM}),
    "safe": Ask("s", {"safe": SAFE}),
    "mood": Ask("s", {"mood": MOOD}),
}
TWO = Ask("s", {"team": TEAM, "safe": SAFE})

SURE = Chosen("tech", {"billing": 0.03, "tech": 0.95, "none": 0.02}, 0.9)
YES = Held(0.9)


def said(name: str, raw: object) -> Verdict:
    """The verdict on one answer."""
    return accept(ASKS[name], Reply({name: cast("Any", raw)}), GATE)


def spread(*probabilities: float, option: str = "tech") -> Chosen:
    """A confident answer over billing, tech, none."""
    return Chosen(option, dict(zip(TEAM.options, probabilities, strict=False)), 0.9)


FAULTS: Mapping[str, tuple[Ask, Any, Reason]] = {
    # --- the reply as a whole
    "no reply": (TWO, None, Reason.MALFORMED),
    "a text": (TWO, "tech", Reason.MALFORMED),
    "answers are a text": (TWO, Reply(cast("Any", "tech")), Reason.MALFORMED),
    "answers are nothing": (TWO, Reply(cast("Any", None)), Reason.MALFORMED),
    "no answer": (TWO, Reply({}), Reason.INCOMPLETE),
    "one of two": (TWO, Reply({"team": SURE}), Reason.INCOMPLETE),
    "one of two by position": (TWO, Reply([("team", SURE)]), Reason.INCOMPLETE),
    "an extra name": (TWO, Reply({"team": SURE, "safe": YES, "x": YES}), Reason.MISMATCHED),
    "a renamed answer": (TWO, Reply({"team": SURE, "x": YES}), Reason.MISMATCHED),
    "an extra by position": (
        TWO,
        Reply([("team", SURE), ("safe", YES), (None, YES)]),
        Reason.MISMATCHED,
    ),
    "a name twice": (TWO, Reply([("team", SURE), ("team", SURE)]), Reason.MISMATCHED),
    "two names swapped": (TWO, Reply([("safe", YES), ("team", SURE)]), Reason.MISMATCHED),
    "an unknown echo": (TWO, Reply([("team", SURE), ("x", YES)]), Reason.MISMATCHED),
    "pairs that are none": (TWO, Reply(cast("Any", [SURE, YES])), Reason.MALFORMED),
    "pairs of three": (TWO, Reply(cast("Any", [("team", SURE, 1)])), Reason.MALFORMED),
    "names that are no text": (TWO, Reply(cast("Any", [([], SURE), (1, YES)])), Reason.MALFORMED),
    # --- types
    "a truth for a choice": (ASKS["team"], Reply({"team": YES}), Reason.WRONG_TYPE),
    "an option for a truth": (ASKS["safe"], Reply({"safe": SURE}), Reason.WRONG_TYPE),
    "a truth for a score": (ASKS["mood"], Reply({"mood": YES}), Reason.WRONG_TYPE),
    "a bare value": (ASKS["team"], Reply(cast("Any", {"team": "tech"})), Reason.WRONG_TYPE),
    "nothing for an answer": (ASKS["team"], Reply(cast("Any", {"team": None})), Reason.WRONG_TYPE),
    "a refusal": (ASKS["team"], Reply({"team": Refused()}), Reason.REFUSED),
    "one refusal of two": (TWO, Reply({"team": SURE, "safe": Refused()}), Reason.REFUSED),
}

ANSWERS: Mapping[str, tuple[str, Any, Reason]] = {
    # --- choices
    "an undeclared option": ("team", Chosen("sales", None, 0.9), Reason.UNDECLARED_OPTION),
    "another case": ("team", Chosen("Tech", None, 0.9), Reason.UNDECLARED_OPTION),
    "an option that is no text": ("team", Chosen(cast("Any", 1), None, 0.9), Reason.MALFORMED),
    "an option that has no hash": ("team", Chosen(cast("Any", []), None, 0.9), Reason.MALFORMED),
    "an undeclared one in the spread": (
        "team",
        Chosen("tech", {"tech": 0.9, "sales": 0.1}, 0.9),
        Reason.UNDECLARED_OPTION,
    ),
    "a spread that is a list": (
        "team",
        Chosen("tech", cast("Any", [0.1, 0.8, 0.1]), 0.9),
        Reason.MALFORMED,
    ),
    "a spread of texts": ("team", spread(cast("Any", "0.1"), 0.9), Reason.MALFORMED),
    "NaN in the spread": ("team", spread(0.1, NAN, 0.1), Reason.INVALID_NUMBER),
    "a negative probability": ("team", spread(-0.1, 0.9, 0.2), Reason.INVALID_NUMBER),
    "percent": ("team", spread(3, 95, 2), Reason.INVALID_NUMBER),
    "a sum of 0.8 over three": ("team", spread(0.1, 0.6, 0.1), Reason.INCONSISTENT),
    "a sum of 1.3": ("team", spread(0.2, 0.9, 0.2), Reason.INCONSISTENT),
    "another is likelier": ("team", spread(0.6, 0.3, 0.1), Reason.INCONSISTENT),
    "the chosen one is not in the spread": (
        "team",
        Chosen("none", {"billing": 0.5, "tech": 0.5}, 0.9),
        Reason.INCONSISTENT,
    ),
    "confidence NaN": ("team", Chosen("tech", None, NAN), Reason.INVALID_NUMBER),
    "confidence 1.7": ("team", Chosen("tech", None, 1.7), Reason.INVALID_NUMBER),
    "confidence 93 %": ("team", Chosen("tech", None, 93.0), Reason.INVALID_NUMBER),
    "confidence −0.1": ("team", Chosen("tech", None, -0.1), Reason.INVALID_NUMBER),
    "confidence beyond floats": ("team", Chosen("tech", None, 10**400), Reason.INVALID_NUMBER),
    "confidence as text": ("team", Chosen("tech", None, cast("Any", "0.9")), Reason.MALFORMED),
    "confidence as an answer": ("team", Chosen("tech", None, cast("Any", YES)), Reason.MALFORMED),
    "no confidence": ("team", Chosen("tech"), Reason.CONFIDENCE_MISSING),
    "no confidence beside a spread": (
        "team",
        Chosen("tech", SURE.probabilities),
        Reason.CONFIDENCE_MISSING,
    ),
    "too unsure": ("team", Chosen("tech", None, 0.69), Reason.LOW_CONFIDENCE),
    "0 is unsure, not missing": ("team", Chosen("tech", None, 0), Reason.LOW_CONFIDENCE),
    # --- predicates
    "p = NaN": ("safe", Held(NAN), Reason.INVALID_NUMBER),
    "p = ∞": ("safe", Held(INF), Reason.INVALID_NUMBER),
    "p = 1.7": ("safe", Held(1.7), Reason.INVALID_NUMBER),
    "p = −0.1": ("safe", Held(-0.1), Reason.INVALID_NUMBER),
    "p is a truth": ("safe", Held(probability=True), Reason.MALFORMED),
    "p is missing": ("safe", Held(cast("Any", None)), Reason.MALFORMED),
    "p = 0.5": ("safe", Held(0.5), Reason.LOW_CONFIDENCE),
    "p = 0.31 is 0.69 for false": ("safe", Held(0.31), Reason.LOW_CONFIDENCE),
    # --- scores
    "a level above": ("mood", Scored(2.1, None, 0.9), Reason.INVALID_NUMBER),
    "a level below": ("mood", Scored(-0.1, None, 0.9), Reason.INVALID_NUMBER),
    "a score NaN": ("mood", Scored(NAN, None, 0.9), Reason.INVALID_NUMBER),
    "a score as text": ("mood", Scored(cast("Any", "2"), None, 0.9), Reason.MALFORMED),
    "too few levels": ("mood", Scored(1, [0.5, 0.5], 0.9), Reason.MALFORMED),
    "a spread by name": ("mood", Scored(1, cast("Any", {"low": 1.0}), 0.9), Reason.MALFORMED),
    "NaN for a level": ("mood", Scored(1, [NAN, 1, 0], 0.9), Reason.INVALID_NUMBER),
    "0.8 over levels": ("mood", Scored(1, [0.1, 0.6, 0.1], 0.9), Reason.INCONSISTENT),
    "a score off its mean": ("mood", Scored(2, [0.0, 1.0, 0.0], 0.9), Reason.INCONSISTENT),
    "a score without confidence": ("mood", Scored(2), Reason.CONFIDENCE_MISSING),
    "a score too unsure": ("mood", Scored(2, None, 0.5), Reason.LOW_CONFIDENCE),
}


@pytest.mark.parametrize(("ask", "reply", "reason"), FAULTS.values(), ids=FAULTS)
def test_one_fault_of_a_reply_has_one_reason(ask: Ask, reply: Any, reason: Reason) -> None:
    verdict = accept(ask, reply, GATE)

    assert verdict.reason is reason
    assert not verdict.accepted
    assert (verdict.confidence, verdict.answers) == (0.0, {})


@pytest.mark.parametrize(("name", "raw", "reason"), ANSWERS.values(), ids=ANSWERS)
def test_one_fault_of_an_answer_has_one_reason(name: str, raw: Any, reason: Reason) -> None:
    verdict = said(name, raw)

    assert verdict.reason is reason
    unsure = reason in (Reason.LOW_CONFIDENCE, Reason.CONFIDENCE_MISSING)
    assert bool(verdict.answers) == unsure  # valid but too unsure: the answer is kept


def test_the_tables_know_every_reason_that_acceptance_gives() -> None:
    given_here = {row[-1] for row in (*FAULTS.values(), *ANSWERS.values())}

    assert given_here | {Reason.ABSTAINED, Reason.OK} == {
        Reason.OK,
        Reason.LOW_CONFIDENCE,
        Reason.CONFIDENCE_MISSING,
        Reason.REFUSED,
        Reason.ABSTAINED,
        Reason.INCOMPLETE,
        Reason.MALFORMED,
        Reason.MISMATCHED,
        Reason.WRONG_TYPE,
        Reason.UNDECLARED_OPTION,
        Reason.INVALID_NUMBER,
        Reason.INCONSISTENT,
    }


# --- what is believed --------------------------------------------------------------------


def test_a_choice_keeps_all_its_numbers() -> None:
    """Reported and recomputed confidence may differ: recorded, never a fault."""
    answer = said("team", SURE).answers["team"]

    assert (answer.value, answer.confidence, answer.source) == ("tech", 0.9, "reported")
    assert (answer.reported, answer.probability) == (0.9, 0.95)
    assert answer.recomputed == pytest.approx(0.925)
    assert answer.distribution == SURE.probabilities


OVER, UNDER = 1.0000001, -1e-17


@pytest.mark.parametrize(
    ("name", "raw", "confidence", "distribution"),
    [
        ("safe", Held(OVER), 1.0, {"true": 1.0, "false": 0.0}),
        ("safe", Held(UNDER), 1.0, {"true": 0.0, "false": 1.0}),
        ("team", Chosen("tech", {"tech": OVER, "none": UNDER}, OVER), 1.0, {"tech": 1, "none": 0}),
        ("mood", Scored(2.0000001, [UNDER, 0.0, OVER], 0.9), 0.9, {"low": 0, "mid": 0, "high": 1}),
    ],
)
def test_what_rounding_put_beyond_its_range_is_its_end(
    name: str, raw: Any, confidence: float, distribution: Mapping[str, float]
) -> None:
    """Servers that reckon in 32 bits write 1 as 1.0000001; nothing out of range is passed on."""
    answer = said(name, raw).answers[name]

    assert answer.confidence == confidence
    assert list((answer.distribution or {}).values()) == list(distribution.values())
    assert all(0.0 <= one <= 1.0 for one in (answer.distribution or {}).values())


@pytest.mark.parametrize("p", [1.00001, -0.00001])
def test_what_is_beyond_rounding_is_no_probability(p: float) -> None:
    assert said("safe", Held(p)).reason is Reason.INVALID_NUMBER


def test_a_predicate_is_as_sure_as_its_selected_result() -> None:
    """Its confidence is a probability on both scales, hence never below 0.5 (A8)."""
    scales: list[Scale] = ["reported", "probability"]
    for scale in scales:
        gate = Gate(0.7, scale)
        no = accept(ASKS["safe"], Reply({"safe": Held(0.3)}), gate)
        assert no.accepted
        answer = no.answers["safe"]
        assert (answer.value, answer.confidence, answer.source) == (False, 0.7, "probability")
        assert answer.reported is None
        assert answer.distribution == {"true": 0.3, "false": 0.7}


@pytest.mark.parametrize("safe", [True, False])
def test_a_tie_takes_what_the_point_calls_safe(safe: bool) -> None:  # noqa: FBT001
    """A8: exactly 0.5 selects the safe outcome, at confidence 0.5."""
    ask = Ask("s", {"q": Predicate("q", tie=safe)})

    verdict = accept(ask, Reply({"q": Held(0.5)}), Gate(0.5))

    assert verdict.accepted
    assert verdict.answers["q"].value is safe
    assert verdict.confidence == 0.5
    assert accept(ask, Reply({"q": Held(0.5)}), Gate(0.5001)).reason is Reason.LOW_CONFIDENCE


def test_a_score_is_carried_to_its_scale() -> None:
    ask = Ask("s", {"q": Score("q", low=0, high=10)})

    verdict = accept(ask, Reply({"q": Scored(3.5, [0, 0, 0, 0.5, 0.5, 0], 0.9)}), GATE)

    answer = verdict.answers["q"]
    assert answer.value == 7.0
    assert answer.probability == 0.5
    assert answer.distribution == {"0": 0, "2": 0, "4": 0, "6": 0.5, "8": 0.5, "10": 0}


@pytest.mark.parametrize(
    "raw", [Chosen("tech", None, 0.7), Chosen("tech", SURE.probabilities, 0.7)]
)
def test_the_threshold_is_inclusive(raw: Chosen) -> None:
    assert said("team", raw).accepted
    assert accept(ASKS["team"], Reply({"team": raw}), Gate(0.7 + 1e-12)).reason is (
        Reason.LOW_CONFIDENCE
    )


def test_a_missing_confidence_is_zero_and_passes_only_an_explicit_zero() -> None:
    """A9: a failure of its own, unless the minimum is explicitly 0; then 0.0 is passed on."""
    reply = Reply({"team": Chosen("tech")})

    assert accept(ASKS["team"], reply, Gate(1e-9)).reason is Reason.CONFIDENCE_MISSING
    verdict = accept(ASKS["team"], reply, Gate(0.0))
    assert verdict.accepted
    assert verdict.confidence == 0.0
    assert verdict.answers["team"].source == "missing"


def test_the_scale_says_which_number_counts() -> None:
    """`probability` makes providers comparable; what is absent there is missing there."""
    spread_only = Reply({"team": Chosen("tech", SURE.probabilities)})
    number_only = Reply({"team": Chosen("tech", None, 0.9)})
    gate = Gate(0.95, "probability")

    verdict = accept(ASKS["team"], spread_only, gate)
    assert verdict.accepted
    assert (verdict.confidence, verdict.answers["team"].source) == (0.95, "probability")
    assert accept(ASKS["team"], number_only, gate).reason is Reason.CONFIDENCE_MISSING
    assert accept(ASKS["team"], spread_only, GATE).reason is Reason.CONFIDENCE_MISSING


def test_choosing_the_sentinel_is_an_answer_unless_the_point_calls_it_abstaining() -> None:
    none = Reply({"q": Chosen("none", None, 0.99)})
    shy = Choice("q", ["a", "none"], "none", abstains=True)

    assert accept(Ask("s", {"q": Choice("q", ["a", "none"], "none")}), none, GATE).accepted
    assert accept(Ask("s", {"q": shy}), none, GATE).reason is Reason.ABSTAINED
    assert accept(Ask("s", {"q": shy}), Reply({"q": Chosen("a", None, 0.9)}), GATE).accepted


def test_answers_without_names_are_matched_by_position() -> None:
    """Names are echoed by some wires only; whoever echoes is held to it."""
    assert accept(TWO, Reply([(None, SURE), (None, YES)]), GATE).accepted
    assert accept(TWO, Reply([("team", SURE), (None, YES)]), GATE).accepted
    assert list(accept(TWO, Reply({"safe": YES, "team": SURE}), GATE).answers) == ["team", "safe"]


# --- several questions -------------------------------------------------------------------


def test_the_confidence_is_the_least_over_all_questions() -> None:
    verdict = accept(TWO, Reply({"team": SURE, "safe": Held(0.75)}), GATE)

    assert verdict.accepted
    assert verdict.confidence == 0.75
    low = accept(TWO, Reply({"team": SURE, "safe": Held(0.6)}), GATE)
    assert (low.reason, low.confidence) == (Reason.LOW_CONFIDENCE, 0.6)


def test_validity_comes_before_confidence() -> None:
    """First validity in the order of the questions, then the gates."""
    unsure, invalid = Chosen("tech", None, 0.1), Held(NAN)

    assert accept(TWO, Reply({"team": unsure, "safe": invalid}), GATE).reason is (
        Reason.INVALID_NUMBER
    )


KIND = Choice("What?", ["CONTINUE", "SHIFT"])
DESTINATION = Choice("Where to?", ["a", "b"], when=When("kind", ("SHIFT",)))
SHIFT = Ask("s", {"kind": KIND, "destination": DESTINATION})


@pytest.mark.parametrize(
    "destination",
    [Chosen("a", None, 0.1), Chosen("x"), Held(NAN), Refused()],
    ids=["unsure", "undeclared", "invalid", "refused"],
)
def test_a_question_that_is_not_live_cannot_fail(destination: Any) -> None:
    """A6: CONTINUE with an uncertain destination must not fall back."""
    goes_on = Reply({"kind": Chosen("CONTINUE", None, 0.9), "destination": destination})

    verdict = accept(SHIFT, goes_on, GATE)

    assert verdict.accepted
    assert verdict.confidence == 0.9
    assert verdict.answers["destination"].value is None
    shifts = Reply({"kind": Chosen("SHIFT", None, 0.9), "destination": destination})
    assert not accept(SHIFT, shifts, GATE).accepted


def test_a_live_question_is_gated_and_its_absence_is_incomplete() -> None:
    shift = Chosen("SHIFT", None, 0.9)

    both = accept(SHIFT, Reply({"kind": shift, "destination": Chosen("b", None, 0.8)}), GATE)
    assert (both.confidence, both.answers["destination"].value) == (0.8, "b")
    assert accept(SHIFT, Reply({"kind": shift}), GATE).reason is Reason.INCOMPLETE


def test_what_hangs_on_a_dead_question_is_dead() -> None:
    third = Predicate("Sure?", when=When("destination", ("a",)))
    ask = Ask("s", {**SHIFT.questions, "third": third})
    goes_on = Chosen("CONTINUE", None, 0.9)

    verdict = accept(
        ask, Reply({"kind": goes_on, "destination": Chosen("a", None, 0.9), "third": Held(2)}), GATE
    )

    assert verdict.accepted
    assert verdict.answers["third"].value is None


@pytest.mark.parametrize(
    "advice", [Held(0.55), Held(NAN), Refused(), SURE], ids=["unsure", "NaN", "refused", "type"]
)
def test_advice_never_costs_the_decision(advice: Any) -> None:
    """An advisory question has no gate and is in no minimum; in doubt it is unspecified."""
    ask = Ask("s", {"team": TEAM, "hint": Predicate("Urgent?", advisory=True)})

    verdict = accept(ask, Reply({"team": SURE, "hint": advice}), GATE)

    assert verdict.accepted
    assert verdict.confidence == 0.9
    assert verdict.answers["hint"].value is None


def test_sound_advice_is_given() -> None:
    ask = Ask("s", {"team": TEAM, "hint": Predicate("Urgent?", advisory=True)})

    verdict = accept(ask, Reply({"team": SURE, "hint": Held(0.8)}), GATE)

    assert verdict.answers["hint"].value is True
    assert verdict.confidence == 0.9


def test_where_nothing_is_gated_the_confidence_is_one() -> None:
    ask = Ask("s", {"hint": Predicate("Urgent?", advisory=True)})

    assert accept(ask, Reply({"hint": Held(NAN)}), GATE).confidence == 1.0


# --- the bounds of a distribution --------------------------------------------------------


def over(options: int, probabilities: Sequence[float]) -> Reason:
    """The reason for a distribution over `o0`, `o1`, …; the likeliest is chosen."""
    names = [f"o{at}" for at in range(options)]
    given_ones = dict(zip(names, probabilities, strict=False))
    top = max(given_ones, key=lambda name: given_ones[name])
    ask = Ask("s", {"q": Choice("q", names)})
    return accept(ask, Reply({"q": Chosen(top, given_ones, 1.0)}), GATE).reason


BOUNDS: Mapping[str, tuple[int, list[float], Reason]] = {
    # Σp ≤ 1 + 0.005·k over the k entries above zero
    "three rounded up": (3, [0.335, 0.34, 0.34], Reason.OK),
    "three above": (3, [0.336, 0.34, 0.34], Reason.INCONSISTENT),
    "two of four rounded up": (4, [0.51, 0.5, 0, 0], Reason.OK),
    "zeros leave no slack above": (4, [0.511, 0.5, 0, 0], Reason.INCONSISTENT),
    "one certain": (3, [1.0], Reason.OK),
    # Σp ≥ 1 − 0.005·n over all n options, absent ones too
    "three rounded down": (3, [0.325, 0.33, 0.33], Reason.OK),
    "three below": (3, [0.324, 0.33, 0.33], Reason.INCONSISTENT),
    "a long tail rounded to nothing": (100, [0.5], Reason.OK),
    "a tail too long for its options": (99, [0.5], Reason.INCONSISTENT),
    # max p ≥ 1/n − 0.005
    "even over 255, each rounded to nothing": (255, [0.0] * 255, Reason.OK),
    "even over 199, none of them rounded up": (199, [0.0] * 199, Reason.INCONSISTENT),
    "five at the least maximum": (5, [0.195] * 5, Reason.OK),
    "five below it": (5, [0.194] * 5, Reason.INCONSISTENT),
}


@pytest.mark.parametrize(("options", "spread", "reason"), BOUNDS.values(), ids=BOUNDS)
def test_a_distribution_may_be_off_by_what_rounding_explains(
    options: int, spread: list[float], reason: Reason
) -> None:
    """Two decimals each: no more slack than that, and no less."""
    assert over(options, spread) is reason


@pytest.mark.parametrize(
    ("chosen", "other", "reason"),
    [(0.49, 0.5, Reason.OK), (0.489, 0.5, Reason.INCONSISTENT), (0.5, 0.5, Reason.OK)],
)
def test_the_chosen_option_is_maximal_within_a_hundredth(
    chosen: float, other: float, reason: Reason
) -> None:
    ask = Ask("s", {"q": Choice("q", ["a", "b"])})

    assert accept(ask, Reply({"q": Chosen("a", {"a": chosen, "b": other}, 1.0)}), GATE).reason is (
        reason
    )


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (1.0, Reason.OK),
        (1.02, Reason.OK),  # 0.005 + 0.005·(0 + 1 + 2)
        (0.98, Reason.OK),
        (1.021, Reason.INCONSISTENT),
        (0.979, Reason.INCONSISTENT),
    ],
)
def test_a_score_equals_its_mean_within_rounding(score: float, reason: Reason) -> None:
    reply = Reply({"mood": Scored(score, [0.25, 0.5, 0.25], 0.9)})

    assert accept(ASKS["mood"], reply, GATE).reason is reason


@given(weights=st.lists(st.integers(0, 1000), min_size=2, max_size=255).filter(any))
@settings(derandomize=True, deadline=None)
def test_an_honest_distribution_rounded_to_two_decimals_is_believed(weights: list[int]) -> None:
    """Every bound lets through what a provider gets by rounding a true distribution."""
    total = sum(weights)
    rounded = [round(weight / total, 2) for weight in weights]
    names = [f"o{at}" for at in range(len(weights))]
    top = names[weights.index(max(weights))]
    ask = Ask("s", {"q": Choice("q", names)})
    reply = Reply({"q": Chosen(top, dict(zip(names, rounded, strict=True)), 0.9)})

    assert accept(ask, reply, GATE).reason is Reason.OK


@given(
    options=st.integers(2, 255),
    absent=st.sampled_from([None, {}, [], ()]),
    confidence=st.none() | st.floats(0, 1),
    scale=st.sampled_from(["reported", "probability"]),
)
@settings(derandomize=True, deadline=None)
def test_an_empty_distribution_is_an_absent_one(
    options: int, absent: Any, confidence: float | None, scale: Scale
) -> None:
    """Some servers write one where they have none; of a choice and of a score alike."""
    names = [f"o{at}" for at in range(options)]
    choice = Ask("s", {"q": Choice("q", names)})
    score = Ask("s", {"q": Score("q", names[:10])})
    gate = Gate(0.5, scale)

    for ask, empty, none in (
        (choice, Chosen(names[-1], absent, confidence), Chosen(names[-1], None, confidence)),
        (score, Scored(1, absent, confidence), Scored(1, None, confidence)),
    ):
        verdict = accept(ask, Reply({"q": empty}), gate)
        assert verdict == accept(ask, Reply({"q": none}), gate)
        assert verdict.accepted == (scale == "reported" and (confidence or 0) >= 0.5)


@given(weights=st.lists(st.integers(0, 1000), min_size=2, max_size=10).filter(any))
@settings(derandomize=True, deadline=None)
def test_an_honest_score_rounded_to_two_decimals_is_believed(weights: list[int]) -> None:
    true = [weight / sum(weights) for weight in weights]
    score = round(sum(at * p for at, p in enumerate(true)), 2)
    ask = Ask("s", {"q": Score("q", [f"l{at}" for at in range(len(weights))])})

    verdict = accept(ask, Reply({"q": Scored(score, [round(p, 2) for p in true], 0.9)}), GATE)

    assert verdict.reason is Reason.OK


# --- the formulas ------------------------------------------------------------------------


def test_confidence_is_recomputed_as_published() -> None:
    """The examples of OpenAI's pages fit TypeSafe's formulas."""
    assert choice_confidence(0.95, 4) == pytest.approx(0.93, abs=0.005)
    assert score_confidence([0.1, 0.7, 0.2]) == pytest.approx(0.55, abs=0.005)
    assert score_confidence([0.04, 0.96, 0]) == pytest.approx(0.94, abs=0.005)
    assert choice_confidence(0.25, 4) == 0.0
    assert choice_confidence(1.0, 255) == 1.0
    assert score_confidence([0.5, 0, 0.5]) == 0.0


# --- laws --------------------------------------------------------------------------------

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.sampled_from(["team", "safe", "mood", "tech", "billing", "none"])
    | st.builds(object)
    | st.just(Refused()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["team", "safe", "mood", "tech"]) | st.text(), inner)
        | st.builds(Chosen, inner, inner, inner)
        | st.builds(Held, inner)
        | st.builds(Scored, inner, inner, inner)
    ),
    max_leaves=12,
)
THREE = Ask("s", {"team": TEAM, "safe": SAFE, "mood": MOOD})
strange = anything | st.builds(
    Reply, anything | st.fixed_dictionaries({"team": anything, "safe": anything, "mood": anything})
)


@given(reply=strange, minimum=st.floats(0, 1))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_whatever_a_plugin_returns_there_is_one_listed_reason(reply: Any, minimum: float) -> None:
    """A stranger's provider may return any object at all."""
    verdict = accept(THREE, reply, Gate(minimum))

    assert isinstance(verdict.reason, Reason)
    assert 0.0 <= verdict.confidence <= 1.0


plausible = st.fixed_dictionaries(
    {
        "team": st.builds(
            Chosen,
            st.sampled_from(list(TEAM.options)),
            st.sampled_from([None, {}])
            | st.fixed_dictionaries({name: st.floats(0, 1) for name in TEAM.options}).map(
                lambda given: {k: v / (sum(given.values()) or 1) for k, v in given.items()}
            ),
            st.none() | st.floats(0, 1),
        ),
        "safe": st.builds(Held, st.floats(0, 1)),
        "mood": st.builds(Scored, st.floats(0, 2), st.none(), st.none() | st.floats(0, 1)),
    }
)


@given(
    answers=plausible,
    minimum=st.floats(0, 1),
    scale=st.sampled_from(["reported", "probability"]),
)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_accepted_means_at_least_the_minimum(answers: Any, minimum: float, scale: Scale) -> None:
    verdict = accept(THREE, Reply(answers), Gate(minimum, scale))

    if verdict.accepted:
        assert verdict.confidence >= minimum
        assert all(answer.confidence >= minimum for answer in verdict.answers.values())
    elif verdict.answers:
        assert verdict.confidence < minimum


@given(answers=plausible, low=st.floats(0, 1), high=st.floats(0, 1))
@settings(derandomize=True, deadline=None)
def test_a_higher_threshold_never_lets_more_through(answers: Any, low: float, high: float) -> None:
    low, high = sorted((low, high))
    reply = Reply(answers)

    assert accept(THREE, reply, Gate(low)).accepted or not accept(THREE, reply, Gate(high)).accepted
