"""
Further readings of how far a panel agrees, in [0, 1].

Those by which a debate is steered are the point's, `decision_points.convergence.agreement`. One
label stands for one member that answered; whoever did not is no label.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet

Labels = Sequence[Hashable]


def entropy_agreement(labels: Labels) -> float:
    """
    1 − H / ln n, with the entropy H of the labels in nats and n members.

    Raises:
        ValueError: No labels.

    """
    if not labels:
        raise ValueError("no labels")
    counts, n = sorted(Counter(labels).values()), len(labels)
    if n == 1:
        return 1.0
    entropy = -math.fsum(c / n * math.log(c / n) for c in counts)
    return min(1.0, max(0.0, 1.0 - entropy / math.log(n)))


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
