"""
The fold: what is said about a fact → what it comes to, without a clock, a database or an order.

`fold` is public, so that other stores can use it too.
"""

from __future__ import annotations

from .claims import said, visible
from .due import due
from .living import Living, living
from .ranks import Rules, rules_of
from .reconciling import beats, fold

__all__ = ["Living", "Rules", "beats", "due", "fold", "living", "rules_of", "said", "visible"]
