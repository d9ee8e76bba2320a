"""The two dialects that the server speaks, each as what its endpoint needs of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ..wire import openai, systemone
from .faults import Problem, in_openai, in_systemone

if TYPE_CHECKING:
    from ..wire.requests import Asked


class Dialect(msgspec.Struct, frozen=True):
    """
    One dialect.

    Attributes:
        read: Reads a request.
        write: Writes the reply to it.
        fails: Writes why there is none.
        refuses: It has an answer that says that a question was not answered.

    """

    read: Callable[[bytes], Asked]
    write: Callable[..., bytes]
    fails: Callable[[Problem], bytes]
    refuses: bool


OPENAI = Dialect(openai.decode_request, openai.encode_reply, in_openai, refuses=True)
SYSTEMONE = Dialect(systemone.decode_request, systemone.encode_reply, in_systemone, refuses=False)
