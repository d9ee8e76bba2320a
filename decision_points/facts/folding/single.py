"""The fold of a fact that has one value."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..outcomes import Outcome, Status, Trace, dispute_id
from .claims import Claim, competing, future_dated, present
from .corrections import Given
from .settled import Settled
from .settling import Asked, Case, case


def fold_one(asked: Asked, given: Given, notes: Collection[str]) -> Outcome:
    """
    Work out what a fact of one value comes to.

    Args:
        asked: What is asked.
        given: What is said about it.
        notes: Flags of what does not count.

    """
    rules = asked.rules
    said = {name: competing(given.every[name].assertion, rules) for name in given.replaced}
    found = case(asked, present(given.left, rules, asked.at), said)
    settled = found.settled or Settled()
    beaten = [] if found.settled is None else [*settled.beaten, *given.witnesses]
    dispute = settled.dispute
    if not dispute and len(settled.candidates) > 1:
        dispute = dispute_id(asked.key, tuple(one.id for one in settled.candidates))
    status = _status(found)
    return Outcome(
        key=asked.key,
        status=status,
        value=settled.value if status == "resolved" else None,
        decided_by=settled.decided_by,
        reason=settled.reason,
        candidates=settled.candidates,
        dispute=dispute,
        receipt=settled.receipt,
        policy=rules.policy.version,
        registry=rules.registry.version,
        last_confirmed=confirmed(found, asked.at),
        trace=Trace(
            unbeaten=tuple(sorted(settled.unbeaten)),
            beaten=tuple(sorted(beaten)),
            runner_up=settled.runner_up,
            ties=settled.ties,
            notes=tuple(sorted({*notes, *found.notes})),
            dissent=settled.dissent,
        ),
    )


def _status(found: Case) -> Status:
    if found.settled is None:
        return found.otherwise
    value = found.settled.value
    if value is None:
        return "disputed"
    if value.form != "kind":
        return "resolved"
    return "ended" if value.text == "ended" else "absent"


def confirmed(found: Case, at: int) -> int | None:
    """Give when what a case came to was said last, as far as that can be so (RF-62)."""
    value = None if found.settled is None else found.settled.value
    return None if value is None else _last((one for one in found.claims if one.value == value), at)


def _last(claims: Iterable[Claim], at: int) -> int | None:
    times = [
        one.said.observed_at.start
        for one in claims
        if one.said.observed_at is not None and not future_dated(one.said, at, one.speaker.skew)
    ]
    return max(times, default=None)
