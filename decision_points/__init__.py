"""
What is decided: the built-in decision points, as data.

Each point is one declaration: its questions in English and Portuguese, its safe outcome,
and the reason beside each number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..gateway.plugins import hookimpl
from .guardrails import GUARDRAIL_PINJ
from .judges import JUDGE_RQLT
from .routing import ROUTE_CONTINUITY, ROUTER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..gateway.points import DecisionPoint

__all__ = ["GUARDRAIL_PINJ", "JUDGE_RQLT", "ROUTER", "ROUTE_CONTINUITY"]


@hookimpl
def pointsman_points() -> Sequence[DecisionPoint]:
    """Offer the catalogue."""
    return (ROUTE_CONTINUITY, ROUTER, GUARDRAIL_PINJ, JUDGE_RQLT)


def _demo() -> object:
    from .demo.app import app

    return app


@hookimpl
def pointsman_commands() -> Mapping[str, Callable[[], object]]:
    """Offer `pointsman demo`, which is about points of this catalogue."""
    return {"demo": _demo}
