"""
What nothing decides between, and how it is settled: disputes, receipts, leases, persons, providers.

`advancing` works out of the log which disputes there are, `events` what is told of it. What a
store holds of them is `Disputes`, in parts: `looking` lists them, `moving` leases them and puts
them aside, `resolving` writes receipts, `settling` asks a provider, `hearing` takes what persons
said in the inbox, `investigating` reads one more source. `standing` judges each move where it is
written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .advancing import advanced, conflicting
from .dispute import Dispute, State
from .events import Event, EventKind, Standing, announced, gone_stale

if TYPE_CHECKING:
    from .ended import Settled
    from .investigating import Disputes

__all__ = [
    "Dispute",
    "Disputes",
    "Event",
    "EventKind",
    "Settled",
    "Standing",
    "State",
    "advanced",
    "announced",
    "conflicting",
    "gone_stale",
]


def __getattr__(name: str) -> object:
    if name == "Disputes":
        from .investigating import Disputes

        return Disputes
    if name == "Settled":
        from .ended import Settled

        return Settled
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
