"""A decision to be made: what the flow is given, and what it has tried so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from .answers import Reply
from .errors import DeclarationError, JournalDown, SetupError
from .gates import Gate
from .plugins import Call
from .points import DecisionPoint
from .questions import Ask, Outcome, Question
from .records import Attempt, Exposure
from .register import Register
from .resilience import Lane
from .settings import Plan
from .steps import AskProvider

if TYPE_CHECKING:
    from .caching import Cache
    from .inbox.inbox import Inbox


Rule: TypeAlias = Callable[[Mapping[str, Question], Outcome], Outcome]
"""What was asked, a provider's outcome → the outcome that counts."""


class Once(msgspec.Struct, frozen=True):
    """
    Which call a decision is made for, once and for all of its repetitions.

    Attributes:
        call: The call's id, unique within its subject.
        arguments: Exactly what is called with; other arguments are another question.

    """

    call: str
    arguments: object

    @classmethod
    def of(cls, given: object, point: str) -> Once | None:
        """
        Read what `once` gave; None stays None.

        Raises:
            DeclarationError: It is no pair of a call id, a text that says something, and
                arguments.

        """
        if given is None:
            return None
        try:
            call, arguments = msgspec.convert(given, tuple[str, Any])
        except msgspec.ValidationError:
            call, arguments = "", None
        if not call:
            problem = "`once` gives a call id, a text, and the exact arguments, or None"
            raise DeclarationError(f"{point}: {problem}; got {type(given).__name__}")
        return cls(call, arguments)


class Supplied(msgspec.Struct, frozen=True):
    """
    What a hybrid point's provider chooses among, supplied by the host's own path.

    Attributes:
        ask: What is asked about it.
        write: Outcome and confidence → host's value.

    """

    ask: Ask
    write: Callable[[Outcome, float], Any]


class Beside(msgspec.Struct, frozen=True):
    """
    Who is asked in the background.

    Attributes:
        plan: What would count if it were acted on.
        lane: Whom, apart from the lane of those who are acted on.
        register: As a case's.

    """

    plan: Plan
    lane: Lane
    register: Register | None = None


class Case(msgspec.Struct, kw_only=True):
    """
    One decision to be made.

    Attributes:
        point: Where.
        plan: By whom, and what is believed.
        ask: What is asked; None where this call brought what cannot be asked.
        call: In which circumstances; `call.current` runs the host's own path.
        planned: The planned provider's lane; None if the plan is `current`.
        behind: The lane of the provider that stands in where the host has no path of its own.
        own_gate: The gate of that stand-in.
        read: Host's value → outcome in the point's vocabulary.
        write: Outcome → host's value.
        id: The decision's id.
        begun: When it began, on `time.perf_counter`.
        attempts: What was tried so far.
        supply: Host's value → what is asked about it, for a hybrid point; raises
            `NothingToAsk`, or anything else where the value supplies nothing.
        hosted: What the host's own path gave for it: the fallback's answer too.
        supplied: What was made of that.
        language: What it is asked in.
        register: The certificates that may set its thresholds; None where nothing is certified,
            or a variable of the point sets them.
        exposure: The split that assigned the provider.
        besides: Whom to ask the same in the background, once it is decided.
        known: Gives what an ask was answered before; None where it is not known.
        cache: What is kept beyond the decision; None where no point of the gateway has one.
        once: The call whose decision stands from now on; None: it is made anew each time.
        closes: Without a fallback too it ends as the point does in doubt, not in `NoAnswer`.
        stands: It was decided before, and nothing of it is told again.
        rule: What was asked, a provider's outcome → the one that counts; None: the same. It
            raises `Unfit` where that is no answer.
        escalated: What a provider that was asked said of why a person should decide, as plain
            JSON; None: none said so.
        inbox: Where questions wait for a person; None where they wait nowhere.
        put: It was put to a person.
        down: Why it could not be.
        until: When whoever asks is gone, on `time.monotonic`; None: that is not known. No person
            is waited for after that.
        untouched: Nobody but current decides and nobody looks on: nothing was built for it, and
            nothing of it is told.

    """

    point: DecisionPoint
    plan: Plan
    ask: Ask | None
    call: Call
    planned: Lane | None
    behind: Lane | None
    own_gate: Gate | None
    read: Callable[[Any], Outcome]
    write: Callable[[Any], Any]
    id: str
    begun: float
    attempts: list[Attempt] = []
    supply: Callable[[Any], Supplied] | None = None
    hosted: tuple[Any, Attempt] | None = None
    supplied: Supplied | None = None
    language: str = ""
    register: Register | None = None
    exposure: Exposure | None = None
    besides: tuple[Beside, ...] = ()
    known: Callable[[AskProvider], Reply | None] | None = None
    cache: Cache | None = None
    once: Once | None = None
    closes: bool = False
    stands: bool = False
    rule: Rule | None = None
    escalated: Mapping[str, Any] | None = None
    inbox: Inbox | None = None
    put: bool = False
    down: JournalDown | SetupError | None = None
    until: float | None = None
    untouched: bool = False
