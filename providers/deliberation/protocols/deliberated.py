"""What a protocol returns: everything about one deliberation on one subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from ....gateway.errors import Reason
from ..turns import Turn
from .stopping import StopReason
from .verification import Flagged

__all__ = ["ARMS", "Deliberated", "Latest", "Status", "latest", "ran_out", "spent"]

ARMS: Mapping[str, str] = {
    "generalist": "E_generalist",
    "independent": "F_independent",
    "structured_debate": "G_structured_debate",
    "debate_skeptic_verification": "H_debate_skeptic_verification",
    "placebo_debate": "I_placebo_debate",
    "cost_matched_single": "J_cost_matched_single",
}
"""Protocol → the experiment's arm; arms A–D are no deliberations."""

ANSWERS = ("estimate", "revision", "self_refine")
"""Kinds of turn that hold an estimate; a critique never does."""

INNER = ("limit:turn", "limit:round", "limit:provider")  # a deliberation goes on after these
UNASKED = "unasked"

Status = Literal["complete", "partial", "no_quorum"]


class Deliberated(msgspec.Struct, frozen=True, kw_only=True):
    """
    One deliberation, ended.

    Attributes:
        subject: What it was about.
        protocol: Its label: `independent`, `structured_debate`, `debate_skeptic_verification`,
            `placebo_debate` or `cost_matched_single`.
        arm: The experiment's arm.
        committee: Name of the panel.
        packet: Hash of the evidence.
        assignment: Member → provider.
        rounds: Rounds that were run; one in which nobody could be asked any more was not.
        planned: Rounds that were specified beforehand.
        turns: All turns, step by step, in the panel's order within a step.
        estimates: Member → final estimate, in the form's shape: what was aggregated.
        aggregate: What they come to; see the form.
        skeptic: The blinded skeptic's estimate, where there is one; in `estimates` only where
            its weight is above 0.
        stale: Members whose estimate is of an earlier round, because their revision failed.
        stop: Why no further round was run.
        agreed: Whether the final estimates, a skeptic's among them where it counts, lie within
            the agreement bound.
        would_have_stopped: The first round after which the stopping rule held and was not
            acted on: it was the last one, or the rule was only watched. None: it never was.
        spreads: How far estimates lay apart, after each round from round 0; None below two.
        status: `complete`; `partial`: a member is missing or stale, or time or money ran out;
            `no_quorum`: too few answered for a result that counts.
        responded: Members of the panel with a final estimate.
        expected: Members of the panel.
        missing: Members without one, and why.
        flags: What checks against the evidence found, and what became of it.
        unresolved: Members whose last estimate still has a flag.
        ratios: Of a cost-matched arm: calls, tokens and money, over the debate's; None where
            one is unknown.
        calls: Turns in which somebody was asked.
        tokens: Read and written, as far as known.
        cost_usd: US dollars as far as known, to 6 decimals.
        unpriced: Calls of which nobody knows the cost.
        seconds: From the beginning to the end of the last turn, to 3 decimals.
        notes: What else is worth knowing, in order.

    """

    subject: str
    protocol: str
    arm: str
    committee: str = ""
    packet: str
    assignment: Mapping[str, str]
    rounds: int
    planned: int
    turns: tuple[Turn, ...]
    estimates: Mapping[str, Any]
    aggregate: Mapping[str, Any]
    skeptic: Any = None
    stale: tuple[str, ...] = ()
    stop: StopReason
    agreed: bool = False
    would_have_stopped: int | None = None
    spreads: tuple[Mapping[str, float] | None, ...] = ()
    status: Status
    responded: int
    expected: int
    missing: Mapping[str, Reason] = {}
    flags: tuple[Flagged, ...] = ()
    unresolved: tuple[str, ...] = ()
    ratios: Mapping[str, float | None] = {}
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> Mapping[str, float]:
        """Member → its number, where estimates have one."""
        return {
            member: one.point_estimate
            for member, one in self.estimates.items()
            if hasattr(one, "point_estimate")
        }

    @property
    def quantiles(self) -> Mapping[str, list[float]]:
        """Member → [q05, q25, q50, q75, q95], where estimates have them."""
        return {
            member: [one.q05, one.q25, one.q50, one.q75, one.q95]
            for member, one in self.estimates.items()
            if hasattr(one, "q05")
        }

    @property
    def interval_90(self) -> tuple[float, float] | None:
        """5 % and 95 % of the aggregated quantiles."""
        found = self.aggregate.get("interval_90")
        return None if found is None else (found[0], found[1])


class Latest(msgspec.Struct, frozen=True):
    """
    Where the members stand.

    Attributes:
        estimates: Member → its last estimate, in the order of their first ones.
        stale: Those whose last try at one failed.

    """

    estimates: Mapping[str, Any]
    stale: frozenset[str]


def latest(found: Iterable[tuple[Turn, Any]], *, carry: bool = True) -> Latest:
    """
    Read where the members stand from their turns so far, each with the estimate it holds.

    A member keeps its estimate when a revision fails, and joins late when one succeeds; without
    *carry* it is left out until one succeeds again, unless it was the whole deliberation's time
    or means that ran out. Critiques never count.
    """
    estimates: dict[str, Any] = {}
    stale: set[str] = set()
    for turn, estimate in found:
        if turn.kind not in ANSWERS:
            continue
        stale.discard(turn.member)
        if estimate is not None:
            estimates[turn.member] = estimate
        elif not carry and ran_out(turn) is None:
            estimates.pop(turn.member, None)
        elif turn.member in estimates:
            stale.add(turn.member)
    return Latest(estimates, frozenset(stale))


def ran_out(turn: Turn) -> StopReason | None:
    """Tell whether a turn failed because the whole deliberation was out of time or means."""
    if turn.ending == "cancelled":
        return StopReason.CANCELLED
    if any(note.startswith("limit:") and note not in INNER for note in turn.notes):
        return StopReason.TIMEOUT
    spent = turn.ending == "over_budget" and UNASKED in turn.notes
    return StopReason.BUDGET if spent else None


class Spending(msgspec.Struct, frozen=True):
    """What turns used; as the fields of `Deliberated` say."""

    calls: int
    tokens: int
    cost_usd: float
    unpriced: int
    seconds: float


def spent(turns: Sequence[Turn]) -> Spending:
    """Add up what *turns* used."""
    asked = [turn for turn in turns if UNASKED not in turn.notes]
    used = [turn.usage for turn in asked if turn.usage is not None]
    costs = [one.cost_usd for one in used if one.cost_usd is not None]
    return Spending(
        calls=len(asked),
        tokens=sum(one.input_tokens + one.output_tokens for one in used),
        cost_usd=round(sum(costs, 0.0), 6),
        unpriced=len(asked) - len(costs),
        seconds=round(max((turn.begun + turn.seconds for turn in turns), default=0.0), 3),
    )
