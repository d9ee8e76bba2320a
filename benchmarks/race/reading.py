"""Where a message of HTTP/1.1 ends: all of the protocol that the upstream and the load need."""

from __future__ import annotations

import re

_LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:\s*chunked", re.IGNORECASE)
HEADERS_END = b"\r\n\r\n"
_LINE_END = b"\r\n"


def end_of(held: bytes) -> int | None:
    """Find where the first message ends, without a body where it names none; None until whole."""
    at = held.find(HEADERS_END)
    if at < 0:
        return None
    body, head = at + len(HEADERS_END), held[: at + 2]
    if length := _LENGTH.search(head):
        end = body + int(length[1])
        return end if len(held) >= end else None
    return _last_chunk(held, body) if _CHUNKED.search(head) else body


def _last_chunk(held: bytes, at: int) -> int | None:
    """Go from chunk to chunk; no trailers, which nobody here sends."""
    while (line := held.find(_LINE_END, at)) >= 0:
        size = int(held[at:line].partition(b";")[0], 16)
        at = line + size + 2 * len(_LINE_END)
        if not size:
            return at if len(held) >= at else None
    return None
