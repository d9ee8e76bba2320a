"""Facts that were derived from facts: which are stale, and what rests on one that changed."""

from __future__ import annotations

from .impact import Decided, Impact, Resting, impact
from .propagating import downstream, propagate, stale_of
from .staleness import Sight, stale

__all__ = [
    "Decided",
    "Impact",
    "Resting",
    "Sight",
    "downstream",
    "impact",
    "propagate",
    "stale",
    "stale_of",
]
