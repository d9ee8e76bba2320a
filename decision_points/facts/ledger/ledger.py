"""One namespace of facts in one database: written to, worked out, looked at."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING

from ....gateway.forks import Lock
from ....gateway.journal.database import Database
from ....gateway.journal.files import identity_of
from ....gateway.journal.lines import Line
from ....gateway.journal.troubles import StoreDown
from ..entries import AnyEntry, Asserted
from ..errors import Refused
from . import rows
from .loading import Loaded, pausing, written
from .schema import FACTS
from .settings import Known, Settings
from .view import View
from .writing import BATCH, Appended, Writing

if TYPE_CHECKING:
    from ....gateway.journal.addresses import Address

Progress = Callable[[int], None]
"""Told how many entries, or facts, are done."""


class Ledger:
    """
    A namespace in a database; nothing is opened before its first use.

    Safe for several threads and processes.

    Args:
        address: Where the database is.
        namespace: Which facts (RF-79).
        clock: Gives the time, in microseconds since the epoch.

    Attributes:
        database: With the tables of facts, and those of the journal where it has them.
        namespace: Which facts.
        untidy: Whether what was erased may still be in SQLite's log, as somebody was reading.

    """

    def __init__(self, address: Address, namespace: str, clock: Callable[[], int]) -> None:
        self.database = Database(address, only_reads=True, tables=FACTS)
        self.namespace = namespace
        self._clock = clock
        self._known = Known(namespace)
        self._turn = Lock()
        self._bound: object = None
        self.untidy = False

    @property
    def identity(self) -> object:
        """What tells its file from another of that name; None: it is not there."""
        file = self.database.file
        return True if file is None else identity_of(file)

    def bind(self) -> None:
        """Write from now on into the file that is there, and into no other of its name."""
        with self.database.line("read"):
            self._bound = self.identity

    def forget(self) -> None:
        """Know nothing of what was read, and write into whichever file is there."""
        self._bound, self._known = None, Known(self.namespace)

    def close(self) -> None:
        """Close all connections; a later use opens new ones."""
        if self.untidy:
            with suppress(StoreDown):
                self.untidy = not self.database.tidy()
        self.database.close()

    @contextmanager
    def view(self, *, known_at: int | None = None) -> Generator[View]:
        """
        Look at it, all at one moment.

        Args:
            known_at: As it was at this time, in microseconds; None: as it is.

        Raises:
            StoreDown: The database cannot be reached.

        """
        with self.database.line("read") as line:
            head = self._head(line, known_at)
            wide = head.wide if known_at is None else None
            settings = self._known.at(line, head.position, wide)
            if known_at is None:
                self._known.latest = settings
            yield View(line, self.namespace, head, settings, self._clock, known_at)

    def settings(self) -> Settings:
        """Give what held for the namespace when it was last looked at, or else what holds now."""
        if self._known.latest is None:
            with self.view() as view:
                self._known.latest = view.settings
        return self._known.latest

    def make(self, make: Callable[[View], AnyEntry]) -> Appended:
        """
        Write an entry that is made from the namespace as it is just before.

        Args:
            make: Makes it, or raises, and nothing is written. Nobody else can write between.

        Raises:
            StoreDown: The database cannot be reached, or is locked or full.

        """
        self.catch_up()
        with self._writing() as writing:
            writing.help_all()
            done = writing.append(make(writing.view()))
        if done.outcome is None:
            self.catch_up()
        return done

    def append(
        self,
        entry: AnyEntry,
        *,
        check: Callable[[View], None] | None = None,
        later: bool = False,
    ) -> Appended:
        """
        Write an entry, unless it is there; it and what waits before it is worked out.

        Args:
            entry: What is written.
            check: Looks at the namespace as it is just before; what it raises is raised, and
                nothing is written. Nobody else can write between the two.
            later: Leave it to others to work it out.

        Raises:
            Refused: There are too many assertions about the fact.
            StoreDown: The database cannot be reached, or is locked or full.

        """
        if check is not None:
            self.catch_up()
        with self._writing() as writing:
            if check is not None:
                writing.help_all()
                check(writing.view())
            elif not later:
                writing.help()
            done = writing.append(entry, later=later)
        if done.outcome is None and not later:
            self.catch_up()
        return done

    def write(self, make: Callable[[Settings], Asserted]) -> tuple[Asserted, Appended, Settings]:
        """
        Write an assertion, unless it is there, that is made under what holds for the namespace.

        Args:
            make: Makes it; once more where the rules turn out to be others by now.

        Returns:
            The assertion, what became of it, and what it was made under.

        Raises:
            Refused: There are too many assertions about the fact, or *make* refuses.
            StoreDown: The database cannot be reached, or is locked or full.

        """
        settings = self.settings()
        entry = make(settings)
        with self._writing() as writing:
            if writing.settings is not settings:
                settings = writing.settings
                entry = make(settings)
            writing.help()
            done = writing.append(entry)
        if done.outcome is None:
            self.catch_up()
        return entry, done, settings

    def load(
        self,
        entries: Iterable[AnyEntry],
        *,
        progress: Progress | None = None,
    ) -> Loaded:
        """
        Write many entries, a thousand in a transaction, or fewer where they take long.

        Args:
            entries: What is written; those that are refused keep no other from being written.
            progress: Told after each transaction how many are done.

        Raises:
            StoreDown: The database cannot be reached; what was told as done is written.

        """
        given = iter(entries)
        done = new = 0
        refused: list[tuple[int, Refused]] = []
        some: list[AnyEntry] = []
        while some := some or list(islice(given, BATCH)):
            with pausing(self.database), self._writing() as writing:
                writing.help_all()
                count, there, faults = written(writing, some, done)
            some = some[count:]
            new += there
            refused.extend(faults)
            done += count
            if progress is not None:
                progress(done)
        self.catch_up()
        return Loaded(new, done - new - len(refused), tuple(refused))

    def catch_up(self, *, progress: Progress | None = None) -> int:
        """
        Work out what waits, a part in each transaction; give how often a fact was folded.

        Raises:
            StoreDown: The database cannot be reached.

        """
        steps = 0
        while self._behind():
            with pausing(self.database), self._writing() as writing:
                steps += writing.help()
            if progress is not None:
                progress(steps)
        return steps

    def anew(self, *, progress: Progress | None = None) -> int:
        """Drop all that is worked out and work it out again; give how often a fact was folded."""
        with self._writing() as writing:
            writing.reset()
        return self.catch_up(progress=progress)

    def take(self, lines: Iterable[tuple[str, AnyEntry | str, int | None]]) -> tuple[int, int]:
        """
        Write entries of another store: as they are, whatever the limits; worked out later.

        Args:
            lines: Each with its id, what it is, or of one that was erased its fact's written
                key, and when it was recorded, where that is kept.

        Returns:
            How many were written, and how many were there already.

        """
        given, new, done = iter(lines), 0, 0
        while some := list(islice(given, BATCH)):
            with pausing(self.database), self._writing() as writing:
                for id_, what, at in some:
                    if isinstance(what, str):
                        told = writing.blank(id_, what, at)
                    else:
                        told = writing.append(what, at, later=True, bounded=False)
                    new += told.new
            done += len(some)
        self.catch_up()
        return new, done - new

    @contextmanager
    def _writing(self) -> Generator[Writing]:
        """Lend a namespace to write to; in this process one thread after the other."""
        with self._turn:
            with self._lent() as writing:
                yield writing
            if writing.emptied or self.untidy:
                self.untidy = not self.database.tidy(patient=writing.emptied)

    @contextmanager
    def _lent(self) -> Generator[Writing]:
        with self.database.line("write") as line:
            if self._bound is not None and self._bound != self.identity:
                raise StoreDown("its file was taken away")
            writing = Writing(line, self.namespace, self._known, self._clock)
            yield writing
            writing.finish()
            self._known.latest = writing.settings

    def _behind(self) -> bool:
        with self.database.line("read") as line:
            return rows.head(line, self.namespace).behind

    def _head(self, line: Line, known_at: int | None) -> rows.Head:
        head = rows.head(line, self.namespace)
        if known_at is None or known_at >= head.recorded_at:
            return head
        position, recorded_at = rows.last_before(line, self.namespace, known_at, head.position)
        return rows.Head(position, head.projected, recorded_at)
