"""Calibration: the thirteen things that it computes, from samples, and what makes a sample."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import Choice, DecisionPoint, Predicate, Score, SetupError
from pointsman.gateway.answers import Answer
from pointsman.gateway.certificates import Certificate, Thresholds, read, written
from pointsman.gateway.errors import Reason
from pointsman.gateway.evaluation.calibration.calibrating import Asked, Result, calibrate, merged
from pointsman.gateway.evaluation.calibration.checking import Against, check, day, since
from pointsman.gateway.evaluation.calibration.collecting import Wanted, collect
from pointsman.gateway.evaluation.calibration.describing import share
from pointsman.gateway.evaluation.calibration.findings import Calibration, Costs, Refused, Settings
from pointsman.gateway.evaluation.calibration.labelling import (
    from_current,
    from_feedback,
    from_labels,
)
from pointsman.gateway.evaluation.calibration.samples import Sample, by_key
from pointsman.gateway.evaluation.calibration.vocabulary import need_meaning, sifted
from pointsman.gateway.evaluation.statistics.certifying import Certified, certify
from pointsman.gateway.evaluation.statistics.numerics import binomial_cdf, exact_upper, wilson
from pointsman.gateway.gates import Cut, Gate
from pointsman.gateway.journal.rows import DecisionRow, FeedbackRow, Kept, ShadowRow, Trail
from pointsman.gateway.keys import QuestionKey, keys_of
from pointsman.gateway.records import Attempt, Record, Shadow

DATE = "2026-11-30"
TEAM = QuestionKey("team", "0123456789ab", "ba9876543210")
TOXIC = QuestionKey("toxic", "abcdef012345")
# Vector A: twenty confidences, and whether the answer was right.
A = [0.99, 0.97, 0.95, 0.93, 0.91, 0.88, 0.86, 0.83, 0.81, 0.78]
A += [0.74, 0.71, 0.68, 0.64, 0.61, 0.58, 0.55, 0.53, 0.52, 0.51]
A_RIGHT = [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0]


def chosen(n: int, confidence: float, right: object = 1, /, **given_: Any) -> Sample:
    """The *n*-th answer to a choice between `billing` and `tech`; the label is `billing`."""
    value = "billing" if right else "tech"
    other = "tech" if right else "billing"
    told: dict[str, Any] = {
        "id": f"{n:032x}",
        "at": 1000.0 + n,
        "point": "ROUTER",
        "name": "team",
        "asked": TEAM,
        "language": "en",
        "form": "single",
        "provider": "jev",
        "model": "jev-1",
        "reason": Reason.OK,
        "value": value,
        "gold": "billing",
        "right": bool(right),
        "told": 2000.0 + n,
        "probability": confidence,
        "reported": confidence / 2,
        "distribution": {value: confidence, other: 1.0 - confidence},
    }
    return Sample(**{**told, **given_})


def held(n: int, probability: float, truth: bool, **given_: Any) -> Sample:  # noqa: FBT001
    """The *n*-th answer to a predicate, with its *probability* of true."""
    value = probability > 0.5
    told: dict[str, Any] = {
        "point": "RAIL",
        "name": "toxic",
        "asked": TOXIC,
        "value": value,
        "gold": truth,
        "right": value == truth,
        "probability": probability if value else round(1.0 - probability, 12),
        "reported": None,
        "distribution": {"true": probability, "false": 1.0 - probability},
    }
    return chosen(n, 0.5, **{**told, **given_})


def silent(n: int, reason: Reason, **given_: Any) -> Sample:
    """A row that was asked and not answered."""
    gone: dict[str, Any] = {"value": None, "right": None, "probability": None}
    gone |= {"distribution": None, "reported": None, "reason": reason}
    return chosen(n, 0.5, **{**gone, **given_})


def calibrated(count: int, seed: int = 1, over: float = 0.0, **given_: Any) -> list[Sample]:
    """Answers that are right as often as they say, less *over*."""
    dice = random.Random(seed)
    rows = []
    for n in range(count):
        confidence = 0.4 + 0.6 * dice.betavariate(4, 1.2)
        rows.append(chosen(n, confidence, dice.random() < confidence - over, **given_))
    return rows


def rail(count: int, seed: int = 1) -> list[Sample]:
    """Answers to a predicate whose probabilities hold."""
    dice = random.Random(seed)
    drawn = [dice.betavariate(0.4, 0.6) for _ in range(count)]
    return [held(n, p, dice.random() < p) for n, p in enumerate(drawn)]


def results(rows: Sequence[Sample], **given_: Any) -> tuple[Result, ...]:
    return calibrate(rows, Settings(**{"date": DATE, "draws": 20, **given_}))


def only(rows: Sequence[Sample], asked: Asked | None = None, **given_: Any) -> Calibration:
    (found,) = calibrate(rows, Settings(**{"date": DATE, "draws": 20, **given_}), asked)
    assert isinstance(found, Calibration)
    return found


def thrice(confidences: Sequence[float], right: Sequence[int]) -> list[Sample]:
    """Rows three times over: enough to be looked at, with the same shares."""
    pairs = [*zip(confidences, right, strict=True)] * 3
    return [chosen(n, c, y) for n, (c, y) in enumerate(pairs)]


# --- items 1 to 6 -------------------------------------------------------------------------


def test_item_1_counts_what_was_not_decided_and_drops_nothing() -> None:
    """A refusal or a timeout is a row: it lowers coverage, never the error rate."""
    gone = [silent(100 + n, Reason.TIMEOUT) for n in range(20)]
    gone += [silent(200 + n, Reason.REFUSED) for n in range(5)]

    found = only([*(chosen(n, 0.9) for n in range(75)), *gone])

    counts = found.counts
    assert (counts.rows, counts.labelled, counts.answered, counts.judged) == (100, 100, 75, 75)
    assert counts.unanswered == {"timeout": 20, "refused": 5}
    assert counts.gold == {"billing": 100}
    assert counts.answers == {"billing": 75}
    assert found.levels[-1].accepted == 75
    assert found.levels[-1].coverage == 0.75
    assert found.selective.coverage_at["1"] == 0.75


@pytest.mark.parametrize(("rows", "needed"), [(0, 50), (1, 49), (49, 1)])
def test_item_1_nothing_is_said_of_fewer_than_fifty_labels(rows: int, needed: int) -> None:
    told = [chosen(n, 0.9) for n in range(rows)]
    unknown = [chosen(900 + n, 0.9, gold=None, right=None) for n in range(300)]

    (found,) = results([*told, *unknown])

    assert isinstance(found, Refused)
    assert (found.judged, found.needed) == (rows, needed)


@pytest.mark.parametrize(("rows", "more"), [(50, 150), (199, 1), (200, 0)])
def test_item_1_is_provisional_below_two_hundred(rows: int, more: int) -> None:
    counts = only([chosen(n, 0.9) for n in range(rows)]).counts

    assert (counts.provisional, counts.more) == (more > 0, more)


def test_item_1_leaves_out_labels_that_are_no_option() -> None:
    """No answer, no distribution and no decision names them: they say nothing of any answer."""
    rows = [chosen(n, 0.9) for n in range(200)]
    rows += [chosen(200 + n, 0.9, 0, gold="biling") for n in range(3)]

    kept, (strange,) = sifted(rows, None)
    found = only(kept)

    assert (found.counts.strange, found.certificate.strange, found.counts.judged) == (3, 3, 200)
    assert found.quality.right.count == 200
    assert (strange.count, strange.of, strange.labels) == (3, 203, ("biling",))
    assert strange.answers == ("billing", "tech")


def test_item_1_a_label_that_may_be_an_option_stays_an_error() -> None:
    """Without distributions or a declaration nobody knows what could have been answered."""
    bare = [
        msgspec.structs.replace(chosen(n, 0.9, n % 50), distribution=None, gold=gold)
        for n, gold in enumerate(["billing"] * 99 + ["fraud"])
    ]
    point = DecisionPoint(
        name="ROUTER", questions={"en": {"team": Choice("Who?", ["billing", "tech", "fraud"])}}
    )
    partial = [chosen(200, 0.9, distribution={"billing": 1.0}), chosen(201, 0.9)]

    for rows in (bare, [*bare, *partial]):
        kept, (strange,) = sifted(rows, None)
        assert not strange.known
        assert [one.right for one in kept] == [one.right for one in rows]
    assert sifted(bare, point)[1] == ()


def test_item_1_what_was_decided_is_never_strange() -> None:
    rows = [chosen(n, 0.9, 0, gold="person", decided="person") for n in range(9)]

    kept, strange = sifted(rows, None)

    assert (list(kept), strange) == (rows, ())


SAID = [(1, True), (0, False), (1.0, True), ("Yes", True), (" no ", False), ("FALSE", False)]


@pytest.mark.parametrize(("label", "truth"), SAID)
def test_item_1_a_predicates_label_is_read_as_a_truth(label: Any, *, truth: bool) -> None:
    said = Answer(value=True, confidence=0.9, probability=0.9, distribution=None)

    (one,) = collect([trail(1, answers={"team": said}, label=label)], Wanted("jev")).samples

    assert (one.gold, one.right, one.strange) == (truth, truth, "")


@pytest.mark.parametrize("label", ["maybe", 2, 0.5])
def test_item_1_a_predicates_label_that_is_no_truth_is_left_out(label: Any) -> None:
    said = Answer(value=True, confidence=0.9, probability=0.9, distribution=None)

    found = collect([trail(1, answers={"team": said}, label=label)], Wanted("jev"))

    assert [(one.gold, one.right) for one in found.samples] == [(None, None)]
    assert [one.labels for one in found.strange] == [(f"{label}",)]


@pytest.mark.parametrize(
    ("label", "strange"), [("bad", True), ("nan", True), (70.0, True), (4.0, False)]
)
def test_item_1_a_scores_label_is_on_its_scale(label: Any, *, strange: bool) -> None:
    point = DecisionPoint(
        name="ROUTER", questions={"en": {"team": Score("How good?", low=0, high=10)}}
    )

    found = collect([scored(1, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), label)], Wanted("jev", point=point))

    assert bool(found.strange) is strange
    assert (found.samples[0].right is None) is strange


@pytest.mark.parametrize(
    ("strange", "of", "refused"), [(3, 100, False), (4, 100, True), (2, 2, False), (3, 3, True)]
)
def test_item_1_more_than_a_few_strange_labels_are_refused(
    strange: int, of: int, *, refused: bool
) -> None:
    rows = [chosen(n, 0.9, gold="Billing" if n < strange else "billing") for n in range(of)]
    found = sifted(rows, None)[1]

    if refused:
        with pytest.raises(SetupError, match="name nothing that can be answered: Billing"):
            need_meaning(found)
    else:
        need_meaning(found)


def test_item_2_how_often_it_is_right_with_interval_and_matrix() -> None:
    found = only(thrice(A, A_RIGHT)).quality

    assert (found.right.count, found.right.of) == (42, 60)
    assert (found.right.low, found.right.high) == wilson(42, 60)
    assert found.labels == ("billing", "tech")
    assert found.confusion == ((42, 18), (0, 0))
    assert found.macro_f1 == pytest.approx((2 * 42 / (60 + 42) + 0) / 2)


def test_item_2_no_answer_is_a_miss_in_the_matrix() -> None:
    rows = [*thrice(A, A_RIGHT), silent(99, Reason.TIMEOUT)]

    found = only(rows).quality

    assert found.labels[-1] == "–"
    assert found.confusion[0] == (42, 18, 1)


def scored(n: int, spread: Sequence[float], gold: Any) -> Trail:
    """A decision by an answer to a score of 0 to 10 in six steps, with a label."""
    question = Score("How good?", low=0, high=10)
    value = question.value(sum(i * p for i, p in enumerate(spread)))
    levels = dict(zip(question.levels, spread, strict=True))
    answer = Answer(
        value=value, confidence=max(spread), probability=max(spread), distribution=levels
    )
    return trail(n, answers={"team": answer}, label=gold)


def test_item_2_scores_are_counted_in_levels() -> None:
    """2 and 4 of 0 to 10 in six steps are one level apart."""
    point = DecisionPoint(
        name="ROUTER", questions={"en": {"team": Score("How good?", low=0, high=10)}}
    )
    sure, near = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    trails = [scored(n, sure if n < 40 else near, 2.0) for n in range(60)]

    found = only(collect(trails, Wanted("jev", point=point)).samples).quality

    assert (found.right.count, found.right.of) == (40, 60)
    assert found.distance == pytest.approx(1 / 3)
    assert found.within_one == 1.0
    assert found.rps == pytest.approx(20 / 60 * 1 / 5)
    assert found.labels[0] == "2"


def test_item_3_proper_scores() -> None:
    """Vector A three times over; for two options the multi-class form is twice the binary one."""
    found = only(thrice(A, A_RIGHT)).scores

    assert found.top == pytest.approx(0.1755)
    assert found.form == "multi-class"
    assert found.brier == pytest.approx(2 * 0.1755)
    loss = [-math.log(c if y else 1 - c) for c, y in zip(A, A_RIGHT, strict=True)]
    assert found.log_loss == pytest.approx(sum(loss) / 20)
    assert found.uncertainty == pytest.approx(0.7 * 0.3)


def test_item_3_a_predicate_is_scored_by_its_probability_of_true() -> None:
    """Vector C."""
    p = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.55, 0.4, 0.35, 0.3, 0.2, 0.15, 0.1, 0.05]
    y = [1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0]
    pairs = [*zip(p, y, strict=True)] * 4

    found = only([held(n, q, bool(t)) for n, (q, t) in enumerate(pairs)]).scores

    assert found.form == "binary"
    assert found.brier == pytest.approx(0.1425)


def test_item_4_calibration_error_beside_what_noise_makes() -> None:
    """Vector A: ECE 0.118, MCE 0.155, mean confidence 0.749 against 0.70."""
    found = only(thrice(A, A_RIGHT)).gap

    assert found.ece == pytest.approx(0.118)
    assert found.mce == pytest.approx(0.155)
    assert found.over == pytest.approx(0.049)
    assert 0.0 < found.floor < 0.2
    assert sum(bar.rows for bar in found.bars) == 60
    assert all(bar.low <= bar.share <= bar.high for bar in found.bars)


def test_item_5_a_recalibrator_is_kept_only_where_it_pays() -> None:
    honest = only(calibrated(300)).remap
    proud = only(calibrated(300, over=0.3)).remap

    assert not honest.kept
    assert (honest.parameters, honest.bars) == ((), ())
    assert proud.kept
    assert proud.gain > proud.error
    assert proud.parameters[0] > 1.0  # hotter
    assert sum(bar.rows for bar in proud.bars) == 300


def test_item_5_a_predicate_gets_platts_line() -> None:
    assert only(rail(300)).remap.kind == "platt"


def test_item_6_risk_against_coverage() -> None:
    """Vector A in its order: the first four are right, of the first ten one is wrong."""
    found = only(thrice(A, A_RIGHT)).selective

    assert [(p.accepted, p.errors) for p in found.curve[:5]] == [
        (3, 0), (6, 0), (9, 0), (12, 0), (15, 3),
    ]  # fmt: skip
    assert found.curve[-1].coverage == 1.0
    assert found.coverage_at == {"1": 0.2, "2": 0.2, "5": 0.2, "10": 0.5}
    assert found.aurc > found.excess > 0.0
    assert 0.0 < found.augrc < 0.5


# --- items 7 to 9 -------------------------------------------------------------------------


def test_item_7_a_perfect_provider_is_certified_at_every_rate() -> None:
    found = only([chosen(n, 0.6 + n / 2000) for n in range(700)])

    assert [level.alpha for level in found.levels] == [0.01, 0.02, 0.05, 0.10, 0.20]
    for level in found.levels:
        assert level.minimum is not None
        assert level.errors == 0
        assert level.bound <= level.alpha
    assert found.certified


def test_item_7_what_is_not_certifiable_says_why_and_how_many_more() -> None:
    """59 accepted answers without an error are the fewest for 5 %; four starts need more."""
    few = only([chosen(n, 0.9) for n in range(60)])
    bad = only([chosen(n, 0.9, right=n % 3) for n in range(300)])

    assert few.used.minimum is None
    assert few.used.why
    assert few.used.needed is not None
    assert 10 <= few.used.needed <= 60
    assert (bad.used.minimum, bad.used.needed) == (None, None)
    assert bad.used.why


def test_item_7_a_rate_of_ones_own_is_tried_and_used() -> None:
    found = only(calibrated(80), risk=0.15)

    assert [level.alpha for level in found.levels] == [0.01, 0.02, 0.05, 0.10, 0.15, 0.20]
    assert found.used.alpha == 0.15
    assert found.certificate.risk == 0.15


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=8, deadline=None)
def test_item_7_what_is_counted_is_what_the_gate_accepts(seed: int, over: float) -> None:
    """Coverage, errors and bound are those of the rows that acceptance would believe."""
    rows = calibrated(100, seed=seed, over=over)

    found = only(rows)

    for level in found.levels:
        if level.minimum is None:
            assert level.why
            continue
        gate = Cut(level.minimum, "probability")
        believed = [one for one in rows if gate.clears(answer_of(one))]
        assert len(believed) == level.accepted
        assert sum(not one.right for one in believed) == level.errors
        assert level.bound <= level.alpha
        assert binomial_cdf(level.errors, level.accepted, level.alpha) <= 0.05 / 4


def answer_of(one: Sample) -> Answer:
    assert one.probability is not None
    return Answer(value=one.value, confidence=one.probability, source="probability")


def test_item_8_a_predicate_has_two_cut_points_certified_apart() -> None:
    """Misses are counted among the positives, false alarms among the negatives."""
    rows = rail(1000)

    found = only(rows)

    assert found.certificate.two_sided
    assert len(found.sides) == 10
    for side in found.sides:
        if side.at is None:
            assert side.why
            continue
        of = [one for one in rows if one.gold is (side.side == "no")]
        gate = _gate(**{"no_below" if side.side == "no" else "yes_from": side.at})
        beyond = [one for one in rows if gate.clears(answer_of(one))]
        assert side.of == len(of)
        assert side.errors == sum(one in of for one in beyond)
        assert side.coverage == pytest.approx(len(beyond) / len(rows))
        assert side.bound == pytest.approx(exact_upper(side.errors, side.of, 0.025))
        assert side.bound <= side.alpha


def _gate(**cuts: float) -> Cut:
    return Cut(1.0, "probability", two_sided=True, **cuts)


def test_item_8_a_side_that_cannot_be_certified_is_never_believed() -> None:
    """Without a negative nothing is known of false alarms; `no` may be certified all the same."""
    rows = [held(n, 0.99, truth=True) for n in range(300)]
    rows += [held(300 + n, 0.01 + n / 1e4, truth=False) for n in range(20)]

    found = only(rows)

    assert found.used.yes_from is None
    assert found.used.no_below is not None
    assert found.certified
    assert {side.why for side in found.sides if side.side == "yes"} != {""}


def test_item_8_symmetric_means_one_minimum() -> None:
    found = only(rail(1000), two_sided=False)

    assert not found.certificate.two_sided
    assert found.used.minimum is not None
    assert found.used.errors <= 0.05 * found.used.accepted


@pytest.mark.parametrize(
    ("costs", "chance"),
    [(Costs(1, 0.05), 0.95), (Costs(1, 0.05, 0.08), 0.87), (Costs(4, 0.8), 0.8)],
)
def test_item_9_acts_from_the_chance_that_pays(costs: Costs, chance: float) -> None:
    """Vector D: with an error of 1, a fallback of 0.05 and 8 % of its answers wrong."""
    found = only(calibrated(400), costs=costs, risk=0.3, force=Gate(0.7, "probability")).economy

    assert found is not None
    assert found.chance == pytest.approx(chance)
    for point in found.points.values():
        asked = 400 - point.accepted
        cost = point.errors * costs.error
        cost += asked * (costs.fallback + costs.fallback_error * costs.error)
        assert point.cost == pytest.approx(cost / 400)
    assert set(found.points) == {"in force", "cheapest", "certified", "used"}


def test_item_9_the_gate_in_force_is_counted_on_its_own_scale() -> None:
    """A reported 0.4 is a probability of 0.8 here: a raw comparison would mix them up."""
    rows = calibrated(100)

    found = only(rows, costs=Costs(1, 0.1), force=Gate(0.4, "reported")).economy

    assert found is not None
    point = found.points["in force, 0.4 reported"]
    assert point.threshold is None
    assert point.accepted == sum((one.reported or 0.0) >= 0.4 for one in rows)


@pytest.mark.parametrize(("fallback", "stricter"), [(0.02, True), (0.9, False)])
def test_item_9_the_stricter_threshold_is_used(fallback: float, *, stricter: bool) -> None:
    found = only(calibrated(600), costs=Costs(1, fallback), risk=0.3)

    certified = next(one for one in found.levels if one.alpha == 0.3)
    assert found.economy is not None
    assert certified.minimum is not None
    assert found.economy.stricter is stricter
    assert found.used.minimum is not None
    assert found.used.minimum >= max(certified.minimum, found.economy.optimal)
    assert (found.used == certified) is not stricter
    assert found.used.accepted <= certified.accepted
    assert found.used.bound <= 0.3


def test_item_9_what_costs_demand_is_certified_by_itself_or_not_at_all() -> None:
    """Forty rows that are worse than the rest hide behind the promise of the rest."""
    rows = [chosen(n, 0.99, n >= 4) for n in range(40)]
    rows += [chosen(n, 0.9 + 0.0001 * (n % 500), n % 60) for n in range(40, 900)]

    plain, dear = only(rows), only(rows, costs=Costs(1, 0.02))

    assert plain.certified
    assert dear.economy is not None
    assert dear.economy.stricter
    assert dear.economy.optimal > 0.95
    assert not dear.certified
    assert "nothing there is certified" in dear.used.why
    assert "used" not in dear.economy.points


@given(st.integers(0, 10_000), st.floats(0.4, 1.0))
@settings(max_examples=15, deadline=None)
def test_item_9_a_certified_threshold_from_somewhere_on_keeps_its_bound(
    seed: int, least: float
) -> None:
    dice = random.Random(seed)
    confidences = [dice.random() for _ in range(300)]
    right = [dice.random() < 0.5 + sure / 2 for sure in confidences]

    free, from_it = certify(confidences, right, 0.2), certify(confidences, right, 0.2, 0.05, least)

    if isinstance(from_it, Certified):
        assert isinstance(free, Certified)
        assert from_it.threshold >= max(least, free.threshold)
        assert from_it.bound <= 0.2
    else:
        assert from_it.reason


def test_item_9_costs_narrow_both_sides_of_a_predicate() -> None:
    found = only(rail(1000), costs=Costs(1, 0.01), risk=0.2)

    certified = next(one for one in found.levels if one.alpha == 0.2)
    used = found.used
    assert used.no_below is not None
    assert used.yes_from is not None
    assert used.no_below < (certified.no_below or 0.0)
    assert used.yes_from > (certified.yes_from or 1.0)


def test_item_9_recalibrated_chances_move_the_raw_threshold() -> None:
    """Who is sure of too much has to be surer than the chance that pays."""
    found = only(calibrated(400, over=0.25), costs=Costs(1, 0.3))

    assert found.remap.kept
    assert found.economy is not None
    assert found.economy.optimal > found.economy.chance


# --- items 10 and 11 ----------------------------------------------------------------------


def test_item_10_flags_the_slice_that_breaks_the_budget() -> None:
    """One tenant of three is wrong in 30 % of what is decided; the others never are."""
    rows = [
        chosen(n, 0.9, n % 3 or n % 10 < 7, slices={"tenant": f"t{n % 3}"}, length=n % 90)
        for n in range(900)
    ]

    found = only(rows, Asked(fields=("tenant",)), risk=0.15).slices

    flagged = {(one.name, one.value) for one in found.slices if one.flagged}
    bad = next(one for one in found.slices if one.value == "t0")
    assert flagged == {("tenant", "t0")}
    assert (bad.decided, bad.errors) == (300, 90)
    assert bad.low > 0.15
    assert {one.name for one in found.slices} == {"tenant", "length"}
    assert [one.value for one in found.slices if one.name == "length"] == [
        "short",
        "medium",
        "long",
    ]


def test_item_10_one_unlucky_slice_of_many_is_not_flagged() -> None:
    """Alone its p-value would be below 5 %; among twelve it is chance (Holm)."""
    rows = [
        chosen(n, 0.9, n % 12 or (n // 12) % 4, slices={"shop": f"s{n % 12}"}) for n in range(480)
    ]
    errors, decided = 10, 40

    found = only(rows, Asked(fields=("shop",)), risk=0.15).slices

    worst = max(found.slices, key=lambda one: one.errors)
    assert (worst.errors, worst.decided) != (0, 0)
    alone = 1 - binomial_cdf(worst.errors - 1, worst.decided, 0.15)
    assert (worst.errors, worst.decided) == (errors, decided)
    assert 0.05 / 12 < alone < 0.10
    assert not any(one.flagged for one in found.slices)


def test_item_10_says_which_slices_cannot_be_made() -> None:
    skipped = only(calibrated(60), Asked(fields=("tenant",))).slices.skipped

    assert set(skipped) == {"language", "length", "options", "tenant"}
    assert "DECISION_JOURNAL_CONTENT=full" in skipped["length"]
    assert "'en'" in skipped["language"]


def test_item_11_where_thresholds_lie_on_rows_drawn_anew() -> None:
    rows = calibrated(160)

    found = only(rows, risk=0.3, draws=80).stability

    (spread,) = found.spreads
    assert found.draws == 80
    assert spread.name == "minimum"
    assert spread.low is not None
    assert spread.high is not None
    assert spread.low <= (spread.middle or 0.0) <= spread.high
    assert spread.risk is not None
    assert 0.0 <= spread.risk < 0.4
    assert only(rows, risk=0.3, draws=80).stability == found
    assert only(rows, risk=0.3, draws=80, seed=7).stability != found


def test_item_11_what_was_not_asked_again_is_not_measured() -> None:
    rows = calibrated(60)
    key = rows[0].key("probability")

    plain = only(rows).stability
    asked = only(rows, Asked(repeated={key: share(3, 60)}, shuffled={key: share(6, 60)})).stability

    assert (plain.repeated, plain.shuffled) == (None, None)
    assert asked.repeated is not None
    assert asked.shuffled is not None
    assert (asked.repeated.count, asked.shuffled.count) == (3, 6)


# --- item 12: the file --------------------------------------------------------------------


def test_item_12_a_certificate_says_all_that_it_belongs_to(tmp_path: Path) -> None:
    found = only(calibrated(200), risk=0.3, seed=5)
    file = tmp_path / "thresholds.json"
    file.write_bytes(written(merged(Thresholds(), [found])))

    (one,) = read(file).certificates

    assert one == found.certificate
    assert (one.key.template, one.key.options) == (TEAM.template, TEAM.options)
    assert (one.key.provider, one.key.model, one.key.scale) == ("jev", "jev-1", "probability")
    assert (one.date, one.seed, one.delta, one.rows, one.labels) == (DATE, 5, 0.05, 200, "gold")
    assert one.used is not None
    assert one.used.minimum is not None


def test_item_12_the_digest_is_of_the_rows_whatever_their_order() -> None:
    rows = calibrated(60)
    other = [*rows[:-1], chosen(59, 0.123)]

    assert only(rows).certificate.data == only(rows[::-1]).certificate.data
    assert only(rows).certificate.data != only(other).certificate.data


def test_item_12_a_threshold_stays_on_raw_confidence() -> None:
    """A recalibrator is kept beside it and moves it not."""
    found = only(calibrated(800, over=0.2), risk=0.2)

    assert found.certificate.recalibrator is not None
    raw = {one.probability for one in calibrated(800, over=0.2)}
    assert all(level.minimum in raw for level in found.levels if level.minimum is not None)


def test_item_12_merging_keeps_other_keys_and_replaces_equal_ones() -> None:
    team, toxic = only(calibrated(100)), only(rail(100))
    again = only(calibrated(100, seed=2))

    file = merged(merged(Thresholds(), [team, toxic]), [again])

    assert set(file.certificates) == {again.certificate, toxic.certificate}


def test_item_12_refused_questions_are_not_written() -> None:
    assert merged(Thresholds(), results(calibrated(10))).certificates == ()


# --- item 13: on new labels ---------------------------------------------------------------


def checked(certificate: Certificate, rows: Sequence[Sample]) -> list[str]:
    return [one.verdict for one in check(certificate, against(certificate, rows))]


def against(certificate: Certificate, rows: Sequence[Sample], **given_: Any) -> Against:
    held = {"labels": certificate.labels, "certified": frozenset({certificate.key.unscaled})}
    return Against(**{"samples": by_key(rows, certificate.key.scale), **held, **given_})


def test_item_13_a_promise_that_holds_and_one_that_breaks() -> None:
    certificate = only([chosen(n, 0.9) for n in range(300)]).certificate

    assert checked(certificate, [chosen(n, 0.9, n % 50) for n in range(300)]) == ["holds"]
    assert checked(certificate, [chosen(n, 0.9, n % 8) for n in range(300)]) == ["broken"]
    assert checked(certificate, [chosen(n, 0.9) for n in range(30)]) == ["too few"]
    assert checked(certificate, [chosen(n, 0.9, 0) for n in range(9)]) == ["broken"]
    assert checked(certificate, []) == ["no rows"]


def test_item_13_noise_breaks_nothing() -> None:
    """7 of 100 is above 5 %, and no evidence of it."""
    certificate = only([chosen(n, 0.9) for n in range(300)]).certificate

    assert checked(certificate, [chosen(n, 0.9, n >= 7) for n in range(100)]) == ["holds"]


def test_item_13_what_is_below_the_threshold_does_not_count() -> None:
    certificate = only([chosen(n, 0.9) for n in range(300)]).certificate
    new = [chosen(n, 0.9) for n in range(100)]

    assert checked(certificate, [*new, *(chosen(100 + n, 0.89, 0) for n in range(90))]) == ["holds"]


def test_item_13_both_sides_of_a_predicate_are_checked() -> None:
    certificate = only(rail(1000)).certificate
    alarms = [held(n, 0.99, truth=n % 2 == 0) for n in range(400)]

    assert checked(certificate, rail(1000, seed=9)) == ["holds", "holds"]
    assert checked(certificate, [*alarms, *rail(300, seed=8)]) == ["holds", "broken"]


def test_item_13_rows_of_another_key_prove_nothing() -> None:
    certificate = only([chosen(n, 0.9) for n in range(300)]).certificate
    other = [chosen(n, 0.9, 0, model="jev-2") for n in range(300)]

    assert checked(certificate, other) == ["none matches"]


def test_item_13_where_nothing_was_certified_there_is_nothing_to_check() -> None:
    certificate = only([chosen(n, 0.9, n % 2) for n in range(300)]).certificate

    assert checked(certificate, calibrated(100)) == ["nothing certified"]


def test_item_13_only_labels_after_the_certificates_day_are_new() -> None:
    rows = [chosen(n, 0.9, 1, told=86_400.0 * n) for n in range(4)]

    assert [day(one.told) for one in since(rows, "1970-01-02")] == ["1970-01-03", "1970-01-04"]


# --- keys are never mixed ----------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "jev-2"},
        {"language": "pt"},
        {"form": "shared:0123456789ab"},
        {"asked": QuestionKey("team", "fedcba987654", TEAM.options)},
        {"asked": QuestionKey("team", TEAM.template, "open:0123456789ab:16")},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_rows_whose_keys_differ_get_certificates_of_their_own(changed: dict[str, Any]) -> None:
    """One in the same words, of the same model: anything else is another question."""
    rows = calibrated(60) + [
        msgspec.structs.replace(one, id=f"f{one.id[1:]}", **changed) for one in calibrated(40)
    ]

    found = results(rows)

    assert sorted(type(one).__name__ for one in found) == ["Calibration", "Refused"]
    assert sorted(_rows(one) for one in found) == [40, 60]


def _rows(one: Result) -> int:
    return one.rows if isinstance(one, Refused) else one.counts.rows


def test_a_row_without_an_answer_belongs_to_the_model_that_served_before_it() -> None:
    """What times out is known by its configured name only; it is still counted, once."""
    old = [chosen(n, 0.9, 1, model="jev-1") for n in range(50)]
    new = [chosen(100 + n, 0.9, 1, model="jev-2") for n in range(50)]
    gone = [silent(n, Reason.TIMEOUT, model="jev-latest") for n in (50, 99, 151)]

    found = by_key([*old, *new, *gone], "probability")

    assert {key.model: len(rows) for key, rows in found.items()} == {"jev-1": 52, "jev-2": 51}


def test_without_a_distribution_the_other_scale_is_named() -> None:
    rows = [msgspec.structs.replace(one, probability=None) for one in calibrated(60)]

    with pytest.raises(SetupError, match="--scale reported"):
        results(rows)

    assert only(rows, scale="reported").key.scale == "reported"


def test_the_reported_scale_is_the_providers_own_number() -> None:
    found = only([chosen(n, 0.9, 1) for n in range(300)], scale="reported")

    assert found.used.minimum == 0.45
    with pytest.raises(SetupError, match="--scale probability"):
        results([chosen(n, 0.9, 1, reported=None) for n in range(60)], scale="reported")


def test_an_answer_without_the_number_is_never_accepted() -> None:
    rows = [chosen(n, 0.9) for n in range(300)]
    rows += [chosen(300 + n, 0.9, probability=None) for n in range(100)]

    found = only(rows)

    assert found.counts.unsure == 100
    assert found.used.minimum == 0.9
    assert found.used.coverage == 0.75


# --- from trails to samples ---------------------------------------------------------------


def answered(value: Any, confidence: float = 0.9) -> Answer:
    spread = {"true": confidence, "false": 1 - confidence} if isinstance(value, bool) else None
    return Answer(
        value=value,
        confidence=confidence,
        source="probability",
        probability=confidence,
        distribution=spread or {str(value): confidence},
    )


def attempt(provider: str = "jev", **given_: Any) -> Attempt:
    told = {"model": "jev-1", "answers": {"team": answered("billing")}, "confidence": 0.9}
    return Attempt(provider=provider, **{**told, **given_})


def trail(  # what a trail is made of
    n: int,
    *,
    answers: dict[str, Answer] | None = None,
    live: Sequence[Attempt] = (),
    shadows: Sequence[tuple[float, Attempt]] | None = None,
    feedback: Sequence[tuple[float, Any, Any]] = (),
    label: Any = None,
    outcome: Any = "tech",
    variant: str = "current",
    keys: dict[str, QuestionKey] | None = None,
    kept: Kept | None = None,
) -> Trail:
    """A decision of `current`, with an answer of `jev` beside it."""
    of = f"{n:032x}"
    record = Record(
        id=of, at=1000.0 + n, point="ROUTER", variant=variant, provider="current", outcome=outcome,
        attempts=(*live, Attempt(provider="current")),
    )  # fmt: skip
    asked = {"team": TEAM} if keys is None else keys
    row = DecisionRow(record=record, language="en", keys=asked, kept=kept or Kept())
    default = [(1001.0 + n, attempt(answers=answers or {"team": answered("billing")}))]
    beside = default if shadows is None and not live else shadows or ()
    made = tuple(
        ShadowRow(
            shadow=Shadow(
                id=f"{n * 10 + i:032x}",
                of=of,
                at=at,
                point="ROUTER",
                provider=one.provider,
                attempt=one,
            ),
            keys=asked,
            language="en",
        )
        for i, (at, one) in enumerate(beside)
    )
    said = [(2000.0, None, label)] if label is not None else feedback
    told = tuple(
        FeedbackRow(id=f"{i:032x}", of=of, at=at, right=right, label=gold)
        for i, (at, right, gold) in enumerate(said)
    )
    return Trail(decision=row, shadows=made, feedback=told)


def one_of(made: Trail, **wanted: Any) -> Sample:
    (found,) = collect([made], Wanted("jev", **wanted)).samples
    return found


def test_a_decision_counts_once_with_the_latest_answer() -> None:
    """Live, in the shadow and replayed: what the provider says now is what counts."""
    later = attempt(answers={"team": answered("tech", 0.8)}, model="jev-2")
    made = trail(1, live=[attempt()], shadows=[(1500.0, later), (1100.0, attempt())], label="tech")

    found = one_of(made)

    assert (found.value, found.model, found.right, found.at) == ("tech", "jev-2", True, 1500.0)


FEEDBACK = {
    "a label": ([(1.0, None, "billing")], ("billing", True)),
    "a wrong answer": ([(1.0, None, "tech")], ("tech", False)),
    "the latest counts": ([(5.0, None, "tech"), (1.0, None, "billing")], ("tech", False)),
    "the decision was right": ([(1.0, True, None)], ("tech", False)),
    "a label beside right": ([(1.0, False, "billing")], ("billing", True)),
    "only wrong": ([(1.0, False, None)], (None, False)),
    "nothing": ([], (None, None)),
}


@pytest.mark.parametrize(("feedback", "expected"), FEEDBACK.values(), ids=FEEDBACK)
def test_feedback_becomes_a_label(
    feedback: list[tuple[float, Any, Any]], expected: tuple[Any, Any]
) -> None:
    """`current` decided tech, `jev` says billing."""
    found = one_of(trail(1, feedback=feedback))

    assert (found.gold, found.right) == expected


def test_the_same_answer_as_a_wrong_decision_is_wrong() -> None:
    same = trail(1, feedback=[(1.0, False, None)], outcome="billing")
    other = trail(2, feedback=[(1.0, False, None)])

    found = collect([same, other], Wanted("jev"))

    assert [(one.right, one.doubtful) for one in found.samples] == [(False, False), (False, True)]
    assert found.wrong_only == 1


def test_the_opposite_of_a_wrong_truth_is_right() -> None:
    made = trail(
        1, answers={"team": answered(value=True)}, outcome=False, feedback=[(1.0, False, None)]
    )

    found = one_of(made)

    assert (found.gold, found.right) == (True, True)


def test_one_wrong_answer_of_several_leaves_each_in_doubt() -> None:
    keys = {"team": TEAM, "toxic": TOXIC}
    answers = {"team": answered("tech"), "toxic": answered(value=True)}
    made = trail(
        1, answers=answers, keys=keys, outcome={"team": "tech", "toxic": True},
        feedback=[(1.0, False, None)],
    )  # fmt: skip

    found = collect([made], Wanted("jev"))

    assert [(one.right, one.doubtful) for one in found.samples] == [(False, True)] * 2
    assert found.wrong_only == 1


def test_a_label_by_question_and_a_bare_one() -> None:
    """A bare label is about the one question that has to be believed."""
    keys = {"team": TEAM, "toxic": TOXIC}
    answers = {"team": answered("tech"), "toxic": answered(value=True)}
    point = DecisionPoint(
        name="ROUTER",
        questions={
            "en": {
                "team": Choice("Who?", ["tech", "billing"]),
                "toxic": Predicate("Is it?", advisory=True),
            }
        },
    )
    apart = trail(1, answers=answers, keys=keys, label={"team": "tech", "toxic": False})
    bare = trail(2, answers=answers, keys=keys, label="tech")

    both = collect([apart], Wanted("jev")).samples
    assert [(one.name, one.right) for one in both] == [("team", True), ("toxic", False)]
    assert collect([bare], Wanted("jev")).unclear == 1
    gated = collect([bare], Wanted("jev", point=point)).samples
    assert [(one.name, one.right) for one in gated] == [("team", True)]


def test_words_for_truths_are_truths() -> None:
    for label, right in (("yes", True), ("TRUE", True), (1, True), ("no", False), ("0", False)):
        assert one_of(trail(1, answers={"team": answered(value=True)}, label=label)).right is right


def test_against_current_only_where_it_was_asked_in_any_case() -> None:
    """As a fallback it saw only what somebody was unsure of: such rows stand for no others."""
    beside = trail(1, outcome="billing")
    other = trail(2)
    unsure = attempt(reason=Reason.LOW_CONFIDENCE)
    fell = trail(3, live=[unsure], variant="jev")
    foreign = trail(4, live=[attempt("chat")], shadows=[(9.0, attempt())], variant="chat")

    found = collect([beside, other, fell, foreign], Wanted("jev", from_current)).samples

    assert [one.right for one in found] == [True, False, None, None]


def test_a_file_of_labels_goes_before_feedback() -> None:
    made = trail(1, label="tech")

    assert one_of(made, teller=from_labels({made.decision.id: "billing"})).right is True
    assert one_of(made, teller=from_labels({"0" * 32: "billing"})).labelled is False
    assert one_of(made, teller=from_feedback).right is False


def test_what_was_never_asked_or_is_not_known_is_counted() -> None:
    unasked = trail(1, shadows=[(9.0, attempt("chat"))])
    unplaced = trail(2, keys={})

    found = collect([unasked, unplaced, trail(3)], Wanted("jev"))

    assert (found.decisions, found.unasked, found.unplaced, len(found.samples)) == (3, 1, 1, 1)


def test_a_question_that_was_not_live_is_no_sample() -> None:
    made = trail(1, answers={"team": Answer(value=None)})

    assert collect([made], Wanted("jev")).samples == ()


def test_a_failure_is_a_sample_with_its_reason() -> None:
    gone = attempt(answers={}, reason=Reason.TIMEOUT)

    found = one_of(trail(1, shadows=[(9.0, gone)], label="tech"))

    assert (found.answered, found.labelled, found.reason) == (False, True, Reason.TIMEOUT)


def test_fields_of_a_kept_state_tell_rows_apart() -> None:
    kept = Kept(subject="s", state='{"tenant": "acme", "text": "x", "list": [1]}', structured=True)

    found = one_of(trail(1, kept=kept), fields=("tenant", "list", "gone"))

    assert found.slices == {"tenant": "acme", "options": "1"}
    assert (found.subject, found.length) == ("s", len(kept.state or ""))


def test_the_key_is_the_one_that_acceptance_looks_for() -> None:
    """A point of one language is asked in that, whatever is set."""
    point = DecisionPoint(
        name="ROUTER", questions={"": {"team": Choice("Who?", ["tech", "billing"])}}
    )
    keys = dict(keys_of(point, point.questions[""], "pt"))

    found = one_of(trail(1, keys=keys), point=point)

    assert found.key("probability").language == ""
    assert found.key("probability").template == keys["team"].template


@pytest.mark.parametrize(
    ("levels", "value", "label", "right"),
    [
        (["low", "mid", "high"], 1.2, 1, True),
        (["low", "mid", "high"], 1.6, "mid", False),
        (["0", "5", "10"], 4.0, 5, True),
        (["10", "5", "0"], 4.0, "5", True),
    ],
)
def test_scores_are_right_where_they_come_to_the_labels_level(
    levels: list[str], value: float, label: Any, *, right: bool
) -> None:
    """Also without the question: levels are numbers, or their places are."""
    spread = dict.fromkeys(levels, 1 / 3)
    answer = Answer(value=value, confidence=0.4, probability=1 / 3, distribution=spread)

    assert one_of(trail(1, answers={"team": answer}, label=label)).right is right
