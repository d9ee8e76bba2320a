"""Softmax regression and its scale, against their definitions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pointsman.providers.local.fits import Fits
from pointsman.providers.local.heads import best_scale, fit, logits, regression, softmax
from pointsman.providers.local.outcomes import choice_menu


def clouds(outcomes: int, each: int, spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw unit vectors round *outcomes* centres."""
    draw = np.random.default_rng(3)
    centres = draw.normal(size=(outcomes, 16))
    right = np.repeat(np.arange(outcomes), each)
    rows = centres[right] + spread * draw.normal(size=(len(right), 16))
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return (
        unit,
        right,
        (centres / np.linalg.norm(centres, axis=1, keepdims=True)).astype(np.float32),
    )


def test_regression_finds_the_minimum() -> None:
    """At the minimum no small step in any direction is better."""
    rows, right, _ = clouds(3, 20, 2.0)
    counts = np.linspace(1, 3, len(rows))

    def cost(weights: np.ndarray) -> float:
        shares = softmax(logits(weights, rows))[np.arange(len(rows)), right]
        return float(-(counts * np.log(shares)).sum() + 0.05 * (weights[:-1] ** 2).sum())

    found = regression(rows, right, counts, 3)
    draw = np.random.default_rng(0)
    steps = (draw.normal(size=found.shape) * 1e-2 for _ in range(50))
    assert all(cost(found) <= cost(found + step) for step in steps)


def test_the_best_scale_is_the_one_the_answers_were_drawn_with() -> None:
    draw = np.random.default_rng(0)
    scores = draw.normal(size=(20_000, 5))
    shares = softmax(3.0 * scores)
    right = (shares.cumsum(axis=1) < draw.random((20_000, 1))).sum(axis=1)
    assert best_scale(scores, right) == pytest.approx(3.0, rel=0.05)


def test_a_head_is_calibrated_from_its_own_examples() -> None:
    rows, right, centres = clouds(4, 200, 1.5)
    head = fit(rows[::2], right[::2], centres)
    shares = head.probabilities(rows[1::2])
    hits = shares.argmax(axis=1) == right[1::2]
    assert hits.mean() == pytest.approx(shares.max(axis=1).mean(), abs=0.06)


def test_an_outcome_without_examples_is_found_by_its_description() -> None:
    rows, right, centres = clouds(4, 50, 0.5)
    seen = right != 2
    head = fit(rows[seen], right[seen], centres)
    found = head.probabilities(rows[~seen]).argmax(axis=1)
    assert (found == 2).mean() > 0.9


def test_many_askers_make_a_thing_once() -> None:
    made: list[int] = []
    gate = threading.Event()

    def make() -> int:
        gate.wait(5)
        made.append(1)
        return 7

    fits: Fits[int] = Fits(background=False)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(fits.get, "key", make) for _ in range(8)]
        gate.set()
        assert {one.result() for one in asked} == {7}
    assert made == [1]


def test_whoever_waits_learns_of_a_failure() -> None:
    def make() -> int:
        raise ZeroDivisionError

    fits: Fits[int] = Fits(background=False)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fits.get("key", make)


def test_background_work_ends_with_close() -> None:
    fits: Fits[int] = Fits(background=True)
    began, ended = threading.Event(), threading.Event()

    def make() -> int:
        began.set()
        ended.wait(5)
        return 7

    assert fits.get("key", make) is None
    assert began.wait(5)
    ended.set()
    fits.close()
    assert fits.get("key", make) == 7
    assert not [one for one in threading.enumerate() if one.name.startswith("pointsman-local")]


@pytest.mark.parametrize("scale", [18.0, 126.0, 1e6])
def test_silence_beside_a_sentinel_is_shared_evenly(scale: float) -> None:
    """With the scale of `e5` every other share was 0, and 0 / 0 is no number."""
    rows = np.eye(4, 3, dtype=np.float32)
    menu = choice_menu(rows, scale, 3, 0.86)
    silence = np.zeros(3, np.float32)
    shares = menu.shares(menu.cosines(silence), silence)
    assert shares == pytest.approx([0.35 / 3] * 3 + [0.65])
    assert shares.dtype == np.float64
