"""`quarantine`, `quarantines`, `lift`: what is left out of what was said, and no longer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ....gateway.cli import screen
from ....gateway.errors import SetupError
from ..entries import Asserted, Quarantined, Stored
from ..errors import Refused
from ..folding import living
from ..registry import Registry
from ..telling import escaped
from ..times import instant
from . import compared
from .changing import told
from .naming import QUARANTINES, entry_of, stranger
from .opening import By, Db, Json, Lines, Namespace, Place, Reason, facts_of, person
from .printing import line, whole
from .showing import SHORT, moment
from .watching import counting

if TYPE_CHECKING:
    from ..store import FactStore

ROWS = 20  # facts that are shown of those that would change

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and stop.")]


def quarantine(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    *,
    source: Annotated[str, typer.Option(help="Whose word counts as never said.")] = "",
    writer: Annotated[str, typer.Option(help="Or who read it.")] = "",
    since: Annotated[str | None, typer.Option(help="What was written from then on.")] = None,
    until: Annotated[str | None, typer.Option(help="What was written before then.")] = None,
    dry_run: DryRun = False,
    by: By = None,
    reason: Reason = "",
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Leave out what a source or a writer said; `lift` brings it back."""
    if not (source or writer):
        raise SetupError.of("--source", "nobody is named", "Add --source or --writer")
    from_, to = (None if one is None else instant(one) for one in (since, until))
    if from_ is not None and to is not None and to <= from_:
        fix = "Let --until be later than --since"
        raise Refused("bad_interval", "it ends before it begins: nothing is meant", fix)
    said = {"source": source, "writer": writer, "by": person(by), "reason": reason}
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        _strangers(store, source=source, writer=writer)
        if dry_run:
            entry = Quarantined(since=from_, until=to, at=0, **said)
            _moved(store, entry, as_json=as_json)
            return
        done = store.quarantine(since=since, until=until, **said)
    told(done, f"{escaped(source or writer)} is left out", as_json=as_json)
    if not as_json:
        screen.note((f"`pointsman facts lift {done.id[:SHORT]}` undoes it", screen.FAINT))


def _strangers(store: FactStore, **named: str) -> None:
    """Warn of a name under which nobody ever said anything: it may be misspelt."""
    for what, name in named.items():
        near = stranger(store, what, name) if name else None
        if near is not None:
            meant = f": did you mean {escaped(near)}?" if near else ""
            screen.note(("! ", screen.OTHER), f"no {what} is called {escaped(name)} yet{meant}")


def lift(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    quarantined: Annotated[
        str,
        typer.Argument(metavar="ID", help="Of the quarantine, or how it begins."),
    ],
    *,
    dry_run: DryRun = False,
    by: By = None,
    reason: Reason = "",
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """End a quarantine: what was left out counts again."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        id_ = entry_of(store, quarantined, ("quarantined",), QUARANTINES)
        if dry_run:
            entry = Quarantined(lifts=id_, by=person(by), reason=reason, at=0)
            _moved(store, entry, as_json=as_json)
            return
        done = store.lift(id_, by=person(by), reason=reason)
    told(done, f"{id_} is over", as_json=as_json)


def _moved(store: FactStore, entry: Quarantined, *, as_json: bool) -> None:
    """Print what a quarantine, or its end, would move; nothing is written (RF-22)."""
    with counting("facts") as progress:
        found = store.what_if(quarantine=entry, progress=progress)
    if as_json:
        whole(found)
    else:
        compared.what_if(found, ROWS, lambda key: store.get(key).spelt)


def quarantines(
    ctx: typer.Context,
    *,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Lines = False,
) -> None:
    """List what is left out, and what was once."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store, store.view() as view:
        found = view.settings.quarantines
    over = {one.entry.lifts for one in found if isinstance(one.entry, Quarantined)}
    made = [one for one in found if isinstance(one.entry, Quarantined) and not one.entry.lifts]
    if as_json:
        for one in made:
            line({"id": one.id, "lifted": one.id in over, "entry": one.entry})
    elif made:
        _listed(made, over)
    else:
        screen.note("Nothing was ever left out.")


def _listed(made: Iterable[Stored], over: set[str]) -> None:
    loose = ("left out", "taken in", "by", "why")
    listed = screen.table("id", "state", "left out", "taken in", "by", "why", loose=loose)
    for one in made:
        entry = one.entry
        assert isinstance(entry, Quarantined)
        lifted = one.id in over
        state = Text("lifted", screen.FAINT) if lifted else Text("in force", screen.OTHER)
        whom, why = _whom(entry), escaped(entry.reason) or "–"
        listed.add_row(one.id[:SHORT], state, whom, _span(entry), escaped(entry.by) or "–", why)
    screen.show(listed)


def _whom(entry: Quarantined) -> str:
    read_by = f"read by {escaped(entry.writer)}" if entry.writer else ""
    return ", ".join(one for one in (escaped(entry.source), read_by) if one)


def _span(entry: Quarantined) -> str:
    since = "" if entry.since is None else f"from {_day(entry.since)}"
    until = "" if entry.until is None else f"until {_day(entry.until)}"
    return " ".join(one for one in (since, until) if one) or "ever"


def _day(at: int) -> str:
    return moment(at).removesuffix(" 00:00:00")


def with_quarantines(
    story: Sequence[Stored], quarantined: Iterable[Stored], registry: Registry
) -> list[Stored]:
    """
    Put the quarantines among the entries of a fact that left out something of it.

    Args:
        story: Entries of the fact.
        quarantined: All quarantines of the namespace, and what ended them.
        registry: Of its sources.

    """
    said = [one for one in story if isinstance(one.entry, Asserted)]
    found = tuple(quarantined)
    covering = {one.id for one in found if _covers(one, said, registry)}
    concerned = [
        one
        for one in found
        if one.id in covering
        or (isinstance(one.entry, Quarantined) and one.entry.lifts in covering)
    ]
    return sorted([*story, *concerned], key=lambda one: one.position)


def _covers(one: Stored, said: Iterable[Stored], registry: Registry) -> bool:
    return any(note.startswith("quarantined:") for note in living((*said, one), registry).notes)
