"""Item 13 of a calibration: whether a certificate's promise holds on rows labelled since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from ...certificates import Certificate, Key
from ..statistics.certifying import labels_needed
from ..statistics.numerics import exact_lower, exact_upper
from .describing import Rows, rows_of, sides_of
from .samples import Sample

Verdict: TypeAlias = Literal["holds", "broken", "too few", "nothing certified", "no rows"]
"""
How a promise did: `broken` where errors exceed it by more than chance; `too few` where even a
faultless run of so few rows could not have certified it.
"""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """
    One promise on new rows.

    Attributes:
        key: Of the certificate.
        labels: What new rows are held against.
        what: `decided`, or of a predicate `no` or `yes`.
        alpha: What was promised not to be exceeded.
        rows: New rows with an answer that is known to be right or wrong.
        of: Those that the promise is about: decided ones, or those of the other truth.
        errors: Wrong ones among them.
        low: Exact lower bound of the error rate.
        high: Exact upper bound.
        coverage: Share of the new rows that is decided so.
        verdict: How it did.

    """

    key: Key
    labels: Literal["gold", "agreement"]
    what: Literal["decided", "no", "yes"]
    alpha: float
    rows: int = 0
    of: int = 0
    errors: int = 0
    low: float = 0.0
    high: float = 1.0
    coverage: float = 0.0
    verdict: Verdict


def check(certificate: Certificate, samples: Mapping[Key, Sequence[Sample]]) -> list[Checked]:
    """Hold *certificate* against new *samples*, by key."""
    used = certificate.used
    rows = rows_of(samples.get(certificate.key, ()), certificate.key.scale)
    if used is None or (used.minimum is None and not certificate.two_sided):
        return [_empty(certificate, rows, "nothing certified")]
    if not rows.judged:
        return [_empty(certificate, rows, "no rows")]
    if certificate.two_sided:
        return _sides(certificate, rows)
    minimum = used.minimum or 0.0
    wrong = [
        not right
        for confidence, right in zip(rows.confidences, rows.right, strict=True)
        if confidence >= minimum
    ]
    return [_checked(certificate, rows, "decided", (wrong, len(wrong)))]


def _empty(certificate: Certificate, rows: Rows, verdict: Verdict) -> Checked:
    return Checked(
        key=certificate.key,
        labels=certificate.labels,
        what="decided",
        alpha=certificate.risk,
        rows=len(rows.judged),
        verdict=verdict,
    )


def _sides(certificate: Certificate, rows: Rows) -> list[Checked]:
    used = certificate.used
    assert used is not None
    p, truths = sides_of(rows)
    found: list[Checked] = []
    if (no := used.no_below) is not None:
        missed = [one < no for one, truth in zip(p, truths, strict=True) if truth]
        found.append(_checked(certificate, rows, "no", (missed, sum(one < no for one in p))))
    if (yes := used.yes_from) is not None:
        alarms = [one >= yes for one, truth in zip(p, truths, strict=True) if not truth]
        found.append(_checked(certificate, rows, "yes", (alarms, sum(one >= yes for one in p))))
    return found or [_empty(certificate, rows, "nothing certified")]


def _checked(
    certificate: Certificate,
    rows: Rows,
    what: Literal["decided", "no", "yes"],
    counted: tuple[Sequence[bool], int],
) -> Checked:
    wrong, decided = counted
    errors, of = sum(wrong), len(wrong)
    delta = certificate.delta if what == "decided" else certificate.delta / 2
    low, high = exact_lower(errors, of, delta), exact_upper(errors, of, delta)
    few = of < labels_needed(certificate.risk, delta)
    verdict: Verdict = "broken" if low > certificate.risk else "too few" if few else "holds"
    return Checked(
        key=certificate.key,
        labels=certificate.labels,
        what=what,
        alpha=certificate.risk,
        rows=len(rows.judged),
        of=of,
        errors=errors,
        low=low,
        high=high,
        coverage=decided / len(rows.labelled),
        verdict=verdict,
    )


def since(samples: Iterable[Sample], date: str) -> list[Sample]:
    """Keep the samples whose label was first known after the UTC day *date*, YYYY-MM-DD."""
    return [one for one in samples if day(one.told) > date]


def day(at: float) -> str:
    """Give the UTC day of a moment, as YYYY-MM-DD."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
