"""Items 1 to 6 of a calibration: what labelled rows say of a provider, before any promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

from ..statistics import measures, selective
from ..statistics.numerics import wilson
from .columns import Rows
from .descriptions import Bar, Counts, Gap, Point, Quality, Scores, Selective, Share
from .labelling import TRUE, written
from .samples import Sample

FEWEST, FIRM = 50, 200  # judged rows: below the one nothing is said, below the other provisionally
DRAWS, WORK = 200, 1_000_000  # samples of the noise floor, and rows in all of them
CURVE = 100  # points of a curve that are kept
SHOWN = 19  # labels of a confusion matrix: with those of nobody as many as a drawing shows

NOBODY = "–"
OTHERS = "others"
ERRORS = (1, 2, 5, 10)  # percent


def share(count: int, of: int) -> Share:
    """Give a share with its Wilson interval of 95 %."""
    return Share(count, of, *wilson(count, of))


def counts(rows: Rows) -> Counts:
    """Item 1."""
    answered = [one for one in rows.all if one.answered]
    gold = Counter(written(one.gold) for one in rows.labelled if one.gold is not None)
    answers = Counter(_answer(one) for one in answered)
    judged = len(rows.judged)
    return Counts(
        rows=len(rows.all),
        labelled=len(rows.labelled),
        answered=len(answered),
        judged=judged,
        unanswered=dict(
            Counter(one.reason.value for one in rows.all if not one.answered).most_common()
        ),
        aside=len(rows.aside),
        doubtful=sum(one.doubtful for one in rows.judged),
        unsure=sum(one.confidence(rows.scale) is None for one in answered),
        gold=dict(gold.most_common()),
        answers=dict(answers.most_common()),
        strange=sum(bool(one.strange) for one in rows.all),
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


def label_of(one: Sample) -> str:
    """Name the label of a sample as distributions name it."""
    if one.gold_level is not None:
        return _level(one.gold_level, one)
    assert one.gold is not None
    return written(one.gold)


def quality(rows: Rows) -> Quality:
    """Item 2."""
    known = [one for one in rows.labelled if one.gold is not None]
    gold, given = [label_of(one) for one in known], [_answer(one) for one in known]
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
    """Count labels against answers; beyond nineteen the rare ones are put together."""
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
    gold = [label_of(one) for one in spread]
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


def bars(confidences: Sequence[float], right: Sequence[bool]) -> tuple[Bar, ...]:
    """Give ten parts of equal width, without those that are empty."""
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
        bars=bars(rows.confidences, rows.right),
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
