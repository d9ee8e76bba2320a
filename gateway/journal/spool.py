"""
The spool: rows on the local disk, until the database has them.

Whoever holds a segment open holds its lock, which ends with the process: so a later process
finds what a dead one left, and never touches what a living one writes. Rows survive the process
as soon as they are written; they survive a power cut once the system has written them out, as
in SQLite's `normal` mode.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from .rows import Row
from .segments import SUFFIX, Segment, row_of

ROTATE = 8 << 20  # bytes of a segment; a long outage then fills few files

Position: TypeAlias = Sequence[tuple[Segment, int]]
"""Up to where each segment is filled."""


class Batch(msgspec.Struct, frozen=True):
    """
    Rows to be written in one transaction.

    Attributes:
        rows: Those that could be read.
        lines: How many lines they were read from.
        end: Where the last of them ends in the segment.
        segment: Where they are.

    """

    rows: Sequence[Row]
    lines: int
    end: int
    segment: Segment

    @property
    def unread(self) -> int:
        """Lines that could not be read."""
        return self.lines - len(self.rows)


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
            if self._open is None or not self._open.whole:
                self._open = Segment.new(self._folder)
                self._segments.append(self._open)
            self._open.append(lines)
            if self._open.size >= ROTATE:
                self._open = None

    def adopt(self) -> None:
        """Take over what dead processes have left; it is loaded first."""
        left = map(Segment.left, sorted(self._folder.glob(f"*{SUFFIX}")))
        found = [segment for segment in left if segment is not None]
        for segment in found:
            if not segment.size:
                segment.release()
        with self._lock:
            self._segments[:0] = [segment for segment in found if segment.size]

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
        rows = [row for row in map(row_of, lines) if row is not None]
        end = segment.loaded + sum(map(len, lines)) + len(lines)
        return Batch(rows, len(lines), end, segment)

    def loaded(self, batch: Batch, *, refused: int = 0) -> None:
        """
        Note that the database has *batch*; a segment that it has whole is deleted.

        Args:
            batch: What was written.
            refused: How many of its rows the database cannot hold; their segment is kept.

        """
        segment = batch.segment
        with self._lock:
            segment.loaded = batch.end
            segment.rows -= batch.lines
            segment.unread = segment.unread or bool(batch.unread or refused)
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

    def _let_go(self, segment: Segment) -> None:
        self._segments.remove(segment)
        if segment is self._open:
            self._open = None
        segment.release()
