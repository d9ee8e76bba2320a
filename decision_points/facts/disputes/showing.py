"""A dispute as FACT_DISPUTE is shown it: candidates with who says so, and nothing that decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ..assertions import Value
from ..fact_dispute import Proposed, Statement
from ..outcomes import Candidate, candidate_id
from ..telling.escaping import escaped
from ..telling.spelling import SAID_OF_MEMBERS, spellings, spelt_apart
from ..values import shown

if TYPE_CHECKING:
    from ..assertions import Assertion, When
    from ..ledger.view import View
    from .standing import Present

STATEMENTS = 5  # of a candidate; what more say so is told by its voices
LENGTH = 500  # characters of a text of a source


def state_of(view: View, now: Present) -> dict[str, Any]:
    """Give the state of FACT_DISPUTE for a dispute as it is *now*; texts of sources are data."""
    living = view.living(now.dispute.key)
    said = {one.id: one.assertion for one in living.assertions}
    left = now.outcome.candidates
    how = spellings(now.outcome, living.assertions, view.versions()[0])
    values = spelt_apart((one.value for one in left), how, "en", LENGTH)
    proposed = [_proposed(view, now, one, said, _told(one.value, values)) for one in left]
    fact = f"{now.dispute.key}"[:LENGTH]
    plain: list[Any] = msgspec.to_builtins(proposed)
    return {"fact": fact, "reason": now.dispute.reason, "candidates": plain}


def alike(state: Mapping[str, Any]) -> bool:
    """Whether two candidates of *state* cannot be told apart by what they say."""
    values = [one["value"] for one in state["candidates"]]
    return len(set(values)) < len(values)


def _told(value: Value, written: Mapping[Value, str]) -> str:
    """Write a value; what is said instead of one, or of a set's member, says so itself."""
    if value.form == "kind":
        return shown(value)
    if value.form in SAID_OF_MEMBERS:
        return f"{shown(Value('kind', value.form))}: {written[value]}"
    return written[value]


def _proposed(
    view: View, now: Present, candidate: Candidate, said: dict[str, Assertion], value: str
) -> Proposed:
    key = now.dispute.key
    unbeaten = [said[one] for one in candidate.assertions if one in said]
    beaten = [
        one
        for id_, one in said.items()
        if id_ not in candidate.assertions
        and one.value is not None
        and candidate_id(key, one.value) == candidate.id
    ]
    registry = view.versions()[1]
    told = [
        _statement(one, registry.level(one.source, key.attribute)) for one in (*unbeaten, *beaten)
    ]
    return Proposed(
        id=candidate.id,
        value=value,
        statements=tuple(told[:STATEMENTS]),
        voices=candidate.voices,
    )


def _statement(one: Assertion, level: str) -> Statement:
    return Statement(
        source=escaped(one.source, LENGTH),
        level=level,
        evidence=one.evidence,
        confidence=None if one.confidence is None else round(100 * one.confidence, 4),
        observed=_day(one.observed_at),
        valid_from=_day(one.valid_from),
        writer=escaped(one.writer, LENGTH),
        reference=escaped(one.source_ref, LENGTH),
    )


def _day(moment: When | None) -> str:
    from ..times import written

    return "" if moment is None else written(moment)
