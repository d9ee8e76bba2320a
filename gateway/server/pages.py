"""What is told of the worker itself: alive, ready, counted, described."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from .health import DRAINING, ready
from .visits import Response, Visit

if TYPE_CHECKING:
    from .house import House


class Pages:
    """Answers the routes that decide nothing."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._openapi = b""

    async def alive(self, visit: Visit, body: bytes) -> Response:
        """Answer `GET /healthz`: the loop runs."""
        return Response(200, b'{"status":"ok"}')

    async def ready(self, visit: Visit, body: bytes) -> Response:
        """Answer `GET /readyz`: whether requests may be sent here."""
        said = ready(self._house)
        status = 503 if said["status"] == DRAINING else 200
        return Response(status, msgspec.json.encode(said))

    async def metrics(self, visit: Visit, body: bytes) -> Response:
        """Answer `GET /metrics` in Prometheus's text format."""
        if self._house.metrics is None:
            return Response(200, b"", kind="text/plain; version=0.0.4; charset=utf-8")
        page, kind = await asyncio.to_thread(self._house.metrics.page)
        return Response(200, page, kind=kind)

    async def openapi(self, visit: Visit, body: bytes) -> Response:
        """Answer `GET /openapi.json`; the document is made once."""
        if not self._openapi:
            from .openapi import document

            self._openapi = msgspec.json.encode(document(self._house))
        return Response(200, self._openapi)
