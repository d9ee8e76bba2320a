"""Item 10 of a calibration: whether what holds for all rows holds for each part of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from ...certificates import AtRisk
from ..statistics import measures
from ..statistics.comparing import holm
from ..statistics.numerics import binomial_cdf, exact_lower, percentile
from .describing import share
from .findings import Slice, Slices
from .samples import Sample

LENGTH, LANGUAGE, OPTIONS = "length", "language", "options"
KEPT = 12  # values of one field that are shown; the rarer are put together
OTHERS = "others"
THIRDS = (1 / 3, 2 / 3)
SIZES = ("short", "medium", "long")


class Row(msgspec.Struct, frozen=True):
    """A judged sample with its confidence, and whether it is decided."""

    sample: Sample
    confidence: float
    decided: bool

    @property
    def right(self) -> bool:
        """Whether its answer is."""
        return bool(self.sample.right)


def decides(level: AtRisk, *, two_sided: bool) -> Callable[[Sample, float], bool]:
    """Give what tells whether an answer of a confidence is believed at *level*."""
    no = 1.0 if level.no_below is None else round(1.0 - level.no_below, 12)

    def one(_sample: Sample, confidence: float) -> bool:
        return level.minimum is not None and confidence >= level.minimum

    def sided(sample: Sample, confidence: float) -> bool:
        if sample.value:
            return level.yes_from is not None and confidence >= level.yes_from
        return confidence > no

    return sided if two_sided else one


def sliced(rows: Sequence[Row], budget: float, delta: float, wanted: Sequence[str]) -> Slices:
    """
    Part *rows* by language, length, number of options and the *wanted* fields.

    A slice is flagged where its error rate among the decided exceeds *budget*: exact binomial
    test, with Holm's correction for all slices at *delta*.
    """
    parts: dict[tuple[str, str], list[Row]] = {}
    skipped: dict[str, str] = {}
    for name in dict.fromkeys((LANGUAGE, LENGTH, OPTIONS, *wanted)):
        values, why = _values(name, rows)
        if why:
            skipped[name] = why
            continue
        for value, row in zip(values, rows, strict=True):
            parts.setdefault((name, value), []).append(row)
    return Slices(_judged(parts, budget, delta), skipped)


def _values(name: str, rows: Sequence[Row]) -> tuple[list[str], str]:
    """Give each row's value, or why rows cannot be told apart by it."""
    values = _lengths(rows) if name == LENGTH else [_value(name, row.sample) for row in rows]
    there = Counter(values)
    if set(there) <= {""}:
        return [], _absent(name)
    if len(there) == 1:
        return [], f"all rows are {next(iter(there))!r}"
    kept = {value for value, _ in there.most_common(KEPT)}
    return [(value or "unknown") if value in kept else OTHERS for value in values], ""


def _value(name: str, sample: Sample) -> str:
    return sample.slices.get(name, sample.language if name == LANGUAGE else "")


def _absent(name: str) -> str:
    if name == LENGTH:
        return "no text is kept (DECISION_JOURNAL_CONTENT=full keeps it)"
    if name == LANGUAGE:
        return "it was asked in no particular one"
    if name == OPTIONS:
        return "the question has none, or no distribution says how many"
    return "no row has such a field (states are kept with DECISION_JOURNAL_CONTENT=full)"


def _lengths(rows: Sequence[Row]) -> list[str]:
    known = [float(row.sample.length) for row in rows if row.sample.length is not None]
    if not known:
        return [""] * len(rows)
    edges = [percentile(known, third) for third in THIRDS]
    return [
        "" if (length := row.sample.length) is None else SIZES[sum(length > one for one in edges)]
        for row in rows
    ]


def _judged(
    parts: Mapping[tuple[str, str], Sequence[Row]], budget: float, delta: float
) -> tuple[Slice, ...]:
    chances = {" ".join(name): _chance(part, budget) for name, part in parts.items()}
    flagged = holm(chances, delta)
    ordered: defaultdict[str, list[Slice]] = defaultdict(list)
    for (name, value), part in parts.items():
        one = _slice(name, value, part, delta)
        above = f"{name} {value}" in flagged
        ordered[name].append(msgspec.structs.replace(one, flagged=above))
    return tuple(one for part in ordered.values() for one in sorted(part, key=_first))


def _first(one: Slice) -> tuple[int, str]:
    """Lengths from short to long, all else from many to few."""
    sized = one.name == LENGTH and one.value in SIZES
    return (SIZES.index(one.value) if sized else -one.right.of, one.value)


def _chance(part: Sequence[Row], budget: float) -> float:
    """P(so many errors or more), were the error rate *budget*."""
    decided = [row for row in part if row.decided]
    errors = _surely(decided)
    return 1.0 - binomial_cdf(errors - 1, len(decided), budget) if errors else 1.0


def _surely(decided: Sequence[Row]) -> int:
    """Count what is known to be wrong; an answer in doubt accuses nobody."""
    return sum(not row.right and not row.sample.doubtful for row in decided)


def _slice(name: str, value: str, part: Sequence[Row], delta: float) -> Slice:
    decided = [row for row in part if row.decided]
    errors = sum(not row.right for row in decided)
    confidences, right = [row.confidence for row in part], [row.right for row in part]
    return Slice(
        name=name,
        value=value,
        right=share(sum(right), len(right)),
        ece=measures.ece(measures.bins_equal_width(confidences, right)),
        decided=len(decided),
        errors=errors,
        low=exact_lower(_surely(decided), len(decided), delta) if decided else 0.0,
        flagged=False,
    )
