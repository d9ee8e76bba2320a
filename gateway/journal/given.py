"""What the variables of the journal say, and where its files are."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from ..errors import SetupError, raise_all
from .addresses import WHERE, Address, address
from .content import Keep
from .places import SPOOL, SPOOL_FIX, of_file, of_folder

STATE = Path(".local", "state", "pointsman")  # of the user, where the XDG specification puts it


class JournalSettings(msgspec.Struct, frozen=True):
    """
    What the variables of the journal say.

    Attributes:
        url: `sqlite:///path`, `sqlite:////absolute/path` or `postgresql://…`.
        content: What is kept of subject and state.
        key: Of their hashes, at least 16 characters; None: one is made beside a SQLite file.
        spool: The folder where rows wait for the database, in a folder of their own for each
            database; None: beside a SQLite file, else in the user's state folder.

    """

    url: str
    content: Keep = "hash"
    key: str | None = None
    spool: Path | None = None

    def __repr__(self) -> str:
        return f"JournalSettings(content={self.content!r})"  # the rest holds secrets


def spool_of(settings: JournalSettings) -> Path:
    """
    Name the folder where rows wait for the database; it need not be there.

    Raises:
        SetupError: The address is at fault, or this user has no home folder.

    """
    return waiting_in(address(settings.url), settings.spool)


def key_file(settings: JournalSettings) -> Path | None:
    """
    Name the file of the key that is made where none is given; None for a server.

    Raises:
        SetupError: The address is at fault.

    """
    file = address(settings.url).file
    return file and beside(file)


def beside(file: Path) -> Path:
    """Name the file of the key that belongs to the SQLite *file*."""
    return file.with_name(f"{file.name}.key")


def check(file: Path | None, spool: Path, given: JournalSettings) -> None:
    """
    Find what would lose rows later; nothing is made.

    Raises:
        SetupError: There can be no database there, no spool, or no key.

    """
    where = WHERE if given.spool is None and file is not None else SPOOL
    faults = [of_folder(spool, where)]
    if file is not None:
        faults.append(of_file(file))
        makes = given.key is None and given.content != "none"
        if makes and not os.path.lexists(beside(file)):
            faults.append(of_folder(file.parent, WHERE))
    raise_all(dict.fromkeys(one for one in faults if one is not None))


def waiting_in(made: Address, given: Path | None) -> Path:
    """
    Choose where rows wait: never where those for another database do.

    Who connects, and how, may change: the rows go to the same place.
    """
    if given is None and made.file is not None:
        return made.file.with_name(f"{made.file.name}.spool")
    there = [made.query.get(name) for name in ("host", "port", "dbname", "options")]
    told = repr([made.host, made.port or 5432, made.database, there])
    name = f"spool-{hashlib.sha256(told.encode()).hexdigest()[:16]}"
    if given is not None:
        return (given / name).absolute()
    try:
        home = Path.home()
    except RuntimeError:
        raise SetupError.of(SPOOL, "this user has no home folder", SPOOL_FIX) from None
    return home / STATE / name
