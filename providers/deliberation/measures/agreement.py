"""
How far a panel agrees about one criterion, in [0, 1].

One label stands for one member that answered; whoever did not is no label. Whether enough
answered is the quorum's question, not one of these: a member alone agrees with itself.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from .weights import NEAR

SAME, ALIKE = 0.8, 0.4  # mean Jaccard from which sets count as equal, and as half equal

Labels = Sequence[Hashable]


def plurality_share(labels: Labels) -> float:
    """
    Share of the most common label.

    Raises:
        ValueError: No labels.

    """
    return max(_counts(labels)) / len(labels)


def pairwise(labels: Labels) -> float:
    """
    Share of pairs of members that agree: the P of one item in Fleiss' kappa.

    Raises:
        ValueError: No labels.

    """
    counts, n = _counts(labels), len(labels)
    return sum(c * (c - 1) for c in counts) / (n * (n - 1)) if n > 1 else 1.0


def unanimous(labels: Labels) -> float:
    """
    1 where all agree, else 0.

    Raises:
        ValueError: No labels.

    """
    return float(len(_counts(labels)) == 1)


def trilevel(labels: Labels) -> float:
    """
    1 where all agree, 0.5 where more than half do, else 0.

    Raises:
        ValueError: No labels.

    """
    most = max(_counts(labels))
    return 1.0 if most == len(labels) else 0.5 if 2 * most > len(labels) else 0.0


def entropy_agreement(labels: Labels) -> float:
    """
    1 − H / ln n, with the entropy H of the labels in nats and n members.

    Raises:
        ValueError: No labels.

    """
    counts, n = _counts(labels), len(labels)
    if n == 1:
        return 1.0
    entropy = -math.fsum(c / n * math.log(c / n) for c in counts)
    return min(1.0, max(0.0, 1.0 - entropy / math.log(n)))


RULES: Mapping[str, Callable[[Labels], float]] = {
    "trilevel": trilevel,
    "unanimous": unanimous,
    "pairwise": pairwise,
    "plurality": plurality_share,
}


def jaccard(a: AbstractSet[Hashable], b: AbstractSet[Hashable]) -> float:
    """|a ∩ b| / |a ∪ b|; two empty sets are equal: 1 (Jaccard 1901)."""
    return len(a & b) / len(a | b) if a or b else 1.0


def mean_jaccard(sets: Sequence[AbstractSet[Hashable]]) -> float:
    """
    Mean Jaccard index of all pairs; of a single set 1.

    Raises:
        ValueError: No sets.

    """
    if not sets:
        raise ValueError("no sets")
    pairs = [jaccard(a, b) for a, b in itertools.combinations(sets, 2)]
    return statistics.fmean(pairs) if pairs else 1.0


def overlap(sets: Sequence[AbstractSet[Hashable]]) -> float:
    """
    What all sets share, of what any holds; empty sets: 1.

    Raises:
        ValueError: No sets.

    """
    if not sets:
        raise ValueError("no sets")
    every = frozenset[Hashable]().union(*sets)
    common = frozenset(sets[0]).intersection(*sets[1:])
    return len(common) / len(every) if every else 1.0


def set_level(similarity: float) -> float:
    """Level of a mean Jaccard index: from 0.8 on 1, from 0.4 on 0.5, else 0 (1e-9 of room)."""
    return 1.0 if similarity >= SAME - NEAR else 0.5 if similarity >= ALIKE - NEAR else 0.0


def _counts(labels: Labels) -> list[int]:
    if not labels:
        raise ValueError("no labels")
    return sorted(Counter(labels).values())
