"""One transaction that writes to the log of a namespace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....gateway.journal.lines import Line
from ..entries import AnyEntry, Asserted, Erased, Stored
from ..errors import Refused
from ..keys import FactKey
from ..outcomes import Outcome
from ..policy import Policy
from . import rows, schema, stories
from .projecting import Projector
from .settings import Known, Settings
from .view import View
from .widening import widen

BATCH = 1000  # entries in one transaction


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

    """

    position: int
    id: str
    recorded_at: int
    new: bool
    outcome: Outcome | None = None


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

    """

    def __init__(self, line: Line, namespace: str, known: Known, clock: Callable[[], int]) -> None:
        self.head = rows.head(line, namespace, lock=True)
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
            Refused: There are too many assertions about the fact, or of its source; or a text is
                too long, or is none.

        """
        about, id_, settings = entry.about, _id(entry), self.settings
        story = [] if about is None else self._story(about, settings)
        for one in story:
            if one.id == id_:
                return self._there(id_, about)
        position, time = self.head.position + 1, self._time(at)
        stored = Stored(position=position, id=id_, recorded_at=time, entry=entry)
        if bounded:
            _bounded(entry, story, settings.policy)
        blank = _erased(story, id_)
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
        for one in some:
            self._projector.entry(one, settings)
        steps, self._projector.steps = self._projector.steps, 0
        self._projector.forget()
        self.head = self.head._replace(projected=some[-1].position)
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
        return (
            self._namespace,
            stored.position,
            stored.id,
            rows.kind_of(entry),
            "" if entry.about is None else rows.written(entry.about),
            "" if blank else rows.source_of(entry),
            stored.recorded_at,
            "" if blank else rows.text(entry),
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


def _id(entry: AnyEntry) -> str:
    try:
        return entry.id
    except UnicodeEncodeError:  # half of a character that takes two
        raise Refused("bad_text", "it has a character that is none") from None


def _bounded(entry: AnyEntry, story: Sequence[Stored], policy: Policy) -> None:
    """Refuse more assertions about a fact, or a longer text, than the policy lets in (RF-80)."""
    limits = policy.limits
    if not isinstance(entry, Asserted):
        _short(entry, limits.text_characters)
        return
    source = entry.assertion.source
    if len(story) < min(limits.per_key, limits.per_source_per_key):
        return
    said = [one.entry.assertion.source for one in story if isinstance(one.entry, Asserted)]
    of_source = said.count(source)
    for there, most, whose in (
        (of_source, limits.per_source_per_key, "this source"),
        (len(said), limits.per_key, "all sources"),
    ):
        if there >= most:
            problem = f"{there} assertions of {whose} about this fact are there; {most} are let in"
            raise Refused("too_many", problem, "Raise the limit in the policy, or write fewer")


def _short(entry: AnyEntry, most: int) -> None:
    for name in ("by", "to", "resolver", "reason"):
        if len(getattr(entry, name, "")) > most:
            raise Refused("too_long", f"{name} is longer than {most} characters", "Shorten it")


def _erased(story: Sequence[Stored], id_: str) -> bool:
    """Whether an assertion was erased before it came, or came again."""
    return any(isinstance(one.entry, Erased) and one.entry.target == id_ for one in story)
