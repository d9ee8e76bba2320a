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
from .arms import Split
from .guarding import DELTA, Guarded
from .handing import Handover
from .judging import Judged
from .spreads import Spread
from .watching import rows_until_sure, surely_above

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
        sentence = f"no: {evidence.b} must not replace {evidence.a} at α = {_rates(evidence)}"
        return Verdict("no", sentence, against)
    lacking = list(_lacking(evidence))
    if lacking:
        needed = max((count for _, count in lacking if count), default=None)
        return Verdict("not yet", _not_yet(needed), tuple(why for why, _ in lacking), needed)
    sentence = f"{evidence.b} may replace {evidence.a} at α = {_rates(evidence)}"
    return Verdict("yes", sentence, tuple(_for(evidence)))


def _rates(evidence: Evidence) -> str:
    """Write the error rates that the certificates in force are used for."""
    rates = {one.alpha for one in evidence.guarded} or {evidence.alpha}
    return " and ".join(_percent(one) for one in sorted(rates))


def _percent(alpha: float) -> str:
    return f"{100 * alpha:g} %"


def _not_yet(needed: int | None) -> str:
    if needed is None:
        return "not yet"
    return f"not yet: needs about {needed:,} more labelled decisions"


def _blocked(split: Split) -> str:
    p = 0.0 if split.ratio is None else split.ratio.p
    return f"the subjects of split {split.experiment} did not fall as planned (p = {p:.1e})"


def _about(evidence: Evidence, question: str, alpha: float | None = None) -> str:
    """Name the question where there are several, and the error rate where it has several."""
    several = len({one.question for one in evidence.guarded}) > 1
    rates = len({one.alpha for one in evidence.guarded if one.question == question}) > 1
    at = f"α = {_percent(alpha)}" if rates and alpha is not None else ""
    named = ", ".join(part for part in (question if several else "", at) if part)
    return f"{named}: " if named else ""


def _against(evidence: Evidence) -> Iterator[str]:
    """
    Name what speaks surely against B.

    Where differing rows are labelled far more often than the others, errors only seem frequent.
    """
    b = evidence.b
    seeming = {one.question for one in evidence.judged if one.lacks == "agree"}
    for one in evidence.guarded:
        about, alpha = _about(evidence, one.question, one.alpha), _percent(one.alpha)
        if one.certified and one.broken and one.question not in seeming:
            yield f"{about}{_broken(one)}, surely more than the {alpha} that were certified"
        if one.certified and one.rows and not one.decided and not one.unmatched:
            yield f"{about}at its certified threshold {b} decides nothing"
    for handed in evidence.handovers:
        if handed.high < -evidence.effect and handed.question not in seeming:
            about = _about(evidence, handed.question)
            yield f"{about}with {b} in front surely fewer decisions are right"
    if evidence.split is not None and evidence.split.better == "a":
        yield f"in the split the arm of {b} is right less often"
    certified = {one.question for one in evidence.guarded if one.certified}
    for seen in evidence.spreads:
        if seen.hopeless and seen.question not in certified | seeming:
            about, alpha = _about(evidence, seen.question), _percent(seen.alpha)
            yield f"{about}even of the most confident fifth surely more than {alpha} are wrong"


def _broken(one: Guarded) -> str:
    """Say which promise these labels contradict."""
    sides = (("true", one.missed), ("false", one.alarms))
    for truth, side in sides:
        if side is not None and surely_above(side.errors, side.rows, one.alpha):
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
        about = _about(evidence, one.question, one.alpha)
        if known < LEAST:
            yield _unlabelled(about, one, spread, known)
        elif rows < LEAST and not _compared(evidence.split):
            yield f"{about}{rows:,} labelled decisions that both answered", LEAST - rows
        found = _unready(evidence, one, spread, known)
        if found is not None:
            yield f"{about}{found[0]}", found[1]
    for judged in evidence.judged:
        if judged.lacks:
            yield f"{_about(evidence, judged.question)}{_uneven(judged)}", judged.missing


def _unlabelled(
    about: str, one: Guarded, spread: Spread | None, known: int
) -> tuple[str, int | None]:
    """
    Say that labels are missing, and how many could do.

    Where a threshold is certified, as many as put enough of them above it. Else as many as the
    least that a certificate takes, above the threshold from which B itself claims to be sure
    enough: more is not known without a label. None where it never claims that.
    """
    why = f"{about}{known:,} labelled decisions; agreement is no substitute"
    if one.certified:
        return why, max(LEAST - known, _scaled(one, LEAST) - known)
    claims = (
        [] if spread is None else [r.decided for r in spread.rungs if r.threshold >= 1 - one.alpha]
    )
    if spread is None or not claims or not claims[0]:
        return f"{why}, and nothing is known yet of how many it takes", None
    least = labels_needed(one.alpha, DELTA / STARTS) * spread.rows / claims[0]
    return why, max(1, LEAST - known, math.ceil(least) - known)


def _uneven(one: Judged) -> str:
    """Say which rows have to be labelled, before the labels stand for all rows."""
    agreeing, differing = f"{100 * one.agreed_labelled:.0f} %", f"{100 * one.differ_labelled:.0f} %"
    rows = "where they differ" if one.lacks == "differ" else "where they agree"
    return (
        f"{agreeing} of the decisions on which they agree are labelled and {differing} of the "
        f"others: label the rows {rows}"
    )


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
    if one.unclear and one.errors + one.unclear > one.alpha * (one.labelled + one.unclear):
        why = f"of {one.unclear:,} answers above its threshold it is known only that another"
        return f"{why} answer is wrong, not whether they are right: label these", one.unclear
    if one.missed is None and one.errors > one.alpha * one.labelled:
        why = f"{one.errors:,} of {one.labelled:,} labelled answers above its threshold are wrong"
        return f"{why}, which puts its certificate in doubt", _doubtful(one)
    return None


def _scaled(one: Guarded, missing: float) -> int:
    """Estimate the labelled decisions until *missing* more lie above the threshold."""
    share = one.decided / one.rows if one.rows else 0.0
    return max(1, math.ceil(missing / share if share else missing))


def _doubtful(one: Guarded) -> int | None:
    """Estimate the labelled decisions until a rate as measured is surely above α."""
    sure = rows_until_sure(one.errors / one.labelled, one.alpha)
    return None if sure is None else _scaled(one, sure - one.labelled)


def _uncertified(evidence: Evidence, one: Guarded, spread: Spread | None) -> tuple[str, int | None]:
    if one.thresholds:
        return "certified against agreement, and agreement is no truth: certify it on labels", None
    if spread is None:
        return f"no certified threshold ({one.why})", None
    if spread.certifiable and not one.labels:
        how = f"`pointsman calibrate {evidence.point} --provider {evidence.b}`"
        return f"no certified threshold; these labels would do: run {how}", None
    if not one.labels:
        why = "no threshold can be certified on these labels"
        many = "; too many errors among the most confident answers seen so far"
        return why if spread.needed else f"{why}{many}", spread.needed
    return f"no certified threshold ({one.why})", one.needed or spread.needed


def _age(one: Guarded) -> str:
    """Say how many labels the threshold may have been found on."""
    if one.apart:
        return f" ({one.older:,} no newer than the certificate are left out)"
    return f"; {one.older:,} are no newer than the certificate" if one.older else ""


def _for(evidence: Evidence) -> Iterator[str]:
    for one in evidence.guarded:
        share, alpha = 100 * one.decided / one.rows if one.rows else 0.0, _percent(one.alpha)
        yield (
            f"{_about(evidence, one.question, one.alpha)}it decides {share:.0f} % and leaves the "
            f"rest to {evidence.a}; at most {alpha} wrong is certified, and of {one.labelled:,} "
            f"labelled ones here {one.errors:,} are{_age(one)}"
        )
    for handed in evidence.handovers:
        low, high = 100 * handed.low, 100 * handed.high
        about = _about(evidence, handed.question)
        yield f"{about}right decisions change by {low:+.1f} to {high:+.1f} points"
