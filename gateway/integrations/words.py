"""What integrations say by themselves, until the host gives texts of its own."""

from __future__ import annotations

from typing import Final

from ..questions import Choice

BLOCKED: Final = "This was blocked by a guardrail."
REFUSED: Final = "This tool call was not allowed, and the tool was not run."
BY_A_PERSON: Final = "Nobody else could decide. What is to be done?"

WHO: Final = "Which agent should take over the conversation?"
STAY: Final = "stay"  # the option that hands nothing over


def takes_over(question: str) -> Choice:
    """Ask who takes a conversation over, if anybody does; the agents are offered at the call."""
    stays = "None of them: the agent that has the conversation goes on"
    return Choice(question, {STAY: stays}, STAY, open=True)
