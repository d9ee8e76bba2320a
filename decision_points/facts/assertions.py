"""What somebody said about a fact: never changed, and known by its content."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, TypeAlias

import msgspec

from .keys import FactKey

Evidence: TypeAlias = Literal["explicit", "inferred", "absence", "derived", "human"]
Kind: TypeAlias = Literal["value", "unknown", "ended", "deny"]
"""`value` says what it is; the others, that it is not known, that it ended, that there is none."""

_canonical = msgspec.json.Encoder(order="sorted").encode


def digest(content: object) -> str:
    """Give 32 hexadecimal digits of the SHA-256 of *content* in canonical JSON: an id."""
    return hashlib.sha256(_canonical(content)).hexdigest()[:32]


class Value(msgspec.Struct, frozen=True, order=True):
    """
    A value in canonical form: two are the same if and only if they are equal (RF-16).

    Attributes:
        form: Its type, as policies name it: `text`, `number`, `money`, `date`, … `kind` for what
            is no value: its text is `unknown`, `ended` or `deny`.
        text: Its canonical text.

    """

    form: str
    text: str


class When(msgspec.Struct, frozen=True, order=True):
    """
    A time as precisely as it is known, in microseconds since the epoch (RF-44).

    Attributes:
        start: Its first microsecond.
        end: Behind its last one; that of an instant is its start.

    """

    start: int
    end: int


class Input(msgspec.Struct, frozen=True, order=True):
    """
    A fact that something was derived from, as it was read (RF-36, RF-66).

    Attributes:
        key: The fact.
        outcome: Hash of the outcome that was used.
        sources: Whose word that outcome rests on, down to the roots; none: nobody's that is known.

    """

    key: FactKey
    outcome: str
    sources: tuple[str, ...] = ()


class Assertion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    What one source was read to say about one fact (RF-07).

    Attributes:
        key: The fact.
        kind: Whether it says a value, or that there is none to say.
        value: In canonical form, by the normaliser named; None where `kind` is none of `value`
            and, for members of a set that are denied, `deny`.
        raw: As the source wrote it, byte for byte.
        normaliser: What read it, and its version: `money@1`.
        source: Whose word it is.
        writer: Who read it there; never derived from the source, nor the source from it (RF-12).
        evidence: How it was said.
        confidence: How sure the writer was, in [0, 1]; None: not said.
        observed_at: When the source said so.
        valid_from: From when it holds; None: as long as anybody knows.
        valid_to: Until when it holds, exclusive; None: open.
        source_ref: Where in the source; data, never followed.
        derived_from: What it was derived from.
        corrects: Id of an assertion that it replaces; empty: none by name.

    """

    key: FactKey
    kind: Kind = "value"
    value: Value | None = None
    raw: str = ""
    normaliser: str = ""
    source: str
    writer: str = ""
    evidence: Evidence = "explicit"
    confidence: float | None = None
    observed_at: When | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    source_ref: str = ""
    derived_from: tuple[Input, ...] = ()
    corrects: str = ""

    def content(self) -> tuple[Any, ...]:
        """Give what makes its id: what was written, not how it was read into a canonical form."""
        return (
            self.key,
            self.kind,
            self.raw,
            self.source,
            self.writer,
            self.evidence,
            self.confidence,
            self.observed_at,
            self.valid_from,
            self.valid_to,
            self.source_ref,
            self.derived_from,
            self.corrects,
        )


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """
    An assertion in a store.

    Attributes:
        id: Hash of its content, whoever wrote it and however often (RF-08).
        assertion: What was said.
        recorded_at: When the store took it in, in microseconds since the epoch; it decides
            nothing, and only says what was known when.

    """

    id: str
    assertion: Assertion
    recorded_at: int = 0


def recorded(assertion: Assertion, at: int = 0) -> Recorded:
    """Give *assertion* its id."""
    return Recorded(id=digest(assertion.content()), assertion=assertion, recorded_at=at)
