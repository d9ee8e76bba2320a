"""`get`, `list`, `explain`, `history`, `impact`, `events`: what is known, and why."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from ....gateway.cli import screen
from ....gateway.errors import SetupError
from ..keys import parts
from ..telling import Explanation, escaped, language_of
from . import flags, logged, showing
from .heeding import heed
from .leaving import with_quarantines
from .opening import Db, Json, Key, Lines, Namespace, Place, facts_of
from .printing import line, whole

if TYPE_CHECKING:
    from ..reading import Reading
    from ..store import FactStore

NEAR = 5  # keys that are named where one is not known

ValidAt = Annotated[
    str | None, typer.Option(metavar="TIME", help="As of when it holds: 2026-11-30; absent: now.")
]
KnownAt = Annotated[
    str | None, typer.Option(metavar="TIME", help="By what was known then; absent: now.")
]
Language = Annotated[str, typer.Option(help="Of the sentence: en or pt.")]


def get(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    key: Key,
    *,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    provisional: Annotated[
        str | None,
        typer.Option(help="While it is disputed, what this would say, marked as such."),
    ] = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Show what a fact comes to; ends with 1 unless it is resolved and fresh."""
    entity, attribute, qualifiers = names_of(key)
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        heed(store)
        found = store.get(
            entity,
            attribute,
            qualifiers=qualifiers,
            valid_at=valid_at,
            known_at=known_at,
            provisional=provisional,
        )
        near = _near(store, found)
        notes = flags.told(store, found.outcome.trace.notes)
    if as_json:
        whole(found)
    else:
        showing.fact_read(found, notes)
        _told(near)
    if found.status != "resolved" or found.stale:
        raise typer.Exit(1)


def names_of(key: str) -> tuple[str, str, dict[str, str]]:
    """
    Take a key apart: entity, attribute, qualifiers.

    Raises:
        SetupError: It is none.

    """
    try:
        return parts(key)
    except ValueError as error:
        fix = "`pointsman facts list` shows the keys"
        raise SetupError.of("KEY", escaped(str(error)), fix) from None


def _near(store: FactStore, found: Reading) -> list[str]:
    """Name other facts of the entity, where nobody ever said anything about this one."""
    if found.status != "absent" or found.outcome.candidates or found.outcome.trace.beaten:
        return []
    prefix = str(found.key).rpartition("/")[0] + "/"
    with store.view() as view:
        return [str(one) for one in islice(view.keys(prefix=prefix), NEAR)]


def _told(near: list[str]) -> None:
    if near:
        screen.note((f"Known of it: {', '.join(map(escaped, near))}", screen.FAINT))


def listed(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    prefix: Annotated[str, typer.Argument(help="How their keys begin.")] = "",
    *,
    status: Annotated[
        str | None, typer.Option(help="resolved, disputed, unreconciled, absent, not_yet or ended.")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--lines", min=1, help="How many.")] = 50,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Lines = False,
) -> None:
    """List facts, by key."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        chosen = _chosen(store, prefix, status)
        found = list(islice(chosen, count))
        more = next(chosen, None) is not None
    if as_json:
        for one in found:
            line(one)
    elif found:
        showing.facts_read(found)
    else:
        screen.note("No such fact is known.")
    if more:
        screen.note((f"There are more than {count:,}: -n shows more.", screen.FAINT))


def _chosen(store: FactStore, prefix: str, status: str | None) -> Iterator[Reading]:
    for one in store.facts():
        if str(one.key).startswith(prefix) and status in (None, one.status):
            yield one


def explain(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    key: Key,
    *,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    language: Language = "en",
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Show why a fact stands as it does: who says what, what beats what, and on which key."""
    entity, attribute, qualifiers = names_of(key)
    lang = language_of(language)
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        heed(store)
        found: Explanation = store.explain(
            entity, attribute, qualifiers=qualifiers, valid_at=valid_at, known_at=known_at
        )
        notes = tuple(flags.told(store, found.notes))
    if as_json:
        whole(found)
    else:
        showing.explained(replace(found, notes=notes), lang)


def history(
    ctx: typer.Context,
    key: Key,
    *,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Lines = False,
) -> None:
    """Show everything that was ever written about a fact, in the order of the log."""
    entity, attribute, qualifiers = names_of(key)
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        written = store.history(entity, attribute, qualifiers=qualifiers)
        with store.view() as view:
            settings = view.settings
    found = with_quarantines(written, settings.quarantines, settings.registry)
    if as_json:
        for one in found:
            line(one)
    elif found:
        logged.entries(found)
    else:
        screen.note("Nothing was ever written about it.")


def impact(
    ctx: typer.Context,
    key: Key,
    *,
    since: Annotated[str | None, typer.Option(help="Only what used it from then on.")] = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """List the decisions that used a fact, and the facts that were derived from it."""
    entity, attribute, qualifiers = names_of(key)
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        found = store.impact(entity, attribute, qualifiers=qualifiers, since=since)
    if as_json:
        whole(found)
    else:
        logged.impact(found)


def events(
    ctx: typer.Context,
    *,
    after: Annotated[
        str, typer.Option(metavar="ID", help="Behind this event; or from a position of the log on.")
    ] = "0",
    count: Annotated[int, typer.Option("-n", "--lines", min=1, help="How many.")] = 50,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Lines = False,
) -> None:
    """Show what happened, the oldest first: decided, disputed, resolved, gone stale."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        chosen = iter(store.subscribe(int(after) if after.isdecimal() else after))
        found = list(islice(chosen, count))
        more = next(chosen, None) is not None
    if as_json:
        for one in found:
            line(one)
    elif found:
        logged.events(found)
    else:
        screen.note("Nothing happened.")
    if more:
        fix = f"There is more: --after {shlex.quote(found[-1].id)} goes on."
        screen.note((fix, screen.FAINT))
