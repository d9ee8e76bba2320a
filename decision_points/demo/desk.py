"""The host program: a service desk with four decisions a turn, each wrapped by the gateway."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ...gateway.gateway import Gateway
from ...gateway.records import Decision
from . import rules
from .conversation import INTENTS, Turn, meant

HISTORY = 2  # turns that deciders are shown before the current one


class Made(msgspec.Struct, frozen=True):
    """
    One decision of a replay.

    Attributes:
        number: Of the turn, from 1.
        turn: The turn.
        decision: What was decided, by whom, after which attempts.

    """

    number: int
    turn: Turn
    decision: Decision[Any]


class Replay(msgspec.Struct, frozen=True):
    """
    One pass over the conversation.

    Attributes:
        made: Every decision, in order.
        seconds: For all of it.

    """

    made: list[Made]
    seconds: float

    def by_place(self) -> dict[tuple[int, str], Made]:
        """Find decisions by turn and point, to compare passes."""
        return {(one.number, one.decision.record.point): one for one in self.made}


class Desk:
    """The desk under one set of variables."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.gateway = Gateway.from_env({"DECISION_LOG": "off", **variables})
        point = self.gateway.point
        self._is_attack = point("GUARDRAIL_PINJ")(rules.is_attack)
        self._handling = point("ROUTE_CONTINUITY")(rules.handling)
        self._intent = point("ROUTER")(rules.intent)
        self._quality = point("JUDGE_RQLT")(rules.quality)

    def replay(self, turns: list[Turn]) -> Replay:
        """
        Decide every turn from what was recorded before it.

        What the desk was handling, and where a new subject began, comes from the recording
        and not from this pass's own decisions: every pass is asked the same questions.
        """
        began = time.perf_counter()
        with self.gateway:
            made = [
                Made(number, turn, decision)
                for number, turn in enumerate(turns, start=1)
                for decision in self._decided(turn, _before(turns, number))
            ]
        return Replay(made, time.perf_counter() - began)

    def _decided(self, turn: Turn, history: list[dict[str, str]]) -> Iterable[Decision[Any]]:
        decide = self.gateway.decide_sync
        yield decide(self._is_attack, turn.user)
        doing = INTENTS.get(turn.active, "")
        yield decide(self._handling, turn.user, turn.active, doing, history)
        if meant(turn, "ROUTER") is not None:
            offered = [{"intent": name, "description": text} for name, text in INTENTS.items()]
            yield decide(self._intent, turn.user, offered)
        yield decide(self._quality, turn.user, turn.reply)


def _before(turns: list[Turn], number: int) -> list[dict[str, str]]:
    """Give the last turns of the same customer, as messages."""
    here = turns[number - 1]
    own = [turn for turn in turns[: number - 1] if turn.customer == here.customer]
    return [
        message
        for turn in own[-HISTORY:]
        for message in (
            {"role": "user", "content": turn.user},
            {"role": "assistant", "content": turn.reply},
        )
    ]
