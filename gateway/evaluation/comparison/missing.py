"""What is missing before a verdict can be given, and about how many labelled decisions it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..statistics.certifying import labels_needed
from .accuracy import Judged
from .always_valid import rows_until_sure
from .arms import Split
from .equal_risk import DELTA, Guarded
from .evidence import Evidence, counted, naming
from .raw_thresholds import Spread

LEAST = 50  # labelled decisions below which nothing is said
STARTS = 4  # among which a certificate shares its δ


def lacking(evidence: Evidence) -> Iterator[tuple[str, int | None]]:
    """Name what is missing, with the labelled decisions that it would take."""
    if not evidence.guarded:
        yield f"{evidence.b} has answered nothing", None
    yield from _misnamed(evidence)
    labelled = {one.question: one.a.rows for one in evidence.judged}
    spreads = {one.question: one for one in evidence.spreads}
    for one in evidence.guarded:
        spread, rows = spreads.get(one.question), labelled.get(one.question, 0)
        known = max(rows, 0 if spread is None else spread.labelled)
        about = naming(evidence, one.question, one.alpha)
        if known < LEAST:
            yield _unlabelled(about, one, spread, known)
        elif rows < LEAST and not _compared(evidence.split):
            yield f"{about}{rows:,} labelled decisions that both answered", LEAST - rows
        found = _unready(evidence, one, spread, known)
        if found is not None:
            yield f"{about}{found[0]}", found[1]
    for judged in evidence.judged:
        if judged.lacks:
            yield f"{naming(evidence, judged.question)}{_uneven(judged)}", judged.missing


def _misnamed(evidence: Evidence) -> Iterator[tuple[str, int | None]]:
    """Name labels that nobody can be held against, where what they hide might matter."""
    for one in evidence.strange:
        if one.decisions > evidence.alpha * one.labels:
            about, named = naming(evidence, one.question), ", ".join(one.named)
            why = f"{one.decisions:,} of {one.labels:,} labels name nothing that can be answered"
            yield f"{about}{why}: {named}; correct them", one.decisions


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
    errors, rows = one.counted
    if known >= LEAST > rows:
        whose = "" if one.firsts is None else f" of {rows:,} subjects"
        why = f"{one.labelled:,} labelled answers{whose} above its threshold"
        return why, _scaled(one, LEAST - rows)
    if one.unclear and errors + one.unclear > one.alpha * (rows + one.unclear):
        why = f"of {one.unclear:,} answers above its threshold it is known only that another"
        return f"{why} answer is wrong, not whether they are right: label these", one.unclear
    if one.missed is None and errors > one.alpha * rows:
        why = f"{counted(one)} above its threshold are wrong"
        return f"{why}, which puts its certificate in doubt", _doubtful(one)
    return None


def _scaled(one: Guarded, missing: float) -> int:
    """Estimate the labelled decisions until *missing* more lie above the threshold."""
    share = one.decided / one.rows if one.rows else 0.0
    return max(1, math.ceil(missing / share if share else missing))


def _doubtful(one: Guarded) -> int | None:
    """Estimate the labelled decisions until a rate as measured is surely above α."""
    errors, rows = one.counted
    sure = rows_until_sure(errors / rows, one.alpha)
    return None if sure is None else _scaled(one, sure - rows)


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
