"""What persons said in the inbox about disputes, made into receipts; none of it is lost."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ....gateway.errors import JournalDown
from ..entries import Escalated
from ..errors import Refused, Superseded
from ..fact_dispute import UNRESOLVED
from .checking import NAME, fitting
from .ended import Ending, Settled
from .plea import Plea
from .settling import SOMEBODY, Asked, Settling
from .showing import state_of
from .standing import present

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....gateway.gateway import Gateway
    from ....gateway.inbox.entries import Resolution
    from ..entries import Receipt
    from ..ledger.view import View
    from .dispute import Dispute

LATER = frozenset({"assigned", "dismissed"})
"""Why a word does not count yet: it is kept, and heard again."""


class Hearing(Settling):
    """The disputes of a namespace, as persons settle them in the inbox."""

    def heard(self, gateway: Gateway | None = None) -> tuple[Settled, ...]:
        """
        Take what persons said in the inbox; each word becomes a receipt of a person, once.

        A word that does not count is noted, and the dispute stays open: with a gateway it is put
        to the inbox again, and so is the revision that it has become meanwhile. A word that cannot
        count yet, as the dispute is another person's or put aside, is heard again.

        Args:
            gateway: Whose inbox; None: the one in the store's own database, if it has one.

        Returns:
            What came of each dispute that somebody said something about.

        Raises:
            JournalDown: The gateway's database does not answer.
            StoreDown: The store's own does not.
            SetupError: The gateway has no inbox.

        """
        with self._view() as view:
            waiting = tuple(view.disputes(waiting=True))
        if not waiting:
            return ()
        with self._inbox(gateway) as read:
            said = [(one, read(one.waiting)) for one in waiting]
        ended = [self._hear(one, word, gateway) for one, word in said if word is not None]
        return tuple(one for one in ended if one is not None)

    def _heed(self, gateway: Gateway | None = None) -> None:
        """Take what persons said meanwhile, in a gateway's inbox or in the store's own."""
        kept = None if gateway is None else gateway.settings.globals
        if kept is None or not (kept.journaled and kept.inbox):
            self.heard()
            return
        try:
            self.heard(gateway)
        except JournalDown:
            return  # what was said there is heard once it answers

    def _hear(self, dispute: Dispute, said: Resolution, gateway: Gateway | None) -> Settled | None:
        if not _decides(said):
            self._answer(dispute, UNRESOLVED, "")
            return None
        try:
            receipt = self._chosen(dispute.id, self._word(dispute, said), None)
        except Superseded as late:
            self._answer(dispute, "superseded", "")
            self._follow(dispute, gateway)
            return _told(dispute, "superseded", receipt=late.receipt, why="superseded")
        except Refused as refused:
            again = dispute.waiting
            if refused.code not in LATER:
                again = self._put(dispute.id, refused.code, gateway)
                self._answer(dispute, refused.code, again)
            return _told(dispute, "refused", why=refused.code, waiting=again)
        if receipt.decision != dispute.waiting:  # they had said the same elsewhere
            self._answer(dispute, "superseded", "")
        return _told(dispute, "resolved", receipt=receipt)

    def _word(self, dispute: Dispute, said: Resolution) -> Plea:
        with self._view() as view:
            most = view.versions()[0].limits.text_characters
        return Plea(
            choice=str(said.value),
            by=fitting(said.by, NAME) or SOMEBODY,
            party="person",
            seen=dispute.seen,
            reason=fitting(said.note, most),
            decision=dispute.waiting,
        )

    def _answer(self, dispute: Dispute, why: str, again: str) -> None:
        """Note, once, that what a person said does not count; and whether they are asked again."""
        at = self._clock()
        entry = Escalated(
            key=dispute.key,
            dispute=dispute.id,
            decision=again,
            answered=dispute.waiting,
            reason=why,
            at=at,
        )

        def check(view: View) -> None:
            if present(view, dispute.id, at).dispute.waiting != dispute.waiting:
                raise Superseded("somebody has heard it before")

        try:
            self._ledger.append(entry, check=check)
        except Superseded:
            return

    def _follow(self, dispute: Dispute, gateway: Gateway | None) -> None:
        """Ask a person about what a dispute has become, unless one is asked about that."""
        new = self._present(dispute.id).outcome.dispute
        if not new or new == dispute.id:
            return
        now = self.get(new)
        if not now.live or now.waiting:
            return
        try:
            self.escalate(new, "superseded", self._put(new, "superseded", gateway))
        except (Refused, Superseded):
            return  # it has become another again

    def _put(self, id: str, why: str, gateway: Gateway | None) -> str:  # noqa: A002 - the dispute's
        """Put a dispute to the inbox anew; empty: it is over, or there is no inbox to put it to."""
        with self._view() as view:
            now = present(view, id, self._clock())
            asked = Asked(dispute=now.dispute, state=state_of(view, now), holder="")
        if gateway is None or not (now.same and now.dispute.live):
            return ""
        return self._left(gateway, asked, None, why, None)

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


def _told(
    dispute: Dispute,
    ending: Ending,
    *,
    receipt: Receipt | None = None,
    why: str = "",
    waiting: str = "",
) -> Settled:
    return Settled(
        dispute=dispute.id,
        ending=ending,
        receipt=receipt,
        decision=dispute.waiting,
        waiting=bool(waiting),
        why=why,
    )


def _decides(said: Resolution) -> bool:
    """Whether it names a candidate; that nothing shows which one leaves the dispute open."""
    return isinstance(said.value, str) and said.value != UNRESOLVED
