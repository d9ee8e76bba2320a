"""Item 13 of a calibration: whether a certificate's promise holds on rows labelled since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from ...certificates import Certificate, Key
from ...errors import SetupError
from ...register import differing
from ..statistics.certifying import labels_needed
from ..statistics.numerics import exact_lower, exact_upper
from .columns import Rows, data, rows_of, sides_of
from .labelling import Labels
from .samples import Sample

Verdict: TypeAlias = Literal[
    "holds", "broken", "too few", "nothing certified", "no rows", "none matches", "never promised"
]
"""
How a promise did: `broken` where errors exceed it by more than chance; `too few` where even a
faultless run of so few rows could not have certified it; `none matches` where there are new labels
and all are of something else than is certified; `never promised` where agreement is, and the new
labels are the truth.
"""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """
    One promise on new rows.

    Attributes:
        key: Of the certificate.
        labels: What new rows are held against.
        promised: What the certificate was made with.
        what: `decided`, or of a predicate `no` or `yes`.
        alpha: What was promised not to be exceeded.
        rows: New rows with an answer that is known to be right or wrong.
        of: Those that the promise is about: decided ones, or those of the other truth.
        errors: Wrong ones among them.
        low: Exact lower bound of the error rate.
        high: Exact upper bound.
        coverage: Share of the new rows that is decided so.
        aside: New rows that were set aside: others of the same subject or text.
        doubtful: Rows of `errors` that are not known to be wrong; they break no promise.
        unmatched: What differs from every certificate → new labelled rows it differs in.
        verdict: How it did.

    """

    key: Key
    labels: Labels
    promised: Labels
    what: Literal["decided", "no", "yes"]
    alpha: float
    rows: int = 0
    of: int = 0
    errors: int = 0
    low: float = 0.0
    high: float = 1.0
    coverage: float = 0.0
    aside: int = 0
    doubtful: int = 0
    unmatched: Mapping[str, int] = {}
    verdict: Verdict


class Against(msgspec.Struct, frozen=True):
    """
    What promises are held against.

    Attributes:
        samples: New ones, by key.
        labels: What they are labelled with.
        certified: Keys of the whole file, without their scales: rows of these are another
            certificate's affair.

    """

    samples: Mapping[Key, Sequence[Sample]]
    labels: Labels
    certified: frozenset[Key]


def check(certificate: Certificate, new: Against) -> list[Checked]:
    """
    Hold *certificate* against *new* samples.

    Raises:
        SetupError: They are the very rows that it was made from, and prove nothing.

    """
    used = certificate.used
    rows = rows_of(new.samples.get(certificate.key, ()), certificate.key.scale, certificate.seed)
    if rows.judged and data(rows) == certificate.data:
        where = f"{certificate.key.point} {certificate.key.question}"
        problem = "these are the very rows that the certificate was made from"
        raise SetupError.of(where, problem, "Name labels that it has not seen")
    bare = _bare(certificate, rows, new)
    if used is None or (used.minimum is None and not certificate.two_sided):
        return [msgspec.structs.replace(bare, verdict="nothing certified")]
    if not rows.judged:
        verdict: Verdict = "none matches" if bare.unmatched else "no rows"
        return [msgspec.structs.replace(bare, verdict=verdict)]
    if certificate.two_sided:
        return _sides(certificate, rows, bare)
    minimum = used.minimum or 0.0
    decided = [
        one
        for one, confidence in zip(rows.judged, rows.confidences, strict=True)
        if confidence >= minimum
    ]
    wrong = [not one.right for one in decided]
    bare = msgspec.structs.replace(
        bare,
        coverage=len(decided) / len(rows.labelled),
        doubtful=sum(one.doubtful for one in decided),
    )
    return [_counted(bare, wrong, certificate)]


def _bare(certificate: Certificate, rows: Rows, new: Against) -> Checked:
    return Checked(
        key=certificate.key,
        labels=new.labels,
        promised=certificate.labels,
        what="decided",
        alpha=certificate.risk,
        rows=len(rows.judged),
        aside=len(rows.aside),
        unmatched=_unmatched(certificate.key, new),
        verdict="no rows",
    )


def _unmatched(key: Key, new: Against) -> Mapping[str, int]:
    """Count labelled rows of the same question and provider that no certificate is about."""
    found: Counter[str] = Counter()
    for other, samples in new.samples.items():
        same = (other.point, other.question, other.provider)
        if other.unscaled in new.certified or same != (key.point, key.question, key.provider):
            continue
        if labelled := sum(one.right is not None for one in samples):
            found[" and ".join(differing(key, other))] += labelled
    return dict(found.most_common())


def _sides(certificate: Certificate, rows: Rows, bare: Checked) -> list[Checked]:
    used = certificate.used
    assert used is not None
    p, truths = sides_of(rows)
    found: list[Checked] = []
    if (no := used.no_below) is not None:
        answered = [one < no for one in p]
        missed = [one for one, truth in zip(answered, truths, strict=True) if truth]
        of_no = _share(bare, "no", sum(answered) / len(rows.labelled))
        found.append(_counted(of_no, missed, certificate))
    if (yes := used.yes_from) is not None:
        answered = [one >= yes for one in p]
        alarms = [one for one, truth in zip(answered, truths, strict=True) if not truth]
        of_yes = _share(bare, "yes", sum(answered) / len(rows.labelled))
        found.append(_counted(of_yes, alarms, certificate))
    return found or [msgspec.structs.replace(bare, verdict="nothing certified")]


def _share(bare: Checked, what: Literal["no", "yes"], coverage: float) -> Checked:
    return msgspec.structs.replace(bare, what=what, coverage=coverage)


def _counted(bare: Checked, wrong: Sequence[bool], certificate: Certificate) -> Checked:
    errors, of, alpha = sum(wrong), len(wrong), certificate.risk
    delta = certificate.delta if bare.what == "decided" else certificate.delta / 2
    low = exact_lower(errors - bare.doubtful, of, delta)
    few = of < labels_needed(alpha, delta)
    verdict: Verdict = "broken" if low > alpha else "too few" if few else "holds"
    if verdict == "holds" and (bare.promised, bare.labels) == ("agreement", "gold"):
        verdict = "never promised"
    return msgspec.structs.replace(
        bare,
        of=of,
        errors=errors,
        low=low,
        high=exact_upper(errors, of, delta),
        verdict=verdict,
    )


def since(samples: Iterable[Sample], date: str) -> list[Sample]:
    """Keep the samples whose label was first known after the UTC day *date*, YYYY-MM-DD."""
    return [one for one in samples if day(one.told) > date]


def day(at: float) -> str:
    """Give the UTC day of a moment, as YYYY-MM-DD."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
