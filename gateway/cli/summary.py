"""What a run comes to: counts, speed, and how good the top answers were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from .results import Line

TARGET = 0.95  # of the top answers have to be right in the part that is covered
TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Quality(msgspec.Struct, frozen=True):
    """
    How good the top answers of labelled rows were.

    Attributes:
        labelled: How many rows have a label.
        right: How many top answers equal it; a reply that was not valid is wrong.
        covered: Size of the largest part, taken by confidence, of which 95 % are right.
        confidence: The least confidence in that part; None if it is empty.
        unknown: How many labels are no option, so that no answer could be right.

    """

    labelled: int
    right: int
    covered: int
    confidence: float | None
    unknown: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a run comes to.

    Attributes:
        rows: Lines in the file, of this run and earlier ones.
        asked: How many of them this run asked.
        accepted: Decided by the provider that was asked.
        fallback: It was not believed, and somebody else decided.
        undecided: Nobody decided; the point's outcome in doubt.
        unanswered: Nobody decided, and there is no such outcome.
        reasons: Reason → how often the asked provider was not believed.
        models: Served model → rows.
        seconds: Wall clock of this run.
        per_second: Decisions of this run per second; None if it asked nothing.
        cost_usd: Of all rows.
        quality: Of the top answers; None without labels.
        options: How many options the first row had; None if it was no choice.
        sentinel: The option that means "none of these", which was among them.

    """

    rows: int
    asked: int
    accepted: int
    fallback: int
    undecided: int
    unanswered: int
    reasons: dict[str, int]
    models: dict[str, int]
    seconds: float
    per_second: float | None
    cost_usd: float
    quality: Quality | None
    options: int | None
    sentinel: str | None


def summed(
    lines: Sequence[Line],
    asked: int,
    seconds: float,
    options: Sequence[str] | None,
    sentinel: str | None,
) -> Summary:
    """Sum up the *lines* of a file, of which this run *asked* some in so many *seconds*."""
    kinds = Counter(map(_kind, lines))
    reasons = Counter(line.reason for line in lines if line.reason != "ok")
    return Summary(
        rows=len(lines),
        asked=asked,
        accepted=kinds["accepted"],
        fallback=kinds["fallback"],
        undecided=kinds["undecided"],
        unanswered=kinds["unanswered"],
        reasons=dict(reasons.most_common()),
        models=dict(Counter(line.model for line in lines if line.model).most_common()),
        seconds=seconds,
        per_second=asked / seconds if asked and seconds > 0 else None,
        cost_usd=sum(line.cost_usd for line in lines),
        quality=_quality(lines, options),
        options=None if options is None else len(options),
        sentinel=sentinel,
    )


def _kind(line: Line) -> str:
    if line.undecided:
        return "undecided"
    if not line.provider:
        return "unanswered"
    return "accepted" if line.reason == "ok" else "fallback"


def _quality(lines: Sequence[Line], options: Sequence[str] | None) -> Quality | None:
    rated = [line for line in lines if line.label is not None]
    if not rated or any(isinstance(line.top, float | dict) for line in rated):
        return None  # a score is not right or wrong, nor are several answers together
    marks = [(line.confidence, is_right(line.top, line.label or "")) for line in rated]
    covered, least = coverage([mark for mark in marks if mark[1] is not None])
    return Quality(
        labelled=len(rated),
        right=sum(1 for _, right in marks if right),
        covered=covered,
        confidence=least,
        unknown=sum(1 for line in rated if options is not None and line.label not in options),
    )


def is_right(top: Any, label: str) -> bool | None:  # noqa: ANN401 - an option or a truth
    """Compare a top answer with a label; None where there is no valid answer."""
    if top is None:
        return None
    if isinstance(top, bool):
        return TRUTHS.get(label.strip().lower()) is top
    return str(top) == label


def coverage(
    marks: Sequence[tuple[float, bool | None]], target: float = TARGET
) -> tuple[int, float | None]:
    """
    Count the largest part, taken by confidence, of which the share *target* is right.

    A threshold cannot part equal confidences, so they come in or stay out together.

    >>> coverage([(0.9, True), (0.8, True), (0.5, False), (0.5, True)], 0.75)
    (4, 0.5)
    >>> coverage([(0.9, False), (0.8, True)])
    (0, None)
    """
    ordered = sorted(marks, key=lambda mark: -mark[0])
    best: tuple[int, float | None] = (0, None)
    right = 0
    for count, (confidence, correct) in enumerate(ordered, start=1):
        right += bool(correct)
        last_of_equals = count == len(ordered) or ordered[count][0] < confidence
        if last_of_equals and right >= target * count:
            best = (count, confidence)
    return best
