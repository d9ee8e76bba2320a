"""A comparison as parts, in the order in which they are read; shown on a screen or on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .arms import arms
from .costs import efforts, fallbacks
from .labels import SHORT, agreements, judgements
from .risks import risks
from .words import Facts, Item, Kind, Part, Told, about, counted, day, of

if TYPE_CHECKING:
    from ...evaluation.comparison.report import Report
    from ...evaluation.comparison.truths import Strange
    from ...evaluation.comparison.verdict import Word

ANSWERS = 8  # that are named where labels name none of them

KINDS: dict[Word, Kind] = {
    "yes": "good",
    "not yet": "verdict",
    "no": "warning",
    "blocked": "warning",
}


def parts(report: Report) -> Iterator[Part]:
    """Give the parts of *report*, the verdict first."""
    yield Part("Verdict", tuple(_verdict(report)))
    yield Part("What was looked at", tuple(_header(report)))
    for each in (agreements, judgements, risks, efforts, fallbacks, arms):
        yield from each(report)


def title(report: Report) -> str:
    """Say who is held against whom, and where."""
    return f"{report.point}: {report.b} against {report.a}"


def _verdict(report: Report) -> Iterator[Item]:
    verdict = report.verdict
    yield Told(f"{verdict.sentence}.", KINDS[verdict.word])
    yield Facts([("" if number else "because", one) for number, one in enumerate(verdict.because)])


def _header(report: Report) -> Iterator[Item]:
    since, until = day(report.since or 0.0), day(report.until or 0.0)
    labels = f"{report.labelled:,} ({of(report.labelled, report.decisions)})"
    rows = [
        ("period", f"{since} to {until}, {report.decisions:,} decisions"),
        ("with feedback", labels),
        ("both answered", f"{report.beside:,}, independently of each other"),
    ]
    if report.after:
        rows.append(("after a fallback", f"{report.after:,}, the harder ones: counted apart"))
    models = {one.provider: one.models for one in report.efforts if one.models}
    rows += [(f"models of {who}", counted(served)) for who, served in models.items()]
    if report.experiments:
        split = sum(report.experiments.values())
        rows.append(("by a split", counted(report.experiments, report.decisions)))
        if split < report.decisions:
            rows.append(("by no split", f"{report.decisions - split:,}, set or asked otherwise"))
    if report.others:
        rows.append(("also answered", counted(report.others)))
    yield Facts(rows)
    yield from (_strange(report, one) for one in report.strange)
    wordings = Counter((one.question, one.language) for one in report.asked)
    for (question, language), count in wordings.items():
        if count > 1:
            text = (
                f"{question} was asked in {count} wordings or option sets in {language!r}; what "
                "holds for one need not hold for another."
            )
            yield Told(text, "warning")


def _strange(report: Report, one: Strange) -> Told:
    more = len(one.options) - ANSWERS
    options = ", ".join(one.options[:ANSWERS]) + (f" and {more:,} more" if more > 0 else "")
    text = (
        f"{about(report, one.question)}{one.decisions:,} of {one.labels:,} labels name nothing "
        f"that can be answered: {counted(one.named)}; for example "
        f"{' '.join(id_[:SHORT] for id_ in one.ids)}. Answers are {options}. Such labels "
        "judge nobody: correct them."
    )
    return Told(text, "warning")
