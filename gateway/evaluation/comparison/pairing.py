"""Decisions that two deciders answered both: the rows of every paired comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .answering import Given, answered
from .reading import Seen
from .truths import NOTHING, Truth


class Pair(NamedTuple):
    """
    One question of one decision, answered by A and by B.

    Attributes:
        id: The decision's id.
        of_a: A's answer.
        of_b: B's.
        truth: What is known of the right answer.
        unit: The subject; the decision itself where that is unknown.
        parts: What it is sliced by: name → value.

    """

    id: str
    of_a: Given
    of_b: Given
    truth: Truth
    unit: str
    parts: tuple[tuple[str, str], ...]

    @property
    def question(self) -> str:
        """The question's name, as declared."""
        return self.of_b.key.question

    @property
    def a(self) -> str | None:
        """A's answer by name; None where it gave no valid one."""
        return self.of_a.name

    @property
    def b(self) -> str | None:
        """B's answer."""
        return self.of_b.name

    @property
    def sure(self) -> float | None:
        """B's probability of its answer, else A's; None if neither gave one."""
        sure = self.of_b.sure or self.of_a.sure
        return None if sure is None else sure.probability

    @property
    def agree(self) -> bool:
        """Whether both gave the same valid answer."""
        return self.a is not None and self.a == self.b

    @property
    def labelled(self) -> bool:
        """Whether anything is known of the right answer."""
        return self.truth is not NOTHING

    @property
    def verdicts(self) -> tuple[bool, bool] | None:
        """Whether A and B are right; None unless both are known."""
        a, b = self.truth.judges(self.a), self.truth.judges(self.b)
        return None if a is None or b is None or not self.labelled else (a, b)

    @property
    def range(self) -> tuple[float, float]:
        """
        B right (1) less A right (1): the least and the most that it may be.

        Both are equal where it is known who is right, or that both are or neither is.
        """
        if self.agree:
            return 0.0, 0.0
        a, b = self.truth.judges(self.a), self.truth.judges(self.b)
        low = (0 if b is None else b) - (1 if a is None else a)
        high = (1 if b is None else b) - (0 if a is None else a)
        return float(low), float(high)


def both(seen: Seen, a: str, b: str) -> bool:
    """Whether the answers of *a* and *b* to a decision are known."""
    return seen.told(a) and seen.told(b)


def is_selected(seen: Seen, a: str, b: str) -> bool:
    """Whether the second was asked only because the first was not believed: a harder decision."""
    return seen.said[a].live and seen.said[b].live


def pairs(seen: Iterable[Seen], a: str, b: str) -> Iterator[Pair]:
    """Give the answers of *a* and *b* to decisions that `both` answered, by question."""
    for one in seen:
        parts = (("language", one.language), ("day", one.day))
        for raw in dict.fromkeys((*one.said[b].values, *one.said[a].values)):
            of_a, of_b = answered(one, a, raw), answered(one, b, raw)
            truth = one.truths.get(raw, NOTHING)
            yield Pair(one.id, of_a, of_b, truth, of_b.unit, parts)
