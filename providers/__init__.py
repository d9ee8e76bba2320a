"""Who decides: the built-in providers. Each is loaded when it is first selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..gateway.masking import MaskOffer
from ..gateway.plugins import Offer, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..gateway.masking import Mask
    from ..gateway.plugins import Make

HOSTED = (
    "jev",
    "openai",
    "typesafe",
    "openrouter",
    "portkey",
    "clef",
    "perplexity",
    "litellm",
    "decisions",
    "systemone",
)
"""The hosted deciders, as the table in `decisions_api/endpoints.py` calls them."""


def _current() -> Make:
    from .current import current

    return current


def _chat() -> Make:
    from .chat import chat

    return chat


def _hosted(name: str) -> Offer:
    """Offer a row of the table of hosted deciders."""

    def load() -> Make:
        from .decisions_api import hosted

        return hosted(name)

    return Offer(name, load)


def _local() -> Make:
    from .local import Local

    return Local


def _pii() -> Mask:
    from .pii import pii

    return pii


@hookimpl
def pointsman_providers() -> Sequence[Offer]:
    """Offer the built-in providers."""
    return (
        Offer("current", _current),
        Offer("local", _local, extra="pointsman[local]"),
        *map(_hosted, HOSTED),
        Offer("chat", _chat),
    )


@hookimpl
def pointsman_masks() -> Sequence[MaskOffer]:
    """Offer the built-in masks."""
    return (MaskOffer("pii", _pii, extra="pointsman[pii]"),)
