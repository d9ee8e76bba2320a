"""Who was right where persons decided: a report, that changes nothing (RF-21, RF-19)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ..assertions import Value
from ..folding import visible
from .agreements import Agreement, Pairs
from .labels import Case, judged, labels
from .tallies import Counts, Place, Swap, Tally, best_first, swaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..ledger.view import View

EVERY = 1_000  # facts between two reports of progress


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """
    How often sources were right, and what that says about their order.

    Attributes:
        facts: How many were looked at.
        resolutions: How many labels come from disputes that were resolved.
        confirmations: How many from what persons said.
        writers: By source, attribute and writer.
        sources: By source and attribute.
        swaps: Pairs that stand the wrong way round; nothing is changed by that.
        agreements: Sources that say the same nearly always, and are not declared as one voice.
        left_out: Facts too crowded for agreements to be counted.

    """

    facts: int
    resolutions: int
    confirmations: int
    writers: tuple[Tally, ...]
    sources: tuple[Tally, ...]
    swaps: tuple[Swap, ...]
    agreements: tuple[Agreement, ...]
    left_out: int = 0

    def order(self, attribute: str) -> tuple[str, ...]:
        """Give the sources that were checked on *attribute*, the best first."""
        return best_first(self.sources, attribute)


def audit(
    view: View,
    at: int,
    *,
    agents: bool = False,
    alpha: float = 0.05,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    """
    Count who was right.

    Args:
        view: A consistent read of the log.
        at: For which time sources are compared with each other, in microseconds.
        agents: Whether what agents resolved counts too; they are no measure of themselves.
        alpha: Intervals cover the share in about 1 − alpha of all samples.
        progress: Called with the number of facts done, now and then.

    """
    counting = _Counting(view, at, agents=agents, alpha=alpha)
    for done, (key, living) in enumerate(view.livings(), 1):
        case = Case.of(key, living, *view.versions())
        if case is not None:
            counting.count(case)
        if progress is not None and done % EVERY == 0:
            progress(done)
        counting.facts = done
    return counting.told()


class _Counting:
    """What is counted of facts as they come."""

    def __init__(self, view: View, at: int, *, agents: bool, alpha: float) -> None:
        self.registry = view.versions()[1]
        self.at, self.agents = at, agents
        self.counts, self.pairs = Counts(alpha), Pairs(self.registry, alpha)
        self.by: Counter[str] = Counter()
        self.facts = 0

    def count(self, case: Case) -> None:
        """Count one fact: each source and writer once, by the latest label that judges them."""
        values = case.values()
        found: dict[Place, bool] = {}
        for label in labels(case, values, agents=self.agents):
            self.by[label.by] += 1
            told: dict[Place, bool] = {}
            for one, right in judged(case, values, label):
                place = Place(one.assertion.source, case.attribute.name, one.assertion.writer)
                told[place] = told.get(place, True) and right
            found = {**told, **found}
        for place, right in found.items():
            self.counts.count(place, right=right)
        self.pairs.count(self._said(case, values))

    def _said(self, case: Case, values: Mapping[str, Value]) -> Mapping[str, Value]:
        """Give what each source says now, where that is one thing."""
        said: dict[str, set[Value]] = {}
        for one in case.living.assertions:
            if one.id in values and visible(one.assertion, self.at):
                said.setdefault(one.assertion.source, set()).add(values[one.id])
        return {source: min(those) for source, those in said.items() if len(those) == 1}

    def told(self) -> Audit:
        """Sum up."""
        sources = self.counts.sources()
        return Audit(
            facts=self.facts,
            resolutions=self.by["resolution"],
            confirmations=self.by["confirmation"],
            writers=self.counts.writers(),
            sources=sources,
            swaps=swaps(sources, self.registry),
            agreements=self.pairs.high(),
            left_out=self.pairs.left_out,
        )
