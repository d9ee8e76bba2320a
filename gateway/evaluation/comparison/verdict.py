"""
The verdict: may B replace A, not yet, or no. Rules only; every number comes from elsewhere.

B replaces A by deciding from its certified threshold on, with A behind it. What it may get wrong
is the error rate α that its certificate promises, held against these rows; beyond that it must
not be surely worse than A alone. Agreement decides nothing: labels do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from .always_valid import surely_above
from .arms import Split
from .equal_risk import Guarded
from .evidence import Evidence, counted, naming, percent
from .missing import lacking

Word: TypeAlias = Literal["yes", "not yet", "no", "blocked"]


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
    """
    Judge by the rules of this module, the severest first.

    A split that did not fall as planned says nothing. While it runs nothing is said at all, since
    what is wrong with it may be wrong with the rest; what that would say is still told.
    """
    split = evidence.split
    if split is None or not split.failed:
        return _judged(evidence)
    rest, why = _judged(msgspec.structs.replace(evidence, split=None)), _blocked(split)
    if split.experiment != evidence.running:
        return msgspec.structs.replace(rest, because=(*rest.because, f"{why}: it is left out"))
    without = f"without the split: {rest.sentence}"
    return Verdict("blocked", "nothing can be compared", (why, without, *rest.because))


def _judged(evidence: Evidence) -> Verdict:
    against = tuple(_against(evidence))
    if against:
        sentence = f"no: {evidence.b} must not replace {evidence.a} at α = {_rates(evidence)}"
        return Verdict("no", sentence, against)
    missing = list(lacking(evidence))
    if missing:
        needed = max((count for _, count in missing if count), default=None)
        return Verdict("not yet", _not_yet(needed), tuple(why for why, _ in missing), needed)
    sentence = f"{evidence.b} may replace {evidence.a} at α = {_rates(evidence)}"
    return Verdict("yes", sentence, tuple(_for(evidence)))


def _rates(evidence: Evidence) -> str:
    """Write the error rates that the certificates in force are used for."""
    rates = {one.alpha for one in evidence.guarded} or {evidence.alpha}
    return " and ".join(percent(one) for one in sorted(rates))


def _not_yet(needed: int | None) -> str:
    if needed is None:
        return "not yet"
    return f"not yet: needs about {needed:,} more labelled decisions"


def _blocked(split: Split) -> str:
    p = 0.0 if split.ratio is None else split.ratio.p
    return f"the subjects of split {split.experiment} did not fall as planned (p = {p:.1e})"


def _against(evidence: Evidence) -> Iterator[str]:
    """
    Name what speaks surely against B.

    Where differing rows are labelled far more often than the others, errors only seem frequent.
    """
    b = evidence.b
    seeming = {one.question for one in evidence.judged if one.lacks == "agree"}
    for one in evidence.guarded:
        about, alpha = naming(evidence, one.question, one.alpha), percent(one.alpha)
        if one.certified and one.broken and one.question not in seeming:
            yield f"{about}{_broken(one)}, surely more than the {alpha} that were certified"
        if one.certified and one.rows and not one.decided and not one.unmatched:
            yield f"{about}at its certified threshold {b} decides nothing"
    for handed in evidence.handovers:
        if handed.high < -evidence.effect and handed.question not in seeming:
            about = naming(evidence, handed.question)
            yield f"{about}with {b} in front surely fewer decisions are right"
    if evidence.split is not None and evidence.split.better == "a":
        yield f"in the split the arm of {b} is right less often"
    certified = {one.question for one in evidence.guarded if one.certified}
    for seen in evidence.spreads:
        if seen.hopeless and seen.question not in certified | seeming:
            about, alpha = naming(evidence, seen.question), percent(seen.alpha)
            yield f"{about}even of the most confident fifth surely more than {alpha} are wrong"


def _broken(one: Guarded) -> str:
    """Say which promise these labels contradict."""
    sides = (("true", one.missed), ("false", one.alarms))
    for truth, side in sides:
        if side is not None and surely_above(side.errors, side.rows, one.alpha):
            return f"{side.errors:,} of {side.rows:,} that are {truth} are answered wrongly"
    return f"{counted(one)} above its threshold are wrong"


def _age(one: Guarded) -> str:
    """Say how many labels the threshold may have been found on."""
    if one.apart:
        return f" ({one.older:,} no newer than the certificate are left out)"
    return f"; {one.older:,} are no newer than the certificate" if one.older else ""


def _for(evidence: Evidence) -> Iterator[str]:
    for one in evidence.guarded:
        share, alpha = 100 * one.decided / one.rows if one.rows else 0.0, percent(one.alpha)
        yield (
            f"{naming(evidence, one.question, one.alpha)}it decides {share:.0f} % and leaves the "
            f"rest to {evidence.a}; at most {alpha} wrong is certified, and of {one.labelled:,} "
            f"labelled ones here {one.errors:,} are{_age(one)}"
        )
    for handed in evidence.handovers:
        low, high = 100 * handed.low, 100 * handed.high
        about = naming(evidence, handed.question)
        yield f"{about}right decisions change by {low:+.1f} to {high:+.1f} points"
