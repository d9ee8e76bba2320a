"""The file of a transcript: lines are appended, by one program at a time."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from .chain import Entry, TranscriptError, bytes_of, unbegun, verified

PRIVATE = 0o600  # what members said is nobody else's business
BINARY = getattr(os, "O_BINARY", 0)  # Windows would write \r\n


class Lines:
    """
    A file that lines are appended to, each at once.

    Attributes:
        path: Where it is.

    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        self._whole = 0  # bytes of all lines that were written to their ends

    @classmethod
    def created(cls, path: Path) -> Lines:
        """
        Create the file.

        Raises:
            TranscriptError: It exists already, or cannot be written.

        """
        return cls(path, _opened(path, os.O_CREAT | os.O_EXCL))

    @classmethod
    def taken_over(cls, path: Path) -> tuple[Lines, list[Entry]]:
        """
        Open a file to go on with; a last line that was cut off is taken away.

        There are no entries where not even the first line was written to its end.

        Raises:
            TranscriptError: It is damaged, not there, or somebody else is writing it.

        """
        lines = cls(path, _opened(path, 0))
        try:
            entries = [] if unbegun(path) else verified(path, cut=True)
            lines._cut(bytes_of(entries))
        except OSError as error:
            lines.close()
            raise _unwritten(path, error) from None
        except BaseException:
            lines.close()
            raise
        return lines, entries

    def append(self, line: bytes) -> None:
        """
        Write one line, or nothing of it.

        Raises:
            TranscriptError: The file cannot be written, or is closed.

        """
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            with contextlib.suppress(OSError):  # half a line would hide that the others are whole
                self._cut(self._whole)
            raise _unwritten(self.path, error) from None
        self._whole += len(line)

    def close(self) -> None:
        """Let go of the file; it may be called again."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):  # a late complaint: all lines were taken
                os.close(self._descriptor)
            self._descriptor = -1

    def _cut(self, size: int) -> None:
        os.truncate(self._descriptor, size)
        self._whole = size


def _opened(path: Path, how: int) -> int:
    """Open *path* to append to it, and keep others from doing so."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | BINARY | how, PRIVATE)
    except FileExistsError:
        fix = "Go on with it, or name another file"
        raise TranscriptError.at(path, None, "it exists already", fix) from None
    except OSError as error:
        raise _unwritten(path, error) from None
    if not _locked(descriptor):
        os.close(descriptor)
        fix = "Wait until that has ended"
        raise TranscriptError.at(path, None, "somebody else is writing it", fix)
    return descriptor


def _locked(descriptor: int) -> bool:
    """Lock the file until it is closed; where a system has no such locks, nobody is kept out."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unwritten(path: Path, error: OSError) -> TranscriptError:
    problem = error.strerror or "it cannot be written"
    return TranscriptError.at(path, None, problem, "Name a file that can be written")
