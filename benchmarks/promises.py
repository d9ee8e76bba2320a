"""
Which rule for a threshold keeps its promise: the certified one and the naive one, side by side.

python benchmarks/promises.py [--runs N] [--seed N]

Each run draws labelled rows from a mixture whose distribution is known, lets both rules choose a
threshold, and looks up the *true* share of wrong answers among the decided: computed, not sampled.
A promise is broken where that exceeds α. The certified rule (`certify`) may break it in 5 % of the
runs (δ); the naive rule takes the lowest threshold whose measured error is at most α. "Cover" is
the mean true coverage, 0 where nothing was certified; "oracle" what the best threshold covers.

Confidence comes from three uniform parts, as (weight, from, to): (0.40, 0.94, 1.00),
(0.35, 0.75, 1.00) and (0.25, 0.50, 0.80). *Calibrated*: an answer of confidence c is right with
probability c. *Overconfident*: with probability 0.5 + 0.86·(c − 0.5), which is 0.93 at most.

Exits 1 when the certified rule breaks its promise in more than 5 % of the runs of a column, beyond
noise: a rule that breaks exactly 5 % exceeds the bar, printed below the table, with probability
0.001.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from statistics import fmean
from typing import NamedTuple

from pointsman.gateway.evaluation.statistics.certifying import Certified, certify
from pointsman.gateway.evaluation.statistics.numerics import binomial_cdf
from pointsman.gateway.evaluation.statistics.ruling import measured_rule

DELTA, NOISE = 0.05, 0.001
PARTS = ((0.40, 0.94, 1.00), (0.35, 0.75, 1.00), (0.25, 0.50, 0.80))  # weight, from, to


class Column(NamedTuple):
    """One setting: labelled rows, budget, and how much of the confidence above 1/2 is earned."""

    rows: int
    alpha: float
    earned: float

    @property
    def name(self) -> str:
        """Heading of its line."""
        mixture = "calibrated" if self.earned == 1.0 else "overconfident"
        return f"{mixture}, n={self.rows:,}, α={self.alpha:.0%}"

    def chance(self, confidence: float) -> float:
        """Probability that an answer of this confidence is right."""
        return 0.5 + self.earned * (confidence - 0.5)


class Truth(NamedTuple):
    """What a threshold really does, over the whole distribution."""

    coverage: float
    risk: float


class Tally(NamedTuple):
    """What one rule did over all runs."""

    broken: int
    cover: float


COLUMNS = (
    Column(200, 0.10, 1.0),
    Column(500, 0.10, 1.0),
    Column(500, 0.05, 1.0),
    Column(1_000, 0.05, 1.0),
    Column(2_000, 0.05, 1.0),
    Column(1_000, 0.10, 0.86),
)


def truth(column: Column, threshold: float) -> Truth:
    """Integrate over each uniform part: the chance is linear, so its mean is that of the middle."""
    coverage = wrong = 0.0
    for weight, low, high in PARTS:
        start = max(low, threshold)
        if start < high:
            mass = weight * (high - start) / (high - low)
            coverage += mass
            wrong += mass * (1.0 - column.chance((start + high) / 2))
    return Truth(coverage, wrong / coverage if coverage else 0.0)


def oracle(column: Column) -> float:
    thresholds = (0.5 + step / 20_000 for step in range(10_001))
    kept = (truth(column, threshold) for threshold in thresholds)
    return max(each.coverage for each in kept if each.risk <= column.alpha)


def drawn(column: Column, dice: random.Random) -> tuple[list[float], list[bool]]:
    weights = [weight for weight, _, _ in PARTS]
    parts = dice.choices(PARTS, weights, k=column.rows)
    confidences = [dice.uniform(low, high) for _, low, high in parts]
    return confidences, [dice.random() < column.chance(each) for each in confidences]


def certified(confidences: list[float], right: list[bool], alpha: float) -> float | None:
    found = certify(confidences, right, alpha, DELTA)
    return found.threshold if isinstance(found, Certified) else None


def naive(confidences: list[float], right: list[bool], alpha: float) -> float | None:
    found = measured_rule(confidences, right, alpha)
    return found.threshold if found else None


RULES: dict[str, Callable[[list[float], list[bool], float], float | None]] = {
    "certified": certified,
    "naive": naive,
}


def measured(column: Column, runs: int, seed: int) -> dict[str, Tally]:
    """Both rules see the same rows in each run."""
    dice = random.Random(seed)
    found: dict[str, list[Truth]] = {name: [] for name in RULES}
    for _ in range(runs):
        rows = drawn(column, dice)
        for name, rule in RULES.items():
            threshold = rule(*rows, column.alpha)
            found[name].append(Truth(0.0, 0.0) if threshold is None else truth(column, threshold))
    return {
        name: Tally(
            sum(each.risk > column.alpha for each in truths),
            fmean(each.coverage for each in truths),
        )
        for name, truths in found.items()
    }


def bar(runs: int) -> int:
    """Give the fewest broken runs that a rule of exactly δ exceeds with probability `NOISE`."""
    return next(k for k in range(runs + 1) if 1.0 - binomial_cdf(k, runs, DELTA) <= NOISE)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--runs", type=int, default=200, help="per column")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    begun, most, worst = time.perf_counter(), bar(args.runs), 0
    print(f"{'':34} {'oracle':>7} {'certified':>18} {'naive':>18}")
    print(f"{'':34} {'cover':>7} {'broken / cover':>18} {'broken / cover':>18}")
    for column in COLUMNS:
        tallies = measured(column, args.runs, args.seed)
        worst = max(worst, tallies["certified"].broken)
        cells = [f"{each.broken / args.runs:.3f} / {each.cover:.3f}" for each in tallies.values()]
        print(f"{column.name:34} {oracle(column):7.3f} {cells[0]:>18} {cells[1]:>18}")
    print(f"{args.runs} runs a column, δ = {DELTA:.0%}, seed {args.seed}")
    print(f"most broken runs of the certified rule: {worst}; the bar: {most}")
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return int(worst > most)


if __name__ == "__main__":
    sys.exit(main())
