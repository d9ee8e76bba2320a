"""`pointsman journal`: what was decided, to be read, carried elsewhere, and removed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from ...errors import Reason, SetupError
from ...journal import aside
from ...points import suffix_of
from .. import screen
from .files import export_rows, import_rows
from .opening import journal_of, keeping, spool_of, unknown
from .times import age, clock
from .trail import printable, replayed, said, shown, who

if TYPE_CHECKING:
    from ...journal.journal import Journal
    from ...journal.removing import Removed
    from ...journal.rows import Trail
    from ...journal.store import Store
    from ...records import Record

EVERY = 0.5  # seconds between looks for what is new
LATE = 60.0  # seconds that a row may come after others that were decided later
SHORT = 16  # digits of an id: its time to the nanosecond
OUTCOME = 28  # characters; several questions may say more

journal = typer.Typer(
    help="Read, export, import and remove what was decided.", no_args_is_help=True
)
journal.command("export")(export_rows)
journal.command("import")(import_rows)


@journal.command()
def tail(
    ctx: typer.Context,
    *,
    count: Annotated[int, typer.Option("-n", "--lines", min=1, help="How many.")] = 20,
    point: Annotated[str | None, typer.Option(help="Of this point only.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as they come.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each.")] = False,
) -> None:
    """Show the latest decisions, the newest last."""
    name = None if point is None else suffix_of(point)
    with journal_of(ctx) as store:
        found = [*store.trails(point=name, newest_first=True, limit=count)][::-1]
        _print(found, as_json=as_json)
        if not found:
            _nothing(store, name, follow=follow)
        if follow:
            for trails in _coming(store, name, found):
                _print(trails, as_json=as_json)


def _nothing(store: Store, point: str | None, *, follow: bool) -> None:
    """Say that there is nothing; who follows waits for it, unless the name is wrong."""
    error = None if point is None else unknown(store, point)
    if error is not None and store.points():
        screen.faults(error.faults, "!", screen.OTHER)
    elif not follow:
        screen.note("No decision is recorded yet.")


def _coming(store: Store, point: str | None, found: Iterable[Trail]) -> Iterator[list[Trail]]:
    """Give what is new, for ever; rows may come in any order, so that a while is looked back."""
    seen = {one.decision.id: one.decision.record.at for one in found}
    start = time.time()
    while True:
        last = max([start, *seen.values()])
        seen = {id_: at for id_, at in seen.items() if at >= last - 2 * LATE}
        since = max(start, last - LATE)
        new = [one for one in store.trails(point=point, since=since) if one.decision.id not in seen]
        seen.update((one.decision.id, one.decision.record.at) for one in new)
        yield new
        time.sleep(EVERY)


def _print(trails: Sequence[Trail], *, as_json: bool) -> None:
    records = [trail.decision.record for trail in trails]
    widths = (
        max((len(printable(one.point)) for one in records), default=0),
        max((len(_short(one)) for one in records), default=0),
    )
    for trail, record in zip(trails, records, strict=True):
        if as_json:
            screen.plain(f"{msgspec.json.encode(trail).decode()}\n")
        else:
            _line(record, *widths)


def _short(record: Record) -> str:
    outcome = said(record.outcome).replace("\n", " ")
    return outcome if len(outcome) <= OUTCOME else f"{outcome[: OUTCOME - 1]}…"


def _line(record: Record, point: int, outcome: int) -> None:
    why = "" if record.reason == Reason.OK else f"  {record.variant}: {record.reason}"
    sure = f" {record.confidence:.2f}" if record.confidence else ""
    good = record.provider and not record.undecided
    whose = screen.FAINT if replayed(record) else screen.BAD
    screen.line(
        (f"{clock(record.at)}  {record.id[:SHORT]}  ", screen.FAINT),
        (f"{printable(record.point):<{point}}", "bold"),
        f"  {_short(record):<{outcome}}  ",
        (f"{who(record)}{sure}", (screen.OTHER if why else screen.GOOD) if good else whose),
        (why, screen.FAINT),
    )


@journal.command()
def show(
    ctx: typer.Context,
    decision: Annotated[str, typer.Argument(metavar="ID", help="Of a decision, or how it begins.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show one decision, whole: attempts, costs, what stood beside it and what came after."""
    with journal_of(ctx) as store:
        (trail,) = store.trails(ids=[_known(store, decision.strip().lower())])
    if as_json:
        screen.data(trail)
    else:
        shown(trail)


def _known(store: Store, beginning: str) -> str:
    found = store.beginning(beginning, 4) if beginning else []
    if len(found) == 1 or beginning in found:
        return found[0]
    if not found:
        fix = "`pointsman journal tail` lists the latest"
        raise SetupError.of("ID", f"no decision's id begins with {beginning!r}", fix)
    fix = f"Give more of it: {', '.join(found)}"
    raise SetupError.of("ID", f"several begin with {beginning!r}", fix)


@journal.command()
def stats(
    ctx: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count the decisions of each point."""
    with journal_of(ctx) as store:
        counted = store.points()
    if as_json:
        screen.data(counted)
        return
    listed = screen.table("decision point", "decisions", right=("decisions",))
    for name, count in counted.items():
        listed.add_row(printable(name), f"{count:,}")
    screen.show(listed)


@journal.command()
def forget(
    ctx: typer.Context,
    subject: Annotated[
        str, typer.Argument(help="A session, a customer: as your program names it.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove every decision about a subject, with all that belongs to it. It cannot be undone."""
    with keeping(ctx) as kept:
        known_as = _hash(kept, subject)
        if not yes:
            typer.confirm("Remove everything about this subject for good?", abort=True, err=True)
        store, spool = kept.store(), spool_of(ctx)
        ids = frozenset(store.about(known_as))
        purged = _purged(lambda: aside.forget(spool, known_as, ids))
        removed = store.forget(known_as)
    _removed(removed, purged)
    if not any(removed) and not purged.removed:
        screen.note(("Nothing was kept about this subject, or under another key.", screen.FAINT))


def _hash(kept: Journal, subject: str) -> str:
    """
    Give what a subject is known by.

    Raises:
        SetupError: No subject is kept, or the key of those that are is gone.

    """
    if kept.keyless:
        problem = "the file of the key is not beside the journal, and no subject is found without"
        fix = "Restore it, or set the variable to what it held"
        raise SetupError.of("DECISION_JOURNAL_KEY", problem, fix)
    known_as = kept.subject_hash(subject)
    if known_as is None:
        problem = "no subject is kept where it is `none`"
        fix = "Give the value that was set when the decisions were made"
        raise SetupError.of("DECISION_JOURNAL_CONTENT", problem, fix)
    return known_as


def _purged(purge: Callable[[], aside.Purged]) -> aside.Purged:
    try:
        return purge()
    except OSError as error:
        problem = f"what no database took cannot be reached ({error.strerror or error})"
        fix = "Let its *.unread files be read and written, and try again"
        raise SetupError.of("DECISION_JOURNAL_SPOOL", problem, fix) from None


def _removed(removed: Removed, purged: aside.Purged) -> None:
    screen.note(f"{removed.decisions:,} decisions were removed.")
    if removed.standing:
        told = f"{removed.standing:,} decisions that stood were removed too"
        screen.note(f"{told}: their calls are decided anew.")
    if removed.inbox:
        screen.note(f"{removed.inbox:,} questions to persons were removed too.")
    if purged.removed:
        screen.note(f"{purged.removed:,} rows that no database took were removed too.")
    if purged.unknown:
        told = f"{purged.unknown:,} lines in the spool's *.unread files cannot be read"
        screen.note(f"{told}: look whom they are about, and delete them.")


@journal.command()
def prune(
    ctx: typer.Context,
    *,
    older_than: Annotated[str, typer.Option(help="Hours, days or weeks: 12h, 90d, 4w.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove old decisions, with all that belongs to them. It cannot be undone."""
    before = time.time() - age(older_than, "--older-than")
    with journal_of(ctx) as store:
        if not yes:
            question = f"Remove everything decided before {clock(before)} UTC for good?"
            typer.confirm(question, abort=True, err=True)
        spool = spool_of(ctx)
        purged = _purged(lambda: aside.prune(spool, before))
        removed = store.prune(before)
    _removed(removed, purged)
