"""A provider that costs nothing, for benchmarks of what stands around it."""

from __future__ import annotations

from pointsman import Ask, Call, Chosen, Limits, Offer, Reply, hookimpl


class Fixed:
    """The cheapest provider there can be, so that what is measured is not the provider."""

    name = "fixed"
    limits = Limits()
    reply = Reply({"decision": Chosen("billing", None, 0.9)}, "fixed-1")

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Give the one reply."""
        return self.reply

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        """Offer it."""
        return [Offer("fixed", lambda: lambda _: Fixed())]
