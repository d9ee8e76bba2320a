"""
Whether labels were given to rows of every kind: a promise rests on those that were.

Where only rows on which everybody agrees are labelled, the hard ones are missing, and a
certificate says nothing of them. Labels may be missing at random; here it is looked at whether
they are missing where the provider differs from what was decided, or where it passed on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from ...certificates import AtRisk
from ..statistics.numerics import wilson
from .columns import Rows
from .findings import Settings
from .levels import promises
from .samples import Beside, Sample
from .slices import decides

TIMES = 2  # so many times as often one kind of rows is labelled before that counts
ENOUGH = 20  # labels of a kind from which on its measured error rate counts
PAIRS: tuple[tuple[Beside, Beside], ...] = (("same", "other"), ("decided", "passed on"))
WHERE: dict[Beside, str] = {
    "same": "where both say the same",
    "other": "where they differ",
    "decided": "that it decided",
    "passed on": "that it passed on",
}


class Kind(msgspec.Struct, frozen=True):
    """Rows that stand alike to what was decided, and what is known of them."""

    where: str
    rows: int
    labelled: int
    errors: int

    @property
    def rate(self) -> float:
        """The share of errors among the labelled."""
        return self.errors / self.labelled

    def __str__(self) -> str:
        return f"of the rows {self.where} {self.labelled:,} of {self.rows:,} are labelled"


class Hidden(msgspec.Struct, frozen=True):
    """Rows that are labelled much more seldom than others, though they may be the worse ones."""

    seldom: Kind
    often: Kind

    def __str__(self) -> str:
        return f"{self.seldom}, {self.often}"

    @property
    def needed(self) -> int:
        """How many labels would make the shares equal."""
        part = self.often.labelled / self.often.rows
        return max(1, math.ceil(part * self.seldom.rows) - self.seldom.labelled)


def hidden(rows: Rows, level: AtRisk, *, sided: bool) -> Hidden | None:
    """
    Look for rows that *level* decides on and whose errors may have been left out.

    A kind of rows counts as left out if it is labelled not half as often as the other, beyond
    chance (their Wilson intervals of 95 % are apart), unless at least 20 of its labels show that
    it errs no more often than the other. Two cut-points promise something about all rows of one
    truth, so with them all count.
    """
    every = [one for one in (*rows.all, *rows.aside) if one.answered]
    if not sided:
        believes = decides(level, two_sided=False)
        every = [one for one in every if believes(one, one.confidence(rows.scale) or 0.0)]
    for pair in PAIRS:
        kinds = [_kind(one, every) for one in pair]
        if not all(one.rows for one in kinds):
            continue
        seldom, often = sorted(kinds, key=lambda one: one.labelled / one.rows)
        if _apart(seldom, often) and not _better(seldom, often):
            return Hidden(seldom, often)
    return None


def _kind(beside: Beside, samples: Sequence[Sample]) -> Kind:
    there = [one for one in samples if one.beside == beside]
    known = [one.right for one in there if one.right is not None]
    return Kind(WHERE[beside], len(there), len(known), known.count(False))


def _apart(seldom: Kind, often: Kind) -> bool:
    high, low = wilson(seldom.labelled, seldom.rows)[1], wilson(often.labelled, often.rows)[0]
    return high < low and seldom.labelled * often.rows * TIMES < often.labelled * seldom.rows


def _better(seldom: Kind, often: Kind) -> bool:
    return seldom.labelled >= ENOUGH and seldom.rate <= often.rate


def withheld(
    rows: Rows, levels: Sequence[AtRisk], settings: Settings
) -> tuple[tuple[AtRisk, ...], str]:
    """
    Take back each level whose rows may hide errors, unless that is accepted.

    Also say how rows were chosen, where that matters to the level that is to be used.
    """
    sided = rows.predicate and settings.two_sided
    kept: list[AtRisk] = []
    told = ""
    for level in levels:
        found = hidden(rows, level, sided=sided) if promises(level, sided=sided) else None
        if found is not None and level.alpha == settings.risk:
            told = str(found)
        if found is None or settings.accept_selection:
            kept.append(level)
            continue
        why = f"not yet: label the rows {found.seldom.where}; {found}"
        kept.append(AtRisk(alpha=level.alpha, why=why, needed=found.needed))
    return tuple(kept), told
