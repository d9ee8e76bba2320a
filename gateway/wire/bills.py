"""What every dialect's success says besides its answers: the model, tokens, money, an id."""

from __future__ import annotations

import math

import msgspec

from ..answers import Usage

NO_ERROR = msgspec.Raw(b"null")  # a union of Raw with None would take null alone


class WireUsage(msgspec.Struct, frozen=True):
    """Tokens; OpenRouter adds US dollars."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: str | float | None = None


class Gatewayed(msgspec.Struct, frozen=True):
    """What Vercel AI Gateway adds: money as a decimal string."""

    cost: str | float | None = None


class Metadata(msgspec.Struct, frozen=True):
    """What gateways add."""

    gateway: Gatewayed | None = None


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a body says of itself, whatever its answers are.

    Attributes:
        model: The model that answered.
        id: The request's id, where the body holds it (OpenRouter).
        usage: Tokens.
        provider_metadata: Money, where a gateway stands between.
        error: An error may stand in a success all the same.
        detail: TypeSafe's word for an error.

    """

    model: str | None = None
    id: str | None = None
    usage: WireUsage | None = None
    provider_metadata: Metadata | None = None
    error: msgspec.Raw = NO_ERROR
    detail: msgspec.Raw = NO_ERROR

    @property
    def failed(self) -> bool:
        """Whether the success is an error after all."""
        return self.error != NO_ERROR or self.detail != NO_ERROR

    def used(self) -> Usage | None:
        """Give tokens and money; None where the body tells neither."""
        usage, cost = self.usage, self._cost()
        if usage is None:
            return None if cost is None else Usage(cost_usd=cost)
        return Usage(usage.input_tokens or 0, usage.output_tokens or 0, cost)

    def _cost(self) -> float | None:
        if self.usage is not None and self.usage.cost is not None:
            return money(self.usage.cost)
        gateway = None if self.provider_metadata is None else self.provider_metadata.gateway
        return None if gateway is None or gateway.cost is None else money(gateway.cost)


def money(said: str | float) -> float | None:
    """Read US dollars: a finite sum that is not below 0, or nobody knows."""
    try:
        cost = float(said)
    except ValueError:
        return None
    return cost if 0.0 <= cost < math.inf else None
