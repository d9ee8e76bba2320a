"""Time, money, and the fallback: the parts of a comparison that look at what deciding takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...evaluation.drawings import Bar, Markup, bars
from .words import NONE, Drawn, Grid, Item, Part, Told, about, counted, dollars, of, took

if TYPE_CHECKING:
    from ...evaluation.comparison.costs import Assigned, Quantile, Rescue
    from ...evaluation.comparison.report import Report


def efforts(report: Report) -> Iterator[Part]:
    """What asking each takes."""
    rows = [(one.provider, f"{one.timed:,}", *_times(one.quantiles)) for one in report.efforts]
    items: list[Item] = [Grid(("asked", "timed", "p50", "p95", "p99"), rows)]
    items.append(
        Grid(
            ("asked", "asks", "cost of 1,000", "tokens each", "not believed"),
            [
                (
                    one.provider,
                    f"{one.asked:,}",
                    dollars(one.cost_per_1000),
                    f"{one.tokens:,.0f}" if one.tokens else NONE,
                    counted(one.reasons, one.asked),
                )
                for one in report.efforts
            ],
            ("not believed",),
        )
    )
    if any(one.cost_per_1000 is None for one in report.efforts):
        items.append(Told("What the host's own path costs is known to the host alone."))
    for one in report.efforts:
        if len(one.models) > 1:
            text = f"{one.provider} was served by several models: {counted(one.models)}."
            items.append(Told(text, "warning"))
    items.append(Drawn(lambda: bars(_bars(report), "Latency", "seconds"), "Quantiles of a call."))
    yield Part("Time and money", tuple(items))


def _times(quantiles: tuple[Quantile, ...]) -> tuple[str, ...]:
    return tuple(map(took, quantiles)) or (NONE, NONE, NONE)


def _bars(report: Report) -> list[Bar]:
    return [
        Bar(f"{one.provider} p{100 * at.q:.0f}", at.seconds, at.low, at.high, took(at), series)
        for series, one in enumerate(report.efforts)
        for at in one.quantiles
    ]


def fallbacks(report: Report) -> Iterator[Part]:
    """Who was assigned, how often another had to decide, and what came of it."""
    tried = [one for one in report.assigned if one.variant != report.a or one.fallbacks]
    if not tried and not report.rescues:
        return
    items: list[Item] = [
        Grid(
            ("assigned to", "decisions", "fell back", "p50", "p95", "cost of 1,000"),
            [_assigned(one) for one in report.assigned],
        ),
        Told("By whom a decision was assigned to, whoever made it in the end; costs of all asks."),
    ]
    items += [
        Told(f"{one.variant} fell back: {counted(one.fallbacks, one.decisions)}.")
        for one in tried
        if one.fallbacks
    ]
    items += [Told(_rescue(report, one)) for one in report.rescues]
    for one in tried:
        if one.fallbacks:
            made = [
                Bar(name, count / one.decisions, shown=of(count, one.decisions))
                for name, count in one.fallbacks.items()
            ]
            title = f"Why {one.variant} fell back"
            items.append(Drawn(_drawing(made, title), "Share of the decisions assigned to it."))
    yield Part("The fallback", tuple(items))


def _drawing(made: list[Bar], title: str) -> Callable[[], Markup]:
    return lambda: bars(made, title, "share")


def _assigned(one: Assigned) -> tuple[str, ...]:
    fell = sum(one.fallbacks.values())
    times = [took(at) for at in one.quantiles[:2]] or [NONE, NONE]
    short = [time.partition(" [")[0] for time in times]
    return (
        one.variant,
        f"{one.decisions:,}",
        of(fell, one.decisions),
        *short,
        dollars(one.cost_per_1000),
    )


def _rescue(report: Report, one: Rescue) -> str:
    text = (
        f"{about(report, one.question)}{report.b} was not believed {one.rows:,} times and "
        f"{report.a} decided; it said something else in {one.differ:,} of them. "
    )
    if not one.labelled:
        return f"{text}None of them is labelled, so it is unknown which of the two was right."
    return (
        f"{text}Of {one.labelled:,} labelled ones the fallback fixed {one.fixed:,}, "
        f"broke {one.broke:,} and changed nothing in {one.same:,}."
    )
