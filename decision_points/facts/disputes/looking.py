"""Which disputes there are, and which is the most urgent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..entries import Passed, Receipt
from ..errors import Refused
from .dispute import LIVE, Dispute, State
from .queue import ordered, passed
from .standing import Present, present

if TYPE_CHECKING:
    from ....gateway.gateway import Gateway
    from ..ledger.ledger import Ledger
    from ..ledger.view import View

SHORTEST = 4  # digits of an id that may be enough


class Looking:
    """
    The disputes of a namespace, as they are read.

    Args:
        ledger: The log and what is worked out of it.
        clock: Gives the time in microseconds since the epoch.

    """

    def __init__(self, ledger: Ledger, clock: Callable[[], int]) -> None:
        self._ledger, self._clock = ledger, clock

    def _heed(self, gateway: Gateway | None = None) -> None:
        """Take what persons said meanwhile; here nobody says anything."""

    def list(self, states: Collection[State] = LIVE) -> tuple[Dispute, ...]:
        """
        Give those in *states*, the most urgent first: by what hangs on them, then by age (RF-58).

        One whose lease is up counts as nobody's. What persons said in the inbox of the store's own
        database meanwhile is taken first, and what is due by now.
        """
        self._heed()
        wide = {*states, "assigned"} if {*states} & {*LIVE} else {*states}
        with self._view() as view:
            found = [one.at(self._clock()) for one in view.disputes(states=tuple(sorted(wide)))]
            return ordered(view, [one for one in found if one.state in states])

    def get(self, id: str) -> Dispute:  # noqa: A002 - the dispute's
        """
        Give one.

        Raises:
            Refused: There is no such dispute.

        """
        return self._present(id).dispute

    def find(self, prefix: str) -> str:
        """
        Give the id that begins so, if only one does; four digits may be enough.

        Raises:
            Refused: None does, several do, or they are too few digits.

        """
        with self._view() as view:
            found = [one.id for one in view.disputes() if one.id.startswith(f"{prefix}")]
        if prefix in found:
            return prefix
        if len(found) != 1 or len(prefix) < SHORTEST:
            how = "several disputes have an id" if found else "no dispute has an id"
            raise Refused("no_dispute", f"{how} that begins with {prefix!r}", "List them")
        return found[0]

    def receipts(self, id: str) -> tuple[Receipt, ...]:  # noqa: A002 - the dispute's
        """
        Give the receipts of a dispute, in the order of the log, also those that count no more.

        Raises:
            Refused: There is no such dispute.

        """
        with self._view() as view:
            dispute = present(view, id, self._clock()).dispute
            given = view.entries(dispute.key, kinds=("resolved",))
            found = {one.id: one.entry for one in given}
        named = (found.get(one) for one in dispute.receipts)
        return tuple(one for one in named if isinstance(one, Receipt))

    def overdue(self) -> tuple[tuple[Dispute, int], ...]:
        """Give those that wait too long, and how many bounds of the policy they have passed."""
        with self._view() as view:
            bounds = view.versions()[0].disputes.escalate_seconds
        aged = [(one, passed(one, bounds, self._clock())) for one in self.list()]
        return tuple((one, times) for one, times in aged if times)

    @contextmanager
    def _view(self) -> Generator[View]:
        """Read, with what others have written taken in, and what time has brought since."""
        self._ledger.catch_up()
        self._pass()
        with self._ledger.view() as view:
            yield view

    def _pass(self) -> None:
        """Note that the time has come of facts that may be others by now: a receipt is over."""
        with self._ledger.view() as view:
            due = view.due(self._clock())
        if due:
            self._ledger.load(Passed(key=key, at=at) for key, at in due)

    def _present(self, id: str) -> Present:  # noqa: A002 - the dispute's
        with self._view() as view:
            return present(view, id, self._clock())
