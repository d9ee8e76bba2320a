"""
The spool: rows on the local disk, until the database has them.

Whoever holds a segment open holds its lock, which ends with the process: so a later process
finds what a dead one left, and never touches what a living one writes. Rows survive the process
as soon as they are written; they survive a power cut once the system has written them out, as
in SQLite's `normal` mode. However long the database is away and however many processes died
meanwhile, few segments are open at once: the files that a process may open are the host's.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from .aside import NAME, put_aside
from .rows import Row
from .segments import SUFFIX, Segment, row_of

ROTATE = 8 << 20  # bytes of a segment, after which another is begun while few are waiting
FEW = 4  # segments that are open at once

Position: TypeAlias = Sequence[tuple[Segment, int]]
"""Up to where each segment is filled."""


class Batch(msgspec.Struct, frozen=True):
    """
    Lines to be written in one transaction.

    Attributes:
        lines: Each with its row; None where it cannot be read.
        end: Where the last of them ends in the segment.
        segment: Where they are.

    """

    lines: Sequence[tuple[bytes, Row | None]]
    end: int
    segment: Segment

    @property
    def rows(self) -> list[Row]:
        """Those that could be read."""
        return [row for _, row in self.lines if row is not None]

    def unread(self, refused: Sequence[Row]) -> list[bytes]:
        """Give the lines that could not be read, and those whose rows were refused."""
        bad = {id(row) for row in refused}
        return [line for line, row in self.lines if row is None or id(row) in bad]


class Spool:
    """
    The segments that this process holds, in one folder.

    One thread appends, one reads. The folder is made when the first row is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._segments: list[Segment] = []
        self._open: Segment | None = None

    def append(self, lines: Sequence[bytes]) -> None:
        """
        Write guarded lines, all or none.

        Raises:
            OSError: The disk is full, gone, or not ours to write.

        """
        with self._lock:
            if self._open is not None and not self._open.whole:
                self._leave(self._open)
            if self._open is None:
                self._open = Segment.new(self._folder)
                self._segments.append(self._open)
            self._open.append(lines)
            if self._open.size >= ROTATE and len(self._segments) < FEW:
                self._open = None

    def adopt(self) -> bool:
        """
        Take over some of what dead processes have left; it is loaded first.

        Returns:
            Whether there may be more, to be taken over when the database has these.

        Raises:
            OSError: No file can be opened at all, for now.

        """
        with self._lock:
            room = FEW - len(self._segments)
        if room <= 0:
            return True
        found: list[Segment] = []
        try:
            for path in sorted(self._folder.glob(f"*{SUFFIX}")):
                if len(found) >= room:
                    break
                segment = Segment.left(path)
                if segment is not None and segment.size:
                    found.append(segment)
                elif segment is not None:
                    segment.release()
        finally:  # also what was found before no more can be opened
            with self._lock:
                self._segments[:0] = found
        return len(found) >= room

    @property
    def rows(self) -> int:
        """How many rows the database does not have yet."""
        with self._lock:
            return sum(segment.rows for segment in self._segments)

    def position(self) -> Position:
        """Give up to where all segments are filled now."""
        with self._lock:
            return [(segment, segment.size) for segment in self._segments]

    def batch(self) -> Batch | None:
        """
        Read the oldest rows that the database does not have; None if it has all.

        Raises:
            OSError: They cannot be read.

        """
        with self._lock:
            waiting = (one for one in self._segments if one.loaded < one.size)
            segment = next(waiting, None)
        if segment is None:
            return None
        lines = segment.read()
        end = segment.loaded + sum(map(len, lines)) + len(lines)
        return Batch([(line, row_of(line)) for line in lines], end, segment)

    def loaded(self, batch: Batch, aside: Sequence[bytes] = ()) -> None:
        """
        Note that the database has *batch*; a segment that it has whole is deleted.

        Args:
            batch: What was written.
            aside: Lines of it that were not; they are kept apart, for who can read them.

        Raises:
            OSError: They cannot be put aside; the batch is still to be loaded.

        """
        if aside:
            put_aside(self._folder / NAME, aside)
        segment = batch.segment
        with self._lock:
            segment.loaded = batch.end
            segment.rows -= len(batch.lines)
            if segment.loaded >= segment.size:
                self._let_go(segment)

    def release(self) -> None:
        """Let go of everything; what the database does not have is left for a later process."""
        with self._lock:
            for segment in list(self._segments):
                self._let_go(segment)

    def abandon(self) -> None:
        """Forget everything, in a forked child: the files are the parent's."""
        for segment in self._segments:
            segment.abandon()

    def _leave(self, segment: Segment) -> None:
        """Append to it no more; the loader lets go of it, if there is anything to load."""
        self._open = None
        if segment.loaded >= segment.size:
            self._let_go(segment)

    def _let_go(self, segment: Segment) -> None:
        self._segments.remove(segment)
        if segment is self._open:
            self._open = None
        segment.release()
