"""Values: from what was written to one canonical form, and how two of a type stand."""

from __future__ import annotations

from .comparing import all_within, finer, within
from .money import Money
from .pairs import same
from .reading import TYPES, Normaliser, normaliser
from .showing import plain, raw_of, shown

__all__ = [
    "TYPES",
    "Money",
    "Normaliser",
    "all_within",
    "finer",
    "normaliser",
    "plain",
    "raw_of",
    "same",
    "shown",
    "within",
]
