"""One transaction that writes to the log of a namespace."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from ....gateway.journal.lines import Line
from ..entries import AnyEntry, Erased, Stored
from ..errors import Refused
from ..keys import FactKey
from ..outcomes import Outcome
from ..stating import canonical
from . import rows, schema, stories
from .checking import bounded as hold
from .checking import erased, id_of, legible
from .projecting import Projector
from .settings import Known, Settings
from .view import View
from .widening import widen

BATCH = 1000  # entries in one transaction
SPAN = 0.4  # seconds after which a transaction takes on no further entry: others wait for it


class Appended(NamedTuple):
    """
    What became of an entry.

    Attributes:
        position: Where it is in the log.
        id: Of the entry.
        recorded_at: When it was taken in first, in microseconds since the epoch.
        new: Whether it was not there before.
        outcome: What its fact comes to with it; None: it is about no fact, or that is not worked
            out yet.
        notes: What its writer should know: `not_gone_yet`: what was erased is still in SQLite's
            log, for somebody was reading; the next write or closing takes it out.

    """

    position: int
    id: str
    recorded_at: int
    new: bool
    outcome: Outcome | None = None
    notes: tuple[str, ...] = ()


class Writing:
    """
    A namespace while it is written to; nobody else writes to it meanwhile.

    Args:
        line: In a transaction that may write.
        namespace: Which.
        known: Its settings.
        clock: Gives the time, in microseconds.

    Attributes:
        head: How far it is.
        emptied: Whether content was taken out.

    """

    def __init__(self, line: Line, namespace: str, known: Known, clock: Callable[[], int]) -> None:
        self.head = rows.head(line, namespace, lock=True)
        self.emptied = False
        self._line = line
        self._namespace = namespace
        self._known = known
        self._clock = clock
        self._projector = Projector(line, namespace)

    def view(self) -> View:
        """Look at it as it is now."""
        return View(self._line, self._namespace, self.head, self.settings, self._clock)

    def append(
        self,
        entry: AnyEntry,
        at: int | None = None,
        *,
        later: bool = False,
        bounded: bool = True,
    ) -> Appended:
        """
        Write an entry, unless it is there; work it out, if nothing before it waits for that.

        Args:
            entry: What is written.
            at: When it was recorded, where another store's times are kept.
            later: Leave it to others to work it out.
            bounded: Hold it to the policy's limits.

        Raises:
            Refused: There are too many assertions about the fact, or of its source; a text is too
                long, or is none; or it is no entry that could be read again.

        """
        about, id_, settings = entry.about, id_of(entry), self.settings
        if about is not None and not canonical(about):
            raise Refused("bad_key", "the key is in no canonical form", "Make it with store.key")
        story = [] if about is None else self._story(about, settings)
        for one in story:
            if one.id == id_:
                return self._there(id_, about)
        position, time = self.head.position + 1, self._time(at)
        stored = Stored(position=position, id=id_, recorded_at=time, entry=entry)
        if bounded:
            hold(entry, story, settings.policy)
        blank = erased(story, id_)
        if not rows.insert(self._line, self._row(stored, blank=blank)):
            return self._there(id_, about)
        now = about is not None and not later and not self.head.behind
        self._moved(stored, projected=now)
        outcome = None
        if isinstance(entry, Erased) and self._emptied(entry.target):
            self.reset()
        elif now and not blank:
            outcome = self._projector.entry(stored, settings)
        return Appended(position, id_, time, new=True, outcome=outcome)

    def blank(self, id: str, key: str, at: int | None) -> Appended:  # noqa: A002 - the column's name
        """Write the place of an assertion whose content was erased elsewhere."""
        position, time = self.head.position + 1, self._time(at)
        row = self._namespace, position, id, "asserted", key, "", time, ""
        if not rows.insert(self._line, row):
            return self._there(id, None)
        projected = self.head.projected if self.head.behind else position
        self.head = self.head._replace(position=position, projected=projected, recorded_at=time)
        return Appended(position, id, time, new=True)

    def help(self) -> int:
        """Work out a part of what waits; give how often a fact was folded."""
        if not self.head.behind:
            return 0
        waiting = self._waiting()
        if not waiting:
            self.head = self.head._replace(projected=self.head.position)
            return 0
        if waiting[0].entry.about is None:
            return self._widen(waiting[0])
        wide = (n for n, one in enumerate(waiting) if one.entry.about is None)
        some = waiting[: next(wide, len(waiting))]
        settings = self._known.at(self._line, some[0].position)
        until, last = time.monotonic() + SPAN, some[0]
        for last in some:
            self._projector.entry(last, settings)
            if time.monotonic() > until:
                break
        steps, self._projector.steps = self._projector.steps, 0
        self._projector.forget()
        self.head = self.head._replace(projected=last.position)
        return steps

    def help_all(self) -> None:
        """Work out all that waits."""
        while self.head.behind:
            self.help()

    def finish(self) -> None:
        """Write what was worked out, and how far it is."""
        self._projector.flush()
        rows.keep_head(self._line, self._namespace, self.head)

    def reset(self) -> None:
        """Throw away all that is worked out, so that it is worked out anew."""
        self._projector.forget()
        for table in schema.PROJECTED:
            self._line.execute(f"DELETE FROM {table.name} WHERE namespace = ?", (self._namespace,))  # noqa: S608 - fixed texts
        self.head = self.head._replace(projected=0, resume="")

    @property
    def settings(self) -> Settings:
        """What holds for it."""
        return self._known.at(self._line, self.head.position, self.head.wide)

    def _story(self, about: FactKey, settings: Settings) -> list[Stored]:
        if self.head.behind:
            keys = settings.aliases.keys(about)
            return stories.story(self._line, keys, self.head.position)
        return self._projector.fact(about, self.head.position + 1, settings).story

    def _there(self, id_: str, about: FactKey | None) -> Appended:
        """Tell of an entry that is there already."""
        found = self._line.execute(
            "SELECT position, recorded_at FROM facts_log WHERE namespace = ? AND id = ?",
            (self._namespace, id_),
        ).fetchone()
        outcome = None
        if about is not None and not self.head.behind:
            settings = self.settings
            outcome = self._projector.fact(about, self.head.position + 1, settings).outcome
        return Appended(found[0], id_, found[1], new=False, outcome=outcome)

    def _time(self, at: int | None) -> int:
        """Give a time behind that of every entry before, so that a time names a position."""
        return max(self._clock() if at is None else at, self.head.recorded_at + 1)

    def _row(self, stored: Stored, *, blank: bool) -> tuple[object, ...]:
        entry = stored.entry
        body = "" if blank else rows.text(entry)
        legible(entry, body)
        return (
            self._namespace,
            stored.position,
            stored.id,
            rows.kind_of(entry),
            "" if entry.about is None else rows.written(entry.about),
            "" if blank else rows.source_of(entry),
            stored.recorded_at,
            body,
        )

    def _moved(self, stored: Stored, *, projected: bool) -> None:
        position = stored.position
        self.head = self.head._replace(
            position=position,
            recorded_at=stored.recorded_at,
            projected=position if projected else self.head.projected,
        )
        if stored.entry.about is None:
            self.head = self.head._replace(wide=f"{position}:{stored.id}")

    def _emptied(self, id_: str) -> bool:
        """Take an assertion's content out of the log; say whether it was there."""
        done = self._line.execute(
            "UPDATE facts_log SET body = '', source = ''"
            " WHERE namespace = ? AND id = ? AND kind = 'asserted' AND body <> ''",
            (self._namespace, id_),
        )
        self.emptied = self.emptied or bool(done.rowcount)
        return bool(done.rowcount)

    def _waiting(self) -> list[Stored]:
        found = self._line.execute(
            f"SELECT {rows.ENTRY} FROM facts_log WHERE namespace = ? AND position > ?"  # noqa: S608 - fixed texts
            f" AND body <> '' ORDER BY position LIMIT {BATCH}",
            (self._namespace, self.head.projected),
        ).fetchall()
        return [rows.stored(row) for row in found]

    def _widen(self, stored: Stored) -> int:
        self._projector.forget()
        further, steps = widen(self._line, self._namespace, stored, self._known, self.head.resume)
        if further is None:
            self.head = self.head._replace(projected=stored.position, resume="")
        else:
            self.head = self.head._replace(projected=stored.position - 1, resume=further)
        return steps
