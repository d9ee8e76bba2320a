"""What an explanation holds (RF-63)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from .words import Language, language_of

Counts: TypeAlias = Literal["unbeaten", "beaten", "left_out"]
"""`left_out`: it does not hold at that time, or could not be read."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """
    A value that is left.

    Attributes:
        id: How a dispute names it.
        form: The type of the value. `kind`: the value is `unknown`, `ended` or `deny`; one of
            these three: that is said of a set's member.
        value: As people write it.
        sources: Who says so.
        voices: How many lineages they are.

    """

    id: str
    form: str
    value: str
    sources: tuple[str, ...]
    voices: int


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    One assertion, and how it counts.

    Attributes:
        id: Of the assertion.
        kind: `value`, or that there is none to say: `unknown`, `ended`, `deny`.
        says: The value as people write it; of a denied member that member.
        raw: As the source wrote it, made safe and cut.
        source: Whose word.
        level: Of that source for this attribute; empty: unknown, below all.
        writer: Who read it there.
        evidence: How it was said.
        confidence: How sure the writer was; None: not said.
        observed_at: When the source said so, in ISO 8601.
        valid_from: From when it holds.
        valid_to: Until when.
        source_ref: Where in the source.
        counts: Whether anything beats it.
        on: The key on which it is beaten; `resolution`: somebody chose another value.
        by: Id of one that beats it, or of the receipt.

    """

    id: str
    kind: str
    says: str
    raw: str = ""
    source: str
    level: str
    writer: str = ""
    evidence: str
    confidence: float | None = None
    observed_at: str = ""
    valid_from: str = ""
    valid_to: str = ""
    source_ref: str = ""
    counts: Counts
    on: str = ""
    by: str = ""


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """
    The resolution that counts.

    Attributes:
        id: Of its receipt.
        by: Who resolved.
        party: `person` or `agent`.
        at: When, in ISO 8601.
        reason: Why, made safe and cut.

    """

    id: str
    by: str
    party: str
    at: str
    reason: str


class Membership(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    Why something is a member of a set, or was resolved to be none.

    Attributes:
        member: As people write it.
        holds: Whether it is one.
        sources: Who affirms it.
        resolution: Who resolved it; None: nobody had to.

    """

    member: str
    holds: bool
    sources: tuple[str, ...] = ()
    resolution: Ruling | None = None


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """
    Why a fact stands as it does; the same content gives the same bytes.

    Attributes:
        key: The fact, as commands take it.
        status: Whether there is a value.
        value: As people write it; None unless resolved.
        members: Those of a set; None for an attribute of one value.
        memberships: Whose word each member is, and which resolutions settled one.
        decided_by: What decided; empty where nothing did.
        reason: Why it is disputed.
        stale: `age`, `input_changed`, `redacted`, or empty.
        candidates: What is left.
        runner_up: Id of the best assertion that lost with another value.
        claims: Every live assertion: unbeaten ones first, then by source and id.
        ties: Why no two candidates were decided between: reason and the two.
        dissent: Candidate ids and voices that say otherwise than what was resolved.
        notes: Flags: `unknown_source:<id>`, `future_dated:<id>`, `unreadable:<id>`, …
        dispute: Its id, while candidates are in conflict.
        resolution: Who resolved it; None: nobody.
        policy: Version of the policy.
        registry: Version of the registry.
        valid_at: The point in time that was asked for, in ISO 8601; empty: now.
        known_at: Up to when was looked at what was known; empty: now.
        sentences: The same in one sentence, by language.

    """

    key: str
    status: str
    value: str | None
    members: tuple[str, ...] | None
    memberships: tuple[Membership, ...] = ()
    decided_by: str
    reason: str
    stale: str
    candidates: tuple[Option, ...]
    runner_up: str
    claims: tuple[Claim, ...]
    ties: tuple[tuple[str, str, str], ...]
    dissent: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    dispute: str
    resolution: Ruling | None
    policy: str
    registry: str
    valid_at: str
    known_at: str
    sentences: Mapping[Language, str] = {}

    def as_json(self) -> bytes:
        """Give it as JSON, always in the same order."""
        return msgspec.json.encode(self)

    def sentence(self, language: str = "en") -> str:
        """
        Say it in one sentence; what others wrote stands in quotation marks.

        Raises:
            DeclarationError: Another language than `en` and `pt`.

        """
        return self.sentences[language_of(language)]
