"""
LlamaIndex: its selectors, evaluators and workflow steps as decision points.

Needs the extra `[llama-index]`.
"""

from __future__ import annotations

from .. import needs

try:
    import llama_index.core  # noqa: F401 - only to say which extra is missing
    import workflows  # noqa: F401 - the same
except ImportError as missing:
    raise needs("llama-index", "LlamaIndex") from missing

from .evaluator import PointsmanEvaluator
from .selector import PointsmanSelector
from .steps import PersonNeeded, approved, branch, event_call, person_needed

__all__ = [
    "PersonNeeded",
    "PointsmanEvaluator",
    "PointsmanSelector",
    "approved",
    "branch",
    "event_call",
    "person_needed",
]
