"""Who decides: the built-in providers. Each is loaded when it is first selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..gateway.masking import MaskOffer
from ..gateway.plugins import Offer, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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

DELIBERATED = 0.6
"""
The least confidence of those who deliberate: three of three who agree are worth 0.8, two of three
0.6; the numbers of a single decider say more than that.
"""


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


def _committee() -> Make:
    from .deliberation.committee import committee

    return committee


def _debate() -> Make:
    from .deliberation.dynamics import debate

    return debate


def _debate_command() -> Any:  # noqa: ANN401 - Typer is there only with the command
    from .deliberation.commands.debate import app

    return app


def _compare_arms_command() -> Any:  # noqa: ANN401 - the same
    from .deliberation.comparing.command import app

    return app


@hookimpl
def pointsman_providers() -> Sequence[Offer]:
    """Offer the built-in providers."""
    return (
        Offer("current", _current),
        Offer("local", _local, extra="pointsman[local]"),
        *map(_hosted, HOSTED),
        Offer("chat", _chat),
        Offer("committee", _committee, minimum=DELIBERATED),
        Offer("debate", _debate, minimum=DELIBERATED),
    )


@hookimpl
def pointsman_masks() -> Sequence[MaskOffer]:
    """Offer the built-in masks."""
    return (MaskOffer("pii", _pii, extra="pointsman[pii]"),)


@hookimpl
def pointsman_commands() -> Mapping[str, Callable[[], Any]]:
    """Offer the commands of those who deliberate."""
    return {"debate": _debate_command, "compare-arms": _compare_arms_command}
