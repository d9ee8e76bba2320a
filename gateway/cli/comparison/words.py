"""What a comparison is made of before it is shown, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from ...evaluation.comparison.accuracy import Share
    from ...evaluation.comparison.costs import Quantile
    from ...evaluation.comparison.report import Report
    from ...evaluation.drawings import Markup

NONE = "–"


Kind: TypeAlias = Literal["note", "verdict", "good", "warning"]


class Facts(NamedTuple):
    """Names and what they are."""

    rows: Sequence[tuple[str, str]]


class Grid(NamedTuple):
    """
    A table.

    Attributes:
        head: Headings of its columns.
        rows: Its cells.
        words: Columns of words that may go on in the next line; all but the first and these
            hold numbers.
        spare: A drawing shows the same; left out where that is, and where it does not fit.
        names: Columns of names that go on in the next line only between two of their words.

    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str] = ()
    spare: bool = False
    names: Sequence[str] = ()


class Told(NamedTuple):
    """A sentence; all but a `note` stand out."""

    text: str
    kind: Kind = "note"


class Drawn(NamedTuple):
    """A drawing, for a page; made when it is needed."""

    make: Callable[[], Markup]
    caption: str


Item: TypeAlias = Facts | Grid | Told | Drawn


class Part(NamedTuple):
    """A title and what stands below it."""

    title: str
    items: Sequence[Item]


def rates(report: Report) -> str:
    """Write the error rates at which B is held."""
    held = {one.alpha for one in report.guarded if one.provider == report.b} or {report.alpha}
    return " and ".join(f"{100 * one:g} %" for one in sorted(held))


def percent(part: float, digits: int = 1) -> str:
    """Write a share in [0, 1]."""
    return f"{100 * part:.{digits}f} %"


def of(part: int, whole: int) -> str:
    """Write a share of counts; a dash of nothing."""
    return percent(part / whole) if whole else NONE


def points(difference: float) -> str:
    """Write a difference of shares in points, always with its sign."""
    return f"{100 * difference:+.1f}"


def between(low: float, high: float) -> str:
    """Write an interval of differences."""
    return f"[{points(low)}, {points(high)}]"


def share(one: Share) -> str:
    """Write a share with its interval."""
    if not one.rows:
        return NONE
    return f"{percent(one.hits / one.rows)} [{100 * one.low:.1f}, {100 * one.high:.1f}]"


def chance(p: float) -> str:
    """Write a p-value."""
    return f"{p:.1e}" if p < 0.0001 else f"{p:.4f}"  # noqa: PLR2004 - four digits hold no less


def took(one: Quantile) -> str:
    """Write a time, with its interval where there is one."""
    unit, size = (1000.0, "ms") if one.seconds < 1 else (1.0, "s")
    digits = 0 if size == "ms" and one.seconds * unit >= 10 else 2  # noqa: PLR2004
    at = f"{one.seconds * unit:,.{digits}f}"
    if one.low is None or one.high is None:
        return f"{at} {size}"
    return f"{at} {size} [{one.low * unit:,.{digits}f}–{one.high * unit:,.{digits}f}]"


def dollars(amount: float | None) -> str:
    """Write a cost; "unknown" where nobody knows."""
    if amount is None:
        return "unknown"
    return "$0" if amount == 0 else f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.4f}"  # noqa: PLR2004


def counted(counts: Mapping[str, int], whole: int = 0) -> str:
    """Write names with their counts, and their shares of a *whole*."""
    if not counts:
        return "none"
    parts = (
        f"{name} {count:,}{f' ({of(count, whole)})' if whole else ''}"
        for name, count in counts.items()
    )
    return ", ".join(parts)


def about(report: Report, question: str) -> str:
    """Name a question before what is said of it, where there are several."""
    several = len({one.question for one in report.guarded}) > 1
    return f"{question}: " if several else ""


def day(at: float) -> str:
    """Write a day in UTC."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
