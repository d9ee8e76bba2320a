"""
Sync sockets bounded by the deadline of the whole ask.

httpx bounds each read by itself, so a server that drips a byte a second, in its headers or
its body, would never time out. Async callers are bounded by cancellation instead. Loaded at
first use, since it needs httpcore.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING, Any

import httpcore

from .http import ends_at

if TYPE_CHECKING:
    from collections.abc import Iterable


def _left(timeout: float | None) -> float | None:
    if (end := ends_at.get(None)) is None:
        return timeout
    if (left := end - time.monotonic()) <= 0:
        raise httpcore.ReadTimeout
    return left


def _addresses(host: str, port: int) -> list[str]:
    """Resolve *host* here, or each of its addresses would get the whole time."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # the latter for a name that cannot be one
        raise httpcore.ConnectError(type(error).__name__) from None
    return list(dict.fromkeys(str(one[4][0]) for one in found))


class BoundedStream(httpcore.NetworkStream):
    """
    One connection, every step of it bounded by `ends_at`.

    What is written goes out when the answer is read: the headers and the body of a request in
    one packet.
    """

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self._unsent: list[bytes] = []

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Hold *buffer* until the answer is read."""
        self._unsent.append(buffer)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Send what was written, and wait for bytes."""
        if self._unsent:
            data = b"".join(self._unsent)
            self._unsent.clear()
            with contextlib.suppress(httpcore.WriteError):  # it may have been answered early
                self._inner.write(data, _left(timeout))
        return self._inner.read(max_bytes, _left(timeout))

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as declared there
        """Tell httpcore what it looks for."""
        return self._inner.get_extra_info(info)

    def start_tls(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:  # noqa: ANN401
        """Go on encrypted."""
        return BoundedStream(self._inner.start_tls(*args, **kwargs))


class BoundedBackend(httpcore.SyncBackend):
    """How httpcore comes to its connections."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """
        Connect to the first address of *host* that answers.

        Raises:
            ConnectError: None does, or the name has none.

        """
        failed: Exception = httpcore.ConnectError("the name has no address")
        for address in _addresses(host, port):
            left = _left(timeout)
            try:
                inner = super().connect_tcp(address, port, left, local_address, socket_options)
                return BoundedStream(inner)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed
