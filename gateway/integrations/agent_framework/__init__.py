"""
Microsoft Agent Framework: its middleware, approvals, hand-offs and workflows as decision points.

Needs the extra `[agent-framework]`.
"""

from __future__ import annotations

from .. import needs
from ..words import BLOCKED, REFUSED, STAY, WHO

try:
    import agent_framework  # noqa: F401 - only to say which extra is missing
except ImportError as missing:
    raise needs("agent-framework", "Microsoft Agent Framework") from missing

from .approval import AUTO_APPROVAL, ApprovalMiddleware, auto_approval, once_per_call
from .guard import GuardMiddleware
from .handoff import HandoffMiddleware
from .judging import LOOP
from .seeing import SessionMiddleware, shown
from .workflows import SPEAKER, PerMessage, Router, speakers

__all__ = [
    "AUTO_APPROVAL",
    "BLOCKED",
    "LOOP",
    "REFUSED",
    "SPEAKER",
    "STAY",
    "WHO",
    "ApprovalMiddleware",
    "GuardMiddleware",
    "HandoffMiddleware",
    "PerMessage",
    "Router",
    "SessionMiddleware",
    "auto_approval",
    "once_per_call",
    "shown",
    "speakers",
]
