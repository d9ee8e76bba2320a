"""A request's body, whole, unpacked and within bounds, before anybody reads it as JSON."""

from __future__ import annotations

import re
import zlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from .faults import Problem
from .settings import ServerLimits

Headers: TypeAlias = Mapping[bytes, bytes]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

WINDOW = 8 * 1024 * 1024  # bytes; what RFC 8878 § 3.1.1.1.2 asks every decoder to support
# A text, or one that never ends: no byte is looked at twice, whatever they are.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BUT_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))
_GZIP = 31  # zlib's word for a gzip header and the largest window


class Gone(Exception):
    """The client has hung up: nobody is there to be answered."""


def expected(headers: Headers, limits: ServerLimits) -> None:
    """
    Refuse by its head a request whose body would not be taken.

    Raises:
        Problem: It is no JSON, packed in a way that is not known, or too long.

    """
    kind = headers.get(b"content-type", b"")
    if kind != b"application/json" and not _is_json(kind):
        raise Problem(415, "unsupported_media_type", "send application/json in UTF-8")
    length = headers.get(b"content-length")
    if length is not None and (not length.isdigit() or int(length) > limits.max_body_bytes):
        raise _too_long(limits)


def _is_json(kind: bytes) -> bool:
    name, _, parameters = kind.decode("latin-1").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "")
    return name.strip() == "application/json" and charset in ("", "charset=utf-8")


async def received(receive: Receive, headers: Headers, limits: ServerLimits) -> bytes:
    """
    Read the body.

    Raises:
        Problem: It is longer than allowed, packed or unpacked; or it cannot be unpacked, or its
            brackets are nested deeper than allowed.
        Gone: The client hung up before it was complete.

    """
    body = await _whole(receive, limits)
    packed = headers.get(b"content-encoding")
    if packed is not None:
        body = _unpacked(body, packed.strip().lower(), limits)
    if body.count(b"[") + body.count(b"{") > limits.max_depth:
        _shallow(body, limits.max_depth)
    return body


async def _whole(receive: Receive, limits: ServerLimits) -> bytes:
    message = await receive()
    parts: list[bytes] = []
    size = 0
    while message["type"] == "http.request":
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limits.max_body_bytes:
            raise _too_long(limits)
        if not message.get("more_body", False):
            return b"".join((*parts, part)) if parts else part
        parts.append(part)
        message = await receive()
    raise Gone


def _too_long(limits: ServerLimits) -> Problem:
    return Problem(413, "request_too_large", f"at most {limits.max_body_bytes} bytes are taken")


def _unpacked(body: bytes, how: bytes, limits: ServerLimits) -> bytes:
    if how == b"identity":
        return body
    unpack = {b"gzip": _gunzipped, b"zstd": _unzstd}.get(how)
    if unpack is None:
        raise Problem(415, "unsupported_encoding", "pack bodies with zstd or gzip, or not at all")
    unpacked = unpack(body, limits.max_body_bytes + 1)
    if unpacked is None:
        raise Problem(400, "invalid_encoding", f"the body cannot be unpacked as {how.decode()}")
    if len(unpacked) > limits.max_body_bytes:
        raise _too_long(limits)
    return unpacked


def _gunzipped(body: bytes, most: int) -> bytes | None:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(body, most)
    except zlib.error:
        return None
    whole = unpacker.eof and not unpacker.unused_data
    return unpacked if whole or len(unpacked) == most else None


def _unzstd(body: bytes, most: int) -> bytes | None:
    import zstandard

    unpacker = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    try:
        with unpacker.stream_reader(body, read_across_frames=True) as reader:
            unpacked = reader.read(most)
    except zstandard.ZstdError:
        return None
    return unpacked


def _shallow(body: bytes, most: int) -> None:
    """
    Count how deep brackets outside of texts are nested, without reading the rest.

    Pairs without anything between them are taken out, round by round, one level each. Where none
    is left to take out the brackets do not match: that is no JSON, as its reader will say.
    """
    left = _STRINGS.sub(b"", body).translate(None, _BUT_BRACKETS)
    for _ in range(most):
        fewer = left.replace(b"[]", b"").replace(b"{}", b"")
        if len(fewer) == len(left):
            return
        left = fewer
    if left:
        raise Problem(400, "too_deep", f"at most {most} brackets may be nested")
