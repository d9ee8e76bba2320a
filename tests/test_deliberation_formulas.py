"""The formulas of deliberation: worked vectors to 1e-9, laws, and faults seen elsewhere."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.providers.deliberation.measures import (
    agreement,
    dispersion,
    matching,
    points,
    positions,
    probabilities,
    quantiles,
    reliability,
    votes,
)
from pointsman.providers.deliberation.measures.positions import Position

law = settings(max_examples=100, deadline=None)


def near(value: Any, digits: int = 9) -> Any:
    """A worked number: to 1e-9, or to as many digits as it was written with."""
    return pytest.approx(value, rel=0, abs=0.5 * 10**-digits + 1e-9 if digits < 9 else 1e-9)


# Votes


BALLOTS = {
    "split by an abstainer": (["C", None, "I"], None),
    "two of three": (["C", "C", None], "C"),
    "one of three": ([None, None, "C"], None),
    "two of four, two against": (["C", "C", "I", "I"], None),
    "two of four, two silent": (["C", "C", None, None], None),
}


@pytest.mark.parametrize(("ballots", "winner"), BALLOTS.values(), ids=BALLOTS)
def test_fv_25_a_strict_majority_is_of_all_voters(
    ballots: list[str | None], winner: str | None
) -> None:
    """FV-25, BR-11: abstainers stay in the denominator; 2 of 4 is no majority."""
    tally = votes.strict_majority(ballots)

    assert tally.winner == winner
    assert (tally.expected, tally.cast) == (len(ballots), len(ballots) - ballots.count(None))
    assert tally.share == ballots.count("C") / len(ballots)


def test_fv_25_voters_that_were_never_heard_abstain() -> None:
    assert votes.strict_majority(["C", "C"], expected=3).winner == "C"
    assert votes.strict_majority(["C", "C"], expected=4).winner is None
    with pytest.raises(ValueError, match="3 ballots of 2 voters"):
        votes.strict_majority(["C", "C", "C"], expected=2)


def test_fv_25_confidence_weights() -> None:
    """FV-25: A .55, A .60, B .95 → A with 0.5476 of all confidence."""
    tally = votes.by_confidence(["A", "A", "B"], [0.55, 0.60, 0.95])

    assert tally.winner == "A"
    assert tally.share == near(1.15 / 2.10)
    assert tally.share == near(0.5476, 4)


def test_fv_25_a_share_is_shrunk_before_it_is_a_confidence() -> None:
    shrunk = {3: 0.80, 5: 6 / 7, 20: 21 / 22}
    lowest = {3: 0.438, 5: 0.566, 20: 0.839}

    assert {n: votes.vote_confidence(n, n) for n in shrunk} == near(shrunk)
    assert {n: votes.wilson_lower(n, n) for n in lowest} == pytest.approx(lowest, abs=1e-3)
    assert votes.vote_confidence(3, 3, options=7) == near(0.4)
    with pytest.raises(ValueError, match="4 votes of 3"):
        votes.vote_confidence(4, 3)


def test_fv_25_borda_and_plurality_disagree() -> None:
    """FV-25: 3×(A>B>C), 2×(B>C>A): plurality A, Borda B with 7 against 6."""
    rankings = [["A", "B", "C"]] * 3 + [["B", "C", "A"]] * 2

    ranked = votes.borda(rankings, "ABC")

    assert votes.plurality([ranking[0] for ranking in rankings]).winner == "A"
    assert (ranked.winner, ranked.counts[:2]) == ("B", (("B", 7.0), ("A", 6.0)))
    assert ranked.share == near(0.7)


def test_a_ranking_left_short_shares_what_is_left() -> None:
    tally = votes.borda([["A"], None], "ABC")

    assert dict(tally.counts) == {"A": 2.0, "B": 0.5, "C": 0.5}
    assert (tally.cast, tally.expected, tally.share) == (1, 2, 0.5)
    for wrong in (["A", "A"], ["X"]):
        with pytest.raises(ValueError, match="ranking"):
            votes.borda([wrong], "ABC")


def test_a_tie_is_an_outcome() -> None:
    """BR-11: nobody wins, and the tied options are named in order."""
    for tally in (votes.plurality(["b", "a", None]), votes.by_confidence("ba", [0.3, 0.1 + 0.2])):
        assert (tally.winner, tally.tied) == (None, ("a", "b"))
    assert votes.plurality(["b", "a", "b"]).tied == ()
    nobody = votes.plurality([None, None])
    assert (nobody.winner, nobody.share, nobody.tied) == (None, 0.0, ())
    assert votes.plurality([]) == votes.Tally(winner=None, counts=(), share=0.0, cast=0, expected=0)


def test_a_tie_is_not_decided_by_the_hash_seed() -> None:
    """A mode over a set was: the same ballots gave another winner in the next process."""
    code = (
        "from pointsman.providers.deliberation.measures.votes import plurality, borda;"
        "t = plurality(['no', 'yes', 'maybe', 'no', 'yes', 'maybe']);"
        "print(t.winner, t.tied, t.counts, borda([['x', 'y'], ['y', 'x']], ['x', 'y']).tied)"
    )

    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(3)
    }

    assert len(said) == 1
    assert said.pop().startswith(b"None ('maybe', 'no', 'yes')")


@pytest.mark.parametrize("wrong", [1.0000001, -0.1, math.nan, math.inf])
def test_a_confidence_above_one_is_refused_and_none_falls_between_steps(wrong: float) -> None:
    """Stepwise weights gave nothing above 1 and jumped at each step; ours is linear."""
    with pytest.raises(ValueError, match="confidences"):
        votes.by_confidence(["A"], [wrong])
    for hundredth in range(101):
        tally = votes.by_confidence(["A", "B"], [hundredth / 100, 0.5])
        assert dict(tally.counts)["A"] == hundredth / 100


def test_what_was_not_understood_is_no_ballot() -> None:
    """A reply that could not be read became a random valid one, with confidence 0."""
    tally = votes.by_confidence(["A", None, None], [None, 0.9, 1.0])

    assert (tally.winner, tally.share, tally.cast) == (None, 0.0, 1)
    assert votes.weighted([None, "A"], [3, 1]).share == 0.25
    with pytest.raises(ValueError, match="weights"):
        votes.weighted(["A"], [-1.0])
    with pytest.raises(ValueError, match="1 weights for 2"):
        votes.weighted(["A", "B"], [1.0])


some_ballots = st.lists(st.sampled_from(["a", "b", "c", None]), max_size=9)
some_weights = st.floats(0, 1e6)


@given(some_ballots, st.randoms(use_true_random=False))
@law
def test_br_25_votes_do_not_depend_on_the_order(
    ballots: list[str | None], dice: random.Random
) -> None:
    """BR-25: permutation invariance, bit for bit, of every rule."""
    weights = [dice.random() for _ in ballots]
    order = dice.sample(range(len(ballots)), len(ballots))
    moved, carried = [ballots[i] for i in order], [weights[i] for i in order]

    assert votes.plurality(ballots) == votes.plurality(moved)
    assert votes.strict_majority(ballots) == votes.strict_majority(moved)
    assert votes.weighted(ballots, weights) == votes.weighted(moved, carried)


@given(some_ballots, st.data())
@law
def test_br_25_one_more_vote_never_unseats_the_winner(
    ballots: list[str | None], data: st.DataObject
) -> None:
    """BR-25: monotone: a vote that agrees keeps the winner and never lowers its share."""
    weights = data.draw(st.lists(some_weights, min_size=len(ballots), max_size=len(ballots)))
    more = data.draw(some_weights)
    for rule in (votes.plurality, votes.strict_majority):
        before = rule(ballots)
        if before.winner is not None:
            _stays(before, rule([*ballots, before.winner]))
    heavy = votes.weighted(ballots, weights)
    if heavy.winner is not None:
        _stays(heavy, votes.weighted([*ballots, heavy.winner], [*weights, more]))


def _stays(before: votes.Tally, after: votes.Tally) -> None:
    assert after.winner == before.winner
    assert after.share >= before.share - 1e-9


@given(st.lists(st.permutations("ABCD"), min_size=1, max_size=7))
@law
def test_br_25_borda_keeps_its_winner_with_one_more_ranking_for_it(
    rankings: list[Sequence[str]],
) -> None:
    winner = votes.borda(rankings, "ABCD").winner
    if winner is not None:
        agreeing = [winner, *[one for one in "ABCD" if one != winner]]
        assert votes.borda([*rankings, agreeing], "ABCD").winner == winner


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 9))
@law
def test_vote_confidence_lies_between_nothing_and_certainty(v: int, more: int, k: int) -> None:
    confidence = votes.vote_confidence(v, v + more, k)

    assert 0.0 < confidence <= 1.0
    assert votes.vote_confidence(v + 1, v + 1 + more, k) >= confidence


# Points

FIVE = [300e3, 320e3, 350e3, 400e3, 900e3]
WEIGHTS = [1, 1, 2, 1, 0.5]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (points.mean, 454000),
        (points.median, 350000),
        (points.geometric_mean, 413550.314685),
        (lambda x: points.trimmed(x, 0.2), 356666.666667),
        (lambda x: points.trimmed(x, 0.1), 454000),
        (lambda x: points.winsorised(x, 0.2), 358000),
        (lambda x: points.weighted_mean(x, WEIGHTS), 394545.454545),
        (lambda x: points.weighted_median(x, WEIGHTS), 350000),
    ],
)
def test_fv_16_points(rule: Callable[[Sequence[float]], float], expected: float) -> None:
    """FV-16: five points, one of them far out."""
    assert rule(FIVE) == near(expected, 6)


def test_di_04_all_that_applies_at_once() -> None:
    """DI-04: at least mean and median; more with weights; safe on empty input."""
    named = dict(zip("abcde", FIVE, strict=True))
    weights = dict(zip("abcde", WEIGHTS, strict=True))

    assert points.points({}) == {}
    assert points.points({}, weights) == {}
    assert set(points.points({"a": -1.0})) == {"mean", "median"}
    assert set(points.points({"a": 0.0})) == {"mean", "median"}
    assert "geometric_mean" in points.points({"a": 0.5})
    assert points.points(named, weights) == near(
        {
            "mean": 454000.0,
            "median": 350000.0,
            "geometric_mean": points.geometric_mean(FIVE),
            "weighted_mean": points.weighted_mean(FIVE, WEIGHTS),
            "weighted_median": 350000.0,
        }
    )
    assert "weighted_mean" not in points.points({"skeptic": 1.0}, {"skeptic": 0})
    with pytest.raises(ValueError, match="no weight for b"):
        points.points({"a": 1.0, "b": 2.0}, {"a": 1})


@pytest.mark.parametrize("rule", [points.mean, points.median, points.geometric_mean])
def test_a_point_is_a_finite_number(rule: Callable[[Sequence[float]], float]) -> None:
    for wrong in ([], [math.nan], [1.0, math.inf]):
        with pytest.raises(ValueError, match="value"):
            rule(wrong)
    with pytest.raises(ValueError, match="positive"):
        points.geometric_mean([1.0, 0.0])
    with pytest.raises(ValueError, match="share"):
        points.trimmed([1.0], 0.5)
    with pytest.raises(ValueError, match="all weights are 0"):
        points.weighted_mean([1.0], [0.0])


def test_trimming_does_not_lose_a_member_to_rounding() -> None:
    """0.29 · 100 is 28.999…: 29 are cut."""
    values = [0.0] * 29 + [1.0] * 42 + [2.0] * 29

    assert points.trimmed(values, 0.29) == 1.0


numbers = st.floats(-1e9, 1e9)


@given(st.lists(numbers, min_size=1, max_size=9), st.randoms(use_true_random=False))
@law
def test_an_aggregate_lies_among_its_points_in_any_order(
    values: list[float], dice: random.Random
) -> None:
    """BR-25: bounds and permutation invariance of points."""
    weights = [dice.random() + 0.01 for _ in values]
    order = dice.sample(range(len(values)), len(values))
    room = 1e-9 * max(1.0, *map(abs, values))

    def every(x: Sequence[float], w: Sequence[float]) -> list[float]:
        return [
            points.mean(x),
            points.median(x),
            points.trimmed(x, 0.2),
            points.winsorised(x, 0.2),
            points.weighted_mean(x, w),
            points.weighted_median(x, w),
        ]

    found = every(values, weights)

    assert all(min(values) - room <= one <= max(values) + room for one in found)
    assert every([values[i] for i in order], [weights[i] for i in order]) == pytest.approx(
        found, rel=1e-9, abs=1e-9
    )


# Quantiles

MEMBERS = [(280, 300, 320, 345, 380), (260, 290, 310, 330, 360), (300, 340, 365, 390, 450)]


def test_fv_17_quantile_averaging() -> None:
    """FV-17, AP-16: unweighted."""
    assert quantiles.vincent(MEMBERS) == near((280, 310, 331.666667, 355, 396.666667), 6)


def test_fv_18_weighted_quantile_averaging() -> None:
    """FV-18, AP-16: weights 1, 2, 1."""
    assert quantiles.vincent(MEMBERS, (1, 2, 1)) == near((275, 305, 326.25, 348.75, 387.5))


def test_fv_19_median_of_quantiles() -> None:
    """FV-19: quantile by quantile."""
    assert quantiles.median_of_quantiles(MEMBERS) == near((280, 300, 320, 345, 380))


def test_fv_20_linear_opinion_pool() -> None:
    """FV-20: the mean of the distributions, wider than the average of quantiles."""
    pooled = quantiles.linear_pool(MEMBERS)

    assert pooled == near((275.0, 302.5, 328.1818, 360.6383, 420.0), 4)
    assert pooled[4] - pooled[0] == near(145)


def test_fv_21_geometric_averaging() -> None:
    """FV-21: in logarithms."""
    assert quantiles.geometric(MEMBERS) == near(
        (279.5230, 309.2664, 330.8274, 354.1054, 394.8507), 4
    )


def test_fv_22_a_real_forecast() -> None:
    """FV-22: US, flu admissions a week ahead of 2022-12-12; the truth was 21435."""
    members = [
        (21794, 23704, 23951, 24198, 26108),
        (19042.742299, 23207.124406, 27297.830787, 32104.123307, 39164.386095),
        (18925.61, 21068.85, 22798.94, 24988.37, 27803.35),
    ]
    told = {
        "vincent": ((19920.7841, 22659.9915, 24682.5903, 27096.8311, 31025.2454), 1805.2878),
        "median": ((19042.7423, 23207.1244, 23951, 24988.37, 27803.35), 1565.3865),
        "pool": ((19319.16, 22342.66, 24012.47, 26290.24, 35634.25), 1599.6161),
    }
    for method, (expected, loss) in told.items():
        found = quantiles.METHODS[method](members, None)
        assert found == near(expected, 2 if method == "pool" else 4)
        assert quantiles.pinball(found, 21435) == near(loss, 4)


def test_di_05_intervals_of_nothing_and_of_some() -> None:
    """DI-05, DI-06, AP-16: one set of quantiles, safe on empty input, one weight vector."""
    named = dict(zip("abc", MEMBERS, strict=True))

    assert quantiles.intervals({}) is None
    assert quantiles.interval_90(None) is None
    assert quantiles.intervals(named) == quantiles.linear_pool(MEMBERS)
    assert quantiles.intervals(named, dict.fromkeys("abc", 0)) is None
    weighted = quantiles.intervals(named, {"a": 1, "b": 2, "c": 1}, "vincent")
    assert quantiles.interval_90(weighted) == near((275, 387.5))
    with pytest.raises(ValueError, match="no weight for c"):
        quantiles.intervals(named, {"a": 1, "b": 2})


@pytest.mark.parametrize("rule", quantiles.METHODS.values(), ids=quantiles.METHODS)
def test_ap_16_a_member_with_crossing_quantiles_is_refused(rule: Any) -> None:
    """AP-16: never repaired silently."""
    with pytest.raises(ValueError, match="cross"):
        rule([MEMBERS[0], (1, 3, 2, 4, 5)], None)
    for wrong in ([], [(1, 2, 3)], [(1, 2, 3, 4, math.nan)]):
        with pytest.raises(ValueError, match=r"members|five finite"):
            rule(wrong, None)


def test_a_pool_of_certain_members_jumps() -> None:
    """Members without width are steps; at a flat level the lower end is taken."""
    assert quantiles.linear_pool([(1,) * 5, (2,) * 5]) == (1, 1, 1, 2, 2)
    assert quantiles.linear_pool([(7,) * 5]) == (7,) * 5


members_of = st.lists(
    st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=5).map(sorted), min_size=1, max_size=6
)


@given(members_of, st.randoms(use_true_random=False))
@law
def test_br_25_pooled_quantiles_are_sorted_bounded_and_in_no_order(
    members: list[list[float]], dice: random.Random
) -> None:
    """BR-25, AP-16: sorted after aggregation, within the members', permutation invariant."""
    moved = dice.sample(members, len(members))
    for method, rule in quantiles.METHODS.items():
        if method == "geometric":
            continue
        found = rule(members, None)
        assert list(found) == sorted(found)
        assert found == pytest.approx(rule(moved, None), rel=1e-6, abs=1e-6)
        for level, value in enumerate(found):
            column = [member[level] for member in members]
            assert min(column) - 1e-6 <= value <= max(column) + 1e-6


@given(members_of)
@law
def test_a_pool_is_no_sharper_than_its_members_average(members: list[list[float]]) -> None:
    """Of one member both are the member itself."""
    assert quantiles.linear_pool(members[:1]) == pytest.approx(
        quantiles.vincent(members[:1]), rel=1e-9, abs=1e-6
    )
    assert quantiles.linear_pool(members * 2) == pytest.approx(
        quantiles.linear_pool(members), rel=1e-6, abs=1e-6
    )


# Probabilities


def test_fv_23_four_probabilities() -> None:
    ps = [0.6, 0.7, 0.8, 0.9]

    assert (points.mean(ps), points.median(ps)) == near((0.75, 0.75))
    assert probabilities.geometric_mean_of_odds(ps) == near(0.7701344393)
    factor = probabilities.neyman_roughgarden(4)
    # 40 decimal places give …5352(307); the vector as written, …5307, is off in its ninth
    assert probabilities.extremised(ps, factor) == near(0.8575435352)
    assert probabilities.extremised(ps, factor) == pytest.approx(0.8575435307, abs=1e-8)
    assert probabilities.extremised(ps, 1.5) == near(0.8597970931)


def test_fv_23_the_factor_of_independent_information() -> None:
    told = {
        1: 1.0,
        2: 1.291503,
        3: 1.415339,
        4: 1.484641,
        5: 1.529013,
        10: 1.624953,
        50: 1.709636,
    }

    assert {n: probabilities.neyman_roughgarden(n) for n in told} == near(told, 6)
    assert probabilities.neyman_roughgarden(10**9) == near(math.sqrt(3), 6)


def test_fv_24_disagreement_certainty_and_weights() -> None:
    """FV-24: clipped to [.01, .99] before anything else."""
    ps = [0.9, 0.9, 0.2]

    assert points.mean(ps) == near(0.6667, 4)
    assert probabilities.geometric_mean_of_odds(ps) == near(0.7316, 4)
    factor = probabilities.neyman_roughgarden(3)
    assert probabilities.extremised(ps, factor) == near(0.8052, 4)
    assert probabilities.geometric_mean_of_odds([1.0, 0.6, 0.7]) == near(0.8753696691)
    weighted = probabilities.geometric_mean_of_odds([0.9, 0.7, 0.4], (2, 1, 1))
    assert weighted == near(0.7701344393)
    assert points.weighted_mean([0.9, 0.7, 0.4], (2, 1, 1)) == near(0.725)


@pytest.mark.parametrize(
    ("ps", "truth", "confidence"),
    [([0.9, 0.7, 0.4], True, 0.7068), ([0.3, 0.2, 0.45], False, 0.6924)],
)
def test_fv_24_a_predicates_confidence_is_of_what_was_selected(
    ps: list[float],
    truth: bool,  # noqa: FBT001
    confidence: float,
) -> None:
    found = probabilities.selected(probabilities.geometric_mean_of_odds(ps))

    assert found == (truth, near(confidence, 4))


def test_what_is_no_probability_is_refused() -> None:
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"probability|finite"):
            probabilities.geometric_mean_of_odds([0.5, wrong])
    with pytest.raises(ValueError, match="factor"):
        probabilities.extremised([0.5], 0)
    assert probabilities.selected(0.5) == (False, 0.5)
    assert probabilities.selected(0.5, tie=True) == (True, 0.5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms(use_true_random=False))
@law
def test_br_25_pooled_odds_stay_within_the_members(ps: list[float], dice: random.Random) -> None:
    """BR-25: bounds, permutation invariance, and the mirror: what holds of p holds of 1 − p."""
    pooled = probabilities.geometric_mean_of_odds(ps)
    cut = [probabilities.clipped(p) for p in ps]

    assert min(cut) - 1e-9 <= pooled <= max(cut) + 1e-9
    shuffled = dice.sample(ps, len(ps))
    assert probabilities.geometric_mean_of_odds(shuffled) == near(pooled)
    assert probabilities.geometric_mean_of_odds([1 - p for p in ps]) == near(1 - pooled)


# Dispersion

ROUNDS = {
    "FV-10": ([300e3, 320e3, 350e3, 400e3], 0.1391296371),
    "FV-11": ([310e3, 322e3, 345e3, 380e3], 0.1026443924),
    "FV-12": ([312e3, 322.5e3, 344.5e3, 377e3], 0.0968037156),
    "FV-13": ([311.9e3, 322.6e3, 344.6e3, 377.3e3], 0.0970678696),
    "FV-14, n=3": ([200e3, 250e3, 400e3], 0.3465735903),
    "FV-14, n=2": ([200e3, 400e3], 0.3465735903),
    "FV-14, grid": ([100 * 1.1**i for i in range(5)], 0.1906203596),
}


@pytest.mark.parametrize(("estimates", "expected"), ROUNDS.values(), ids=ROUNDS)
def test_di_02_dispersion_is_the_iqr_of_logarithms(estimates: list[float], expected: float) -> None:
    """DI-02, FV-10, FV-11, FV-12, FV-13, FV-14: quartiles are linear (type 7)."""
    assert dispersion.dispersion(estimates) == near(expected)


def test_di_03_a_debate_stops_when_it_stops_moving() -> None:
    """DI-03, DI-01, FV-11, FV-12, FV-13: 26 %, 5.7 %, 0.27 % (wider, and still) → stop."""
    apart = [dispersion.dispersion(ROUNDS[f"FV-1{i}"][0]) for i in range(4)]
    pairs = list(itertools.pairwise(apart))

    assert [dispersion.relative_change(*pair) for pair in pairs] == near(
        [0.262239, 0.056902, 0.002729], 6
    )
    assert [dispersion.should_stop(*pair) for pair in pairs] == [False, False, True]


@pytest.mark.parametrize(
    ("before", "after", "stops"),
    [
        (0.20, 0.198, False),
        (0.20, 0.1981, True),
        (0.20, 0.202, False),
        (0.20, 0.2019, True),
        (0.0, 0.0, True),
        (0.0, 0.01, False),
        (0.2, 0.0, False),
        (None, 0.2, False),
        (0.2, None, False),
        (None, None, False),
    ],
)
def test_fv_15_the_side_of_exactly_one_percent(
    before: float | None,
    after: float | None,
    stops: bool,  # noqa: FBT001
) -> None:
    """FV-15, AP-01, AP-02, DI-03: a change of exactly 1 % does not stop, however it is rounded."""
    assert dispersion.should_stop(before, after) is stops


@given(st.floats(1e-6, 1e6), st.sampled_from([0.99, 1.01]))
@law
def test_fv_15_exactly_one_percent_never_stops_at_any_size(size: float, factor: float) -> None:
    assert dispersion.should_stop(size, size * factor) is False
    assert dispersion.should_stop(size, size * (1 + (factor - 1) * 0.9999)) is True


def test_dispersion_is_undefined_below_two() -> None:
    """FV-14, DI-02, AP-12: so are range and MAD."""
    for measure in (dispersion.dispersion, dispersion.spread_range, dispersion.mad):
        assert measure([]) is None
        assert measure({"cfo": 250e3}) is None
    assert dispersion.dispersion({"a": 200e3, "b": 400e3}) == near(math.log(2) / 2)
    assert dispersion.spread_range([200e3, 400e3]) == near(math.log(2))


def test_ap_13_quantities_without_a_logarithm_name_their_scale() -> None:
    """AP-13: log, linear or logit."""
    assert dispersion.dispersion([-1.0, 0.0, 1.0], "linear") == near(1.0)
    assert dispersion.spread_range([0.1, 0.9], "logit") == near(2 * math.log(9))
    for values, scale in (([-1.0, 1.0], "log"), ([0.0, 0.5], "logit"), ([1.0, 0.5], "logit")):
        with pytest.raises(ValueError, match=f"on a {scale} scale"):
            dispersion.dispersion(values, scale)  # type: ignore[arg-type]


def test_scores_on_a_fixed_range() -> None:
    """AP-12: IQR .875, MAD .5, confidence 1 − IQR/10 of 7, 7.5, 8, 6."""
    scores = [7, 7.5, 8, 6]

    assert points.median(scores) == near(7.25)
    assert dispersion.dispersion(scores, "linear") == near(0.875)
    assert dispersion.mad(scores, "linear") == near(0.5)
    assert dispersion.spread_confidence(scores, 0, 10) == near(0.9125)
    assert dispersion.spread_confidence([7], 0, 10) is None
    with pytest.raises(ValueError, match="range"):
        dispersion.spread_confidence([11, 2], 0, 10)


@given(st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=9), st.floats(1e-3, 1e3))
@law
def test_br_25_dispersion_has_no_unit(values: list[float], factor: float) -> None:
    """BR-25: scale invariance on the log scale, shift invariance on the linear one."""
    scaled = [value * factor for value in values]

    for measure in (dispersion.dispersion, dispersion.spread_range, dispersion.mad):
        assert measure(scaled) == pytest.approx(measure(values), abs=1e-9)
    assert 0 <= (dispersion.dispersion(values) or 0) <= (dispersion.spread_range(values) or 0)


def test_fv_10_a_factor_of_137_percent_changes_nothing() -> None:
    values = ROUNDS["FV-10"][0]
    before, after = (dispersion.dispersion([x * f for x in values]) for f in (1.0, 1.37))

    assert before is not None
    assert after is not None
    assert abs(before - after) < 1e-14


# Agreement: what is not read of it by the point (see test_convergence_points.py)

FV_06 = {
    "AAAAA": 1,
    "AAAAB": 0.6891,
    "AAABB": 0.5818,
    "AAB": 0.4206,
    "AB": 0,
    "AABB": 0.5,
    "AABC": 0.25,
}


@pytest.mark.parametrize(("labels", "told"), FV_06.items(), ids=FV_06)
def test_fv_06_agreement_as_entropy(labels: str, told: float) -> None:
    """FV-06, AM-22: the reading that no setting takes."""
    assert agreement.entropy_agreement(labels) == near(told, 4)


def test_fv_07_what_all_sets_share() -> None:
    """FV-07: what all share is .2 of the whole."""
    sets = [{"churn", "cac", "legal"}, {"churn", "cac", "team"}, {"churn", "legal", "team", "fx"}]

    assert agreement.overlap(sets) == near(0.2)
    assert agreement.overlap([set()]) == 1.0


def test_agreement_of_one_is_trivial_and_of_none_an_error() -> None:
    """AM-24: which is why a quorum is asked for elsewhere."""
    assert agreement.entropy_agreement("A") == 1.0
    with pytest.raises(ValueError, match="no labels"):
        agreement.entropy_agreement("")
    with pytest.raises(ValueError, match="no sets"):
        agreement.overlap([])


@given(st.lists(st.sampled_from("ABC"), min_size=1, max_size=9), st.randoms())
@law
def test_br_25_agreement_is_a_share_and_has_no_order(
    labels: list[str], dice: random.Random
) -> None:
    """BR-25: permutation invariance; 1 where all agree, and only there."""
    said = agreement.entropy_agreement(labels)

    assert 0.0 <= said <= 1.0
    assert (said == 1.0) == (len(set(labels)) == 1)
    assert agreement.entropy_agreement(dice.sample(labels, len(labels))) == said


# Reliability

FIVE_ITEMS = ["AAAA", "AAAB", "AABB", "BBBC", "CCCC"]
GAPS: list[list[str | None]] = [
    list("AAAA"),
    ["A", "A", "A", None],
    list("AABB"),
    ["B", "B", None, "C"],
    list("CCCC"),
]
TEXTBOOK = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def test_fv_26_fleiss_kappa() -> None:
    kappa, observed, chance = reliability.fleiss_kappa(FIVE_ITEMS)

    assert (observed, chance) == near((2 / 3, 0.355))
    assert kappa == near(0.4832041344)
    assert math.isnan(reliability.fleiss_kappa(["AA", "AA"]).kappa)
    for wrong in ([], ["AB", "A"], ["A", "B"]):
        with pytest.raises(ValueError, match="raters"):
            reliability.fleiss_kappa(wrong)


def test_fv_26_krippendorff_alpha_with_and_without_gaps() -> None:
    assert reliability.krippendorff_alpha(FIVE_ITEMS) == near(0.5090439276)
    assert reliability.krippendorff_alpha(GAPS) == near(0.6072607261)


@pytest.mark.parametrize(
    ("level", "alpha"),
    [
        ("nominal", 0.7434210526),
        ("ordinal", 0.8153875038),
        ("interval", 0.8491071429),
        ("ratio", 0.7974027748),
    ],
)
def test_fv_26_krippendorffs_textbook_matrix(level: Any, alpha: float) -> None:
    rows = [[None if x == "." else int(x) for x in row.split()] for row in TEXTBOOK]
    items = list(zip(*rows, strict=True))

    assert reliability.krippendorff_alpha(items, level) == near(alpha)


def test_two_zeros_agree_on_a_ratio_scale() -> None:
    """Perfect agreement is 1, whatever the labels."""
    for level in ("ordinal", "interval", "ratio"):
        assert reliability.krippendorff_alpha([[0, 0], [2, 2]], level) == 1.0


def test_alpha_of_one_label_says_nothing() -> None:
    assert math.isnan(reliability.krippendorff_alpha(["AAA", "AA"]))
    assert math.isnan(reliability.krippendorff_alpha([["A"], [None, "B"]]))
    with pytest.raises(ValueError, match="numbers on the ordinal level"):
        reliability.krippendorff_alpha(["AB"], "ordinal")


def test_fv_26_kendalls_w() -> None:
    ranks: list[list[float]] = [[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4]]

    assert reliability.kendall_w(ranks) == near((7 / 9, 35, 7))
    rho = reliability.mean_spearman(ranks)
    assert rho == near(2 / 3)
    assert (rho * 2 + 1) / 3 == near(7 / 9)


def test_fv_26_kendalls_w_with_ties() -> None:
    ties: list[list[float]] = [[1, 2.5, 2.5, 4], [1.5, 1.5, 3, 4], [1, 3, 2, 4]]

    assert reliability.kendall_w(ties).w == near(0.8690476190)
    assert math.isnan(reliability.kendall_w([[1.5, 1.5], [1.5, 1.5]]).w)
    with pytest.raises(ValueError, match="two judges"):
        reliability.kendall_w([[1, 2]])


@given(st.lists(st.permutations([1, 2, 3, 4, 5]), min_size=2, max_size=5))
@law
def test_w_and_rho_tell_the_same(rankings: list[list[int]]) -> None:
    """FV-26: W = (ρ(m − 1) + 1) / m, whatever the rankings."""
    m, rho = len(rankings), reliability.mean_spearman(rankings)

    assert reliability.kendall_w(rankings).w == near((rho * (m - 1) + 1) / m)


# Cost matching, time, power


@pytest.mark.parametrize(
    ("members", "rounds", "skeptics", "calls", "k"),
    [
        (3, 1, 0, 9, 7),
        (3, 2, 0, 15, 13),
        (4, 2, 0, 20, 18),
        (5, 2, 0, 25, 23),
        (4, 2, 1, 21, 19),
        (5, 3, 1, 36, 34),
    ],
)
def test_fv_27_equal_calls(members: int, rounds: int, skeptics: int, calls: int, k: int) -> None:
    """FV-27, DP-14, DP-30, AP-10: k = n(1 + 2R) + s − 2."""
    debate = matching.debate_calls(members, rounds, skeptics)

    assert debate == calls
    assert matching.matched_k(debate) == k
    assert matching.single_calls(k) == calls
    assert matching.independent_calls(members) == members


def test_fv_28_by_money_and_tokens_it_is_more() -> None:
    """FV-28, AP-10: k is 24 by money, 29 by tokens, 18 by calls; all three ratios are told."""
    turns = [(4, 1500, 300), (8, 2600, 250), (8, 3100, 320)]
    usd = sum(n * (3 * i + 15 * o) for n, i, o in turns) / 1e6
    tokens = sum(n * (i + o) for n, i, o in turns)
    chain_tokens = 4770  # 4,200 in and 570 out cost $0.02115

    assert (usd, tokens) == (near(0.2412), 57360)
    assert near(0.02115) == (3 * 4200 + 15 * 570) / 1e6
    assert matching.matched_k(usd, 0.009, 0.02115) == 24
    assert matching.matched_k(tokens, 1800, chain_tokens) == 29
    assert matching.matched_k(matching.debate_calls(4, 2)) == 18
    assert matching.cost_ratio(24 * 0.009 + 0.02115, usd) == near(0.9832089552)
    assert matching.cost_ratio(None, usd) is matching.cost_ratio(1.0, 0.0) is None
    with pytest.raises(ValueError, match="nothing can be matched"):
        matching.matched_k(1, 0, 0)


@given(st.floats(0, 1e6), st.floats(1e-3, 1e3), st.floats(0, 1e3))
@law
def test_a_matched_arm_never_costs_more_than_the_debate(
    debate: float, sample: float, chain: float
) -> None:
    """AP-10: unless even one sample does; and one sample more would."""
    k = matching.matched_k(debate, sample, chain)

    assert k == 1 or k * sample + chain <= debate + 1e-6 * sample
    assert (k + 1) * sample + chain > debate


def test_fv_29_worst_case_seconds() -> None:
    """FV-29: the first round is parallel; the cap cuts roles off from five on."""
    told = {2: 150, 3: 210, 4: 270, 5: 270, 9: 270}

    assert {n: matching.worst_case_seconds(n) for n in told} == told
    assert matching.worst_case_seconds(4, total=200) == 200
    assert matching.worst_case_seconds(3, 0) == 0


def test_items_that_a_gain_needs() -> None:
    """BR-22: McNemar, 5 %, power 80 %; a small bench cannot show three points."""
    told = {
        (0.12, 0.03): 1045,
        (0.12, 0.05): 375,
        (0.20, 0.05): 626,
        (0.20, 0.03): 1742,
        (0.30, 0.10): 234,
    }

    assert {pair: matching.mcnemar_items(*pair) for pair in told} == told
    assert matching.mcnemar_items(0.2, 0.0) is None


# Positions

PANEL = {
    "CRO": Position(
        recommendation="Invest",
        premises=["LTV > 3 CAC"],
        risks=["churn", "cash"],
        timing="Q1",
    ),
    "CFO": Position(recommendation="Defer", premises=["runway 9m"], risks=["cash"], timing="Q3"),
}
HASH = "5ca20e27ba45d6c2a573de96e61324e95ad2dc337a559ca70e05bcf20d539241"


def test_fv_30_position_hash() -> None:
    """FV-30, AM-16, DD-71: one canonical text, one hash."""
    assert positions.canonical(PANEL) == (
        '[["cfo","defer",["runway 9m"],["cash"],"q3"],'
        '["cro","invest",["ltv > 3 cac"],["cash","churn"],"q1"]]'
    )
    assert positions.position_hash(PANEL) == HASH


def test_fv_30_order_case_and_spacing_are_no_position() -> None:
    other = {
        "cfo": Position(
            recommendation=" DEFER ", premises=["Runway  9m", ""], risks=["Cash"], timing="q3"
        ),
        "cro": Position(
            recommendation="ｉｎｖｅｓｔ",
            premises=["ltv >\n3 cac"],
            risks=["CASH", "churn", "cash"],
            timing="Q1",
        ),
    }

    assert positions.position_hash(other) == HASH


def test_fv_30_another_timing_is_another_state() -> None:
    moved = {
        **PANEL,
        "CFO": Position(
            recommendation="Defer", premises=["runway 9m"], risks=["cash"], timing="Q2"
        ),
    }

    assert positions.position_hash(moved) == (
        "f1c468c53e24fcf019b33cff77621fd96da302832130a01734f676501e53f3c9"
    )


@pytest.mark.parametrize(
    ("states", "literal", "adjacent", "any_round"),
    [
        ("XX", None, 2, 2),
        ("XXX", 3, 2, 2),
        ("XYX", None, None, 3),
        ("XYXY", None, None, 3),
        ("XYY", None, 3, 3),
        ("XYYY", 4, 3, 3),
        ("XYZ", None, None, None),
    ],
)
def test_fv_30_readings_of_a_loop(
    states: str, literal: int | None, adjacent: int | None, any_round: int | None
) -> None:
    """FV-30, AM-14, AM-15, DD-73: only the last reading sees A-B-A-B."""

    def first(reading: Callable[..., bool], **how: int) -> int | None:
        rounds = range(1, len(states) + 1)
        return next((n for n in rounds if reading(states[:n], **how)), None)

    assert first(positions.repeated, repeats=3) == literal
    assert first(positions.repeated) == adjacent
    assert first(positions.revisited) == any_round


texts = st.text(st.characters(codec="utf-8"), max_size=20)


@given(texts)
@law
def test_a_normal_text_is_its_own_normal_form(text: str) -> None:
    once = positions.normal(text)

    assert positions.normal(once) == once
    assert positions.normal(f"  {text}\t") == once


def test_the_median_ignores_one_outlier_and_the_mean_does_not() -> None:
    """FV-16: one point of five moves the mean by 30 %, the median by 4.5 %."""
    assert points.mean(FIVE) / points.mean(FIVE[:4]) > 1.3
    assert statistics.median(FIVE) / statistics.median(FIVE[:4]) < 1.05
