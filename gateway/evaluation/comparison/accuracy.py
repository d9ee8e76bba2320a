"""Two deciders on the same labelled decisions: who is right, how often, and who is better."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, TypeAlias

import msgspec

from ..statistics.comparing import holm, mcnemar, paired_bootstrap
from ..statistics.measures import bins_equal_width, brier, ece, macro_f1, noise_floor
from ..statistics.numerics import Interval, normal_quantile, wilson
from ..statistics.selective import aurc
from .always_valid import Watched, needed, watched
from .pairing import Pair

SIZE = 0.05
EFFECT = 0.02  # least difference of shares that matters, where nobody says otherwise
DRAWN = 3_000  # subjects up to which an interval is drawn by lot; above, the normal one is as good
UNEVEN = 2  # times as often labelled as the others: what the labels show stands for no others
LIKELY = 3  # labels expected where there are fewer: by chance there is none in 5 % (e⁻³)
SLICE = 20  # labelled rows from which a slice is shown

Better: TypeAlias = Literal["a", "b", ""]


class Share(msgspec.Struct, frozen=True):
    """A share with its counts and its 95 % interval (Wilson)."""

    hits: int
    rows: int
    low: float
    high: float


class Slice(msgspec.Struct, frozen=True):
    """
    A part of the labelled rows.

    Attributes:
        by: What it is cut by.
        value: Which part.
        a: A's share of right answers.
        b: B's.
        p: Exact McNemar.
        notable: It differs even after Holm's correction over all slices.

    """

    by: str
    value: str
    a: Share
    b: Share
    p: float
    notable: bool


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """
    A and B on the rows of one question whose right answers are known.

    Attributes:
        question: Its name.
        pairs: Rows of both, labelled or not.
        differ: Those of them on which A and B differ.
        unclear: Feedback said that what was decided is wrong, but not what is right: whoever
            said something else may be right or wrong. They are in the interval alone.
        agreed_labelled: Share of the agreeing rows that is labelled.
        differ_labelled: Share of the others.
        a: A's share of right answers.
        b: B's.
        only_a: Rows that only A has right.
        only_b: Rows that only B has right.
        exact: McNemar's p, exact; for one look.
        mid_p: Its mid-p; for one look.
        difference: B's share less A's, in [−1, 1]; without the unclear rows.
        low: Lower end of its always-valid 95 % interval, by subjects; the unclear all for A.
        high: Upper end; the unclear all for B.
        once: A 95 % interval by subjects that holds for one look only; without the unclear rows.
        effect: The difference about which the always-valid interval is tightest.
        better: `a` or `b` where the always-valid interval leaves out zero; else empty.
        needed: About how many more labelled decisions would tell a difference as measured, or
            as the least that matters; 0 where it is told, None where nobody can say.
        f1_a: Macro-F1 of A; None where only wrong answers are known.
        f1_b: Of B.
        slices: Parts with enough rows.

    """

    question: str
    pairs: int
    differ: int
    unclear: int
    agreed_labelled: float
    differ_labelled: float
    a: Share
    b: Share
    only_a: int
    only_b: int
    exact: float
    mid_p: float
    difference: float
    low: float
    high: float
    once: Interval
    effect: float
    better: Better
    needed: int | None
    f1_a: float | None
    f1_b: float | None
    slices: tuple[Slice, ...]

    @property
    def lacks(self) -> Literal["agree", "differ", ""]:
        """
        Name the rows that are labelled less than half as often as the others; empty for neither.

        Those where A and B agree, or those where they differ. It is no matter of chance: at
        the others' share at least three would be labelled.
        """
        rows: dict[Literal["agree", "differ"], tuple[int, float, float]] = {
            "agree": (self.pairs - self.differ, self.agreed_labelled, self.differ_labelled),
            "differ": (self.differ, self.differ_labelled, self.agreed_labelled),
        }
        for name, (count, own, other) in rows.items():
            if UNEVEN * own < other and count * other >= LIKELY:
                return name
        return ""

    @property
    def missing(self) -> int:
        """About how many of the rows it `lacks` would have to be labelled."""
        least = max(self.agreed_labelled, self.differ_labelled) / UNEVEN
        if self.lacks == "differ":
            return math.ceil(self.differ * (least - self.differ_labelled))
        agree = self.pairs - self.differ
        return math.ceil(agree * (least - self.agreed_labelled)) if self.lacks else 0


class Sureness(msgspec.Struct, frozen=True):
    """
    How well one decider's probabilities sort right from wrong.

    Attributes:
        rows: Labelled rows with a probability.
        ece: Expected calibration error, ten equal widths.
        floor: What a perfectly calibrated decider would show on as many rows.
        brier: Of the chosen answer's probability: 0 best, 1 worst.
        aurc: Area under the risk–coverage curve; lower is better.

    """

    rows: int
    ece: float
    floor: float
    brier: float
    aurc: float


def share_of(hits: int, rows: int) -> Share:
    """Give a share with its interval."""
    return Share(hits, rows, *wilson(hits, rows))


def judged(question: str, rows: Sequence[Pair], effect: float = EFFECT) -> Judged | None:
    """Compare A and B where the right answer is known; None where it never is."""
    known = [(one, verdict) for one in rows if (verdict := one.verdicts) is not None]
    if not known:
        return None
    verdicts = [verdict for _, verdict in known]
    only_a, only_b = _discordant(verdicts)
    n, test, told = len(known), mcnemar(only_a, only_b), _watched(rows, effect)
    difference = (only_b - only_a) / n
    better: Better = "b" if told.low > 0.0 else "a" if told.high < 0.0 else ""
    f1_a, f1_b = _f1([one for one, _ in known])
    return Judged(
        question=question,
        pairs=len(rows),
        differ=sum(not one.agree for one in rows),
        unclear=sum(one.labelled for one in rows) - n,
        agreed_labelled=_labelled(rows, agree=True),
        differ_labelled=_labelled(rows, agree=False),
        a=share_of(sum(a for a, _ in verdicts), n),
        b=share_of(sum(b for _, b in verdicts), n),
        only_a=only_a,
        only_b=only_b,
        exact=test.exact,
        mid_p=test.mid_p,
        difference=difference,
        low=min(told.low, difference),
        high=max(told.high, difference),
        once=interval([float(b) - float(a) for a, b in verdicts], [one.unit for one, _ in known]),
        effect=effect,
        better=better,
        needed=0 if better else needed(n, told.variance, difference, effect),
        f1_a=f1_a,
        f1_b=f1_b,
        slices=_slices(known),
    )


def _watched(rows: Sequence[Pair], effect: float) -> Watched:
    """Give the difference with its always-valid interval: each end as the unclear rows allow."""
    labelled = [one for one in rows if one.labelled]
    units, ranges = [one.unit for one in labelled], [one.range for one in labelled]
    least = watched([low for low, _ in ranges], units, effect)
    if all(low == high for low, high in ranges):
        return least
    most = watched([high for _, high in ranges], units, effect)
    return least._replace(high=most.high, variance=max(least.variance, most.variance))


def interval(differences: Sequence[float], units: Sequence[Hashable]) -> Interval:
    """
    Give the 95 % interval, for one look, of a mean difference of rows that belong to *units*.

    By lot (bootstrap over units) up to 3,000 of them; above, the normal one with the variance
    of a ratio of sums over units (Cochran 1977, §6.3).

    Raises:
        ValueError: No rows.

    """
    distinct = len(set(units))
    if distinct <= DRAWN:
        return paired_bootstrap(differences, units)
    n, sums = len(differences), dict[Hashable, list[float]]()
    mean = math.fsum(differences) / n
    for value, unit in zip(differences, units, strict=True):
        sums.setdefault(unit, []).append(value - mean)
    spread = math.fsum(math.fsum(one) ** 2 for one in sums.values())
    half = normal_quantile(1.0 - SIZE / 2) * math.sqrt(spread * distinct / (distinct - 1)) / n
    return Interval(mean - half, mean + half)


def sureness(rows: Sequence[tuple[float, bool]]) -> Sureness | None:
    """Judge probabilities by whether their answers were right; None without rows."""
    if not rows:
        return None
    confidences, right = [row[0] for row in rows], [row[1] for row in rows]
    draws = max(10, min(200, 1_000_000 // len(rows)))
    return Sureness(
        len(rows),
        ece(bins_equal_width(confidences, right)),
        noise_floor(confidences, draws=draws),
        brier(confidences, right),
        aurc(confidences, right),
    )


def _discordant(verdicts: Sequence[tuple[bool, bool]]) -> tuple[int, int]:
    return sum(a and not b for a, b in verdicts), sum(b and not a for a, b in verdicts)


def _labelled(rows: Sequence[Pair], *, agree: bool) -> float:
    part = [one.labelled for one in rows if one.agree is agree]
    return sum(part) / len(part) if part else 0.0


def _f1(rows: Sequence[Pair]) -> tuple[float | None, float | None]:
    gold = [one.truth.label for one in rows]
    if None in gold:
        return None, None
    return macro_f1(gold, [one.a for one in rows]), macro_f1(gold, [one.b for one in rows])


def _slices(known: Sequence[tuple[Pair, tuple[bool, bool]]]) -> tuple[Slice, ...]:
    parts: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for one, verdict in known:
        for part in one.parts:
            parts.setdefault(part, []).append(verdict)
    kinds = [by for by, _ in parts]
    kept = {
        f"{by} {value}": (by, value, rows)
        for (by, value), rows in sorted(parts.items())
        if len(rows) >= SLICE and kinds.count(by) > 1
    }
    tests = {name: mcnemar(*_discordant(rows)).exact for name, (_, _, rows) in kept.items()}
    notable = holm(tests) if tests else set[str]()
    return tuple(
        Slice(
            by,
            value,
            share_of(sum(a for a, _ in rows), len(rows)),
            share_of(sum(b for _, b in rows), len(rows)),
            tests[name],
            name in notable,
        )
        for name, (by, value, rows) in kept.items()
    )
