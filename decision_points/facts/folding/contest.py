"""Who beats whom among the claims about one value, and what is left unbeaten (RF-24)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from ..assertions import Value
from ..outcomes import Witness
from .claims import Claim
from .order import Order, stratum
from .ranks import Rank, Rules, Standing, Verdict


class Loser(NamedTuple):
    """
    A claim that is beaten.

    Attributes:
        claim: It.
        verdict: How it is.
        to: Id of what beats it so, the first by id.

    """

    claim: Claim
    verdict: Verdict
    to: str

    @property
    def witness(self) -> Witness:
        """Say it as a trace does."""
        return Witness(lost=self.claim.id, to=self.to, on=self.verdict.on)


class Contest:
    """
    Claims in conflict, compared rank by rank: claims of one rank are as one, however many (RF-80).

    Attributes:
        rules: Of the attribute.
        unbeaten: What nothing beats.
        losers: All else.

    """

    __slots__ = ("_order", "_ranked", "_strata", "losers", "rules", "unbeaten")

    def __init__(self, claims: Iterable[Claim], rules: Rules) -> None:
        """Compare them all."""
        self.rules = rules
        self._ranked: defaultdict[Rank, list[Claim]] = defaultdict(list)
        for one in claims:
            self._ranked[one.rank].append(one)
        self._order = Order(self._ranked, rules)
        self.unbeaten = [one for rank in self._order.best for one in self._ranked[rank]]
        self.losers = list(self._lost())
        self._strata = self._by_stratum()

    def _lost(self) -> Iterator[Loser]:
        for rank, claims in self._ranked.items():
            leads = self._order.ahead(rank)
            found = [(self.rules.compared(lead.rank, rank), lead.name) for lead in leads]
            if found:
                verdict, name = found[0] if len(found) == 1 else min(found, key=_first)
                for one in claims:
                    yield Loser(one, verdict, name)

    def _by_stratum(self) -> dict[Value, dict[Standing, Rank]]:
        """Give of each value that is left the strata that say it, and a rank of each."""
        found: defaultdict[Value, dict[Standing, Rank]] = defaultdict(dict)
        for rank in self._order.best:
            name = stratum(rank, self.rules)
            for one in self._ranked[rank]:
                found[one.value][name] = rank
        return found

    def begun(self, values: Collection[Value]) -> dict[Standing, int]:
        """Give by standing when the last of all that says one of *values* began to hold."""
        found: dict[Standing, int] = {}
        for (standing, times), claims in self._ranked.items():
            held = times.held
            if held is not None and any(one.value in values for one in claims):
                found[standing] = max(held.start, found.get(standing, held.start))
        return found

    def values(self) -> dict[Value, list[Claim]]:
        """Give what is left, by value."""
        found: defaultdict[Value, list[Claim]] = defaultdict(list)
        for one in self.unbeaten:
            found[one.value].append(one)
        return found

    def voices(self, values: Iterable[Value]) -> dict[Value, frozenset[str]]:
        """
        Give whose word each value is, but for what another value that is left beats (RF-33).

        So counted, another voice for a value never takes one from it, nor gives one to others;
        and what is beaten by another value counts for nothing.
        """
        wanted: dict[Value, set[str]] = {value: set() for value in values}
        contested = len(self._strata) > 1
        for rank, claims in self._ranked.items():
            leads = self._order.ahead(rank) if contested else ()
            beating = {lead.says for lead in leads}
            for one in claims:
                if one.value in wanted and beating <= {one.value}:
                    wanted[one.value].update(one.voices)
        return {value: frozenset(found) for value, found in wanted.items()}

    def reason(self) -> str:
        """Say why nothing decides between the values that are left (RF-18, RF-27, RF-13)."""
        if len({one.said.source for one in self.unbeaten}) == 1:
            return "self_contradiction"
        says: defaultdict[Standing, set[Value]] = defaultdict(set)
        ranks: dict[Standing, Rank] = {}
        for value, strata in self._strata.items():
            ranks |= strata
            for name in strata:
                says[name].add(value)
        return self._why(
            (ranks[one], ranks[other])
            for one, other in combinations_with_replacement(ranks, 2)
            if len(says[one] | says[other]) > 1
        )

    def between(self, one: list[Claim], other: list[Claim]) -> str:
        """Say why nothing decides between what is left of two values."""
        if len({claim.said.source for claim in (*one, *other)}) == 1:
            return "self_contradiction"
        ranks, others = (self._strata[claims[0].value].values() for claims in (one, other))
        return self._why(product(ranks, others))

    def _why(self, pairs: Iterable[tuple[Rank, Rank]]) -> str:
        # of one stratum any two ranks will do: where time or a margin decides nothing is no matter
        found = [self.rules.compared(one, other) for one, other in pairs]
        return min(found, key=lambda verdict: (verdict.place, verdict.on)).on


def _first(found: tuple[Verdict, str]) -> tuple[int, str, str]:
    verdict, name = found
    return verdict.place, verdict.on, name
