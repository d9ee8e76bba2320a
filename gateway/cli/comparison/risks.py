"""Equal certified risk, or why there is none yet: what each would decide, and how wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...evaluation.drawings import Mark, Markup, risk_coverage
from .words import (
    NONE,
    Drawn,
    Grid,
    Item,
    Part,
    Told,
    about,
    between,
    counted,
    dollars,
    of,
    percent,
    points,
    rates,
)

if TYPE_CHECKING:
    from ...evaluation.comparison.equal_risk import Guarded, Side
    from ...evaluation.comparison.report import Report

APART = (
    "Nothing is certified for both at this error rate, so they cannot be compared at equal risk. "
    "Below are raw thresholds: never compare two deciders in one row, since one decider's 0.90 may "
    "be wrong twice as often as the other's."
)


def risks(report: Report) -> Iterator[Part]:
    """Each decider at its own threshold for one error rate; without certificates, raw ones."""
    held = [one for one in report.guarded if one.thresholds or one.always]
    items: list[Item] = []
    if any(one.thresholds for one in held):
        items += _certified(report)
    if not all(one.thresholds or one.always for one in report.guarded) or not items:
        items += _raw(report)
    items.append(Drawn(lambda: _curves(report), "Decided from the most to the least sure."))
    yield Part(f"At equal certified risk, α = {rates(report)}", tuple(items))


def _certified(report: Report) -> Iterator[Item]:
    yield Grid(
        ("", "threshold", "decides", "falls back", "wrong of decided", "at most"),
        [_guarded(report, one) for one in report.guarded if one.thresholds or one.always],
        ("threshold",),
    )
    for one in report.guarded:
        yield from _remarks(one)
    for handed in report.handovers:
        text = (
            f"{about(report, handed.question)}{report.b} in front of {report.a} would mend "
            f"{handed.only_b:,} and spoil {handed.only_a:,} of {handed.rows:,} labelled decisions: "
            f"{points(handed.difference)} points {between(handed.low, handed.high)}"
            f"{f'; of {handed.unclear:,} it is unclear' if handed.unclear else ''}."
        )
        yield Told(text)
    if report.together is not None:
        whole = report.together
        text = (
            f"{whole.provider} would decide {of(whole.decided, whole.rows)} of the decisions: "
            "those where the answers to all questions clear their thresholds."
        )
        yield Told(text)
    yield from _prices(report)


def _prices(report: Report) -> Iterator[Item]:
    """Estimate the cost with and without the fallback, where both costs are known."""
    costs = {one.provider: one.cost_per_1000 for one in report.efforts}
    a, b = costs.get(report.a), costs.get(report.b)
    held = [one for one in report.guarded if one.provider == report.b and one.thresholds]
    if a is None or b is None or not held or not all(one.rows for one in held):
        return
    falls = max(1.0 - one.decided / one.rows for one in held)
    if report.together is not None:
        falls = 1.0 - report.together.decided / report.together.rows
    text = (
        f"1,000 decisions would cost about {dollars(b + falls * a)} with {report.b} in front, "
        f"{dollars(b)} of it for {report.b} alone, and {dollars(a)} with {report.a} alone."
    )
    yield Told(text)


def _guarded(report: Report, one: Guarded) -> tuple[str, ...]:
    parts = [one.provider]
    if len({each.question for each in report.guarded}) > 1:
        parts.append(one.question)
    if len({each.alpha for each in report.guarded}) > 1:
        parts.append(f"α {100 * one.alpha:g} %")
    name = " · ".join(parts)
    return (
        name,
        "none" if one.always else "; ".join(one.thresholds),
        of(one.decided, one.rows),
        of(one.rows - one.decided, one.rows),
        f"{of(one.errors, one.labelled)} ({one.errors:,}/{one.labelled:,})",
        percent(one.bound) if one.labelled else NONE,
    )


def _remarks(one: Guarded) -> Iterator[Item]:
    if one.always:
        yield Told(f"{one.provider} has no confidence, and decides whatever it is asked.")
    if one.thresholds and one.reasons:
        yield Told(f"{one.provider} falls back: {counted(one.reasons, one.rows)}.")
    if one.labels == "agreement":
        text = f"{one.provider} was certified for agreement with what decides today, not for truth."
        yield Told(text, "warning")
    if one.thresholds and one.broken:
        yield Told(f"{one.provider} breaks its promise on these labels.", "warning")
    if one.thresholds:
        yield from _labels(one)
    if one.thresholds and one.unmatched:
        text = (
            f"{one.unmatched:,} answers of {one.provider} were asked or served otherwise than "
            "certified (wording, options, language, model), and are left out."
        )
        yield Told(text, "warning")
    for name, side in (("missed", one.missed), ("false alarms", one.alarms)):
        if side is not None and side.rows:
            yield Told(_side(one.provider, name, side))


def _labels(one: Guarded) -> Iterator[Item]:
    """Say what the labels above a threshold are worth."""
    if one.firsts is not None:
        yield Told(
            f"{one.labelled:,} labels of {one.provider} are about {one.firsts.rows:,} subjects. "
            "“At most”, and whether the promise holds, count the first of each: "
            f"{one.firsts.errors:,} wrong."
        )
    if one.older and one.apart:
        yield Told(
            f"{one.older:,} labels of {one.provider} are no newer than its certificate, and left "
            "out: the threshold may have been found on them."
        )
    elif one.older:
        yield Told(
            f"{one.older:,} of the {one.labelled:,} labels of {one.provider} are no newer than its "
            "certificate: the threshold may have been found on them. Newer ones try it."
        )
    if one.unclear:
        yield Told(
            f"Of {one.unclear:,} answers that {one.provider} decides it is known only that another "
            "answer is wrong; they count as neither right nor wrong.",
            "warning",
        )


def _side(provider: str, name: str, side: Side) -> str:
    rate = f"{of(side.errors, side.rows)} ({side.errors:,}/{side.rows:,})"
    return f"{provider}, {name}: {rate}, at most {percent(side.bound)}."


def _raw(report: Report) -> Iterator[Item]:
    yield Told(APART, "warning")
    for held in report.guarded:
        if not held.always and not held.thresholds:
            more = "" if held.needed is None else f"; about {held.needed:,} more labels are needed"
            yield Told(f"{about(report, held.question)}{held.provider}: {held.why}{more}.")
    several = len({one.question for one in report.spreads}) > 1
    if any(one.subjects < one.labelled for one in report.spreads):
        yield Told("Subjects repeat: “at most” counts the first labelled answer of each.")
    for one in report.spreads:
        if not one.rungs:
            continue
        rows = [
            (
                f"{rung.threshold:.2f}",
                of(rung.decided, one.rows),
                f"{of(rung.errors, rung.labelled)} ({rung.errors:,}/{rung.labelled:,})",
                percent(rung.bound) if rung.labelled else NONE,
            )
            for rung in one.rungs
        ]
        name = f"{one.provider} · {one.question}" if several else one.provider
        yield Grid((f"{name} from", "decides", "wrong of decided", "at most"), rows)


def _curves(report: Report) -> Markup:
    several = len({one.question for one in report.spreads}) > 1
    curves = {
        f"{one.provider} · {one.question}" if several else one.provider: one.curve
        for one in report.spreads
        if one.curve
    }
    for one in report.guarded:
        if one.always and one.labelled:  # without a confidence it is one point: all, or nothing
            name = f"{one.provider} · {one.question}" if several else one.provider
            curves[name] = ((1.0, one.errors / one.labelled),)
    marks = [
        Mark(
            f"{one.provider} · {one.question}" if several else one.provider,
            one.decided / one.rows,
            one.errors / one.labelled,
            one.bound,
            one.alpha,
            float(one.thresholds[0]),
        )
        for one in report.guarded
        if len(one.thresholds) == 1 and one.labelled and one.missed is None
    ]
    return risk_coverage(curves, marks)
