"""
Those who deliberate before they decide: a committee, a debate, and what both stand on.

Every name is loaded when it is first used: whoever selects `committee` loads no debate.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .allowance import Allowance
    from .committee import Committee
    from .dynamics import Chunk, Debate, Debated, Rules
    from .floor import Floor
    from .functions import members
    from .panel import Member, seated
    from .protocols import (
        PROTOCOLS,
        Deliberated,
        Item,
        Numeric,
        Packet,
        Typed,
        cost_matched_single,
        independent,
        structured_debate,
    )
    from .roles import Role, get_role, register_role
    from .scopes import Scope
    from .transcript import Transcript

__all__ = [
    "PROTOCOLS",
    "Allowance",
    "Chunk",
    "Committee",
    "Debate",
    "Debated",
    "Deliberated",
    "Floor",
    "Item",
    "Member",
    "Numeric",
    "Packet",
    "Role",
    "Rules",
    "Scope",
    "Transcript",
    "Typed",
    "cost_matched_single",
    "get_role",
    "independent",
    "members",
    "register_role",
    "seated",
    "structured_debate",
]

_ROOMS = {
    "allowance": ("Allowance",),
    "committee": ("Committee",),
    "dynamics": ("Chunk", "Debate", "Debated", "Rules"),
    "floor": ("Floor",),
    "functions": ("members",),
    "panel": ("Member", "seated"),
    "protocols": (
        "PROTOCOLS",
        "Deliberated",
        "Item",
        "Numeric",
        "Packet",
        "Typed",
        "cost_matched_single",
        "independent",
        "structured_debate",
    ),
    "roles": ("Role", "get_role", "register_role"),
    "scopes": ("Scope",),
    "transcript": ("Transcript",),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f".{room}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
