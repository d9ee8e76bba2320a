"""How rules do by themselves on the facts that a person decided."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..auditing import Case, Label, labels
from ..folding import Living, fold
from ..keys import FactKey
from ..policy import Policy
from ..registry import Registry
from .differences import Score


class Resolved(NamedTuple):
    """
    What a person decided about a fact.

    Attributes:
        label: The value, as the present rules read it, and when it was so.
        ids: Assertions that say it: other rules may read them otherwise.

    """

    label: Label
    ids: tuple[str, ...]


def resolved(key: FactKey, living: Living, policy: Policy, registry: Registry) -> Resolved | None:
    """Give what a person decided about *key* last; None: no person did."""
    case = Case.of(key, living, policy, registry) if living.receipts else None
    if case is None:
        return None
    values = case.values()
    for label in labels(case, values):
        if label.by == "resolution":
            ids = (id_ for id_, value in values.items() if value == label.truth)
            return Resolved(label, tuple(sorted(ids)))
    return None


class Scoring:
    """
    Counts under one pair of rules.

    Args:
        policy: The policy.
        registry: Of the sources.

    """

    def __init__(self, policy: Policy, registry: Registry) -> None:
        self.policy, self.registry = policy, registry
        self.score: Score | None = None

    def count(self, key: FactKey, living: Living, known: Resolved) -> None:
        """Count a fact that a person decided."""
        case = Case.of(key, living, self.policy, self.registry)
        verdict = None if case is None else self._verdict(case, known)
        self.score = (self.score or Score()).with_(verdict)

    def _verdict(self, case: Case, known: Resolved) -> bool | None:
        """Fold without what the person brought in: it is the rules that are scored."""
        values = case.values()
        truth = next((values[id_] for id_ in known.ids if id_ in values), None)
        alone = _without_person(case.living, known)
        found = fold(case.key, alone, self.policy, self.registry, known.label.at)
        if truth is None or found.status not in ("resolved", "absent", "ended"):
            return None
        value = found.value or (found.candidates[0].value if found.candidates else None)
        return None if value is None else case.same(value, truth)


def _without_person(living: Living, known: Resolved) -> Living:
    brought = known.ids if known.label.new else ()
    kept = tuple(one for one in living.assertions if one.id not in brought)
    return msgspec.structs.replace(living, assertions=kept, receipts=())
