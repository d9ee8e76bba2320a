"""
Variables whose features this version does not have: said at start, never ignored.

Whoever builds a feature takes its variable out of here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .environment import variables_of
from .errors import Fault

GLOBALS = frozenset(
    {
        "DECISION_THRESHOLDS",
        "DECISION_JOURNAL",
        "DECISION_JOURNAL_CONTENT",
        "DECISION_JOURNAL_KEY",
        "DECISION_JOURNAL_REDACT",
    }
)
SUFFIXES = ("SHADOW_SAMPLE", "SHADOW", "EXPERIMENT", "CACHE_SECONDS")
PROVIDER_SUFFIXES = ("BUDGET_USD_PER_DAY",)


def of_variable(variable: str, value: str, suffix: str) -> Fault | None:
    """Say that nothing here reads *variable*, whose *suffix* is empty if no point has it."""
    if variable in GLOBALS or suffix in SUFFIXES:
        return _fault(variable)
    if variable.startswith("DECISION_") and variable.endswith("_PROVIDER") and ":" in value:
        return Fault(variable, "this version cannot split traffic yet", "Name one provider")
    return None


def of_provider(name: str, values: Mapping[str, str]) -> Iterable[Fault]:
    """List the variables of the provider *name* that nothing here reads."""
    for suffix in PROVIDER_SUFFIXES:
        for variable in variables_of(name, suffix):
            if variable in values:
                yield _fault(variable)


def _fault(variable: str) -> Fault:
    return Fault(variable, "this version does not have the feature yet", "Unset it")
