"""Whether what is decided can be kept: tried where it will be, before the first decision."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy import false, insert, select

from ..errors import SetupError
from .addresses import WHERE, address
from .content import Key
from .database import Database
from .journal import JournalSettings, check, key_file, spool_of
from .places import SPOOL, told
from .schema import decisions
from .segments import Segment
from .troubles import LOCKED, StoreDown


def tried(settings: JournalSettings) -> None:
    """
    Open the journal for writing, and its spool; both are made where they are not there yet.

    Args:
        settings: Where they are.

    Raises:
        SetupError: A file or folder cannot be made or written.
        StoreDown: The database cannot be reached or written; its `fix` says what to do.

    """
    _spool(settings)
    database = Database(address(settings.url))
    try:
        if database.missing:
            _key(settings)
        _database(database)
    finally:
        database.close()


def looked_at(settings: JournalSettings) -> bool:
    """
    As `tried`, but nothing is made: neither file, folder, key nor tables.

    Tables of an earlier version are brought to the newest, as the first decision would.

    Args:
        settings: Where they are.

    Returns:
        Whether there are tables.

    Raises:
        SetupError: A file or folder could not be made or written.
        StoreDown: The database cannot be reached or written; its `fix` says what to do.

    """
    where, spool = address(settings.url), spool_of(settings)
    check(where.file, spool, settings)
    if spool.is_dir():
        _spool(settings)
    else:
        _could_be_made(spool)
    database = Database(where)
    try:
        there = database.has_tables()
        if there:
            _database(database)
    finally:
        database.close()
    return there


def _spool(settings: JournalSettings) -> None:
    folder = spool_of(settings)
    try:
        segment = Segment.new(folder)
        try:
            segment.append([b"\n"])
        finally:
            segment.loaded = segment.size  # there is nothing in it to be kept
            segment.release()
    except OSError as error:
        why = error.strerror or type(error).__name__
        beside = settings.spool is None and address(settings.url).file is not None
        fix = "Name a folder on the local disk that can be written, with room on it"
        if beside:
            fix = f"Name a file where they can, set {SPOOL}, or write `off`"
        where = WHERE if beside else SPOOL
        raise SetupError.of(where, f"rows cannot be kept ({why})", fix) from None


def _could_be_made(folder: Path) -> None:
    """Make a file without a name where *folder* would stand: a right says less than a try."""
    there = next(one for one in folder.absolute().parents if one.is_dir())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        why = error.strerror or type(error).__name__
        fix = f"Name a file where they can, set {SPOOL}, or write `off`"
        raise SetupError.of(WHERE, f"rows cannot be kept ({why})", fix) from None


def _key(settings: JournalSettings) -> None:
    """Make the key before the file: one that is made later is told as a key that was lost."""
    path = key_file(settings)
    if path is None or settings.key is not None or settings.content == "none":
        return
    try:
        Key(None, path).get()
    except OSError as error:
        why = told(error, WHERE)
        raise SetupError.of(WHERE, why, "Name a file where it can be made") from None


def _database(database: Database) -> None:
    """Write nothing, with all the rights that a row takes; who holds the lock writes, too."""
    nothing = select(decisions).where(false())
    try:
        with database.transaction("write") as connection:
            connection.execute(insert(decisions).from_select(list(decisions.c), nothing))
    except StoreDown as down:
        if str(down) != LOCKED:
            raise
