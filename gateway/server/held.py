"""A file that several processes read and write in turn, under its lock."""

from __future__ import annotations

import os
import sys
from types import TracebackType

FAR = 0x7FFFFFF0  # a byte that no file of ours reaches: Windows locks bytes, and from readers too


class Held:
    """The file's lock, which ends with the process that holds it; held for microseconds."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> None:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(self._descriptor, FAR, os.SEEK_SET)
            msvcrt.locking(self._descriptor, msvcrt.LK_LOCK, 1)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(self._descriptor, FAR, os.SEEK_SET)
            msvcrt.locking(self._descriptor, msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(self._descriptor, fcntl.LOCK_UN)


def read_at(descriptor: int, place: int, length: int) -> bytes:
    """Read up to *length* bytes from *place* on; `sys.maxsize`: all there are."""
    os.lseek(descriptor, place, os.SEEK_SET)
    if length < sys.maxsize:
        return os.read(descriptor, length)
    return os.read(descriptor, max(0, os.fstat(descriptor).st_size - place))


def write_at(descriptor: int, place: int, data: bytes) -> None:
    """
    Write *data* at *place*.

    Raises:
        OSError: The disk is full, or gone.

    """
    os.lseek(descriptor, place, os.SEEK_SET)
    if os.write(descriptor, data) < len(data):
        raise OSError("the disk took only a part")
