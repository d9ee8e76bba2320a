"""Whose a dispute is, and how it is put aside or opened again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..entries import Assigned, Dismissed, Escalated, Party, Withdrawn
from ..errors import Refused, Superseded
from .checking import SECOND, among, bounded, micros, named, sort_of
from .dispute import Dispute
from .looking import Looking
from .standing import given, live, not_anothers, not_held, present

if TYPE_CHECKING:
    from ..ledger.view import View


class Moving(Looking):
    """The disputes of a namespace, as they are taken and put aside (RF-51)."""

    def assign(
        self,
        id: str,  # noqa: A002 - the dispute's
        to: str,
        *,
        party: Party = "agent",
        seconds: float | None = None,
    ) -> Dispute:
        """
        Make a dispute somebody's for a time, after which it is anybody's again.

        Args:
            id: The dispute's.
            to: Whose it is to be; their own is renewed.
            party: A person or an agent; a person may take it from an agent.
            seconds: For how long; absent: as the policy says.

        Raises:
            Refused: It is somebody else's for now, put aside, or there is none; or what is given
                is no name, no party, or no time up to a year.
            Superseded: It is over.

        """
        named(to)
        sort_of(party)
        lease = None if seconds is None else micros(seconds)
        with self._view() as view:
            found = present(view, id, self._clock()).dispute
            if lease is None:
                lease = round(view.versions()[0].disputes.lease_seconds * SECOND)
        now = self._clock()
        until = now + lease
        entry = Assigned(key=found.key, dispute=id, to=to, party=party, until=until, at=now)
        self._ledger.append(entry, check=partial(self._takes, id, to, party))
        return self.get(id)

    def release(self, id: str, by: str) -> Dispute:  # noqa: A002 - the dispute's
        """
        Give a dispute back before its time is up.

        Raises:
            Refused: It is not theirs.

        """
        named(by)
        found, now = self.get(id), self._clock()
        entry = Assigned(key=found.key, dispute=id, to=by, party=found.party, until=now, at=now)
        self._ledger.append(entry, check=partial(self._holds, id, by))
        return self.get(id)

    def next(
        self, assignee: str, *, party: Party = "agent", seconds: float | None = None
    ) -> Dispute | None:
        """
        Make the most urgent dispute that is nobody's theirs; None: none waits for them.

        Raises:
            Refused: What is given is no name, no party, or no time up to a year.

        """
        named(assignee)
        sort_of(party)
        if seconds is not None:
            micros(seconds)
        for one in self.list(("open", "reopened")):
            if among(assignee, self._present(one.id).authors):
                continue  # RF-57: their own word is for others to judge
            try:
                return self.assign(one.id, assignee, party=party, seconds=seconds)
            except (Refused, Superseded):
                continue  # somebody was faster
        return None

    def dismiss(
        self,
        id: str,  # noqa: A002 - the dispute's
        *,
        by: str,
        party: Party = "person",
        reason: str,
    ) -> Dispute:
        """
        Put a dispute aside: both are legitimate, and the fact has to be split (RF-51).

        The fact stays disputed.

        Raises:
            Refused: It is somebody else's for now, put aside already, or there is none.
            Superseded: It is over.

        """
        named(by)
        sort_of(party)
        with self._view() as view:
            found = present(view, id, self._clock()).dispute
            bounded(view, reason)
        now = self._clock()
        entry = Dismissed(key=found.key, dispute=id, by=by, party=party, reason=reason, at=now)
        self._ledger.append(entry, check=partial(self._takes, id, by, party))
        return self.get(id)

    def withdraw(
        self,
        id: str,  # noqa: A002 - the dispute's
        *,
        by: str,
        party: Party = "person",
        reason: str,
        target: str = "",
    ) -> Dispute:
        """
        Take back a resolution or a dismissal, so that all is as before it (RF-49).

        Args:
            id: The dispute's.
            by: Who takes it back; an agent only what it gave itself.
            party: A person or an agent.
            reason: Why.
            target: The id of a receipt or dismissal of this dispute; empty: what counts.

        Raises:
            Refused: Nothing of this dispute counts, or it is not theirs.

        """
        named(by)
        sort_of(party)
        with self._view() as view:
            now = present(view, id, self._clock())
            what = given(view, now, target)
            bounded(view, reason)
        at = self._clock()
        entry = Withdrawn(key=now.dispute.key, target=what.id, by=by, reason=reason, at=at)

        def check(view: View) -> None:
            not_anothers(given(view, present(view, id, at), what.id), by, party)

        self._ledger.append(entry, check=check)
        return self.get(id)

    def escalate(self, id: str, reason: str, decision: str = "") -> Dispute:  # noqa: A002
        """
        Say that a person has to resolve a dispute.

        Args:
            id: The dispute's.
            reason: Why.
            decision: The decision under which it waits in the inbox; empty: it does not.

        Raises:
            Refused: It is put aside, or there is none.
            Superseded: It is over.

        """
        with self._view() as view:
            found = present(view, id, self._clock()).dispute
            bounded(view, reason, decision)
        now = self._clock()
        entry = Escalated(key=found.key, dispute=id, decision=decision, reason=reason, at=now)
        self._ledger.append(entry, check=lambda view: live(present(view, id, now)))
        return self.get(id)

    def _takes(self, id: str, by: str, party: Party, view: View) -> None:  # noqa: A002
        now = present(view, id, self._clock())
        live(now)
        not_held(now.dispute, by, party)

    def _holds(self, id: str, by: str, view: View) -> None:  # noqa: A002 - the dispute's
        dispute = present(view, id, self._clock()).dispute
        if dispute.assigned_to != by or not by:
            raise Refused("assigned", "it is not theirs to give back", "Look whose it is")
