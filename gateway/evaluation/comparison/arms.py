"""
Arms of a split: whether the traffic fell as it should, and how the arms did, by arm assigned.

The numbers are always valid: they may be looked at after every decision. A fallback belongs to
the arm that was assigned, because the arm is what is chosen.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..statistics.comparing import confidence_radius, msprt_p, sample_ratio
from .judging import Better, Share, share_of
from .sightings import Seen

ALARM = 0.001  # p of the sample ratio below which nothing is compared
SIZE = 0.05
EFFECT = 0.02  # least difference of shares that matters, where nobody says otherwise
FEWEST = 50  # labelled subjects of an arm from which its mean is near enough to normal
FURTHEST = 1e9  # times as many decisions as there are: nobody waits for more


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


class Arm(msgspec.Struct, frozen=True):
    """
    One arm.

    Attributes:
        variant: Whom it assigns.
        share: Planned part of the subjects, in [0, 1]; None if unknown.
        subjects: Distinct ones in this arm only.
        decisions: Theirs.
        right: Share of their labelled decisions that was right.

    """

    variant: str
    share: float | None
    subjects: int
    decisions: int
    right: Share


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """
    A split of traffic between A, B and maybe others.

    Attributes:
        experiment: Its id.
        arms: Of all that were assigned.
        ratio: Whether subjects fell as planned; None where that cannot be tested.
        days: The same for each day, where it failed.
        crossed: Subjects that were seen in two arms, and are left out.
        unsticky: Decisions without a subject, drawn by lot and left out.
        others: Decisions of other experiments, left out.
        effect: Least difference that matters, in shares.
        difference: B's share of right decisions less A's; None where it cannot be told.
        low: Lower end of its always-valid 95 % interval, clustered by subject.
        high: Upper end.
        p: Always-valid p of "no difference" (mixture SPRT).
        better: `a` or `b` where the interval leaves out zero; else empty.
        needed: About how many more labelled decisions tell a difference as large as the one
            measured, or as the least that matters, whichever is larger; 0 where it is told,
            None where nobody can say.
        why: Why nothing is compared; empty if something is.

    """

    experiment: str
    arms: tuple[Arm, ...]
    ratio: Ratio | None
    days: tuple[Ratio, ...]
    crossed: int
    unsticky: int
    others: int
    effect: float
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    better: Better = ""
    needed: int | None = None
    why: str = ""

    @property
    def failed(self) -> bool:
        """Whether subjects fell otherwise than planned, so that no comparison means anything."""
        return self.ratio is not None and self.ratio.p < ALARM


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is compared.

    Attributes:
        a: One arm.
        b: The other.
        experiment: Id of the split; None: the one seen last.
        shares: Arm → planned share, in all 1; empty if unknown.
        first: Subject → arm in which it was first seen, also before the decisions given.
        effect: Least difference of shares that matters.

    """

    a: str
    b: str
    experiment: str | None = None
    shares: Mapping[str, float] = {}
    first: Mapping[str, str] = {}
    effect: float = EFFECT


class Sum(msgspec.Struct):
    """The labelled decisions of one subject."""

    right: int = 0
    rows: int = 0


def split(seen: Sequence[Seen], plan: Plan) -> Split | None:
    """Compare the arms of a split; None where no decision was split."""
    exposed = [one for one in seen if one.exposure is not None]
    if not exposed:
        return None
    experiment = plan.experiment or _experiment(max(exposed, key=lambda one: one.at))
    rows = [one for one in exposed if _experiment(one) == experiment]
    sticky = [one for one in rows if one.subject is not None and _is_sticky(one)]
    first, crossed = _placed(sticky, plan.first)
    kept = [one for one in sticky if one.subject not in crossed]
    found = Split(
        experiment=experiment,
        arms=_arms(kept, plan.shares),
        ratio=_ratio("all", first.values(), plan.shares),
        days=(),
        crossed=len(crossed),
        unsticky=len(rows) - len(sticky),
        others=len(exposed) - len(rows),
        effect=plan.effect,
    )
    if found.failed:
        days = _days(sticky, first, plan.shares)
        why = "the subjects did not fall into the arms as planned"
        return msgspec.structs.replace(found, days=days, why=why)
    if found.ratio is None:
        why = "the planned shares are not known, so that the sample ratio cannot be tested"
        return msgspec.structs.replace(found, why=why)
    return _compared(found, _sums(kept, plan.a), _sums(kept, plan.b))


def _experiment(one: Seen) -> str:
    return "" if one.exposure is None else one.exposure.experiment


def _is_sticky(one: Seen) -> bool:
    return one.exposure is not None and one.exposure.sticky


def _placed(rows: Iterable[Seen], known: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    """Give subject → first arm, and the subjects seen in another one too."""
    first, crossed = dict[str, str](), set[str]()
    for one in sorted(rows, key=lambda one: one.at):
        subject = one.subject or ""
        arm = first.setdefault(subject, known.get(subject, one.variant))
        if arm != one.variant:
            crossed.add(subject)
    return first, crossed


def _arms(kept: Sequence[Seen], shares: Mapping[str, float]) -> tuple[Arm, ...]:
    of_arm: dict[str, list[Seen]] = {variant: [] for variant in shares}
    for one in kept:
        of_arm.setdefault(one.variant, []).append(one)
    return tuple(
        Arm(
            variant,
            shares.get(variant),
            len({one.subject for one in rows}),
            len(rows),
            share_of(
                sum(one.right is True for one in rows),
                sum(one.right is not None for one in rows),
            ),
        )
        for variant, rows in of_arm.items()
    )


def _ratio(part: str, placed: Iterable[str], shares: Mapping[str, float]) -> Ratio | None:
    """Test one part; an arm that has no share at all makes the ratio impossible."""
    counts = Counter(placed)
    planned = {variant: share for variant, share in shares.items() if share > 0}
    if len(planned) < 2 or not counts:  # noqa: PLR2004 - what a ratio is of
        return None
    if set(counts) - set(planned):
        return Ratio(part, dict(counts), 0.0)
    of_arm = {variant: counts[variant] for variant in planned}
    return Ratio(part, of_arm, sample_ratio([*of_arm.values()], [*planned.values()]).p)


def _days(
    rows: Sequence[Seen], first: Mapping[str, str], shares: Mapping[str, float]
) -> tuple[Ratio, ...]:
    came: dict[str, str] = {}
    for one in sorted(rows, key=lambda one: one.at):
        came.setdefault(one.subject or "", one.day)
    of_day: defaultdict[str, list[str]] = defaultdict(list)
    for subject, day in came.items():
        of_day[day].append(first[subject])
    ratios = [_ratio(day, placed, shares) for day, placed in sorted(of_day.items())]
    return tuple(one for one in ratios if one is not None)


def _sums(kept: Iterable[Seen], variant: str) -> list[Sum]:
    of_subject: defaultdict[str, Sum] = defaultdict(Sum)
    for one in kept:
        if one.variant == variant and one.right is not None:
            of_subject[one.subject or ""].rows += 1
            of_subject[one.subject or ""].right += one.right
    return list(of_subject.values())


def _compared(found: Split, a: Sequence[Sum], b: Sequence[Sum]) -> Split:
    if min(len(a), len(b)) < FEWEST:
        why = f"fewer than {FEWEST} subjects of an arm have a labelled decision"
        return msgspec.structs.replace(found, why=why)
    (mean_a, spread_a), (mean_b, spread_b) = _mean(a), _mean(b)
    difference, v, tau2 = mean_b - mean_a, spread_a + spread_b, found.effect**2
    radius = confidence_radius(1, v, tau2 / v, SIZE)
    low, high = max(-1.0, difference - radius), min(1.0, difference + radius)
    better: Better = "b" if low > 0.0 else "a" if high < 0.0 else ""
    rows = sum(one.rows for one in (*a, *b))
    return msgspec.structs.replace(
        found,
        difference=difference,
        low=low,
        high=high,
        p=msprt_p(difference, v, 1, tau2),
        better=better,
        needed=0 if better else _needed(rows, v, max(abs(difference), found.effect), tau2),
    )


def _mean(sums: Sequence[Sum]) -> tuple[float, float]:
    """
    Give a share over clusters, and the variance of that share.

    Of a ratio of sums (Cochran 1977, §6.3), and never less than that of independent rows with
    one right and one wrong row added, since a few subjects that are all right vary by chance.
    """
    rows, right, units = sum(one.rows for one in sums), sum(one.right for one in sums), len(sums)
    mean, shrunk = right / rows, (right + 1) / (rows + 2)
    spread = math.fsum((one.right - mean * one.rows) ** 2 for one in sums)
    clustered = spread * units / (units - 1) / rows**2
    return mean, max(clustered, shrunk * (1.0 - shrunk) / rows)


def _needed(rows: int, v: float, target: float, tau2: float) -> int | None:
    """Estimate the further rows until the interval is narrower than *target* to each side."""
    low = high = 1.0
    while confidence_radius(1, v / high, tau2 * high / v, SIZE) >= target:
        low, high = high, 2.0 * high
        if high > FURTHEST:
            return None
    for _ in range(30):
        middle = (low + high) / 2.0
        if confidence_radius(1, v / middle, tau2 * middle / v, SIZE) >= target:
            low = middle
        else:
            high = middle
    return max(1, math.ceil(rows * (high - 1.0)))
