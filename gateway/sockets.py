"""
Sync sockets bounded by the deadline of the whole ask.

httpx bounds each read by itself, so a server that drips a byte a second, in its headers or
its body, would never time out. Async callers are bounded by cancellation instead.
"""

from __future__ import annotations

import contextvars
import functools
import socket
import time
from typing import Any

until: contextvars.ContextVar[float] = contextvars.ContextVar("pointsman_until")
"""When the ask that runs in this context must end, on `time.monotonic`."""


def _left(timeout: float | None) -> float | None:
    import httpcore

    if (end := until.get(None)) is None:
        return timeout
    if (left := end - time.monotonic()) <= 0:
        raise httpcore.ReadTimeout
    return left


def _addresses(host: str, port: int) -> list[str]:
    """Resolve *host* here, or each of its addresses would get the whole time."""
    import httpcore

    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore.ConnectError(type(error).__name__) from None
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@functools.cache
def bounded_backend() -> Any:  # noqa: ANN401 - a class made at first use
    """Make httpcore's backend with every connect, write and read bounded by `until`."""
    import httpcore

    class Stream(httpcore.NetworkStream):
        def __init__(self, inner: httpcore.NetworkStream) -> None:
            self._inner = inner

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self._inner.write(buffer, _left(timeout))

        def close(self) -> None:
            self._inner.close()

        def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as declared there
            return self._inner.get_extra_info(info)

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return self._inner.read(max_bytes, _left(timeout))

        def start_tls(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:  # noqa: ANN401
            return Stream(self._inner.start_tls(*args, **kwargs))

    class Backend(httpcore.SyncBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Any = None,  # noqa: ANN401 - as declared there
        ) -> httpcore.NetworkStream:
            failed: Exception = httpcore.ConnectError("the name has no address")
            for address in _addresses(host, port):
                left = _left(timeout)
                try:
                    inner = super().connect_tcp(address, port, left, local_address, socket_options)
                    return Stream(inner)
                except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                    failed = error
            raise failed

    return Backend()
