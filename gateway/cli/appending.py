"""
A file that a command writes as it goes: a header, then one JSON line for each result.

The header says what made the file, so that a command goes on only where it would have written the
same. A process that is killed leaves whole lines and at most one torn one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ..errors import SetupError

H = TypeVar("H", bound=msgspec.Struct)
L = TypeVar("L", bound=msgspec.Struct)


class Appending(Generic[H, L]):
    """
    Such a file, open for appending.

    Args:
        path: The file.
        header: What makes it.
        line: The type of its lines.
        differing: What is different: the header that is there, the one that makes it → words.
        again: How one goes on with it, for whoever has to make room first.

    Attributes:
        found: The lines that were there.

    Raises:
        SetupError: It is no such file, was made otherwise, cannot be written, or is in use.

    """

    def __init__(
        self,
        path: Path,
        header: H,
        line: type[L],
        differing: Callable[[H, H], str],
        again: str = "the same command goes on from there",
    ) -> None:
        self._path, self._line, self._differing, self._again = path, line, differing, again
        self._descriptor = _opened(path)
        try:
            _alone(path, self._descriptor)
            self.found = self._recovered(header)
        except BaseException:
            self.close()
            raise

    def append(self, line: L) -> None:
        """Write one line, whole, so that a kill cannot lose what came before it."""
        self._write(msgspec.json.encode(line))

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _write(self, content: bytes) -> None:
        rest = memoryview(content + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            problem = f"it cannot be written ({error.strerror})"
            raise SetupError.of(str(self._path), problem, f"Make room; {self._again}") from None

    def _recovered(self, header: H) -> list[L]:
        content = self._path.read_bytes()
        first, *lines = content.split(b"\n")
        written = msgspec.json.encode(header, order="deterministic")
        if not lines and written.startswith(first):  # empty, or torn while it was begun
            os.ftruncate(self._descriptor, 0)
            self._write(written)
            return []
        self._agrees(first, header)
        return self._read([line for line in lines[:-1] if line], lines[-1] if lines else b"")

    def _read(self, whole: list[bytes], torn: bytes) -> list[L]:
        try:
            read = [msgspec.json.decode(line, type=self._line) for line in whole]
        except msgspec.MsgspecError as error:
            raise self._foreign(f"a line of it is none of ours ({error})") from None
        if not torn:
            return read
        try:  # only its line end is missing: it was paid for, and is not asked again
            read.append(msgspec.json.decode(torn, type=self._line))
            os.write(self._descriptor, b"\n")
        except msgspec.MsgspecError:
            os.ftruncate(self._descriptor, self._path.stat().st_size - len(torn))
        return read

    def _agrees(self, first: bytes, header: H) -> None:
        try:
            there = msgspec.json.decode(first, type=type(header))
        except msgspec.MsgspecError:
            raise self._foreign("it is no file of results") from None
        if different := self._differing(there, header):
            raise self._foreign(different)

    def _foreign(self, problem: str) -> SetupError:
        fix = "Nothing was asked or written. Name another file with --out, or remove this one"
        return SetupError.of(str(self._path), problem, fix)


def _opened(path: Path) -> int:
    if path.exists() and not path.is_file():  # a device or a pipe cannot be read again
        raise SetupError.of(f"--out {path}", "it is no regular file", "Name another file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o666)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise SetupError.of(f"--out {path}", problem, "Name another file") from None


def _alone(path: Path, descriptor: int) -> None:
    with contextlib.suppress(ImportError):  # no such lock on Windows
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            problem = "another run is writing it"
            raise SetupError.of(f"--out {path}", problem, "Wait for it, or stop it") from None
