"""A debate by rounds: lanes, checkpoints, a breaker, a council, and a person at the end."""

from __future__ import annotations

from .hall import House
from .holding import Debate
from .outcome import Debated
from .provider import Debating, debate
from .retrieval import Chunk, Retrieve
from .risk import Risk
from .rules import Rules
from .settings import DebateSettings
from .states import State

__all__ = [
    "Chunk",
    "Debate",
    "DebateSettings",
    "Debated",
    "Debating",
    "House",
    "Retrieve",
    "Risk",
    "Rules",
    "State",
    "debate",
]
