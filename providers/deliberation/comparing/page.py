"""What an experiment came to, for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....gateway.cli import screen
from ....gateway.environment import variables_of
from .figures import Changes, Figures
from .matching import UNITS
from .summary import Gap, Summary
from .verdicts import Compared

NOTHING = "–"
AGAIN = "The same command with --resume"

ENDED = {
    "cost": "the next arm could cost more than is left to spend",
    "calls": "the next arm could make more calls than are left",
    "down": "a provider turns asks away, or is left alone because it fails",
    "signal": "it was interrupted",
}


def show(summary: Summary) -> None:
    """Print the figures, then what is shown: between the first arm and each, and wherever it is."""
    told = f"{summary.complete:,} of {summary.cases:,} items"
    screen.line(("Arms", "bold"), (f"  {told}, on which every arm was run", screen.FAINT))
    if summary.stopped:
        why = ENDED[summary.stopped]
        screen.line((f"Ended early: {why}. {AGAIN} goes on.", screen.OTHER))
    _open(summary)
    if not summary.arms:
        return
    _quality(summary.arms)
    _title("What they cost")
    _costs(summary.arms, summary.reference)
    _doubts(summary.arms)
    _changes(summary.arms)
    _pairs(summary.pairs)
    if summary.pairs:
        screen.line()
    if summary.placebo is not None:
        _placebo(summary.placebo)
    for one in summary.pairs:
        again = summary.placebo is not None and one.said == summary.placebo.said
        if not again and (one.shown or summary.arms[0].arm in (one.a, one.b)):
            screen.line(one.said)


def _open(summary: Summary) -> None:
    """Say what was left for another time, and whether all is of one make."""
    for why, many in summary.left.items():
        arms = "1 arm on an item is" if many == 1 else f"{many:,} arms on items are"
        screen.line((f"{why}: {arms} left open. {AGAIN} asks again.", screen.OTHER))
    for name, models in summary.served.items():
        if len(models) > 1:
            told = ", ".join(f"{model} ({rows:,})" for model, rows in models.items())
            screen.line((f"{name} was served by more than one model: {told}", screen.OTHER))


def _title(text: str) -> None:
    screen.line()
    screen.line((text, "bold"))


def _quality(arms: Iterable[Figures]) -> None:
    right = ("answered", "right", "95 % interval", "Brier")
    listed = screen.table("arm", *right, right=right)
    for one in arms:
        answered = screen.percent(one.answered, one.cases)
        interval = f"{100 * one.low:.1f} – {100 * one.high:.1f}"
        brier = NOTHING if one.brier is None else f"{one.brier:.3f}"
        listed.add_row(one.arm, answered, screen.percent(one.right, one.cases), interval, brier)
    screen.show(listed)


def _costs(arms: Sequence[Figures], reference: str) -> None:
    right = ("calls", "tokens", "cost", "p50", "p95", "ratio")
    listed, unit = screen.table("arm", *right, right=right), _unit(arms)
    for one in arms:
        tokens = _told(f"{one.tokens:,}", one.untold, one.calls)
        usd = _told(screen.cost(one.usd), one.unpriced, one.calls)
        times = (screen.duration(one.p50), screen.duration(one.p95))
        ratio = f"{one.ratios[unit]:.2f}" if unit in one.ratios else NOTHING
        listed.add_row(one.arm, f"{one.calls:,}", tokens, usd, *times, ratio)
    screen.show(listed)
    if any(one.ratios for one in arms):
        screen.line((f"ratio: {unit} over those of `{reference}`", screen.FAINT))
    for one in arms:
        if one.matched:
            told = ", ".join(f"{unit} {ratio:.2f}" for unit, ratio in one.ratios.items())
            by = f"{one.arm}: {one.k:.1f} samples an item, matched by {'/'.join(one.matched)}"
            screen.line((f"{by}{f'; ratios {told}' if told else ''}", screen.FAINT))


def _unit(arms: Sequence[Figures]) -> str:
    """Give the unit that the arms of one are matched by; calls where there is not one."""
    found = {unit for one in arms for unit in one.matched}
    return next(iter(found)) if len(found) == 1 else UNITS[0]


def _doubts(arms: Sequence[Figures]) -> None:
    """Say of controls that they are none, and of an arm without answers what could be why."""
    for one in arms:
        if not one.answered:
            _unsure(one)
        if one.repeated:
            what = "this control is one answer repeated" if one.answered else "none of them counts"
            screen.line((f"{one.arm}: the samples never differed: {what}", screen.OTHER))
        if one.uncriticised:
            told = f"no critiques of another item were there on {one.uncriticised:,} of its items"
            screen.line((f"{one.arm}: {told}", screen.OTHER))


def _unsure(one: Figures) -> None:
    for name, many in one.unsure.items():
        variable, *_ = variables_of(name, "MIN_CONFIDENCE")
        times = "once" if many == 1 else f"{many:,} times"
        told = f"{name} was too unsure {times}; {variable} says what counts"
        screen.line((f"{one.arm} answered nothing: {told}", screen.OTHER))


def _told(sum_of: str, lacking: int, calls: int) -> str:
    """Write a sum; with a plus where some calls did not tell, a dash where none did."""
    if lacking == calls:
        return NOTHING
    return f"{sum_of}+" if lacking else sum_of


def _changes(arms: Iterable[Figures]) -> None:
    rows = [one for one in arms if one.own or one.independent or one.collapse]
    if not rows:
        return
    _title("What changed")
    columns = ("own first", "independent", "disagreed", "collapsed", "wrongly")
    listed = screen.table("arm", *columns, right=columns)
    for one in rows:
        apart = one.collapse
        cells = (
            (NOTHING,) * 3
            if apart is None
            else (
                f"{apart.disagreed:,}",
                screen.percent(apart.collapsed, apart.disagreed),
                f"{apart.wrongly:,}",
            )
        )
        listed.add_row(one.arm, _changed(one.own), _changed(one.independent), *cells)
    screen.show(listed)
    told = "corrections / subversions, against its own first answers and against `independent`"
    screen.line((told, screen.FAINT))


def _changed(changes: Changes | None) -> str:
    return NOTHING if changes is None else f"+{changes.corrections} / -{changes.subversions}"


def _pairs(pairs: Sequence[Compared]) -> None:
    if not pairs:
        return
    _title("Between the arms")
    columns = ("points", "95 % interval", "only", "p")
    listed = screen.table("arm", "less", *columns, right=columns)
    for one in pairs:
        interval = f"{100 * one.low:+.1f} … {100 * one.high:+.1f}"
        difference, counts = f"{100 * one.difference:+.1f}", f"{one.only_a:,} / {one.only_b:,}"
        listed.add_row(one.a, one.b, difference, interval, counts, f"{one.p:.3f}")
    screen.show(listed)
    told = "only: items that one of both alone has right; p: McNemar's exact test of these"
    screen.line((told, screen.FAINT))


def _placebo(gap: Gap) -> None:
    shown = "" if gap.shown else ": no gap is shown"
    ends = f"[{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]{shown}"
    told = f"placebo gap: {100 * gap.difference:+.1f} points {ends}"
    moved = ""
    if gap.moved is not None and gap.moved_by_placebo is not None:
        shares = (screen.percent(one, 1) for one in (gap.moved, gap.moved_by_placebo))
        moved = "; members that changed their answer: {}, in the placebo {}".format(*shares)
    screen.line(f"{told}{moved}.")
    screen.line(gap.said)
