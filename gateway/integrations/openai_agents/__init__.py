"""
OpenAI Agents SDK: its guardrails, tool approvals and hand-offs as decision points.

Needs the extra `[openai-agents]`.
"""

from __future__ import annotations

from .. import needs
from ..words import BLOCKED, STAY, WHO

try:
    import agents  # noqa: F401 - only to say which extra is missing
except ImportError as missing:
    raise needs("openai-agents", "the OpenAI Agents SDK") from missing

from .guardrails import (
    input_guardrail,
    needs_approval,
    output_guardrail,
    tool_input_guardrail,
    tool_output_guardrail,
)
from .lenses import (
    ENABLED,
    NEEDS_APPROVAL,
    OUTPUT_TRIPWIRE,
    TOOL_INPUT,
    TOOL_OUTPUT,
    TRIPWIRE,
    once_per_call,
)
from .routing import RoutedModel
from .seen import shown

__all__ = [
    "BLOCKED",
    "ENABLED",
    "NEEDS_APPROVAL",
    "OUTPUT_TRIPWIRE",
    "STAY",
    "TOOL_INPUT",
    "TOOL_OUTPUT",
    "TRIPWIRE",
    "WHO",
    "RoutedModel",
    "input_guardrail",
    "needs_approval",
    "once_per_call",
    "output_guardrail",
    "shown",
    "tool_input_guardrail",
    "tool_output_guardrail",
]
