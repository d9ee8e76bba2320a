"""
The example's own provider: the word rules, answering over the seam that any provider uses.

It shows what reaches a provider: one ask for a whole share group, whose questions are named
`<POINT>.<question>`, over one state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pointsman import Ask, Call, Chosen, Held, Limits, Offer, Reply, Score, Scored, hookimpl
from pointsman.gateway.questions import Question

from .rules import RULES, Guess


class Words:
    """
    Answers from word rules.

    Attributes:
        asked: The questions of each call, by the names they came under.

    """

    name = "words"
    limits = Limits()

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Answer all questions of one call."""
        self.asked.append(tuple(ask.questions))
        answers = {name: _said(name, asked, ask, call) for name, asked in ask.questions.items()}
        return Reply(answers, "words-1", request_id=f"call-{len(self.asked)}")

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        """Offer this very one, so that its calls can be counted."""
        return [Offer("words", lambda: lambda _: self)]


def _said(name: str, question: Question, ask: Ask, call: Call) -> Chosen | Held | Scored:
    point, own = name.split(".")[:2] if "." in name else (call.point, name)
    value, sure = _of(own, RULES[point](_shown(question, ask)))
    if isinstance(value, bool):
        return Held(sure if value else 1 - sure)
    if isinstance(question, Score):
        return Scored(question.index(value), None, sure)
    return Chosen(value, None, sure)


def _of(question: str, guess: Guess) -> Guess:
    value, sure = guess
    return (value[question], sure) if isinstance(value, Mapping) else (value, sure)


def _shown(question: Question, ask: Ask) -> Mapping[str, Any]:
    """Give the state, with the one passage that the question is about as its text."""
    assert isinstance(ask.state, Mapping)
    about = re.match(r"passages\[(\d+)\]", question.instructions)
    if about is None:
        return ask.state
    return {**ask.state, "text": ask.state["passages"][int(about[1])]}
