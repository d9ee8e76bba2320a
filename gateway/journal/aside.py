"""
Lines that no database took, kept apart from all others until somebody can read them.

They are in one file of the spool's folder, `refused.unread`. Renamed to end in `.rows` it is
loaded once more. What is removed from the database is removed from here too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from .rows import DecisionRow, FeedbackRow, Row
from .segments import FLAGS, locked, row_of

UNREAD = ".unread"
NAME = f"refused{UNREAD}"
PATIENCE = 5.0  # seconds for another process to let go of the file


class Purged(msgspec.Struct):
    """
    What was done with lines that had been put aside.

    Attributes:
        removed: How many were removed.
        unknown: How many cannot be read, so that nobody knows who or when they are about.

    """

    removed: int = 0
    unknown: int = 0


def put_aside(path: Path, lines: Sequence[bytes]) -> None:
    """
    Keep *lines*, without their ends, in a file that its owner alone can read.

    Raises:
        OSError: They cannot be kept.

    """
    with _held(path, os.O_CREAT) as descriptor:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        torn = bool(size) and _last(descriptor) != b"\n"  # by a kill
        try:
            _write(descriptor, [b"\n" * torn, *(line + b"\n" for line in lines)])
        except OSError:
            os.ftruncate(descriptor, size)
            raise


def forget(folder: Path, subject: str, ids: frozenset[str]) -> Purged:
    """
    Remove the lines about a subject.

    Args:
        folder: The spool's.
        subject: Keyed hash of the subject.
        ids: Its decisions; what belongs to one names it.

    Raises:
        OSError: A file cannot be read or written.

    """
    there = subject.encode()  # also in half a line, and in one of a later version

    def about(line: bytes, row: Row | None) -> bool | None:
        if there in line:
            return True
        return None if row is None else _decision(row) in ids

    return _purged(folder, about)


def prune(folder: Path, before: float) -> Purged:
    """
    Remove the lines about what was before a time.

    Args:
        folder: The spool's.
        before: Seconds since the epoch.

    Raises:
        OSError: A file cannot be read or written.

    """

    def old(_: bytes, row: Row | None) -> bool | None:
        return None if row is None else _at(row) < before

    return _purged(folder, old)


def _decision(row: Row) -> str:
    if isinstance(row, DecisionRow):
        return row.id
    return row.of if isinstance(row, FeedbackRow) else row.shadow.of


def _at(row: Row) -> float:
    if isinstance(row, DecisionRow):
        return row.record.at
    return row.at if isinstance(row, FeedbackRow) else row.shadow.at


def _purged(folder: Path, gone: Callable[[bytes, Row | None], bool | None]) -> Purged:
    done = Purged()
    for path in sorted(folder.glob(f"*{UNREAD}")):
        with _held(path) as descriptor:
            _purge(path, descriptor, gone, done)
    return done


def _purge(
    path: Path, descriptor: int, gone: Callable[[bytes, Row | None], bool | None], done: Purged
) -> None:
    lines = _read(descriptor).splitlines(keepends=True)
    kept: list[bytes] = []
    for line in lines:
        is_gone = gone(line, row_of(line.rstrip(b"\n")))
        done.removed += bool(is_gone)
        done.unknown += is_gone is None
        if not is_gone:
            kept.append(line)
    if len(kept) == len(lines):
        return
    os.lseek(descriptor, 0, os.SEEK_SET)
    _write(descriptor, kept)
    os.ftruncate(descriptor, sum(map(len, kept)))
    os.fsync(descriptor)
    if not kept:
        with suppress(OSError):  # where an open file cannot be deleted; it is empty
            path.unlink()


def _last(descriptor: int) -> bytes:
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1)


def _read(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        return file.read()


def _write(descriptor: int, lines: Sequence[bytes]) -> None:
    data = memoryview(b"".join(lines))
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def _held(path: Path, making: int = 0) -> Generator[int]:
    """
    Open a file and hold its lock, which ends with closing it.

    Raises:
        OSError: It is not to be had, or not in time.

    """
    until = time.monotonic() + PATIENCE
    while True:
        descriptor = os.open(path, FLAGS | making, 0o600)
        try:
            # who held it before may have deleted it
            if locked(descriptor) and os.fstat(descriptor).st_nlink:
                yield descriptor
                return
        finally:
            os.close(descriptor)
        if time.monotonic() > until:
            raise BlockingIOError("another process holds it")
        time.sleep(0.01)
