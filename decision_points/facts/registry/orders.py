"""A strict partial order of levels: what ranks above what, and how it is written."""

from __future__ import annotations

import graphlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

import msgspec

Pair: TypeAlias = tuple[str, str]
"""A level, and one that ranks below it."""


class Order(msgspec.Struct, frozen=True):
    """
    Levels, and which rank above which (RF-17); two that mean the same are equal.

    Attributes:
        levels: All of them, sorted.
        above: The fewest pairs (higher, lower) that say it, sorted.

    """

    levels: tuple[str, ...] = ()
    above: tuple[Pair, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Give it as files hold it: a list from the highest where it is one, else pairs."""
        if chain := self._chain():
            return {"order": chain}
        paired = {one for pair in self.above for one in pair}
        alone = [one for one in self.levels if one not in paired]
        written = {"above": [list(pair) for pair in self.above], "levels": alone}
        return {name: one for name, one in written.items() if one}

    def _chain(self) -> list[str]:
        after = dict(self.above)
        tops = sorted(set(self.levels) - set(after.values()))
        if len(tops) != 1 or not len(self.above) == len(after) == len(self.levels) - 1:
            return []
        chain = tops
        while chain[-1] in after:
            chain.append(after[chain[-1]])
        return chain


def order_of(chain: Iterable[str], pairs: Iterable[Pair], levels: Iterable[str]) -> Order:
    """
    Make an order.

    Args:
        chain: Levels, the highest first.
        pairs: (higher, lower), in any order.
        levels: Further ones; nothing ranks above or below them unless a pair says so.

    Raises:
        ValueError: It goes round; the levels of the circle are named, the higher first.

    """
    listed = tuple(chain)
    edges = sorted({*pairwise(listed), *pairs})
    named = sorted({*listed, *levels, *(one for pair in edges for one in pair)})
    bits = {level: 1 << place for place, level in enumerate(named)}
    return Order(
        tuple(named), _fewest(edges, bits, beneath(Order(tuple(named), tuple(edges)), bits))
    )


def _fewest(
    edges: Iterable[Pair], bits: Mapping[str, int], below: Mapping[str, int]
) -> tuple[Pair, ...]:
    """Leave out every pair that follows from others, so that one order is written in one way."""
    lower: defaultdict[str, list[str]] = defaultdict(list)
    for high, low in edges:
        lower[high].append(low)
    return tuple(
        (high, low)
        for high, lows in sorted(lower.items())
        for low in lows
        if not any(below[other] & bits[low] for other in lows)
    )


def beneath(order: Order, bits: Mapping[str, int]) -> dict[str, int]:
    """
    Give, for each level of an order, the bits of all that rank below it.

    Args:
        order: Its pairs may be more than the fewest.
        bits: Level → its bit; of a level that has none only what is below it counts.

    Raises:
        ValueError: It goes round.

    """
    lower: dict[str, list[str]] = {level: [] for level in order.levels}
    for high, low in order.above:
        lower[high].append(low)
    try:
        upwards = tuple(graphlib.TopologicalSorter(lower).static_order())
    except graphlib.CycleError as error:
        raise ValueError(f"it goes round: {' > '.join(reversed(error.args[1]))}") from None
    below: dict[str, int] = {}
    for level in upwards:
        mask = 0
        for one in lower[level]:
            mask |= bits.get(one, 0) | below[one]
        below[level] = mask
    return below
