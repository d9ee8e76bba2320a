"""What a judge makes the host record, and the judges that users declare themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from ..gateway.points import DecisionPoint
from ..gateway.questions import Predicate, Question, Score
from . import judges, reasons
from .guardrails import own
from .menus import normal
from .reading import Said, plain, words


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

_SENTIMENTS: Final[Mapping[str, Sentiment]] = {
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
    outcome: Said,
    *,
    undecided: bool = False,
    fail_on_negative: bool = False,
    language: str = "en",
) -> Judgement:
    """
    Say what a judge's *outcome* makes the host record.

    A scored judge passes from the host's own threshold on (`point.host`); of several scores
    their mean counts. A judge of one truth passes unless the answer is the one that blocks
    (`point.blocks`, True unless declared). CSI always passes unless told otherwise. None is
    the point's safe outcome, undecided; what cannot be read has not passed, undecided.

    Args:
        point: The judge that was asked.
        outcome: What was decided, on the point's own scale; of CSI also the word alone, in
            either language and any case.
        undecided: Whether it is the safe outcome.
        fail_on_negative: Of CSI, whether a negative sentiment does not pass.
        language: Of the fixed reason.

    """
    nothing = undecided or outcome is None
    answer = point.undecided if outcome is None else outcome
    asked = next(iter(point.questions.values()))
    if "sentiment" in asked:
        found = _felt(asked, answer, fail_on_negative=fail_on_negative)
    else:
        found = _passed(point, asked, answer)
    nothing = nothing or found.undecided
    reason = reasons.text_of(reasons.PLAIN, "undecided" if nothing else "judged", language)
    return msgspec.structs.replace(found, reason=reason, undecided=nothing)


def _felt(asked: Mapping[str, Question], answer: Said, *, fail_on_negative: bool) -> Judgement:
    """Read CSI; a missing word is a neutral one that nobody said."""
    said: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {"sentiment": answer}
    spoken = (*words(said.get("sentiment")), *words(said.get("sentimento")))
    known = [_SENTIMENTS[one] for one in map(normal, spoken) if one in _SENTIMENTS]
    felt = known[0] if known else Sentiment.NEUTRAL
    allowed = not (fail_on_negative and felt is Sentiment.NEGATIVE)
    score = _score(asked.get("satisfaction"), said.get("satisfaction"))
    return Judgement(allowed, score, felt, "", not known)


_UNREAD: Final = Judgement(allowed=False, score=None, sentiment=None, reason="", undecided=True)


def _passed(point: DecisionPoint, asked: Mapping[str, Question], answer: Said) -> Judgement:
    """Read the answers to the questions that have to be believed."""
    gated = [name for name, one in asked.items() if not one.advisory] or [*asked]
    said: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {gated[0]: answer}
    main = plain(said.get(gated[0]))
    if len(gated) == 1 and isinstance(asked[gated[0]], Predicate) and isinstance(main, bool):
        return Judgement(main is not point.blocks, None, None, "")
    scores = [_score(asked[name], said.get(name)) for name in gated]
    known = [one for one in scores if one is not None]
    if len(known) < len(gated):
        return _UNREAD
    score = sum(known) / len(known)
    return Judgement(point.host is None or point.host.clears(score), score, None, "")


def _score(asked: Question | None, value: object) -> float | None:
    """Carry a value to [0, 1]; None if there is none."""
    number = plain(value)
    if not isinstance(asked, Score) or isinstance(number, bool):
        return None
    if not isinstance(number, int | float) or not math.isfinite(number):
        return None
    return min(1.0, max(0.0, (number - asked.low) / (asked.high - asked.low)))


def judge(name: str) -> DecisionPoint:
    """
    Declare a generic judge of the user's own, by its configured *name*.

    Its variables are `DECISION_JUDGE_<NAME>_…`. `llm_judge` is the generic judge itself.

    Raises:
        DeclarationError: The name leaves no suffix, or is one of the catalogue's (A3).

    """
    return own(judges.JUDGE_LLM_JUDGE, name, CATALOGUE)
