"""What was found out about a decision, told from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import msgspec

from ..errors import DeclarationError, SetupError
from ..keeping import ID
from ..questions import Choice, Predicate, Question, Score, Value, may_answer, principal
from ..wire.faults import UNREADABLE
from .faults import Problem
from .matching import origin_of
from .visits import Response, Visit

if TYPE_CHECKING:
    from ..points import DecisionPoint
    from ..records import Record
    from .house import House


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    The body of a request.

    Attributes:
        decision: Its id, as `x-request-id` gave it.
        right: Whether what was decided was right.
        label: What would have been right, in the point's vocabulary; question → value of several.

    """

    decision: str
    right: bool | None = None
    label: Value | dict[str, Value | None] | None = None


_decoder = msgspec.json.Decoder(Told)


class Feedback:
    """Takes what was found out about decisions of this journal, whoever made them."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, visit: Visit, body: bytes) -> Response:
        """
        Answer `POST /v1/feedback`.

        Raises:
            Problem: It says nothing, of no decision that is known, or nothing is kept.

        """
        told = _read(body)
        try:
            await asyncio.to_thread(self._taken, told)
        except DeclarationError:  # what no row can hold
            message = "is a finite number, or a text that can be written"
            raise Problem(400, "invalid_request", message, param="label") from None
        except SetupError:
            message = "this server keeps no journal, so that feedback would be lost"
            raise Problem(409, "no_journal", message) from None
        visit.decision = told.decision
        return Response(200, msgspec.json.encode({"object": "feedback", "decision": told.decision}))

    def _taken(self, told: Told) -> None:
        gateway = self._house.gateway
        if not gateway.knows(told.decision):
            message = "the journal has no such decision"
            raise Problem(404, "decision_not_found", message, param="decision")
        record = None if told.label is None else gateway.record(told.decision)
        point = None if record is None else gateway.points.get(record.point)
        if record is not None and point is not None and told.label is not None:
            held(told.label, record, point.spoken(gateway.settings.globals.language), point)
        gateway.feedback(told.decision, right=told.right, label=told.label)


def held(
    label: Value | Mapping[str, Value | None],
    record: Record,
    declared: Mapping[str, Question],
    point: DecisionPoint,
) -> None:
    """
    Hold a *label* against what *point* asks, and what was answered there.

    Raises:
        Problem: It is no answer to that.

    """
    if isinstance(label, Mapping):
        labels: Mapping[str, Value | None] = label
    else:
        answered = next((one.answers for one in record.attempts if one.answers), declared)
        main = next(iter(answered)) if len(answered) == 1 else principal(declared)
        if main is None:
            raise _wrong(f"is an object of {', '.join(answered)}")
        labels = {main: label}
    for name, value in labels.items():
        question = declared.get(origin_of(point, name, declared))
        if question is None:
            raise _wrong(f"names what is not asked; asked is {', '.join(declared)}")
        if value is not None and not _answers(question, value, seen(record, name)):
            raise _wrong(f"is {_vocabulary(question)} for {name}")


def _answers(question: Question, value: Value, outcomes: AbstractSet[str]) -> bool:
    """Whether *value* may be the answer; a request may have brought options of its own."""
    if isinstance(question, Choice) and not outcomes <= question.options.keys():
        return isinstance(value, str)
    known_level = isinstance(question, Score) and value in question.levels
    return known_level or may_answer(question, value)


def seen(record: Record, name: str) -> set[str]:
    """List the outcomes of a choice that its answers speak of."""
    answers = [one.answers[name] for one in record.attempts if name in one.answers]
    spoken = {outcome for one in answers for outcome in one.distribution or ()}
    return spoken | {one.value for one in answers if isinstance(one.value, str)}


def _vocabulary(question: Question) -> str:
    if isinstance(question, Predicate):
        return "true or false"
    if isinstance(question, Choice):
        return f"one of {', '.join(question.options)}"
    return f"a number from {question.low:g} to {question.high:g}"


def _wrong(problem: str) -> Problem:
    return Problem(400, "label_mismatch", problem, param="label")


def _read(body: bytes) -> Told:
    try:
        told = _decoder.decode(body)
    except UNREADABLE:
        how = "send an object with decision, and right (true or false) or label"
        raise Problem(400, "invalid_request", how) from None
    if told.right is None and told.label is None:
        raise Problem(400, "invalid_request", "say whether it was right, or a label", param="label")
    told = msgspec.structs.replace(told, decision=told.decision.lower())
    if not ID.fullmatch(told.decision):
        how = "is the whole id, 32 digits, as x-request-id gave it"
        raise Problem(400, "invalid_request", how, param="decision")
    return told
