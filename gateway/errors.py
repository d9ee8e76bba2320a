"""
Everything that Pointsman raises, ordered by who must act.

PointsmanError
├── SetupError          the operator: a variable, a plug-in or a wrapped function is wrong;
│   │                   raised at start, with every fault at once; never hidden by a fallback
│   ├── TranscriptError a transcript cannot be read, written or gone on with
│   └── Mismatch        what is asked now is not what a transcript holds
├── DeclarationError    the programmer: a question, a point or a state contradicts itself
│   ├── NoJson          nobody: this call brings what cannot be sent
│   └── NothingToAsk    nobody: this call leaves its point no question
├── NoAnswer            nobody: the provider gave nothing that may be believed; the gateway
│                       falls back to `current`, once. The host meets it only where the
│                       fallback is switched off or nothing stands behind it
├── HumanNeeded         a person: nobody decided, and the host asked for a person then
└── JournalDown         the operator: what stands, or what waits for a person, cannot be read or
                        written, so nothing that was decided is handed out
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .answers import Reply
    from .records import Attempt


class Reason(StrEnum):
    """
    Why an attempt was believed or not. The list is closed; readers accept unknown ones.

    A reason is the only thing about a failure that may steer the gateway or be logged:
    a provider's own words never do.
    """

    OK = "ok"
    LOW_CONFIDENCE = "low_confidence"
    CONFIDENCE_MISSING = "confidence_missing"
    REFUSED = "refused"
    ABSTAINED = "abstained"
    INCOMPLETE = "incomplete"
    MALFORMED = "malformed"
    MISMATCHED = "mismatched"
    WRONG_TYPE = "wrong_type"
    UNDECLARED_OPTION = "undeclared_option"
    INVALID_NUMBER = "invalid_number"
    INCONSISTENT = "inconsistent"
    UNSUPPORTED = "unsupported"
    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"
    PAYMENT = "payment"
    REJECTED = "rejected"
    PROVIDER_ERROR = "provider_error"
    TOO_LARGE = "too_large"
    BREAKER_OPEN = "breaker_open"
    OVER_BUDGET = "over_budget"
    NESTED = "nested"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @classmethod
    def _missing_(cls, value: object) -> Reason | None:
        """Read the reason of a record that a later version wrote; it is none of this list."""
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_, unknown._value_ = value.upper(), value
        return unknown


class PointsmanError(Exception):
    """What all errors of this package share."""


class Fault(msgspec.Struct, frozen=True):
    """
    One thing that somebody has to put right.

    Attributes:
        where: The variable, point, function or plug-in concerned.
        problem: What is wrong with it. Never holds a secret's value.
        fix: What to do next.

    """

    where: str
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}. {self.fix}"


class SetupError(PointsmanError):
    """
    The operator must act; `faults` lists everything that is wrong, not just the first.

    Raised before a question is asked: by `Gateway.from_env`, `Gateway.check`,
    `Gateway.point`, or by the first call that needs what is missing.
    """

    def __init__(self, *faults: Fault) -> None:
        super().__init__(*faults)
        self.faults: tuple[Fault, ...] = faults

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        lines = "".join(f"\n  - {fault}" for fault in self.faults)
        return f"{len(self.faults)} things must be put right:{lines}"

    @classmethod
    def of(cls, where: str, problem: str, fix: str) -> SetupError:
        """Make the error for a single fault."""
        return cls(Fault(where, problem, fix))


class DeclarationError(PointsmanError, ValueError):
    """A value contradicts itself: one option only, a repeated level, a state that is no JSON."""


class NothingToAsk(DeclarationError):
    """A call leaves its point no question: no goal was extracted, no field has a candidate."""


class NoJson(DeclarationError):
    """A call brings a state that is no JSON: not a number, a path, bytes."""


class NoAnswer(PointsmanError):
    """
    A provider gave nothing that may be believed.

    Providers raise it with a reason and nothing else; map foreign errors at your edge.
    Where the fallback is off it reaches the host, with the attempts made.

    Attributes:
        reason: Why, from the closed list.
        point: The decision point; empty while the error is still inside a provider.
        attempts: What was tried, in order; empty while inside a provider.
        operator: True when the operator must act (an unknown model): reported as
            `decision.operator_fault` besides falling back. `auth` and `payment` always are.
        reply: What did come back, for tokens, cost and served model; never believed.
        escalates: A provider's word that a person should decide: plain JSON that says why. None:
            it says no such thing.

    """

    def __init__(
        self,
        reason: Reason,
        *,
        point: str = "",
        attempts: Sequence[Attempt] = (),
        operator: bool = False,
        reply: Reply | None = None,
        escalates: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = Reason(reason)
        if self.reason is Reason.OK:
            raise ValueError("`ok` is no reason to have no answer")
        if self.reason.name not in Reason.__members__:
            raise ValueError(f"{reason!r} is not a valid Reason")
        self.point = point
        self.attempts = tuple(attempts)
        self.operator = operator
        self.reply = reply
        self.escalates = escalates

    def __str__(self) -> str:
        where = f"{self.point}: " if self.point else ""
        tried = ", ".join(f"{one.provider} ({one.reason})" for one in self.attempts)
        return f"{where}no answer that may be believed: {tried or self.reason.value}"

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            "point": self.point,
            "attempts": self.attempts,
            "escalates": self.escalates,
        }
        return (type(self), (self.reason,), state)


class HumanNeeded(PointsmanError):
    """
    Nobody decided, and `on_undecided="human"` says that a person must then.

    The decision is recorded as undecided before this is raised.

    Attributes:
        point: The decision point.
        id: The decision's, as in its record.
        attempts: What was tried, in order.

    """

    def __init__(self, point: str, id: str, attempts: Sequence[Attempt] = ()) -> None:  # noqa: A002 - the record's word
        super().__init__(point, id)
        self.point, self.id, self.attempts = point, id, tuple(attempts)

    def __str__(self) -> str:
        tried = ", ".join(f"{one.provider} ({one.reason})" for one in self.attempts)
        return f"{self.point}: a person must decide; nobody else did: {tried or 'nobody was asked'}"

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.point, self.id, self.attempts))


KNOWS = "what was decided before cannot be known, so nothing is decided that is handed out"
ASKS = "a person must decide, and the question cannot be kept for one"


class JournalDown(PointsmanError):
    """
    What must be in the journal before the host is told is not: its database does not answer.

    A decision that is made once cannot be confirmed then, nor a question kept for a person.

    Nothing is handed out then, lest what was refused before is asked again and allowed. Where the
    outcome could not be written, a provider or current has been asked already; where the answer
    to the write did not come in time, the outcome may stand. The host may ask again once the
    database is back.

    Attributes:
        point: The decision point.
        problem: What is wrong with the database, in our words.
        fix: What an operator does about it.
        told: What that means for the decision.

    """

    def __init__(self, point: str, problem: str, fix: str, told: str = KNOWS) -> None:
        super().__init__(point, problem, fix, told)
        self.point, self.problem, self.fix, self.told = point, problem, fix, told

    def __str__(self) -> str:
        return f"{self.point}: {self.told}: the journal is down: {self.problem}. {self.fix}"


def raise_all(faults: Iterable[Fault]) -> None:
    """
    Raise one `SetupError` for all *faults*; do nothing when there are none.

    Raises:
        SetupError: There is at least one fault.

    """
    if listed := tuple(faults):
        raise SetupError(*listed)
