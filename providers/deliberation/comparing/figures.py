"""What an arm came to over the cases that all arms have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from ....gateway.evaluation.statistics.measures import brier
from ....gateway.evaluation.statistics.numerics import Interval, percentile, wilson
from .cases import Case
from .matching import UNITS
from .rows import Part, Row, Values


class Changes(msgspec.Struct, frozen=True):
    """
    What became of right and wrong outcomes.

    Attributes:
        corrections: Wrong, or none, before; right after.
        subversions: Right before; wrong, or none, after.

    """

    corrections: int
    subversions: int


class Collapse(msgspec.Struct, frozen=True):
    """
    What became of disagreement among the members.

    Attributes:
        disagreed: Cases on which first answers differed.
        collapsed: Those of them on which all last answers were the same.
        wrongly: Those of them on which that was wrong.
        members: Members that answered both at first and at last, over all cases.
        moved: Those of them whose last answer is another one.

    """

    disagreed: int
    collapsed: int
    wrongly: int
    members: int
    moved: int


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """
    One arm's figures.

    Attributes:
        arm: Its name.
        cases: How many there are.
        answered: Those on which it gave an outcome.
        right: Those on which that is right.
        low: Lower end of the 95 % interval (Wilson) of the share that is right.
        high: Upper end.
        brier: Mean squared distance of its confidence from 1 where it is right, from 0 where it
            is wrong, over the outcomes that have one: 0 best, 1 worst; None without one.
        calls: Of all cases.
        tokens: Of all calls that told.
        untold: Calls that did not.
        usd: US dollars of all calls whose price is known.
        unpriced: Calls whose price is not.
        p50: Median seconds of a case.
        p95: 95th percentile.
        k: Mean samples of a matched arm; 0 for others.
        matched: What they were found by.
        repeated: Its samples never differed on any case: it is one answer, repeated, or none.
        unsure: Provider → its answers that were below its minimum, and so did not count.
        uncriticised: Cases of a placebo of content without critiques of another one.
        ratios: Cost over the debate's, all cases together, by unit, where known.
        own: Against the arm's own first answers; None where it has no second ones.
        independent: Against the arm `independent`; None where there is none.
        collapse: Of the members' disagreement; None for an arm whose members do not answer twice.

    """

    arm: str
    cases: int
    answered: int
    right: int
    low: float
    high: float
    brier: float | None
    calls: int
    tokens: int
    untold: int
    usd: float
    unpriced: int
    p50: float
    p95: float
    k: float = 0.0
    matched: tuple[str, ...] = ()
    repeated: bool = False
    unsure: Mapping[str, int] = {}
    uncriticised: int = 0
    ratios: Mapping[str, float] = {}
    own: Changes | None = None
    independent: Changes | None = None
    collapse: Collapse | None = None


class Judged(NamedTuple):
    """A row with the case that it is about."""

    case: Case
    row: Row

    @property
    def right(self) -> bool:
        """Whether the outcome is right."""
        return self.case.right(self.row.given)


def figures(
    judged: Sequence[Judged],
    base: Sequence[Judged] | None,
    debate: Sequence[Judged] | None,
) -> Figures:
    """
    Sum up one arm.

    Args:
        judged: Its rows, at least one, in the order of the cases.
        base: Those of `independent`, on the same cases; None: there is no such arm.
        debate: Those of the debate that costs are held against; None: there is none.

    """
    rows, verdicts = [one.row for one in judged], [one.right for one in judged]
    cost, seconds = _cost(judged), [row.seconds for row in rows]
    ends: Interval = wilson(sum(verdicts), len(rows))
    twice = any(row.rounds for row in rows)
    return Figures(
        arm=rows[0].arm,
        cases=len(rows),
        answered=sum(row.given is not None for row in rows),
        right=sum(verdicts),
        low=ends.low,
        high=ends.high,
        brier=_brier(judged),
        calls=cost.calls,
        tokens=cost.tokens,
        untold=cost.untold,
        usd=cost.usd,
        unpriced=cost.unpriced,
        p50=percentile(seconds, 0.5),
        p95=percentile(seconds, 0.95),
        k=sum(row.k for row in rows) / len(rows),
        matched=tuple(sorted({row.matched for row in rows} - {""})),
        repeated=_repeated(judged),
        unsure=_unsure(rows),
        uncriticised=sum(row.uncriticised for row in rows),
        ratios={} if debate is None else _ratios(cost, _cost(debate)),
        own=_own(judged) if twice else None,
        independent=None if base is None else _changes([b.right for b in base], verdicts),
        collapse=_collapse(judged) if twice and _together(rows) else None,
    )


def _cost(judged: Sequence[Judged]) -> Part:
    return sum((one.row.cost for one in judged), Part())


def _brier(judged: Sequence[Judged]) -> float | None:
    told = [(one.row.sure, one.right) for one in judged if one.row.given is not None]
    pairs = [(sure, right) for sure, right in told if sure is not None]
    return brier([sure for sure, _ in pairs], [right for _, right in pairs]) if pairs else None


def _ratios(cost: Part, debate: Part) -> dict[str, float]:
    both = {unit: (cost.in_unit(unit), debate.in_unit(unit)) for unit in UNITS}
    return {unit: one / other for unit, (one, other) in both.items() if one is not None and other}


def _own(judged: Sequence[Judged]) -> Changes:
    """Compare with its own first answers; where no second round was run, they are the last."""
    before = [one.case.right(one.row.first if one.row.rounds else one.row.given) for one in judged]
    return _changes(before, [one.right for one in judged])


def _changes(before: Sequence[bool], after: Sequence[bool]) -> Changes:
    pairs = list(zip(before, after, strict=True))
    return Changes(
        corrections=sum(not a and b for a, b in pairs),
        subversions=sum(a and not b for a, b in pairs),
    )


def _repeated(judged: Sequence[Judged]) -> bool:
    """Whether there were samples to differ, and none did."""
    several = [one for one in judged if one.row.k > 1 and _several(one.row)]
    return bool(several) and not any(_mixed(one) for one in several)


def _several(row: Row) -> bool:
    return len(row.opening) > 1 or bool(row.unsure)


def _mixed(one: Judged) -> bool:
    """Whether samples differ: in what they say, or in that only some of them are sure of it."""
    opening = one.row.opening
    some = 0 < len(opening) < one.row.k and bool(one.row.unsure)
    return some or _differ(one, opening)


def _unsure(rows: Sequence[Row]) -> Mapping[str, int]:
    found = Counter[str]()
    for row in rows:
        found.update(row.unsure)
    return dict(found)


def _together(rows: Sequence[Row]) -> bool:
    """Whether members answered twice: samples of one model are no members."""
    return any(name in row.opening for row in rows for name in row.ending) and not rows[0].k


def _collapse(judged: Sequence[Judged]) -> Collapse:
    apart = [one for one in judged if _differ(one, one.row.opening)]
    same = [one for one in apart if len(one.row.ending) > 1 and not _differ(one, one.row.ending)]
    twice = [(one, name) for one in judged for name in one.row.opening if name in one.row.ending]
    moved = sum(
        _key(one, one.row.opening[name]) != _key(one, one.row.ending[name]) for one, name in twice
    )
    wrongly = sum(not one.case.right(next(iter(one.row.ending.values()))) for one in same)
    return Collapse(len(apart), len(same), wrongly, len(twice), moved)


def _differ(one: Judged, answers: Mapping[str, Values]) -> bool:
    return len({_key(one, values) for values in answers.values()}) > 1


def _key(one: Judged, values: Values) -> tuple[object, ...]:
    """What a member answers to the questions that count."""
    asked = one.case.ask.questions
    return tuple(values.get(name) for name in one.case.gold if name in asked)
