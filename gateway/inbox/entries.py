"""What is put to a person, what was decided meanwhile, and what the person said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from ..kinds import Question, Value
from ..records import Attempt

LONGEST = 4000  # characters of a provider's own word; more is no reason, but content
WORDS = 200  # characters of a name in a column, as of every other table


Said: TypeAlias = Value | Mapping[str, Value | None]
"""What a person says, in the point's vocabulary."""


class Tried(msgspec.Struct, frozen=True):
    """
    One attempt that was not believed.

    Attributes:
        provider: Who was asked.
        reason: Why it did not count, from the closed list.

    """

    provider: str
    reason: str

    @classmethod
    def of(cls, attempt: Attempt) -> Tried:
        """Take of an *attempt* what says why a person is asked."""
        return cls(attempt.provider, str(attempt.reason))


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """
    Why a person is asked.

    Attributes:
        kind: A provider said that a person should decide, or nobody else has decided.
        tried: Who was asked before.
        said: A provider's own word about it, plain JSON; empty where it said no more.

    """

    kind: Literal["escalated", "undecided"]
    tried: tuple[Tried, ...] = ()
    said: Mapping[str, Any] = {}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is put to a person.

    Attributes:
        id: The decision's.
        at: Seconds since the epoch.
        point: The decision point.
        why: Why.
        questions: Name → question, with the options of this call.
        language: What they are asked in.
        subject: Keyed hash of who it is about; None where none is kept.
        state: What it is about, masked; only where full content is kept.
        structured: The state is JSON, not words.
        declared: The questions are the point's own, without the options of this call: what it
            brought could not be asked about.
        schema: Version of this layout.

    """

    id: str
    at: float
    point: str
    why: Why
    questions: Mapping[str, Question]
    language: str = ""
    subject: str | None = None
    state: str | None = None
    structured: bool = False
    declared: bool = False
    schema: int = 1


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a person said.

    Attributes:
        value: In the point's vocabulary: an option, a truth, a number; question → value where
            several were asked.
        by: Who; empty if nobody said.
        note: Why, in the person's own words.
        at: Seconds since the epoch.
        first: It was this very call that gave it; False where somebody else was first.

    """

    value: Said
    by: str = ""
    note: str = ""
    at: float = 0.0
    first: bool = False


class Meanwhile(msgspec.Struct, frozen=True, kw_only=True):
    """
    What was decided, as the journal has it.

    Attributes:
        provider: By whom; `human` where the person's word came in time, empty where nobody did.
        outcome: What.
        undecided: Nobody decided, so that the outcome is the point's safe one, if it has any.

    """

    provider: str
    outcome: Said | None = None
    undecided: bool = False


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """
    An entry of the inbox, as it stands now.

    Attributes:
        entry: What is asked.
        resolution: What a person said; None: it is open.
        meanwhile: What was decided; None where the journal does not know yet.

    """

    entry: Entry
    resolution: Resolution | None = None
    meanwhile: Meanwhile | None = None
