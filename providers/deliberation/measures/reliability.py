"""
Agreement over several items, beyond chance: a decision point's health over a window.

Inside one debate there is one item: use `agreement` there. With skewed labels kappa and alpha
collapse although nearly everything agrees: report the raw agreement beside them.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal, NamedTuple

from .weights import finite

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Distance = Callable[[float, float], float]


class Fleiss(NamedTuple):
    """Kappa, the mean agreement of an item, and the agreement that chance would give."""

    kappa: float
    observed: float
    chance: float


class Concordance(NamedTuple):
    """Kendall's W in [0, 1], the sum of squares S of rank sums, and χ² = m(n − 1)W."""

    w: float
    s: float
    chi2: float


def fleiss_kappa(items: Sequence[Sequence[Hashable]]) -> Fleiss:
    """
    Agreement of equally many raters on each item, beyond chance (Fleiss 1971).

    Args:
        items: Each one's labels, one for each rater; which rater is no matter.

    Returns:
        NaN for kappa where one label is given throughout: chance agrees as much.

    Raises:
        ValueError: No items, or not the same number of at least two raters on each.

    """
    raters = {len(item) for item in items}
    if len(raters) != 1 or min(raters) < 2:  # noqa: PLR2004 - a pair
        raise ValueError(f"{sorted(raters)} raters: the same number on each item, at least two")
    observed = statistics.fmean(map(_pairs, items))
    counts = Counter(label for item in items for label in item)
    total = counts.total()
    chance = math.fsum(c * c for c in sorted(counts.values())) / (total * total)
    kappa = math.nan if chance == 1.0 else (observed - chance) / (1.0 - chance)
    return Fleiss(kappa, observed, chance)


def _pairs(labels: Sequence[Hashable]) -> float:
    """Share of pairs of raters that agree: the P of one item."""
    n = len(labels)
    return sum(c * (c - 1) for c in sorted(Counter(labels).values())) / (n * (n - 1))


def krippendorff_alpha(
    items: Sequence[Sequence[Hashable | None]], level: Level = "nominal"
) -> float:
    """
    Agreement of any number of raters on each item, beyond chance; 1 is perfect.

    1 − observed / expected disagreement (Krippendorff 2011, *Computing Krippendorff's
    Alpha-Reliability*). Items with fewer than two labels say nothing and are left out.

    Args:
        items: Each one's labels, one for each rater; None where a rater gave none.
        level: How far two labels differ. All but `nominal` want numbers; `ratio` non-negative
            ones.

    Returns:
        NaN where fewer than two different labels are left: there is nothing to disagree about.

    Raises:
        ValueError: Labels that are no numbers, on a level that wants them.

    """
    pairable = [unit for item in items if len(unit := [x for x in item if x is not None]) > 1]
    counts = Counter(label for unit in pairable for label in unit)
    if len(counts) < 2:  # noqa: PLR2004 - two different ones
        return math.nan
    codes, distance = _coded(counts, level)
    observed = math.fsum(
        2 * math.fsum(distance(codes[a], codes[b]) for a, b in itertools.combinations(unit, 2))
        / (len(unit) - 1)
        for unit in pairable
    )  # fmt: skip
    expected = 2 * math.fsum(
        counts[a] * counts[b] * distance(codes[a], codes[b])
        for a, b in itertools.combinations(counts, 2)
    )
    return 1.0 - (counts.total() - 1) * observed / expected


def kendall_w(rankings: Sequence[Sequence[float]]) -> Concordance:
    """
    Concordance of judges that rank the same items, corrected for ties (Kendall & Smith 1939).

    Args:
        rankings: Of each judge, the rank of every item; tied items share the mean rank.

    Returns:
        NaN for W where every judge ties everything.

    Raises:
        ValueError: Fewer than two judges or items, or rankings of different lengths.

    """
    judges, n = len(rankings), _items(rankings)
    sums = [math.fsum(column) for column in zip(*rankings, strict=True)]
    middle = statistics.fmean(sums)
    s = math.fsum((one - middle) ** 2 for one in sums)
    ties = sum(t**3 - t for ranking in rankings for t in Counter(ranking).values())
    most = judges * judges * (n**3 - n) - judges * ties
    w = 12.0 * s / most if most else math.nan
    return Concordance(w, s, judges * (n - 1) * w)


def mean_spearman(rankings: Sequence[Sequence[float]]) -> float:
    """
    Mean rank correlation of all pairs of judges; without ties W = (ρ(m − 1) + 1) / m.

    Raises:
        ValueError: As `kendall_w`, or a judge that ties everything.

    """
    _items(rankings)
    pairs = itertools.combinations(rankings, 2)
    return statistics.fmean(statistics.correlation(a, b) for a, b in pairs)


def _items(rankings: Sequence[Sequence[float]]) -> int:
    lengths = {len(ranking) for ranking in rankings}
    if len(rankings) < 2 or len(lengths) != 1 or min(lengths) < 2:  # noqa: PLR2004 - a pair
        raise ValueError("at least two judges, and the same items, at least two, for each")
    return lengths.pop()


def _coded(counts: Counter[Hashable], level: Level) -> tuple[Mapping[Hashable, float], Distance]:
    """Give each label a number, and the squared distance of two of them."""
    if level == "nominal":
        return {label: float(i) for i, label in enumerate(counts)}, lambda a, b: float(a != b)
    codes: dict[Hashable, float] = {
        label: float(label) for label in counts if isinstance(label, int | float)
    }
    if len(codes) < len(counts):
        raise ValueError(f"labels are numbers on the {level} level")
    finite(codes.values())
    if level == "ordinal":
        return _ranked(codes, counts), _interval
    return codes, _interval if level == "interval" else _ratio


def _ranked(codes: Mapping[Hashable, float], counts: Counter[Hashable]) -> dict[Hashable, float]:
    """
    Mean rank of each label among all.

    Their difference is Σ n_g − (n_a + n_b)/2 over the labels from a to b: the ordinal distance.
    """
    ranks, below = dict[Hashable, float](), 0
    for label in sorted(codes, key=codes.__getitem__):
        ranks[label] = below + counts[label] / 2
        below += counts[label]
    return ranks


def _interval(a: float, b: float) -> float:
    return (a - b) ** 2


def _ratio(a: float, b: float) -> float:
    return ((a - b) / (a + b)) ** 2 if a + b else 0.0
