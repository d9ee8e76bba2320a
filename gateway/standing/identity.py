"""Which call a decision was made for: point, subject, call id and exact arguments, as one text."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ..errors import DeclarationError

if TYPE_CHECKING:
    from ..cases import Case

DEPTH = 100  # levels of nesting; what refers to itself has more
WORDED = (decimal.Decimal, uuid.UUID, dt.date, dt.time)  # written by `str`, without loss


class _NotExact(Exception):
    """Something in the arguments has no one written form; holds its type's name."""


def identity_of(case: Case) -> str:
    """
    Write down which call *case* is decided for; two are the same only where all of it is.

    Raises:
        DeclarationError: The arguments are no JSON; the value is not repeated.

    """
    once = case.once
    assert once is not None
    try:
        told = [case.point.name, case.call.subject, once.call, _plain(once.arguments, DEPTH)]
        # ASCII: half of a truncated emoji stays what it is, and differs from any other
        return json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except _NotExact as why:
        problem = f"the arguments hold {why}, which is no JSON"
    except ValueError:  # not finite, or of more digits than Python writes
        problem = "the arguments hold a number that JSON cannot write"
    fix = "Give `once` the exact arguments as JSON knows them"
    raise DeclarationError(f"{case.point.name}: {problem}. {fix}")


def _plain(value: Any, depth: int) -> Any:  # noqa: ANN401 - any value
    """Rebuild *value* of what JSON knows: kinds of containers do not matter, those of values do."""
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, WORDED):
        return str(value)
    if depth == 0:
        raise _NotExact(f"what is nested more than {DEPTH} deep")
    if isinstance(value, list | tuple):
        return [_plain(one, depth - 1) for one in cast("list[Any]", value)]
    fields = _fields(value)
    if not all(isinstance(name, str) for name in fields):
        raise _NotExact("a key that is no text")
    return {name: _plain(one, depth - 1) for name, one in fields.items()}


def _fields(value: Any) -> Mapping[Any, Any]:  # noqa: ANN401 - any value
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value)
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    try:
        dumped = None if dump is None else dump()
    except Exception:  # noqa: BLE001 - a stranger's model may raise anything
        dumped = None
    if isinstance(dumped, Mapping):
        return cast("Mapping[object, object]", dumped)
    raise _NotExact(f"a value of type {type(value).__qualname__}")
