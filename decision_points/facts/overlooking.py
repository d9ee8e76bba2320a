"""What an operator asks of a store: what would change, who was right, what rests on what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from .entries import Quarantined
from .keeping import NOTHING, Keeping, Rules
from .keys import FactKey
from .policy import Policy, policy_of
from .registry import Registry, registry_of
from .stating import Time
from .times import instant

if TYPE_CHECKING:
    from .auditing import Audit
    from .dependents import Impact
    from .ledger.exporting import Imported
    from .ledger.verifying import Verified
    from .whatif import WhatIf


class Overlooking(Keeping):
    """One namespace of facts, looked at as a whole."""

    def what_if(
        self,
        policy: Rules | Policy | None = None,
        registry: Rules | Registry | None = None,
        *,
        keys: Iterable[FactKey] | None = None,
        quarantine: Quarantined | None = None,
        rows: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> WhatIf:
        """
        Compare what facts come to with what they would under other rules; nothing is written.

        Args:
            policy: Another policy; None: the one that holds.
            registry: Another registry; None: the one that holds.
            keys: Only these facts; None: all.
            quarantine: One that would be made; or, with `lifts`, ended.
            rows: How many facts that change are listed; None: as many as usual.
            progress: Told how many facts are done.

        Raises:
            SetupError: A policy or registry is faulty.

        """
        from .whatif import Asked, what_if

        asked = Asked(
            policy=None if policy is None else policy_of(policy),
            registry=None if registry is None else registry_of(registry),
            quarantine=quarantine,
            keys=keys,
            at=self._clock(),
            progress=progress,
        )
        with self.view() as view:
            return what_if(view, asked if rows is None else asked._replace(rows=rows))

    def audit(
        self, *, agents: bool = False, progress: Callable[[int], None] | None = None
    ) -> Audit:
        """
        Count how often each source was right, as resolutions and persons say (RF-21).

        Args:
            agents: Count what agents resolved, too.
            progress: Told how many facts are done.

        """
        from .auditing import audit

        with self.view() as view:
            return audit(view, self._clock(), agents=agents, progress=progress)

    def impact(
        self,
        entity: str | FactKey,
        attribute: str = "",
        *,
        qualifiers: Mapping[str, str] = NOTHING,
        since: Time | None = None,
    ) -> Impact:
        """List the decisions and derived facts that rest on a fact, from a time on (RF-67)."""
        from .dependents import impact

        key = self.key(entity, attribute, qualifiers)
        with self.view() as view:
            return impact(view, key, None if since is None else instant(since), self._clock())

    def counts(self) -> dict[str, int]:
        """Say how many facts there are of each status, as they were when they were touched last."""
        self.ledger.catch_up()
        with self.view() as view:
            return view.counts()

    # --- the log ----------------------------------------------------------------------------

    def export(self) -> Iterator[str]:
        """Give everything that was ever written, as JSON lines; what was erased without content."""
        from .ledger.exporting import export

        with self.view() as view:
            yield from export(view)

    def import_(self, lines: Iterable[str], *, restore: bool = False) -> Imported:
        """
        Take in what `export` gave: then both stores' writers were here all along (RF-77).

        Args:
            lines: The export.
            restore: Into an empty namespace, with the times of the other store.

        Raises:
            Refused: It is no export, not a whole one, or another namespace's; or there is
                something to restore into already. Nothing is written.

        """
        from .ledger.exporting import import_

        return import_(self.ledger, lines, restore=restore)

    def verify(
        self, *, repair: bool = False, progress: Callable[[int], None] | None = None
    ) -> Verified:
        """
        Work everything out again from the log and compare it byte for byte (RF-73).

        Args:
            repair: Where something differs, work it out anew for good.
            progress: Told how many entries are done.

        """
        from .ledger.verifying import verify

        return verify(self.ledger, repair=repair, progress=progress)
