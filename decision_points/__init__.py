"""
What is decided: the built-in decision points, as data.

Each point is one declaration: its questions in English and Portuguese, its safe outcome,
and the reason beside each number. Beside them stand pure functions that say what a
decision makes the host do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..gateway.plugins import hookimpl
from .catalogue import POINTS
from .convergence import (
    CONVERGENCE,
    COUNCIL,
    DEBATE_ESCALATION,
    DEBATE_LANE,
    Convergence,
    ConvergenceState,
    Council,
    CouncilState,
    DebateLane,
    Escalation,
    EscalationState,
    LaneState,
    convergence_of,
    council_of,
    escalation_of,
    lane_of,
)
from .extraction import Candidate, Parameters
from .facts.fact_dispute import FACT_DISPUTE, DisputeState
from .goals import MULTI_INTENT, MultiIntentState, usable
from .guardrails import Action, Rail, guardrail, on_output, rail
from .interruption import (
    PROCESSING_INTERRUPTION,
    Interruption,
    InterruptionState,
    interruption,
)
from .judges import (
    JUDGE_ALUC,
    JUDGE_CSI,
    JUDGE_LLM_JUDGE,
    JUDGE_RQLT,
    JUDGE_VCTN,
    GroundednessState,
    JudgedState,
    QualityState,
    SentimentState,
    ToneState,
)
from .judging import Judgement, Sentiment, judge, judged
from .parameters import TRANSACTION_PARAMETER_RECONCILIATION, ReconciliationState, by_field
from .planning import Goal, GoalPlan
from .rails_in import (
    GUARDRAIL_COER,
    GUARDRAIL_COER_VOICE_STRICT,
    GUARDRAIL_DLEX_IN,
    GUARDRAIL_GUARDRAIL,
    GUARDRAIL_OOS,
    GUARDRAIL_PINJ,
    GUARDRAIL_RAGSEC,
    GUARDRAIL_TOX,
    CoherenceState,
    StagedState,
    TalkState,
    TextState,
)
from .rails_out import (
    GUARDRAIL_AOFERTA,
    GUARDRAIL_DLEX_OUT,
    GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK,
    GUARDRAIL_FRASEOLOGIA,
    GUARDRAIL_GRL,
    GUARDRAIL_REVPREC,
    EvidenceState,
    LeakState,
    OfferState,
    RecheckState,
    WordingState,
)
from .reading import confidence_of
from .routing import (
    ROUTE_CONTINUITY,
    ROUTER,
    Continuity,
    ContinuityState,
    Destination,
    Intent,
    RouterState,
    Turn,
    continuity,
    destination,
)
from .settling import (
    Confirmation,
    Shift,
    ShiftKind,
    confirmation,
    relevance,
    shift,
)
from .supervisor import GLOBAL_SUPERVISOR, SupervisorState, backend
from .transaction import (
    TRANSACTION_CONFIRMATION,
    TRANSACTION_INTENT_SHIFT,
    TRANSACTION_PARAMETER_RELEVANCE,
    ConfirmationState,
    RelevanceState,
    ShiftState,
)
from .workflow import (
    WORKFLOW_EXPECTED_INPUT,
    WORKFLOW_REENTRY,
    ExpectedInput,
    ExpectedInputState,
    Reenter,
    Reentry,
    ReentryState,
    Reprompt,
    Resume,
    expected_input,
    reentry,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..gateway.points import DecisionPoint

__all__ = [
    "CONVERGENCE",
    "COUNCIL",
    "DEBATE_ESCALATION",
    "DEBATE_LANE",
    "FACT_DISPUTE",
    "GLOBAL_SUPERVISOR",
    "GUARDRAIL_AOFERTA",
    "GUARDRAIL_COER",
    "GUARDRAIL_COER_VOICE_STRICT",
    "GUARDRAIL_DLEX_IN",
    "GUARDRAIL_DLEX_OUT",
    "GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK",
    "GUARDRAIL_FRASEOLOGIA",
    "GUARDRAIL_GRL",
    "GUARDRAIL_GUARDRAIL",
    "GUARDRAIL_OOS",
    "GUARDRAIL_PINJ",
    "GUARDRAIL_RAGSEC",
    "GUARDRAIL_REVPREC",
    "GUARDRAIL_TOX",
    "JUDGE_ALUC",
    "JUDGE_CSI",
    "JUDGE_LLM_JUDGE",
    "JUDGE_RQLT",
    "JUDGE_VCTN",
    "MULTI_INTENT",
    "PROCESSING_INTERRUPTION",
    "ROUTER",
    "ROUTE_CONTINUITY",
    "TRANSACTION_CONFIRMATION",
    "TRANSACTION_INTENT_SHIFT",
    "TRANSACTION_PARAMETER_RECONCILIATION",
    "TRANSACTION_PARAMETER_RELEVANCE",
    "WORKFLOW_EXPECTED_INPUT",
    "WORKFLOW_REENTRY",
    "Action",
    "Candidate",
    "CoherenceState",
    "Confirmation",
    "ConfirmationState",
    "Continuity",
    "ContinuityState",
    "Convergence",
    "ConvergenceState",
    "Council",
    "CouncilState",
    "DebateLane",
    "Destination",
    "DisputeState",
    "Escalation",
    "EscalationState",
    "EvidenceState",
    "ExpectedInput",
    "ExpectedInputState",
    "Goal",
    "GoalPlan",
    "GroundednessState",
    "Intent",
    "Interruption",
    "InterruptionState",
    "JudgedState",
    "Judgement",
    "LaneState",
    "LeakState",
    "MultiIntentState",
    "OfferState",
    "Parameters",
    "QualityState",
    "Rail",
    "RecheckState",
    "ReconciliationState",
    "Reenter",
    "Reentry",
    "ReentryState",
    "RelevanceState",
    "Reprompt",
    "Resume",
    "RouterState",
    "Sentiment",
    "SentimentState",
    "Shift",
    "ShiftKind",
    "ShiftState",
    "StagedState",
    "SupervisorState",
    "TalkState",
    "TextState",
    "ToneState",
    "Turn",
    "WordingState",
    "backend",
    "by_field",
    "confidence_of",
    "confirmation",
    "continuity",
    "convergence_of",
    "council_of",
    "destination",
    "escalation_of",
    "expected_input",
    "guardrail",
    "interruption",
    "judge",
    "judged",
    "lane_of",
    "on_output",
    "rail",
    "reentry",
    "relevance",
    "shift",
    "usable",
]


@hookimpl
def pointsman_points() -> Sequence[DecisionPoint]:
    """Offer the catalogue."""
    return POINTS


def _demo() -> object:
    from .demo.app import app

    return app


def _facts() -> object:
    from .facts.commands.app import app

    return app


@hookimpl
def pointsman_commands() -> Mapping[str, Callable[[], object]]:
    """Offer `pointsman demo`, which is about points of this catalogue, and `pointsman facts`."""
    return {"demo": _demo, "facts": _facts}


@hookimpl
def pointsman_tools() -> Mapping[str, Callable[..., object]]:
    """Offer the tools of facts, which open their store at the first call."""
    from .facts.agents.tools import configured

    return configured()
