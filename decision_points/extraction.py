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
        known: Field → the value known before, by the extraction or else by the state.
        values: Field → the value that holds now: a resolved candidate or a preserved one.
        clear_fields: Fields to be emptied.
        unresolved: Fields that stay missing: neither a value nor to be emptied.
        fields: All fields of the transaction, from the state's schema.

    """

    candidates: Mapping[str, Candidate]
    known: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}
    clear_fields: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


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


def completed(state: Mapping[str, Any], found: Parameters) -> Parameters:
    """
    Add what the state knows: all fields, and known values that the extraction does not have.

    Raises:
        DeclarationError: The state has no parameter schema, or no mapping of known values.

    """
    fields = tuple(_mapping(state.get("parameter_schema"), "parameter_schema"))
    before = _mapping(state.get("known_arguments") or {}, "known_arguments")
    known = {field: value for field, value in found.known.items() if _is_value(value)}
    return msgspec.structs.replace(found, known={**before, **known}, fields=fields)


def _mapping(given: object, field: str) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given)
    raise DeclarationError(f"the state's {field!r} must be a mapping by parameter")


def extended(state: Mapping[str, Any], found: Parameters) -> Mapping[str, Any]:
    """Put candidates and known values of the transaction's fields into what is asked about."""
    candidates = {
        field: {"value": one.value, "source": one.source}
        for field, one in found.candidates.items()
        if field in found.fields and _is_value(one.value)
    }
    known = {field: value for field, value in found.known.items() if field in found.fields}
    return {**state, "candidates": candidates, "known_arguments": known}


def merged(found: Parameters, outcome: Mapping[str, Value | None], _: float) -> Parameters:
    """
    Say what holds now, field by field: a value, nothing any more, or unresolved.

    A field without an answer is unresolved, and so is a resolved one without a candidate and
    a preserved one without a known value: no decision creates a value.
    """
    values = {
        field: value
        for field in found.fields
        if _is_value(value := _value(found, field, outcome.get(field)))
    }
    cleared = tuple(field for field in found.fields if outcome.get(field) == "clear")
    missing = (field for field in found.fields if field not in values and field not in cleared)
    return msgspec.structs.replace(
        found, values=values, clear_fields=cleared, unresolved=tuple(missing)
    )


def _value(found: Parameters, field: str, answer: Value | None) -> object:
    if answer == "preserve":
        return found.known.get(field)
    one = found.candidates.get(field)
    return one.value if answer == "resolved" and one is not None else None


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
