"""`debate`: roles that argue before they answer, and hand over to a person what they should not."""

from __future__ import annotations

import importlib
import inspect
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ....gateway.answers import Chosen, Held, RawAnswer, Refused, Reply, Scored, Stated
from ....gateway.errors import Fault, NoAnswer, Reason, SetupError
from ....gateway.plugins import Call, Limits, Others
from ....gateway.questions import Ask, Choice, Predicate, Question, principal
from ....gateway.remote import variable_of
from ..feasible import Stage, feasible
from ..keeping import Alarm, Lost
from .holding import Debate
from .outcome import EMITS, Debated
from .retrieval import Retrieve
from .rules import Rules
from .settings import Configured, DebateSettings, configured
from .states import State

if TYPE_CHECKING:
    from ....gateway.plugins import Setup

PERCENT = 100.0
EVEN = 0.5  # a probability below it would name the other truth


class Debating:
    """
    A debate as a provider; it answers one question of an ask, the one that has to be believed.

    Others, which merely go with it, it declines.

    Args:
        name: As it was selected.
        gateway: Reaches members and decision points.
        made: Rules and members.
        settings: The variables.
        retrieve: The host's own search; None: nothing can be looked up.

    """

    limits = Limits(questions=None)
    deliberates = True
    model = ""

    def __init__(
        self,
        name: str,
        gateway: Others,
        made: Configured,
        settings: DebateSettings,
        retrieve: Retrieve | None,
    ) -> None:
        self.name, self._gateway, self._made, self._settings = name, gateway, made, settings
        self._retrieve = retrieve
        self.doubts: tuple[Fault, ...] = ()
        self.lost: Lost | None = None

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """
        Hold a debate about *ask*.

        Raises:
            NoAnswer: `unsupported` where not exactly one question has to be believed; `abstained`
                where a person has to decide; the reason of the roles' failure where all failed.

        """
        name = principal(ask.questions)
        if name is None:
            raise NoAnswer(Reason.UNSUPPORTED)
        debate = self.debate(ask.questions[name])
        session, folder = str(uuid.uuid4()), self._settings.transcripts
        done = await debate.held(
            self._gateway,
            ask.state,
            call=call,
            path=None if folder is None else folder / f"{session}.jsonl",
            texts=self._settings.transcript_texts,
            session=session,
            lost=self.lost,
        )
        told = self._reply(ask.questions[name], done)
        others: dict[str, RawAnswer] = dict.fromkeys(ask.questions, Refused())
        answers = {**others, name: told}
        return Reply(
            answers,
            usage=done.usage,
            notes=notes(done),
            source="self_reported",
            partial=done.status != "complete",
        )

    def debate(self, question: Question) -> Debate:
        """Make the debate about one question."""
        made = self._made
        return Debate(
            question,
            made.panel,
            council=made.council,
            rules=made.rules,
            synthesizer=made.synthesizer,
            retrieve=self._retrieve,
            risk_field=self._settings.risk_field,
        )

    def _reply(self, question: Question, done: Debated) -> RawAnswer:
        billed = Reply({}, usage=done.usage, notes=notes(done))
        if done.state is State.FAILED:
            raise NoAnswer(done.failed or Reason.PROVIDER_ERROR, reply=billed)
        if done.state not in EMITS or done.recommendation is None:
            raise NoAnswer(Reason.ABSTAINED, reply=billed, escalates=escalates(done))
        if done.status != "complete" and self._settings.on_partial == "fallback":
            raise NoAnswer(Reason.INCOMPLETE, reply=billed)
        if done.status != "complete" and self._settings.on_partial == "reject":
            raise NoAnswer(Reason.ABSTAINED, reply=billed, escalates=escalates(done, "partial"))
        return raw(question, done.recommendation, done.confidence / PERCENT)


def raw(question: Question, option: str, confidence: float) -> RawAnswer:
    """Give a recommendation as an answer to its question."""
    if isinstance(question, Choice):
        return Chosen(option, None, confidence)
    if isinstance(question, Predicate):
        holds = option == "true"
        sure = confidence if holds else 1.0 - confidence
        return Held(sure) if confidence > EVEN else Stated(holds)
    return Scored(float(list(question.levels).index(option)), None, confidence)


def escalates(done: Debated, *more: str) -> Mapping[str, Any]:
    """Say why a person should decide: codes and a path, and nothing that was said."""
    return {
        "reasons": [*done.reasons, *more],
        "flags": list(done.flags),
        "session": done.session,
        "transcript": "" if done.file is None else str(done.file.absolute()),
    }


def notes(done: Debated) -> dict[str, float]:
    """Give the numbers that go with an answer: how honest it is, and what it took (BR-10)."""
    told: dict[str, float | None] = {
        "responded": float(done.responded),
        "expected": float(done.expected),
        "rounds": float(len(done.rounds)),
        "convergence": done.convergence,
        "raw_confidence": None if done.synthesis is None else done.synthesis.confidence.raw,
        "council_score": None if done.council is None else done.council["score"],
        "caveats": 1.0 if done.state is State.EMITTED_WITH_CAVEATS else None,
        "degraded": 1.0 if done.status != "complete" else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def worst_case(rules: Rules, roles: int, *, account: bool = False) -> tuple[float, str]:
    """
    Give the seconds after which a debate has ended, and what of it does not fit (AM-12, FV-29).

    The council's own time stands outside of the total and is added to it. Look-ups and re-asks are
    inside of a role's time; of providers that decide points on the way, nothing is known here.

    Args:
        rules: What it is held by.
        roles: How many debate.
        account: Somebody writes an account of it.

    """
    later = rules.round2 == "parallel"
    stages = [
        Stage(
            name=f"round {number}",
            turns=roles,
            seconds=rules.timeout_per_agent,
            at_once=number == 1 or later,
            cap=rules.timeout_per_round,
        )
        for number in range(1, rules.rounds_max + 1)
    ]
    if account:
        stages.append(Stage(name="the account", turns=1, seconds=rules.timeout_per_agent))
    found = feasible(stages, rules.timeout_total)
    lookups = rules.rag_max_queries * rules.rag_timeout
    tight = rules.rag_internal_queries and lookups > rules.timeout_per_agent
    more = f"{lookups:g} s of look-ups do not fit into one role's time" if tight else ""
    told = "; ".join(one for one in (found.told(), more) if one)
    return found.worst + rules.council_timeout, told


def debate(setup: Setup) -> Debating:
    """
    Make `debate`, or an instance of it.

    Raises:
        SetupError: With every fault of its variables.

    """
    settings = setup.read(DebateSettings)
    made = configured(setup, settings)
    retrieve = None if settings.rag_source is None else _source(setup, settings.rag_source)
    provider = Debating(setup.name, setup.gateway, made, settings, retrieve)
    provider.lost = Alarm(setup)
    provider.doubts = tuple(_doubts(setup, made, retrieves=retrieve is not None))
    return provider


def _doubts(setup: Setup, made: Configured, *, retrieves: bool) -> list[Fault]:
    """List what is legal and will hardly work."""
    rules = made.rules
    if not retrieves:
        rules = msgspec.structs.replace(rules, rag_internal_queries=False)
    account = made.synthesizer is not None
    seconds, told = worst_case(rules, len(made.panel), account=account)
    where = variable_of(setup, "TIMEOUT_TOTAL")
    fix = f"The worst case is {seconds:g} s with the council: raise it, or have fewer rounds"
    return [Fault(where, told, fix)] if told else []


def _source(setup: Setup, named: str) -> Retrieve:
    """
    Import the host's own search.

    Raises:
        SetupError: It is not there, or is no `async def`.

    """
    module, _, function = named.partition(":")
    try:
        found: object = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found) or not _awaits(found):
        problem = "it is not async" if callable(found) else "there is no such function"
        fix = "Write module:function, of an `async def retrieve(query, scope)`"
        raise SetupError.of(variable_of(setup, "RAG_SOURCE"), problem, fix)
    return cast("Retrieve", found)


def _awaits(found: Callable[..., object]) -> bool:
    """Whether it is an `async def`, or an object that is called as one."""
    return any(map(inspect.iscoroutinefunction, (found, type(found).__call__)))
