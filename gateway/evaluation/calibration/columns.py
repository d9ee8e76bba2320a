"""The samples of one key in columns, as everything that is computed needs them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...gates import Scale
from ...keys import digest
from .labelling import TRUE
from .samples import Sample
from .thinning import one_each


class Rows(msgspec.Struct, frozen=True):
    """
    The rows of one key, in columns.

    Attributes:
        all: Every sample, but for those set aside.
        labelled: Those with a label.
        judged: Those with an answer that is known to be right or wrong, and with the number that
            is compared: without it an answer is never believed.
        confidences: Of the judged.
        right: Whether the judged are right.
        scale: Which number the confidence is.
        aside: Labelled samples that were set aside, since others of their kind count.

    """

    all: tuple[Sample, ...]
    labelled: tuple[Sample, ...]
    judged: tuple[Sample, ...]
    confidences: tuple[float, ...]
    right: tuple[bool, ...]
    scale: Scale
    aside: tuple[Sample, ...] = ()

    @property
    def predicate(self) -> bool:
        """Whether the question is answered by true or false."""
        return bool(self.judged) and self.judged[0].predicate

    @property
    def score(self) -> bool:
        """Whether the question is answered by a number."""
        return bool(self.judged) and self.judged[0].level is not None


def rows_of(samples: Sequence[Sample], scale: Scale, seed: int) -> Rows:
    """Put the *samples* of one key into columns, at most one labelled row of each subject."""
    kept, aside = one_each(samples, seed)
    numbered = [(one, one.confidence(scale)) for one in kept if one.right is not None]
    judged = [(one, number) for one, number in numbered if number is not None]
    return Rows(
        kept,
        tuple(one for one in kept if one.labelled),
        tuple(one for one, _ in judged),
        tuple(number for _, number in judged),
        tuple(bool(one.right) for one, _ in judged),
        scale,
        aside,
    )


def true_of(one: Sample) -> float:
    """Give a predicate's probability of *true*."""
    if one.distribution is not None and TRUE in one.distribution:
        return one.distribution[TRUE]
    selected = one.probability or 0.0
    return selected if one.value else round(1.0 - selected, 12)


def _truth(one: Sample) -> bool:
    return bool(one.gold) if isinstance(one.gold, bool) else bool(one.value) == bool(one.right)


def sides_of(rows: Rows) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    """Give a predicate's probabilities of *true*, and whether it is the truth."""
    return tuple(map(true_of, rows.judged)), tuple(map(_truth, rows.judged))


def data(rows: Rows) -> str:
    """Tell these labelled rows from any others, in whatever order they came."""
    return digest(
        sorted(
            [one.id, one.name, str(one.value), one.confidence(rows.scale) or 0.0, str(one.gold)]
            for one in (*rows.labelled, *rows.aside)
        )
    )
