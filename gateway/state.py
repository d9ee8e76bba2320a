"""The state: what a decider is shown, and its one written form."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import math
import uuid
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import msgspec

from .errors import NoJson

State: TypeAlias = Any
"""Text, or anything that is JSON; a list of `{"role": …, "content": …}` is read as messages."""

DEPTH = 100  # levels of nesting that the search for an offender follows
FIX = "Pass `ask=` to the point and show only what deciders need"

_SCALARS = (int, float, decimal.Decimal, uuid.UUID, dt.date, dt.time, dt.datetime)


def _dumped(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError
    return dump(mode="json")


def _shallow(value: object) -> object:
    return msgspec.to_builtins(value, enc_hook=_dumped, order="deterministic")


_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=_dumped, decimal_format="string")
_strict = json.JSONEncoder(allow_nan=False, skipkeys=True, default=_shallow)


def clean(text: str) -> str:
    """Replace what UTF-8 cannot write, half of a truncated emoji, by U+FFFD; a plain `str`."""
    if text.isascii():
        return text if type(text) is str else str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text if type(text) is str else str.__str__(text)


def frozen(state: State) -> tuple[State, str]:
    """
    Give *state* as it can be sent, and its text: JSON with sorted keys and no blanks.

    Raises:
        NoJson: It holds something that is no JSON; the value is not repeated.

    """
    if isinstance(state, str):
        text = clean(state)
        return text, text
    try:
        written = _encoder.encode(state)
        if b"null" in written:  # what a NaN would become
            _strict.encode(state)
        return state, written.decode()
    except Exception:  # noqa: BLE001 - a stranger's `model_dump` may raise anything
        plain = _plain(state, "state", DEPTH)
    return plain, _encoder.encode(plain).decode()


def _plain(value: Any, path: str, depth: int) -> Any:  # noqa: ANN401 - any value
    """
    Rebuild *value* of what JSON knows: the slow way, once the fast one has failed.

    Raises:
        NoJson: Something in it is no JSON; the text says where, and of what type.

    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise NoJson(f"{path} is {value}, which JSON cannot hold. {FIX}")
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth == 0:
        raise NoJson(f"{path[:60]}… is nested more than {DEPTH} deep. {FIX}")
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[object, object]", value), path, depth - 1)
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [_plain(one, f"{path}[{at}]", depth - 1) for at, one in enumerate(items)]
    return _plain(_simpler(value, path), path, depth - 1)


def _mapping(given: Mapping[object, object], path: str, depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, value in given.items():
        name = _key(key, path)
        if name in plain:
            raise NoJson(f"{path} has two keys that are written alike. {FIX}")
        shown = f".{name}" if name.isidentifier() and len(name) <= 40 else "[…]"  # noqa: PLR2004
        plain[name] = _plain(value, f"{path}{shown}", depth)
    return plain


def _key(key: object, path: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str):
        return clean(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, _SCALARS):
        return str(key)
    raise NoJson(f"a key of {path} is of type {_type(key)}, which is no text. {FIX}")


def _simpler(value: object, path: str) -> object:
    """Turn a model, a dataclass, a date or a set into what JSON knows."""
    try:
        simple = _shallow(value)
        if type(simple) is not type(value):
            return simple
    except Exception:  # noqa: BLE001, S110 - whatever it raises, it is no JSON
        pass
    raise NoJson(f"{path} is of type {_type(value)}, which is no JSON. {FIX}") from None


def _type(value: object) -> str:
    return type(value).__qualname__
