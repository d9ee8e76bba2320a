"""
The journal: what a gateway hands its records to, and what evaluation reads them from.

A decision only puts an entry into a queue. One thread makes a row of it and appends it to the
spool on the local disk, another loads the spool into the database. A database that is slow,
locked, full or gone delays no decision and loses none: its rows wait in the spool.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

from ..inbox.watch import Watch
from ..masking import Mask
from ..questions import Ask
from .addresses import address
from .backlog import Backlog
from .content import Content, Key
from .entries import Entry
from .exits import CLOSING, forget_all
from .given import JournalSettings, beside, check, key_file, spool_of, waiting_in
from .loader import Loader
from .rows import Kept
from .spool import Spool
from .standing import Ledger, key_for
from .store import Store
from .writer import Writer

__all__ = ["Journal", "JournalSettings", "Tell", "check", "key_file", "spool_of"]

Tell: TypeAlias = Callable[[str, str, Mapping[str, Any]], None]
"""`tell(level, event, fields)`: says an event."""


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
        watch: Looks for what persons have said.

    Raises:
        SetupError: The address is at fault, its library is missing, the key is too short, is
            damaged, or must be given; the file is no database; rows could not wait in the spool.

    """

    def __init__(self, settings: JournalSettings, *, mask: Mask | None = None, tell: Tell) -> None:
        self.settings, self.watch = settings, Watch()
        made = address(settings.url)
        file = made.file
        self._url = settings.url if file is None else f"sqlite:///{quote(str(file))}"
        self._spool = waiting_in(made, settings.spool)
        check(file, self._spool, settings)
        key = None
        if settings.content != "none":
            key = Key(settings.key, file and beside(file), file)
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

    def kept(self, ask: Ask | None, subject: str | None) -> Kept:
        """
        Give what may be kept of what was asked, and about whom, as the rows keep it.

        Raises:
            SetupError: The key's file holds no key.
            OSError: It can be neither read nor made.

        """
        return self._content.kept(ask, subject)

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
