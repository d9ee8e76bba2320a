"""
Arguments in one written form: equal forms are equal calls, and no two calls share one.

What JSON knows is itself. What it does not know is a mapping with one key that begins with one
NUL, which no other mapping has: theirs get one more.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import hashlib
import json
import sys
import uuid
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import PurePath
from typing import Any, Final, TypeAlias

import msgspec

DEPTH: Final = 100  # levels of nesting; what refers to itself has more
NUL: Final = "\0"
Kinds: TypeAlias = tuple[type[Any], ...]
LISTS: Final[Kinds] = (list, tuple)
SETS: Final[Kinds] = (AbstractSet,)
MAPPINGS: Final[Kinds] = (Mapping,)

_Form = Callable[[Any], Any]


class NotExactError(Exception):
    """Something in the arguments has no one written form; holds its type's name."""


def written(value: object, depth: int = DEPTH) -> str:
    """
    Write *value* down, in ASCII: half of a truncated emoji differs from any other text.

    Raises:
        NotExactError: Something in it has no one form.
        ValueError: A number in it is not finite, or of more digits than Python writes.

    """
    return _as_text(exact(value, depth))


def _as_text(form: object) -> str:
    told = json.dumps(
        form, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    )
    return told.encode("ascii", "backslashreplace").decode()


def exact(value: Any, depth: int) -> Any:  # noqa: ANN401 - any value
    """
    Rebuild *value* of what JSON knows.

    Raises:
        NotExactError: Something in it has no one form.

    """
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, enum.Enum)):
        return value
    if depth == 0:
        raise NotExactError(f"what is nested more than {DEPTH} deep")
    if isinstance(value, enum.Enum):
        return exact(value.value, depth - 1)
    for kind, form in FORMS.items():
        if isinstance(value, kind):
            return form(value)
    if _is(value, LISTS):
        return [exact(one, depth - 1) for one in value]
    if _is(value, SETS):
        return _named("set", sorted((exact(one, depth - 1) for one in value), key=_as_text))
    return _of_fields(value, depth)


def _is(value: object, kinds: Kinds) -> bool:
    return isinstance(value, kinds)


def _of_fields(value: Any, depth: int) -> Any:  # noqa: ANN401 - any value
    if _is(value, MAPPINGS):
        return _mapped(value, depth)
    fields = None if isinstance(value, type) else _fields(value)
    if fields is not None:
        return _named(f"type {type(value).__qualname__}", _mapped(fields, depth))
    return exact(_unwrapped(value), depth - 1)


def _mapped(given: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    if not all(isinstance(name, str) for name in given):
        raise NotExactError("a key that is no text")
    return {
        f"{NUL}{name}" if name.startswith(NUL) else name: exact(one, depth - 1)
        for name, one in given.items()
    }


def _named(name: str, form: object) -> dict[str, object]:
    return {f"{NUL}{name}": form}


def _digest(name: str, value: bytes) -> dict[str, object]:
    return _named(name, hashlib.sha256(value).hexdigest())


FORMS: Final[Mapping[type | tuple[type, ...], _Form]] = {
    (dt.date, dt.time): lambda value: value.isoformat(),
    (uuid.UUID, PurePath): str,
    dt.timedelta: lambda value: _named("timedelta", str(value)),
    decimal.Decimal: lambda value: _named("decimal", str(value)),
    (bytes, bytearray): lambda value: _digest("bytes", bytes(value)),
}
"""Those that JSON knows as texts are texts; a number is none, and a digest is short."""


def _fields(value: Any) -> Mapping[Any, Any] | None:  # noqa: ANN401 - any value
    """Give what *value* holds by its own fields: a serializer may leave out or mask some."""
    try:
        if isinstance(value, msgspec.Struct):
            return msgspec.structs.asdict(value)
        if dataclasses.is_dataclass(value):
            return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        if (model := _loaded("pydantic", "BaseModel")) and isinstance(value, model):
            return _modelled(value)
    except AttributeError:  # one was never set
        raise _strange(value) from None
    return None


def _modelled(value: Any) -> Mapping[Any, Any]:  # noqa: ANN401 - a pydantic model
    fields = {name: getattr(value, name) for name in value.__class__.model_fields}
    return {"fields": fields, "extras": value.__pydantic_extra__ or {}}


def _unwrapped(value: Any) -> object:  # noqa: ANN401 - any value
    """Take out what another library has wrapped."""
    for name in ("SecretStr", "SecretBytes"):
        if (secret := _loaded("pydantic", name)) and isinstance(value, secret):
            held = value.get_secret_value()
            digested = held if isinstance(held, bytes) else held.encode("utf-8", "surrogatepass")
            return _Secret(name, digested)
    number = _loaded("numpy", "generic")
    if number and isinstance(value, number) and value.dtype.kind in "biufSU":
        plain = value.item()
        if type(plain) is not type(value):  # one that Python has no number for
            return plain
    raise _strange(value)


class _Secret(msgspec.Struct, frozen=True):
    kind: str
    held: bytes  # of which a digest is written


def _loaded(library: str, name: str) -> Any:  # noqa: ANN401 - a class, or None
    """Give a class of a *library* that the host has imported; else nothing is of it."""
    return getattr(sys.modules.get(library), name, None)


def _strange(value: object) -> NotExactError:
    return NotExactError(f"a value of type {type(value).__qualname__}")
