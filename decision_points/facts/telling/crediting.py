"""Whose word each member of a set is: of those who affirm it, and of who resolved it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from ..outcomes import candidate_id
from .spelling import as_read

if TYPE_CHECKING:
    from ..assertions import Recorded, Value
    from ..entries import Receipt
    from ..folding import Living
    from ..outcomes import Outcome
    from ..policy import Policy


class Credit(msgspec.Struct, frozen=True, kw_only=True):
    """
    Why a member is in a set, or why it is not.

    Attributes:
        sources: Who affirms it, sorted; a denial affirms nothing.
        receipt: The resolution that settled it; None: the rules did.

    """

    sources: tuple[str, ...] = ()
    receipt: Receipt | None = None


def credits_of(outcome: Outcome, living: Living, policy: Policy | None) -> dict[Value, Credit]:
    """
    Give a credit for each member; and for what was chosen instead of one, as that it is none.

    Args:
        outcome: Of a set; of an attribute of one value there are none.
        living: What it was folded from.
        policy: Under which; None: what was written is as it reads it.

    """
    if outcome.members is None:
        return {}
    receipts = {one.id: one for one in living.receipts}
    ruled = {choice: receipts.get(name) for choice, name in outcome.trace.ruled}
    affirmed = _affirmed(outcome, as_read(living.assertions, policy))
    out = [one.value for one in outcome.candidates if one.value.form != "kind" and one.id in ruled]
    made: dict[Value, Credit] = {}
    for one in dict.fromkeys((*outcome.members, *out)):
        receipt = ruled.get(candidate_id(outcome.key, one))
        made[one] = Credit(sources=tuple(sorted(affirmed.get(one, ()))), receipt=receipt)
    return made


def _affirmed(outcome: Outcome, said: Iterable[Recorded]) -> dict[Value, set[str]]:
    unbeaten = frozenset(outcome.trace.unbeaten)
    found: dict[Value, set[str]] = {}
    for one in said:
        value = one.assertion.value
        if one.id in unbeaten and one.assertion.kind == "value" and value is not None:
            found.setdefault(value, set()).add(one.assertion.source)
    return found
