"""
What a debate decides about itself: four points whose `current` is a calculator.

A provider may be put in front of each calculator, or shadowed beside it; a rule then holds
its judgement to what is at least as protective. None of them inherits the global provider,
since a provider that deliberates would otherwise ask itself.
"""

from __future__ import annotations

from .convergence import (
    CONVERGENCE,
    EQUAL,
    WEIGHTED,
    Convergence,
    ConvergenceRule,
    ConvergenceState,
    Position,
    convergence_of,
)
from .council import COUNCIL, Advocate, Council, CouncilRule, CouncilState, council_of
from .escalation import (
    DEBATE_ESCALATION,
    Divergence,
    Escalation,
    EscalationRule,
    EscalationState,
    escalation_of,
)
from .lane import DEBATE_LANE, DebateLane, LaneState, lane_of

__all__ = [
    "CONVERGENCE",
    "COUNCIL",
    "DEBATE_ESCALATION",
    "DEBATE_LANE",
    "EQUAL",
    "WEIGHTED",
    "Advocate",
    "Convergence",
    "ConvergenceRule",
    "ConvergenceState",
    "Council",
    "CouncilRule",
    "CouncilState",
    "DebateLane",
    "Divergence",
    "Escalation",
    "EscalationRule",
    "EscalationState",
    "LaneState",
    "Position",
    "convergence_of",
    "council_of",
    "escalation_of",
    "lane_of",
]
