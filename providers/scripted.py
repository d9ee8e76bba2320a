"""A provider for tests: it says what it is told, and disobeys when told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ..gateway.answers import Chosen, Held, RawAnswer, Refused, Reply, Scored
from ..gateway.errors import NoAnswer, Reason
from ..gateway.plugins import Limits
from ..gateway.questions import Choice, Predicate, Score

if TYPE_CHECKING:
    from ..gateway.plugins import Call
    from ..gateway.questions import Ask, Question


class Scripted:
    """
    Says what it was told; made by `scripted`.

    Attributes:
        asked: Every ask it was given, in order.

    """

    name = "scripted"
    model = "scripted-1"
    limits = Limits()

    def __init__(self, script: tuple[Any, ...], confidence: float | None) -> None:
        self._script = script
        self._confidence = confidence
        self.asked: list[Ask] = []

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Give the next line of the script; the last one again when it is used up."""
        line = self._script[min(len(self.asked), len(self._script) - 1)]
        self.asked.append(ask)
        if isinstance(line, Reason):
            raise NoAnswer(line)
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, Reply):
            return line
        one_for_all = dict.fromkeys(ask.questions, line)
        said = cast("Mapping[str, Any]", line) if isinstance(line, Mapping) else one_for_all
        return Reply({name: self._said(ask.questions[name], value) for name, value in said.items()})

    def _said(self, question: Question, value: Any) -> RawAnswer:  # noqa: ANN401 - any value
        if isinstance(value, Chosen | Held | Scored | Refused):
            return value
        sure = 0.99 if self._confidence is None else self._confidence
        if isinstance(question, Choice):
            return Chosen(value, None, sure)
        if isinstance(question, Predicate):
            return Held(sure if value else 1.0 - sure)
        assert isinstance(question, Score)
        index = question.index(value) if math.isfinite(value) else value
        return Scored(index, None, sure)


def scripted(*script: Any, confidence: float | None = None) -> Scripted:  # noqa: ANN401
    """
    Make a provider that says *script*, one line an ask.

    Args:
        script: A value (an option, a truth, a number on the score's scale) for every
            question; a mapping question → value or raw answer; a whole `Reply`, however
            wrong; a `Reason` to fail with; an exception to raise, as a stranger's bug.
        confidence: With plain values; 0.99 if absent. For a predicate it is the
            probability of what it says.

    """
    return Scripted(script or (Reason.REFUSED,), confidence)
