"""Which of two levels ranks above the other: worked out once, asked for every two assertions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from .orders import Order, beneath

Rank: TypeAlias = Literal["above", "below", "same", "unranked"]


class Ranks:
    """
    The levels of one attribute: those of its own order, then those that only others name.

    Levels of a later order that no earlier one names rank below all of those, among themselves
    as the later order says. The empty level, that of unknown sources, is below all (RF-09).
    """

    __slots__ = ("_below", "_bits")

    def __init__(self, *orders: Order) -> None:
        """Work out what ranks below what; the order that goes first is the most specific."""
        self._bits: dict[str, int] = {"": 1}
        self._below: dict[str, int] = {"": 0}
        for order, own in reversed(_claims(orders)):
            lower = (1 << len(self._bits)) - 1
            self._bits |= {level: 1 << place for place, level in enumerate(own, len(self._bits))}
            below = beneath(order, {level: self._bits[level] for level in own})
            self._below |= {level: below[level] | lower for level in own}

    def __contains__(self, level: str) -> bool:
        return level in self._bits

    def ranked(self, one: str, other: str) -> Rank:
        """Say how level *one* ranks to *other*; a level that there is not is unranked to all."""
        if one == other:
            return "same"
        if self._below.get(one, 0) & self._bits.get(other, 0):
            return "above"
        return "below" if self._below.get(other, 0) & self._bits.get(one, 0) else "unranked"

    def weakest(self, levels: Iterable[str]) -> str:
        """Give the one of *levels* that ranks below all others of them; empty if there is none."""
        lowest = ""
        for place, level in enumerate(asked := tuple(dict.fromkeys(levels))):
            if not place or self.ranked(lowest, level) == "above":
                lowest = level
        below_all = all(self.ranked(one, lowest) in ("above", "same") for one in asked)
        return lowest if below_all else ""


def _claims(orders: Iterable[Order]) -> list[tuple[Order, list[str]]]:
    """Give each order the levels that no earlier one names."""
    seen: set[str] = set()
    claims: list[tuple[Order, list[str]]] = []
    for order in orders:
        claims.append((order, [level for level in order.levels if level not in seen]))
        seen.update(order.levels)
    return claims
