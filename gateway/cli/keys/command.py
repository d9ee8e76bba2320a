"""`pointsman keys`: make, list and revoke the bearer keys of the server."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import SetupError
from .. import screen
from ..journal.opening import reached, wanted
from ..journal.times import clock
from ..journal.trail import printable

if TYPE_CHECKING:
    from ...server.keyring import Key, Keyring

DAY = len("2026-11-30")  # of a time, as it is written

keys = typer.Typer(
    help="Make, list and revoke the bearer keys of the server.", no_args_is_help=True
)


@contextmanager
def _ring(ctx: typer.Context, *, only_reads: bool = False) -> Generator[Keyring]:
    from ...server.keyring import Keyring

    ring = Keyring.open(wanted(ctx).url, only_reads=only_reads)
    try:
        with reached():
            yield ring
    finally:
        ring.close()


@keys.command()
def create(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Who will hold it: a program, a team.")],
    *,
    scope: Annotated[
        list[str], typer.Option(help="decide, feedback or admin; may be repeated.")
    ] = ["decide"],  # noqa: B006 - Typer's way to say a default
    rate: Annotated[str | None, typer.Option(help="How often: 600/min, 10/s, 5000/h.")] = None,
    budget: Annotated[float | None, typer.Option(help="US dollars that it may cost a day.")] = None,
    expires: Annotated[str | None, typer.Option(help="When it ends: 90d, 2027-01-31.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a key and print it: once, for nothing keeps it but who has it."""
    from ...server import tokens
    from ...server.keyring import Key
    from .limits import budget_of, expiry_of, name_of, rate_of, scopes_of

    token, now = tokens.minted(), time.time()
    made = Key(
        id=tokens.id_of(token),
        name=name_of(name),
        digest=tokens.digest(token).hex(),
        scopes=scopes_of(scope),
        rate=rate_of(rate),
        budget=budget_of(budget),
        created=now,
        expires=expiry_of(expires, now),
    )
    with _ring(ctx) as ring:
        ring.add(made)
    _printed(made, token, as_json=as_json)


def _printed(made: Key, token: str, *, as_json: bool) -> None:
    if as_json:
        screen.data({**_told(made), "key": token})
        return
    screen.line(token)
    screen.note(f"Key {made.id} of {made.name} may {' and '.join(made.scopes)}{_within(made)}.")
    screen.note("Keep it where secrets are kept: it is never shown again.")


def _within(made: Key) -> str:
    until = "" if made.expires is None else f", until {clock(made.expires)} UTC"
    limits = _limits(made)
    return f", up to {limits}{until}" if limits else until


@keys.command("list")
def list_keys(
    ctx: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List every key that was ever made, without its secret."""
    with _ring(ctx, only_reads=True) as ring:
        there = [] if ring.missing else ring.all()
    if as_json:
        screen.data([_told(one) for one in there])
    elif not there:
        screen.note("There is no key yet: `pointsman keys create NAME` makes one.")
    else:
        _listed(there)


def _listed(there: list[Key]) -> None:
    loose = ("name", "scopes", "limits", "state")
    listed = screen.table("id", "name", "scopes", "limits", "created", "used", "state", loose=loose)
    for one in there:
        used = "–" if one.used is None else clock(one.used)[:DAY]
        about = (one.id, printable(one.name), " ".join(one.scopes), _limits(one) or "–")
        listed.add_row(*about, clock(one.created)[:DAY], used, _state(one))
    screen.show(listed)


def _state(one: Key) -> str:
    if one.revoked is not None:
        return f"revoked {clock(one.revoked)[:DAY]}"
    if one.expires is None:
        return "in force"
    ended = "until" if one.in_force(time.time()) else "expired"
    return f"{ended} {clock(one.expires)[:DAY]}"


def _limits(one: Key) -> str:
    budget = None if one.budget is None else f"${one.budget:g} a day"
    return ", ".join(str(limit) for limit in (one.rate, budget) if limit is not None)


def _told(one: Key) -> dict[str, object]:
    return {
        "id": one.id,
        "name": one.name,
        "scopes": one.scopes,
        "rate": None if one.rate is None else str(one.rate),
        "budget_usd": one.budget,
        "created": one.created,
        "expires": one.expires,
        "revoked": one.revoked,
        "used": one.used,
        "in_force": one.in_force(time.time()),
    }


@keys.command()
def revoke(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="ID|NAME", help="The key itself will do, too.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """End a key: every server that reads this journal turns it away within a second."""
    with _ring(ctx) as ring:
        there = [] if ring.missing else ring.all()
        one = _meant(key.strip(), there)
        if one.revoked is None:
            ring.revoke(one.id)
        after = {other.id: other for other in ring.all()}
    if as_json:
        screen.data(_told(after[one.id]))
        return
    was = "was revoked before" if one.revoked is not None else "is revoked"
    screen.note(f"Key {one.id} of {printable(one.name)} {was}.")
    if not any(other.in_force(time.time()) for other in after.values()):
        screen.note("No key is in force now: the server turns everybody away.")


def _meant(text: str, there: list[Key]) -> Key:
    """
    Find the key that a person means: by its id, by itself, or by its name.

    Raises:
        SetupError: There is none, or several have the name.

    """
    from ...server import tokens

    named = tokens.id_of(text) if tokens.well_formed(text) else text
    found = [one for one in there if one.id == named]
    found = found or [one for one in there if one.name == text and one.revoked is None]
    found = found or [one for one in there if one.named(text) and one.revoked is None]
    found = found or [one for one in there if one.named(text)][:1]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(one.id for one in found)
        raise SetupError.of("ID|NAME", "several keys have this name", f"Give the id: {ids}")
    # what was given may be a key with a typing error: it is not repeated
    fix = "`pointsman keys list` shows the ids and names"
    raise SetupError.of("ID|NAME", "there is no such key", fix)
