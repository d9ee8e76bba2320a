"""The order in which disputes wait: what hangs on them, then how long they wait (RF-58)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .dispute import Dispute

if TYPE_CHECKING:
    from ..keys import FactKey
    from ..ledger.view import View

SECOND = 1_000_000  # microseconds


def ordered(view: View, disputes: Sequence[Dispute]) -> tuple[Dispute, ...]:
    """
    Give *disputes*, the most urgent first.

    Weight is the number of facts derived from it times that of decisions that read it, each
    counted from one, so that either alone counts too; then the oldest, then by id.
    """
    weight = _weights(view, disputes)
    return tuple(sorted(disputes, key=lambda one: (-weight[one.key], one.opened_at, one.id)))


def _weights(view: View, disputes: Sequence[Dispute]) -> dict[FactKey, int]:
    keys = {one.key for one in disputes}
    return {key: (1 + len(view.dependents(key))) * (1 + _reads(view, key)) for key in keys}


def _reads(view: View, key: FactKey) -> int:
    """Count the decisions that a fact was read for; none of them is looked at."""
    from ..ledger.rows import marks  # which is made of disputes

    names = [str(one) for one in view.settings.aliases.keys(key)]
    found = view.line.execute(
        "SELECT COUNT(*) FROM facts_log WHERE namespace = ? AND kind = 'used'"  # noqa: S608 - fixed texts
        f" AND position <= ? AND key IN ({marks(len(names))})",
        (view.namespace, view.position, *names),
    ).fetchone()
    return 0 if found is None else int(found[0])


def passed(dispute: Dispute, bounds: Sequence[float], now: int) -> int:
    """Count the *bounds*, in seconds, that a dispute has waited for longer than, at *now*."""
    return sum(now - dispute.opened_at >= round(one * SECOND) for one in bounds)
