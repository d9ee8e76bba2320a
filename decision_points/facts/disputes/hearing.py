"""What persons said in the inbox about disputes, made into receipts."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from ..dispute import UNRESOLVED
from ..errors import Refused, Superseded
from .plea import Plea
from .settling import SOMEBODY, Settled, Settling

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....gateway.gateway import Gateway
    from ....gateway.inbox.entries import Resolution
    from .dispute import Dispute


class Hearing(Settling):
    """The disputes of a namespace, as persons settle them in the inbox."""

    def heard(self, gateway: Gateway | None = None) -> tuple[Settled, ...]:
        """
        Take what persons said in the inbox; each word becomes a receipt of a person, once.

        Args:
            gateway: Whose inbox; None: the one in the store's own database, if it has one.

        Returns:
            What came of each dispute that somebody said something about.

        Raises:
            JournalDown: The gateway's database does not answer.
            StoreDown: The store's own does not.
            SetupError: The gateway has no inbox.

        """
        waiting = [one for one in self.list() if one.waiting]
        if not waiting:
            return ()
        with self._inbox(gateway) as read:
            said = [(one, read(one.waiting)) for one in waiting]
        return tuple(
            self._hear(one, word) for one, word in said if word is not None and _decides(word)
        )

    def _hear(self, dispute: Dispute, said: Resolution) -> Settled:
        plea = Plea(
            choice=str(said.value),
            by=said.by or SOMEBODY,
            party="person",
            seen=dispute.seen,
            reason=said.note,
            decision=dispute.waiting,
        )
        told = Settled(dispute=dispute.id, ending="resolved", decision=dispute.waiting)
        try:
            receipt = self._chosen(dispute.id, plea, None)
        except Superseded as late:
            return msgspec.structs.replace(
                told, ending="superseded", receipt=late.receipt, why="superseded"
            )
        except Refused as refused:
            return msgspec.structs.replace(told, ending="refused", why=refused.code)
        return msgspec.structs.replace(told, receipt=receipt)

    @contextmanager
    def _inbox(self, gateway: Gateway | None) -> Generator[Callable[[str], Resolution | None]]:
        if gateway is not None:
            yield gateway.resolution
            return
        yield self._own_inbox()

    def _own_inbox(self) -> Callable[[str], Resolution | None]:
        """Read the inbox of the own database; where there is none, nobody said a word."""
        from sqlalchemy import inspect

        from ....gateway.journal.boxing import Box

        database = self._ledger.database
        with database.transaction("read") as connection:
            there = inspect(connection).has_table("inbox")
        return Box(database).resolution if there else lambda _: None


def _decides(said: Resolution) -> bool:
    """Whether it names a candidate; that nothing shows which one leaves the dispute open."""
    return isinstance(said.value, str) and said.value != UNRESOLVED
