"""
One file of the spool: rows as guarded lines, held by whoever has it open.

Each line is a checksum and a row as JSON, so that a line that a kill tore is seen to be torn.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from ..state import clean
from .rows import Row

SUFFIX = ".rows"
BLOCK = 256 << 10  # bytes read at once
FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0)
FAR = 0x7FFFFFF0  # a byte that no segment reaches: Windows locks bytes, and from readers too
BATCH = 500  # rows of one transaction
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Row] = msgspec.json.Decoder(cast("type[Row]", Row))


def line_of(row: Row) -> bytes:
    """
    Write *row* as a guarded line; what UTF-8 cannot write in it becomes U+FFFD.

    Raises:
        TypeError: It holds something that is no JSON.

    """
    try:
        body = _encoder.encode(row)
    except UnicodeEncodeError:  # half of a truncated emoji in a label, say
        body = _encoder.encode(_cleaned(msgspec.to_builtins(row)))
    return b"%08x %b\n" % (zlib.crc32(body), body)


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        there = cast("Mapping[Any, Any]", value)
        return {_cleaned(name): _cleaned(one) for name, one in there.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in cast("list[Any]", value)]
    return value


def row_of(line: bytes) -> Row | None:
    """Read a guarded line without its end; None if it is torn, or of a later version."""
    guard, _, body = line.partition(b" ")
    if guard != b"%08x" % zlib.crc32(body):
        return None
    try:
        return _decoder.decode(body)
    except msgspec.MsgspecError:
        return None


class Segment:
    """
    One file of the spool, open and locked.

    Attributes:
        size: Bytes of whole lines.
        loaded: Bytes of them that the database has.
        rows: Lines that it does not have yet.
        whole: Whether what was written ends with a whole line.

    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._place = threading.Lock()  # reading and writing move the same one
        self.size = self.loaded = self.rows = 0
        self.whole = True

    @classmethod
    def new(cls, folder: Path) -> Segment:
        """
        Make one in *folder*.

        Raises:
            OSError: It cannot be made.

        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            name = f"{time.time_ns():016x}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
            flags = FLAGS | os.O_CREAT | os.O_EXCL | os.O_APPEND
            segment = cls(folder / name, os.open(folder / name, flags, 0o600))
            try:
                if segment._held():  # else somebody took it for a dead one's: theirs, and empty
                    return segment
            except OSError:
                segment.path.unlink(missing_ok=True)
                raise

    @classmethod
    def left(cls, path: Path) -> Segment | None:
        """
        Take over what a dead process left; None if it is held, gone or not ours to read.

        Raises:
            OSError: No file can be opened at all, for now.

        """
        try:
            segment = cls(path, os.open(path, FLAGS))
            if not segment._held():
                return None
        except OSError as error:
            if error.errno in EXHAUSTED:  # it is there, and nobody's
                raise
            return None
        segment._measure()
        return segment

    def _held(self) -> bool:
        """
        Take the lock, or close the file; False if it is another's, or was deleted just before.

        Raises:
            OSError: There are no locks on this disk.

        """
        try:
            held = locked(self._descriptor) and os.fstat(self._descriptor).st_nlink > 0
        except OSError:  # a disk that knows no locks is none for a spool
            self.abandon()
            raise
        if not held:
            self.abandon()
        return held

    def _measure(self) -> None:
        at = 0
        while data := os.read(self._descriptor, BLOCK):
            self.rows += data.count(b"\n")
            end = data.rfind(b"\n") + 1
            self.size = at + end if end else self.size
            at += len(data)

    def append(self, lines: Sequence[bytes]) -> None:
        """
        Write *lines*, all or none.

        Raises:
            OSError: The disk is full, or gone.

        """
        data = memoryview(b"".join(lines))
        size = self.size + len(data)
        with self._place:
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                self.whole = False
                os.ftruncate(self._descriptor, self.size)
                self.whole = True
                raise
        self.rows += len(lines)
        self.size = size

    def read(self) -> list[bytes]:
        """Give up to a batch of lines, without their ends, that the database does not have."""
        length = BLOCK
        while True:
            with self._place:
                os.lseek(self._descriptor, self.loaded, os.SEEK_SET)  # appending does not mind
                data = os.read(self._descriptor, min(length, self.size - self.loaded))
            end = data.rfind(b"\n") + 1
            if end:
                return data[: end - 1].split(b"\n")[:BATCH]
            if not data:
                raise OSError("a segment is shorter than what was written")
            length *= 2

    def release(self) -> None:
        """Let go of the file; delete it if the database has it all."""
        if self.loaded >= self.size:
            with contextlib.suppress(OSError):
                self.path.unlink()
        self.abandon()
        if os.name == "nt" and self.loaded >= self.size:  # where an open file cannot be deleted
            with contextlib.suppress(OSError):
                self.path.unlink()

    def abandon(self) -> None:
        """Close the file and nothing else: in a forked child it is still the parent's."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def locked(descriptor: int) -> bool:
    """
    Take a file's lock, which ends with the last process that has this descriptor.

    Nothing ever unlocks: a forked child that did would take the lock from its parent.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
