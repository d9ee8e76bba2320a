"""
Pydantic AI: its decision models, guardrails, approvals and evaluators as decision points.

Needs the extra `[pydantic-ai]`; `judging`, for Pydantic Evals, needs that library besides.
"""

from __future__ import annotations

from .. import needs
from ..words import BLOCKED

try:
    import pydantic_ai  # noqa: F401 - only to say which extra is missing
except ImportError as missing:
    raise needs("pydantic-ai", "Pydantic AI") from missing

from .deciding import PointsmanDecisionModel
from .guardrails import (
    input_guardrail,
    output_guardrail,
    tool_approval,
    tool_guardrail,
)
from .lenses import NEEDS_APPROVAL, NODE, SELECT_MODEL, STEP, once_per_call
from .seen import shown

__all__ = [
    "BLOCKED",
    "NEEDS_APPROVAL",
    "NODE",
    "SELECT_MODEL",
    "STEP",
    "PointsmanDecisionModel",
    "input_guardrail",
    "once_per_call",
    "output_guardrail",
    "shown",
    "tool_approval",
    "tool_guardrail",
]
