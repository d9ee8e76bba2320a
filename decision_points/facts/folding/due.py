"""When a fact may become another without anything being written."""

from __future__ import annotations

from collections.abc import Iterator

from ..assertions import Recorded
from ..policy import Policy
from ..registry import Registry
from .living import Living


def due(living: Living, policy: Policy, registry: Registry, after: int) -> int | None:
    """
    Give the next time at which the outcome may change by itself.

    That is where something begins or ceases to hold, where an observation that is dated ahead is
    no longer (RF-43), and where a resolution ends.

    Args:
        living: What counts.
        policy: Facts whose attribute it does not declare only begin and cease.
        registry: Has the skews of the sources.
        after: The time is later than this, in microseconds.

    Returns:
        The time in microseconds; None: it does not change.

    """
    times = [*_ends(living)]
    for one in living.assertions:
        times += _turns(one, policy, registry)
    return min((time for time in times if time > after), default=None)


def _ends(living: Living) -> Iterator[int]:
    for one in living.receipts:
        if one.until is not None:
            yield one.until


def _turns(one: Recorded, policy: Policy, registry: Registry) -> Iterator[int]:
    said = one.assertion
    if said.valid_from is not None:
        yield said.valid_from.start
    if said.valid_to is not None:
        yield said.valid_to.start
    if said.observed_at is not None and policy.attribute(said.key.attribute) is not None:
        yield said.observed_at.start - registry.skew(said.source)
