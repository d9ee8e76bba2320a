"""What a synthesis loses of its confidence for how the debate went (DC-09, AM-27, AM-28)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from .rules import Penalties

TIMEOUT = -10.0  # a role, or the whole debate, ran out of time
LOOP = -20.0  # the positions came back unchanged
BREAKER = -15.0  # the debate was stopped, it did not end
RETRIEVAL = -5.0  # something that was looked for could not be had


class Adjusted(msgspec.Struct, frozen=True):
    """
    A confidence before and after.

    Attributes:
        raw: In percent, as the roles say.
        value: In percent, in [0, 100].
        parts: Cause → points.

    """

    raw: float
    value: float
    parts: Mapping[str, float] = {}


def adjusted(
    raw: float,
    how: Penalties,
    *,
    timeout: bool = False,
    loop: bool = False,
    breaker: bool = False,
    retrieval: bool = False,
) -> Adjusted:
    """
    Take the penalties off a *raw* confidence and keep it in [0, 100].

    A loop always trips the breaker, so that under `dedup` it counts instead of it; a timeout and a
    failed retrieval are causes of their own and add. `sum` takes all, `off` none.

    >>> adjusted(85, "dedup", timeout=True, loop=True, breaker=True, retrieval=True).value
    50.0
    >>> adjusted(85, "sum", timeout=True, loop=True, breaker=True, retrieval=True).value
    35.0
    """
    parts = {
        "timeout": TIMEOUT if timeout else 0.0,
        "loop": LOOP if loop else 0.0,
        "breaker": BREAKER if breaker and not (loop and how == "dedup") else 0.0,
        "retrieval": RETRIEVAL if retrieval else 0.0,
    }
    kept = {} if how == "off" else {cause: points for cause, points in parts.items() if points}
    return Adjusted(raw, min(100.0, max(0.0, raw + sum(kept.values()))), kept)
