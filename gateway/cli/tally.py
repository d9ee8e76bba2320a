"""What a replay of vectors comes to, in numbers and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from . import screen

if TYPE_CHECKING:
    from .vectors import Mark

ALL = "all"
GAP = "  "
LONGEST = 31  # of a name that shares its line with the numbers: 80 columns are enough
HEADINGS = ("right", "wrong", "unsure", "likely", "confidence")
LEGEND = (
    "right   as expected, or unsure where that is right too",
    "unsure  below the minimum, refused, or none of these",
    "likely  the most likely answer is as expected, believed or not",
)


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """
    Counts of one point in one language, or of all.

    Attributes:
        point: Name of the point; `all` for the total.
        language: Of the vectors; `all` for the total.
        vectors: How many.
        right: As expected, or unsure where that is right, too.
        accuracy: Share of the vectors that are right.
        wrong: Believed, and not as expected.
        unsure: Below the minimum, refused, or "none of these" where that is right, too.
        failed: No valid answer: timeout, malformed, unsupported.
        likely: The most likely answer is the expected one, believed or not.
        confidence: Mean of the valid answers, in [0, 1]; None if there is none.

    """

    point: str
    language: str
    vectors: int
    right: int
    accuracy: float
    wrong: int
    unsure: int
    failed: int
    likely: int
    confidence: float | None


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a replay comes to.

    Attributes:
        tallies: Per point and language, in the order of the file.
        languages: Per language, over all points.
        total: Of everything.
        providers: Who was asked.
        models: Served model → vectors.
        reasons: Reason → how often an answer was not believed for it.
        seconds: Wall clock.
        cost_usd: Of all vectors, as far as it is known.

    """

    tallies: list[Tally]
    languages: list[Tally]
    total: Tally
    providers: list[str]
    models: dict[str, int]
    reasons: dict[str, int]
    seconds: float
    cost_usd: float


def summed(marks: Sequence[Mark], providers: Sequence[str], seconds: float) -> Replay:
    """Sum up *marks* that *providers* earned in so many *seconds*."""
    reasons = Counter(one.reason for one in marks if one.reason != "ok")
    kinds = list(dict.fromkeys((one.point, one.language) for one in marks))
    languages = list(dict.fromkeys(one.language for one in marks))
    return Replay(
        tallies=[
            _tally(*kind, [one for one in marks if (one.point, one.language) == kind])
            for kind in kinds
        ],
        languages=[
            _tally(ALL, language, [one for one in marks if one.language == language])
            for language in languages
        ],
        total=_tally(ALL, ALL, marks),
        providers=list(dict.fromkeys(providers)),
        models=dict(Counter(one.model for one in marks if one.model).most_common()),
        reasons=dict(reasons.most_common()),
        seconds=seconds,
        cost_usd=sum(one.cost_usd for one in marks),
    )


def _tally(point: str, language: str, marks: Sequence[Mark]) -> Tally:
    verdicts = Counter(one.verdict for one in marks)
    sure = [one.confidence for one in marks if one.confidence is not None]
    right = sum(one.good for one in marks)
    return Tally(
        point=point,
        language=language,
        vectors=len(marks),
        right=right,
        accuracy=right / len(marks),
        wrong=verdicts["wrong"],
        unsure=verdicts["unsure"],
        failed=verdicts["failed"],
        likely=sum(1 for one in marks if one.likely),
        confidence=sum(sure) / len(sure) if sure else None,
    )


def show(replay: Replay) -> None:
    """Print a replay: a row for each point and language, and what it all comes to."""
    names = [one.point for one in replay.tallies if len(one.point) <= LONGEST]
    width = max(map(len, ("decision point", *names)))
    size = 1 + 2 * len(str(replay.total.vectors))
    columns = [max(size, len(heading)) for heading in HEADINGS]
    heads = GAP.join(f"{head:>{column}}" for head, column in zip(HEADINGS, columns, strict=True))
    screen.line((f"{'decision point':<{width}}{GAP}  {GAP}{heads}", "bold"))
    before = ""
    for one in replay.tallies:
        _row(one, width, columns, "" if one.point == before else one.point)
        before = one.point
    screen.line()
    for one in replay.languages if len(replay.languages) > 1 else ():
        _row(one, width, columns, "")
    _row(replay.total, width, columns, "all")
    screen.line()
    screen.pairs(_facts(replay))
    for told in LEGEND:
        screen.note((told, screen.FAINT))


def _row(one: Tally, width: int, columns: Sequence[int], name: str) -> None:
    if len(name) > width:
        screen.line((name, "bold"))
        name = ""
    sure = "–" if one.confidence is None else f"{one.confidence:.3f}"
    cells = (
        f"{one.right}/{one.vectors}",
        str(one.wrong),
        str(one.unsure),
        f"{one.likely}/{one.vectors}",
        sure,
    )
    styles = (
        screen.GOOD if one.right == one.vectors else "",
        screen.OTHER if one.wrong else screen.FAINT,
        "" if one.unsure else screen.FAINT,
        "",
        "",
    )
    language = "" if one.language == ALL else one.language
    said = [(f"{name:<{width}}", "bold"), (f"{GAP}{language:<2}", screen.FAINT)]
    said += [
        (f"{GAP}{cell:>{column}}", style)
        for cell, column, style in zip(cells, columns, styles, strict=True)
    ]
    screen.line(*said)


def _facts(replay: Replay) -> list[tuple[str, str]]:
    total = replay.total
    reasons = ", ".join(f"{name} {count:,}" for name, count in replay.reasons.items())
    rows = [
        ("right", f"{screen.percent(total.right, total.vectors)} of {total.vectors:,}"),
        ("likely", f"{screen.percent(total.likely, total.vectors)}, believed or not"),
        ("failed", f"{total.failed:,}" if total.failed else ""),
        ("not believed", reasons),
        ("asked", ", ".join(replay.providers)),
        ("model", ", ".join(f"{name} ({count:,})" for name, count in replay.models.items())),
        ("took", screen.duration(replay.seconds)),
        ("cost", screen.cost(replay.cost_usd)),
    ]
    return [(name, value) for name, value in rows if value]
