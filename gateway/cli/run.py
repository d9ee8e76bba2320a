"""`pointsman run`: a whole file of rows through one decision point, resumable at any moment."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DeclarationError, Fault, SetupError
from ..points import suffix_of
from ..questions import Choice
from ..settings import CURRENT
from . import INTERRUPTED, report, screen
from .batch import Batch
from .header import header_of
from .points import warned
from .results import Results
from .rows import Row, read_rows, refuse
from .session import Session, chosen, heeded
from .summary import Summary, summed
from .target import Target, sentinels, target

if TYPE_CHECKING:
    from ..gateway import Gateway
    from ..questions import Ask


def run(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="JSON lines, or .csv or .tsv with a heading.")],
    *,
    point: Annotated[str, typer.Option(help="A decision point, or any name with --question.")],
    options: Annotated[
        str | None, typer.Option(help="Options: a,b,c or a JSON file, label → description.")
    ] = None,
    question: Annotated[
        str | None, typer.Option("--question", "-q", help="A question of your own.")
    ] = None,
    text: Annotated[str, typer.Option(help="Column with the words to be judged.")] = "text",
    label: Annotated[str | None, typer.Option(help="Column with the right answers.")] = None,
    provider: Annotated[str | None, typer.Option(help="Who is asked, this once.")] = None,
    language: Annotated[str | None, typer.Option(help="en or pt, this once.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Results; absent: <file>.<point>.jsonl, here.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1000, help="Rows that are asked at once.")
    ] = 8,
    with_text: Annotated[bool, typer.Option(help="Repeat the words in the results.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Decide every row of a file. Run it again to go on where it was interrupted."""
    session: Session = ctx.obj
    path = out or Path(f"{file.name}.{suffix_of(point).lower()}.jsonl")
    with session.by_option(chosen(point, provider, language)) as gateway:
        warned(session, gateway)
        meant = target(gateway, point, question, options)
        heeded(gateway, meant.point, provider)
        _decidable(gateway, meant)
        rows = read_rows(file, text, label)
        first = _checked(meant, file, rows)
        results = Results(path, header_of(gateway, meant, first, file, (text, label)))
        batch = Batch(gateway, meant, results, with_text=with_text)
        try:
            summary = _ran(batch, rows, first, concurrency)
        except KeyboardInterrupt:
            _interrupted(path, len(rows) - len(results.done))
            raise typer.Exit(INTERRUPTED) from None
        finally:
            results.close()
    if as_json:
        screen.data(summary)
    else:
        report.show(summary, meant.point.name, path)


def _decidable(gateway: Gateway, meant: Target) -> None:
    """
    Make sure that a provider is asked.

    Raises:
        SetupError: The program's own function decides, which is not run from here.

    """
    if not gateway.stands_in and gateway.plan(meant.point).provider == CURRENT:
        problem = "the program's own function decides it, and is not run from here"
        raise SetupError.of(meant.point.name, problem, "Name a provider with --provider")


def _interrupted(path: Path, left: int) -> None:
    rest = "does the other row" if left == 1 else f"does the other {left:,} rows"
    does = rest if left else "shows what they came to: all rows are done"
    screen.note(f"Interrupted. {path} is whole; the same command {does}.")


def _checked(meant: Target, file: Path, rows: list[Row]) -> Ask:
    """
    Build every ask once, and give the first.

    Raises:
        SetupError: With every row that cannot be asked; so that none ends a run half-way.

    """
    meant.need_options(*(row.fields for row in rows))
    first: Ask | None = None
    faults: list[Fault] = []
    for row in rows:
        try:
            ask = meant.ask(row.words, row.fields)
        except DeclarationError as error:
            faults.append(Fault(row.place, str(error), "Nothing was asked. Correct the row"))
        else:
            first = first or ask
    refuse(file, faults)
    assert first is not None
    return first


def _ran(batch: Batch, rows: list[Row], first: Ask, concurrency: int) -> Summary:
    done = batch.results.done
    left = [row for row in rows if row.number not in done]
    began = time.perf_counter()
    with report.progress(len(rows), len(rows) - len(left)) as advance:
        asyncio.run(batch.run(left, concurrency, advance))
    seconds = time.perf_counter() - began
    choices = [one for one in first.questions.values() if isinstance(one, Choice)]
    options = list(choices[0].options) if len(choices) == 1 else None
    sentinel = next(iter(sentinels(first)), None)
    return summed(batch.results.lines, len(left), seconds, options, sentinel)
