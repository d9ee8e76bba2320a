"""`export` and `import`: facts as a file of JSON lines, and back."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, TextColumn

from ....gateway.cli import screen
from ....gateway.errors import SetupError
from .opening import Db, Json, Namespace, Place, facts_of

if TYPE_CHECKING:
    from ..store import FactStore


def export(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="Where to; - for stdout.")],
    *,
    db: Db = None,
    namespace: Namespace = None,
) -> None:
    """Write everything that was ever written about facts, as JSON lines."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        lines = map(screen.escaped, _watched(store.export(), "lines"))
        if str(file) == "-":
            for one in lines:
                sys.stdout.write(f"{one}\n")
            return
        count = _written(file, lines)
    screen.note(f"{count:,} {'line' if count == 1 else 'lines'}  ", (str(file), screen.FAINT))


def _written(file: Path, lines: Iterable[str]) -> int:
    """Write beside *file* and put it in place when it is whole; give how many lines."""
    beside = file.with_name(f"{file.name}.part")
    count = 0
    with beside.open("w", encoding="utf-8", newline="\n") as part:
        for one in lines:
            part.write(f"{one}\n")
            count += 1
    beside.replace(file)
    return count


def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="What `export` wrote; - for stdin.")],
    *,
    restore: Annotated[
        bool,
        typer.Option("--restore", help="Into an empty namespace, with the times that it had."),
    ] = False,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Read a file into the facts; what is there already stays as it is."""
    with facts_of(ctx, Place(db=db, namespace=namespace), new=True) as store:
        taken_in(store, file, restore=restore, as_json=as_json)


def taken_in(store: FactStore, file: Path, *, restore: bool, as_json: bool) -> None:
    """
    Read an export into *store*, and say how much is new.

    Raises:
        SetupError: The file cannot be read.

    """
    try:
        with _opened(file) as lines, closing(_watched(lines, "lines")) as watched:
            loaded = store.import_(watched, restore=restore)
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "it is not UTF-8"
        fix = "Name a file that `pointsman facts export` wrote"
        raise SetupError.of(str(file), problem, fix) from None
    if as_json:
        screen.data(loaded)
        return
    there = f", {loaded.there:,} were there already" if loaded.there else ""
    new = "1 entry is new" if loaded.new == 1 else f"{loaded.new:,} entries are new"
    screen.note(f"{new}{there}  ", (str(file), screen.FAINT))


@contextmanager
def _opened(file: Path) -> Generator[Iterable[str]]:
    if str(file) == "-":
        yield sys.stdin
        return
    with file.open(encoding="utf-8") as lines:
        yield lines


def _watched(lines: Iterable[str], what: str) -> Generator[str]:
    """Count lines as they pass, where a person is there to see it."""
    console = screen.err()
    column = TextColumn(f"{{task.completed:,}} {what}")
    hidden = not console.is_terminal
    with Progress(column, console=console, transient=True, disable=hidden) as shown:
        task = shown.add_task("", total=None)
        for one in lines:
            yield one
            if not hidden:
                shown.advance(task)
