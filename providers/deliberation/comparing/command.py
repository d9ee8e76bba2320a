"""`pointsman compare-arms`: several ways to an answer on the same items, with what they cost."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ....gateway.cli import INTERRUPTED, report, screen
from ....gateway.cli.points import known, warned
from ....gateway.cli.session import Session
from ....gateway.errors import SetupError
from ....gateway.settings import CURRENT
from ..committee.seats import computes
from .arms import Match
from .cases import Asks, OfFile, OfPoint, read_cases
from .experiment import Content, Experiment, Rule, experiment_of, reachable
from .known import Known, same_makers
from .lending import lendable
from .page import show
from .questions import asked_in, listed_in
from .results import Header, Results
from .rows import Maker
from .summary import Summary, summed
from .working import Bounds, Working

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....gateway.gateway import Gateway
    from .cases import Case

DOWN, OVER = 1, 3  # exit codes of a run that ended early; the same command goes on
BY_SIGNAL = 128  # and its number, as shells expect it
BUDGETS = ("cost", "calls")

app = typer.Typer(add_completion=False)


class Asked(NamedTuple):
    """Where the questions come from; at most one of the first three."""

    point: str | None
    question: Path | None
    questions: Path | None
    language: str | None


@app.command()
def compare_arms(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="JSON lines: id, state, gold; perhaps question.")],
    *,
    arms: Annotated[
        str,
        typer.Option(
            help="independent, self_consistency, self_refine, cost_matched, debate, "
            "debate_skeptic, placebo; any other name is a provider."
        ),
    ] = "independent,self_consistency,self_refine,debate,debate_skeptic,placebo",
    members: Annotated[str, typer.Option(help="The panel: jev,chat/fast,cfo=chat/a")] = "",
    point: Annotated[str | None, typer.Option(help="Ask what this decision point asks.")] = None,
    question: Annotated[Path | None, typer.Option(help="JSON file of one question.")] = None,
    questions: Annotated[
        Path | None, typer.Option(help="JSON file of questions, of which each item names one.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="en or pt, of a point.")] = None,
    single: Annotated[
        str | None, typer.Option(help="Who the arms of one are made of; absent: the first member.")
    ] = None,
    skeptic: Annotated[
        str | None, typer.Option(help="Who speaks for the skeptic; absent: the first member.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=0, max=10, help="Of a debate.")] = 2,
    match: Annotated[Match, typer.Option(help="What the arms of one are matched by.")] = "calls",
    placebo: Annotated[
        Content, typer.Option(help="Empty roles, or another item's answers and critiques.")
    ] = "roles",
    rule: Annotated[Rule, typer.Option(help="What decides a vote.")] = "majority",
    split: Annotated[str | None, typer.Option(help="Only items of this split.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Items, at most.")] = None,
    seed: Annotated[int, typer.Option(help="Of what members are shown, and of intervals.")] = 7,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Items at once.")] = 4,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Calls of this run.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars of this run.")] = None,
    turn_seconds: Annotated[float, typer.Option(min=0.001, help="Limit of one turn.")] = 60,
    seconds: Annotated[float, typer.Option(min=0.001, help="Limit of one arm on an item.")] = 600,
    out: Annotated[
        Path | None, typer.Option(help="Results; absent: <file>.arms.jsonl, here.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the results that are there.")
    ] = False,
    transcripts: Annotated[
        Path | None, typer.Option(help="Folder that keeps what was said, turn by turn.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Try several ways to an answer on the same items, and tell what is shown between them."""
    terms = {
        "single": single,
        "skeptic": skeptic,
        "rounds": rounds,
        "match": match,
        "placebo": placebo,
        "rule": rule,
        "seed": seed,
        "turn_seconds": turn_seconds,
        "seconds": seconds,
    }
    _counts(max_cost)
    experiment = experiment_of(arms, members, terms)
    session = ctx.obj if isinstance(ctx.obj, Session) else Session()
    bounds = Bounds(concurrency, max_calls, max_cost, transcripts)
    with session.by_option({}, keeps=False) as gateway:
        warned(session, gateway)
        asks = _asks(gateway, Asked(point, question, questions, language))
        cases = read_cases(file, asks, split=split, limit=limit)
        reachable(experiment, gateway)
        lendable(experiment, cases, gateway, transcripts)
        _warned(experiment, gateway)
        made = makers(experiment, gateway)
        path = out or Path(f"{file.name}.arms.jsonl")
        header = Header(members=members, settings=experiment.settings)
        results = Results(path, header, resume=resume)
        try:
            same_makers(results.rows, made, str(path))
            summary = _ran(gateway, experiment, cases, results, bounds, made)
        finally:
            results.close()
    with _piped():
        screen.data(summary) if as_json else show(summary)
    if summary.stopped or summary.open:
        raise typer.Exit(OVER if summary.stopped in BUDGETS else DOWN)


@contextlib.contextmanager
def _piped() -> Generator[None]:
    """Whoever reads the first lines alone, as `head` does, has read enough."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SystemExit:  # Rich has seen to the same already
        pass


def _warned(experiment: Experiment, gateway: Gateway) -> None:
    """Say beforehand what will not show anything."""
    for name in experiment.again:
        if gateway.knows_provider(name) and name != CURRENT and computes(gateway.provider(name)):
            told = f"{name} is asked more than once, and says the same each time: its votes are "
            screen.note(("! ", screen.OTHER), f"{told}one vote that is counted several times.")
    placebo = any(arm.way == "placebo" for arm in experiment.arms)
    if placebo and experiment.placebo == "roles" and experiment.roleless:
        told = "no member has a role of its own, so that a placebo of roles is the debate again; "
        screen.note(("! ", screen.OTHER), f"{told}--placebo content is not.")


def makers(experiment: Experiment, gateway: Gateway) -> dict[str, Maker]:
    """
    Say who the providers are, as they are configured; they are made by now.

    Raises:
        SetupError: A variable of a minimum is no number in [0, 1].

    """
    models = {one.provider: one.model for one in gateway.health()}
    least = {name: gateway.settings.own_minimum(name)[0] for name in experiment.providers}
    return {name: Maker(models.get(name, ""), minimum) for name, minimum in least.items()}


def _counts(usd: float | None) -> None:
    """
    Make sure that a limit of money is one.

    Raises:
        SetupError: It is not.

    """
    if usd is not None and not math.isfinite(usd):
        raise SetupError.of("--max-cost", f"{usd} is no amount", "Leave it out for no limit")


def _asks(gateway: Gateway, asked: Asked) -> Asks:
    """
    Say what is asked.

    Raises:
        SetupError: More than one option says so, or what it names cannot be read.

    """
    named = {"--point": asked.point, "--question": asked.question, "--questions": asked.questions}
    given = [option for option, value in named.items() if value is not None]
    if len(given) > 1:
        problem = f"{' and '.join(given)} both say what is asked"
        raise SetupError.of(given[1], problem, "Give one of them")
    if asked.point is not None:
        language = asked.language or gateway.settings.globals.language
        return OfPoint(known(gateway, asked.point), language)
    if asked.question is not None:
        return OfFile(asked_in(asked.question, "--question"))
    if asked.questions is not None:
        return OfFile(listed=listed_in(asked.questions, "--questions"))
    return OfFile()


def _ran(
    gateway: Gateway,
    experiment: Experiment,
    cases: list[Case],
    results: Results,
    bounds: Bounds,
    made: Mapping[str, Maker],
) -> Summary:
    begun = time.perf_counter()
    working = Working(gateway, experiment, results, bounds, made)
    arms, known = experiment.arms, Known(experiment, results)
    there = sum(known.row(case, arm) is not None for case in cases for arm in arms)
    try:
        with report.progress(len(cases) * len(arms), there) as advance:
            asyncio.run(_run(gateway, working, cases, advance))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    if working.signal:
        screen.note("Interrupted. What was done is kept; the same command with --resume goes on.")
        raise typer.Exit(BY_SIGNAL + working.signal)
    run = {
        "added": working.done,
        "stopped": working.stopped,
        "open": working.left.total(),
        "left": dict(working.left),
    }
    return summed(experiment, cases, results, seconds=time.perf_counter() - begun, **run)


async def _run(
    gateway: Gateway,
    working: Working,
    cases: list[Case],
    advance: Callable[[object], None],
) -> None:
    try:
        await working.run(cases, advance)
    finally:
        await gateway.aclose()
