"""Items 1 to 6 of a calibration: what labelled rows say of a provider, before any promise."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal, TypeAlias

import msgspec

from ...gates import Scale
from ..statistics import measures, selective
from ..statistics.numerics import wilson
from ..statistics.recalibrating import Recalibration, worth_it
from .descriptions import Bar, Counts, Gap, Point, Quality, Remap, Scores, Selective, Share
from .labelling import TRUE, written
from .samples import Sample

FEWEST, FIRM = 50, 200  # judged rows: below the one nothing is said, below the other provisionally
FITTED = 5_000  # rows that a recalibrator is fitted on, at the most: it has two parameters
DRAWS, WORK = 200, 1_000_000  # samples of the noise floor, and rows in all of them
CURVE = 100  # points of a curve that are kept
SHOWN = 30  # labels of a confusion matrix that stand by themselves
Fitted: TypeAlias = Literal["temperature", "platt"]

NOBODY = "–"
OTHERS = "others"
ERRORS = (1, 2, 5, 10)  # percent


class Rows(msgspec.Struct, frozen=True):
    """
    The rows of one key, in columns.

    Attributes:
        all: Every sample.
        labelled: Those with a label.
        judged: Those with an answer that is known to be right or wrong, and with the number that
            is compared: without it an answer is never believed.
        confidences: Of the judged.
        right: Whether the judged are right.
        scale: Which number the confidence is.

    """

    all: tuple[Sample, ...]
    labelled: tuple[Sample, ...]
    judged: tuple[Sample, ...]
    confidences: tuple[float, ...]
    right: tuple[bool, ...]
    scale: Scale

    @property
    def predicate(self) -> bool:
        """Whether the question is answered by true or false."""
        return bool(self.judged) and self.judged[0].predicate

    @property
    def score(self) -> bool:
        """Whether the question is answered by a number."""
        return bool(self.judged) and self.judged[0].level is not None


def rows_of(samples: Sequence[Sample], scale: Scale) -> Rows:
    """Put the *samples* of one key into columns."""
    numbered = [(one, one.confidence(scale)) for one in samples if one.right is not None]
    judged = [(one, number) for one, number in numbered if number is not None]
    return Rows(
        tuple(samples),
        tuple(one for one in samples if one.labelled),
        tuple(one for one, _ in judged),
        tuple(number for _, number in judged),
        tuple(bool(one.right) for one, _ in judged),
        scale,
    )


def share(count: int, of: int) -> Share:
    """Give a share with its Wilson interval of 95 %."""
    return Share(count, of, *wilson(count, of))


def counts(rows: Rows) -> Counts:
    """Item 1."""
    answered = [one for one in rows.all if one.answered]
    gold = Counter(written(one.gold) for one in rows.labelled if one.gold is not None)
    answers = Counter(_answer(one) for one in answered)
    named = {*answers, *(name for one in answered for name in one.distribution or ())}
    judged = len(rows.judged)
    return Counts(
        rows=len(rows.all),
        labelled=len(rows.labelled),
        answered=len(answered),
        judged=judged,
        unanswered=dict(
            Counter(one.reason.value for one in rows.all if not one.answered).most_common()
        ),
        unsure=sum(one.confidence(rows.scale) is None for one in answered),
        gold=dict(gold.most_common()),
        answers=dict(answers.most_common()),
        strange=0 if rows.score else sum(n for name, n in gold.items() if name not in named),
        provisional=judged < FIRM,
        more=max(0, FIRM - judged),
    )


def _answer(one: Sample) -> str:
    """Name an answer as its label would be named: a score by its level."""
    if one.level is not None:
        return _level(one.level, one)
    return NOBODY if one.value is None else written(one.value)


def _level(level: float, one: Sample) -> str:
    index, names = int(level + 0.5), list(one.distribution or ())
    return names[index] if 0 <= index < len(names) else str(index)


def _label(one: Sample) -> str:
    if one.gold_level is not None:
        return _level(one.gold_level, one)
    assert one.gold is not None
    return written(one.gold)


def quality(rows: Rows) -> Quality:
    """Item 2."""
    known = [one for one in rows.labelled if one.gold is not None]
    gold, given = [_label(one) for one in known], [_answer(one) for one in known]
    labels, matrix = _confusion(gold, given)
    missing = [None if one == NOBODY else one for one in given]
    scored = [one for one in rows.judged if one.gold_level is not None]
    at, truth = [one.level or 0.0 for one in scored], [one.gold_level or 0.0 for one in scored]
    ranked = [measures.rps(*one) for one in map(_ranked, scored) if one is not None]
    return Quality(
        right=share(sum(rows.right), len(rows.right)),
        macro_f1=measures.macro_f1(gold, missing) if known else None,
        labels=labels,
        confusion=matrix,
        distance=measures.level_distance(truth, at) if scored else None,
        within_one=measures.within_one(truth, at) if scored else None,
        rps=fmean(ranked) if ranked else None,
    )


def _ranked(one: Sample) -> tuple[tuple[float, ...], int] | None:
    spread = tuple((one.distribution or {}).values())
    level = int((one.gold_level or 0.0) + 0.5)
    return (spread, level) if len(spread) > 1 and 0 <= level < len(spread) else None


def _confusion(
    gold: Sequence[str], given: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Count labels against answers; beyond thirty the rare ones are put together."""
    frequent = [name for name, _ in Counter([*gold, *given]).most_common() if name != NOBODY]
    shown = frequent if len(frequent) <= SHOWN else [*frequent[: SHOWN - 1], OTHERS]
    names = [*shown, *([NOBODY] if NOBODY in given else [])]
    folded = {name: name if name in names else OTHERS for name in [*frequent, NOBODY]}
    seen = Counter((folded[a], folded[b]) for a, b in zip(gold, given, strict=True))
    return tuple(names), tuple(tuple(seen[a, b] for b in names) for a in names)


def scores(rows: Rows) -> Scores:
    """Item 3."""
    spread = [one for one in rows.judged if one.distribution and one.gold is not None]
    whole = [dict(one.distribution or {}) for one in spread]
    gold = [_label(one) for one in spread]
    form: Literal["binary", "multi-class"] = "binary" if rows.predicate else "multi-class"
    if not spread:
        brier = None
    elif rows.predicate:
        brier = measures.brier([row[TRUE] for row in whole], [name == TRUE for name in gold])
    else:
        brier = measures.brier_multi(whole, gold)
    return Scores(
        log_loss=measures.log_loss(whole, gold) if spread else None,
        brier=brier,
        form=form,
        top=measures.brier(rows.confidences, rows.right),
        **measures.brier_split(rows.confidences, rows.right)._asdict(),
    )


def _bars(confidences: Sequence[float], right: Sequence[bool]) -> tuple[Bar, ...]:
    return tuple(
        Bar(
            one.rows,
            one.confidence,
            one.accuracy,
            *wilson(round(one.accuracy * one.rows), one.rows),
        )
        for one in measures.bins_equal_width(confidences, right)
    )


def gap(rows: Rows, seed: int) -> Gap:
    """Item 4."""
    wide = measures.bins_equal_width(rows.confidences, rows.right)
    mean = fmean(rows.confidences)
    return Gap(
        ece=measures.ece(wide),
        ece_mass=measures.ece(measures.bins_equal_mass(rows.confidences, rows.right)),
        mce=measures.mce(wide),
        floor=measures.noise_floor(
            rows.confidences, draws=max(FEWEST, min(DRAWS, WORK // len(rows.right))), seed=seed
        ),
        confidence=mean,
        over=mean - fmean(rows.right),
        bars=_bars(rows.confidences, rows.right),
    )


def remap(rows: Rows, seed: int) -> tuple[Remap, tuple[float, ...] | None]:
    """Item 5, and each judged row's chance of being right after it; None if it is not kept."""
    kind, raw, truths = _to_fit(rows)
    chosen = _some(len(raw), seed)
    worth = worth_it(kind, [raw[i] for i in chosen], [truths[i] for i in chosen], seed)
    found = Remap(kind=kind, kept=worth.kept, gain=worth.gain, error=worth.error, why=worth.reason)
    if worth.recalibration is None:
        return found, None
    after = _chances(rows, worth.recalibration, raw)
    bars = _bars(after, rows.right)
    parameters = worth.recalibration.parameters
    return msgspec.structs.replace(found, parameters=parameters, bars=bars), after


def _some(rows: int, seed: int) -> Sequence[int]:
    if rows <= FITTED:
        return range(rows)
    return random.Random(seed).sample(range(rows), FITTED)  # noqa: S311 - a sample of rows


def _to_fit(
    rows: Rows,
) -> tuple[Fitted, tuple[float, ...], tuple[bool, ...]]:
    """A predicate's probability of *true* moves with its 0.5 point; others keep their order."""
    if rows.predicate:
        raw = tuple(_true(one) for one in rows.judged)
        return "platt", raw, tuple(_truth(one) for one in rows.judged)
    kind: Fitted = "temperature" if rows.scale == "probability" else "platt"
    return kind, rows.confidences, rows.right


def _true(one: Sample) -> float:
    if one.distribution is not None and TRUE in one.distribution:
        return one.distribution[TRUE]
    selected = one.probability or 0.0
    return selected if one.value else round(1.0 - selected, 12)


def _truth(one: Sample) -> bool:
    return bool(one.gold) if isinstance(one.gold, bool) else bool(one.value) == bool(one.right)


def sides_of(rows: Rows) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    """Give a predicate's probabilities of *true*, and whether it is the truth."""
    return tuple(map(_true, rows.judged)), tuple(map(_truth, rows.judged))


def _chances(rows: Rows, map_: Recalibration, raw: Sequence[float]) -> tuple[float, ...]:
    mapped = [map_(one) for one in raw]
    if not rows.predicate:
        return tuple(mapped)
    return tuple(
        p if one.value is True else 1.0 - p for p, one in zip(mapped, rows.judged, strict=True)
    )


def curve(rows: Rows) -> tuple[Point, ...]:
    """Give what thresholds do to the labelled rows, strictest first; those unanswered count."""
    points = selective.risk_coverage(rows.confidences, rows.right)
    step = max(1, -(-len(points) // CURVE))
    kept = [*points[::-1][::step]][::-1]
    whole = len(rows.labelled)
    return tuple(Point(p.threshold, p.accepted / whole, p.accepted, p.errors) for p in kept)


def selection(rows: Rows) -> Selective:
    """Item 6; coverage counts labelled rows without an answer, the areas do not."""
    part = len(rows.judged) / len(rows.labelled)
    at: Mapping[str, float] = {
        str(error): part * selective.coverage_at(rows.confidences, rows.right, error / 100)
        for error in ERRORS
    }
    return Selective(
        curve=curve(rows),
        aurc=selective.aurc(rows.confidences, rows.right),
        excess=selective.excess(rows.confidences, rows.right),
        augrc=selective.augrc(rows.confidences, rows.right),
        coverage_at=at,
    )
