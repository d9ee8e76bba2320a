"""What would change under other rules, before anybody adopts them."""

from __future__ import annotations

from .differences import Change, Changed, Score, Side, WhatIf
from .running import Asked, what_if

__all__ = ["Asked", "Change", "Changed", "Score", "Side", "WhatIf", "what_if"]
