"""Whether two values are the same, told by the name of a type alone."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, cast

from ....gateway.errors import SetupError
from ..errors import Refused
from .plainly import scalar
from .reading import TYPES, Normaliser, normaliser
from .showing import raw_of

_JSON: Final = {"string": "text", "integer": "number", "number": "number", "boolean": "boolean"}


def same(type: str, a: object, b: object) -> bool:  # noqa: A002 - JSON Schema's word
    """
    Say whether two values are the same, whoever wrote them and however.

    Args:
        type: As JSON Schema calls it (`string`, `number`, `integer`, `boolean`, `object`,
            `array`, `null`), or a type of attribute (`money`, `date`, …); others are text.
        a: A value: text, a number, true or false, a date, a table, a list.
        b: Another.

    Returns:
        Whether both are read as the same value. What cannot be read, because it is none of the
        type, is ambiguous without a locale, or needs a library that is not installed, is the same
        as what was written the same.

    """
    if type in ("object", "array", "null"):
        return _same_json(a, b)
    try:
        reads = _of_type(_JSON.get(type, type if type in TYPES else "text"))
        return reads.read(raw_of(a)) == reads.read(raw_of(b))
    except (Refused, SetupError):  # a library that is not installed is needed for neither
        return _same_json(a, b)


@lru_cache(maxsize=32)
def _of_type(type: str) -> Normaliser:  # noqa: A002 - JSON Schema's word
    from ..policy import Attribute

    return normaliser(Attribute(name=type, type=type))


def _same_json(a: object, b: object) -> bool:
    try:
        return bool(_plain(a) == _plain(b))
    except Refused:
        return a is b


def _plain(given: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(given, bool) or given is None:
        return ("bool", given)
    if isinstance(given, int | float | Decimal):
        number = Decimal(repr(given)) if isinstance(given, float) else Decimal(given)
        return ("number", number if number.is_finite() else str(number))
    if isinstance(given, dict):
        table = cast("dict[object, object]", given)
        return {str(name): _plain(one) for name, one in table.items()}
    if isinstance(given, list | tuple):
        return [_plain(one) for one in cast("list[object]", given)]
    return ("text", given if isinstance(given, str) else scalar(raw_of(given)))
