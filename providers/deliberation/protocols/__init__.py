"""
Protocols: coroutines that let a panel deliberate on one subject and return one transcript of it.

`independent` answers, a `structured_debate` with its variants, and the `cost_matched_single` that
every debate has to beat.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from .assigning import assigned
from .deliberated import ARMS, Deliberated
from .forms import Form
from .independent import independent
from .numeric import Numeric
from .packets import Item, Packet, content_hash, role_view, visible_ids
from .schemas import AgentEstimate, Critique, CritiqueSet
from .single import cost_matched_single, samples_for
from .stopping import StopReason
from .structured import structured_debate
from .terms import Placebo, Settings, Terms
from .typed import Typed
from .verification import verify_evidence

__all__ = [
    "ARMS",
    "PROTOCOLS",
    "AgentEstimate",
    "Critique",
    "CritiqueSet",
    "Deliberated",
    "Form",
    "Item",
    "Numeric",
    "Packet",
    "Placebo",
    "Settings",
    "StopReason",
    "Terms",
    "Typed",
    "assigned",
    "content_hash",
    "cost_matched_single",
    "independent",
    "role_view",
    "samples_for",
    "structured_debate",
    "verify_evidence",
    "visible_ids",
]

PROTOCOLS: Mapping[str, Callable[..., Awaitable[Deliberated]]] = {
    "independent": independent,
    "structured_debate": structured_debate,
    "cost_matched_single": cost_matched_single,
}
"""The protocols by their names."""
