"""Where a gateway sent an ask in the end, as its body tells."""

from __future__ import annotations

import msgspec

_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Routing(msgspec.Struct, frozen=True, rename="camel"):
    final_provider: str | None = None


class _Gateway(msgspec.Struct, frozen=True):
    routing: _Routing | None = None


class _Metadata(msgspec.Struct, frozen=True):
    gateway: _Gateway | None = None


class _Told(msgspec.Struct, frozen=True):
    provider: str | None = None  # OpenRouter: as it is shown, "TypeSafe"
    provider_metadata: _Metadata | None = None


_told = msgspec.json.Decoder(_Told)


def went_elsewhere(vendor: str, body: bytes) -> bool:
    """Whether *body* names another vendor than *vendor* as the one that answered."""
    try:
        told = _told.decode(body)
    except _UNREADABLE:
        return False
    gateway = None if told.provider_metadata is None else told.provider_metadata.gateway
    routing = None if gateway is None else gateway.routing
    served = _plain(told.provider or (routing and routing.final_provider) or "")
    asked = _plain(vendor)
    # "TypeSafe" is how `typesafe-ai` is shown
    return bool(served) and not served.startswith(asked) and not asked.startswith(served)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
