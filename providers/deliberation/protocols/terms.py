"""Everything that can be set about a deliberation, with the readings taken where briefs differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

import msgspec

from ....gateway.errors import DeclarationError
from ..panel import Member
from .stopping import TOLERANCE

__all__ = ["Placebo", "Pool", "Scale", "Settings", "Terms"]

Scale = Literal["log", "linear", "logit"]
Pool = Literal["linear_pool", "vincent", "median", "geometric"]
OnFailed = Literal["carry", "drop"]
Matching = Literal["calls", "tokens", "money"]

ROUNDS = 2
MAX_TOKENS = 4096


class Placebo(msgspec.Struct, frozen=True, kw_only=True):
    """
    Peers' statements from another case, shown in place of this one's.

    At a first exchange they move members about as much as real ones do; what a debate gains
    beyond that is what its peers' arguments are worth.

    Attributes:
        rows: Rows of another case's table, without label and owner; used in turn.
        critiques: Critiques of another case, in place of those addressed to the reader; none
            given: nobody is shown any.

    """

    rows: tuple[Mapping[str, Any], ...]
    critiques: tuple[Mapping[str, Any], ...] = ()


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """
    The terms of a deliberation.

    Attributes:
        rounds: Pre-specified rounds of critique and revision; 0 is an independent run under the
            debate's label.
        adaptive: Stop once the dispersion no longer moves; False runs every round and only
            records where it would have stopped.
        tolerance: Share of the previous dispersion that counts as no movement.
        agreement: Largest spread that still counts as agreed, on the form's scale: on the log
            scale 0.05 is an interquartile range of 5 %.
        skeptic: A blinded skeptic: a role's id, taken out of the panel or fetched from the
            registry, or a member. It judges the final estimates and joins no round.
        skeptic_provider: Who speaks for a skeptic that is not on the panel.
        skeptic_weight: Its weight in the aggregate; 0 reports its verdict apart.
        verify: Check citations and numbers after each estimate, and tell the members.
        placebo: Say that the panel's roles are a placebo: changes the label and nothing else.
        placebo_content: Show another case's statements in place of the peers'.
        on_failed_revision: `carry` keeps a member's earlier estimate, marked stale; `drop`
            leaves the member out until a revision succeeds.
        pool: How quantiles are aggregated; members that are too narrow want the linear pool.
        weights: Member → weight, 1 for those left out; a skeptic's is `skeptic_weight`.
        weighted_intervals: Whether the weights apply to the intervals, too.
        quorum: Fewest estimates of a result that counts; None: two, and half of the members.
        describe_roles: Show each row's role description in the table; names, vendors and models
            stay hidden.
        seed: Permutes what each reader is shown, and its labels.
        turn_seconds: One turn's limit; None: only those around it.
        round_seconds: Limit of one round, critiques and revisions together.
        max_tokens: Most tokens that a member may write in one turn.
        match: What a cost-matched single arm is matched by.
        arm: Name of the experiment's arm; empty: the protocol's own.
        committee: Name of the panel, for the record.

    Raises:
        DeclarationError: A number out of range.

    """

    rounds: int = ROUNDS
    adaptive: bool = True
    tolerance: float = TOLERANCE
    agreement: float = 0.05
    skeptic: str | Member | None = None
    skeptic_provider: str = ""
    skeptic_weight: float = 1.0
    verify: bool = False
    placebo: bool = False
    placebo_content: Placebo | None = None
    on_failed_revision: OnFailed = "carry"
    pool: Pool = "linear_pool"
    weights: Mapping[str, float] | None = None
    weighted_intervals: bool = True
    quorum: int | None = None
    describe_roles: bool = False
    seed: str = ""
    turn_seconds: float | None = None
    round_seconds: float | None = None
    max_tokens: int = MAX_TOKENS
    match: Matching = "calls"
    arm: str = ""
    committee: str = ""

    def __post_init__(self) -> None:
        numbers = [self.rounds, self.tolerance, self.agreement, self.skeptic_weight]
        numbers += (self.weights or {}).values()
        if not all(0 <= number < math.inf for number in numbers):  # false for NaN, too
            raise DeclarationError("rounds, tolerance, agreement and weights are numbers from 0")
        for name in ("turn_seconds", "round_seconds", "quorum", "max_tokens"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise DeclarationError(f"`{name}` is above 0; got {value}")

    def least(self, expected: int) -> int:
        """Fewest estimates that are a quorum of *expected* members."""
        if self.quorum is not None:
            return self.quorum
        return max(min(2, expected), (expected + 1) // 2)


class Settings(TypedDict, total=False):
    """The fields of `Terms` as keyword arguments."""

    rounds: int
    adaptive: bool
    tolerance: float
    agreement: float
    skeptic: str | Member | None
    skeptic_provider: str
    skeptic_weight: float
    verify: bool
    placebo: bool
    placebo_content: Placebo | None
    on_failed_revision: OnFailed
    pool: Pool
    weights: Mapping[str, float] | None
    weighted_intervals: bool
    quorum: int | None
    describe_roles: bool
    seed: str
    turn_seconds: float | None
    round_seconds: float | None
    max_tokens: int
    match: Matching
    arm: str
    committee: str
