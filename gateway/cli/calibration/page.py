"""A calibration as one page, and as drawings alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...evaluation import page
from ...evaluation.drawings import (
    BinView,
    CostMark,
    Mark,
    Markup,
    confusion,
    cost_curve,
    reliability,
    risk_coverage,
)
from .words import WORDS, Words, asked, doubts, more, share, verdict, who

if TYPE_CHECKING:
    from ...certificates import AtRisk
    from ...evaluation.calibration.descriptions import Bar
    from ...evaluation.calibration.findings import Calibration, Economy, Side


def drawings(one: Calibration) -> dict[str, Markup]:
    """Name → drawing: reliability, risk and coverage, and cost where costs are known."""
    words, key = WORDS[one.labels], one.key
    what, whose = f"{key.point}-{key.question}", f"{key.provider}-{key.model}"
    base = f"{what}-{whose}-{key.template}-{key.options}-{key.language}-{key.form}"
    made = {
        f"{base}-reliability": _reliability(one, words),
        f"{base}-risk": _risk(one, words),
    }
    if one.economy is not None:
        made[f"{base}-cost"] = _cost(one.economy)
    return made


def _reliability(one: Calibration, words: Words) -> Markup:
    after = _views(one.remap.bars) if one.remap.kept else None
    return reliability(_views(one.gap.bars), after, _title(one), f"Share {words.right}")


def _views(bars: Sequence[Bar]) -> list[BinView]:
    return [BinView(bar.rows, bar.confidence, bar.share, bar.low, bar.high) for bar in bars]


def _title(one: Calibration) -> str:
    return f"{one.key.point} {one.key.question}: {who(one.key)}"


def _risk(one: Calibration, words: Words) -> Markup:
    name = one.key.provider
    points = [(point.coverage, point.risk) for point in one.selective.curve]
    marks = [
        Mark(name, level.coverage, _rate(level), level.bound, level.alpha, level.minimum)
        for level in one.levels
        if level.minimum is not None
    ]
    title = f"{words.wrong} among decided".capitalize()
    return risk_coverage({name: points}, marks, _title(one), title)


def _rate(level: AtRisk) -> float:
    return level.errors / level.accepted if level.accepted else 0.0


def _cost(found: Economy) -> Markup:
    marks = [
        CostMark(name, point.threshold, point.cost)
        for name, point in found.points.items()
        if point.threshold is not None
    ]
    return cost_curve([(one.threshold or 0.0, one.cost) for one in found.curve], marks)


def page_of(made: Sequence[Calibration]) -> Markup:
    """Make one self-contained page of several calibrations."""
    first = made[0]
    held, date = WORDS[first.labels].caption, first.certificate.date
    lead = f"{held}; {date}. Nothing of it is in force yet."
    sections = [page.Section(f"{_title(one)}, {asked(one.key)}", _whole(one)) for one in made]
    return page.page(f"Calibration of {first.key.point}", sections, lead[:1].upper() + lead[1:])


def _whole(one: Calibration) -> Markup:
    words = WORDS[one.labels]
    kind = "good" if one.certified else "warning"
    parts: list[str] = [page.note(_sentence(verdict(one.certificate, words)), kind)]
    parts += [page.note(said, "warning") for said in doubts(one.certificate)]
    if one.counts.provisional:
        told = f"Provisional: {one.counts.judged} labelled answers, {one.counts.more} too few."
        parts.append(page.note(told, "warning"))
    parts += [
        _facts(one, words),
        page.heading("Confidence against what came of it"),
        page.figure(_reliability(one, words)),
        page.heading("Risk against coverage"),
        page.figure(_risk(one, words), "Measured on these rows; the marks alone are promises."),
        page.heading("Certified thresholds"),
        *_promises(one, words),
        *_costs(one),
        page.heading("Slices"),
        *_slices(one, words),
        page.heading("Answers"),
        _matrix(one),
    ]
    return page.joined(*parts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _facts(one: Calibration, words: Words) -> Markup:
    counts, gap, scores = one.counts, one.gap, one.scores
    missing = ", ".join(f"{reason} {n:,}" for reason, n in counts.unanswered.items())
    rows: list[tuple[str, object]] = [
        ("rows", f"{counts.rows:,}, judged {counts.judged:,}"),
        ("not decided", missing or "none"),
        (words.rate, share(one.quality.right)),
        ("macro-F1", one.quality.macro_f1),
        ("log loss", scores.log_loss),
        (f"Brier score, {scores.form}", scores.brier),
        ("ECE, equal width", gap.ece),
        ("ECE that noise alone makes", gap.floor),
        ("mean confidence less the share", gap.over),
        ("AURC, above the best possible", one.selective.excess),
        ("AUGRC", one.selective.augrc),
    ]
    for spread in one.stability.spreads:
        if spread.low is not None:
            told = f"{spread.low:.4f} to {spread.high:.4f} in 90 % of {one.stability.draws} draws"
            rows.append((f"stability of {spread.name}", told))
    return page.table(("", "measured"), rows)


def _promises(one: Calibration, words: Words) -> list[str]:
    parts: list[str] = []
    if one.sides:
        head = ("at most", "answer", "cut", "decided", "of the other truth", "bound", "")
        parts.append(page.table(head, [_side(side, words) for side in one.sides]))
    minima = ("at most", "from", "decided", words.wrong, "bound", "")
    return [*parts, page.table(minima, [_level(level) for level in one.minima or one.levels])]


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def _side(side: Side, words: Words) -> tuple[object, ...]:
    risk = f"{100 * side.alpha:g} %"
    if side.at is None:
        return (risk, side.side, None, None, None, None, side.why)
    harm = words.missed if side.side == "no" else words.alarms
    told = f"{harm} {side.errors:,} of {side.of:,}"
    at = f"{side.at:.4f}"
    return (risk, side.side, at, _percent(side.coverage), told, _percent(side.bound), "")


def _level(level: AtRisk) -> tuple[object, ...]:
    risk = f"{100 * level.alpha:g} %"
    if level.minimum is None:
        return (risk, None, None, None, None, level.why + more(level) if level.why else "")
    told = f"{level.errors:,} of {level.accepted:,}"
    at = f"{level.minimum:.4f}"
    return (risk, at, _percent(level.coverage), told, _percent(level.bound), "")


def _costs(one: Calibration) -> list[str]:
    found = one.economy
    if found is None:
        return []
    rows = [
        (name, point.threshold, _percent(point.coverage), f"{point.cost:.5g}")
        for name, point in found.points.items()
    ]
    table = page.table(("", "threshold", "decided", "cost of a decision"), rows)
    return [page.heading("Costs"), page.figure(_cost(found)), table]


def _slices(one: Calibration, words: Words) -> list[str]:
    rows = [
        (
            part.name,
            part.value,
            part.right.of,
            _percent(part.right.value),
            part.ece,
            f"{part.errors:,} of {part.decided:,}",
            "above the budget" if part.flagged else "",
        )
        for part in one.slices.slices
    ]
    head = ("by", "value", "rows", words.right, "ECE", f"{words.wrong} among decided", "")
    told = [f"Not by {name}: {why}." for name, why in one.slices.skipped.items()]
    return [*([page.table(head, rows)] if rows else []), *map(page.paragraph, told)]


def _matrix(one: Calibration) -> Markup:
    labels, counts = one.quality.labels, one.quality.confusion
    return page.figure(confusion(labels, labels, counts, WORDS[one.labels].labels, "answers"))
