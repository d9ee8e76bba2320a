"""
What TRANSACTION_PARAMETER_RECONCILIATION decided about parameters that are facts (RF-39).

Each treatment has a need. One that fails it is `unresolved`, and the others stand:

- `resolved` needs a listed candidate, and becomes an assertion; it holds if the fact then comes
  to that value, which a better source or an equal one may prevent;
- `preserve` needs a value that is live now and the same as the known one; it adds no assertion;
- `clear` needs that somebody said explicitly that it ended, or that there is none;
- `unresolved` leaves the fact's dispute, or a question.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Required, TypeAlias, TypedDict, Unpack

import msgspec

from ..extraction import Parameters, outcome
from .errors import Refused
from .keys import FactKey
from .outcomes import Outcome

if TYPE_CHECKING:
    from .assertions import Value
    from .store import FactStore

Kind: TypeAlias = Literal["resolved", "preserve", "clear", "unresolved"]

UNRESOLVED: Kind = "unresolved"


class Clearing(msgspec.Struct, frozen=True, kw_only=True):
    """
    Where somebody explicitly says that a parameter has no value any more.

    Attributes:
        kind: `ended`, or `deny`: there is none.
        source: Whose word; empty: that of the parameters.
        source_ref: Where in the source; data, never followed.

    """

    kind: Literal["ended", "deny"] = "ended"
    source: str = ""
    source_ref: str = ""


class Treatment(msgspec.Struct, frozen=True, kw_only=True):
    """
    What became of one parameter.

    Attributes:
        field: The parameter.
        key: Its fact.
        asked: What was decided about it.
        treatment: What it came to: the same, or `unresolved`.
        value: The value that holds, as plain Python; None: none does.
        why: Why it is unresolved: `undecided`, `not_listed`, `tie` (several candidates differ),
            `outranked`, `disputed`, `no_value`, `stale`, `moved` (the known value is no longer
            the live one), `no_evidence`, `all_or_none`, or the code of what was refused.
        assertion: Id of what was asserted; empty: nothing was.
        dispute: Id of the dispute that is open; empty: none is.

    """

    field: str
    key: FactKey
    asked: Kind
    treatment: Kind
    value: Any = None
    why: str = ""
    assertion: str = ""
    dispute: str = ""


class Treated(msgspec.Struct, frozen=True):
    """
    What became of the parameters.

    Attributes:
        treatments: Of each parameter that is a fact, in order.
        parameters: What the host goes on with: what holds, is to be emptied, stays missing.

    """

    treatments: tuple[Treatment, ...]
    parameters: Parameters


class Speaking(TypedDict, total=False):
    """
    Whose word candidates are.

    Attributes:
        source: By which they are ranked, as `customer`.
        writer: Who read them there.
        clearings: Parameter → where somebody says that it has no value.
        all_or_none: One that is unresolved leaves all of them so.

    """

    source: Required[str]
    writer: str
    clearings: Mapping[str, Clearing]
    all_or_none: bool


def treated(
    store: FactStore,
    keys: Mapping[str, FactKey],
    parameters: Parameters,
    **speaking: Unpack[Speaking],
) -> Treated:
    """
    Carry out what was decided about parameters that are facts.

    With `all_or_none` nothing is written where a need fails before. What was said is kept where
    it shows only afterwards that it does not hold; then no parameter has a value.

    Args:
        store: Where the facts are.
        keys: Parameter → its fact; parameters without one stay as they are.
        parameters: As the decision point gave them.
        **speaking: Whose word candidates are, and whether all depend on each.

    Raises:
        StoreDown: The database cannot be used.

    """
    every = _Treating(store, parameters, speaking)
    plans = [every.planned(field, key) for field, key in keys.items()]
    if speaking.get("all_or_none") and any(one.why for one in plans):
        return _told(parameters, [_withheld(one) for one in plans])
    done = [one if one.why else every.done(one) for one in plans]
    if speaking.get("all_or_none") and any(one.why for one in done):
        done = [_withheld(one) for one in done]
    return _told(parameters, done)


class _Treating:
    """One call: needs are looked at first, and then all is written."""

    def __init__(self, store: FactStore, parameters: Parameters, speaking: Speaking) -> None:
        self.store, self.parameters = store, parameters
        self.source, self.writer = speaking["source"], speaking.get("writer", "")
        self.clearings = speaking.get("clearings", {})
        self.said = outcome(parameters)

    def planned(self, field: str, key: FactKey) -> Treatment:
        """Look whether what was decided about *field* has what it needs; write nothing."""
        kind = self._asked(field)
        one = Treatment(field=field, key=key, asked=kind, treatment=kind)
        if kind == "preserve":
            return self._preserved(one)
        return _failed(one, why) if (why := self._lack(one)) else one

    def _asked(self, field: str) -> Kind:
        match self.said.get(field):
            case "resolved" | "preserve" | "clear" as kind:
                return kind
            case _:
                return UNRESOLVED

    def _lack(self, one: Treatment) -> str:
        if one.asked == "clear":
            return "" if one.field in self.clearings else "no_evidence"
        if one.asked == "resolved":
            return self._unwritable(one)
        if one.field in self.parameters.several:
            return "tie"
        return "not_listed" if one.field in self.parameters.values else "undecided"

    def _unwritable(self, one: Treatment) -> str:
        try:
            self.store.entry(**self._said(one))
        except Refused as error:
            return error.code
        return ""

    def _preserved(self, one: Treatment) -> Treatment:
        reading = self.store.get(one.key)
        if reading.status != "resolved":
            why = "disputed" if reading.status == "disputed" else "no_value"
            return _failed(one, why, reading.outcome)
        if reading.stale:
            return _failed(one, "stale")
        if self._known(one) != reading.outcome.value:
            return _failed(one, "moved")
        return msgspec.structs.replace(one, value=reading.value)

    def _known(self, one: Treatment) -> Value | None:
        """Read the known value, on which the decision rests, as the fact's own are read."""
        try:
            said = self.store.entry(**self._of(one), value=self.parameters.known[one.field])
        except Refused:
            return None
        return said.assertion.value

    def done(self, one: Treatment) -> Treatment:
        """Write what *one* needs, and look what the fact comes to."""
        if one.asked == "preserve":
            return one
        said = self._cleared(one) if one.asked == "clear" else self._said(one)
        try:
            written = self.store.assert_(**said)
        except Refused as error:  # meanwhile: a limit was reached, a policy adopted
            return _failed(one, error.code)
        one, found = msgspec.structs.replace(one, assertion=written.id), written.outcome
        if one.asked == "clear":
            empty = found.status in ("absent", "ended")
            return one if empty else _failed(one, _lost(found), found)
        if not self._holds(one, found):
            return _failed(one, _lost(found), found)
        return msgspec.structs.replace(one, value=self.store.get(one.key).value)

    def _holds(self, one: Treatment, found: Outcome) -> bool:
        """Whether the fact comes to the candidate, or to one that says it more finely."""
        if found.status != "resolved":
            return False
        picked = found.decided_by in ("resolution", "corroboration")  # among unbeaten that differ
        said = self.store.entry(**self._said(one)).assertion.value
        return found.value == said or (not picked and one.assertion in found.trace.unbeaten)

    def _of(self, one: Treatment) -> dict[str, Any]:
        key = one.key
        return {
            "entity": key.entity,
            "attribute": key.attribute,
            "qualifiers": dict(key.qualifiers),
            "source": self.source,
            "writer": self.writer,
        }

    def _said(self, one: Treatment) -> dict[str, Any]:
        found = self.parameters.candidates[one.field]
        return {**self._of(one), "value": found.value, "source_ref": found.source}

    def _cleared(self, one: Treatment) -> dict[str, Any]:
        clearing = self.clearings[one.field]
        of, ref = self._of(one), clearing.source_ref
        return {
            **of,
            "kind": clearing.kind,
            "source": clearing.source or self.source,
            "source_ref": ref,
        }


def _failed(one: Treatment, why: str, found: Outcome | None = None) -> Treatment:
    dispute = found.dispute if found is not None and found.status == "disputed" else ""
    return msgspec.structs.replace(one, treatment=UNRESOLVED, value=None, why=why, dispute=dispute)


def _lost(found: Outcome) -> str:
    return "disputed" if found.status == "disputed" else "outranked"


def _withheld(one: Treatment) -> Treatment:
    return one if one.why else _failed(one, "all_or_none")


def _told(parameters: Parameters, done: list[Treatment]) -> Treated:
    """Put what became of facts into *parameters*; what is no fact stays as it was."""
    facts = {one.field: one for one in done}
    values = {name: value for name, value in parameters.values.items() if name not in facts}
    values.update({one.field: one.value for one in done if one.value is not None})
    kept = msgspec.structs.replace(
        parameters,
        values=values,
        clear_fields=_named(parameters.clear_fields, facts, "clear"),
        unresolved=_named(parameters.unresolved, facts, UNRESOLVED),
    )
    return Treated(tuple(done), kept)


def _named(before: tuple[str, ...], facts: Mapping[str, Treatment], kind: Kind) -> tuple[str, ...]:
    others = tuple(name for name in before if name not in facts)
    return (*others, *(name for name, one in facts.items() if one.treatment == kind))
