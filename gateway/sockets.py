"""
Sync sockets bounded by the deadline of the whole ask.

httpx bounds each read by itself, so a server that drips a byte a second, in its headers or
its body, would never time out. Async callers are bounded by cancellation instead.
"""

from __future__ import annotations

import contextvars
import functools
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


@functools.cache
def bounded_backend() -> Any:  # noqa: ANN401 - a class made at first use
    """Make httpcore's backend with every read bounded by `until`."""
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
        def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:  # noqa: ANN401
            return Stream(super().connect_tcp(*args, **kwargs))

    return Backend()
