"""
The verdict: may B replace A, not yet, or no. Rules only; every number comes from elsewhere.

B replaces A by deciding from its certified threshold on, with A behind it. What it may get wrong
is the error rate α that its certificate promises, held against these rows; beyond that it must
not be surely worse than A alone. Agreement decides nothing: labels do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from ..statistics.certifying import labels_needed
from ..statistics.numerics import normal_quantile
from .arms import Split
from .guarding import DELTA, Guarded
from .handing import Handover
from .judging import Judged
from .spreads import Spread

LEAST = 50  # labelled decisions below which nothing is said
STARTS = 4  # among which a certificate shares its δ

Word: TypeAlias = Literal["yes", "not yet", "no", "blocked"]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the verdict rests on.

    Attributes:
        point: The decision point.
        a: Who decides today.
        b: Who might.
        alpha: The error rate that is allowed among what B decides.
        effect: Loss of right decisions, as a share, that does not matter.
        judged: Both on labelled decisions, by question.
        guarded: B at its certified threshold, by question.
        spreads: B over all thresholds, by question.
        handovers: B with A behind it, by question.
        split: The arms of a split, if there is one.

    """

    point: str
    a: str
    b: str
    alpha: float
    effect: float
    judged: Sequence[Judged] = ()
    guarded: Sequence[Guarded] = ()
    spreads: Sequence[Spread] = ()
    handovers: Sequence[Handover] = ()
    split: Split | None = None


class Verdict(msgspec.Struct, frozen=True):
    """
    What to do.

    Attributes:
        word: `yes`, `not yet`, `no`, or `blocked`: no comparison is possible.
        sentence: The same for people, with the error rate it holds for.
        because: Why, most important first.
        needed: About how many more labelled decisions could change `not yet`; None if nobody can
            say, or if labels are not what is missing.

    """

    word: Word
    sentence: str
    because: tuple[str, ...]
    needed: int | None = None


def verdict(evidence: Evidence) -> Verdict:
    """Judge by the rules of this module, the severest first."""
    if evidence.split is not None and evidence.split.failed:
        return Verdict("blocked", "nothing can be compared", (_blocked(evidence.split),))
    against = tuple(_against(evidence))
    if against:
        sentence = f"no: {evidence.b} must not replace {evidence.a} at α = {_percent(evidence)}"
        return Verdict("no", sentence, against)
    lacking = list(_lacking(evidence))
    if lacking:
        needed = max((count for _, count in lacking if count), default=None)
        return Verdict("not yet", _not_yet(needed), tuple(why for why, _ in lacking), needed)
    sentence = f"{evidence.b} may replace {evidence.a} at α = {_percent(evidence)}"
    return Verdict("yes", sentence, tuple(_for(evidence)))


def _percent(evidence: Evidence) -> str:
    return f"{100 * evidence.alpha:g} %"


def _not_yet(needed: int | None) -> str:
    if needed is None:
        return "not yet"
    return f"not yet: needs about {needed:,} more labelled decisions"


def _blocked(split: Split) -> str:
    p = 0.0 if split.ratio is None else split.ratio.p
    return f"the subjects of split {split.experiment} did not fall as planned (p = {p:.1e})"


def _about(evidence: Evidence, question: str) -> str:
    """Name the question where there are several."""
    several = len({one.question for one in evidence.guarded}) > 1
    return f"{question}: " if several else ""


def _against(evidence: Evidence) -> Iterator[str]:
    """Name what speaks surely against B."""
    b, alpha = evidence.b, _percent(evidence)
    certified = {one.question for one in evidence.guarded if one.certified}
    for one in evidence.guarded:
        about = _about(evidence, one.question)
        if one.certified and one.broken:
            yield f"{about}{_broken(one)}, surely more than the {alpha} that were certified"
        if one.certified and one.rows and not one.decided and not one.unmatched:
            yield f"{about}at its certified threshold {b} decides nothing"
    for handed in evidence.handovers:
        if handed.high < -evidence.effect:
            about = _about(evidence, handed.question)
            yield f"{about}with {b} in front surely fewer decisions are right"
    if evidence.split is not None and evidence.split.better == "a":
        yield f"in the split the arm of {b} is right less often"
    for seen in evidence.spreads:
        if seen.hopeless and seen.question not in certified:
            about = _about(evidence, seen.question)
            yield f"{about}even of the most confident fifth surely more than {alpha} are wrong"


def _broken(one: Guarded) -> str:
    """Say which promise these labels contradict."""
    sides = (("true", one.missed), ("false", one.alarms))
    for truth, side in sides:
        if side is not None and side.low > one.alpha:
            return f"{side.errors:,} of {side.rows:,} that are {truth} are answered wrongly"
    return f"{one.errors:,} of {one.labelled:,} labelled answers above its threshold are wrong"


def _lacking(evidence: Evidence) -> Iterator[tuple[str, int | None]]:
    """Name what is missing, with the labelled decisions that it would take."""
    if not evidence.guarded:
        yield f"{evidence.b} has answered nothing", None
    labelled = {one.question: one.a.rows for one in evidence.judged}
    spreads = {one.question: one for one in evidence.spreads}
    for one in evidence.guarded:
        spread, rows = spreads.get(one.question), labelled.get(one.question, 0)
        known = max(rows, 0 if spread is None else spread.labelled)
        about = _about(evidence, one.question)
        if known < LEAST:
            least = max(LEAST, labels_needed(evidence.alpha, DELTA / STARTS))
            why = f"{known:,} labelled decisions; agreement is no substitute"
            yield f"{about}{why}", max(1, least - known)
        elif rows < LEAST and not _compared(evidence.split):
            yield f"{about}{rows:,} labelled decisions that both answered", LEAST - rows
        found = _unready(evidence, one, spread, known)
        if found is not None:
            yield f"{about}{found[0]}", found[1]


def _compared(split: Split | None) -> bool:
    return split is not None and split.difference is not None


def _unready(
    evidence: Evidence, one: Guarded, spread: Spread | None, known: int
) -> tuple[str, int | None] | None:
    """Say what keeps the threshold of one question from being used; None if nothing does."""
    if not one.certified:
        return _uncertified(evidence, one, spread if known >= LEAST else None)
    if one.unmatched and not one.decided:
        return "its answers were asked or served otherwise than certified; calibrate anew", None
    if known >= LEAST > one.labelled:
        why = f"{one.labelled:,} labelled answers above its threshold"
        return why, _scaled(one, LEAST - one.labelled)
    if one.missed is None and one.errors > evidence.alpha * one.labelled:
        why = f"{one.errors:,} of {one.labelled:,} labelled answers above its threshold are wrong"
        return f"{why}, which puts its certificate in doubt", _doubtful(evidence.alpha, one)
    return None


def _scaled(one: Guarded, missing: float) -> int:
    """Estimate the labelled decisions until *missing* more lie above the threshold."""
    share = one.decided / one.rows if one.rows else 0.0
    return max(1, math.ceil(missing / share if share else missing))


def _doubtful(alpha: float, one: Guarded) -> int:
    """
    Estimate the labelled decisions until a rate as measured is surely above *alpha*.

    z² · α(1 − α) / (rate − α)², by the normal approximation.
    """
    z = normal_quantile(1.0 - DELTA)
    gap = one.errors / one.labelled - alpha
    return _scaled(one, z * z * alpha * (1.0 - alpha) / gap**2 - one.labelled)


def _uncertified(evidence: Evidence, one: Guarded, spread: Spread | None) -> tuple[str, int | None]:
    if one.thresholds:
        return "certified against agreement only, which is no truth", None
    if spread is None:
        return f"no certified threshold ({one.why})", one.needed
    if spread.certifiable and not one.labels:
        how = f"`pointsman calibrate {evidence.point} --provider {evidence.b}`"
        return f"no certified threshold; these labels would do: run {how}", None
    if not one.labels:
        why = "no threshold can be certified on these labels"
        many = "; too many errors among the most confident answers seen so far"
        return why if spread.needed else f"{why}{many}", spread.needed
    return f"no certified threshold ({one.why})", one.needed or spread.needed


def _for(evidence: Evidence) -> Iterator[str]:
    alpha = _percent(evidence)
    for one in evidence.guarded:
        share = 100 * one.decided / one.rows if one.rows else 0.0
        yield (
            f"{_about(evidence, one.question)}it decides {share:.0f} % and leaves the rest to "
            f"{evidence.a}; at most {alpha} wrong is certified, and {one.errors:,} of "
            f"{one.labelled:,} labelled ones here are"
        )
    for handed in evidence.handovers:
        low, high = 100 * handed.low, 100 * handed.high
        about = _about(evidence, handed.question)
        yield f"{about}right decisions change by {low:+.1f} to {high:+.1f} points"
