"""The statistics against numbers that were computed elsewhere, and against their reference."""

# ruff: noqa: N802 - a vector is known by its capital letter

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pointsman.gateway.evaluation.statistics import (
    certifying,
    comparing,
    isotonic,
    measures,
    numerics,
    recalibrating,
    ruling,
    selective,
)
from pointsman.gateway.evaluation.statistics.certifying import Certified, NotCertified

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "vectors" / "evaluation.json").read_text("utf-8")
)
A, B, C, D, E, F = (VECTORS[letter] for letter in "ABCDEF")

CONFIDENCES: list[float] = A["conf"]
RIGHT = [bool(each) for each in A["ok"]]
CENTS = [round(0.99 - 0.01 * step, 2) for step in range(50)]  # 0.99 … 0.50, as in vector E


def near(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


# Calibration and selection


def test_vector_A_accuracy_and_mean_confidence() -> None:
    assert sum(RIGHT) / len(RIGHT) == near(A["accuracy"])
    assert measures.accuracy(A["ok"], [1] * len(RIGHT)) == near(A["accuracy"])
    assert sum(CONFIDENCES) / len(CONFIDENCES) == near(A["mean_conf"])


def test_vector_A_calibration_errors() -> None:
    widths = measures.bins_equal_width(CONFIDENCES, RIGHT, 10)

    assert measures.ece(widths) == near(A["ece10"])
    assert measures.mce(widths) == near(A["mce10"])
    assert measures.ece(measures.bins_equal_mass(CONFIDENCES, RIGHT, 5)) == near(A["ece_mass5"])
    assert measures.brier(CONFIDENCES, RIGHT) == near(A["brier_conf"])


def test_vector_A_risk_coverage() -> None:
    points = selective.risk_coverage(CONFIDENCES, RIGHT)

    assert [list(point) for point in points[:5]] == [near(row) for row in A["rc_first5"]]
    assert len(points) == len(CONFIDENCES)


def test_vector_A_areas() -> None:
    assert selective.aurc(CONFIDENCES, RIGHT) == near(A["aurc"])
    assert selective.aurc_optimal(20, 6) == near(A["aurc_opt"])
    assert selective.excess(CONFIDENCES, RIGHT) == near(A["eaurc"])


def test_vector_A_isotonic() -> None:
    levels = isotonic.isotonic(CONFIDENCES, RIGHT)

    assert [list(level) for level in levels] == [near(row) for row in A["isotonic"]]


# Probabilities and recalibration


def test_vector_B_proper_scores() -> None:
    assert measures.brier_multi(B["rows"], B["gold"]) == near(B["brier_multi"])
    assert measures.log_loss(B["rows"], B["gold"]) == near(B["log_loss"])
    assert measures.rps([0.1, 0.2, 0.4, 0.3], 2) == near(B["rps"])


def test_vector_B_temperature() -> None:
    """The vector's temperature comes from a search by losses, which ends √ε from the minimum."""
    value, before, after = B["temperature"]

    found = recalibrating.temperature(B["rows"], B["gold"])

    assert found.value == pytest.approx(value, rel=1e-7)
    assert (found.before, found.after) == near((before, after))


def test_vector_C_brier_and_platt() -> None:
    truths = [bool(each) for each in C["y"]]

    assert measures.brier(C["p"], truths) == near(C["brier"])
    assert recalibrating.platt(C["p"], truths) == near(C["platt"])


# Exact bounds


@pytest.mark.parametrize("case", D["cp_upper"])
def test_vector_D_exact_upper(case: str) -> None:
    counts, delta = case.split("@")
    errors, n = map(int, counts.split("/"))

    assert numerics.exact_upper(errors, n, float(delta)) == near(D["cp_upper"][case])


@pytest.mark.parametrize("case", D["binom_p"])
def test_vector_D_binomial(case: str) -> None:
    counts, alpha = case.split(",alpha=")
    errors, n = map(int, counts.split("/"))

    assert numerics.binomial_cdf(errors, n, float(alpha)) == near(D["binom_p"][case])


@pytest.mark.parametrize("case", D["labels_no_error"])
def test_vector_D_labels_needed(case: str) -> None:
    alpha, delta = map(float, case.split(","))

    assert certifying.labels_needed(alpha, delta) == D["labels_no_error"][case]


def test_vector_D_conformal_quantile() -> None:
    scores = [round(0.05 * step, 2) for step in range(1, 20)]

    assert ruling.conformal_quantile(scores, 0.1) == near(D["conformal_q_n19_a10"])
    assert ruling.conformal_quantile(scores[:8], 0.1) == D["conformal_q_n8_a10"] == math.inf


def test_vector_D_cost_threshold() -> None:
    plain, doubtful = D["cost_threshold"].values()

    assert ruling.cost_threshold(1.0, 0.05) == near(plain)
    assert ruling.cost_threshold(1.0, 0.05, 0.08) == near(doubtful)


# A thousand rows, and the rules for a threshold


def drawn() -> tuple[list[float], list[bool]]:
    dice = random.Random(1)
    confidences, right = [], []
    for _ in range(1000):
        confidence = 0.5 + 0.5 * dice.random()
        right.append(dice.random() < min(1.0, confidence + 0.04))
        confidences.append(round(confidence, 3))
    return confidences, right


ROWS = drawn()
BUDGETS = [0.05, 0.1, 0.15]
each_budget = pytest.mark.parametrize("alpha", BUDGETS)


def expected(alpha: float) -> dict[str, Any]:
    found: dict[str, Any] = E[f"alpha={alpha}"]
    return found


def test_vector_E_measures() -> None:
    assert sum(ROWS[1]) / 1000 == near(E["accuracy"])
    assert measures.ece(measures.bins_equal_width(*ROWS)) == near(E["ece10"])
    assert selective.aurc(*ROWS) == near(E["aurc"])


@each_budget
def test_vector_E_learn_then_test(alpha: float) -> None:
    want = expected(alpha)

    found = certifying.ltt(*ROWS, alpha, 0.05, 1, CENTS)

    if want["ltt"] is None:
        assert isinstance(found, NotCertified)
    else:
        assert isinstance(found, Certified)
        got = (found.threshold, found.accepted, found.errors)
        assert got == near((want["ltt"], want["ltt_accepted"], want["ltt_errors"]))


@each_budget
def test_vector_E_the_last_test(alpha: float) -> None:
    """Its p-value is printed to five digits."""
    *counts, p = expected(alpha)["ltt_last"]

    last = certifying.fixed_sequence(*ROWS, alpha, 0.05, 1, CENTS)[-1]

    assert list(last[:3]) == near(counts)
    assert last.p == pytest.approx(p, abs=5e-6)


@each_budget
def test_vector_E_guaranteed_risk(alpha: float) -> None:
    """The vector cuts through equal confidences, wrong ones first; told apart, they agree."""
    rows = sorted(zip(*ROWS, strict=True))
    apart = [confidence + place * 1e-12 for place, (confidence, _) in enumerate(rows)]

    found = ruling.sgr([min(1.0, each) for each in apart], [y for _, y in rows], alpha, 0.05)

    assert isinstance(found, Certified)
    got = [found.threshold, found.accepted, found.errors, found.bound]
    assert got == pytest.approx(expected(alpha)["sgr"], abs=2e-9)


def test_guaranteed_risk_accepts_equal_confidences_together() -> None:
    """At 0.91 one more wrong row is accepted than the vector counts: that bound is above 5 %."""
    found = ruling.sgr(*ROWS, 0.05, 0.05)

    assert isinstance(found, Certified)
    assert (found.threshold, found.accepted, found.errors) == (0.911, 190, 2)
    assert selective.risk_coverage(*ROWS)[-1].accepted == 1000
    at = selective.points_at(*ROWS, [0.91])[0]
    assert (at.accepted, at.errors) == (192, 3)
    assert numerics.exact_upper(3, 192, 0.05 / 10) > 0.05


@each_budget
def test_vector_E_conformal_risk(alpha: float) -> None:
    assert ruling.conformal_risk(*ROWS, alpha, CENTS) == near(expected(alpha)["crc"])


@each_budget
def test_vector_E_measured_rule(alpha: float) -> None:
    found = ruling.measured_rule(*ROWS, alpha)

    assert found is not None
    got = [found.threshold, found.accepted, found.errors]
    assert got == near(expected(alpha)["empirical"])


# Comparing two providers


def test_vector_F_sample_ratio() -> None:
    cases: dict[str, tuple[list[int], list[float]]] = {
        "5000/5210": ([5000, 5210], [0.5, 0.5]),
        "9020/980 at 90/10": ([9020, 980], [0.9, 0.1]),
        "5000/5400": ([5000, 5400], [0.5, 0.5]),
    }

    assert {name: comparing.sample_ratio(*case) for name, case in cases.items()} == {
        name: near(tuple(pair)) for name, pair in F["srm"].items()
    }


@pytest.mark.parametrize("case", F["mcnemar"])
def test_vector_F_mcnemar(case: str) -> None:
    only_a, only_b = map(int, case.split(","))

    assert comparing.mcnemar(only_a, only_b) == near(tuple(F["mcnemar"][case]))


def test_vector_F_kappa() -> None:
    assert comparing.kappa([[50, 5], [10, 35]]) == near(tuple(F["kappa"]))


def test_vector_F_mixture_test() -> None:
    cases = [(0.02, 0.5, 1000, 1e-4), (0.05, 0.5, 1000, 1e-4), (0.05, 0.5, 4000, 1e-4)]

    assert [comparing.msprt_p(*case) for case in cases] == near(F["msprt"])


def test_vector_F_confidence_radius() -> None:
    found = [comparing.confidence_radius(n, 0.25, 1e-3, 0.05) for n in (100, 1000, 10_000)]

    assert found == near(F["cs_radius"])


def test_vector_F_cuped() -> None:
    found = comparing.cuped([3, 5, 4, 6, 8, 7, 9, 10], [1, 2, 2, 3, 4, 4, 5, 6])

    assert found == near(tuple(F["cuped"]))


@pytest.mark.parametrize("case", F["wilson"])
def test_vector_F_wilson(case: str) -> None:
    successes, n = map(int, case.split("/"))

    assert numerics.wilson(successes, n) == near(tuple(F["wilson"][case]))


def test_pairs_for_90_against_92_percent() -> None:
    """1,175 decisions, 6 % of them with exactly one right."""
    assert comparing.more_pairs_needed(0.06, 0.02) == 1175
    assert comparing.more_pairs_needed(0.06, -0.02, seen=1000) == 175
    assert comparing.more_pairs_needed(0.06, 0.02, seen=5000) == 0
    assert comparing.more_pairs_needed(0.06, 0.0) is None


# The reference, on any input


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    data = os.environ.get("POINTSMAN_DATA")
    path = Path(data).parent / "spec" / "evaluation_reference.py" if data else None
    if path is None or not path.is_file():
        pytest.skip("no reference beside the folder that POINTSMAN_DATA names")
    spec = importlib.util.spec_from_file_location("evaluation_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module


any_input = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
shares = st.floats(0.001, 0.999)
deltas = st.floats(0.005, 0.5)
cents = st.integers(0, 100).map(lambda cent: cent / 100)
judged = st.lists(st.tuples(cents, st.booleans()), min_size=1, max_size=60)
Judged = list[tuple[float, bool]]


def columns(rows: Judged) -> tuple[list[float], list[bool]]:
    return [confidence for confidence, _ in rows], [right for _, right in rows]


@given(st.floats(0.5, 300), st.floats(0.5, 300), st.floats(0, 1))
@any_input
def test_the_reference_has_the_same_beta_function(
    reference: ModuleType, a: float, b: float, x: float
) -> None:
    assert numerics.beta_inc(a, b, x) == near(reference.beta_inc(a, b, x))


@given(st.integers(-1, 400), st.integers(1, 400), shares, deltas)
@any_input
def test_the_reference_has_the_same_bounds(
    reference: ModuleType, k: int, n: int, p: float, delta: float
) -> None:
    assert numerics.binomial_cdf(k, n, p) == near(reference.binom_cdf(k, n, p))
    errors = min(max(0, k), n)
    upper = numerics.exact_upper(errors, n, delta)
    assert upper == near(reference.clopper_pearson_upper(errors, n, delta))
    assert numerics.wilson(errors, n, delta) == near(reference.wilson(errors, n, delta))
    assert certifying.labels_needed(p, delta) == reference.labels_needed_no_error(p, delta)


@given(shares, st.floats(-8, 8), st.floats(0.2, 60), st.floats(0, 150), st.integers(1, 40))
@any_input
def test_the_reference_has_the_same_distributions(
    reference: ModuleType, p: float, z: float, a: float, x: float, degrees: int
) -> None:
    assert numerics.normal_quantile(p) == near(reference.normal_ppf(p))
    assert numerics.normal_cdf(z) == near(reference.normal_cdf(z))
    assert numerics.gamma_upper(a, x) == near(reference.gamma_q(a, x))
    assert numerics.chi2_sf(x, degrees) == near(reference.chi2_sf(x, degrees))


@given(judged, st.integers(1, 15))
@any_input
def test_the_reference_has_the_same_bins(reference: ModuleType, rows: Judged, bins: int) -> None:
    confidences, right = columns(rows)
    for ours, theirs in (
        (measures.bins_equal_width, reference.bins_equal_width),
        (measures.bins_equal_mass, reference.bins_equal_mass),
    ):
        found, want = ours(confidences, right, bins), theirs(confidences, right, bins)
        assert [tuple(each) for each in found] == [near(each) for each in want]
        assert measures.ece(found) == near(reference.ece(want))
        assert measures.mce(found) == near(reference.mce(want))
    assert measures.brier(confidences, right) == near(reference.brier(confidences, right))


@given(judged)
@any_input
def test_the_reference_has_the_same_curves(reference: ModuleType, rows: Judged) -> None:
    confidences, right = columns(rows)
    points = selective.risk_coverage(confidences, right)

    assert [tuple(point) for point in points] == [
        near(each) for each in reference.risk_coverage(confidences, right)
    ]
    assert selective.aurc(confidences, right) == near(reference.aurc(confidences, right))
    errors = len(right) - sum(right)
    best = reference.aurc_optimal(len(right), errors)
    assert selective.aurc_optimal(len(right), errors) == near(best)
    levels = isotonic.isotonic(confidences, right)
    assert [tuple(level) for level in levels] == [
        near(each) for each in reference.isotonic(confidences, right)
    ]


@given(judged, st.floats(0.02, 0.6), deltas, st.integers(1, 10))
@any_input
def test_the_reference_chooses_the_same_thresholds(
    reference: ModuleType, rows: Judged, alpha: float, delta: float, start: int
) -> None:
    edge = alpha * (len(rows) + 1)
    assume(abs(edge - round(edge)) > 1e-9)  # there the rounding of either decides
    confidences, right = columns(rows)
    chosen, trace = reference.ltt_threshold(confidences, right, alpha, delta, CENTS, start)
    assume(all(abs(p - delta) > 1e-9 for *_, p in trace))  # there, too

    steps = certifying.fixed_sequence(confidences, right, alpha, delta, start, CENTS)
    found = certifying.ltt(confidences, right, alpha, delta, start, CENTS)

    assert [tuple(step) for step in steps] == [near(each) for each in trace]
    assert (found.threshold if isinstance(found, Certified) else None) == chosen
    risk = ruling.conformal_risk(confidences, right, alpha, CENTS)
    assert risk == reference.crc_threshold(confidences, right, alpha, CENTS)


@given(st.lists(st.tuples(cents, st.booleans()), min_size=2, max_size=60, unique_by=lambda r: r[0]))
@any_input
def test_the_reference_guarantees_the_same_risk(reference: ModuleType, rows: Judged) -> None:
    found = ruling.sgr(*columns(rows), 0.3, 0.1)
    want = reference.sgr_threshold(*columns(rows), 0.3, 0.1)

    got = None
    if isinstance(found, Certified):
        got = (found.threshold, found.accepted, found.errors, found.bound)
    assert got == (None if want is None else near(want))


@given(st.lists(cents, max_size=40), st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.25, 0.5]))
@any_input
def test_the_reference_has_the_same_quantile(
    reference: ModuleType, scores: list[float], alpha: float
) -> None:
    rank = (len(scores) + 1) * (1 - alpha)
    assume(rank == round(rank) or abs(rank - round(rank)) > 1e-6)  # an ulp above, it rounds up

    want = reference.conformal_quantile(scores, alpha)
    assert ruling.conformal_quantile(scores, alpha) == want


@given(st.floats(0.1, 10), st.floats(0, 10), st.floats(0, 1))
@any_input
def test_the_reference_has_the_same_costs(
    reference: ModuleType, error: float, fallback: float, wrong: float
) -> None:
    want = max(0.0, reference.cost_threshold(error, fallback, wrong))

    assert ruling.cost_threshold(error, fallback, wrong) == near(want)


weights = st.lists(st.integers(1, 50), min_size=3, max_size=3)


@given(st.lists(st.tuples(weights, st.sampled_from("abc")), min_size=3, max_size=25))
@any_input
def test_the_reference_scores_distributions_alike(
    reference: ModuleType, drawn: list[tuple[list[int], str]]
) -> None:
    rows = [{o: w / sum(ws) for o, w in zip("abc", ws, strict=True)} for ws, _ in drawn]
    gold = [label for _, label in drawn]

    assert measures.brier_multi(rows, gold) == near(reference.brier_multi(rows, gold))
    assert measures.log_loss(rows, gold) == near(reference.log_loss(rows, gold))
    level = "abc".index(gold[0])
    spread = list(rows[0].values())
    assert measures.rps(spread, level) == near(reference.rps(spread, level))
    found = recalibrating.temperature(rows, gold)
    _, before, after = reference.temperature(rows, gold)
    assert (found.before, found.after) == near((before, after))  # a flat loss has many T


def test_the_reference_draws_the_same_line(reference: ModuleType) -> None:
    for seed in range(20):
        dice = random.Random(seed)
        chances = [dice.uniform(0.02, 0.98) for _ in range(200)]
        truths = [dice.random() < 0.2 + 0.5 * chance for chance in chances]

        assert recalibrating.platt(chances, truths) == near(reference.platt(chances, truths))


@given(st.lists(st.integers(1, 5000), min_size=2, max_size=4))
@any_input
def test_the_reference_has_the_same_sample_ratio(reference: ModuleType, counts: list[int]) -> None:
    equal = [1 / len(counts)] * len(counts)

    assert comparing.sample_ratio(counts, equal) == near(reference.srm(counts, equal))


@given(st.integers(0, 300), st.integers(0, 300))
@any_input
def test_the_reference_has_the_same_mcnemar(reference: ModuleType, a: int, b: int) -> None:
    assert comparing.mcnemar(a, b) == near(reference.mcnemar(a, b))


@given(st.integers(1, 90), st.integers(1, 90), st.integers(0, 90), st.integers(0, 90))
@any_input
def test_the_reference_has_the_same_kappa(
    reference: ModuleType, a: int, b: int, c: int, d: int
) -> None:
    matrix = [[a, c], [d, b]]

    assert comparing.kappa(matrix) == near(reference.kappa(matrix))


@given(st.floats(-0.1, 0.1), st.floats(0.2, 1), st.integers(1, 3000), shares)
@any_input
def test_the_reference_is_valid_at_all_times_alike(
    reference: ModuleType, difference: float, variance: float, n: int, previous: float
) -> None:
    case = (difference, variance, n, 1e-3, previous)
    assert comparing.msprt_p(*case) == near(reference.msprt_p(*case))
    radius = reference.normal_mixture_radius(n, variance, 1e-3, previous)
    assert comparing.confidence_radius(n, variance, 1e-3, previous) == near(radius)


@given(st.lists(st.tuples(cents, cents), min_size=3, max_size=40))
@any_input
def test_the_reference_adjusts_alike(
    reference: ModuleType, rows: list[tuple[float, float]]
) -> None:
    outcomes, covariates = [y for y, _ in rows], [x for _, x in rows]
    assume(len(set(covariates)) > 1)

    want = reference.cuped(outcomes, covariates)
    assert comparing.cuped(outcomes, covariates) == near(want)


def test_the_reference_bootstraps_alike(reference: ModuleType) -> None:
    """Other draws, so the ends agree as two sets of draws do: to a tenth of the width."""
    dice = random.Random(2)
    differences = [float(dice.choice((-1, 0, 0, 0, 1, 1))) for _ in range(200)]

    low, high = comparing.paired_bootstrap(differences)
    want: Callable[..., tuple[float, float]] = reference.paired_bootstrap

    assert (low, high) == pytest.approx(want(differences, reps=2000), abs=(high - low) / 10)
