"""Cloudflare's envelope: `{"result": …, "success": …, "errors": […]}` around a dialect's body."""

from __future__ import annotations

import msgspec

from .faults import UNREADABLE, fault_inside
from .reading import marked

_NOTHING = msgspec.Raw(b"null")


class _Envelope(msgspec.Struct, frozen=True):
    result: msgspec.Raw = _NOTHING
    success: bool | None = None


_envelope = msgspec.json.Decoder(_Envelope)


def unwrapped(body: bytes) -> bytes:
    """
    Take a success out of its envelope; a body without one is given back as it is.

    Raises:
        NoAnswer: `success` is false: what its codes say, else `provider_error`.

    """
    try:
        envelope = _envelope.decode(body)
    except UNREADABLE:
        readable = marked(body)  # a literal NaN spoils only the answer that it stands in
        return body if readable is None else unwrapped(readable)
    if envelope.success is False:
        raise fault_inside(body)
    return body if envelope.result == _NOTHING else bytes(envelope.result)
