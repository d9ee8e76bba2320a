"""
How a command reaches the journal: from the variables alone.

No gateway is made for it: a broken file of thresholds, or a provider without its key, must not
keep anybody from reading what was decided.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...environment import Environment
from ...errors import SetupError, raise_all
from ...journaling import JOURNAL, journal_settings, store_of
from ...settings import Settings
from ..beside import HERE
from ..session import Session
from .trail import printable

if TYPE_CHECKING:
    from pathlib import Path

    import typer

    from ...journal.journal import Journal, JournalSettings
    from ...journal.store import Store


@contextmanager
def journal_of(ctx: typer.Context, *, new: bool = False) -> Generator[Store]:
    """
    Lend the journal's database.

    Args:
        ctx: Of the command.
        new: Whether it may be made; absent: it must be there.

    Raises:
        SetupError: No journal is kept, there is none yet, or it cannot be reached.

    """
    store = store_of(_settings(ctx.obj))
    try:
        if store.missing and not new:
            raise _none_yet()
        with reached():
            yield store
    finally:
        store.close()


@contextmanager
def keeping(ctx: typer.Context) -> Generator[Journal]:
    """
    Lend the whole journal, with its key; what waits in its spool is in the database first.

    Raises:
        SetupError: No journal is kept, there is none yet, or it cannot be reached.

    """
    from ...journal.journal import Journal

    with journal_of(ctx):
        kept = wanted(ctx)
    journal = Journal(kept, tell=_silent)
    try:
        if not journal.flush(WAITING):
            raise _down("rows wait in the spool that it does not take")
        with reached():
            yield journal
    finally:
        journal.close()


def spool_of(ctx: typer.Context) -> Path:
    """
    Name the folder where rows wait for the journal's database.

    Raises:
        SetupError: No journal is kept, or its address is at fault.

    """
    from ...journal import journal

    return journal.spool_of(wanted(ctx))


def wanted(ctx: typer.Context) -> JournalSettings:
    """
    Give what the journal's variables say.

    Raises:
        SetupError: No journal is kept.

    """
    found = journal_settings(_settings(ctx.obj))
    if found is None:
        raise SetupError.of(JOURNAL, "no journal is kept", "Name a database")
    return found


def unknown(store: Store, point: str) -> SetupError | None:
    """Say that no decision of *point* is there, and which are; None where one is."""
    held = [printable(name) for name in store.points()]
    if point in held:
        return None
    near = difflib.get_close_matches(point, held, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    more = ", …" if len(held) > MANY else ""
    fix = f"{hint}The journal holds {', '.join(held[:MANY]) or 'no decision'}{more}"
    return SetupError.of("--point", f"no decision of {point} is recorded", fix)


def _silent(level: str, event: str, fields: Mapping[str, Any]) -> None:
    """Say nothing of what the journal does: what comes of it is said by the command."""


WAITING = 60.0  # seconds for what waits in the spool
MANY = 10  # points that are named
AGAIN = "Nothing is lost by it; try again"


@contextmanager
def reached() -> Generator[None]:
    """Tell of a database that is down as of any other fault."""
    from ...journal.store import StoreDown

    try:
        yield
    except StoreDown as error:
        raise _down(str(error), error.fix) from None


def _settings(session: Session) -> Settings:
    there = Environment.read(None, session.env_file).values
    over = {} if JOURNAL in there else {JOURNAL: HERE}
    settings = Settings.gathered({**os.environ, **over}, session.env_file)
    raise_all(fault for fault in settings.faults if fault.where.startswith(JOURNAL))
    return settings


def _none_yet() -> SetupError:
    problem = "there is no journal yet"
    fix = "It is made by the first decision that is recorded, or by `pointsman journal import`"
    return SetupError.of(JOURNAL, problem, fix)


def _down(problem: str, fix: str = AGAIN) -> SetupError:
    return SetupError.of(JOURNAL, problem, fix)
