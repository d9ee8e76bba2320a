"""Agreement, and who is right: the parts of a comparison that look at answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...evaluation.comparison.agreement import OTHER
from ...evaluation.drawings import Bar, Markup, bars, confusion
from .words import (
    NONE,
    Drawn,
    Facts,
    Grid,
    Item,
    Part,
    Told,
    between,
    chance,
    of,
    percent,
    points,
    share,
)

if TYPE_CHECKING:
    from ...evaluation.comparison.accuracy import Judged
    from ...evaluation.comparison.agreement import Agreement
    from ...evaluation.comparison.report import Report

FOLDED = "(any other)"  # on the other side: two folded answers need not be the same
WIDE = 6  # labels of a matrix that a terminal holds
APART = 0.1  # by which shares of labelled rows may differ before it is said
SHORT = 16  # digits of an id, which tell it apart


def agreements(report: Report) -> Iterator[Part]:
    """How far A and B agree, question by question."""
    for one in report.agreements:
        title = "Agreement" if len(report.agreements) == 1 else f"Agreement on {one.question}"
        yield Part(title, tuple(_agreement(report, one)))


def _agreement(report: Report, one: Agreement) -> Iterator[Item]:
    a, b = report.a, report.b
    kappa = "none to speak of: one answer throughout" if one.kappa is None else f"{one.kappa:.3f}"
    yield Facts(
        (
            ("answers of both", f"{one.pairs:,}"),
            ("the same", f"{of(one.agreed, one.pairs)} ({one.agreed:,})"),
            ("kappa", f"{kappa}  (agreement beyond chance; 1 is full)"),
        )
    )
    yield Told("Agreement says nothing of who is right: where both agree, both may be wrong.")
    if len(one.labels) <= WIDE:
        rows = [
            (label, *(f"{count:,}" for count in counts))
            for label, counts in zip(one.labels, one.counts, strict=True)
            if any(counts)
        ]
        yield Grid((f"{a} ↓  {b} →", *one.labels), rows, spare=True)
    yield Drawn(lambda: _matrix(report, one), f"Rows {a}, columns {b}; equal answers are framed.")
    if one.cells:
        yield Told("The most frequent disagreements; `pointsman journal show ID` shows one.")
        yield Grid(
            (f"{a} says", f"{b} says", "decisions", "for example"),
            [
                (cell.a, cell.b, f"{cell.count:,}", " ".join(id_[:SHORT] for id_ in cell.ids))
                for cell in one.cells
            ],
            ("for example",),
            names=(f"{a} says", f"{b} says"),
        )
    if one.bands:
        yield Grid(
            ("probability", "answers", "differ", "share"),
            [
                (
                    f"{band.low:.2f}–{band.high:.2f}",
                    f"{band.pairs:,}",
                    f"{band.differ:,}",
                    of(band.differ, band.pairs),
                )
                for band in one.bands
            ],
        )


def _matrix(report: Report, one: Agreement) -> Markup:
    columns = [FOLDED if label == OTHER else label for label in one.labels]
    return confusion(one.labels, columns, one.counts, report.a, report.b)


def judgements(report: Report) -> Iterator[Part]:
    """Who is right where that is known."""
    if not report.judgements:
        told = Told(
            "No decision that both answered has a label yet, so nobody knows who is right. "
            "Labels come from `gateway.feedback(decision_id, …)`.",
            "warning",
        )
        yield Part("Who is right", (told,))
    for one in report.judgements:
        several = len(report.judgements) > 1
        title = f"Who is right on {one.question}" if several else "Who is right"
        yield Part(title, tuple(_judged(report, one)))


def _judged(report: Report, one: Judged) -> Iterator[Item]:
    a, b = report.a, report.b
    yield Grid(
        ("", "right", "macro-F1", "only this one right"),
        [
            (a, share(one.a), _f1(one.f1_a), f"{one.only_a:,}"),
            (b, share(one.b), _f1(one.f1_b), f"{one.only_b:,}"),
        ],
    )
    yield Facts(
        (
            ("labelled", f"{one.a.rows:,} of {one.pairs:,} ({of(one.a.rows, one.pairs)})"),
            ("difference", f"{points(one.difference)} points {between(one.low, one.high)}"),
            ("", "always valid: look as often as you like; by subject"),
            ("for one look", f"{between(one.once.low, one.once.high)}; {_mcnemar(one)}"),
        )
    )
    yield Told(_better(report, one), "good" if one.better else "note")
    yield from _doubts(one)
    yield from _sureness(report, one.question)
    yield from _slices(report, one)


def _f1(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _mcnemar(one: Judged) -> str:
    return f"McNemar p = {chance(one.exact)} exact, {chance(one.mid_p)} mid-p"


def _better(report: Report, one: Judged) -> str:
    if one.better:
        winner = report.b if one.better == "b" else report.a
        return f"{winner} is right more often; the interval leaves out zero."
    if one.needed is None:
        return "Not yet: the interval includes zero."
    least = 100 * max(one.effect, abs(one.difference))
    return (
        f"Not yet: the interval includes zero. About {one.needed:,} more labelled decisions "
        f"would tell a difference of {least:.3g} points."
    )


def _doubts(one: Judged) -> Iterator[Item]:
    """Say what the labels may hide."""
    yield Told(
        "Which decisions get a label is rarely left to chance; these shares hold for the "
        "labelled ones."
    )
    if abs(one.agreed_labelled - one.differ_labelled) > APART:
        text = (
            f"{percent(one.agreed_labelled, 0)} of the agreeing rows are labelled, and "
            f"{percent(one.differ_labelled, 0)} of the others: neither share of right answers "
            "stands for all decisions. The difference of the two suffers less."
        )
        yield Told(text, "warning")
    if one.unclear:
        text = (
            f"Of {one.unclear:,} rows it is known only that what was decided is wrong, not what "
            "is right: whoever said something else may be right or wrong. The shares leave them "
            "out, which flatters whoever decided; the interval allows for both."
        )
        yield Told(text, "warning")


def _sureness(report: Report, question: str) -> Iterator[Item]:
    rows = [
        (
            one.provider,
            f"{one.sureness.rows:,}",
            f"{one.sureness.ece:.3f} ({one.sureness.floor:.3f})",
            f"{one.sureness.brier:.3f}",
            f"{one.sureness.aurc:.4f}",
        )
        for one in report.spreads
        if one.question == question and one.sureness is not None
    ]
    if rows:
        yield Grid(("probabilities of", "labelled", "ECE (floor)", "Brier", "AURC"), rows)
        yield Told("An ECE near its floor, which a perfect one shows on as many rows, is no fault.")


def _slices(report: Report, one: Judged) -> Iterator[Item]:
    if not one.slices:
        return
    yield Grid(
        ("part", "labelled", f"{report.a} right", f"{report.b} right", "p"),
        [
            (
                f"{part.by} {part.value}",
                f"{part.a.rows:,}",
                of(part.a.hits, part.a.rows),
                of(part.b.hits, part.b.rows),
                f"{chance(part.p)}{' !' if part.notable else ''}",
            )
            for part in one.slices
        ],
    )
    yield Told("“!” marks a part where they differ even after Holm's correction over all parts.")
    yield Drawn(
        lambda: bars(_bars(report, one), "Right answers by part", "share with its interval"),
        f"{report.a} and {report.b}, by part.",
    )


def _bars(report: Report, one: Judged) -> list[Bar]:
    found: list[Bar] = []
    for part in one.slices:
        for series, (who, rate) in enumerate(((report.a, part.a), (report.b, part.b))):
            size = rate.hits / rate.rows
            name = f"{part.value} {who}"
            found.append(Bar(name, size, rate.low, rate.high, percent(size), series))
    return found
