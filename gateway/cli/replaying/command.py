"""`pointsman replay`: a candidate is asked about recorded states, and nobody acts on it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ...errors import Fault, SetupError
from ...journaling import JOURNAL, journal_settings, store_of
from ...settings import CURRENT, PREFIX
from .. import INTERRUPTED, report, screen
from ..points import known, warned
from .asking import PATIENCE, Asking
from .items import Wanted
from .limits import Pace, Purse
from .summary import Summary, cost_of_one, dry, show, summed
from .writing import Writing

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ...gateway import Gateway
    from ...journal.store import Store
    from ..session import Session
    from .items import Source, Survey

FROM_JOURNAL = "journal"
DOWN, OVER_COST = 1, 3  # exit codes of a run that ended early; the same command goes on
BY_SIGNAL = 128  # and its number: the exit code of a run that one ended, as shells expect it


class Bounds(NamedTuple):
    """
    What bounds a run.

    Attributes:
        rate: Rows a second; None: no bound.
        max_cost: US dollars; None: no bound.
        concurrency: Rows that are asked about at once.
        patience: Seconds that a provider which fails is waited for.

    """

    rate: float | None
    max_cost: float | None
    concurrency: int
    patience: float


def replay(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    *,
    provider: Annotated[str, typer.Option(help="Who is asked.")],
    source: Annotated[
        str, typer.Option("--from", help="`journal`, or JSON lines: state, label, point, id.")
    ] = FROM_JOURNAL,
    point: Annotated[
        str | None, typer.Option(help="Only this decision point; for a file that names none.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Rows a second, never more.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="US dollars that this run may cost.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Rows, at most.")] = None,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Ask again where it did not answer: timeouts, 5xx, …"),
    ] = False,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1000, help="Rows that are asked about at once.")
    ] = 8,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds that a provider which fails is waited for.")
    ] = PATIENCE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked, and ask nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Ask a candidate about recorded states. Run it again to go on where it was interrupted."""
    session: Session = ctx.obj
    bounds = Bounds(rate, max_cost, concurrency, patience)
    with session.by_option({}) as gateway, _opened(gateway) as store:
        warned(session, gateway)
        kept = journal_settings(gateway.settings)
        _quiet(gateway)
        _named(gateway, provider)
        only = None if point is None else known(gateway, point)
        _there(source, store)
        wanted = Wanted(provider, only, limit, retry_failed)
        if dry_run:
            states = _source(source, store, gateway, wanted)
            each = cost_of_one(store, provider, states.survey.points)
            dry(provider, states.survey, each, as_json=as_json)
            return
        assert kept is not None
        with _alone(kept.url, provider):
            summary = _ran(
                gateway, store, provider, _source(source, store, gateway, wanted), bounds
            )
    if as_json:
        screen.data(summary)
    else:
        show(summary)
    if summary.stopped:
        raise typer.Exit(OVER_COST if summary.stopped == "cost" else DOWN)


@contextlib.contextmanager
def _opened(gateway: Gateway) -> Generator[Store]:
    """
    Lend the journal's database.

    Raises:
        SetupError: There is none, or it cannot be reached.

    """
    from ...journal.troubles import StoreDown

    with contextlib.closing(store_of(gateway.settings)) as store:
        try:
            yield store
        except StoreDown as down:
            fix = "See to it; the same command goes on from here"
            raise SetupError.of(JOURNAL, str(down), fix) from None


def _alone(url: str, provider: str) -> AbstractContextManager[None]:
    from .alone import alone

    return alone(url, provider)


def _there(source: str, store: Store) -> None:
    """
    Make sure that there is a journal to read; none is made for that.

    Raises:
        SetupError: There is none.

    """
    if source == FROM_JOURNAL and store.missing:
        fix = "Decide something with it first, or name a file with --from"
        raise SetupError.of(JOURNAL, "there is no journal yet", fix)


def _quiet(gateway: Gateway) -> None:
    """Keep no record of the asks themselves, and ask nobody beside them."""
    settings = gateway.settings
    silent = {
        f"{PREFIX}{name}_SHADOW_SAMPLE": "0"
        for name, said in settings.points.items()
        if said.shadow is not None or said.shadow_sample is not None
    }
    gateway.reload({**settings.variables.values, **silent, JOURNAL: "off"})


def _named(gateway: Gateway, provider: str) -> None:
    """
    Make sure that somebody is asked.

    Raises:
        SetupError: It is what the program itself runs, or the provider cannot be made.

    """
    if provider == CURRENT:
        problem = "`current` is what your program runs, and is not run from here"
        raise SetupError.of("--provider", problem, "Name a provider")
    try:
        gateway.provider(provider)
    except SetupError as error:
        faults = (one if one.where != provider else _at_option(one) for one in error.faults)
        raise SetupError(*faults) from None


def _at_option(fault: Fault) -> Fault:
    return Fault("--provider", fault.problem, fault.fix)


def _source(source: str, store: Store, gateway: Gateway, wanted: Wanted) -> Source:
    if source == FROM_JOURNAL:
        from .journal import FromJournal

        return FromJournal(store, gateway, wanted)
    from .file import FromFile

    return FromFile(Path(source), store, gateway, wanted)


def _ran(
    gateway: Gateway,
    store: Store,
    provider: str,
    states: Source,
    bounds: Bounds,
) -> Summary:
    survey = states.survey
    purse = Purse(bounds.max_cost)
    asking = Asking(gateway, Writing(store), Pace(bounds.rate), purse, bounds.patience)
    began = time.perf_counter()
    try:
        with (
            gateway.override(dict.fromkeys(survey.points, provider)),
            report.progress(survey.asked + survey.left, survey.asked) as advance,
        ):
            asyncio.run(asking.run(states, min(bounds.concurrency, survey.left), advance))
    except KeyboardInterrupt:
        _interrupted(survey, asking)
        raise typer.Exit(INTERRUPTED) from None
    if asking.signal:
        _interrupted(survey, asking)
        raise typer.Exit(BY_SIGNAL + asking.signal)
    return summed(provider, survey, asking.tally, purse, time.perf_counter() - began)


def _interrupted(survey: Survey, asking: Asking) -> None:
    left = survey.left - asking.tally.asked
    does = f"asks about the other {left:,}" if left else "shows that all are asked about"
    screen.note(f"Interrupted. What was answered is in the journal; the same command {does}.")
