"""The state: what a decider is shown, and its one written form."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from .errors import DeclarationError

State: TypeAlias = Any
"""Text, or anything that is JSON; a list of `{"role": …, "content": …}` is read as messages."""


def _dumped(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError
    return dump(mode="json")


_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=_dumped, decimal_format="string")


def canonical(value: object) -> str:
    """
    Write *value* as JSON with sorted keys and no blanks.

    Raises:
        DeclarationError: It holds something that is no JSON. The value is not repeated.

    """
    try:
        return _encoder.encode(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DeclarationError(f"the state is no JSON: {type(error).__name__}") from None
