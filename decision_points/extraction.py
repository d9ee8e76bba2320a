"""The parameters of a transaction: what `current` extracts, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ..gateway.errors import DeclarationError
from ..gateway.questions import Value


class Candidate(msgspec.Struct, frozen=True):
    """
    A value that was extracted for one field.

    Attributes:
        value: As it was extracted; None and an empty text are no candidate.
        source: Where it was found: `current`, `history:N`, `state`.

    """

    value: Any
    source: str = ""


class Parameters(msgspec.Struct, frozen=True):
    """
    What is known of a transaction's parameters.

    Attributes:
        candidates: Field → what was extracted; no value comes from anywhere else.
        known: Field → the value known before.
        values: Field → the value that holds now: a resolved candidate or a preserved one.
        clear_fields: Fields to be emptied.
        unresolved: Fields that stay missing.

    """

    candidates: Mapping[str, Candidate]
    known: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}
    clear_fields: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


def read_parameters(value: object) -> Parameters | None:
    """
    Read what the wrapped function returned: `Parameters`, or a dict of its shape.

    A candidate may also be its value alone. None is no extraction.

    Raises:
        DeclarationError: It has another shape.

    """
    if value is None or isinstance(value, Parameters):
        return value
    try:
        given = cast("Mapping[str, Any]", value)
        candidates = {field: _candidate(one) for field, one in given["candidates"].items()}
        return msgspec.convert({**given, "candidates": candidates}, Parameters)
    except (TypeError, KeyError, AttributeError, msgspec.ValidationError):
        shape = "{'candidates': {field: {'value': …, 'source': …}, …}, 'known': {…}}"
        raise DeclarationError(f"an extraction is Parameters or {shape}") from None


def _candidate(found: Any) -> Candidate:  # noqa: ANN401 - the host's own
    if isinstance(found, Candidate):
        return found
    if isinstance(found, Mapping) and "value" in found:
        return msgspec.convert(found, Candidate)
    return Candidate(found)


def extended(state: Mapping[str, Any], found: Parameters) -> Mapping[str, Any]:
    """
    Put candidates and known values into the state that is asked about.

    Raises:
        DeclarationError: The state has no parameter schema.

    """
    if not isinstance(state.get("parameter_schema"), Mapping):
        raise DeclarationError("the state's 'parameter_schema' must be a mapping by parameter")
    candidates = {
        field: {"value": one.value, "source": one.source}
        for field, one in found.candidates.items()
        if field in state["parameter_schema"] and _is_value(one.value)
    }
    known: dict[str, Any] = {**(state.get("known_arguments") or {}), **found.known}
    return {**state, "candidates": candidates, "known_arguments": known}


def merged(found: Parameters, outcome: Mapping[str, Value | None], _: float) -> Parameters:
    """
    Say what holds now, field by field.

    A field without an answer is unresolved, and so is a resolved one without a candidate: no
    decision creates a value. One preserved without being known to the extraction keeps what
    the host has.
    """
    values: dict[str, Any] = {}
    unresolved: list[str] = []
    for field in {**outcome, **dict.fromkeys(found.candidates)}:
        answer, one = outcome.get(field), found.candidates.get(field)
        if answer == "resolved" and one is not None and _is_value(one.value):
            values[field] = one.value
        elif answer == "preserve":
            values.update({field: found.known[field]} if field in found.known else {})
        elif answer != "clear":
            unresolved.append(field)
    return msgspec.structs.replace(
        found,
        values=values,
        clear_fields=tuple(field for field, answer in outcome.items() if answer == "clear"),
        unresolved=tuple(unresolved),
    )


def outcome(found: Parameters) -> Mapping[str, Value | None]:
    """Give what `current` itself decided, by field; None where it does not say."""
    fields = {**found.candidates, **found.values}
    said: dict[str, Value | None] = {field: _said(found, field) for field in fields}
    said.update(dict.fromkeys(found.clear_fields, "clear"))
    said.update(dict.fromkeys(found.unresolved, "unresolved"))
    return said


def _said(found: Parameters, field: str) -> str | None:
    if field not in found.values:
        return None
    one = found.candidates.get(field)
    is_new = one is not None and one.value == found.values[field]
    return "resolved" if is_new else "preserve" if field in found.known else None


def _is_value(value: object) -> bool:
    return value is not None and value != ""
