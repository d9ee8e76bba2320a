"""Whose a dispute is, and how it is put aside or opened again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..entries import Assigned, Dismissed, Escalated, Party, Withdrawn
from ..errors import Refused, Superseded
from .dispute import Dispute
from .looking import Looking
from .standing import given, live, not_anothers, not_held, present

if TYPE_CHECKING:
    from ..ledger.view import View

SECOND = 1_000_000  # microseconds
NAME = 200  # characters of who does something


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
            Refused: It is somebody else's for now, put aside, or there is none.
            Superseded: It is over.

        """
        named(to)
        with self._view() as view:
            found = present(view, id, self._clock()).dispute
            lease = view.versions()[0].disputes.lease_seconds if seconds is None else seconds
        now = self._clock()
        until = now + round(lease * SECOND)
        entry = Assigned(key=found.key, dispute=id, to=to, party=party, until=until, at=now)
        self._ledger.append(entry, check=partial(self._takes, id, to, party))
        return self.get(id)

    def release(self, id: str, by: str) -> Dispute:  # noqa: A002 - the dispute's
        """
        Give a dispute back before its time is up.

        Raises:
            Refused: It is not theirs.

        """
        found, now = self.get(id), self._clock()
        entry = Assigned(key=found.key, dispute=id, to=by, party=found.party, until=now, at=now)
        self._ledger.append(entry, check=partial(self._holds, id, by))
        return self.get(id)

    def next(
        self, assignee: str, *, party: Party = "agent", seconds: float | None = None
    ) -> Dispute | None:
        """Make the most urgent dispute that is nobody's theirs; None: none waits for them."""
        for one in self.list(("open", "reopened")):
            if assignee in self._present(one.id).authors:
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
            target: The id of a receipt or dismissal; empty: what counts.

        Raises:
            Refused: Nothing counts, or it is not theirs.

        """
        named(by)
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
        found, now = self.get(id), self._clock()
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


def named(who: str) -> None:
    """
    Check who does something.

    Raises:
        Refused: Nobody is named, or at too great a length.

    """
    if not who.strip():
        raise Refused("no_resolver", "nobody is named", "Say who: `by=`")
    if len(who) > NAME:
        raise Refused("too_long", f"a name has at most {NAME} characters")


def bounded(view: View, *texts: str) -> None:
    """
    Check reasons and references.

    Raises:
        Refused: One is longer than the policy lets it be, or there are too many.

    """
    limits = view.versions()[0].limits
    if len(texts) > limits.inputs:
        raise Refused("too_many", f"at most {limits.inputs:,} references are kept")
    if any(len(one) > limits.text_characters for one in texts):
        most = f"{limits.text_characters:,}"
        raise Refused("too_long", f"a reason or a reference has at most {most} characters")
