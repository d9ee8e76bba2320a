"""A fact as JSON: never one value where there is a dispute."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ..assertions import Value
from ..telling.escaping import escaped
from ..times import written
from ..values import plain

if TYPE_CHECKING:
    from ..disputes import Dispute
    from ..outcomes import Candidate
    from ..reading import Reading

NOTHING: Mapping[Value, str] = MappingProxyType({})
LONGEST = 4000  # characters of one text that a model is shown


def as_json(reading: Reading, language: str = "en") -> dict[str, Any]:
    """
    Write *reading* as JSON, with what a prompt may say of it under `text`.

    `value` is null unless the fact is resolved; `candidates` then says what is left, and whose
    word that is.
    """
    outcome = reading.outcome
    resolved = reading.status == "resolved"
    left = () if resolved else outcome.candidates
    return {
        "fact": str(reading.key),
        "status": reading.status,
        "standing": reading.standing,
        "value": msgspec.to_builtins(reading.value, str_keys=True) if resolved else None,
        "candidates": [_candidate(one, reading.spelt) for one in left],
        "decided_by": outcome.decided_by,
        "reason": outcome.reason,
        "dispute": outcome.dispute,
        "stale": reading.stale,
        "text": reading.text(language),
    }


def _candidate(one: Candidate, spelt: Mapping[Value, str] = NOTHING) -> dict[str, Any]:
    value = spelt[one.value] if one.value in spelt else plain(one.value)
    return {
        "id": one.id,
        "value": msgspec.to_builtins(value, str_keys=True),
        "sources": list(one.sources),
    }


def dispute_as_json(one: Dispute, spelt: Mapping[Value, str] = NOTHING) -> dict[str, Any]:
    """
    Write a dispute as JSON: between what, since when, and whose it is.

    Args:
        one: The dispute.
        spelt: How sources wrote texts.

    """
    return {
        "id": one.id,
        "fact": str(one.key),
        "state": one.state,
        "reason": one.reason,
        "candidates": [_candidate(each, spelt) for each in one.candidates],
        "opened_at": written(one.opened_at),
        "assigned_to": one.assigned_to,
    }


def harmless(data: Any, limit: int = LONGEST) -> Any:  # noqa: ANN401 - any JSON
    """
    Give *data* with every text on one line, without what steers a terminal, and not endless.

    Args:
        data: JSON.
        limit: Longest text, in characters; what is cut ends in `…`.

    """
    if isinstance(data, str):
        return escaped(data, limit)
    if isinstance(data, dict):
        named = cast("dict[str, object]", data)
        return {escaped(name, limit): harmless(one, limit) for name, one in named.items()}
    if isinstance(data, list):
        return [harmless(one, limit) for one in cast("list[object]", data)]
    return data
