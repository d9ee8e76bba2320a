"""What a judge makes the host record, and the judges that users declare themselves."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from ..gateway.points import DecisionPoint
from ..gateway.questions import Outcome, Score
from . import judges, reasons
from .guardrails import own


class Sentiment(StrEnum):
    """
    How the customer feels.

    It makes the host record the word; `NEGATIVE` fails the turn where the host is told so
    (`fail_on_negative`). Never left out: a host takes a missing word for *not negative*.
    """

    NEGATIVE = "NEGATIVE"
    NEUTRAL = "NEUTRAL"
    POSITIVE = "POSITIVE"

    @property
    def sentimento(self) -> str:
        """The word as the host's own field has it, in Portuguese."""
        return _PORTUGUESE[self].lower()


_PORTUGUESE: Final[Mapping[str, str]] = {
    "NEGATIVE": "NEGATIVO",
    "NEUTRAL": "NEUTRO",
    "POSITIVE": "POSITIVO",
}

_SENTIMENTS: Final[Mapping[object, Sentiment]] = {
    word: Sentiment(name) for name, other in _PORTUGUESE.items() for word in (name, other)
}

CATALOGUE: Final = tuple(one for one in vars(judges).values() if isinstance(one, DecisionPoint))


class Judgement(msgspec.Struct, frozen=True):
    """
    What a judge decided, as a host takes it.

    Attributes:
        allowed: It passed.
        score: In [0, 1]; None where the judge has none, so that no threshold bites (A27).
            Never 0–10: hosts divide by ten only what is above one.
        sentiment: Of CSI, always there (A26).
        reason: A fixed text.
        undecided: Nobody decided; this is the safe outcome.

    """

    allowed: bool
    score: float | None
    sentiment: Sentiment | None
    reason: str
    undecided: bool = False

    @property
    def score10(self) -> float | None:
        """The score on 0–10; for people, never for the host."""
        return None if self.score is None else self.score * 10


def judged(
    point: DecisionPoint,
    outcome: Outcome,
    *,
    undecided: bool = False,
    fail_on_negative: bool = False,
    language: str = "en",
) -> Judgement:
    """
    Say what a judge's *outcome* makes the host record.

    A scored judge passes from the host's own threshold on (`point.host`), CSI always unless
    told otherwise. None is the point's safe outcome, undecided.

    Args:
        point: The judge that was asked.
        outcome: What was decided, on the point's own scale.
        undecided: Whether it is the safe outcome.
        fail_on_negative: Of CSI, whether a negative sentiment does not pass.
        language: Of the fixed reason.

    """
    nothing = undecided or outcome is None
    answer = point.undecided if outcome is None else outcome
    reason = reasons.text_of(reasons.PLAIN, "undecided" if nothing else "judged", language)
    if isinstance(answer, Mapping):
        sentiment = _SENTIMENTS.get(answer.get("sentiment"), Sentiment.NEUTRAL)
        allowed = not (fail_on_negative and sentiment is Sentiment.NEGATIVE)
        score = _score(point, "satisfaction", answer.get("satisfaction"))
        return Judgement(allowed, score, sentiment, reason, nothing)
    if isinstance(answer, bool):
        return Judgement(answer is not point.blocks, None, None, reason, nothing)
    score = _score(point, next(iter(point.spoken(next(iter(point.questions))))), answer)
    passed = score is not None and (point.host is None or point.host.clears(score))
    return Judgement(passed, score, None, reason, nothing)


def _score(point: DecisionPoint, name: str, value: object) -> float | None:
    """Carry a value to [0, 1]; None if there is none."""
    asked = next(iter(point.questions.values())).get(name)
    if not isinstance(asked, Score) or not isinstance(value, int | float):
        return None
    return min(1.0, max(0.0, (value - asked.low) / (asked.high - asked.low)))


def judge(name: str) -> DecisionPoint:
    """
    Declare a generic judge of the user's own, by its configured *name*.

    Its variables are `DECISION_JUDGE_<NAME>_…`.

    Raises:
        DeclarationError: The name leaves no suffix, or is one of the catalogue's (A3).

    """
    return own(judges.JUDGE_LLM_JUDGE, name, CATALOGUE)
