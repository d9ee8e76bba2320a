"""From what a model wrote to answers: the value of each question, and how likely it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ...gateway.acceptance import ROUNDING
from ...gateway.answers import Chosen, Held, Origin, RawAnswer, Reply, Scored, Stated, Unread
from ...gateway.confidence import choice_confidence
from ...gateway.errors import NoAnswer, Reason
from ...gateway.questions import Choice, Predicate, Score
from .completions import Found, Written, values
from .likelihood import Stream, shares, stream_of
from .prompts import keys_of
from .settings import Confidence
from .slots import Slot


class Numbered(msgspec.Struct, frozen=True):
    """
    An answer with its numbers.

    Attributes:
        answer: As acceptance takes it.
        named: The probability of all tokens that name an outcome; None where nobody knows.

    """

    answer: RawAnswer
    named: float | None = None


def reply_of(
    wrote: Written, slots: Sequence[Slot], confidence: Confidence, *, sampled: bool = False
) -> Reply:
    """
    Read the answers.

    One that is none of its question's outcomes is `Unread` and leaves the others as they are.
    Of what was *sampled* an outcome that is not the likeliest counts, too.

    Raises:
        NoAnswer: What was written is no object with the keys that were asked for.

    """
    sure = confidence == "self_reported"
    found = values(wrote.text)
    if not found.keys() <= {key for slot in slots for key in keys_of(slot, sure=sure)}:
        raise NoAnswer(Reason.MISMATCHED)
    told = [slot for slot in slots if found.keys() >= set(keys_of(slot, sure=sure))]
    if sure:
        said = {slot.name: _said(slot, found) for slot in told}
        return Reply(said, source="self_reported")
    stream = stream_of(wrote.logprobs, wrote.text) if confidence == "log_probabilities" else None
    read = {
        slot.name: _likely(slot, found[slot.key], wrote.text, stream, sampled=sampled)
        for slot in told
    }
    notes = {f"{name}.named": one.named for name, one in read.items() if one.named is not None}
    source: Origin = "log_probabilities" if notes else ""
    answers = {name: one.answer for name, one in read.items()}
    return Reply(answers, notes=notes or None, source=source)


def _outcome(slot: Slot, value: Any) -> int:  # noqa: ANN401 - JSON
    """
    Say which outcome *value* is.

    Raises:
        NoAnswer: `wrong_type`, or `undeclared_option` for one that the question has not.

    """
    kind = {Choice: str, Predicate: bool, Score: int}[type(slot.question)]
    if type(value) is not kind:
        raise NoAnswer(Reason.WRONG_TYPE)
    written = msgspec.json.encode(value).decode()
    if written not in slot.codes:
        raise NoAnswer(Reason.UNDECLARED_OPTION)
    return slot.codes.index(written)


# --- what the model says of itself -------------------------------------------------------


def _said(slot: Slot, found: Mapping[str, Found]) -> RawAnswer:
    value = found[slot.key].value
    if isinstance(slot.question, Predicate):
        return Held(value)
    try:
        return _plain(slot, _outcome(slot, value), found[slot.sure].value)
    except NoAnswer as fault:
        return Unread(fault.reason)


def _plain(slot: Slot, outcome: int, confidence: float | None = None) -> RawAnswer:
    """Give an answer of which no distribution is known."""
    if isinstance(slot.question, Choice):
        return Chosen(list(slot.question.options)[outcome], None, confidence)
    if isinstance(slot.question, Score):
        return Scored(outcome, None, confidence)
    return Stated(outcome == 0)


# --- what its tokens say -----------------------------------------------------------------


def _likely(
    slot: Slot, found: Found, text: str, stream: Stream | None, *, sampled: bool
) -> Numbered:
    try:
        outcome = _outcome(slot, found.value)
    except NoAnswer as fault:
        return Numbered(Unread(fault.reason))
    at = len(text[: found.at].encode(errors="replace"))
    given = [] if stream is None else shares(stream, at, slot.codes)
    named = sum(given)
    if not named or not given[outcome]:
        return Numbered(_plain(slot, outcome))
    if given[outcome] < max(given) - 2 * ROUNDING:  # what was written is not what is likely
        drawn = _drawn(slot, outcome, given) if sampled else Unread(Reason.INCONSISTENT)
        return Numbered(drawn, named)
    return Numbered(_weighed(slot, outcome, given), named)


def _weighed(slot: Slot, outcome: int, given: Sequence[float]) -> RawAnswer:
    if isinstance(slot.question, Choice):
        return _chosen(slot.question, outcome, given)
    if isinstance(slot.question, Score):
        return _scored(outcome, given)
    return _held(outcome, given)


def _drawn(slot: Slot, outcome: int, given: Sequence[float]) -> RawAnswer:
    """Give an outcome that is not the likeliest: with how sure it is, and no distribution."""
    if isinstance(slot.question, Choice):
        return _plain(slot, outcome, choice_confidence(given[outcome], len(given)))
    if isinstance(slot.question, Score):
        scored = _scored(outcome, given)
        return Scored(outcome, None, scored.confidence)
    return Stated(outcome == 0)


def _chosen(question: Choice, outcome: int, given: Sequence[float]) -> Chosen:
    """Give the distribution where it is whole; a confidence follows from the top alone."""
    names = list(question.options)
    whole = sum(given) >= 1.0 - ROUNDING * len(names)
    spread = {name: share for name, share in zip(names, given, strict=True) if share}
    confidence = choice_confidence(min(1.0, given[outcome]), len(names))
    return Chosen(names[outcome], spread if whole else None, confidence)


def _held(outcome: int, given: Sequence[float]) -> Held | Stated:
    """
    Give the probability of *true* by that of the outcome which was written.

    What lies on no outcome counts against it; where less than half is left to it, nothing is
    known.
    """
    share = min(1.0, given[outcome])
    if share < 0.5:  # noqa: PLR2004 - then the other outcome would be told
        return Stated(outcome == 0)
    return Held(share if outcome == 0 else 1.0 - share)


def _scored(outcome: int, given: Sequence[float]) -> Scored:
    """
    Give the expected level.

    What lies on no level counts in the confidence as if it lay as far away as it can.
    """
    levels, named = len(given), sum(given)
    mean = min(levels - 1.0, sum(level * share for level, share in enumerate(given)) / named)
    away = [abs(level - outcome) for level in range(levels)]
    astray = sum(far * share for far, share in zip(away, given, strict=True))
    astray += max(away) * max(0.0, 1.0 - named)
    middle = sum(abs(level - (levels - 1) / 2) for level in range(levels)) / levels
    whole = named >= 1.0 - ROUNDING
    return Scored(mean, list(given) if whole else None, max(0.0, 1.0 - astray / middle))
