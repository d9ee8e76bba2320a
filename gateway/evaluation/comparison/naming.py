"""
The names under which answers are compared: an option, `true` or `false`, a level.

Two deciders agree where these are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from ...keys import QuestionKey
from ...kinds import Predicate, Question, Score
from ...points import DecisionPoint
from ...questions import Value, principal
from ..calibration.labelling import FALSE, TRUE, place

ONLY = "answer"  # names the question of a decision of which no question is recorded


def named(asked: str, keys: Mapping[str, QuestionKey]) -> str:
    """Name a question as it is declared: repeats of one share its name."""
    return keys[asked].question if asked in keys else asked


def _declared(question: Question | None) -> Iterable[str]:
    if question is None:
        return ()
    if isinstance(question, Predicate):
        return (TRUE, FALSE)
    return question.levels if isinstance(question, Score) else question.options


class Naming:
    """
    The names under which answers are compared.

    Args:
        point: Whose answers; without it a number is taken for a level's index.

    """

    def __init__(self, point: DecisionPoint | None = None) -> None:
        self._declared: Mapping[str, Question] = {}
        self._spoken = () if point is None else tuple(point.questions.values())
        if point is not None:
            self._declared = next(iter(point.questions.values()))
        self._principal = principal(self._declared) if self._declared else None

    def name(self, question: str, value: Value) -> str:
        """Name an answer; a number by the level that is nearest, a half goes up."""
        if isinstance(value, bool):
            return TRUE if value else FALSE
        asked = self._declared.get(question)
        score = asked if isinstance(asked, Score) else None
        if isinstance(value, str) and score is None:
            return value
        levels = () if score is None else tuple(score.levels)
        index = place(value, levels, score)
        if index is None:
            return str(value)
        at = int(index + 0.5)
        return levels[min(max(0, at), len(levels) - 1)] if levels else f"{at}"

    def options(self, question: str) -> frozenset[str]:
        """Name what is declared as an answer to *question*, in any language; maybe nothing."""
        return frozenset(chain.from_iterable(_declared(one.get(question)) for one in self._spoken))

    def sole(self, asked: Iterable[str]) -> str:
        """Say which of the questions *asked* a bare value answers."""
        names = list(asked)
        if len(names) > 1 and self._principal in names:
            return self._principal or ONLY
        return names[0] if names else ONLY

    def gated(self, question: str) -> bool:
        """Whether the answer to *question* has to be believed; advice does not."""
        asked = self._declared.get(question)
        return asked is None or not asked.advisory
