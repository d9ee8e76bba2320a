"""Whether the subjects of a split fell into its arms as planned: nothing is compared before."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..statistics.comparing import sample_ratio
from .reading import Seen

UNNAMED = "(no model)"
WHOLE = 100  # in what an exposure tells shares in


class Ratio(msgspec.Struct, frozen=True):
    """
    How subjects fell into the arms.

    Attributes:
        part: `all`, or the day on which they came first.
        subjects: Arm → distinct subjects.
        p: Of the chi-square test against the shares.

    """

    part: str
    subjects: Mapping[str, int]
    p: float


def recorded(rows: Iterable[Seen]) -> tuple[Mapping[str, float], ...]:
    """Give the plans, arm → share, under which decisions were assigned, in order of appearance."""
    found = {tuple(plan.items()): plan for plan in map(_plan, rows) if plan}
    return tuple(found.values())


def _plan(one: Seen) -> Mapping[str, float]:
    if one.exposure is None:
        return {}
    return {arm: share / WHOLE for arm, share in sorted(one.exposure.shares.items())}


def latest(rows: Sequence[Seen], named: Mapping[str, float]) -> Sequence[Seen]:
    """
    Keep the decisions that were assigned under the shares *named*, else under the latest.

    Whoever moves to another arm as shares grow would else be seen in two.
    """
    if not rows:
        return rows
    last = _plan(max(rows, key=lambda one: one.at))
    plan = next((one for one in recorded(rows) if _same(one, named)), last)
    return [one for one in rows if _plan(one) == plan]


def _same(plan: Mapping[str, float], named: Mapping[str, float]) -> bool:
    return plan.keys() == named.keys() and all(
        math.isclose(share, named[arm], abs_tol=1e-9) for arm, share in plan.items()
    )


def ratio(part: str, placed: Iterable[str], shares: Mapping[str, float]) -> Ratio | None:
    """Test one part; an arm that has no share at all makes the ratio impossible."""
    counts = Counter(placed)
    planned = {variant: share for variant, share in shares.items() if share > 0}
    if len(planned) < 2 or not counts:  # noqa: PLR2004 - what a ratio is of
        return None
    if set(counts) - set(planned):
        return Ratio(part, dict(counts), 0.0)
    of_arm = {variant: counts[variant] for variant in planned}
    return Ratio(part, of_arm, sample_ratio([*of_arm.values()], [*planned.values()]).p)


def days(
    rows: Sequence[Seen], first: Mapping[str, str], shares: Mapping[str, float]
) -> tuple[Ratio, ...]:
    """Test each day on which subjects came first."""
    came: dict[str, str] = {}
    for one in sorted(rows, key=lambda one: one.at):
        came.setdefault(one.subject or "", one.day)
    of_day: defaultdict[str, list[str]] = defaultdict(list)
    for subject, day in came.items():
        of_day[day].append(first[subject])
    found = [ratio(day, placed, shares) for day, placed in sorted(of_day.items())]
    return tuple(one for one in found if one is not None)


def served(rows: Sequence[Seen]) -> Mapping[str, Mapping[str, int]]:
    """Say which models served the first decisions of the subjects of each arm."""
    came: dict[str, Seen] = {}
    for one in sorted(rows, key=lambda one: one.at):
        came.setdefault(one.subject or "", one)
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in came.values():
        said = one.said.get(one.variant)
        found[one.variant][said.model if said and said.model else UNNAMED] += 1
    return {arm: dict(models.most_common()) for arm, models in found.items()}
