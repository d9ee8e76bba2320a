"""`pointsman inbox`: what waits for a person, to be read and decided."""

from __future__ import annotations

import getpass
import re
import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from ...errors import DeclarationError, SetupError
from ...inbox.fitting import spoken
from ...inbox.inbox import resolved
from ...points import suffix_of
from .. import screen
from ..journal.opening import journal_of
from ..journal.times import clock
from ..journal.trail import printable, said
from .page import because, left, shown

if TYPE_CHECKING:
    from ...inbox.entries import Item
    from ...journal.boxing import Box

SHORT = 16  # digits of an id: its time to the nanosecond
HEXADECIMAL = re.compile("[0-9a-f]{1,32}")

inbox = typer.Typer(help="Read and decide what waits for a person.", no_args_is_help=True)


@inbox.command("list")
def listed(
    ctx: typer.Context,
    *,
    open_only: Annotated[
        bool, typer.Option("--open/--all", help="Only what nobody has decided, or all.")
    ] = True,
    point: Annotated[str | None, typer.Option(help="Of this point only.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each.")] = False,
) -> None:
    """List what waits for a person, the oldest first."""
    name = None if point is None else suffix_of(point)
    with journal_of(ctx) as store:
        found = list(store.inbox().items(point=name, open_only=open_only))
        elsewhere = not found and next(store.inbox().items(), None) is not None
    if as_json:
        for item in found:
            screen.plain(f"{screen.escaped(msgspec.json.encode(item).decode())}\n")
    elif found:
        _table(found)
    else:
        _nothing(elsewhere=elsewhere)


def _nothing(*, elsewhere: bool) -> None:
    screen.note("Nothing waits for a person.")
    if elsewhere:
        screen.note(("`pointsman inbox list --all` shows what was decided.", screen.FAINT))


def _table(found: list[Item]) -> None:
    table = screen.table(
        "id",
        "waits since",
        "decision point",
        "because",
        "meanwhile",
        loose=("because", "meanwhile"),
    )
    for item in found:
        entry = item.entry
        table.add_row(
            entry.id[:SHORT],
            clock(entry.at),
            printable(entry.point),
            because(entry.why),
            left(item),
        )
    screen.show(table)


@inbox.command()
def show(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="ID", help="Its id, or how it begins.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show one question, whole: what is asked, why, about what, and what was said."""
    with journal_of(ctx) as store:
        item = _one(store.inbox(), question)
    if as_json:
        screen.data(item)
    else:
        shown(item)


@inbox.command(context_settings={"ignore_unknown_options": True})  # so that -3 is a value
def resolve(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="ID", help="Its id, or how it begins.")],
    value: Annotated[
        list[str],
        typer.Argument(
            metavar="VALUE...",
            help="An option, true or false, a number or level; name=value for several.",
        ),
    ],
    *,
    by: Annotated[str | None, typer.Option(help="Who decides; absent: you.")] = None,
    note: Annotated[str, typer.Option(help="Why, for whoever reads it later.")] = "",
) -> None:
    """Decide one question. The first word counts, and whoever waits for it gets it."""
    unknown = [one for one in (question, *value) if one.startswith("--")]
    if unknown:
        raise SetupError.of(unknown[0], "there is no such option", "`--help` lists them")
    with journal_of(ctx) as store:
        item = _one(store.inbox(), question)
        try:
            outcome = spoken(item.entry.questions, value)
            who = _user() if by is None else by
            entry, counts = resolved(store, item.entry.id, outcome, who, note)
        except DeclarationError as error:
            raise SetupError.of("VALUE", str(error), f"{_again(item)} shows the question") from None
    told = f"{entry.point} is {said(counts.value)}"
    if counts.first:
        screen.line(("✓ ", screen.GOOD), (printable(told), "bold"))
        return
    whom = f" by {printable(counts.by)}" if counts.by else ""
    screen.note(("✗ ", screen.BAD), f"It was decided before{whom}, {clock(counts.at)} UTC: {told}.")
    sys.exit(1)


def _again(item: Item) -> str:
    return f"`pointsman inbox show {item.entry.id[:SHORT]}`"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # nobody knows, as in some containers
        return ""


def _one(box: Box, begins: str) -> Item:
    """
    Find what is meant.

    Raises:
        SetupError: No id begins so, or several do.

    """
    beginning = begins.strip().lower()
    found = box.beginning(beginning, 4) if HEXADECIMAL.fullmatch(beginning) else []
    if len(found) == 1 or beginning in found:
        return next(iter(box.items(ids=found[:1])))
    if not found:
        fix = "`pointsman inbox list` shows what waits"
        raise SetupError.of("ID", f"no question's id begins with {beginning!r}", fix)
    fix = f"Give more of it: {', '.join(found)}"
    raise SetupError.of("ID", f"several begin with {beginning!r}", fix)
