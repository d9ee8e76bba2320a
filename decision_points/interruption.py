"""Voice: the caller spoke while the agent did."""

from __future__ import annotations

from enum import StrEnum
from typing import Required, TypedDict

from ..gateway.points import DecisionPoint
from ..gateway.questions import Predicate
from .reading import Said, plain
from .shares import INTERRUPTION, fields


class InterruptionState(TypedDict, total=False):
    """
    What PROCESSING_INTERRUPTION sees.

    Attributes:
        original_agent: What the agent was saying.
        original_client: What the caller had said before.
        supplement_client: What the caller said meanwhile.

    """

    original_agent: str
    original_client: str
    supplement_client: Required[str]


PROCESSING_INTERRUPTION = DecisionPoint(
    name="PROCESSING_INTERRUPTION",
    questions={
        "en": {
            "regenerate": Predicate(
                "Does what the caller said while the agent was speaking add or change "
                "information, so that the answer must be made again?"
            ),
        },
        "pt": {
            "regenerate": Predicate(
                "O que o cliente disse enquanto o agente falava acrescenta ou muda informação, "
                "de modo que a resposta precise ser refeita?"
            ),
        },
    },
    reads=fields(InterruptionState),
    words="supplement_client",
    safe=False,  # the last speech is replayed, and nothing else runs
    blocks=False,
    share=INTERRUPTION,
)


class Interruption(StrEnum):
    """
    What becomes of a barge-in.

    `REGENERATE` makes the host process the text as a new turn; `REPLAY` makes it repeat the
    last speech and run nothing else: no model, no tool, no guardrail.
    """

    REGENERATE = "REGENERATE"
    REPLAY = "REPLAY"


def interruption(outcome: Said) -> Interruption:
    """Read a decision; anything but a plain *true* is a replay."""
    return Interruption.REGENERATE if plain(outcome) is True else Interruption.REPLAY
