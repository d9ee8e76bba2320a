"""What programs read: JSON, in which a fact's key is written as commands take it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from ....gateway.cli import screen
from ..keys import FactKey


def readable(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Give *value* as JSON has it, every key as one text."""
    if isinstance(value, FactKey):
        return str(value)
    if isinstance(value, msgspec.Struct):
        return _fields(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {str(name): readable(one) for name, one in pairs}
    if isinstance(value, list | tuple | set | frozenset):
        return [readable(one) for one in cast("Iterable[object]", value)]
    return msgspec.to_builtins(value, enc_hook=str)


def _fields(value: msgspec.Struct) -> dict[str, Any]:
    config = value.__struct_config__
    tag = {} if config.tag is None else {str(config.tag_field): config.tag}
    return tag | {name: readable(getattr(value, name)) for name in value.__struct_fields__}


def whole(value: object) -> None:
    """Print *value* as JSON that people can read, too."""
    screen.data(readable(value))


def line(value: object) -> None:
    """Print *value* as one line of JSON."""
    encoded = msgspec.json.encode(readable(value)).decode()
    screen.plain(f"{screen.escaped(encoded)}\n")
