"""A dispute: the candidates that nothing decides between, and what became of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ..entries import Party
from ..keys import FactKey
from ..outcomes import Candidate

State: TypeAlias = Literal["open", "assigned", "resolved", "dismissed", "auto_closed", "reopened"]
"""
`auto_closed`: the rule decides now, or the candidates are others, in a revision of this one;
`dismissed`: both are legitimate, and the fact has to be split.
"""

LIVE: tuple[State, ...] = ("open", "assigned", "reopened")
"""Those in which somebody may take and resolve it."""

LISTED = 16
"""Candidates that stay listed of a dispute that was never settled, and that another follows."""


class Dispute(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    A dispute of one fact, as it stands (RF-51).

    Attributes:
        id: Hash of the fact and its candidates (RF-50).
        key: The fact.
        state: Where it stands.
        revision: How many disputes of this fact it follows, from 1.
        former: The id of the one that it follows; empty: none.
        candidates: What it is between, by id; none where they were more than `LISTED`, and it was
            closed without a receipt and others followed.
        reason: Why nothing decided.
        opened_at: When it was opened first, in microseconds since the epoch.
        assigned_to: Whose it is; empty: nobody's.
        party: Whether that is a person or an agent.
        until: Until when it is theirs, exclusive, in microseconds; 0: it is nobody's.
        receipts: Ids of its resolutions, in the order of the log.
        reopened: How often it was opened again, or 1 where it follows one that was settled.
        escalated: Why a person has to decide it; empty: none has.
        waiting: Id of the decision under which it waits in the inbox; empty: it does not.
        reads: Sources read for it so far.
        tokens: Tokens spent on it so far.
        cost_usd: US dollars spent on it so far.

    """

    id: str
    key: FactKey
    state: State = "open"
    revision: int = 1
    former: str = ""
    candidates: tuple[Candidate, ...] = ()
    reason: str = ""
    opened_at: int = 0
    assigned_to: str = ""
    party: Party = "agent"
    until: int = 0
    receipts: tuple[str, ...] = ()
    reopened: int = 0
    escalated: str = ""
    waiting: str = ""
    reads: int = 0
    tokens: int = 0
    cost_usd: float = 0.0

    @property
    def live(self) -> bool:
        """Whether it still waits for a resolution."""
        return self.state in LIVE

    @property
    def seen(self) -> tuple[str, ...]:
        """Ids of the candidates, sorted: what a resolver has to have seen (RF-54)."""
        return tuple(sorted(one.id for one in self.candidates))

    def holder(self, at: int) -> str:
        """Name whose it is *at* a time in microseconds; empty: nobody's, or their time is up."""
        return self.assigned_to if self.state == "assigned" and at < self.until else ""

    def at(self, moment: int) -> Dispute:
        """Give it as it is at a *moment* in microseconds: a lease that is up gives it back."""
        return self if self.state != "assigned" or self.holder(moment) else self.freed()

    def freed(self) -> Dispute:
        """Give it as nobody's."""
        state: State = "reopened" if self.reopened else "open"
        return msgspec.structs.replace(self, state=state, assigned_to="", until=0)

    def ended(self, state: State) -> Dispute:
        """Give it in a *state* in which nobody works on it."""
        return msgspec.structs.replace(self, state=state, assigned_to="", until=0)

    def followed(self) -> Dispute:
        """Give it where another stands: a long list is left out, for each may list all before."""
        over = self.state == "auto_closed" and not self.receipts
        long = over and len(self.candidates) > LISTED
        return msgspec.structs.replace(self, candidates=()) if long else self

    def again(self) -> Dispute:
        """Give it opened again: nobody's; a person who was asked may still be heard."""
        return msgspec.structs.replace(
            self,
            state="reopened",
            assigned_to="",
            until=0,
            reopened=self.reopened + 1,
            escalated="",
        )
