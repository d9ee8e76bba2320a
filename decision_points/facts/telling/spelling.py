"""
Values as people wrote them.

The canonical form of a text has no capitals: it is for comparing. What is shown is the text of an
assertion that says so, of one that nothing beats where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from ..folding import said
from ..values import shown
from .escaping import SHORT, apart, escaped

if TYPE_CHECKING:
    from ..assertions import Assertion, Recorded, Value
    from ..outcomes import Outcome
    from ..policy import Policy

FORMS = frozenset({"text", "place", "names"})
"""Types whose canonical form is not as people write them."""

SAID_OF_MEMBERS = frozenset({"unknown", "ended", "deny"})
"""Forms in which a dispute about a set holds what is said of a member."""

Spellings: TypeAlias = "Mapping[Value, str]"
"""Value → as a source wrote it."""


def as_read(held: Iterable[Recorded], policy: Policy | None) -> Iterator[Recorded]:
    """Give what is said with its values as *policy* reads them; None: as they were written."""
    for one in held:
        now = one.assertion.value
        if policy is not None and one.assertion.kind == "value":
            now = said(one, policy)
        same = now == one.assertion.value
        yield one if same else replace(one, assertion=replace(one.assertion, value=now))


def spellings(
    outcome: Outcome, held: Iterable[Recorded], policy: Policy | None = None
) -> dict[Value, str]:
    """
    Give how the values of a fact are written; the same for the same set, in whatever order.

    Args:
        outcome: Of the fact.
        held: What is said of it.
        policy: Under which it was folded; None: what was written is as it reads it.

    """
    unbeaten = frozenset(outcome.trace.unbeaten)
    found: dict[Value, str] = {}
    for one in sorted(as_read(held, policy), key=lambda one: (one.id not in unbeaten, one.id)):
        value = one.assertion.value
        if value is not None and value.form in FORMS:
            found.setdefault(value, one.assertion.raw)
    return found


def spelt(value: Value, written: Spellings, language: str, limit: int = SHORT) -> str:
    """
    Write *value* for people, made safe and cut; as a source wrote it, where that is known.

    Of what is said of a set's member, as that there is none, it is the member.
    """
    return escaped(_wording(value, written, language), limit)


def spelt_apart(
    values: Iterable[Value | None], written: Spellings, language: str, limit: int = SHORT
) -> dict[Value, str]:
    """Write *values* as `spelt` does, so that a cut does not make two of them look the same."""
    every = tuple(dict.fromkeys(one for one in values if one is not None))
    texts = apart([_wording(one, written, language) for one in every], limit)
    return dict(zip(every, texts, strict=True))


def _wording(value: Value, written: Spellings, language: str) -> str:
    if value.form == "kind":
        return value.text
    if value.form in SAID_OF_MEMBERS:
        same = (raw for one, raw in written.items() if one.text == value.text)
        return next(same, value.text)
    return written.get(value) or shown(value, language)


def as_said(assertion: Assertion, limit: int = SHORT) -> str:
    """Write what an assertion says for people, made safe and cut; empty where it says no value."""
    value = assertion.value
    if value is None:
        return escaped(assertion.raw, limit) if assertion.kind == "value" else ""
    return spelt(value, {value: assertion.raw} if value.form in FORMS else {}, "en", limit)
