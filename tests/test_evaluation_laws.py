"""What must hold of the statistics whatever the rows: bounds bound, certificates are kept."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pointsman.gateway.evaluation.statistics import (
    certifying,
    comparing,
    cutting,
    isotonic,
    measures,
    numerics,
    recalibrating,
    ruling,
    selective,
)
from pointsman.gateway.evaluation.statistics.certifying import Certified, NotCertified
from pointsman.gateway.evaluation.statistics.cutting import Cut

law = settings(max_examples=50, deadline=None)
cents = st.integers(0, 100).map(lambda cent: cent / 100)
budgets = st.floats(0.02, 0.5)
deltas = st.floats(0.01, 0.3)
Judged = list[tuple[float, bool]]
NAN = math.nan


@st.composite
def mostly_right(draw: st.DrawFn) -> Judged:
    """Up to 300 rows, tied on few or many confidences, surer ones more often right."""
    dice = random.Random(draw(st.integers(0, 10**6)))
    levels = draw(st.sampled_from([3, 20, 1000]))
    floor = draw(st.sampled_from([0.5, 0.8, 0.97]))
    made = (round(dice.random() * levels) / levels for _ in range(draw(st.integers(0, 300))))
    return [(each, dice.random() < floor + (1 - floor) * each) for each in made]


def columns(rows: Judged) -> tuple[list[float], list[bool]]:
    return [confidence for confidence, _ in rows], [right for _, right in rows]


def chances(n: int, p: float) -> list[float]:
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


# Bounds


@given(st.integers(1, 60), st.floats(0.001, 0.999), deltas)
@law
def test_an_exact_bound_misses_no_more_often_than_it_says(n: int, p: float, delta: float) -> None:
    """Summed over all that could be seen, not drawn."""
    above = [k for k in range(n + 1) if numerics.exact_upper(k, n, delta) < p]
    below = [k for k in range(n + 1) if numerics.exact_lower(k, n, delta) > p]
    probability = chances(n, p)

    assert sum(probability[k] for k in above) <= delta + 1e-9
    assert sum(probability[k] for k in below) <= delta + 1e-9


@given(st.integers(1, 200), st.data(), deltas)
@law
def test_bounds_enclose_what_was_measured(n: int, data: st.DataObject, delta: float) -> None:
    errors = data.draw(st.integers(0, n))
    lower, upper = numerics.exact_lower(errors, n, delta), numerics.exact_upper(errors, n, delta)
    low, high = numerics.wilson(errors, n, delta)

    assert 0 <= lower <= errors / n <= upper <= 1
    assert 0 <= low <= errors / n + 1e-12
    assert errors / n - 1e-12 <= high <= 1
    if errors < n:
        assert numerics.binomial_cdf(errors, n, upper) == pytest.approx(delta, abs=1e-9)
        assert numerics.exact_upper(errors + 1, n, delta) >= upper


@given(st.integers(0, 60), st.data(), st.floats(0, 1))
@law
def test_the_binomial_is_a_sum(n: int, data: st.DataObject, p: float) -> None:
    k = data.draw(st.integers(-1, n))

    assert numerics.binomial_cdf(k, n, p) == pytest.approx(sum(chances(n, p)[: k + 1]), abs=1e-9)


@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_a_large_binomial_converges(n: int) -> None:
    """Half of a symmetric one lies at or below its middle, up to half of the middle's own share."""
    middle = math.exp(math.lgamma(n + 1) - 2 * math.lgamma(n / 2 + 1) - n * math.log(2))

    assert numerics.binomial_cdf(n // 2, n, 0.5) == pytest.approx(0.5 + middle / 2, abs=1e-8)


@given(st.floats(1e-9, 1 - 1e-9))
@law
def test_the_normal_quantile_turns_the_normal_back(p: float) -> None:
    assert numerics.normal_cdf(numerics.normal_quantile(p)) == pytest.approx(p, rel=1e-9)


def test_chi_square_of_two_degrees_is_exponential() -> None:
    for x in (0.0, 0.1, 1.0, 5.0, 40.0):
        assert numerics.chi2_sf(x, 2) == pytest.approx(math.exp(-x / 2), rel=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0, 1))
@law
def test_a_percentile_lies_among_its_values(values: list[float], q: float) -> None:
    assert min(values) <= numerics.percentile(values, q) <= max(values)
    median = pytest.approx(statistics.median(values), rel=1e-9, abs=1e-6)
    assert numerics.percentile(values, 0.5) == median


# Certificates


@given(mostly_right(), budgets, deltas)
@law
def test_a_certificate_counts_what_its_threshold_accepts(
    rows: Judged, alpha: float, delta: float
) -> None:
    """Ties together, inclusive, and never fewer rows than could pass."""
    found = certifying.certify(*columns(rows), alpha, delta)

    if isinstance(found, Certified):
        accepted = [right for confidence, right in rows if confidence >= found.threshold]
        assert (found.accepted, found.errors) == (len(accepted), accepted.count(False))
        assert found.coverage == len(accepted) / len(rows)
        assert found.accepted >= certifying.labels_needed(alpha, delta / 4)
        assert found.errors / found.accepted <= found.bound <= alpha
        assert (found.alpha, found.delta) == (alpha, delta)
    else:
        assert found.reason
        assert found.needed is None or found.needed > 0


@given(mostly_right(), budgets, deltas, st.randoms(use_true_random=False))
@law
def test_the_order_of_rows_does_not_matter(
    rows: Judged, alpha: float, delta: float, dice: random.Random
) -> None:
    mixed = dice.sample(rows, len(rows))

    for rule in (certifying.certify, certifying.ltt, ruling.sgr, cutting.two_sided):
        found: Any = rule(*columns(rows), alpha, delta)
        assert rule(*columns(mixed), alpha, delta) == found


@given(mostly_right(), budgets, budgets, deltas)
@law
def test_a_larger_budget_never_covers_less(
    rows: Judged, one: float, other: float, delta: float
) -> None:
    """Along one sequence; the place where `certify` may begin depends on the budget itself."""
    grid = [step / 50 for step in range(51)]
    strict, loose = (
        certifying.ltt(*columns(rows), alpha, delta, 5, grid) for alpha in sorted((one, other))
    )

    if isinstance(strict, Certified):
        assert isinstance(loose, Certified)
        assert loose.threshold <= strict.threshold


@given(mostly_right(), budgets, deltas, deltas)
@law
def test_a_larger_risk_never_covers_less(
    rows: Judged, alpha: float, one: float, other: float
) -> None:
    grid = [step / 50 for step in range(51)]
    careful, bold = (
        certifying.ltt(*columns(rows), alpha, delta, 5, grid) for delta in sorted((one, other))
    )

    if isinstance(careful, Certified):
        assert isinstance(bold, Certified)
        assert bold.threshold <= careful.threshold


@given(mostly_right(), budgets, deltas, st.integers(0, 2**32))
@law
def test_the_labels_choose_no_threshold_that_is_tested(
    rows: Judged, alpha: float, delta: float, seed: int
) -> None:
    """Other labels end a sequence elsewhere; they never lead it along other thresholds."""
    dice = random.Random(seed)
    confidences, right = columns(rows)
    other = [dice.random() < 0.9 for _ in right]

    tested = [
        [step.threshold for step in certifying.fixed_sequence(confidences, labels, alpha, delta)]
        for labels in (right, other, [True] * len(right))
    ]

    shorter, longer = sorted(tested[:2], key=len)
    assert longer[: len(shorter)] == shorter
    assert tested[2][: len(longer)] == longer


@given(alpha=budgets, delta=deltas, tied=st.booleans())
@law
def test_rows_without_an_error_certify_as_soon_as_they_are_enough(
    alpha: float, delta: float, *, tied: bool
) -> None:
    least = certifying.labels_needed(alpha, delta / 4)
    confidences = [0.9 if tied else 0.5 + place / (4 * least) for place in range(least)]

    enough = certifying.certify(confidences, [True] * least, alpha, delta)
    fewer = certifying.certify(confidences[1:], [True] * (least - 1), alpha, delta)

    assert isinstance(enough, Certified)
    assert (enough.threshold, enough.accepted) == (min(confidences), least)
    assert isinstance(fewer, NotCertified)
    assert fewer.needed == 1


@given(st.integers(400, 700), budgets)
@law
def test_the_lowest_threshold_wins(n: int, alpha: float) -> None:
    """Nothing is wrong, so every threshold passes; and the first wrong row ends none of them."""
    confidences = [0.5 + place / (2 * n) for place in range(n)]

    found = certifying.certify(confidences, [True] * n, alpha)
    flawed = certifying.certify(confidences, [True] * (n - 1) + [False], max(alpha, 0.05))

    assert isinstance(found, Certified)
    assert (found.threshold, found.coverage) == (0.5, 1)
    assert isinstance(flawed, Certified)
    assert (flawed.coverage, flawed.errors) == (1, 1)


def drawn(n: int, dice: random.Random) -> tuple[list[float], list[bool]]:
    """Calibrated rows: uniform confidence c from 0.7 to 1, right with probability c."""
    confidences = [dice.uniform(0.7, 1.0) for _ in range(n)]
    return confidences, [dice.random() < confidence for confidence in confidences]


def test_the_certified_rule_keeps_its_promise_and_the_naive_one_does_not() -> None:
    """Truly wrong above t is (1 − t)/2. 100 runs of exactly δ exceed 14 with probability 0.0005."""
    dice, broken = random.Random(3), {"certified": 0, "naive": 0}
    certificates = 0
    for _ in range(100):
        rows = drawn(400, dice)
        found, naive = certifying.certify(*rows, 0.1), ruling.measured_rule(*rows, 0.1)
        certificates += isinstance(found, Certified)
        broken["certified"] += isinstance(found, Certified) and (1 - found.threshold) / 2 > 0.1
        broken["naive"] += naive is not None and (1 - naive.threshold) / 2 > 0.1

    assert broken["certified"] <= 14
    assert broken["naive"] >= 25
    assert certificates >= 50


def test_the_labels_still_needed_are_needed() -> None:
    """The same rows again and again, as if error rate and coverage stayed as measured."""
    confidences = [0.6 + place / 100 for place in range(40)]
    right = [place not in (1, 4, 9) for place in range(40)]

    found = certifying.certify(confidences, right, 0.1)

    assert isinstance(found, NotCertified)
    assert found.needed is not None
    times = math.ceil((40 + found.needed) / 40)
    assert times > 1
    assert isinstance(certifying.certify(confidences * times, right * times, 0.1), Certified)
    half = times // 2
    assert isinstance(certifying.certify(confidences * half, right * half, 0.1), NotCertified)


@pytest.mark.parametrize("rows", [1, 30, 300])
def test_no_number_of_labels_helps_a_wrong_provider(rows: int) -> None:
    confidences = [place / rows for place in range(rows)]

    found = certifying.certify(confidences, [False] * rows, 0.05)

    assert isinstance(found, NotCertified)
    assert found.needed is None


def test_without_rows_nothing_is_certified() -> None:
    least = certifying.labels_needed(0.05, 0.0125)

    assert certifying.certify([], [], 0.05) == NotCertified("there are no labelled rows", least)
    assert isinstance(certifying.ltt([], [], 0.05, 0.05), NotCertified)
    assert isinstance(ruling.sgr([], [], 0.05, 0.05), NotCertified)
    assert ruling.measured_rule([], [], 0.05) is None
    assert ruling.conformal_risk([], [], 0.05) is None
    assert selective.risk_coverage([], []) == []
    assert isinstance(cutting.two_sided([], [], 0.05).no_below, NotCertified)


def test_one_row_certifies_nothing() -> None:
    for rule in (certifying.certify, certifying.ltt, ruling.sgr):
        assert isinstance(rule([0.9], [True], 0.05, 0.05), NotCertified)


@given(mostly_right(), budgets, deltas)
@law
def test_guaranteed_risk_is_below_the_budget(rows: Judged, alpha: float, delta: float) -> None:
    found = ruling.sgr(*columns(rows), alpha, delta)

    if isinstance(found, Certified):
        accepted = [right for confidence, right in rows if confidence >= found.threshold]
        assert (found.accepted, found.errors) == (len(accepted), accepted.count(False))
        assert found.bound <= alpha


@given(mostly_right(), budgets)
@law
def test_the_cheaper_rules_do_what_they_say(rows: Judged, alpha: float) -> None:
    confidences, right = columns(rows)
    naive, risk = (rule(confidences, right, alpha) for rule in RULES)

    if naive is not None:
        assert naive.risk <= alpha
        assert selective.coverage_at(confidences, right, alpha) == naive.coverage
    if risk is not None:
        wrong = sum(confidence >= risk and not verdict for confidence, verdict in rows)
        assert (wrong + 1) / (len(rows) + 1) <= alpha + 1e-12


RULES: tuple[Callable[..., Any], ...] = (ruling.measured_rule, ruling.conformal_risk)


# Two sides


@given(mostly_right(), budgets, deltas)
@law
def test_each_cut_counts_the_rows_it_could_harm(rows: Judged, alpha: float, delta: float) -> None:
    found = cutting.two_sided(*columns(rows), alpha, delta)
    positives, negatives = [p for p, y in rows if y], [p for p, y in rows if not y]
    no, yes = found.no_below, found.yes_from

    if isinstance(no, Cut):
        assert 0 < no.at <= 0.5
        assert (no.errors, no.n) == (sum(p < no.at for p in positives), len(positives))
        assert no.coverage == sum(p < no.at for p, _ in rows) / len(rows)
        assert no.bound <= alpha
    if isinstance(yes, Cut):
        assert 0.5 <= yes.at <= 1
        assert (yes.errors, yes.n) == (sum(p >= yes.at for p in negatives), len(negatives))
        assert yes.coverage == sum(p >= yes.at for p, _ in rows) / len(rows)
        assert yes.bound <= alpha


def test_each_cut_keeps_its_promise() -> None:
    """
    Positives have p uniform on [0, 1]: truly, `no_below` of them is answered "no".

    Negatives likewise. 300 runs of exactly 2.5 % exceed 17 with probability 0.0007.
    """
    dice, broken = random.Random(4), [0, 0]
    for _ in range(300):
        truths = [dice.random() < 0.5 for _ in range(200)]
        found = cutting.two_sided([dice.random() for _ in truths], truths, 0.1)
        assert isinstance(found.no_below, Cut)
        assert isinstance(found.yes_from, Cut)
        broken[0] += found.no_below.at > 0.1
        broken[1] += 1 - found.yes_from.at > 0.1

    assert max(broken) <= 17
    assert sum(broken) > 0  # not far more cautious than it must be


def test_clear_rows_are_answered_up_to_the_middle() -> None:
    rows = [(0.02, False)] * 100 + [(0.5, True)] * 50 + [(0.97, True)] * 50

    found = cutting.two_sided(*columns(rows), 0.05)

    assert found.no_below == Cut(0.5, 0, 100, numerics.exact_upper(0, 100, 0.025), 0.5)
    assert found.yes_from == Cut(0.5, 0, 100, numerics.exact_upper(0, 100, 0.025), 0.5)


def test_a_side_says_what_it_lacks() -> None:
    few = cutting.two_sided([0.1] * 100 + [0.9] * 10, [False] * 100 + [True] * 10, 0.05)
    lost = cutting.two_sided([0.1] * 200, [True] * 100 + [False] * 100, 0.05)

    assert isinstance(few.no_below, NotCertified)
    assert few.no_below.needed == certifying.labels_needed(0.05, 0.025) - 10
    assert few.yes_from == Cut(0.5, 0, 100, numerics.exact_upper(0, 100, 0.025), 10 / 110)
    assert lost.no_below == NotCertified("the certified cut would answer no row", None)
    assert lost.yes_from == NotCertified("no row lies on this side of 0.5", None)


def test_one_bad_row_in_many_wants_some_more_labels() -> None:
    """One positive of 150 lies at 0.0, where nothing can be told from it."""
    rows = [(0.0, True), *[(0.1, False)] * 100, *[(0.9, True)] * 149]

    found = cutting.two_sided(*columns(rows), 0.025).no_below

    assert isinstance(found, NotCertified)
    assert found.reason == "the certified cut would answer no row"
    assert found.needed is not None
    positives = 150 + found.needed
    bad = math.ceil(positives / 150)
    more = [(0.0, True)] * bad + [(0.1, False)] * 100 + [(0.9, True)] * (positives - bad)
    assert isinstance(cutting.two_sided(*columns(more), 0.025).no_below, Cut)


# Measures and curves


@given(st.lists(st.tuples(cents, st.booleans()), min_size=1, max_size=60))
@law
def test_areas_lie_where_they_can(rows: Judged) -> None:
    confidences, right = columns(rows)

    assert selective.excess(confidences, right) >= -1e-12
    assert 0 <= selective.augrc(confidences, right) <= 0.5
    assert selective.risk_coverage(confidences, right)[-1].coverage == 1
    assert selective.coverage_at(confidences, right, 1.0) == 1


@given(st.lists(st.tuples(cents, st.booleans()), min_size=2, max_size=40))
@law
def test_the_generalized_area_is_that_of_the_ranking(rows: Judged) -> None:
    """(1 − AUROC)·a·(1 − a) + (1 − a)²/2, ties counted by halves (Traub et al. 2024)."""
    good, bad = [c for c, y in rows if y], [c for c, y in rows if not y]
    assume(good and bad)
    misordered = sum((b > g) + (b == g) / 2 for g in good for b in bad)

    want = (misordered + len(bad) ** 2 / 2) / len(rows) ** 2

    assert selective.augrc(*columns(rows)) == pytest.approx(want, abs=1e-12)


@given(st.lists(st.tuples(cents, st.booleans()), min_size=1, max_size=60), st.integers(1, 12))
@law
def test_calibration_errors_lie_where_they_can(rows: Judged, bins: int) -> None:
    for parts in (
        measures.bins_equal_width(*columns(rows), bins),
        measures.bins_equal_mass(*columns(rows), bins),
    ):
        assert sum(part.rows for part in parts) == len(rows)
        assert 0 <= measures.ece(parts) <= measures.mce(parts) + 1e-12 <= 1 + 1e-12


def test_the_noise_floor_is_what_a_calibrated_model_shows() -> None:
    dice = random.Random(5)
    confidences, _ = drawn(200, dice)
    floor = measures.noise_floor(confidences)
    shown = []
    for _ in range(200):
        right = [dice.random() < confidence for confidence in confidences]
        shown.append(measures.ece(measures.bins_equal_width(confidences, right)))

    assert floor == pytest.approx(statistics.fmean(shown), rel=0.1)
    assert measures.noise_floor(confidences) == floor
    assert measures.noise_floor([1.0] * 50) == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=60))
@law
def test_the_parts_of_a_brier_score_add_up(rows: list[tuple[int, bool]]) -> None:
    probabilities, truths = [tenth / 10 + 0.05 for tenth, _ in rows], [y for _, y in rows]

    parts = measures.brier_split(probabilities, truths)

    total = parts.reliability - parts.resolution + parts.uncertainty
    assert total == pytest.approx(measures.brier(probabilities, truths), abs=1e-12)
    assert min(parts) >= 0


labels = st.sampled_from(["a", "b", "c"])
answers = st.sampled_from(["a", "b", "c", None])


@given(st.lists(st.tuples(labels, answers), min_size=1, max_size=40))
@law
def test_a_confusion_counts_every_row(rows: list[tuple[str, str | None]]) -> None:
    gold, given_ = [a for a, _ in rows], [b for _, b in rows]

    found = measures.confusion(gold, given_)

    hits = sum(found.counts[i][i] for i in range(len(found.labels)))
    assert sum(map(sum, found.counts)) == len(rows)
    assert hits / len(rows) == measures.accuracy(gold, given_)
    assert 0 <= measures.macro_f1(gold, given_) <= 1
    assert measures.macro_f1(gold, gold) == 1


def test_a_refusal_is_a_miss_and_no_label() -> None:
    """Two labels, F1 of 1 and of 2/3; by hand."""
    assert measures.macro_f1(["a", "b", "b"], ["a", "b", None]) == pytest.approx(5 / 6)
    assert measures.accuracy(["a", "b", "b"], ["a", "b", None]) == pytest.approx(2 / 3)


def test_options_left_out_have_no_probability() -> None:
    assert measures.log_loss([{"a": 1.0}], ["b"]) == pytest.approx(-math.log(1e-9))
    assert measures.brier_multi([{"a": 1.0}], ["b"]) == 2


def test_levels_have_a_distance() -> None:
    assert measures.level_distance([0, 3, 2], [0.5, 1, 2]) == pytest.approx(2.5 / 3)
    assert measures.within_one([0, 3, 2], [0.5, 1, 3]) == pytest.approx(2 / 3)
    assert measures.rps([0, 0, 1], 2) == 0
    assert measures.rps([1, 0, 0], 2) == 1


# Recalibration


def distorted(n: int, seed: int, power: float) -> tuple[list[float], list[bool]]:
    """True with probability p^power where p is said."""
    dice = random.Random(seed)
    said = [dice.uniform(0.02, 0.98) for _ in range(n)]
    return said, [dice.random() < p**power for p in said]


@pytest.mark.parametrize("kind", ["platt", "beta", "isotonic", "temperature"])
def test_a_recalibration_rises_and_stays_a_probability(kind: recalibrating.Kind) -> None:
    found = recalibrating.fit(kind, *distorted(400, 1, 2.0))

    mapped = [found(step / 200) for step in range(201)]

    assert mapped == sorted(mapped)
    assert 0 <= mapped[0] <= mapped[-1] <= 1


@pytest.mark.parametrize("kind", ["platt", "beta", "isotonic"])
@pytest.mark.parametrize("seed", range(5))
def test_a_fit_is_right_on_average(kind: recalibrating.Kind, seed: int) -> None:
    said, truths = distorted(300, seed, 2.0)

    found = recalibrating.fit(kind, said, truths)

    mean = statistics.fmean(found(p) for p in said)
    assert mean == pytest.approx(statistics.fmean(truths), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_three_parameters_fit_no_worse_than_two(seed: int) -> None:
    said, truths = distorted(300, seed, 3.0)

    def loss(kind: recalibrating.Kind) -> float:
        found = recalibrating.fit(kind, said, truths)
        mapped = [found(p) for p in said]
        return -math.fsum(math.log(p if y else 1 - p) for p, y in zip(mapped, truths, strict=True))

    assert loss("beta") <= loss("platt") + 1e-9


def test_beta_recalibration_never_falls() -> None:
    """Where one of its slopes would be negative it is left out (Kull et al. 2017)."""
    found = [recalibrating.beta(*distorted(60, seed, 0.3)) for seed in range(40)]
    against = recalibrating.beta(
        [0.1, 0.2, 0.3, 0.8, 0.9, 0.7], [True, True, False, False, False, True]
    )

    assert all(min(a, b) >= 0 for a, b, _ in found)
    assert any(min(a, b) == 0 for a, b, _ in found)
    assert against == pytest.approx((0, 0, 0))


@given(st.lists(st.tuples(cents, st.booleans()), min_size=1, max_size=60))
@law
def test_isotonic_steps_rise(rows: Judged) -> None:
    levels = isotonic.isotonic(*columns(rows))

    values = [level.value for level in levels]
    assert values == sorted(set(values))
    assert sum(level.rows for level in levels) == len(rows)
    true = sum(level.value * level.rows for level in levels)
    assert true == pytest.approx(sum(y for _, y in rows), abs=1e-9)


@pytest.mark.parametrize("factor", [0.5, 1.7])
def test_a_temperature_undoes_another(factor: float) -> None:
    """Rows that are `factor` hotter want a temperature so much lower."""
    dice = random.Random(8)
    logits = [[dice.gauss(0, 0.8) for _ in "abc"] for _ in range(80)]
    gold = ["abc"[max(range(3), key=lambda i: row[i] + dice.gauss(0, 2))] for row in logits]

    def rows(heat: float) -> list[dict[str, float]]:
        made = [[math.exp(each / heat) for each in row] for row in logits]
        return [dict(zip("abc", (w / sum(ws) for w in ws), strict=True)) for ws in made]

    plain, hot = (recalibrating.temperature(rows(heat), gold).value for heat in (1.0, factor))

    assert hot == pytest.approx(plain / factor, rel=1e-9)


def test_a_recalibration_is_kept_only_where_it_pays() -> None:
    distant = recalibrating.worth_it("platt", *distorted(600, 1, 3.0))
    honest = recalibrating.worth_it("platt", *distorted(600, 1, 1.0))

    assert distant.kept
    assert distant.gain > distant.error > 0
    assert distant.recalibration == recalibrating.fit("platt", *distorted(600, 1, 3.0))
    assert not honest.kept
    assert honest.recalibration is None


@pytest.mark.parametrize(
    ("said", "truths", "reason"),
    [
        ([0.1, 0.2, 0.8, 0.9] * 10, [False, False, True, True] * 10, "separate"),
        ([0.1, 0.2, 0.8, 0.9] * 10, [True] * 40, "both truths"),
        ([0.5] * 40, [True, False] * 20, "vary too little"),
        ([0.5], [True], "too few"),
    ],
)
def test_what_cannot_be_fitted_is_not_kept(
    said: list[float], truths: list[bool], reason: str
) -> None:
    found = recalibrating.worth_it("platt", said, truths)

    assert not found.kept
    assert reason in found.reason


# Two providers


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8), deltas)
@law
def test_holm_lies_between_bonferroni_and_nothing(p: dict[str, float], alpha: float) -> None:
    rejected = comparing.holm(p, alpha)

    assert {name for name in p if p[name] <= alpha / len(p)} <= rejected
    assert rejected <= {name for name in p if p[name] <= alpha}
    assert all(p[a] <= p[b] for a in rejected for b in p.keys() - rejected)


def test_holm_by_hand() -> None:
    assert comparing.holm({"a": 0.01, "b": 0.02, "c": 0.03, "d": 0.2}) == {"a"}
    assert comparing.holm({"a": 0.01, "b": 0.016, "c": 0.02, "d": 0.2}) == {"a", "b", "c"}


@given(st.integers(0, 3000), st.integers(0, 3000))
@law
def test_mcnemar_takes_no_side(a: int, b: int) -> None:
    exact, mid = comparing.mcnemar(a, b)

    assert comparing.mcnemar(b, a) == (exact, mid)
    assert 0 <= mid <= exact <= 1


def test_kappa_of_agreement_and_of_chance() -> None:
    assert comparing.kappa([[5, 0], [0, 7]]) == (1, 1)
    assert comparing.kappa([[9, 3], [3, 1]]).kappa == pytest.approx(0)
    assert math.isnan(comparing.kappa([[12, 0], [0, 0]]).kappa)


@given(st.floats(-1e200, 1e200), st.floats(0, 2), st.integers(1, 10**6), st.floats(0, 1))
@law
def test_an_always_valid_p_never_rises(
    difference: float, variance: float, n: int, before: float
) -> None:
    now = comparing.msprt_p(difference, variance, n, 1e-3, before)

    assert 0 <= now <= before
    assert comparing.msprt_p(-difference, variance, n, 1e-3, before) == now


def test_reading_always_valid_p_values_all_the_time_gives_few_false_alarms() -> None:
    """60 experiments without a difference, each read 40 times; 5 % exceed 9 with p = 0.001."""
    dice, alarms = random.Random(9), 0
    for _ in range(60):
        total, p = 0, 1.0
        for n in range(50, 2001, 50):
            total += sum((dice.random() < 0.1) - (dice.random() < 0.1) for _ in range(50))
            p = comparing.msprt_p(total / n, 0.18, n, 1e-3, p)
        alarms += p <= 0.05

    assert alarms <= 9


def test_a_bootstrap_draws_whole_subjects() -> None:
    """Twenty copies of each row say no more than one of each."""
    dice = random.Random(6)
    once = [float(dice.choice((-1, 0, 1))) for _ in range(40)]
    often = [each for each in once for _ in range(20)]
    subjects = [place // 20 for place in range(800)]

    alone = comparing.paired_bootstrap(once, draws=500)
    whole = comparing.paired_bootstrap(often, subjects, draws=500)
    torn = comparing.paired_bootstrap(often, draws=500)

    assert whole == pytest.approx(alone)
    assert whole.high - whole.low > 3 * (torn.high - torn.low)
    assert comparing.paired_bootstrap([0.5] * 9, draws=50) == (0.5, 0.5)


def test_what_was_known_before_is_taken_out() -> None:
    assert comparing.cuped([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]).adjusted == pytest.approx(0)
    flat = comparing.cuped([1.0, 2.0, 3.0], [7.0, 7.0, 7.0])
    assert (flat.theta, flat.adjusted) == (0, flat.variance)


# Faults


@pytest.mark.parametrize("confidence", [NAN, -0.01, 1.01, math.inf])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    """By everything that takes confidences, and naming the row."""
    rows = [0.5, confidence], [True, False]
    for call in (
        lambda: certifying.certify(*rows, 0.1),
        lambda: certifying.ltt(*rows, 0.1, 0.1),
        lambda: ruling.sgr(*rows, 0.1, 0.1),
        lambda: ruling.conformal_risk(*rows, 0.1),
        lambda: ruling.measured_rule(*rows, 0.1),
        lambda: cutting.two_sided(*rows, 0.1),
        lambda: selective.aurc(*rows),
        lambda: selective.augrc(*rows),
        lambda: measures.bins_equal_width(*rows),
        lambda: measures.bins_equal_mass(*rows),
        lambda: measures.brier(*rows),
        lambda: recalibrating.fit("platt", *rows),
        lambda: recalibrating.worth_it("beta", *rows),
    ):
        with pytest.raises(ValueError, match="row 1"):
            call()
    with pytest.raises(ValueError, match="confidence"):
        measures.noise_floor([confidence])


FAULTS: dict[str, Callable[[], object]] = {
    "lengths": lambda: certifying.certify([0.5], [], 0.1),
    "verdict": lambda: certifying.certify([0.5], [2], 0.1),  # type: ignore[list-item]
    "alpha 0": lambda: certifying.certify([0.5], [True], 0.0),
    "alpha 1": lambda: certifying.certify([0.5], [True], 1.0),
    "alpha nan": lambda: certifying.certify([0.5], [True], NAN),
    "delta 0": lambda: certifying.certify([0.5], [True], 0.1, 0.0),
    "delta 2": lambda: certifying.certify([0.5], [True], 0.1, 2.0),
    "sgr delta": lambda: ruling.sgr([0.5], [True], 0.1, 1.0),
    "cut alpha": lambda: cutting.two_sided([0.5], [True], 0.0),
    "score nan": lambda: ruling.conformal_quantile([NAN], 0.1),
    "free error": lambda: ruling.cost_threshold(0.0, 0.1),
    "paid fallback": lambda: ruling.cost_threshold(1.0, -0.1),
    "fallback error": lambda: ruling.cost_threshold(1.0, 0.1, 1.5),
    "more errors": lambda: numerics.exact_upper(3, 2, 0.05),
    "negative": lambda: numerics.exact_upper(-1, 2, 0.05),
    "wilson": lambda: numerics.wilson(3, 2),
    "trials": lambda: numerics.binomial_cdf(0, -1, 0.5),
    "p nan": lambda: numerics.binomial_cdf(0, 1, NAN),
    "beta": lambda: numerics.beta_inc(0, 1, 0.5),
    "gamma": lambda: numerics.gamma_upper(0, 1),
    "quantile": lambda: numerics.normal_quantile(1.0),
    "no values": lambda: numerics.percentile([], 0.5),
    "value nan": lambda: numerics.percentile([NAN], 0.5),
    "q": lambda: numerics.percentile([1.0], 50),
    "no rows": lambda: measures.accuracy([], []),
    "no confusion": lambda: measures.confusion([], []),
    "no f1": lambda: measures.macro_f1(["a"], []),
    "no bins": lambda: measures.ece([]),
    "no gap": lambda: measures.mce([]),
    "no brier": lambda: measures.brier([], []),
    "no loss": lambda: measures.log_loss([], []),
    "level": lambda: measures.rps([0.5, 0.5], 2),
    "one level": lambda: measures.rps([1.0], 0),
    "no area": lambda: selective.aurc([], []),
    "area": lambda: selective.aurc_optimal(2, 3),
    "error": lambda: selective.coverage_at([], [], NAN),
    "label": lambda: recalibrating.temperature([{"a": 1.0}], ["b"]),
    "kind": lambda: recalibrating.fit("magic", [0.5], [True]),  # type: ignore[arg-type]
    "worth kind": lambda: recalibrating.worth_it("magic", [0.5], [True]),  # type: ignore[arg-type]
    "isotonic": lambda: isotonic.isotonic([NAN], [True]),
    "one arm": lambda: comparing.sample_ratio([5], [1.0]),
    "shares": lambda: comparing.sample_ratio([5, 5], [0.5, 0.6]),
    "empty arm": lambda: comparing.sample_ratio([5, 5], [1.0, 0.0]),
    "mcnemar": lambda: comparing.mcnemar(-1, 0),
    "not square": lambda: comparing.kappa([[1, 2]]),
    "empty matrix": lambda: comparing.kappa([[0]]),
    "tau2": lambda: comparing.msprt_p(0.1, 0.5, 10, 0.0),
    "difference": lambda: comparing.msprt_p(NAN, 0.5, 10, 1e-3),
    "radius": lambda: comparing.confidence_radius(0, 0.25, 1e-3, 0.05),
    "one row": lambda: comparing.cuped([1.0], [1.0]),
    "no differences": lambda: comparing.paired_bootstrap([]),
    "clusters": lambda: comparing.paired_bootstrap([1.0], []),
    "holm p": lambda: comparing.holm({"a": NAN}),
    "discordance": lambda: comparing.more_pairs_needed(0.01, 0.02),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_makes_no_sense_is_refused(fault: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        FAULTS[fault]()
