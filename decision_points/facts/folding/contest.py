"""Who beats whom among the claims about one value, and what is left unbeaten (RF-24)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, product
from typing import NamedTuple

from ..assertions import Value
from ..outcomes import Witness
from .claims import Claim
from .ranks import Rank, Rules, Verdict

SUCCESSION = "succession"


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

    __slots__ = ("_best", "_ranked", "losers", "rules", "unbeaten")

    def __init__(self, claims: Iterable[Claim], rules: Rules) -> None:
        """Compare them all."""
        self.rules = rules
        self._ranked: defaultdict[Rank, list[Claim]] = defaultdict(list)
        for one in claims:
            self._ranked[one.rank].append(one)
        self._best = maximal(self._ranked, rules)
        self.unbeaten = [one for rank in self._best for one in self._ranked[rank]]
        self.losers = list(self._lost())

    def _lost(self) -> Iterator[Loser]:
        first = [(best, min([one.id for one in self._ranked[best]])) for best in self._best]
        for rank, claims in self._ranked.items():
            found = [
                (verdict, name)
                for best, name in first
                if (verdict := self.rules.compared(best, rank)).sign > 0
            ]
            if found:
                verdict, name = found[0] if len(found) == 1 else min(found, key=_first)
                for one in claims:
                    yield Loser(one, verdict, name)

    def ranks_of(self, values: Collection[Value]) -> list[Rank]:
        """Give the ranks of all that says one of *values*, beaten or not."""
        ranked = self._ranked.items()
        return [rank for rank, claims in ranked if any(one.value in values for one in claims)]

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
        says = self._says()
        values_left = {value for said in says.values() for value in said}
        rivals = self._best if len(values_left) > 1 else []
        for rank, claims in self._ranked.items():
            beating = [says[best] for best in rivals if self._beats(best, rank)]
            for one in claims:
                if one.value in wanted and all(said == {one.value} for said in beating):
                    wanted[one.value].update(one.voices)
        return {value: frozenset(found) for value, found in wanted.items()}

    def _says(self) -> dict[Rank, set[Value]]:
        return {rank: {one.value for one in self._ranked[rank]} for rank in self._best}

    def _beats(self, best: Rank, rank: Rank) -> bool:
        return best != rank and self.rules.compared(best, rank).sign > 0

    def reason(self) -> str:
        """Say why nothing decides between the values that are left (RF-18, RF-27, RF-13)."""
        if len({one.said.source for one in self.unbeaten}) == 1:
            return "self_contradiction"
        says = self._says()
        found = [
            self.rules.compared(one, other)
            for one, other in (*combinations(self._best, 2), *((rank, rank) for rank in self._best))
            if len(says[one] | says[other]) > 1
        ]
        return min(found, key=lambda one: (one.place, one.on)).on

    def between(self, one: list[Claim], other: list[Claim]) -> str:
        """Say why nothing decides between what is left of two values."""
        if {claim.said.source for claim in (*one, *other)} == {one[0].said.source}:
            return "self_contradiction"
        ranks = ({claim.rank for claim in claims} for claims in (one, other))
        found = [self.rules.compared(a, b) for a, b in product(*ranks)]
        return min(found, key=lambda verdict: (verdict.place, verdict.on)).on


def _first(found: tuple[Verdict, str]) -> tuple[int, str, str]:
    verdict, name = found
    return verdict.place, verdict.on, name


def maximal(ranks: Iterable[Rank], rules: Rules) -> list[Rank]:
    """Give those of *ranks* that no other one of them beats; the order is transitive."""
    best: list[Rank] = []
    for rank in ranks:
        beaten = False
        kept: list[Rank] = []
        for other in best:
            sign = rules.compared(rank, other).sign
            if sign < 0:
                beaten = True
                break
            if sign == 0:
                kept.append(other)
        if not beaten:
            best = [*kept, rank]
    return best
