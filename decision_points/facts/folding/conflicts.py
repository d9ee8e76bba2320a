"""Claims that say several things: what decides between them, or why nothing does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations, islice
from typing import TypeAlias

from ..assertions import Value
from ..keys import FactKey
from ..outcomes import Candidate, candidate_id
from ..values import all_within, finer, within
from .claims import Claim
from .contest import Contest, Loser
from .order import maximal
from .ranks import Standing
from .settled import Settled, candidate, voices_of

PAIRS = 100  # of candidates, for which a trace says why neither beats the other

Listed: TypeAlias = Mapping[Value, tuple[list[Claim], Collection[str]]]
"""Value → the claims that say it, and whose voices they are."""


class Conflict:
    """
    Claims that say several things.

    Args:
        key: The fact.
        contest: Who beats whom.

    """

    __slots__ = ("contest", "key", "left", "losers", "rules")

    def __init__(self, key: FactKey, contest: Contest) -> None:
        self.key, self.contest, self.rules = key, contest, contest.rules
        self.left = contest.values()
        self.losers: list[Loser] = contest.losers

    def settled(self) -> Settled:
        """Settle it by what is left, if that agrees; else list what does not."""
        found = self._agreed()
        if found is None:
            return self.listed()
        value, how = found
        against = self._against(value, how)
        if self.rules.attribute.dissent == "guard" and (guard := self._guarded(value, against)):
            return self._disputed("dissent", guard)
        return self._decided(value, how, against)

    def listed(self) -> Settled:
        """List what is left, as if nothing agreed."""
        voices = self.contest.voices(self.left)
        listed = {value: (said, voices[value]) for value, said in self.left.items()}
        return self._disputed(self.contest.reason(), listed)

    def _agreed(self) -> tuple[Value, str] | None:
        """Give the value that represents what is left, and how it does: by itself, or because."""
        if len(self.left) == 1:
            return next(iter(self.left)), ""
        if (finest := self._finest()) is not None:
            return finest, "compatible"
        if self.rules.attribute.tolerance and (near := self._near()) is not None:
            return near, "tolerance"
        won = self._corroborated()
        return None if won is None else (won, "corroboration")

    def _finest(self) -> Value | None:
        """Give the one that every other one contains; None: there is none, or not all agree."""
        finest, *others = self.left
        for other in others:
            found = self._finer(finest, other)
            if found is None:
                return None
            finest = found
        # of three, two may contain the finest and still contradict each other
        pairs = combinations(self.left, 2)
        return finest if all(self._finer(a, b) is not None for a, b in pairs) else None

    def _finer(self, a: Value, b: Value) -> Value | None:
        if a == b or not self.rules.nested:
            return a if a == b else None
        return finer(a, b, self.rules.attribute, self.rules.policy)

    def _near(self) -> Value | None:
        """
        Give the plainest of what is left, if all pairs are within the tolerance (RF-83).

        It is no equality. What only says less than another, as a day does of a minute, is not
        near to it but contradicts nobody either; it does not represent what is finer.
        """
        attribute = self.rules.attribute
        if all_within(self.left, attribute):
            return min(self.left, key=_plainest)
        most = max(self.left, key=_plainest)
        coarse = [one for one in self.left if one != most and self._finer(one, most) == most]
        fine = self.left.keys() - coarse
        if not coarse or not all_within(fine, attribute):
            return None
        agree = all(self._agrees(one, other) for one in coarse for other in self.left)
        return min(fine, key=_plainest) if agree else None

    def _corroborated(self) -> Value | None:
        """
        Give the value that enough lineages stand for, if the policy lets them decide (RF-33).

        One cannot win that would yield to another that is left if only the two were: its voices
        may mean that one.
        """
        needed = self.rules.attribute.corroboration
        if needed is None:
            return None
        counts = {value: len(one) for value, one in self.contest.voices(self.left).items()}
        (top, most), (_, next_most) = sorted(counts.items(), key=lambda one: -one[1])[:2]
        enough = most - next_most >= (needed.lead or 1)
        if needed.share is not None:
            enough = enough and most >= needed.share * sum(counts.values())
        return top if enough and not any(self._yields(top, other) for other in self.left) else None

    def _yields(self, value: Value, other: Value) -> bool:
        finest = self._finer(value, other)
        if finest is None and within(value, other, self.rules.attribute):
            finest = min(value, other, key=_plainest)
        return finest not in {value, None}

    def _against(self, value: Value, how: str) -> dict[Value, list[Claim]]:
        """
        Give what contradicts the winner.

        What held before something that agrees with the winner does not: that is the past (RF-31).
        """
        beside = self.contest.unbeaten if how == "corroboration" else []
        found: defaultdict[Value, list[Claim]] = defaultdict(list)
        for one in (*beside, *(loser.claim for loser in self.losers)):
            found[one.value].append(one)
        agreeing = {other for other in (*self.left, *found) if self._agrees(other, value)}
        against = {other: said for other, said in found.items() if other not in agreeing}
        if not self.rules.timed or not against:
            return against
        begun = self.contest.begun(agreeing)
        present = {other: _not_past(said, begun) for other, said in against.items()}
        return {other: said for other, said in present.items() if said}

    def _agrees(self, other: Value, value: Value) -> bool:
        if other == value:
            return True
        attribute = self.rules.attribute
        if attribute.tolerance and within(other, value, attribute):
            return True
        return self._finer(other, value) is not None

    def _guarded(self, value: Value, against: Mapping[Value, list[Claim]]) -> Listed:
        """
        Give the values in dispute if half of the other lineages say otherwise; else none.

        A lineage agrees if anything that it says does, also something that is beaten; so counted,
        another that agrees never raises the share of those that do not (RF-34).
        """
        agreeing = [one.claim for one in self.losers if self._agrees(one.claim.value, value)]
        fellows = voices_of(agreeing)
        winning = voices_of(one for one in self.contest.unbeaten if one.value not in against)
        speaking = voices_of(one for said in against.values() for one in said)
        dissenting = speaking - winning - fellows
        if not dissenting or len(dissenting) < len(fellows):
            return {}
        others = {
            value: said
            for value, said in against.items()
            if value in self.left or not dissenting.isdisjoint(voices_of(said))
        }
        return {value: (said, voices_of(said)) for value, said in {**self.left, **others}.items()}

    def _decided(self, value: Value, how: str, against: Mapping[Value, list[Claim]]) -> Settled:
        unbeaten = self.contest.unbeaten
        winning = [one for one in unbeaten if one.value == value or one.value not in against]
        stand = self.contest.voices({one.value for one in winning}).values()
        runner_up = self._runner_up(value)
        if how in {"", "compatible"}:
            how = "compatible" if runner_up is None else runner_up.verdict.on
        dissent = (
            (candidate_id(self.key, other), len(voices_of(said))) for other, said in against.items()
        )
        return Settled(
            value=value,
            decided_by=how,
            candidates=(
                candidate(
                    self.key, value, winning, {voice for voices in stand for voice in voices}
                ),
            ),
            unbeaten=[one.id for one in unbeaten],
            beaten=[one.witness for one in self.losers],
            runner_up="" if runner_up is None else runner_up.claim.id,
            dissent=tuple(sorted(dissent)),
        )

    def _runner_up(self, value: Value) -> Loser | None:
        """Give the loser with another value that came closest, on the last of the keys."""
        others = [one for one in self.losers if self._finer(one.claim.value, value) != value]
        if not others:
            return None
        last = max(one.verdict.place for one in others)
        close = [one for one in others if one.verdict.place == last]
        if len(close) == 1:
            return close[0]
        best = set(maximal({one.claim.rank for one in close}, self.rules))
        return min((one for one in close if one.claim.rank in best), key=lambda one: one.claim.id)

    def _disputed(self, reason: str, listed: Listed) -> Settled:
        candidates = [candidate(self.key, value, *said) for value, said in listed.items()]
        candidates.sort(key=lambda one: one.id)
        return Settled(
            reason=reason,
            candidates=tuple(candidates),
            unbeaten=[one.id for one in self.contest.unbeaten],
            beaten=[one.witness for one in self.losers],
            ties=tuple(islice(self._ties(reason, candidates), PAIRS)),
        )

    def _ties(self, reason: str, candidates: Iterable[Candidate]) -> Iterator[tuple[str, str, str]]:
        for one, other in combinations(candidates, 2):
            if self._finer(one.value, other.value) is None:
                yield self._tie(reason, one.value, other.value), one.id, other.id

    def _tie(self, reason: str, one: Value, other: Value) -> str:
        if reason == "dissent":
            return reason
        return self.contest.between(self.left[one], self.left[other])


def _not_past(claims: Iterable[Claim], begun: Mapping[Standing, int]) -> list[Claim]:
    """Leave out what held before something of its standing that had *begun*, by succession."""
    return [
        one
        for one in claims
        if (held := one.rank.times.held) is None
        or begun.get(one.rank.standing, held.last) <= held.last
    ]


def _plainest(value: Value) -> tuple[int, str]:
    """Order values that are near enough; by voices, a loser could turn the answer (RF-26)."""
    return len(value.text), value.text
