"""A request that asks for a decision, from its body to its reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import DeclarationError, HumanNeeded, JournalDown, NoAnswer, Reason, SetupError
from ..questions import Choice, Question
from ..wire.requests import BadRequest
from .dialects import Dialect
from .faults import REFUSALS, Problem, problem_of, undecided, unknown
from .house import POINT, House
from .matching import matched
from .replies import (
    answers_of,
    cost_of,
    counting,
    stated,
    told,
    told_unanswered,
    unbilled,
    usage_of,
)
from .visits import Response, Visit

if TYPE_CHECKING:
    from ..answers import Answer, Usage
    from ..preparing import Prepared
    from ..records import Decision
    from ..wire.requests import Asked

SUBJECT = b"x-pointsman-subject"
TOGETHER = 2000  # options of all questions; those in this process read them beside nobody
LONGEST = 256  # characters of a subject


class Deciding:
    """
    Answers decisions in one dialect.

    Args:
        house: Whom to ask.
        dialect: How it is asked.

    """

    def __init__(self, house: House, dialect: Dialect) -> None:
        self._house, self._dialect = house, dialect

    async def __call__(self, visit: Visit, body: bytes) -> Response:
        """
        Decide what *body* asks.

        Raises:
            Problem: There is no answer.

        """
        asked = self._read(body)
        prepared, asked = self._prepared(asked, _subject(visit, asked))
        prepared.before(visit.end)
        visit.decision = prepared.id
        try:
            with self._house.gateway.continued(visit.headers):
                decision = await prepared.made()
        except NoAnswer as fault:
            return self._unanswered(asked, prepared, fault)
        except HumanNeeded:
            raise undecided() from None
        except DeclarationError as error:  # of the state that a calculator reads
            raise Problem(400, "state_mismatch", str(error), param="state") from None
        except JournalDown:
            message = "a person must decide, and the question cannot be kept now"
            raise Problem(503, "journal_down", message, again=True) from None
        finally:
            visit.cost = cost_of(prepared.attempts)
            visit.unbilled = unbilled(prepared.attempts)
        return self._answered(asked, decision)

    def _read(self, body: bytes) -> Asked:
        try:
            asked = self._dialect.read(body)
        except BadRequest as bad:
            raise Problem(400, bad.code, bad.problem, param=bad.param) from None
        limits = self._house.limits
        if len(asked.questions) > limits.max_questions:
            most = f"at most {limits.max_questions} questions are taken"
            raise Problem(400, "too_many_questions", most, param="questions")
        if any(_options(one) > limits.max_options for one in asked.questions.values()):
            most = f"at most {limits.max_options} options are taken"
            raise Problem(400, "too_many_options", most, param="questions")
        if sum(map(_options, asked.questions.values())) > TOGETHER:
            most = f"at most {TOGETHER} options are taken, of all questions together"
            raise Problem(400, "too_many_options", most, param="questions")
        if not asked.model:
            how = "name a model; GET /v1/models lists them"
            raise Problem(400, "model_missing", how, param="model")
        return asked

    def _prepared(self, asked: Asked, subject: str | None) -> tuple[Prepared, Asked]:
        try:
            if asked.model.startswith(POINT):
                return self._of_point(asked, subject)
            return self._of_provider(asked, subject)
        except SetupError as error:
            for fault in error.faults:
                self._house.tell_once("server.misconfigured", **msgspec.structs.asdict(fault))
            message = "this server is not set up to decide this"
            raise Problem(503, "misconfigured", message, param="model") from None
        except DeclarationError as error:
            raise Problem(400, "state_mismatch", str(error), param="state") from None

    def _of_point(self, asked: Asked, subject: str | None) -> tuple[Prepared, Asked]:
        gateway = self._house.gateway
        point = self._house.point(asked.model.removeprefix(POINT))
        if point is None:
            raise unknown()
        match = matched(point, asked, gateway.settings.globals.language)
        prepared = gateway.prepared(point, match.ask, subject=subject, state=asked.state)
        if not match.shown:
            prepared.uncertify()
        return prepared, match.asked

    def _of_provider(self, asked: Asked, subject: str | None) -> tuple[Prepared, Asked]:
        gateway = self._house.gateway
        known = gateway.directory()
        if asked.model not in known.providers:
            for fault in known.faults[asked.model].faults if asked.model in known.faults else ():
                self._house.tell_once("server.not_configured", **msgspec.structs.asdict(fault))
            raise unknown()
        if not asked.questions:
            message = "a provider that is asked directly needs at least one question"
            raise Problem(400, "questions_missing", message, param="questions")
        try:
            ask = asked.ask
        except BadRequest as bad:
            raise Problem(400, "invalid_request", bad.problem, param=bad.param) from None
        return gateway.directly(asked.model, ask, subject=subject), asked

    def _answered(self, asked: Asked, decision: Decision[Any]) -> Response:
        said, usage = told(decision, asked.called), usage_of(decision.attempts)
        if not self._dialect.refuses:
            _answerable(asked, decision)
        content = self._written(asked, counting(asked.questions, decision), said, usage)
        return Response(200, content, decision.record.id, decision.provider, said["reason"])

    def _unanswered(self, asked: Asked, prepared: Prepared, fault: NoAnswer) -> Response:
        if fault.reason not in REFUSALS or not self._dialect.refuses:
            raise problem_of(fault.reason, prepared.pause)
        said = told_unanswered(prepared.id, prepared.attempts, fault.reason.value)
        content = self._written(asked, {}, said, usage_of(prepared.attempts))
        return Response(200, content, prepared.id, "", fault.reason.value)

    def _written(
        self, asked: Asked, answers: Mapping[str, Answer], said: Mapping[str, Any], usage: Usage
    ) -> bytes:
        return self._dialect.write(
            asked,
            answers_of(asked.questions, answers),
            model=said["model"] or said["provider"] or asked.model,
            usage=usage,
            extra={"provider_metadata": {"pointsman": said}},
        )


def _answerable(asked: Asked, decision: Decision[Any]) -> None:
    """
    Say in a status what the dialect has no answer for; it is all or nothing.

    Of a point an answer may be absent: of a question that waits for another, or advises.

    Raises:
        Problem: Nobody decided, the provider refused a question, or said a truth without a
            probability.

    """
    if decision.undecided:
        raise undecided()
    if stated(decision):
        raise problem_of(Reason.CONFIDENCE_MISSING)
    absent = any(one.value is None for one in decision.answers.values())
    if absent and not asked.model.startswith(POINT):
        raise problem_of(Reason.REFUSED)


def _options(question: Question) -> int:
    return len(question.options) if isinstance(question, Choice) else 0


def _subject(visit: Visit, asked: Asked) -> str | None:
    """Name who it is about: the header wins, and neither is ever told."""
    given = visit.headers.get(SUBJECT)
    said = "" if given is None else given.decode("utf-8", "replace").strip()
    subject = said or asked.subject
    if subject and len(subject) > LONGEST:
        raise Problem(400, "subject_too_long", f"a subject has at most {LONGEST} characters")
    return subject or None
