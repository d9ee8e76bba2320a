"""
From what is said and what is offered to vectors and cosines.

The recipe and its figures: a bare last message beats any dressing of it; earlier turns count a
quarter (SGD routing .877 → .888); an option is its name in words and its description, half and
half (the name alone loses 9 to 12 points). Each earlier turn is read to a quarter of the length of
a last message, so that four cost no more than it does.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from .bounds import LONGEST
from .encoders import Encoder, Vectors, normalised
from .words import EARLIER_TURNS, Said

EARLIER = 0.25  # weight of all earlier turns together, against the last message's 1
CACHED_OPTIONS = 2_048  # vectors of 1 to 1.5 KB and their texts; more than 8 full menus
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Reader:
    """
    Reads states and options with one encoder; options are read once and remembered by text.

    Args:
        encoder: What turns texts into vectors.

    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.option = lru_cache(maxsize=CACHED_OPTIONS)(self._option)

    def state(self, said: Said) -> Vectors:
        """Return the vector of what was said, `[dimensions]`; zeros if no word is known."""
        if not said.last:
            return self._nothing()
        earlier = [turn[: LONGEST // EARLIER_TURNS] for turn in said.earlier]
        rows = self.encoder.vectors([said.last, *earlier])
        last: Vectors = rows[0]
        if not said.earlier:
            return last
        return normalised(last + EARLIER * normalised(rows[1:].sum(axis=0)))

    def options(self, described: tuple[tuple[str, str], ...]) -> Vectors:
        """Return a row for each name and description, `[options, dimensions]`."""
        return np.stack([self.option(name, description) for name, description in described])

    def _option(self, name: str, description: str) -> Vectors:
        texts = [text for text in (in_words(name), description) if text]
        row = normalised(self.encoder.vectors(texts).sum(axis=0)) if texts else self._nothing()
        row.flags.writeable = False  # it is shared by all who ask
        return row

    def _nothing(self) -> Vectors:
        return np.zeros_like(self.encoder.vectors(["a"])[0])


def in_words(name: str) -> str:
    """
    Write an identifier the way it would be said; a name of several words stays as it is.

    >>> in_words("card_payment-feeCharged")
    'card payment fee Charged'

    """
    if " " in name.strip():
        return name
    return " ".join(re.sub(r"[_\-./]+", " ", _CAMEL.sub(" ", name)).split()) or name
