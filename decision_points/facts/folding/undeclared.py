"""Facts whose attribute no policy declares: shown with all that is said, never reconciled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from ..assertions import Recorded, Value
from ..keys import FactKey
from ..outcomes import Candidate, Outcome, Trace, candidate_id
from ..policy import Policy
from ..registry import Registry
from .claims import said, visible


def unreconciled(
    key: FactKey,
    every: Mapping[str, Recorded],
    versions: tuple[Policy, Registry],
    notes: Collection[str],
    at: int,
) -> Outcome:
    """
    List what is said about a fact at a time; nothing is beaten or corrected (RF-03).

    Args:
        key: The fact.
        every: What is said about it, by id.
        versions: The policy, which does not declare it, and the registry.
        notes: Flags of what does not count.
        at: The point in time, in microseconds.

    """
    policy, registry = versions
    found: defaultdict[Value, list[Recorded]] = defaultdict(list)
    for one in every.values():
        if visible(one.assertion, at) and (value := said(one, policy)) is not None:
            found[value].append(one)
    candidates = (_candidate(key, value, some, registry) for value, some in found.items())
    shown = sorted(one.id for some in found.values() for one in some)
    return Outcome(
        key=key,
        status="unreconciled" if every else "absent",
        candidates=tuple(sorted(candidates, key=lambda one: one.id)),
        policy=policy.version,
        registry=registry.version,
        trace=Trace(unbeaten=tuple(shown), notes=tuple(sorted(notes))),
    )


def _candidate(
    key: FactKey, value: Value, some: Collection[Recorded], registry: Registry
) -> Candidate:
    sources = {one.assertion.source for one in some}
    return Candidate(
        id=candidate_id(key, value),
        value=value,
        assertions=tuple(sorted(one.id for one in some)),
        sources=tuple(sorted(sources)),
        voices=len({registry.lineage(source) for source in sources}),
    )
