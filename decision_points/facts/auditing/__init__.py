"""How often each source was right where a person knew better, and what that says of the order."""

from __future__ import annotations

from .agreements import Agreement
from .audit import Audit, audit
from .labels import Case, Label, judged, labels
from .tallies import Swap, Tally, best_first, swaps

__all__ = [
    "Agreement",
    "Audit",
    "Case",
    "Label",
    "Swap",
    "Tally",
    "audit",
    "best_first",
    "judged",
    "labels",
    "swaps",
]
