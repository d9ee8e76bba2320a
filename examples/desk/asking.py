"""How the desk asks: ahead and together inside a turn, one at a time without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from pointsman import Decision, DecisionPoint, Gateway, Turn

from .rules import RULES

State: TypeAlias = Mapping[str, Any]


class Told(NamedTuple):
    """
    One decision, as the desk goes by it.

    Attributes:
        value: The outcome, in the point's vocabulary; of a hybrid point the merged extraction.
        confidence: Of whoever decided: of today's rule where that did.

    """

    value: Any
    confidence: float


@dataclass(frozen=True)
class Line:
    """One decision that the desk went by, and in which step of the turn flow."""

    step: str
    decision: Decision[Any]
    confidence: float


class Asker:
    """
    Asks the points of one user turn.

    Attributes:
        lines: What was decided and used, in order.
        calls: Step → the provider calls that it took.

    """

    def __init__(self, gateway: Gateway, turn: Turn | None) -> None:
        self._gateway, self._turn = gateway, turn
        self._known: dict[str, Decision[Any]] = {}
        self.step = ""
        self.lines: list[Line] = []
        self.calls: dict[str, set[object]] = {}

    async def ahead(self, *points: DecisionPoint, state: State) -> None:
        """
        Ask a whole share group at once, before it is known which answers will be needed.

        Only where they share a call: what `current` decides, and what a provider is asked
        point by point, waits until it is needed.
        """
        if self._turn is None:
            return
        asked = [point for point in points if self._shares(point)]
        current = {point.name: _today(point, state) for point in asked}
        decided = await self._turn.ask(*asked, state=state, current=current)
        for point in asked:
            self._known[point.name] = self._counted(decided[point.name])

    async def __call__(
        self, point: DecisionPoint, state: State, current: Callable[[], Any] | None = None
    ) -> Told:
        """Decide one point: what was asked ahead is known; *current* of a hybrid point extracts."""
        decision = self._known.get(point.name)
        if decision is None:
            today = current or _today(point, state)
            decision = self._counted(await self._gateway.ask(point, state, current=today))
        if decision.provider != "current":
            confidence = decision.confidence
        else:  # the host goes by its own confidence where its own path decided
            confidence = 1.0 if current else RULES[point.name](state)[1]
        self.lines.append(Line(self.step, decision, confidence))
        return Told(decision.value, confidence)

    def _shares(self, point: DecisionPoint) -> bool:
        provider = self._gateway.plan(point).provider
        return provider != "current" and getattr(self._gateway.provider(provider), "shares", True)

    def forget(self) -> None:
        """Take what was asked ahead for unknown: the words are others now."""
        self._known.clear()

    def _counted(self, decision: Decision[Any]) -> Decision[Any]:
        """Count the provider calls behind a *decision*; those that share one count it once."""
        for one in decision.attempts:
            if one.provider != "current" and not one.cached:
                shared = (one.form, one.request_id) if one.form != "single" else object()
                self.calls.setdefault(self.step, set()).add(shared)
        return decision


def _today(point: DecisionPoint, state: State) -> Callable[[], Any]:
    """Give today's path for *point*: its word rule."""
    return lambda: RULES[point.name](state)[0]
