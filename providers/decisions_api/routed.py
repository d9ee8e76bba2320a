"""Where a gateway sent an ask in the end, as its body tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...gateway.wire.faults import UNREADABLE
from ...gateway.wire.reading import marked


class _Attempt(msgspec.Struct, frozen=True, rename="camel"):
    triggered_by: Any = None  # the conditions on the first answers that had this model asked


class _Routing(msgspec.Struct, frozen=True, rename="camel"):
    resolved_provider: str | None = None  # whom the gateway means to ask
    final_provider: str | None = None
    model_attempts: Sequence[_Attempt] | None = None

    @property
    def fell_back(self) -> bool:
        """Whether another model was asked since the first one's answers met a condition."""
        return any(one.triggered_by for one in self.model_attempts or ())


class _Gateway(msgspec.Struct, frozen=True):
    routing: _Routing | None = None


class _Metadata(msgspec.Struct, frozen=True):
    gateway: _Gateway | None = None


class _Told(msgspec.Struct, frozen=True):
    provider: str | None = None  # OpenRouter: as it is shown, "TypeSafe"
    provider_metadata: _Metadata | None = None


_told = msgspec.json.Decoder(_Told)


def went_elsewhere(vendor: str, body: bytes) -> bool:
    """
    Whether *body* says that another vendor answered, or a model in the place of the first.

    Args:
        vendor: Who was asked for; empty: whom the gateway first meant to ask.
        body: A success.

    """
    try:
        told = _told.decode(body)
    except UNREADABLE:
        readable = marked(body)  # a literal NaN spoils only the answer that it stands in
        return readable is not None and went_elsewhere(vendor, readable)
    routing = _routing_of(told)
    served = _plain(told.provider or routing.final_provider or "")
    asked = _plain(vendor or routing.resolved_provider or "")
    # "TypeSafe" is how `typesafe-ai` is shown
    elsewhere = not served.startswith(asked) and not asked.startswith(served)
    return elsewhere or routing.fell_back


def _routing_of(told: _Told) -> _Routing:
    gateway = None if told.provider_metadata is None else told.provider_metadata.gateway
    return _Routing() if gateway is None or gateway.routing is None else gateway.routing


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
