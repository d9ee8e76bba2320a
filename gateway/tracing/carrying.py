"""Where an ask that leaves for a provider meets who traces it; knows nothing of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..questions import Ask
    from ..resilience import Lane


class Carries(Protocol):
    """Traces one attempt."""

    def leaves(self, lane: Lane, ask: Ask) -> None:
        """Learn what a lane's provider is shown: masked, where it is masked."""
        ...

    def headers(self, url: str) -> Mapping[str, str]:
        """Give what goes along with a request to *url*."""
        ...


carried: ContextVar[Carries | None] = ContextVar("pointsman_carried", default=None)
"""Who traces the attempt that runs in this context; None: nobody does."""


def leaves(lane: Lane, ask: Ask) -> None:
    """Tell who traces the attempt what it shows a provider."""
    if (watcher := carried.get()) is not None:
        watcher.leaves(lane, ask)
