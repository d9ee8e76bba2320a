"""Providers that others hear and let write, and one that listens: what tests of the seam share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    Gateway,
    Limits,
    NoAnswer,
    Offer,
    Reason,
    Reply,
    Setup,
    Usage,
    hookimpl,
)
from pointsman.gateway.plugins import Draft, Others, Written

TEAM = Choice("Which team takes it?", {"billing": "Amounts", "tech": "Faults", "none": "Neither"})
ASK = Ask("my router is dead", {"team": TEAM})
WITHIN = Call(point="TEAM")
DRAFT = Draft(
    task="position",
    instructions="Say what to do.",
    state={"question": "my router is dead"},
    schema={
        "type": "object",
        "properties": {"advice": {"type": "string"}, "sure": {"type": "integer"}},
        "required": ["advice", "sure"],
        "additionalProperties": False,
    },
    role="generalist",
    round=1,
)
TEXT = '{"advice":"wait","sure":70}'


class Member:
    """
    Answers `TEAM` where it stands, and remembers what it was asked.

    Args:
        option: What it says.
        confidence: How sure it is.
        fails: What it raises instead.
        **said: Its further attributes.

    """

    name = "member"

    def __init__(
        self,
        option: Any = "tech",
        confidence: float | None = 0.9,
        fails: BaseException | None = None,
        **said: Any,
    ) -> None:
        self.limits: Limits = said.pop("limits", Limits())
        self._said, self._fails = (option, confidence), fails
        self.calls: list[Call] = []
        self.asked: list[Ask] = []
        self.__dict__.update(said)

    def answer(self, ask: Ask, call: Call) -> Any:
        """Answer."""
        self.calls.append(call)
        self.asked.append(ask)
        if self._fails is not None:
            raise self._fails
        option, confidence = self._said
        return Reply({"team": Chosen(option, None, confidence)}, "m-1", Usage(10, 2, 0.25), "r-1")


Does: TypeAlias = Callable[[Others, Ask, Call], Awaitable[Any]]


class Listener:
    """
    A provider that deliberates by what a test lets it do, and abstains unless that gives a reply.

    Attributes:
        heard: What it came to, each time.

    """

    limits = Limits()
    deliberates = True
    hears_current = True

    def __init__(self, does: Does) -> None:
        self.name, self._does = "listener", does
        self.heard: list[Any] = []
        self.gateway: Others | None = None

    def made(self, setup: Setup) -> Listener:
        """Take what is handed out when it is made."""
        self.gateway = setup.gateway
        return self

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Deliberate."""
        assert self.gateway is not None
        self.heard.append(await self._does(self.gateway, ask, call))
        if isinstance(self.heard[-1], Reply):
            return self.heard[-1]
        raise NoAnswer(Reason.ABSTAINED)


class Panel:
    """A plug-in that offers providers: a `Listener`, or one that is made already."""

    def __init__(self, providers: Mapping[str, Any], minimums: Mapping[str, float]) -> None:
        self._providers, self._minimums = providers, minimums

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        """Offer them."""
        return [
            Offer(name, _loading(one), minimum=self._minimums.get(name))
            for name, one in self._providers.items()
        ]


def _loading(provider: Any) -> Callable[[], Callable[[Setup], Any]]:
    return lambda: getattr(provider, "made", lambda _: provider)


def listening(
    environ: Mapping[str, str] | None = None,
    /,
    *,
    minimums: Mapping[str, float] | None = None,
    observers: Any = (),
    stand_in: bool = False,
    **providers: Any,
) -> Gateway:
    """Make a gateway from variables alone that knows *providers* by name."""
    said = {"DECISION_LOG": "off", **(environ or {})}
    plugins = [Panel(providers, minimums or {})]
    return Gateway.from_env(said, plugins=plugins, observers=observers, stand_in=stand_in)


class Writing(Member):
    """Also writes: *parts*, one after the other, as an asynchronous generator."""

    def __init__(self, *parts: Any, fails: BaseException | None = None, **said: Any) -> None:
        super().__init__(**said)
        self.parts, self._stops = parts or (written(TEXT),), fails
        self.drafts: list[Draft] = []
        self.closed = 0
        self.gate: asyncio.Event | None = None

    async def write(self, draft: Draft, call: Call) -> Any:
        """Write."""
        self.drafts.append(draft)
        self.calls.append(call)
        try:
            for part in self.parts:
                yield part
            if self.gate is not None:
                await self.gate.wait()
            if self._stops is not None:
                raise self._stops
        finally:
            self.closed += 1


def written(text: str, cost: float | None = 0.5) -> Written:
    """Give what was written, with its price."""
    return Written(text=text, model="w-1", usage=Usage(20, 8, cost), request_id="w-r-1")
