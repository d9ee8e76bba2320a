"""The steps that a decision's flow asks for: whoever drives it knows how they are done."""

from __future__ import annotations

import time
from typing import Any, TypeAlias

import msgspec

from .plugins import Call
from .points import DecisionPoint
from .questions import Ask
from .resilience import Lane


class Sent(msgspec.Struct, gc=False):
    """
    How an ask left; whoever performs it says so.

    Attributes:
        begun: When, on `time.perf_counter`.
        form: `single`, or `shared:<digest of the question set>`.
        cached: It was answered before in this turn, and cost nothing.
        counted: Another decision has told the breaker of this very failure.

    """

    begun: float = msgspec.field(default_factory=time.perf_counter)
    form: str = "single"
    cached: bool = False
    counted: bool = False


class AskProvider(msgspec.Struct, frozen=True, gc=False):
    """
    Ask *lane*'s provider; the answer is a `Reply`, or `NoAnswer` is thrown back.

    Attributes:
        lane: Whom.
        ask: What.
        call: In which circumstances.
        point: For which decision point; None where several points share the ask.
        sent: Filled in by whoever performs it.

    """

    lane: Lane
    ask: Ask
    call: Call
    point: DecisionPoint | None = None
    sent: Sent = msgspec.field(default_factory=Sent)


OVERDUE: Any = object()
"""Sent back for an async path of the host's that was cancelled at the deadline."""


class RunCurrent(msgspec.Struct, frozen=True, gc=False):
    """
    Run what the host runs today; what it raises is thrown back untouched.

    Attributes:
        call: Its circumstances.
        alone: No provider was to be asked.

    """

    call: Call
    alone: bool = False


Step: TypeAlias = AskProvider | RunCurrent
