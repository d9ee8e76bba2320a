"""
What is written: one row for a decision, for an answer given in the background, for feedback.

A row is immutable, known by its id, and complete: writing it twice changes nothing. The same
JSON stands in the spool, in the database's `body` column and in an export.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from ..keys import QuestionKey
from ..questions import Value
from ..records import Record, Shadow


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is kept of who and what was asked about.

    Attributes:
        subject: Keyed hash of the subject; None if there was none, or nothing is kept.
        digest: Keyed hash of the state's text; None where nothing is kept.
        state: The state's text, masked; only where full content is kept.
        structured: The text is JSON, not words.

    """

    subject: str | None = None
    digest: str | None = None
    state: str | None = None
    structured: bool = False


class DecisionRow(msgspec.Struct, frozen=True, kw_only=True, tag="decision"):
    """
    One decision.

    Attributes:
        record: The decision itself, with every attempt, and its exposure in a split.
        language: What it was asked in.
        keys: Question → what a threshold for it belongs to.
        kept: Subject and state.

    """

    record: Record
    language: str = ""
    keys: Mapping[str, QuestionKey] = {}
    kept: Kept = Kept()

    @property
    def id(self) -> str:
        """The decision's id."""
        return self.record.id


class ShadowRow(msgspec.Struct, frozen=True, kw_only=True, tag="shadow"):
    """
    One answer that was never acted on: from a shadow, or from a replay.

    Attributes:
        shadow: Who was asked about which decision, what came, and what was decided then.
        language: What it was asked in.
        keys: Question → what a threshold for it belongs to.

    """

    shadow: Shadow
    language: str = ""
    keys: Mapping[str, QuestionKey] = {}

    @property
    def id(self) -> str:
        """The answer's own id."""
        return self.shadow.id


class FeedbackRow(msgspec.Struct, frozen=True, kw_only=True, tag="feedback"):
    """
    What was found out later about a decision; of several, the latest counts.

    Attributes:
        id: Its own.
        of: The decision's id.
        at: Seconds since the epoch.
        right: Whether what was decided was right; None if only the label is known.
        label: What would have been right, in the point's vocabulary; question → value for
            several questions; None if unknown.

    """

    id: str
    of: str
    at: float
    right: bool | None = None
    label: Value | Mapping[str, Value | None] | None = None


Row: TypeAlias = DecisionRow | ShadowRow | FeedbackRow


class Trail(msgspec.Struct, frozen=True, kw_only=True):
    """
    A decision with all that belongs to it, oldest first.

    Attributes:
        decision: The decision.
        shadows: Answers given in the background about the same state.
        feedback: What was found out later.

    """

    decision: DecisionRow
    shadows: tuple[ShadowRow, ...] = ()
    feedback: tuple[FeedbackRow, ...] = ()
