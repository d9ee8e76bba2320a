"""
Google ADK: its classifier nodes, callbacks, hand-offs and confirmations as decision points.

Needs the extra `[google-adk]`.
"""

from __future__ import annotations

from .. import needs
from ..words import BLOCKED

try:
    import google.adk  # noqa: F401 - only to say which extra is missing
except ImportError as missing:
    raise needs("google-adk", "Google ADK") from missing

from .callbacks import (
    confirmation,
    input_guardrail,
    output_guardrail,
    tool_guardrail,
)
from .classifier import PointsmanClassifier
from .handoffs import Handoff
from .lenses import NEEDS_APPROVAL, ROUTE, tool_call
from .nodes import check_routes, person_needed
from .plugin import PointsmanPlugin

__all__ = [
    "BLOCKED",
    "NEEDS_APPROVAL",
    "ROUTE",
    "Handoff",
    "PointsmanClassifier",
    "PointsmanPlugin",
    "check_routes",
    "confirmation",
    "input_guardrail",
    "output_guardrail",
    "person_needed",
    "tool_call",
    "tool_guardrail",
]
