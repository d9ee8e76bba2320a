"""
How much several positions agree, one criterion at a time.

Pure functions over the words of positions. A word is compared in one written form: NFKC,
case folded, blanks collapsed. The order of the positions never matters.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Final, Literal, TypeAlias

from .given import TOLERANCE

Agreement: TypeAlias = Literal["trilevel", "unanimous", "pairwise", "plurality"]
"""AM-22: how the votes on one criterion become one number in [0, 1]."""

SAME, PARTLY = 0.8, 0.4
"""AM-23: mean Jaccard from which sets count as the same, and as partly the same."""


def written(text: str) -> str:
    """Give the one written form of a word or sentence (AM-16): NFKC, folded, blanks collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def unanimous(votes: Sequence[str]) -> float:
    """1 if all votes are equal, else 0."""
    return float(len(set(votes)) == 1)


def trilevel(votes: Sequence[str]) -> float:
    """1 if all votes are equal, 0.5 if more than half of them are, else 0."""
    return max(unanimous(votes), 0.5 * (2 * _most(votes) > len(votes)))


def pairwise(votes: Sequence[str]) -> float:
    """The share of pairs of voters who agree, in [0, 1]; needs two votes."""
    pairs = list(combinations(votes, 2))
    return sum(first == second for first, second in pairs) / len(pairs)


def plurality(votes: Sequence[str]) -> float:
    """The share of the most frequent vote, in [0, 1]."""
    return _most(votes) / len(votes)


def _most(votes: Iterable[str]) -> int:
    return max(Counter(votes).values())


CATEGORICAL: Final[Mapping[Agreement, Callable[[Sequence[str]], float]]] = {
    "trilevel": trilevel,
    "unanimous": unanimous,
    "pairwise": pairwise,
    "plurality": plurality,
}


def jaccard(first: Collection[str], second: Collection[str]) -> float:
    """The shared part of two sets, in [0, 1]; two empty ones are the same, 1."""
    union = {*first, *second}
    return len({*first} & {*second}) / len(union) if union else 1.0


def likeness(sets: Sequence[Collection[str]]) -> float:
    """The mean Jaccard of all pairs (AM-23), in [0, 1]; needs two sets."""
    return fmean(jaccard(first, second) for first, second in combinations(sets, 2))


def on_words(votes: Iterable[str], how: Agreement) -> float:
    """How much *votes* agree, in [0, 1]; 0 below two of them, since nothing is compared."""
    said = [written(vote) for vote in votes]
    return CATEGORICAL[how](said) if len(said) > 1 else 0.0


def on_sets(sets: Iterable[Iterable[str]], how: Agreement) -> float:
    """
    How much *sets* of words agree, in [0, 1]; 0 below two of them.

    AM-23: their likeness from 0.8 on is 1, from 0.4 on 0.5, else 0; raw where *how* is
    `pairwise`, without the middle where it is `unanimous`.
    """
    said = [{written(one) for one in words} for words in sets]
    if len(said) < 2:  # noqa: PLR2004 - a pair
        return 0.0
    like = likeness(said)
    if how == "pairwise":
        return like
    partly = 0.0 if how == "unanimous" else 0.5 * (like >= PARTLY - TOLERANCE)
    return max(partly, float(like >= SAME - TOLERANCE))


def shared(votes: Iterable[str]) -> Literal["same", "partial", "split"]:
    """Whether all *votes* are the same, more than half of them, or neither."""
    said = [written(vote) for vote in votes]
    level = trilevel(said) if said else 0.0
    return "same" if level == 1 else "partial" if level else "split"
