"""
Deciders at equal certified risk: what each would decide, and how often wrongly.

Each is held against its own certified threshold for the same error rate. At one raw threshold
two deciders are not comparable: a number that means 95 % for the one may mean 75 % for the other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import NamedTuple

import msgspec

from ...certificates import Certificate
from ...errors import Reason
from ...gates import Cut
from ...register import cut_of
from ..calibration.labelling import FALSE, TRUE
from ..statistics.numerics import exact_upper
from .always_valid import surely_above
from .answering import Given, firsts
from .in_force import Certificates, Cuts, labels_of, level, matching, passes

DELTA = 0.05  # of every bound that is shown
ENOUGH = 50  # newer labelled rows above a threshold from which they alone judge the promise


class Side(msgspec.Struct, frozen=True):
    """
    Errors among rows of different subjects.

    Attributes:
        errors: Rows that were answered wrongly; of a predicate's two mistakes, the one counted.
        rows: Rows that it can harm: all, or those of the other truth.
        bound: Exact upper bound of their share, for one look: at δ, at half of it for each of
            two mistakes.

    """

    errors: int
    rows: int
    bound: float


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one decider does at its certified threshold.

    Attributes:
        provider: Who.
        question: The question's name.
        alpha: The error rate that is allowed.
        thresholds: In force, as people read them; empty where nothing is certified.
        labels: What they were certified against, `gold` or `agreement`; empty for none.
        always: It has no confidence, and decides whatever it is asked: the host's own path.
        rows: Asked as certified; also those without a valid answer.
        unmatched: Answers that were asked or served otherwise than certified: left out.
        decided: Answers that clear the threshold.
        reasons: Why others do not: reason → rows.
        labelled: Decided rows of which it is known whether they are right, and by which the
            promise is judged.
        errors: Wrong ones among them.
        unclear: Decided rows of which it is known only that another answer is wrong.
        older: Decided rows whose label was told on the certificate's day or before, so that the
            threshold may have been found on them.
        apart: These are left out of `labelled`, since enough others are labelled.
        bound: Exact upper bound of the error rate among the decided, at 95 %, for one look; of
            the first labelled answer of each subject.
        firsts: These first answers, where subjects repeat; None where none does.
        missed: False negatives of a two-sided predicate, each subject once.
        alarms: False positives.
        why: Why nothing is certified.
        needed: About how many more labels could change that; None if nobody can say.

    """

    provider: str
    question: str
    alpha: float
    thresholds: tuple[str, ...]
    labels: str
    always: bool
    rows: int
    unmatched: int
    decided: int
    reasons: Mapping[str, int]
    labelled: int
    errors: int
    bound: float
    unclear: int = 0
    older: int = 0
    apart: bool = False
    firsts: Side | None = None
    missed: Side | None = None
    alarms: Side | None = None
    why: str = ""
    needed: int | None = None

    @property
    def certified(self) -> bool:
        """Whether a threshold is in force that was certified against the truth."""
        return bool(self.thresholds) and self.labels == "gold"

    @property
    def counted(self) -> tuple[int, int]:
        """The errors and the rows by which the promise is judged: each subject once."""
        first = self.firsts
        return (self.errors, self.labelled) if first is None else (first.errors, first.rows)

    @property
    def broken(self) -> bool:
        """Whether these rows show, however often one looks, that the promise is not kept."""
        sides = [side for side in (self.missed, self.alarms) if side is not None]
        if sides:
            return any(surely_above(side.errors, side.rows, self.alpha) for side in sides)
        errors, rows = self.counted
        return surely_above(errors, rows + self.unclear, self.alpha)


class Together(msgspec.Struct, frozen=True):
    """
    Decisions of several questions, which are decided only where every answer clears its own.

    Attributes:
        provider: Who.
        rows: Decisions asked about.
        decided: Those it would decide.

    """

    provider: str
    rows: int
    decided: int


def together(parts: Sequence[Sequence[Given]], cuts: Cuts) -> Together | None:
    """Count decisions over the answers to all questions of one decider; None for only one."""
    if len(parts) < 2:  # noqa: PLR2004 - what several are
        return None
    decided: dict[str, bool] = {}
    for one in chain.from_iterable(parts):
        decided[one.id] = decided.get(one.id, True) and passes(one, cuts)
    return Together(parts[0][0].key.provider, len(decided), sum(decided.values()))


def guarded(rows: Sequence[Given], file: Certificates, alpha: float) -> Guarded:
    """
    Hold one decider's answers to one question against its certificates for *alpha*.

    Raises:
        ValueError: No rows.

    """
    if not rows:
        raise ValueError("no rows")
    key = rows[0].key
    mine = matching(rows, file)
    cuts = {known: cut_of(one, alpha) for known, one in mine.items()}
    always = not mine and all(one.sure is None for one in rows if one.name is not None)
    kept = rows if always else [one for one in rows if one.name is None or cuts.get(one.key)]
    decided = [one for one in kept if passes(one, cuts) or (always and one.name is not None)]
    tried = _tried(kept, decided, mine)
    why, needed = _refusal([*mine.values()], alpha)
    return Guarded(
        provider=key.provider,
        question=key.question,
        alpha=alpha,
        thresholds=tuple(dict.fromkeys(_said(cut) for cut in cuts.values() if cut is not None)),
        labels=labels_of(mine, cuts),
        always=always,
        rows=len(kept),
        unmatched=len(rows) - len(kept),
        decided=len(decided),
        reasons=_reasons(kept, decided),
        labelled=tried.labelled,
        errors=tried.errors,
        bound=tried.bound,
        unclear=tried.unclear,
        older=tried.older,
        apart=tried.apart,
        firsts=tried.firsts,
        missed=tried.missed,
        alarms=tried.alarms,
        why=why,
        needed=needed,
    )


class _Tried(NamedTuple):
    """How a promise did."""

    labelled: int
    errors: int
    unclear: int
    older: int
    apart: bool
    bound: float
    firsts: Side | None
    missed: Side | None
    alarms: Side | None


def _tried(kept: Sequence[Given], decided: Sequence[Given], mine: Certificates) -> _Tried:
    """Judge a promise by rows on which the threshold was not found, where there are enough."""
    ends = {key: _end_of(one.date) for key, one in mine.items()}
    known = sum(one.right is not None for one in decided)
    fresh = [one for one in decided if one.told >= ends.get(one.key, 0.0)]
    newer = sum(one.right is not None for one in fresh)
    apart = ENOUGH <= newer < known
    if apart:
        kept, decided = [one for one in kept if one.told >= ends.get(one.key, 0.0)], fresh
    right = [one.right for one in decided if one.right is not None]
    sided = any(one.two_sided for one in mine.values())
    missed, alarms = _sides(kept, decided) if sided else (None, None)
    first = _side([one.right is False for one in firsts(decided)], DELTA)
    return _Tried(
        labelled=len(right),
        errors=right.count(False),
        unclear=sum(one.unclear for one in decided),
        older=known - newer,
        apart=apart,
        bound=first.bound,
        firsts=first if first.rows < len(right) else None,
        missed=missed,
        alarms=alarms,
    )


def _end_of(day: str) -> float:
    """Give the end of an ISO day in UTC, in seconds since the epoch; never, for what is none."""
    try:
        began = datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError:
        return math.inf
    return (began + timedelta(days=1)).timestamp()


def _said(cut: Cut) -> str:
    if not cut.two_sided:
        return f"{cut.minimum:.3g}"
    sides = (("no below", cut.no_below), ("yes from", cut.yes_from))
    return ", ".join(f"{name} {at:.3g}" for name, at in sides if at is not None)


def _reasons(kept: Sequence[Given], decided: Sequence[Given]) -> Mapping[str, int]:
    counted = Counter(one.reason.value for one in kept if one.name is None)
    unsure = sum(one.name is not None for one in kept) - len(decided)
    if unsure:
        counted[Reason.LOW_CONFIDENCE.value] += unsure
    return dict(counted.most_common())


def _sides(kept: Sequence[Given], decided: Sequence[Given]) -> tuple[Side, Side]:
    """Count both mistakes of a two-sided predicate among the rows that each can harm."""
    sure = set(map(id, decided))

    def mistaken(truth: str) -> Side:
        harmed = firsts(one for one in kept if one.label == truth and one.name is not None)
        return _side([one.name != truth and id(one) in sure for one in harmed], DELTA / 2)

    return mistaken(TRUE), mistaken(FALSE)


def _side(wrong: Sequence[bool], delta: float) -> Side:
    return Side(sum(wrong), len(wrong), exact_upper(sum(wrong), len(wrong), delta))


def _refusal(mine: Sequence[Certificate], alpha: float) -> tuple[str, int | None]:
    """Say why there is no threshold, in the words of the certificate that is nearest to one."""
    if any(cut_of(one, alpha) for one in mine):
        return "", None
    levels = [at for one in mine if (at := level(one, alpha)) is not None]
    if not levels:
        return ("not tried at this error rate" if mine else "no certificate"), None
    best = min(levels, key=lambda one: float("inf") if one.needed is None else one.needed)
    return best.why or "nothing could be certified", best.needed
