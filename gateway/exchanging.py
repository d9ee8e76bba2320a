"""What goes over HTTP and what comes back, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec


class HttpResponse(msgspec.Struct, frozen=True):
    """
    One response, read whole.

    Attributes:
        status: The status code.
        headers: With lower-case names.
        content: The body; left out of the repr, since it may repeat what was sent.

    """

    status: int
    headers: Mapping[str, str] = {}
    content: bytes = b""

    def __repr__(self) -> str:
        return f"HttpResponse({self.status})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("status", self.status)]


class HttpRequest(msgspec.Struct, frozen=True):
    """
    One request.

    Attributes:
        method: `GET`, `POST`, …
        url: Absolute.
        headers: May hold secrets, so it is left out of the repr.
        content: The body.
        final: True of a response that must not be asked for again although its status would
            heal: an empty quota told by 429. None: the status alone counts.

    """

    method: str
    url: str
    headers: Mapping[str, str] = {}
    content: bytes = b""
    final: Callable[[HttpResponse], bool] | None = None

    def __repr__(self) -> str:
        return f"HttpRequest({self.method} {self.url})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("method", self.method), ("url", self.url)]
