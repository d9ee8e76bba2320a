"""How a case is written down: an attempt as it ended, and the record of the whole."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from .acceptance import Verdict
from .answers import Answer, Reply
from .cases import Case
from .errors import Reason
from .gates import Gate
from .plugins import Call
from .questions import Outcome
from .records import Attempt, Record
from .resilience import Lane
from .steps import Sent

NOBODY = Verdict(Reason.OK)  # where no provider's answer decided
NO_REPLY = Reply({})


def outcome_of(answers: Mapping[str, Answer]) -> Outcome:
    """The value of the only question, or question → value."""
    if len(answers) == 1:
        (answer,) = answers.values()
        return answer.value
    return {name: answer.value for name, answer in answers.items()}


def held(case: Case, outcome: Outcome) -> Outcome:
    """
    Hold a provider's outcome to the point's rule, if it has one.

    Raises:
        Unfit: That makes no answer of it.

    """
    if case.rule is None or case.ask is None:
        return outcome
    return case.rule(case.ask.questions, outcome)


def unfit(case: Case) -> None:
    """Write down that the last answer could not be used, which is told already."""
    case.attempts[-1] = msgspec.structs.replace(case.attempts[-1], reason=Reason.UNSUPPORTED)


def attempt_of(
    lane: Lane, gate: Gate, verdict: Verdict, reply: Reply | None, call: Call, sent: Sent
) -> Attempt:
    """Write down one ask of *lane*, as it ended."""
    reply = NO_REPLY if reply is None else reply
    return Attempt(
        provider=lane.name,
        model=reply.model or lane.model,
        reason=verdict.reason,
        answers=verdict.answers,
        confidence=verdict.confidence,
        minimum=gate.minimum if verdict.minimum is None else verdict.minimum,
        seconds=time.perf_counter() - sent.begun,
        usage=reply.usage,
        request_id=reply.request_id,
        notes=reply.notes,
        late=call.deadline is not None and time.monotonic() > call.deadline,
        form=sent.form,
        cached=sent.cached,
    )


def recorded(
    case: Case,
    provider: str,
    outcome: Outcome = None,
    verdict: Verdict = NOBODY,
    *,
    undecided: bool = False,
) -> Record:
    """Write down what is known of *case*, and how it ended."""
    return Record(
        id=case.id,
        at=time.time(),
        point=case.point.name,
        variant=case.plan.provider,
        provider=provider,
        outcome=outcome,
        answers=verdict.answers,
        confidence=verdict.confidence,
        reason=case.attempts[0].reason if case.attempts else Reason.OK,
        attempts=tuple(case.attempts),
        undecided=undecided,
        seconds=time.perf_counter() - case.begun,
        exposure=case.exposure,
    )
