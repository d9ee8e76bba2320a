"""How often a source, and who read it, was right where a person knew better (RF-21)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ....gateway.evaluation.statistics.numerics import Interval, wilson
from ..registry import Registry


class Place(NamedTuple):
    """
    Whose word is counted, and where.

    Attributes:
        source: Whose word.
        attribute: About what.
        writer: Who read it there; empty: not said, or all of them together.

    """

    source: str
    attribute: str
    writer: str = ""


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """
    How often somebody was right.

    Attributes:
        source: Whose word.
        attribute: About what.
        writer: Who read it there; empty: not said, or all of them together.
        right: Facts that a person decided as they say.
        wrong: Facts that a person decided otherwise.
        low: Lower end of the interval of the share that is right, in [0, 1].
        high: Its upper end.

    """

    source: str
    attribute: str
    writer: str = ""
    right: int
    wrong: int
    low: float
    high: float

    @property
    def checked(self) -> int:
        """How many facts a person decided."""
        return self.right + self.wrong

    @property
    def share(self) -> float | None:
        """The share that is right; None: nothing was checked."""
        return self.right / self.checked if self.checked else None

    @classmethod
    def of(cls, place: Place, right: int, wrong: int, alpha: float) -> Tally:
        """Add the interval, which covers the share in about 1 − *alpha* of all samples."""
        interval = wilson(right, right + wrong, alpha)
        return cls(**place._asdict(), right=right, wrong=wrong, **interval._asdict())

    @property
    def interval(self) -> Interval:
        """Both ends of the interval of the share that is right."""
        return Interval(self.low, self.high)


class Swap(msgspec.Struct, frozen=True, kw_only=True):
    """
    Two sources whose order is the other way round than how often they are right.

    Nothing is changed by it: whoever owns the registry decides (RF-21).

    Attributes:
        attribute: About what.
        above: The source that ranks higher.
        below: The one that ranks lower, whose interval lies above the other's.

    """

    attribute: str
    above: Tally
    below: Tally

    @property
    def gap(self) -> float:
        """How far apart the intervals are."""
        return self.below.low - self.above.high


class Counts:
    """
    Rights and wrongs as they come, by place.

    Args:
        alpha: The intervals cover the share in about 1 − alpha of all samples.

    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self._counts: dict[Place, list[int]] = {}

    def count(self, place: Place, *, right: bool) -> None:
        """Count one fact, for the writer."""
        self._counts.setdefault(place, [0, 0])[not right] += 1

    def writers(self) -> tuple[Tally, ...]:
        """Tell them by source, attribute and writer."""
        return self._tallies(self._counts)

    def sources(self) -> tuple[Tally, ...]:
        """Tell them by source and attribute, whoever read them."""
        whole: dict[Place, list[int]] = {}
        for place, (right, wrong) in self._counts.items():
            sums = whole.setdefault(place._replace(writer=""), [0, 0])
            sums[0] += right
            sums[1] += wrong
        return self._tallies(whole)

    def _tallies(self, counts: dict[Place, list[int]]) -> tuple[Tally, ...]:
        return tuple(
            Tally.of(place, counts[place][0], counts[place][1], self.alpha)
            for place in sorted(counts)
        )


def swaps(tallies: Iterable[Tally], registry: Registry) -> tuple[Swap, ...]:
    """
    List pairs of sources that stand the wrong way round, the clearest first.

    Args:
        tallies: By source and attribute.
        registry: How sources are ranked.

    """
    by_attribute: dict[str, list[Tally]] = {}
    for one in tallies:
        by_attribute.setdefault(one.attribute, []).append(one)
    found = [
        Swap(attribute=attribute, above=above, below=below)
        for attribute, several in by_attribute.items()
        for above in several
        for below in several
        if below.low > above.high and _above(registry, above, below)
    ]
    return tuple(sorted(found, key=_clearest))


def _above(registry: Registry, one: Tally, other: Tally) -> bool:
    levels = (registry.level(source, one.attribute) for source in (one.source, other.source))
    return registry.ranked(one.attribute, *levels) == "above"


def _clearest(swap: Swap) -> tuple[float, str, str, str]:
    return (-swap.gap, swap.attribute, swap.above.source, swap.below.source)


def best_first(tallies: Iterable[Tally], attribute: str) -> tuple[str, ...]:
    """
    Order the sources of *attribute* by what they are right in at least.

    A source that is right 3 times in 3 comes behind one that is right 95 times in 100: it is
    the lower end of the interval that counts.
    """
    several = [one for one in tallies if one.attribute == attribute and not one.writer]
    return tuple(one.source for one in sorted(several, key=lambda one: (-one.low, one.source)))
