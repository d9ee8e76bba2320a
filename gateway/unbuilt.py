"""
Variables whose features this version does not have: said at start, never ignored.

Whoever builds a feature takes its variable out of here.
"""

from __future__ import annotations

from .errors import Fault

SUFFIXES = ("CACHE_SECONDS",)


def of_variable(variable: str, suffix: str) -> Fault | None:
    """Say that nothing here reads *variable*, whose *suffix* is empty if no point has it."""
    if suffix in SUFFIXES:
        return Fault(variable, "this version does not have the feature yet", "Unset it")
    return None
