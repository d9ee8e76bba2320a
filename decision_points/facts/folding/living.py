"""Which entries of the log count: what was not taken back, put in quarantine or erased."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec

from ..assertions import Recorded
from ..entries import (
    Asserted,
    Dismissed,
    Entry,
    Erased,
    Quarantined,
    Receipt,
    Retracted,
    Stored,
    Withdrawn,
)
from ..registry import Registry


class Living(msgspec.Struct, frozen=True, kw_only=True):
    """
    What counts of the entries about one fact; their order never matters.

    Attributes:
        assertions: What was said, was read and still stands.
        receipts: Resolutions that were not withdrawn.
        dismissed: Ids of the disputes that are put aside, sorted.
        redacted: Ids of assertions whose content is gone, sorted (RF-48).
        notes: Flags, as `redacted:<id>`, `quarantined:<id>`, `not_allowed:<id>`, sorted.

    """

    assertions: tuple[Recorded, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    dismissed: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def living(entries: Iterable[Stored], registry: Registry, *, known_at: int | None = None) -> Living:
    """
    Sort out what counts.

    A retraction counts whenever it came, also before what it names, if who made it may take that
    back (RF-47); it can be retracted itself. Content that was erased is gone for every time.

    Args:
        entries: Of one fact, and the namespace's quarantines; the same one may come twice.
        registry: Says who may take back what.
        known_at: Nothing that was recorded later counts, in microseconds; None: everything does.

    """
    said: dict[str, Recorded] = {}
    others: dict[str, Stored] = {}
    for one in entries:
        if known_at is not None and one.recorded_at > known_at and type(one.entry) is not Erased:
            continue
        if type(one.entry) is Asserted:
            was = said.get(one.id)
            if was is None or one.recorded_at < was.recorded_at:
                said[one.id] = Recorded(
                    id=one.id, assertion=one.entry.assertion, recorded_at=one.recorded_at
                )
        else:
            others[one.id] = one
    return _sifted(said, others, registry) if others else Living(assertions=tuple(said.values()))


def _sifted(
    said: Mapping[str, Recorded], others: Mapping[str, Stored], registry: Registry
) -> Living:
    redacted = {one.target for _, one in _every(others, Erased)}
    hidden = set(_hidden(said, others))
    taken, refused = _taken_back(said, dict(_every(others, Retracted)), registry)
    withdrawn = {one.target for _, one in _every(others, Withdrawn)}
    gone = redacted | hidden | taken
    flagged = (("redacted", redacted), ("quarantined", hidden - redacted), ("not_allowed", refused))
    standing = {name: one for name, one in others.items() if name not in withdrawn}
    return Living(
        assertions=tuple(one for name, one in said.items() if name not in gone),
        receipts=tuple(one for _, one in _every(standing, Receipt)),
        dismissed=tuple(sorted({one.dispute for _, one in _every(standing, Dismissed)})),
        redacted=tuple(sorted(redacted)),
        notes=tuple(sorted(f"{flag}:{name}" for flag, names in flagged for name in names)),
    )


_Kind = TypeVar("_Kind", bound=Entry)


def _every(others: Mapping[str, Stored], kind: type[_Kind]) -> Iterator[tuple[str, _Kind]]:
    for name, one in others.items():
        if isinstance(one.entry, kind):
            yield name, one.entry


def _hidden(said: Mapping[str, Recorded], others: Mapping[str, Stored]) -> Iterator[str]:
    """Name what a quarantine that was not lifted covers (RF-22)."""
    all_of_them = dict(_every(others, Quarantined))
    lifted = {one.lifts for one in all_of_them.values()}
    now = [one for name, one in all_of_them.items() if not one.lifts and name not in lifted]
    for name, one in said.items() if now else ():
        if any(_covers(span, one) for span in now):
            yield name


def _covers(span: Quarantined, one: Recorded) -> bool:
    said, at = one.assertion, one.recorded_at
    return (
        bool(span.source or span.writer)
        and span.source in {"", said.source}
        and span.writer in {"", said.writer}
        and (span.since is None or span.since <= at)
        and (span.until is None or at < span.until)
    )


def _taken_back(
    said: Mapping[str, Recorded], retractions: Mapping[str, Retracted], registry: Registry
) -> tuple[set[str], set[str]]:
    """Name what a retraction that stands takes back, and which were not allowed."""
    taken: set[str] = set()
    refused: set[str] = set()
    found = _roots(retractions)
    for name in sorted(found, key=lambda one: -found[one][0]):  # what takes it back goes first
        one, root = retractions[name], found[name][1]
        if root not in said or name in taken:
            continue
        before = retractions.get(one.target)
        own = before is not None and before.by == one.by
        if own or registry.may(one.by, said[root].assertion.source):
            taken.add(one.target)
        else:
            refused.add(name)
    return taken, refused


def _roots(retractions: Mapping[str, Retracted]) -> dict[str, tuple[int, str]]:
    """Give how many retractions each goes through, and what is named at the end."""
    found: dict[str, tuple[int, str]] = {}
    for first in retractions:
        name = first
        path: dict[str, None] = {}
        while name in retractions and name not in found and name not in path:
            path[name] = None
            name = retractions[name].target
        depth, root = found.get(name, (0, name))
        for further, one in enumerate(reversed(path), depth + 1):
            found[one] = (further, root)
    return found
