"""How a gateway is seen from outside: by who watches its decisions, and who asks how it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .discovery import named
from .lifecycle import Lifecycle
from .plugins import Observer
from .resilience import Health

if TYPE_CHECKING:
    from .journal.backlog import Backlog


class Watched(Lifecycle):
    """A gateway that tells how its providers do, and that a server may take over."""

    def health(self) -> tuple[Health, ...]:
        """
        Tell how each provider does that was made so far; nothing is asked.

        A provider that is asked for trial too is told once: with its operator's fault, if it has
        one on either side, and as paused only where its answers are acted on.
        """
        seen: dict[str, Health] = {}
        for lane in sorted(self._wiring.lanes, key=lambda one: one.on_trial):
            health = lane.health
            before = seen.get(health.provider)
            if before is None or (before.fault is None and health.fault is not None):
                paused = not lane.on_trial and health.paused if before is None else before.paused
                seen[health.provider] = Health(health.provider, health.model, health.fault, paused)
        return tuple(seen.values())

    def backlog(self) -> Backlog | None:
        """Tell what the journal has not written, in this process; None where none is kept."""
        journal = self._wiring.keeper.journal
        return None if journal is None else journal.backlog

    def take_over(self, observers: Sequence[Observer]) -> None:
        """
        Decide for others than the host from now on, and tell *observers* too.

        A provider stands in for `current` then: what the host wraps is not run for a stranger.

        Raises:
            SetupError: Something is wrong with the variables, as they are now.

        """
        self._observers = (*self._observers, *named(observers))
        self._stand_in = True
        self.reload()
