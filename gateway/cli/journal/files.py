"""`pointsman journal export` and `import`: the journal as a file, and back."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, TextColumn

from ...points import suffix_of as name_of
from .. import screen
from .opening import journal_of, unknown, wanted
from .subjects import hashed, strange, warning
from .times import moment

if TYPE_CHECKING:
    from ...journal.rows import Row
    from ...journal.store import Store

BATCH = 500  # rows written in one transaction
KINDS = {"decision": "decisions", "shadow": "shadows", "feedback": "feedback"}  # tag → words


def export_rows(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="Ends in .jsonl, .jsonl.gz or .parquet; - for lines to stdout.")
    ],
    *,
    point: Annotated[str | None, typer.Option(help="Decisions of this point only.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Decisions from then on: 2026-11-30, 12h, 90d, 4w.")
    ] = None,
) -> None:
    """Write the journal into a file, with everything that is kept."""
    from ...journal.exporting import check_place, write_file, write_lines

    start = None if since is None else moment(since, "--since", time.time())
    counted: Counter[str] = Counter()
    if str(file) != "-":
        check_place(file)
    name = None if point is None else name_of(point)
    with journal_of(ctx) as store:
        if name is not None and (error := unknown(store, name)) is not None:
            raise error
        rows = _watched(_chosen(store, name, start), counted)
        if str(file) == "-":
            write_lines(rows, sys.stdout.buffer)
            return
        write_file(rows, file)
    _told(counted, str(file))


def import_rows(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="What `export` wrote.")],
) -> None:
    """Read a file into the journal; what is there already stays as it is."""
    from ...journal.exporting import read_file

    subjects = hashed(read_file(file))  # all is read first: a bad line leaves nothing half-done
    counted: Counter[str] = Counter()
    refused = 0
    with journal_of(ctx, new=True) as store, closing(_watched(read_file(file), counted)) as rows:
        unheard = strange(store, subjects)
        while batch := [*islice(rows, BATCH)]:
            refused += len(store.write(batch))
    _told(counted, str(file))
    if refused:
        screen.note(("! ", screen.OTHER), f"{refused:,} rows were left out: no database takes them")
    if unheard and (told := warning(wanted(ctx))) is not None:
        screen.note(("! ", screen.OTHER), told)


def _chosen(store: Store, point: str | None, since: float | None) -> Iterator[Row]:
    if point is None and since is None:
        yield from store.rows()
        return
    for trail in store.trails(point=point, since=since):
        yield trail.decision
        yield from trail.shadows
        yield from trail.feedback


def _watched(rows: Iterable[Row], counted: Counter[str]) -> Generator[Row]:
    """Count rows as they pass, where a person is there to see it."""
    console = screen.err()
    columns = TextColumn("{task.completed:,} rows"), TextColumn("{task.fields[speed]}")
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=None, speed="")
        for row in rows:
            counted[str(row.__struct_config__.tag)] += 1
            if not hidden:
                speed = progress.tasks[0].speed
                progress.update(task, advance=1, speed=f"{speed:,.0f}/s" if speed else "")
            yield row


def _told(counted: Counter[str], path: str) -> None:
    parts = ", ".join(f"{counted[kind]:,} {words}" for kind, words in KINDS.items())
    screen.note(f"{parts}  ", (path, screen.FAINT))
