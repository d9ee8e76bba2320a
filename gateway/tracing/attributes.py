"""What spans say: pure functions from cases, records and attempts. No content unless asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

from ..errors import Reason
from ..settings import CURRENT, DEFAULT
from . import names

if TYPE_CHECKING:
    from ..answers import Answer
    from ..cases import Case
    from ..plugins import Provider
    from ..points import DecisionPoint
    from ..questions import Ask
    from ..records import Attempt, Record, Shadow
    from ..resilience import Lane

Attributes: TypeAlias = dict[str, str | bool | int | float]

UNSURE: Final = frozenset(
    {Reason.LOW_CONFIDENCE, Reason.CONFIDENCE_MISSING, Reason.REFUSED, Reason.ABSTAINED}
)
"""Ends of an ask that was answered as it may be, but does not decide: no errors."""

PORTS: Final = {"http": 80, "https": 443}


def error_of(reason: Reason) -> str | None:
    """Give the type of the error that an attempt ended in; None: it is none."""
    return None if reason is Reason.OK or reason in UNSURE else reason.value


def address_of(url: str) -> Attributes:
    """Say where *url* leads, without its path; empty for what is no URL."""
    parts = urlsplit(url)
    if not parts.hostname:
        return {}
    port = parts.port or PORTS.get(parts.scheme)
    where: Attributes = {names.SERVER_ADDRESS: parts.hostname}
    return where if port is None else {**where, names.SERVER_PORT: port}


def told_address(provider: Provider) -> Attributes:
    """Say where a provider asks, as far as it tells so before it does."""
    url = getattr(provider, "url", "")
    return address_of(url) if isinstance(url, str) else {}


def of_case(case: Case, *, content: bool) -> Attributes:
    """Say of a decision what is known before anybody is asked: samplers may need it."""
    plan, lane = case.plan, case.planned
    said: Attributes = {
        names.OPERATION: names.DECIDE,
        names.PROVIDER: plan.provider,
        names.SPAN_KIND: names.DECISION,
        names.POINT: case.point.name,
        names.ID: case.id,
        names.FLAG: case.point.name,
        names.FLAG_PROVIDER: names.ENV,
        names.FLAG_VARIANT: plan.provider,
        names.FLAG_REASON: _flagged(case),
    }
    if lane is not None and lane.model:
        said |= {names.REQUEST_MODEL: lane.model, names.DECISION_REQUEST_MODEL: lane.model}
    if content and case.call.subject is not None:
        said |= {
            names.CONVERSATION: case.call.subject,
            names.FLAG_CONTEXT: case.call.subject,
        }
    return said


def _flagged(case: Case) -> str:
    if case.exposure is not None:
        return "split"
    return "default" if case.plan.why["provider"] == DEFAULT else "static"


def of_record(case: Case, record: Record, *, content: bool) -> Attributes:
    """Say how a decision ended."""
    said: Attributes = {
        names.ID: record.id,
        names.FALLBACK: record.fallback,
        names.UNDECIDED: record.undecided,
    }
    if case.stands:
        said[names.STANDING] = True
    if case.ask is not None:
        types = dict.fromkeys(type(one).__name__.lower() for one in case.ask.questions.values())
        said[names.QUESTION] = ",".join(types)
    if record.fallback:
        said[names.FALLBACK_REASON] = record.reason.value
    if record.provider:
        said[names.DECISION_PROVIDER] = record.provider
    decided = record.attempts[-1] if record.answers and record.attempts else None
    if decided is not None:
        said |= _sure(decided)
        said |= _served(decided)
    if content:
        said |= _decided(case, record)
    return said


def _decided(case: Case, record: Record) -> Attributes:
    """Say what was decided; and about what, where no provider was to be shown it."""
    said: Attributes = {}
    if record.outcome is not None:
        written = _written(record.outcome)
        said |= {names.OUTPUT_VALUE: written, names.OUTPUT_TYPE: names.JSON}
        said[names.ANSWER] = record.outcome if isinstance(record.outcome, str) else written
    if case.ask is not None and case.planned is None:
        said |= shown(case.ask)
    return said


def shown(ask: Ask) -> Attributes:
    """Say what a decider is shown: the state, and the questions about it."""
    state = ask.state if isinstance(ask.state, str) else msgspec.Raw(ask.text.encode())
    written = _written({"state": state, "questions": dict(ask.questions)})
    return {names.INPUT_VALUE: written, names.INPUT_TYPE: names.JSON}


def of_lane(lane: Lane, point: str) -> Attributes:
    """Say of an attempt what is known before it leaves: samplers may need it."""
    said = _named(lane.name, point) | told_address(lane.provider)
    if lane.model:
        said |= {names.REQUEST_MODEL: lane.model, names.DECISION_REQUEST_MODEL: lane.model}
    if (system := names.SYSTEMS.get(getattr(lane.provider, "dialect", ""))) is not None:
        said[names.DECISION_SYSTEM] = system
    return said


def of_unasked(attempt: Attempt, point: str) -> Attributes:
    """Say of an attempt for which nothing was sent who it was meant for."""
    return _named(attempt.provider, point)


def _named(provider: str, point: str) -> Attributes:
    return {
        names.OPERATION: names.DECIDE,
        names.PROVIDER: provider,
        names.SPAN_KIND: names.DECISION,
        names.DECISION_PROVIDER: provider,
        names.POINT: point,
    }


def of_current(point: str) -> Attributes:
    """Say of a run of the host's own path what it is."""
    return {names.PROVIDER: CURRENT, names.SPAN_KIND: names.CHAIN, names.POINT: point}


def of_attempt(attempt: Attempt, *, content: bool) -> Attributes:
    """Say how an attempt ended, and what it used."""
    said: Attributes = {names.REASON: attempt.reason.value, **_sure(attempt), **_served(attempt)}
    if (error := error_of(attempt.reason)) is not None:
        said[names.ERROR] = error
    if attempt.request_id is not None:
        said[names.RESPONSE_ID] = attempt.request_id
    if attempt.cached:
        said[names.CACHED] = True
    if attempt.form != "single":
        said[names.FORM] = attempt.form
    if (usage := attempt.usage) is not None and not attempt.cached:
        said |= {
            names.INPUT_TOKENS: usage.input_tokens,
            names.OUTPUT_TOKENS: usage.output_tokens,
            names.DECISION_INPUT_TOKENS: usage.input_tokens,
            names.DECISION_OUTPUT_TOKENS: usage.output_tokens,
        }
    if content and attempt.answers:
        written = _written(attempt.answers)
        said |= {names.OUTPUT_VALUE: written, names.OUTPUT_TYPE: names.JSON}
    return said


def of_shadow(shadow: Shadow) -> Attributes:
    """Say of a shadow's answer whether it agrees with what was decided, if it can be told."""
    if shadow.outcome is None:
        return {names.ID: shadow.of}
    return {names.ID: shadow.of, names.AGREE: shadow.outcome == shadow.beside}


def _sure(attempt: Attempt) -> Attributes:
    said: Attributes = {}
    if attempt.answers:
        said[names.CONFIDENCE] = attempt.confidence
    if attempt.minimum is not None:
        said[names.THRESHOLD] = attempt.minimum
    return said


def _served(attempt: Attempt) -> Attributes:
    """Name the model that answered; of what did not answer, only the asked one is known."""
    if not attempt.model:
        return {}
    said: Attributes = {names.DECISION_MODEL: attempt.model}
    if came(attempt):
        said |= dict.fromkeys((names.RESPONSE_MODEL, names.DECISION_RESPONSE_MODEL), attempt.model)
    return said


def came(attempt: Attempt) -> bool:
    """Whether something came back, so that it is known who was asked in the end."""
    told = attempt.usage is not None or attempt.request_id is not None
    return bool(attempt.answers) or told


def evaluations(point: DecisionPoint, record: Record, *, content: bool) -> Iterator[Attributes]:
    """Give what a judge found, one for each of its questions; labels are content."""
    if not point.evaluates:
        return
    for question, answer in record.answers.items():
        name = point.name if len(record.answers) == 1 else f"{point.name}.{question}"
        said: Attributes = {names.EVALUATION: name}
        if (score := _score(answer)) is not None:
            said[names.EVALUATION_SCORE] = score
        if content and answer.value is not None:
            said[names.EVALUATION_LABEL] = str(answer.value)
        if len(said) > 1:
            yield said


def _score(answer: Answer) -> float | None:
    """Give a score as it is, and of a truth how likely it is; an option has no number."""
    value = answer.value
    if isinstance(value, bool):
        if answer.probability is None:
            return float(value)
        return answer.probability if value else 1.0 - answer.probability
    return float(value) if isinstance(value, int | float) else None


def _written(value: object | Mapping[str, object]) -> str:
    return msgspec.json.encode(value).decode()
