"""What a decision hands to the journal: references only, so that the hand-over costs nothing."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from ..points import DecisionPoint
from ..questions import Ask
from ..records import Record, Shadow
from .rows import FeedbackRow


class Decided(msgspec.Struct, frozen=True, gc=False):
    """
    A decision, as it left the engine.

    Attributes:
        record: What is written down.
        point: Where.
        ask: What was asked; its text was frozen before anybody answered. None where nothing
            could be asked.
        language: The language that is set.
        subject: Who it is about, in plain.

    """

    record: Record
    point: DecisionPoint
    ask: Ask | None
    language: str
    subject: str | None = None


class Shadowed(msgspec.Struct, frozen=True, gc=False):
    """
    An answer given in the background.

    Attributes:
        shadow: What is written down.
        point: Where.
        ask: What was asked.
        language: The language that is set.

    """

    shadow: Shadow
    point: DecisionPoint
    ask: Ask
    language: str


Entry: TypeAlias = Decided | Shadowed | FeedbackRow


def weight(item: object) -> int:
    """Count the characters of the state that an entry holds; 0 for what holds none."""
    ask = getattr(item, "ask", None)
    return 0 if ask is None else len(ask.text)
