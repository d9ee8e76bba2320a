"""`load`: claims of a file become assertions; what is wrong with a row costs that row alone."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ....gateway.cli import INTERRUPTED, screen
from ....gateway.cli.session import Session
from ..errors import Refused
from ..telling import escaped
from .carrying import taken_in
from .claims import Advance, Bad, Row, claims
from .opening import Db, Json, Namespace, Place, PolicyFile, RegistryFile, facts_of, url_of, where
from .printing import whole
from .showing import style_of
from .strangers import Strangers, tell

if TYPE_CHECKING:
    from ..entries import Asserted
    from ..store import FactStore

LISTED = 50  # rows that are told of one by one; JSON has them all
EXPORTS = (".jsonl", ".ndjson")
FIXES = {
    "bad_key": "Name entity, attribute and qualifiers with words that can be read",
    "malformed_value": "Write it as the policy's type for this attribute says",
}
"""What to do about a row where the refusal does not say."""
EVERY = 1 << 16  # bytes between two looks of the bar


def load(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help="CSV with a header, - for stdin; or .jsonl as `export` writes it."),
    ],
    *,
    policy: PolicyFile = None,
    registry: RegistryFile = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Adopt the files where they differ from what holds.")
    ] = False,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Write the claims of a file. Rows that are refused are listed; the others are kept."""
    place = Place(db=db, namespace=namespace, policy=policy, registry=registry, adopt=adopt)
    if file.suffix.lower() in EXPORTS:
        with facts_of(ctx, place, new=True) as store:
            taken_in(store, file, restore=False, as_json=as_json)
        return
    run = Run()
    try:
        with _bar(file) as advance:
            rows = begun(claims(file, advance))
            with facts_of(ctx, place, new=True) as store:
                run.load(store, rows)
                counts = store.counts()
    except KeyboardInterrupt:
        _stopped(run)
        raise typer.Exit(INTERRUPTED) from None
    _told(run, counts, as_json=as_json)
    if not as_json:
        _kept(ctx, place)
    if run.bad:
        raise typer.Exit(1)


def _kept(ctx: typer.Context, place: Place) -> None:
    """Say where the facts are."""
    session = ctx.obj if isinstance(ctx.obj, Session) else Session()
    screen.note((f"The facts are in {where(url_of(session, place))}", screen.FAINT))


def _stopped(run: Run) -> None:
    """Say what of a load that was broken off is kept, and how it goes on."""
    screen.note(("! ", screen.OTHER), f"stopped: {run.done:,} rows are dealt with and kept.")
    fix = "The same command goes on: what is there already is not written twice."
    screen.note((fix, screen.FAINT))


def begun(rows: Iterator[Row | Bad]) -> Iterator[Row | Bad]:
    """Look at the first row, and with it at the header, before a database is made for them."""
    first = next(rows, None)
    return iter(()) if first is None else chain((first,), rows)


class Run:
    """
    One file on its way into a store.

    Attributes:
        bad: Rows that were refused, by line once it is loaded.
        unread: How many raw texts were left out: they do not read as the value beside them.
        new: How many assertions were written.
        there: How many were there already.
        done: How many assertions were in transactions that are over.
        strangers: Names that are not declared; None: nothing was loaded.

    """

    def __init__(self) -> None:
        self.bad: list[Bad] = []
        self.unread = self.new = self.there = self.done = 0
        self.strangers: Strangers | None = None
        self._lines = array("Q")

    def load(self, store: FactStore, rows: Iterator[Row | Bad]) -> None:
        """Write what *rows* say."""
        settings = store.ledger.settings()
        self.strangers = Strangers(settings.policy, settings.registry)
        loaded = store.load(self._entries(store, rows), progress=self._advanced)
        self.new, self.there = loaded.new, loaded.there
        for number, error in loaded.refused:
            self._refused(self._lines[number], error)
        self.bad.sort(key=lambda one: one.line)

    def _entries(self, store: FactStore, rows: Iterator[Row | Bad]) -> Generator[Asserted]:
        for row in rows:
            if isinstance(row, Bad):
                self.bad.append(row)
                continue
            try:
                entry = self._entry(store, row.given)
            except Refused as error:
                self._refused(row.line, error)
                continue
            self._lines.append(row.line)
            if self.strangers is not None:
                self.strangers.see(entry.assertion)
            yield entry

    def _advanced(self, done: int) -> None:
        self.done = done

    @property
    def lost(self) -> int:
        """How many lines are not written."""
        return len(self.bad) + sum(one.further for one in self.bad)

    def _entry(self, store: FactStore, given: Mapping[str, Any]) -> Asserted:
        """Make an assertion; where raw text and value are two things, of the value alone."""
        try:
            return store.entry(**given)
        except Refused:
            if "raw" not in given or "value" not in given:
                raise
        alone = {name: one for name, one in given.items() if name != "raw"}
        entry = store.entry(**alone)
        self.unread += 1
        return entry

    def _refused(self, line: int, error: Refused) -> None:
        self.bad.append(Bad(line, error.code, error.problem, error.fix))


@contextmanager
def _bar(file: Path) -> Generator[Advance]:
    """Draw a bar on stderr, in bytes of *file*, if a person is there to see it."""
    console = screen.err()
    columns = (
        TextColumn("loading"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[rows]:,} lines"),
        TimeRemainingColumn(),
    )
    size = file.stat().st_size if file.is_file() else None
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as shown:
        task = shown.add_task("", total=size, rows=0)
        yield _gathered(lambda done, rows: shown.update(task, completed=done, rows=rows))


def _gathered(told: Callable[[int, int], None]) -> Advance:
    """Tell of bytes and lines now and then: a bar costs more than a line of the file."""
    done = rows = last = 0

    def advance(read: int) -> None:
        nonlocal done, rows, last
        done, rows = done + read, rows + 1
        if done - last >= EVERY:
            told(done, rows)
            last = done

    return advance


def _told(run: Run, counts: Mapping[str, int], *, as_json: bool) -> None:
    if as_json:
        told = {"new": run.new, "there": run.there, "refused": run.bad, "raw_left_out": run.unread}
        undeclared = {} if run.strangers is None else run.strangers.found()
        whole({**told, "undeclared": undeclared, "facts": counts})
        return
    _refused(run.bad)
    _came_to(run, counts)
    if run.strangers is not None:
        tell(run.strangers.found())


def _refused(bad: list[Bad]) -> None:
    if not bad:
        return
    listed = screen.table("line", "refused as", "because", right=("line",), loose=("because",))
    for one in bad[:LISTED]:
        fix = one.fix or FIXES.get(one.code, "")
        fix = f". {fix}" if fix else ""
        listed.add_row(f"{one.line:,}", one.code, escaped(f"{one.problem}{fix}", 300))
    screen.show(listed)
    if len(bad) > LISTED:
        told = f"… and {len(bad) - LISTED:,} more: --json lists them all"
        screen.line((told, screen.FAINT))


def _came_to(run: Run, counts: Mapping[str, int]) -> None:
    there = f", {run.there:,} were there already" if run.there else ""
    lost = f", {_lines(run)} refused" if run.bad else ""
    new = "1 assertion is new" if run.new == 1 else f"{run.new:,} assertions are new"
    screen.note(f"{new}{there}{lost}.")
    if run.unread:
        were = (
            "1 raw text was left out: it does"
            if run.unread == 1
            else f"{run.unread:,} raw texts were left out: they do"
        )
        told = f"{were} not read as the value beside it"
        screen.note(("! ", screen.OTHER), told)
    screen.pairs(
        (name.replace("_", " "), _count(name, count)) for name, count in sorted(counts.items())
    )
    if counts.get("disputed"):
        screen.note(("`pointsman facts disputes` lists what is in dispute.", screen.FAINT))


def _lines(run: Run) -> str:
    """Count what is refused: rows, and where one swallowed others the lines, too."""
    further = run.lost - len(run.bad)
    return f"{len(run.bad):,}" + (f" (of {run.lost:,} lines)" if further else "")


def _count(name: str, count: int) -> Text:
    return Text(f"{count:,} {'fact' if count == 1 else 'facts'}", style_of(name))
