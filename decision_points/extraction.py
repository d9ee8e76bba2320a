"""The parameters of a transaction: what `current` extracts, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
        several: Field → what was extracted, where that is more than one. Those that are the same
            in canonical form become the field's one candidate; others tie, and then no answer
            takes any of them.

    """

    candidates: Mapping[str, Candidate]
    known: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}
    clear_fields: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    several: Mapping[str, tuple[Candidate, ...]] = {}


def read_parameters(value: object) -> Parameters | None:
    """
    Read what the wrapped function returned: `Parameters`, or a dict of its shape.

    A candidate may also be its value alone; several candidates for one field are a list of
    candidates that each say their source. None is no extraction.

    Raises:
        DeclarationError: It has another shape.

    """
    if value is None or isinstance(value, Parameters):
        return value
    try:
        given = cast("Mapping[str, Any]", value)
        found = given["candidates"].items()
        several = {field: tuple(map(_candidate, one)) for field, one in found if _are_several(one)}
        candidates = {field: _candidate(one) for field, one in found if field not in several}
        return msgspec.convert({"several": several, **given, "candidates": candidates}, Parameters)
    except (TypeError, KeyError, AttributeError, msgspec.ValidationError):
        shape = "{'candidates': {field: {'value': …, 'source': …}, …}, 'known': {…}}"
        raise DeclarationError(f"an extraction is Parameters or {shape}") from None


def _are_several(found: Any) -> bool:  # noqa: ANN401 - the host's own
    """A list of values is one candidate: only what says its source each is several."""
    if not isinstance(found, list | tuple) or not found:
        return False
    return all(map(_says_source, cast("Sequence[Any]", found)))


def _says_source(one: Any) -> bool:  # noqa: ANN401 - the host's own
    if isinstance(one, Mapping):
        return set(cast("Mapping[str, Any]", one)) == {"value", "source"}
    return isinstance(one, Candidate)


def _candidate(found: Any) -> Candidate:  # noqa: ANN401 - the host's own
    if isinstance(found, Candidate):
        return found
    if isinstance(found, Mapping) and "value" in found:
        return msgspec.convert(found, Candidate)
    return Candidate(found)


def completed(state: Mapping[str, Any], found: Parameters) -> Parameters:
    """
    Add what the state knows: all fields, and known values that the extraction does not have.

    With the fields' types it is also known which of several candidates are the same.

    Raises:
        DeclarationError: The state has no parameter schema, or no mapping of known values.

    """
    schema = _mapping(state.get("parameter_schema"), "parameter_schema")
    before = _mapping(state.get("known_arguments") or {}, "known_arguments")
    known = {field: value for field, value in found.known.items() if _is_value(value)}
    return msgspec.structs.replace(
        _compared(found, schema), known={**before, **known}, fields=tuple(schema)
    )


def _compared(found: Parameters, schema: Mapping[str, Any]) -> Parameters:
    told = {field: _distinct(found, field, schema.get(field)) for field in found.several}
    alone = {field: one for field, one in found.candidates.items() if field not in told}
    alone.update({field: one[0] for field, one in told.items() if len(one) == 1})
    tied = {field: one for field, one in told.items() if len(one) > 1}
    return msgspec.structs.replace(found, candidates=alone, several=tied)


def _distinct(found: Parameters, field: str, schema: object) -> tuple[Candidate, ...]:
    """Give the candidates of *field* that differ in canonical form; of equal ones the first."""
    kept: list[Candidate] = []
    for one in _all_of(found, field):
        if _is_value(one.value) and not any(_same(schema, one.value, it.value) for it in kept):
            kept.append(one)
    return tuple(kept)


def _all_of(found: Parameters, field: str) -> Iterator[Candidate]:
    if field in found.candidates:
        yield found.candidates[field]
    yield from found.several[field]


def _same(schema: object, one: object, other: object) -> bool:
    """Whether two values of a field are one, as facts compare them."""
    if type(one) is type(other) and one == other:
        return True
    from .facts.values import same  # only values that are not plainly equal need it

    kind = cast("Mapping[str, Any]", schema).get("type") if isinstance(schema, Mapping) else None
    return same(kind if isinstance(kind, str) else "", one, other)


def _mapping(given: object, field: str) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given)
    raise DeclarationError(f"the state's {field!r} must be a mapping by parameter")


def extended(state: Mapping[str, Any], found: Parameters) -> Mapping[str, Any]:
    """Put candidates and known values of the transaction's fields into what is asked about."""
    candidates = {
        field: _plain(one)
        for field, one in found.candidates.items()
        if field in found.fields and _is_value(one.value)
    }
    known = {field: value for field, value in found.known.items() if field in found.fields}
    tied = {
        field: [_plain(one) for one in several]
        for field, several in found.several.items()
        if field in found.fields
    }
    asked = {**state, "candidates": candidates, "known_arguments": known}
    return {**asked, "tied_candidates": tied} if tied else asked


def _plain(one: Candidate) -> Mapping[str, Any]:
    return {"value": one.value, "source": one.source}


def merged(found: Parameters, outcome: Mapping[str, Value | None], _: float) -> Parameters:
    """
    Say what holds now, field by field: a value, nothing any more, or unresolved.

    A field without an answer is unresolved, and so is a resolved one without a candidate or
    with several that differ, and a preserved one without a known value: no decision creates a
    value, and none picks one of a tie.
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
    value = found.values[field]
    is_new = one is not None and _same({"type": _type_of(value)}, one.value, value)
    return "resolved" if is_new else "preserve" if field in found.known else None


def _type_of(value: object) -> str:
    """Name the type of a value as it was stored: the schema is not there to say it."""
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else ""


def _is_value(value: object) -> bool:
    return value is not None and value != ""
