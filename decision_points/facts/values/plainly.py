"""Between JSON and the texts that are read as values; a number is never a float on its way."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from .numbers import machine_text
from .texts import malformed

encode = msgspec.json.Encoder(order="sorted", decimal_format="number").encode

_decode_table = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode
_decode_list = msgspec.json.Decoder(list[Any], float_hook=Decimal).decode

_BROKEN = (msgspec.DecodeError, ValueError, ArithmeticError, RecursionError)


def table_of(raw: str) -> dict[str, Any]:
    """
    Read a table in JSON, its numbers as they are written.

    Raises:
        Refused: `malformed_value`: it is none.

    """
    try:
        return _decode_table(raw)
    except _BROKEN:
        return malformed("it is no table in JSON")


def list_of(raw: str) -> list[Any]:
    """
    Read a list in JSON, its numbers as they are written.

    Raises:
        Refused: `malformed_value`: it is none.

    """
    try:
        return _decode_list(raw)
    except _BROKEN:
        return malformed("it is no list in JSON")


def scalar(given: object) -> str:
    """
    Write what JSON holds as a source would have: a text as it is, nothing for null.

    A number is written so that no locale reads another one: `12`, `1.5E0`.
    """
    if isinstance(given, str):
        return given
    if given is None:
        return ""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int | float | Decimal):
        return _number(given)
    return encode(given).decode()


def _number(given: float | Decimal) -> str:
    if isinstance(given, int):
        return str(given)
    return machine_text(given if isinstance(given, Decimal) else Decimal(repr(given)))
