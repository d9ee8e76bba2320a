"""Consulting: the host asks beside its own path, and tells what that path decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cases import Case
from .deciding import run_async, run_sync
from .engine import consult
from .recording import recorded
from .settings import CURRENT

if TYPE_CHECKING:
    from .records import Decision
    from .wiring import Wiring


class Consultation:
    """
    One consultation, from `Gateway.consultation`.

    `ask` or `ask_sync` gives the decision, or None when `current` should carry on; then
    `observe` tells what current did, so that shadows and splits can compare.
    """

    def __init__(self, wiring: Wiring, case: Case) -> None:
        self._wiring = wiring
        self._case = case
        self._asked = False
        self._told = False
        self.decision: Decision[Any] | None = None

    @property
    def id(self) -> str:
        """The decision's id, also where current decides."""
        return self._case.id

    async def ask(self) -> Decision[Any] | None:
        """
        Ask the planned provider, once; None: carry on with current.

        Raises:
            NoAnswer: It is not believed, and the plan has no fallback.

        """
        if self._begins():
            self.decision = await run_async(self._wiring, consult, self._case)
        return self.decision

    def ask_sync(self) -> Decision[Any] | None:
        """As `ask`, on this thread."""
        if self._begins():
            self.decision = run_sync(self._wiring, consult, self._case)
        return self.decision

    def observe(self, value: object) -> None:
        """Tell what current decided: the record of the same id, completed; once."""
        if self.decision is None and not self._told and self._watched:
            self._told = True
            record = recorded(self._case, CURRENT, self._case.read(value))
            keeper = self._wiring.keeper
            take = keeper.completed if self._asked else keeper.observed
            take(self._wiring, self._case, record, value)

    def __del__(self) -> None:
        """Keep what was asked in vain, or assigned, though nobody told what current did."""
        keeper, case = self._wiring.keeper, self._case
        assigned = case.exposure is not None and self._asked  # both arms of a split are counted
        if (case.attempts or assigned) and self.decision is None and not self._told:
            keeper.unobserved(self._wiring, case, recorded(case, CURRENT))

    @property
    def _watched(self) -> bool:
        case = self._case
        seen = self._wiring.keeper.watched or case.attempts or case.besides
        return bool(seen) and not case.stands

    def _begins(self) -> bool:
        begins = not self._asked
        self._asked = True
        stands = self._case.once is not None
        return begins and (self._case.planned is not None or stands or self._wiring.keeper.watched)
