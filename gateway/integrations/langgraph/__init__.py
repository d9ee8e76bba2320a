"""LangChain and LangGraph: edges, nodes, guardrails, approvals, hand-offs, decision models."""

from __future__ import annotations

from .approval import TOOL_CALL, ApprovalMiddleware, approval_when, per_call
from .edges import COMMAND, EDGE, FAN_OUT, fan_out, per_task, showing
from .guard import GuardMiddleware
from .handoff import HandoffMiddleware, HandoffModel
from .model import PointsmanDecisionModel
from .review import rejection
from .seeing import conversation, last_user_text, thread

__all__ = [
    "COMMAND",
    "EDGE",
    "FAN_OUT",
    "TOOL_CALL",
    "ApprovalMiddleware",
    "GuardMiddleware",
    "HandoffMiddleware",
    "HandoffModel",
    "PointsmanDecisionModel",
    "approval_when",
    "conversation",
    "fan_out",
    "last_user_text",
    "per_call",
    "per_task",
    "rejection",
    "showing",
    "thread",
]
