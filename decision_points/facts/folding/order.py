"""
Many ranks compared at once: what comparing each with each gives, in about the time of sorting them.

Only a place in time, or a confidence that has to be ahead by a margin, takes many values. Ranks
that are the same in all else are of one *stratum*: there are few strata, and within one it is
enough to know where what is ahead begins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from ..assertions import Value
from .claims import Claim
from .ranks import Moment, Rank, Rules, Standing, exact

Number: TypeAlias = "int | Decimal"
Mark: TypeAlias = tuple[Number, Number, Number, bool]
"""As a `Moment`: first, last, how wrong that may be, and what it is of."""


class Lead(NamedTuple):
    """
    What is unbeaten and ahead of something, all on one key.

    Attributes:
        name: The first id of it.
        rank: What has that id.
        says: The value that all of it says; None: it says several.

    """

    name: str
    rank: Rank
    says: Value | None


class Order:
    """
    Ranks, and what is ahead of each.

    Attributes:
        best: Those that no other beats.

    """

    __slots__ = ("_above", "_rows", "_rules", "_whole", "best")

    def __init__(self, ranked: Mapping[Rank, list[Claim]], rules: Rules) -> None:
        """Find the best, and sort them."""
        self._rules = rules
        self.best = maximal(ranked, rules)
        leads: defaultdict[Standing, list[Lead]] = defaultdict(list)
        for rank in self.best:
            leads[stratum(rank, rules)].append(_lead(rank, ranked[rank]))
        self._whole = {name: _all(several) for name, several in leads.items()}
        self._rows = {name: _Rows(several, rules) for name, several in leads.items()}
        self._above: dict[Standing, list[Lead]] = {}

    def ahead(self, rank: Rank) -> Iterator[Lead]:
        """Give what beats *rank* of the best, together what does so in one way."""
        mine = stratum(rank, self._rules)
        above = self._above.get(mine)
        if above is None:
            above = self._above[mine] = [*self._higher(mine, rank)]
        yield from above
        if mine in self._rows:
            yield from self._rows[mine].ahead(rank)

    def _higher(self, mine: Standing, rank: Rank) -> Iterator[Lead]:
        for name, whole in self._whole.items():
            if name != mine and self._rules.compared(whole.rank, rank).sign > 0:
                yield whole


def stratum(rank: Rank, rules: Rules) -> Standing:
    """Give what a rank is but for what takes many values: ranks of two compare as any two do."""
    standing = rank.standing
    return standing if _sure(rank, rules) is None else (*standing[:-1], "sure")


def _sure(rank: Rank, rules: Rules) -> float | None:
    """Give a confidence that is compared with a margin: only the last key may be (RF-27)."""
    sure = rank.standing[-1]
    return sure if rules.attribute.margin is not None and isinstance(sure, int | float) else None


def _marks(rank: Rank, rules: Rules) -> tuple[Moment | None, Mark | None]:
    """Give from when it holds, if that is compared by itself; and what is compared among such."""
    sure = _sure(rank, rules)
    if sure is None:
        return rank.times
    return None, (exact(sure), exact(sure), exact(rules.attribute.margin or 0), False)


def maximal(ranks: Iterable[Rank], rules: Rules) -> list[Rank]:
    """Give those of *ranks* that no other one of them beats; the order is transitive."""
    strata: defaultdict[Standing, list[Rank]] = defaultdict(list)
    for rank in ranks:
        strata[stratum(rank, rules)].append(rank)
    first = [several[0] for several in strata.values()]
    found: list[Rank] = []
    for several in strata.values():
        if not any(rules.compared(other, several[0]).sign > 0 for other in first):
            found += _foremost(several, rules)
    return found


def _foremost(ranks: list[Rank], rules: Rules) -> Iterator[Rank]:
    """Give those of one stratum that are not behind another."""
    if len(ranks) == 1:
        yield ranks[0]
        return
    marks = [_marks(rank, rules) for rank in ranks]
    begun = _last(mark for mark, _ in marks)
    rows: defaultdict[Mark | None, list[Mark | None]] = defaultdict(list)
    for holds, mark in marks:
        rows[holds].append(mark)
    ends = {holds: _last(row) for holds, row in rows.items()}
    for rank, (holds, mark) in zip(ranks, marks, strict=True):
        if not _behind(holds, begun) and not _behind(mark, ends[holds]):
            yield rank


_Last: TypeAlias = Mapping[tuple[Number, bool], Number]


def _last(marks: Iterable[Mark | None]) -> _Last:
    """Give the last beginning among *marks*, of each kind and error."""
    found: dict[tuple[Number, bool], Number] = {}
    for mark in marks:
        if mark is not None:
            start, _, gap, kind = mark
            found[gap, kind] = max(start, found.get((gap, kind), start))
    return found


def _behind(mark: Mark | None, ends: _Last) -> bool:
    if mark is None:
        return False
    _, last, gap, _ = mark
    return any(start - last > max(gap, other) for (other, _), start in ends.items())


class _Row:
    """Marks of one kind and error, by their beginning, with what all from each on comes to."""

    __slots__ = ("gap", "leads", "starts")

    def __init__(self, gap: Number, row: list[tuple[Number, Lead]]) -> None:
        row.sort(key=lambda one: one[0])
        self.gap = gap
        self.starts = [start for start, _ in row]
        self.leads = list(accumulate((lead for _, lead in reversed(row)), _both))

    def ahead(self, mark: Mark | None) -> Iterator[Lead]:
        if mark is None:
            return
        _, last, gap, _ = mark
        gap = max(gap, self.gap)
        # the same difference as where two are compared: of decimals, a sum may be rounded otherwise
        at = bisect_left(self.starts, x=True, key=lambda start: start - last > gap)
        if at < len(self.starts):
            yield self.leads[-1 - at]


class _Rows:
    """What is unbeaten of one stratum."""

    __slots__ = ("_held", "_rules", "_seen")

    def __init__(self, leads: Iterable[Lead], rules: Rules) -> None:
        held: list[tuple[Mark | None, Lead]] = []
        seen: defaultdict[Mark | None, list[tuple[Mark | None, Lead]]] = defaultdict(list)
        for lead in leads:
            holds, mark = _marks(lead.rank, rules)
            held.append((holds, lead))
            seen[holds].append((mark, lead))
        self._rules = rules
        self._held = _rows(held)
        self._seen = {holds: _rows(several) for holds, several in seen.items()}

    def ahead(self, rank: Rank) -> Iterator[Lead]:
        holds, mark = _marks(rank, self._rules)
        for row in self._held:
            yield from row.ahead(holds)
        for row in self._seen.get(holds, ()):
            yield from row.ahead(mark)


def _rows(marked: Iterable[tuple[Mark | None, Lead]]) -> list[_Row]:
    rows: defaultdict[tuple[Number, bool], list[tuple[Number, Lead]]] = defaultdict(list)
    for mark, lead in marked:
        if mark is not None:
            start, _, gap, kind = mark
            rows[gap, kind].append((start, lead))
    return [_Row(gap, row) for (gap, _), row in rows.items()]


def _lead(rank: Rank, claims: list[Claim]) -> Lead:
    value = claims[0].value
    same = all(one.value == value for one in claims)
    return Lead(min([one.id for one in claims]), rank, value if same else None)


def _both(one: Lead, other: Lead) -> Lead:
    first = min(one, other, key=_name)
    return first if one.says == other.says else first._replace(says=None)


def _all(leads: Iterable[Lead]) -> Lead:
    *_, last = accumulate(leads, _both)
    return last


def _name(lead: Lead) -> str:
    return lead.name
