"""What a replay came to, or what it would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import TYPE_CHECKING

import msgspec

from .. import screen

if TYPE_CHECKING:
    from ...journal.rows import Trail
    from ...journal.store import Store
    from .asking import Stopped, Tally
    from .items import Survey
    from .limits import Purse

LOOKED_AT = 1_000  # latest decisions of a point, for what an answer has cost so far

ENDED = {
    "cost": "the next answer could cost more than is left to spend",
    "down": "the provider does not answer, and is left alone",
}


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a run came to.

    Attributes:
        provider: Who was asked.
        points: About which points.
        before: Rows that had been asked about before.
        asked: Rows that were asked about now.
        left: Rows that still can be.
        skipped: Why others are not asked about, and how many.
        believed: Answers that would have decided.
        reasons: Why others would not have, and how many.
        compared: Valid answers beside something that was decided.
        same: Those of them that say the same.
        cost_usd: As far as it is known.
        cost_unknown: Answers whose cost nobody told.
        seconds: For the run.
        per_second: Rows a second; None where nothing was asked.
        stopped: `cost` or `down` where it ended early; else empty.

    """

    provider: str
    points: tuple[str, ...]
    before: int
    asked: int
    left: int
    skipped: Mapping[str, int]
    believed: int
    reasons: Mapping[str, int]
    compared: int
    same: int
    cost_usd: float
    cost_unknown: int
    seconds: float
    per_second: float | None
    stopped: Stopped


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a run would do.

    Attributes:
        provider: Who would be asked.
        points: About which points.
        before: Rows that were asked about before.
        left: Rows that would be asked about.
        later: Rows that `--limit` leaves for another time.
        skipped: Why others are not asked about, and how many.
        cost_of_one: US dollars, the mean of this provider's answers in the journal; None where
            none there tells.

    """

    provider: str
    points: tuple[str, ...]
    before: int
    left: int
    later: int
    skipped: Mapping[str, int]
    cost_of_one: float | None


def summed(provider: str, survey: Survey, tally: Tally, purse: Purse, seconds: float) -> Summary:
    """Put together what came."""
    return Summary(
        provider=provider,
        points=survey.points,
        before=survey.asked,
        asked=tally.asked,
        left=survey.left - tally.asked + survey.later,
        skipped=dict(survey.skipped),
        believed=tally.believed,
        reasons=dict(tally.reasons.most_common()),
        compared=tally.compared,
        same=tally.same,
        cost_usd=purse.spent,
        cost_unknown=purse.unknown,
        seconds=seconds,
        per_second=tally.asked / seconds if tally.asked else None,
        stopped=tally.stopped,
    )


def cost_of_one(store: Store, provider: str, points: Iterable[str]) -> float | None:
    """Give the mean cost of a provider's answers so far; None where nobody has told."""
    costs = [
        cost
        for point in points
        for trail in store.trails(point=point, newest_first=True, limit=LOOKED_AT)
        for cost in _costs(trail, provider)
    ]
    return fmean(costs) if costs else None


def _costs(trail: Trail, provider: str) -> Iterable[float]:
    live = trail.decision.record.attempts
    for one in (*live, *(beside.shadow.attempt for beside in trail.shadows)):
        if one.provider == provider and one.usage is not None and one.usage.cost_usd is not None:
            yield one.usage.cost_usd


def dry(provider: str, survey: Survey, each: float | None, *, as_json: bool) -> None:
    """Print what would be asked."""
    preview = Preview(
        provider=provider,
        points=survey.points,
        before=survey.asked,
        left=survey.left,
        later=survey.later,
        skipped=dict(survey.skipped),
        cost_of_one=each,
    )
    if as_json:
        screen.data(preview)
        return
    rows = [("would ask", f"{preview.left:>7,}"), ("asked before", f"{preview.before:>7,}")]
    if preview.later:
        rows.append(("by --limit later", f"{preview.later:>7,}"))
    screen.line((provider, "bold"), (f"  {', '.join(survey.points)}", screen.FAINT))
    screen.pairs([*rows, *_skipped(preview.skipped), ("cost", _would_cost(preview))])


def _would_cost(preview: Preview) -> str:
    if preview.cost_of_one is None:
        return "not known: no answer of this provider in the journal tells"
    told = screen.cost(preview.cost_of_one * preview.left)
    return f"about {told}, at the mean of its answers so far"


def show(summary: Summary) -> None:
    """Print what a run came to."""
    screen.line((summary.provider, "bold"), (f"  {', '.join(summary.points)}", screen.FAINT))
    screen.pairs([*_counts(summary), *_skipped(summary.skipped), ("cost", _cost(summary))])
    if summary.stopped:
        why = f"Stopped: {ENDED[summary.stopped]}. The same command goes on from here."
        screen.note(("! ", screen.OTHER), why)


def _counts(summary: Summary) -> list[tuple[str, str]]:
    reasons = ", ".join(f"{name} {count:,}" for name, count in summary.reasons.items())
    same = f"{summary.same:>7,}  {screen.percent(summary.same, summary.compared)}"
    rows = [
        ("asked", f"{summary.asked:>7,}"),
        ("asked before", f"{summary.before:>7,}"),
        ("left", f"{summary.left:>7,}"),
        ("believed", f"{summary.believed:>7,}  {screen.percent(summary.believed, summary.asked)}"),
        ("not believed", reasons),
        ("as was decided", f"{same} of {summary.compared:,} that can be compared"),
        ("speed", _speed(summary)),
    ]
    optional = {
        "asked before": summary.before,
        "left": summary.left,
        "not believed": reasons,
        "as was decided": summary.compared,
    }
    return [(name, value) for name, value in rows if optional.get(name, True)]


def _skipped(skipped: Mapping[str, int]) -> list[tuple[str, str]]:
    return [("not asked about", f"{count:>7,}  {why}") for why, count in skipped.items()]


def _speed(summary: Summary) -> str:
    if summary.per_second is None:
        return "nothing was asked"
    took = f"{summary.asked:,} in {screen.duration(summary.seconds)}"
    return f"{summary.per_second:,.1f} rows a second ({took})"


def _cost(summary: Summary) -> str:
    told = screen.cost(summary.cost_usd)
    if not summary.cost_unknown:
        return told
    return f"{told}, and of {summary.cost_unknown:,} answers nobody told"
