"""What a policy declares about an attribute: its type, and what decides between its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from ..assertions import Evidence
from ..files.durations import spelt
from ..files.tables import written

Key: TypeAlias = Literal["authority", "evidence", "confidence", "recency"]
"""What two assertions are compared by; the first that differs decides (RF-24)."""

KEYS: tuple[Key, ...] = ("authority", "confidence", "recency")

EVIDENCE: tuple[tuple[Evidence, ...], ...] = (
    ("human",),
    ("explicit",),
    ("inferred", "derived"),
    ("absence",),
)


class Corroboration(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """
    How far ahead in voices a value must be to win among those that are left (RF-33).

    Attributes:
        lead: By how many lineages, at least; None: by any number.
        share: Which share of the lineages, above a half and up to 1; None: any. Where both are
            said, both must hold.

    """

    lead: int | None = None
    share: float | None = None


class Attribute(msgspec.Struct, frozen=True, kw_only=True):
    """
    One attribute, as declared (RF-03).

    Attributes:
        name: As in a fact's key.
        type: Of its values: `text`, `number`, `money`, `date`, …
        cardinality: `many`: a set, whose members are asserted and denied one by one.
        change: Whether the world changes it; only then a later time counts (RF-29).
        keys: What decides, in this order.
        edges: Where confidence goes from one band to the next, ascending, in (0, 1) (RF-27).
        margin: By how much confidence must be higher instead, in (0, 1); None: bands.
        evidence: Kinds of evidence, the best first; those of one tier are equal.
        basis: Which time counts for recency (RF-30): that from which it holds or else its
            observation, the first observation, or the last one.
        freshness: Older than this a value is stale, in microseconds (RF-62); None: never.
        tolerance: Numbers and dates within it agree in the end (RF-83): `0.5`, `2%`, `10m`;
            None: equal ones only.
        dissent: `guard`: a winner is disputed that half of the other lineages contradict (RF-33).
        corroboration: Lets voices decide among the values left; None: they do not.
        strict: Refuse what is written without a confidence.
        hierarchy: Name of the one in which its values contain each other (RF-85); empty: none.
        case: Whether upper and lower case differ in a text, a place or names: `keep`, they do.
        options: Those of an `enum` → other spellings of them.
        locale: In which numbers and dates are written, as `pt_BR`; empty: not known.
        zone: Where a day or a clock time without a zone is meant, as `America/Sao_Paulo`.
        currency: Of amounts that name none, as `BRL`; empty: such an amount is refused.
        formats: How dates may be written besides, for `strptime`; each has a year.
        fields: Those of a `record`, which are decided together (RF-05).

    """

    name: str
    type: str = "text"
    cardinality: Literal["one", "many"] = "one"
    change: Literal["never", "over_time"] = "never"
    keys: tuple[Key, ...] = KEYS
    edges: tuple[float, ...] = (0.6, 0.85)
    margin: float | None = None
    evidence: tuple[tuple[Evidence, ...], ...] = EVIDENCE
    basis: Literal["effective", "observed", "confirmed"] = "effective"
    freshness: int | None = None
    tolerance: str | None = None
    dissent: Literal["show", "guard"] = "show"
    corroboration: Corroboration | None = None
    strict: bool = False
    hierarchy: str = ""
    case: Literal["fold", "keep"] = "fold"
    options: Mapping[str, tuple[str, ...]] = {}
    locale: str = ""
    zone: str = "UTC"
    currency: str = ""
    formats: tuple[str, ...] = ()
    fields: Mapping[str, Attribute] = {}

    def __hash__(self) -> int:
        return hash((self.name, self.type, self.keys))  # its tables have none of their own

    def plain(self) -> dict[str, Any]:
        """Give it as a table of a policy file holds it, without its name."""
        plain = written(self)
        del plain["name"]
        if self.freshness is not None:
            plain["freshness"] = spelt(self.freshness)
        if self.fields:
            plain["fields"] = {name: one.as_field() for name, one in self.fields.items()}
        return plain

    def as_field(self) -> dict[str, Any]:
        """Give it as the field of a record, which is written like the record unless it says so."""
        own = {"locale": self.locale, "zone": self.zone, "currency": self.currency}
        return {**self.plain(), **own}
