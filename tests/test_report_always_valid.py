"""What is looked at again and again, and must hold all the same."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.gateway.evaluation.comparison.always_valid import (
    Sum,
    Watched,
    apart,
    needed,
    rows_until_sure,
    surely_above,
    watched,
)
from pointsman.gateway.evaluation.statistics.numerics import exact_lower


def told(one: Watched) -> bool:
    return not one.low <= 0.0 <= one.high


def chatty(dice: random.Random, rate: float, rows: int, alike: float) -> Sum:
    """One subject whose decisions come out alike with that probability."""
    usual = dice.random() < rate
    return Sum(
        sum(usual if dice.random() < alike else dice.random() < rate for _ in range(rows)), rows
    )


def arms_looked_at(
    dice: random.Random, subjects: int, small: float, rate: float, rows: int, alike: float
) -> Iterator[tuple[list[Sum], list[Sum]]]:
    """Two arms of the same rate, looked at after every twentieth subject."""
    a: list[Sum] = []
    b: list[Sum] = []
    for number in range(subjects):
        (b if dice.random() < small else a).append(chatty(dice, rate, rows, alike))
        if number % 20 == 0 and min(len(a), len(b)) >= 50:
            yield a, b


ALIKE = [
    (2000, 0.1, 0.97, 3, 0.5, 0.05),
    (2000, 0.1, 0.97, 5, 0.8, 0.02),
    (2000, 0.1, 0.97, 10, 1.0, 0.05),
    (2000, 0.1, 0.95, 10, 1.0, 0.05),
    (1500, 0.5, 0.9, 10, 1.0, 0.05),
]


@pytest.mark.slow
@pytest.mark.parametrize(("subjects", "small", "rate", "rows", "alike", "effect"), ALIKE)
def test_equal_arms_of_chatty_subjects_are_seldom_told_apart(
    subjects: int, small: float, rate: float, rows: int, alike: float, effect: float
) -> None:
    """A split of one decider against itself, at every look: at most one in twenty."""
    draws = 60
    wrong = sum(
        any(
            told(apart(a, b, effect))
            for a, b in arms_looked_at(random.Random(seed), subjects, small, rate, rows, alike)
        )
        for seed in range(draws)
    )
    assert wrong <= draws / 20


def test_a_small_arm_that_is_all_right_may_be_so_by_chance() -> None:
    """Of 200 subjects at 97 %, none wrong: once in 440 arms, and no proof."""
    a = [Sum(10.0 * (n % 100 > 2), 10) for n in range(1800)]
    assert not told(apart(a, [Sum(10.0, 10)] * 200, 0.05))


def test_arms_that_differ_are_told_apart() -> None:
    a = [Sum(float(n % 10 > 0), 1) for n in range(1000)]
    b = [Sum(float(n % 10 > 3), 1) for n in range(1000)]
    found = apart(a, b, 0.02)
    assert found.mean == pytest.approx(-0.3)
    assert -1.0 <= found.low < found.mean < found.high < 0.0


def test_an_arm_without_variance_is_refused() -> None:
    with pytest.raises(ValueError, match="fewer than two"):
        apart([Sum(1.0, 1)], [Sum(1.0, 1)] * 2, 0.02)


def test_equal_deciders_on_the_same_rows_are_seldom_told_apart() -> None:
    """Twenty looks at pairs of two equal deciders; a test made for one look fails in a quarter."""
    draws = 100

    def wrong(seed: int) -> bool:
        dice, rows = random.Random(seed), list[float]()
        for _ in range(20):
            rows += [float(dice.random() < 0.9) - float(dice.random() < 0.9) for _ in range(100)]
            if told(watched(rows, range(len(rows)), 0.02)):
                return True
        return False

    assert sum(map(wrong, range(draws))) <= draws / 20


def test_rows_of_one_subject_count_for_less() -> None:
    rows = [1.0] * 40 + [0.0] * 360
    alone = watched(rows, range(400), 0.02)
    alike = watched(rows, [number // 10 for number in range(400)], 0.02)
    assert told(alone)
    assert not told(alike)


def test_no_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="no rows"):
        watched([], [], 0.02)


@given(
    rows=st.integers(1, 400), share=st.floats(0.0, 1.0), alpha=st.sampled_from((0.01, 0.05, 0.2))
)
def test_what_is_sure_at_every_look_is_sure_at_one(rows: int, share: float, alpha: float) -> None:
    errors = round(share * rows)
    if surely_above(errors, rows, alpha):
        assert exact_lower(errors, rows, 0.05) > alpha
        assert surely_above(rows, rows, alpha)


def test_a_rate_that_is_kept_is_seldom_surely_exceeded() -> None:
    """Looked at after every row of 500, at a true rate of just α: at most one in twenty."""

    def wrong(seed: int) -> bool:
        dice, errors = random.Random(seed), 0
        for rows in range(1, 501):
            errors += dice.random() < 0.05
            if surely_above(errors, rows, 0.05):
                return True
        return False

    assert sum(map(wrong, range(200))) <= 10


def test_rows_that_are_still_needed() -> None:
    """The estimate is the first number at which the same rate tells."""
    sure = rows_until_sure(0.1, 0.05)
    assert sure is not None
    assert surely_above(round(0.1 * sure), sure, 0.05)
    assert rows_until_sure(0.05, 0.05) is None
    rows = [1.0, -1.0, 0.0, 0.0] * 100
    seen = watched(rows, range(400), 0.05)
    more = needed(400, seen.variance, seen.mean, 0.05)
    assert more is not None
    later = watched(rows * ((400 + more) // 400 + 1), range(400 * ((400 + more) // 400 + 1)), 0.05)
    assert later.high <= 0.05
