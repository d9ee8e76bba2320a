"""Where the rows of a calibration come from: the journal, a file of labels, or asking now."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...certificates import Key
from ...errors import SetupError
from ...evaluation.calibration.collecting import TENANT, Collected, Wanted, collect
from ...evaluation.calibration.descriptions import Share
from ...evaluation.calibration.labelling import Teller, from_current, from_feedback, from_labels
from ...evaluation.calibration.vocabulary import sifted
from ...gates import Gate, Scale
from ...journaling import store_of
from ...points import DecisionPoint, find, suffix_of
from ...questions import Choice
from ...settings import CURRENT, PREFIX, Plan
from .. import INTERRUPTED, report
from ..journal.opening import reached
from ..points import warned
from ..session import Session, chosen, heeded
from ..target import target
from .asking import Asking, Wish
from .file import Labelled, read_labels
from .naming import found_in, need_used, resolved

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...journal.store import Store

AGAINST = CURRENT
JOURNAL = f"{PREFIX}JOURNAL"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the options of the command say.

    Attributes:
        point: Name of the decision point, as given.
        provider: Whose answers; None: the point's own provider or shadow.
        labels: File of labels; None: feedback in the journal counts.
        against: Answers are held against those of `current`.
        scale: Which number is the confidence.
        fields: Fields by which rows are told apart.
        options: Options of the point, or of the question.
        question: A question in place of the point's.
        language: In which states are asked.
        concurrency: States that are asked at once.
        repeat: How often each is asked again.
        shuffle: Whether each is asked again with its options in another order.
        seed: Of these orders.

    """

    point: str
    provider: str | None = None
    labels: Path | None = None
    against: bool = False
    scale: Scale = "probability"
    fields: tuple[str, ...] = ()
    options: str | None = None
    question: str | None = None
    language: str | None = None
    concurrency: int = 8
    repeat: int = 0
    shuffle: bool = False
    seed: int = 0


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """
    What came together.

    Attributes:
        collected: The samples, and what became none.
        provider: Whose.
        force: The gate in force, if that provider decides today.
        overruled: The variable that sets the threshold, so that no certificate will; else empty.
        asked: The rows were asked now.
        strangers: Labels of a file about decisions that it was never asked about.
        unknown: Ids of a file that are no decision's.
        repeated: Key → rows whose answers differ when asked again.
        shuffled: Key → rows whose answer differs with the options in another order.
        closed: Choices without an option for "none of these".

    """

    collected: Collected
    provider: str
    force: Gate | None = None
    overruled: str = ""
    asked: bool = False
    strangers: int = 0
    unknown: tuple[str, ...] = ()
    repeated: Mapping[Key, Share] = {}
    shuffled: Mapping[Key, Share] = {}
    closed: tuple[str, ...] = ()


def gathered(session: Session, request: Request) -> Gathered:
    """
    Gather the samples of one point and provider.

    Raises:
        SetupError: No provider can be told, there is no journal, or rows are wrong.

    """
    if request.provider == CURRENT:
        problem = "current has no confidence to put a threshold on"
        raise SetupError.of("--provider", problem, "Name a provider that answers beside it")
    lines = None if request.labels is None else read_labels(request.labels)
    if lines and lines[0].state is not None:
        assert request.labels is not None
        return _asked(session, request, request.labels, lines)
    _no_asking(request)
    with session.by_option({}) as gateway:
        provider = request.provider or _provider(gateway, request.point)
        point = known(gateway, request.point)
        with opened(gateway) as store:
            named = None if lines is None else resolved(store, lines)
            teller: Teller = from_current if request.against else from_feedback
            if named is not None:
                teller = from_labels(named.labels)
            wanted = Wanted(provider, teller, point, (TENANT, *request.fields))
            trails = store.trails(point=suffix_of(request.point) if point is None else point.name)
            collected = collect(trails, wanted)
            named = None if named is None else found_in(store, named, collected.samples)
        _need_rows(collected, request, provider)
        if named is not None:
            need_used(named, collected.samples)
        found = _gathered(gateway, request.point, collected, provider)
        closed = () if point is None else _closed(point)
    if named is None:
        return msgspec.structs.replace(found, closed=closed)
    strangers, unknown = named.strangers(collected.samples), named.unknown
    return msgspec.structs.replace(found, strangers=strangers, unknown=unknown, closed=closed)


def _gathered(gateway: Gateway, point: str, collected: Collected, provider: str) -> Gathered:
    plan = _plan(gateway, point)
    if plan is None:
        return Gathered(collected=collected, provider=provider)
    mine = plan.provider == provider
    overruled = "" if plan.certifiable else plan.why["minimum"]
    force = plan.gate if mine else None
    return Gathered(collected=collected, provider=provider, force=force, overruled=overruled)


def _closed(point: DecisionPoint) -> tuple[str, ...]:
    """Name the choices in which nothing says "none of these"."""
    asked = [named for questions in point.questions.values() for named in questions.items()]
    bare = [name for name, one in asked if isinstance(one, Choice) and one.sentinel is None]
    return tuple(dict.fromkeys(bare))


def _plan(gateway: Gateway, name: str) -> Plan | None:
    """Give the plan of a point; None where it is declared elsewhere."""
    point = known(gateway, name)
    return None if point is None else gateway.plan(point)


def known(gateway: Gateway, name: str) -> DecisionPoint | None:
    """Find a declared point; None for one that only the journal knows."""
    return find(suffix_of(name), gateway.points)


@contextmanager
def opened(gateway: Gateway) -> Generator[Store]:
    """
    Lend the journal for reading.

    Raises:
        SetupError: There is none, nothing was ever written to it, or it cannot be reached.

    """
    with closing(store_of(gateway.settings)) as store:
        if store.missing:
            problem = "nothing was written to the journal yet"
            fix = "Run with it first, or give states with --labels file.jsonl"
            raise SetupError.of(JOURNAL, problem, fix)
        with reached():
            yield store


def _provider(gateway: Gateway, name: str) -> str:
    """Whose answers are meant where nobody says so: the only candidate of the point's plan."""
    plan = _plan(gateway, name)
    if plan is None:
        problem, fix = f"{suffix_of(name)} is not declared here", "Say whose answers count"
        raise SetupError.of("--provider", problem, f"{fix}, or name your program with --app")
    arms = [arm.provider for arm in plan.arms] or [plan.provider]
    candidates = [one for one in dict.fromkeys([*arms, *plan.shadows]) if one != CURRENT]
    if len(candidates) == 1:
        return candidates[0]
    said = f"{', '.join(candidates)} could be meant" if candidates else "current decides alone"
    raise SetupError.of("--provider", f"{said} at {suffix_of(name)}", "Say whose answers count")


def _no_asking(request: Request) -> None:
    """Refuse options that mean nothing where nobody is asked."""
    given = {
        "--repeat": request.repeat,
        "--shuffle": request.shuffle,
        "--options": request.options,
        "--question": request.question,
        "--language": request.language,
    }
    for option, value in given.items():
        if value:
            fix = "Give --labels a file whose rows have a state, or leave it out"
            raise SetupError.of(option, "it is for states that are asked now", fix)


def _need_rows(collected: Collected, request: Request, provider: str) -> None:
    if collected.samples:
        return
    name = suffix_of(request.point)
    if not collected.decisions:
        problem = f"it holds no decision of {name}"
        fix = "Correct the name, or decide with it first"
    else:
        problem = f"it holds no answer of {provider} at {name}"
        fix = f"Let it answer: DECISION_{name}_SHADOW={provider}, or pointsman replay"
    raise SetupError.of(JOURNAL, problem, fix)


def _asked(session: Session, request: Request, file: Path, rows: list[Labelled]) -> Gathered:
    if request.against:
        raise SetupError.of("--against", "states have labels", "Leave it out")
    variables = chosen(request.point, request.provider, request.language)
    variables[JOURNAL] = ("off", "--labels")
    with session.by_option(variables, keeps=False) as gateway:
        warned(session, gateway)
        meant = target(gateway, request.point, request.question, request.options)
        heeded(gateway, meant.point, request.provider)
        provider = request.provider or _provider(gateway, request.point)
        wish = Wish(
            provider=provider,
            repeat=request.repeat,
            shuffle=request.shuffle,
            fields=(TENANT, *request.fields),
            concurrency=request.concurrency,
            seed=request.seed,
        )
        asking = Asking(gateway, meant, wish)
        _run(asking, file, rows)
        answers = asking.answers
        samples, strange = sifted(answers.samples, meant.point)
        collected = Collected(samples, decisions=len(rows), strange=strange)
        found = _gathered(gateway, request.point, collected, provider)
    return msgspec.structs.replace(
        found,
        asked=True,
        closed=_closed(meant.point),
        repeated=answers.repeated(request.scale),
        shuffled=answers.shuffled(request.scale),
    )


def _run(asking: Asking, file: Path, rows: list[Labelled]) -> None:
    asks = asking.asks(file, rows)
    try:
        with report.progress(len(asks), 0) as advance:
            asyncio.run(asking.run(asks, advance))
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
