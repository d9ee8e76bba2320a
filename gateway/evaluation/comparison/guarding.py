"""
Deciders at equal certified risk: what each would decide, and how often wrongly.

Each is held against its own certified threshold for the same error rate. At one raw threshold
two deciders are not comparable: a number that means 95 % for the one may mean 75 % for the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec

from ...answers import Answer
from ...certificates import AtRisk, Certificate, Key
from ...errors import Reason
from ...gates import Cut
from ..calibration.labelling import FALSE, TRUE
from ..statistics.numerics import exact_lower, exact_upper
from .answering import Given

DELTA = 0.05  # of every bound that is shown

Cuts: TypeAlias = Mapping[Key, Cut | None]


class Side(msgspec.Struct, frozen=True):
    """
    One of a predicate's two mistakes, among the rows that it can harm.

    Attributes:
        errors: Rows that were answered so, and wrongly.
        rows: Rows of the other truth.
        low: Exact lower bound of their share, at half of δ.
        bound: Exact upper bound, at half of δ.

    """

    errors: int
    rows: int
    low: float
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
        labelled: Decided rows whose right answer is known.
        errors: Wrong ones among them.
        low: Exact lower bound of the error rate among the decided, at 95 %.
        bound: Exact upper bound, at 95 %.
        missed: False negatives of a two-sided predicate.
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
    low: float
    bound: float
    missed: Side | None = None
    alarms: Side | None = None
    why: str = ""
    needed: int | None = None

    @property
    def certified(self) -> bool:
        """Whether a threshold is in force that was certified against the truth."""
        return bool(self.thresholds) and self.labels == "gold"

    @property
    def broken(self) -> bool:
        """Whether these rows show, at 95 %, that the promise is not kept."""
        sides = [side for side in (self.missed, self.alarms) if side is not None]
        return any(side.low > self.alpha for side in sides) if sides else self.low > self.alpha


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


def together(
    parts: Sequence[Sequence[Given]], certificates: Sequence[Certificate], alpha: float
) -> Together | None:
    """Count decisions over the answers to all questions of one decider; None for only one."""
    if len(parts) < 2:  # noqa: PLR2004 - what several are
        return None
    provider = parts[0][0].key.provider
    cuts = cuts_of([one for one in certificates if one.key.provider == provider], alpha)
    decided: dict[str, bool] = {}
    for one in chain.from_iterable(parts):
        decided[one.id] = decided.get(one.id, True) and passes(one, cuts)
    return Together(provider, len(decided), sum(decided.values()))


def guarded(rows: Sequence[Given], certificates: Sequence[Certificate], alpha: float) -> Guarded:
    """
    Hold one decider's answers to one question against its certificates for *alpha*.

    Raises:
        ValueError: No rows.

    """
    if not rows:
        raise ValueError("no rows")
    key = rows[0].key
    mine = [one for one in certificates if _about(one.key) == _about(key)]
    cuts = cuts_of(mine, alpha)
    always = not mine and all(one.sure is None for one in rows if one.name is not None)
    kept = rows if always else [one for one in rows if one.name is None or cuts.get(one.key)]
    decided = [one for one in kept if passes(one, cuts) or (always and one.name is not None)]
    right = [one.right for one in decided if one.right is not None]
    wrong = right.count(False)
    why, needed = _refusal(mine, alpha)
    missed, alarms = _sides(kept, decided) if any(one.two_sided for one in mine) else (None, None)
    return Guarded(
        provider=key.provider,
        question=key.question,
        alpha=alpha,
        thresholds=tuple(dict.fromkeys(_said(cut) for cut in cuts.values() if cut is not None)),
        labels=mine[0].labels if mine else "",
        always=always,
        rows=len(kept),
        unmatched=len(rows) - len(kept),
        decided=len(decided),
        reasons=_reasons(kept, decided),
        labelled=len(right),
        errors=wrong,
        low=exact_lower(wrong, len(right), DELTA),
        bound=exact_upper(wrong, len(right), DELTA),
        missed=missed,
        alarms=alarms,
        why=why,
        needed=needed,
    )


def cuts_of(certificates: Sequence[Certificate], alpha: float) -> Cuts:
    """Give key → threshold; the keys without a scale, for a certificate brings its own."""
    return {
        msgspec.structs.replace(one.key, scale="reported"): cut_of(one, alpha)
        for one in certificates
    }


def cut_of(certificate: Certificate, alpha: float) -> Cut | None:
    """Give the threshold of *certificate* for *alpha*; None where none is certified."""
    at, scale = _level(certificate, alpha), certificate.key.scale
    if at is None:
        return None
    if not certificate.two_sided:
        return None if at.minimum is None else Cut(at.minimum, scale)
    if at.no_below is None and at.yes_from is None:
        return None
    return Cut(1.0, scale, two_sided=True, no_below=at.no_below, yes_from=at.yes_from)


def _level(certificate: Certificate, alpha: float) -> AtRisk | None:
    return next((one for one in certificate.levels if one.alpha == alpha), None)


def _about(key: Key) -> tuple[str, str, str]:
    return key.point, key.question, key.provider


def passes(one: Given, cuts: Cuts) -> bool:
    """Whether an answer would be decided: it is valid, and clears what was certified for it."""
    cut = cuts.get(one.key)
    if cut is None or one.name is None:
        return False
    return cut.clears(Answer(value=one.name == TRUE, confidence=one.number(cut.scale)))


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
    truths = Counter(one.label for one in kept if one.name is not None)
    said = Counter((one.label, one.name) for one in decided)
    return _side(said[TRUE, FALSE], truths[TRUE]), _side(said[FALSE, TRUE], truths[FALSE])


def _side(errors: int, rows: int) -> Side:
    half = DELTA / 2
    return Side(errors, rows, exact_lower(errors, rows, half), exact_upper(errors, rows, half))


def _refusal(mine: Sequence[Certificate], alpha: float) -> tuple[str, int | None]:
    """Say why there is no threshold, in the words of the certificate that is nearest to one."""
    if any(cut_of(one, alpha) for one in mine):
        return "", None
    levels = [level for one in mine if (level := _level(one, alpha)) is not None]
    if not levels:
        return ("not tried at this error rate" if mine else "no certificate"), None
    best = min(levels, key=lambda one: float("inf") if one.needed is None else one.needed)
    return best.why or "nothing could be certified", best.needed
