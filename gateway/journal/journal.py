"""
The journal: what a gateway hands its records to, and what evaluation reads them from.

A decision only puts an entry into a queue. One thread makes a row of it and appends it to the
spool on the local disk, another loads the spool into the database. A database that is slow,
locked, full or gone delays no decision and loses none: its rows wait in the spool.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec

from ..errors import SetupError, raise_all
from ..masking import Mask
from .addresses import WHERE, Address, address
from .backlog import Backlog
from .content import Content, Keep, Key
from .entries import Entry
from .exits import CLOSING, forget_all
from .loader import Loader
from .places import SPOOL, SPOOL_FIX, of_file, of_folder
from .spool import Spool
from .standing import Ledger, key_for
from .store import Store
from .writer import Writer

Tell: TypeAlias = Callable[[str, str, Mapping[str, Any]], None]
"""`tell(level, event, fields)`: says an event."""

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


class Journal:
    """
    Keeps decisions, background answers and feedback; for any number of threads and tasks.

    Nothing is opened and no thread started before the first entry. A forked child has a
    journal of its own: it never writes what its parent was given.

    Args:
        settings: Where, and what is kept.
        mask: Goes over every text of a state that is kept in full.
        tell: Says events; they hold no state, subject, key, path or address.

    Attributes:
        settings: As they were given.

    Raises:
        SetupError: The address is at fault, its library is missing, the key is too short, is
            damaged, or must be given; the file is no database; rows could not wait in the spool.

    """

    def __init__(self, settings: JournalSettings, *, mask: Mask | None = None, tell: Tell) -> None:
        self.settings = settings
        made = address(settings.url)
        file = made.file
        self._url = settings.url if file is None else f"sqlite:///{quote(str(file))}"
        self._spool = _spool(made, settings.spool)
        check(file, self._spool, settings)
        key = None
        if settings.content != "none":
            key = Key(settings.key, file and _key_file(file), file)
        self._tell = tell
        self._key = key
        self._content = Content(settings.content, key, mask, _saying(tell))
        self._begin()
        _journals.add(self)

    def _begin(self) -> None:
        say = _saying(self._tell)
        spool = Spool(self._spool)
        self._loader = Loader(spool, self._url, say)
        self._writer = Writer(self._content, spool, self._loader, say)
        # at exit the writer closes itself; this is for a journal that nobody holds any more
        weakref.finalize(self, self._writer.let_go).atexit = False

    def __repr__(self) -> str:
        return f"Journal({self._content!r})"

    def put(self, entry: Entry) -> None:
        """
        Take an entry, to be written soon; never waits, never raises.

        It is lost, and counted, only where the local disk has not written for so long that
        100,000 entries or 64 million characters of states wait, and where it cannot be written
        as a row at all.
        """
        self._writer.put(entry)

    def flush(self, seconds: float | None = None) -> bool:
        """
        Wait until everything put so far, and what dead processes left, is in the database.

        Args:
            seconds: Wait no longer than that; absent: until it is, or cannot be for now.

        Returns:
            False if the time ran out, or the database or the disk is down: then the rows wait
            in the spool, and entries in the queue.

        """
        return self._writer.flush(seconds)

    def close(self, seconds: float = CLOSING) -> None:
        """
        Write what was put, load it as far as the database takes it, and end the threads.

        What the database does not take stays in the spool for the next process. A database
        that is not reachable is not waited for, save for an attempt that is under way; a local
        disk that does not write is tried once more, and what it does not take then, or not in
        time, is lost and counted. An entry put later starts the journal again.

        Args:
            seconds: For all of it.

        """
        self._writer.close(seconds)

    @property
    def lost(self) -> int:
        """How many entries were put in this process and can never be read."""
        return self._writer.lost

    @property
    def backlog(self) -> Backlog:
        """What this process has not brought into the database, and why."""
        waiting = self._writer.waiting + self._loader.waiting
        if self._writer.down:
            return Backlog("spool_down", waiting, self.lost)
        return Backlog("database_down" if self._loader.down else None, waiting, self.lost)

    @property
    def keyless(self) -> bool:
        """Whether there is no key yet, or no more; the next hash makes a new one."""
        return self._content.keyless

    def subject_hash(self, subject: str) -> str | None:
        """
        Give the hash that a subject is known by in the database; None where none is kept.

        Raises:
            SetupError: The key's file holds no key.
            OSError: It can be neither read nor made.

        """
        return self._content.subject(subject)

    def store(self) -> Store:
        """
        Give the database, for reading; it closes with the journal.

        Raises:
            SetupError: Its address or its library is at fault.

        """
        return self._loader.store()

    def ledger(self) -> Ledger:
        """
        Give what stands of the decisions that are made once; whatever is kept, it needs a key.

        Raises:
            SetupError: There is no key, and none can be made here.

        """
        if self._key is None:
            self._key = key_for(self.settings.key, key_file(self.settings))
        return Ledger(self.store(), self._key, subjects=self.settings.content != "none")

    def renew(self) -> None:
        """Begin anew in a forked child, with nothing of what the parent was given."""
        _inherited.append(self._writer)
        self._writer.abandon()
        self._begin()


def spool_of(settings: JournalSettings) -> Path:
    """
    Name the folder where rows wait for the database; it need not be there.

    Raises:
        SetupError: The address is at fault, or this user has no home folder.

    """
    return _spool(address(settings.url), settings.spool)


def key_file(settings: JournalSettings) -> Path | None:
    """
    Name the file of the key that is made where none is given; None for a server.

    Raises:
        SetupError: The address is at fault.

    """
    file = address(settings.url).file
    return file and _key_file(file)


def _key_file(file: Path) -> Path:
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
        if makes and not os.path.lexists(_key_file(file)):
            faults.append(of_folder(file.parent, WHERE))
    raise_all(dict.fromkeys(one for one in faults if one is not None))


def _spool(made: Address, given: Path | None) -> Path:
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


def _saying(tell: Tell) -> Callable[..., None]:
    def say(level: str, event: str, **fields: Any) -> None:  # noqa: ANN401 - as events are
        try:
            tell(level, event, fields)
        except KeyboardInterrupt:
            if threading.current_thread() is threading.main_thread():  # the host's, and not ours
                raise
        except BaseException:  # noqa: BLE001 - who listens must not end the journal
            return

    return say


_journals: weakref.WeakSet[Journal] = weakref.WeakSet()
_inherited: list[Writer] = []  # a parent's connections, which the child must not even close


def _renew_all() -> None:
    forget_all()
    for journal in list(_journals):
        journal.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
