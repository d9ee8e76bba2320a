"""`pointsman replay-vectors`: states whose right answers are known, through any provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Fault, HumanNeeded, NoAnswer, raise_all
from ..points import suffix_of
from ..settings import CURRENT, PREFIX
from . import INTERRUPTED, report, screen, tally
from .points import warned
from .reading import NotJson, parsed
from .session import Session, heeded
from .vectors import Case, Mark, marked, read_cases

if TYPE_CHECKING:
    from ..gateway import Gateway
    from ..records import Attempt


def replay_vectors(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="JSON lines: point, language, state, expected.")],
    *,
    provider: Annotated[
        str | None, typer.Option(help="Who is asked; absent: each point's own provider.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1000, help="Vectors that are asked at once.")
    ] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Ask about states whose right answers are known, and count: right, wrong, unsure."""
    session: Session = ctx.obj
    with session.by_option(_chosen(file, provider), keeps=False) as gateway:
        warned(session, gateway)
        cases = read_cases(file, gateway)
        for point in {case.point.name: case.point for case in cases}.values():
            heeded(gateway, point, provider)
        _decidable(gateway, cases)
        began = time.perf_counter()
        try:
            marks = _ran(gateway, cases, concurrency)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        seconds = time.perf_counter() - began
    summary = tally.summed(marks, [_asked(gateway, case) for case in cases], seconds)
    if as_json:
        screen.data(summary)
    else:
        tally.show(summary)


def _chosen(file: Path, provider: str | None) -> dict[str, tuple[str, str]]:
    """Write `--provider` as the variables of every point that the file names."""
    if provider is None:
        return {}
    given = (provider, "--provider")
    names = _named(file) if file.is_file() else iter(())
    return {f"{PREFIX}{suffix_of(name)}_PROVIDER": given for name in names}


def _named(file: Path) -> Iterator[str]:
    for line in file.read_bytes().decode("utf-8", "replace").split("\n"):
        try:
            name = parsed(line).get("point")
        except (NotJson, AttributeError):
            continue  # told with its line when the file is read
        if isinstance(name, str) and any(letter.isalnum() for letter in name):
            yield name


def _decidable(gateway: Gateway, cases: list[Case]) -> None:
    """
    Make sure that a provider is asked.

    Raises:
        SetupError: A program's own functions decide, which are not run from here.

    """
    names = {case.point.name for case in cases if gateway.plan(case.point).provider == CURRENT}
    problem = "the program's own function decides it, and is not run from here"
    fix = "Name a provider with --provider"
    raise_all([] if gateway.stands_in else [Fault(name, problem, fix) for name in sorted(names)])


def _asked(gateway: Gateway, case: Case) -> str:
    planned = gateway.plan(case.point).provider
    return gateway.provider(CURRENT).name if planned == CURRENT else planned


def _ran(gateway: Gateway, cases: list[Case], concurrency: int) -> list[Mark]:
    marks: list[Mark | None] = [None] * len(cases)
    with report.progress(len(cases), 0) as advance:
        asyncio.run(_through(gateway, cases, marks, concurrency, advance))
    return [mark for mark in marks if mark is not None]


async def _through(
    gateway: Gateway,
    cases: list[Case],
    marks: list[Mark | None],
    concurrency: int,
    advance: Callable[[object], None],
) -> None:
    waiting = iter(enumerate(cases))

    async def work() -> None:
        for at, case in waiting:
            marks[at] = marked(case, await _attempted(gateway, case))
            advance(case)
            await asyncio.sleep(0)  # a provider in this process never waits: let Ctrl-C through

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(cases))):
                group.create_task(work())
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    finally:
        await gateway.aclose()


async def _attempted(gateway: Gateway, case: Case) -> Attempt:
    """Give the attempt of the provider that is asked; who decides after it does not matter."""
    stands_in = gateway.stands_in and gateway.plan(case.point).provider == CURRENT
    current = None if stands_in else _nothing
    try:
        decision = await gateway.ask(case.point, case.ask, current=current)
    except (NoAnswer, HumanNeeded) as none:
        return none.attempts[0]
    return decision.attempts[0]


def _nothing() -> None:
    """Stand where a fallback would decide: it would cost, and is not what is measured."""
