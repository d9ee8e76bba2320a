"""What programs read: JSON; keys are written as commands take them, and times in ISO 8601."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from ....gateway.cli import screen
from ..assertions import When
from ..keys import FactKey
from ..times import written

TIMES = frozenset(
    {
        *("at", "since", "until", "start", "end"),
        *("recorded_at", "opened_at", "valid_at", "known_at", "last_confirmed"),
    }
)
"""Fields that hold a time; what lasts is in seconds, and says so in its name."""


def readable(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Give *value* as JSON has it: every key as one text, every time in ISO 8601 and UTC."""
    if isinstance(value, FactKey):
        return str(value)
    if isinstance(value, msgspec.Struct):
        return _fields(value)
    if named := getattr(value, "_asdict", None):  # a tuple whose places have names
        return {name: _field(name, one) for name, one in named().items()}
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {str(name): readable(one) for name, one in pairs}
    if isinstance(value, list | tuple | set | frozenset):
        return [readable(one) for one in cast("Iterable[object]", value)]
    return msgspec.to_builtins(value, enc_hook=str)


def _fields(value: msgspec.Struct) -> dict[str, Any]:
    config = value.__struct_config__
    tag = {} if config.tag is None else {str(config.tag_field): config.tag}
    timed = isinstance(value, When)
    return tag | {
        name: _field(name, getattr(value, name), timed=timed) for name in value.__struct_fields__
    }


def _field(name: str, value: object, *, timed: bool = False) -> Any:  # noqa: ANN401 - any JSON
    if name not in TIMES or not isinstance(value, int):
        return readable(value)
    return written(value) if value or timed else None  # 0 stands for a time that there is not


def whole(value: object) -> None:
    """Print *value* as JSON that people can read, too."""
    screen.data(readable(value))


def line(value: object) -> None:
    """Print *value* as one line of JSON."""
    encoded = msgspec.json.encode(readable(value)).decode()
    screen.plain(f"{screen.escaped(encoded)}\n")
