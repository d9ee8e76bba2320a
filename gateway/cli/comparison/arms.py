"""The split: whether traffic fell as planned, and what the arms came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .words import (
    NONE,
    Facts,
    Grid,
    Item,
    Part,
    Told,
    between,
    chance,
    counted,
    of,
    percent,
    points,
    share,
)

if TYPE_CHECKING:
    from ...evaluation.comparison.arms import Split
    from ...evaluation.comparison.ratios import Ratio
    from ...evaluation.comparison.report import Report

ALARM = 0.001
APART = 0.1  # by which shares of labelled decisions may differ before it is said


def arms(report: Report) -> Iterator[Part]:
    """The arms of a split; nothing without one."""
    if report.split is not None:
        items = tuple(_split(report, report.split))
        yield Part(f"Split {report.split.experiment}", items)


def _split(report: Report, split: Split) -> Iterator[Item]:
    yield from _ratio(split)
    hidden = split.failed
    yield Grid(
        ("arm", "share", "subjects", "decisions", "labelled", "right"),
        [
            (
                one.variant,
                NONE if one.share is None else percent(one.share),
                f"{one.subjects:,}",
                f"{one.decisions:,}",
                of(one.right.rows, one.decisions),
                NONE if hidden else share(one.right),
            )
            for one in split.arms
        ],
    )
    if not hidden:
        yield _labels(report, split)
    yield Facts([(name, f"{count:,}{more}") for name, count, more in _left_out(split) if count])
    yield from _difference(report, split)


def _labels(report: Report, split: Split) -> Told:
    """Say what the labels are worth: an arm that is labelled otherwise may only look better."""
    rates = [
        one.right.rows / one.decisions
        for one in split.arms
        if one.variant in (report.a, report.b) and one.decisions
    ]
    if max(rates, default=0.0) - min(rates, default=0.0) <= APART:
        return Told("The shares that are right are those of labelled decisions only.")
    text = "The arms are labelled unequally often, so that a difference may come from that alone."
    return Told(text, "warning")


def _left_out(split: Split) -> tuple[tuple[str, int, str], ...]:
    sticky = "; a split is sticky by subject: gateway.session(…)"
    return (
        ("seen in two arms, left out", split.crossed, ""),
        ("without a subject", split.unsticky, sticky),
        ("of other experiments, left out", split.others, ""),
    )


def _ratio(split: Split) -> Iterator[Item]:
    if split.earlier:
        plans = "; ".join(map(_plan, split.plans))
        text = (
            f"The shares were changed while it ran: {plans}. {split.earlier:,} decisions under "
            "other shares are left out: whoever moved would be seen in two arms."
        )
        yield Told(text)
    if split.ratio is None:
        return
    if not split.failed:
        text = f"Sample ratio: subjects fell as planned (p = {chance(split.ratio.p)})."
        yield Told(text, "good")
        return
    text = (
        f"Sample ratio: the subjects did not fall as planned (p = {chance(split.ratio.p)}; alarm "
        f"below {ALARM:g}). Its arms are not compared until that is explained. A new experiment id "
        "draws new buckets."
    )
    yield Told(text, "warning")
    names = tuple(split.ratio.subjects)
    yield Grid(
        ("came first on", *names, "p"), [_row(one, names) for one in (*split.days, split.ratio)]
    )
    yield Facts([(f"{arm} served by", counted(models)) for arm, models in split.served.items()])


def _plan(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{arm} {percent(share)}" for arm, share in shares.items())


def _row(one: Ratio, names: tuple[str, ...]) -> tuple[str, ...]:
    return (one.part, *(f"{one.subjects.get(name, 0):,}" for name in names), chance(one.p))


def _difference(report: Report, split: Split) -> Iterator[Item]:
    if split.difference is None or split.low is None or split.high is None or split.p is None:
        yield Told(f"No difference is shown: {split.why}.")
        return
    interval = between(split.low, split.high)
    yield Facts(
        (
            ("difference", f"{points(split.difference)} points {interval}"),
            ("p", f"{chance(split.p)} (always valid: look as often as you like)"),
            ("tuned to", f"differences of {100 * split.effect:g} points; by subject"),
        )
    )
    yield Told(_better(report, split), "good" if split.better else "note")


def _better(report: Report, split: Split) -> str:
    if split.better:
        winner = report.b if split.better == "b" else report.a
        return f"The arm of {winner} is right more often; the interval leaves out zero."
    if split.needed is None:
        return "Not yet: the interval includes zero."
    least = 100 * max(split.effect, abs(split.difference or 0.0))
    return (
        f"Not yet: the interval includes zero. About {split.needed:,} more labelled decisions "
        f"would tell a difference of {least:.3g} points."
    )
