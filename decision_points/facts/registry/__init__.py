"""The registry of sources: levels and their orders, lineage, clocks, and who may correct whom."""

from __future__ import annotations

from .declared import ANYBODY, SKEW, Registry
from .orders import Order
from .ranks import Rank, Ranks
from .reading import read_registry, registry_of
from .sources import Actor, Scope, Source

__all__ = [
    "ANYBODY",
    "SKEW",
    "Actor",
    "Order",
    "Rank",
    "Ranks",
    "Registry",
    "Scope",
    "Source",
    "read_registry",
    "registry_of",
]
