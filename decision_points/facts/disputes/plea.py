"""What somebody wants a dispute to be resolved to."""

from __future__ import annotations

import msgspec

from ..entries import Party, Receipt
from .dispute import Dispute


class Plea(msgspec.Struct, frozen=True, kw_only=True):
    """
    Who wants to resolve a dispute, how, and what the receipt is to say of it.

    Attributes:
        choice: The id of a candidate.
        by: Who.
        party: A person or an agent.
        seen: Ids of the candidates that they saw; None: those of the dispute that they name.
        holder: Under whose lease they act; empty: under their own.
        brings: The choice may be no candidate yet, since its value is only brought.
        brought: Id of an assertion that was made for it, by the same call; empty: none was.
        reason: Why.
        evidence: What was read for it.
        until: Until when it holds, in microseconds; None: until the set changes.
        seconds: How long it took; None: not known.
        cost_usd: What it cost; None: not known.
        decision: The id of the decision that it was; empty: it was none.
        fallback: Whether it was not who was planned that answered.

    """

    choice: str
    by: str
    party: Party
    seen: tuple[str, ...] | None = None
    holder: str = ""
    brings: bool = False
    brought: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    until: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    decision: str = ""
    fallback: bool = False

    def gave(self, receipt: Receipt | None) -> bool:
        """Whether a *receipt* is this one's, given before."""
        return receipt is not None and (receipt.choice, receipt.resolver, receipt.party) == (
            self.choice,
            self.by,
            self.party,
        )

    def receipt(
        self, dispute: Dispute, upon: tuple[str, ...], at: int, overrides: tuple[str, ...]
    ) -> Receipt:
        """Write the receipt of a *dispute*, *upon* these assertions, at a time in microseconds."""
        return Receipt(
            key=dispute.key,
            dispute=dispute.id,
            revision=dispute.revision,
            seen=dispute.seen,
            upon=upon,
            choice=self.choice,
            resolver=self.by,
            party=self.party,
            reason=self.reason,
            evidence=self.evidence,
            at=at,
            until=self.until,
            seconds=self.seconds,
            cost_usd=self.cost_usd,
            decision=self.decision,
            fallback=self.fallback,
            overrides=overrides,
        )
