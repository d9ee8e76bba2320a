"""Asking FACT_DISPUTE about a dispute, and what its answer makes of it (RF-38, RF-40)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from ....gateway.chance import new_id
from ....gateway.errors import JournalDown, NoAnswer
from ....gateway.journal.troubles import StoreDown
from ....gateway.kinds import OPTIONS
from ....gateway.records import HUMAN
from ..entries import Receipt, Spent
from ..errors import Refused, Superseded
from ..fact_dispute import FACT_DISPUTE
from .dispute import Dispute
from .ended import Ending, Settled
from .plea import Plea
from .reckoning import cost_of, exhausted, tokens_of, unbelieved
from .resolving import Resolving, Validate
from .showing import alike, state_of
from .standing import live, present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....gateway.gateway import Gateway
    from ....gateway.plugins import Call
    from ....gateway.records import Attempt, Decision

SOMEBODY = "somebody"  # who decided without saying who they are
AGENT = "FACT_DISPUTE"  # whose a dispute is while a provider is asked


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """
    A dispute that is taken, and what is asked of it.

    Attributes:
        dispute: As it was seen.
        state: What is shown.
        holder: Under which name it is held meanwhile: of two who ask at once one waits.
        spent: Which budget is used up; empty: none is.

    """

    dispute: Dispute
    holder: str
    state: dict[str, Any]
    spent: str = ""


class Settling(Resolving):
    """The disputes of a namespace, as providers settle them."""

    async def settle(
        self,
        gateway: Gateway,
        id: str,  # noqa: A002 - the dispute's
        *,
        subject: str | None = None,
        within: Call | None = None,
        validate: Validate | None = None,
    ) -> Settled:
        """
        Ask FACT_DISPUTE about a dispute; where nobody answers it, leave it to a person.

        The provider that the point's variables name chooses among the candidates; a receipt of an
        agent says so, with what it cost. Whatever else comes of it leaves the dispute open, and
        the fact as it was: in the inbox if the gateway has one, else marked as a person's.

        Args:
            gateway: Asks.
            id: The dispute's.
            subject: Who it is about; absent: the session's.
            within: The call that this one is nested in.
            validate: As of `resolve`.

        Raises:
            Refused: There is no such dispute, it is somebody else's, or put aside.
            Superseded: It is over, or by now a person has decided it in the inbox.
            SetupError: The point's variables are wrong.

        """
        asked = await asyncio.to_thread(self._take, gateway, id)
        try:
            try:
                decision = (
                    None
                    if asked.spent
                    else await gateway.ask(
                        FACT_DISPUTE, asked.state, subject=subject, within=within
                    )
                )
            except NoAnswer as failed:
                return await asyncio.to_thread(self._failed, gateway, asked, failed, subject)
            return await asyncio.to_thread(self._end, gateway, asked, decision, subject, validate)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(self._let_go, id, asked.holder))
            raise

    def settle_sync(
        self,
        gateway: Gateway,
        id: str,  # noqa: A002 - the dispute's
        *,
        subject: str | None = None,
        within: Call | None = None,
        validate: Validate | None = None,
    ) -> Settled:
        """As `settle`, on this thread."""
        asked = self._take(gateway, id)
        try:
            try:
                decision = (
                    None
                    if asked.spent
                    else gateway.ask_sync(FACT_DISPUTE, asked.state, subject=subject, within=within)
                )
            except NoAnswer as failed:
                return self._failed(gateway, asked, failed, subject)
            return self._end(gateway, asked, decision, subject, validate)
        except BaseException:
            self._let_go(id, asked.holder)
            raise

    def _take(self, gateway: Gateway, id: str) -> Asked:  # noqa: A002 - the dispute's
        """Take a dispute, and show it as it is then."""
        self._heed(gateway)
        holder = f"{AGENT}-{new_id()[-8:]}"
        self.assign(id, holder)
        try:
            with self._view() as view:
                now = present(view, id, self._clock())
                live(now)
                spent = exhausted(now.dispute, view.versions()[0].disputes)
                state = state_of(view, now)
                spent = "too_many" if _too_many(state) else spent
                spent = "look_alike" if alike(state) else spent
                return Asked(dispute=now.dispute, state=state, holder=holder, spent=spent)
        except BaseException:
            self._let_go(id, holder)
            raise

    def _end(
        self,
        gateway: Gateway,
        asked: Asked,
        decision: Decision[Any] | None,
        subject: str | None,
        validate: Validate | None,
    ) -> Settled:
        """Take an answer for what it is: a candidate, or none."""
        if decision is None:
            return self._to_person(gateway, asked, None, asked.spent, subject)
        self._paid(asked, decision.attempts)
        why = unbelieved(decision)
        if why:
            return self._to_person(gateway, asked, decision, why, subject)
        plea = _plea(gateway, asked, decision)
        try:
            receipt = self._chosen(asked.dispute.id, plea, validate)
        except Superseded as late:
            self._let_go(asked.dispute.id, asked.holder)
            return _ended(asked, "superseded", decision, receipt=late.receipt, why="superseded")
        except Refused as refused:
            return self._to_person(gateway, asked, decision, refused.code, subject, "refused")
        return _ended(asked, "resolved", decision, receipt=receipt)

    def _failed(
        self, gateway: Gateway, asked: Asked, failed: NoAnswer, subject: str | None
    ) -> Settled:
        """No fallback, no answer: the fold's outcome stands (RF-40)."""
        self._paid(asked, failed.attempts)
        return self._to_person(gateway, asked, None, str(failed.reason), subject)

    def _to_person(
        self,
        gateway: Gateway,
        asked: Asked,
        decision: Decision[Any] | None,
        why: str,
        subject: str | None,
        ending: Ending = "unresolved",
    ) -> Settled:
        """Leave it to a person: in the inbox, if there is one; the dispute stays open."""
        waiting = self._left(gateway, asked, decision, why, subject)
        try:
            self.escalate(asked.dispute.id, why, waiting)
        except (Refused, Superseded):
            return _ended(asked, "superseded", decision, why="superseded")
        self._let_go(asked.dispute.id, asked.holder)
        return _ended(asked, ending, decision, why=why, waiting=waiting)

    @staticmethod
    def _left(
        gateway: Gateway,
        asked: Asked,
        decision: Decision[Any] | None,
        why: str,
        subject: str | None,
    ) -> str:
        """File it, unless it waits already; empty: there is no inbox, or it cannot take it."""
        kept, dispute = gateway.settings.globals, asked.dispute
        if not (kept.journaled and kept.inbox) or _too_many(asked.state):
            return ""
        reasons = [one for one in (dispute.reason, why, f"dispute:{dispute.id}") if one]
        try:
            if dispute.waiting and gateway.resolution(dispute.waiting) is None:
                return dispute.waiting
            return gateway.leave(
                FACT_DISPUTE, asked.state, decision=decision, reasons=reasons, subject=subject
            )
        except JournalDown:
            return ""

    def _paid(self, asked: Asked, attempts: Sequence[Attempt]) -> None:
        """Note what it cost, whatever came of it (RF-59)."""
        tokens, cost = tokens_of(attempts), cost_of(attempts)
        if not tokens and not cost:
            return
        entry = Spent(
            key=asked.dispute.key,
            dispute=asked.dispute.id,
            by=AGENT,
            tokens=tokens,
            cost_usd=cost or 0.0,
            at=self._clock(),
        )
        self._ledger.append(entry)

    def _let_go(self, id: str, holder: str) -> None:  # noqa: A002 - the dispute's
        """Give it back, where it is still theirs; where nothing can be written it ends in time."""
        try:
            self.release(id, holder)
        except (Refused, StoreDown):
            return


def _too_many(state: dict[str, Any]) -> bool:
    """Whether more candidates are left than can be asked about, beside that none is right."""
    return len(state["candidates"]) >= OPTIONS[1]


def _plea(gateway: Gateway, asked: Asked, decision: Decision[Any]) -> Plea:
    """Say who decided what: an agent, or a person who was waited for (RF-52)."""
    said = gateway.resolution(decision.record.id) if decision.provider == HUMAN else None
    return Plea(
        choice=str(decision.value),
        by=decision.provider if said is None else said.by or SOMEBODY,
        party="agent" if said is None else "person",
        seen=asked.dispute.seen,
        holder=asked.holder,
        reason="" if said is None else said.note,
        seconds=decision.record.seconds,
        cost_usd=cost_of(decision.attempts),
        decision=decision.record.id,
        fallback=decision.attempts[0].provider != decision.provider,
    )


def _ended(
    asked: Asked,
    ending: Ending,
    decision: Decision[Any] | None,
    *,
    receipt: Receipt | None = None,
    why: str = "",
    waiting: str = "",
) -> Settled:
    named = waiting or ("" if decision is None else decision.record.id)
    return Settled(
        dispute=asked.dispute.id,
        ending=ending,
        receipt=receipt,
        decision=named,
        waiting=bool(waiting),
        why=why,
    )
