"""Which sources say the same more often than chance explains, and are not declared as one voice."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import msgspec

from ....gateway.evaluation.statistics.numerics import wilson
from ..assertions import Value
from ..registry import Registry

LEAST = 20  # facts that both spoke about; with fewer nothing is said
HIGH = 0.9  # what the lower end of the interval must reach
VOICES = 64  # of a fact with more sources pairs are not counted: they grow with the square
PAIRS = 200_000  # counted at most; their number is what memory is spent on


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """
    Two sources of different lineages that say nearly always the same where others do not.

    It is a question to whoever declares lineages, and nothing is done about it (RF-19): two good
    sources agree as well as two copies of a bad one.

    Attributes:
        one: A source.
        other: Another, later by name.
        facts: Contested facts that both spoke about.
        same: Those about which they said the same.
        low: Lower end of the interval of the share, in [0, 1].
        high: Its upper end.

    """

    one: str
    other: str
    facts: int
    same: int
    low: float
    high: float


class Pairs:
    """
    Agreements as they come.

    Args:
        registry: What is declared as one voice.
        alpha: The intervals cover the share in about 1 − alpha of all samples.

    """

    def __init__(self, registry: Registry, alpha: float) -> None:
        self.registry, self.alpha = registry, alpha
        self.left_out = 0  # facts of which pairs were not counted
        self._counts: dict[tuple[str, str], list[int]] = {}

    def count(self, said: Mapping[str, Value]) -> None:
        """
        Count one fact, if its sources do not all say the same.

        Args:
            said: Source → the one value that it says.

        """
        if len(set(said.values())) < 2:  # noqa: PLR2004 - where all agree nothing can be told
            return
        if len(said) > VOICES or len(self._counts) > PAIRS:
            self.left_out += 1
            return
        for pair in combinations(sorted(said), 2):
            sums = self._counts.setdefault(pair, [0, 0])
            sums[0] += 1
            sums[1] += said[pair[0]] == said[pair[1]]

    def high(self) -> tuple[Agreement, ...]:
        """List pairs that agree in nearly all contested facts, the surest first."""
        found = [self._agreement(*pair) for pair in self._counts if self._apart(*pair)]
        sure = [one for one in found if one.facts >= LEAST and one.low >= HIGH]
        return tuple(sorted(sure, key=lambda one: (-one.low, one.one, one.other)))

    def _apart(self, one: str, other: str) -> bool:
        return self.registry.lineage(one) != self.registry.lineage(other)

    def _agreement(self, one: str, other: str) -> Agreement:
        facts, same = self._counts[one, other]
        low, high = wilson(same, facts, self.alpha)
        return Agreement(one=one, other=other, facts=facts, same=same, low=low, high=high)
