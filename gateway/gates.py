"""Gates: how sure an answer must be, by one number or by what was certified for its question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from .answers import Answer

Scale: TypeAlias = Literal["reported", "probability"]
"""Which number a gate compares: the provider's own confidence, or the top probability."""


class Cut(msgspec.Struct, frozen=True):
    """
    What the answer to one certified question has to clear.

    Attributes:
        minimum: Least confidence, in [0, 1]; inclusive.
        scale: As a gate's.
        two_sided: A predicate's sides have thresholds of their own, and `minimum` none.
        no_below: *false* is believed below this probability of *true*; None: never.
        yes_from: *true* is believed from this probability on; None: never.

    """

    minimum: float
    scale: Scale
    two_sided: bool = False
    no_below: float | None = None
    yes_from: float | None = None

    def least(self, answer: Answer) -> float:
        """Give the least confidence for *answer*'s side; 1 where that is never believed."""
        if not self.two_sided:
            return self.minimum
        if answer.value:
            return 1.0 if self.yes_from is None else self.yes_from
        return 1.0 if self.no_below is None else round(1.0 - self.no_below, 12)

    def clears(self, answer: Answer) -> bool:
        """Whether *answer* is sure enough."""
        if not self.two_sided:
            return answer.confidence >= self.minimum
        if answer.value:
            return self.yes_from is not None and answer.confidence >= self.yes_from
        return self.no_below is not None and answer.confidence > round(1.0 - self.no_below, 12)


class Gate(msgspec.Struct, frozen=True):
    """
    What a live answer has to clear.

    Attributes:
        minimum: Least confidence, in [0, 1]; inclusive.
        scale: `reported`: choice and score use the provider's own confidence, a missing one
            is 0. `probability`: that of the chosen outcome. A predicate's confidence is the
            probability of its selected result on both.
        cuts: Question → its certified threshold, which counts in place of these two.
        partial: A refused question leaves the others standing, and has no value; else one
            that is refused fails the ask.

    """

    minimum: float
    scale: Scale = "reported"
    cuts: Mapping[str, Cut] = {}
    partial: bool = False

    def scale_of(self, question: str) -> Scale:
        """Name the scale that the answer to *question* is measured on."""
        return self.cuts[question].scale if question in self.cuts else self.scale

    def least(self, question: str, answer: Answer) -> float:
        """Give the least confidence for this *answer* to *question*."""
        return self.cuts[question].least(answer) if question in self.cuts else self.minimum

    def clears(self, question: str, answer: Answer) -> bool:
        """Whether this *answer* to *question* is sure enough."""
        if question in self.cuts:
            return self.cuts[question].clears(answer)
        return answer.confidence >= self.minimum
