"""Turns: what is wanted of a member, and how that ended."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec

from ...gateway.answers import Answer, Usage
from ...gateway.errors import DeclarationError, Reason
from ...gateway.plugins import Draft
from ...gateway.questions import Ask
from ...gateway.state import frozen
from .chain import Entry, Mismatch
from .panel import Member

Kind: TypeAlias = Literal[
    "answer",
    "estimate",
    "critique",
    "revision",
    "skeptic_verdict",
    "self_critique",
    "self_refine",
    "position",
    "rebuttal",
    "refinement",
    "synthesis",
    "critic",
    "advocate",
    "synthesizer",
    "verification",
]

Ending: TypeAlias = Literal[
    "ok",
    "partial",
    "late",
    "timeout",
    "cancelled",
    "abstained",
    "invalid",
    "failed",
    "over_budget",
]
"""
How a turn ended. `timeout`: its time was up. `late`: it answered after that, which is not counted.
`cancelled`: the caller gave up. `partial`: its time was up, and what was there by then fits.
`abstained`: valid, and not sure enough or not willing. `invalid`: it answered, wrongly. `failed`:
there was no answer. `over_budget`: it was not asked.
"""

USABLE = ("ok", "partial")
SAMPLE = re.compile(r"sample_(\d+)")  # what samples of one member are called

ENDED: Mapping[Reason, Ending] = {
    Reason.OK: "ok",
    Reason.LOW_CONFIDENCE: "abstained",
    Reason.CONFIDENCE_MISSING: "abstained",
    Reason.ABSTAINED: "abstained",
    Reason.REFUSED: "abstained",
    Reason.INCOMPLETE: "invalid",
    Reason.MALFORMED: "invalid",
    Reason.MISMATCHED: "invalid",
    Reason.WRONG_TYPE: "invalid",
    Reason.UNDECLARED_OPTION: "invalid",
    Reason.INVALID_NUMBER: "invalid",
    Reason.INCONSISTENT: "invalid",
    Reason.TIMEOUT: "timeout",
    Reason.OVER_BUDGET: "over_budget",
}
"""Reason → ending; every other one is `failed`."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    One member's turn, as it is recorded.

    Attributes:
        member: Who spoke, by its name in the panel.
        role: As what.
        provider: Who that is, by the name that variables give it.
        model: The model that answered, as served; empty if unknown.
        kind: What was wanted.
        round: Of the deliberation.
        attempt: Which try at the same, from 1.
        tag: Tells apart what is otherwise asked alike: samples, for example.
        ending: How it ended.
        reason: `ok`, or why nothing of it may be used.
        said: What was written, as plain values of its form; None: nothing usable, or typed.
        answers: Question → checked answer; also of one that was not sure enough.
        usage: Tokens and money; None where nobody knows.
        begun: Seconds from the beginning of the deliberation.
        seconds: How long it took.
        prompt: SHA-256 of what it was shown; see `Wanted.prompt`.
        notes: What else is worth knowing: `limit:round`, `raised:KeyError`.

    """

    member: str
    role: str
    provider: str
    model: str = ""
    kind: Kind
    round: int
    attempt: int = 1
    tag: str = ""
    ending: Ending
    reason: Reason = Reason.OK
    said: Mapping[str, Any] | None = None
    answers: Mapping[str, Answer] = {}
    usage: Usage | None = None
    begun: float = 0.0
    seconds: float = 0.0
    prompt: str = ""
    notes: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether what was said counts."""
        return self.ending in USABLE

    @property
    def key(self) -> str:
        """What tells it from every other turn of its deliberation."""
        return key_of(self.kind, self.round, self.member, self.attempt, self.tag)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is wanted of a member: either typed answers or something written.

    Attributes:
        member: Of whom.
        kind: What.
        round: In which round.
        attempt: Which try at the same, from 1.
        tag: Tells apart what is otherwise asked alike.
        ask: Typed questions and the state they are about.
        draft: What is to be written.
        form: What was written has to fit this, strictly.
        partial_form: What a part has to fit that was there when the time was up; None: `form`.
        closing: It closes the deliberation: it may use the slice of time and money that was
            held back.

    Raises:
        DeclarationError: Neither or both of *ask* and *draft* are given, or a draft without a
            form.

    """

    member: Member
    kind: Kind
    round: int
    attempt: int = 1
    tag: str = ""
    ask: Ask | None = None
    draft: Draft | None = None
    form: type[msgspec.Struct] | None = None
    partial_form: type[msgspec.Struct] | None = None
    closing: bool = False

    def __post_init__(self) -> None:
        if (self.ask is None) == (self.draft is None):
            raise DeclarationError("a turn is wanted by an `ask` or by a `draft`, and not by both")
        if (self.draft is None) != (self.form is None):
            raise DeclarationError("what is written has a `form`, and nothing else has one")

    @property
    def key(self) -> str:
        """What tells it from everything else that is wanted in its deliberation."""
        return key_of(self.kind, self.round, self.member.name, self.attempt, self.tag)

    @property
    def shown(self) -> str:
        """Everything that the member is shown and told, as canonical JSON."""
        told: dict[str, Any] = {
            "kind": self.kind,
            "round": self.round,
            "attempt": self.attempt,
            "tag": self.tag,
        }
        if self.draft is not None:
            told |= {"instructions": self.draft.instructions, "state": self.draft.text}
            told["form"] = _ordered(self.draft.schema)
        if self.ask is not None:
            told |= {"questions": _ordered(self.ask.questions), "state": self.ask.text}
        return frozen(told)[1]

    @property
    def prompt(self) -> str:
        """The digest of `shown`."""
        return digest(self.shown)

    @property
    def sample(self) -> int:
        """Which further sample of one question it is, by what it is called; 0: it is none."""
        named = SAMPLE.fullmatch(self.tag or self.member.name)
        return 0 if named is None else max(0, int(named[1]) - 1)

    @property
    def characters(self) -> int:
        """About how much is sent."""
        if self.ask is not None:
            return len(self.ask.text) + len(_ordered(self.ask.questions))
        draft = cast("Draft", self.draft)
        return len(draft.text) + len(draft.instructions) + len(_ordered(draft.schema))

    @property
    def written(self) -> int | None:
        """Most tokens that may be written, where that is known."""
        return None if self.draft is None else self.draft.max_tokens


def key_of(kind: str, round: int, member: str, attempt: int, tag: str) -> str:  # noqa: A002 - the field's name
    """Write the key of a turn."""
    return ":".join((kind, str(round), member, str(attempt), *((tag,) if tag else ())))


def turn_of(entry: Entry) -> Turn:
    """Read the turn that an entry holds."""
    return msgspec.convert(entry.body, Turn)


def same_turn(known: Turn, turn: Turn) -> Turn:
    """
    Give the *known* one, where *turn* is it.

    Raises:
        Mismatch: It was shown something else.

    """
    if known.prompt != turn.prompt:
        problem = f"it was shown {known.prompt[:12]}… there, and is shown {turn.prompt[:12]}… now"
        raise Mismatch.at_key(turn.key, problem)
    return known


def digest(text: str) -> str:
    """Give the SHA-256 of *text*, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _ordered(value: object) -> str:
    """Write *value* as JSON in its own order: that of options is part of a question."""
    return msgspec.json.encode(value).decode()
